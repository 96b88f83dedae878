"""What a worker process prints, as far as anybody can read it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

#: Bytes of a run that are shown: 20,000 lines, more than anybody reads and less than a run stores.
MOST = 1 << 20
#: Bytes that are read at a time; what a pipe holds.
_PIECE = 1 << 20


class Output:
    """Passes on to standard error what comes out of a pipe, and counts what is too much."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._shown = 0
        self._beyond = 0
        #: Whether nothing can come any more.
        self.ended = False

    def take(self) -> bool:
        """Takes what there is now; whether there was anything."""
        try:
            piece = os.read(self._descriptor, _PIECE)
        except BlockingIOError:
            return False
        self.ended = not piece
        shown = piece[: MOST - self._shown]
        self._shown += len(shown)
        self._beyond += len(piece) - len(shown)
        _show(shown)
        return bool(piece)

    def finish(self) -> None:
        """Takes what is left in the pipe, and says once how much was not shown."""
        left = 2 * _PIECE  # somebody may be writing still
        while left > 0 and self.take():
            left -= _PIECE
        if self._beyond:
            print(
                f"\nsojourn: the code from outside printed that, and {self._beyond:,} bytes more",
                file=sys.stderr,
                flush=True,
            )


def _show(content: bytes) -> None:
    rest = memoryview(content)
    with suppress(OSError):  # nobody reads it
        while rest:
            rest = rest[os.write(2, rest) :]

"""What another process is doing, and for how long: the core notes the running callback of a control
in a file (``note.rs``), which outlives that process.
"""

from __future__ import annotations

import struct
import time
from pathlib import Path

from sojourn import _internal
from sojourn.errors import LostError

_NOTE = struct.Struct("=QQII")  # as `note.rs` writes it
_DISCIPLINE = 0xFFFFFFFF


class Watch:
    """Of a piece of work, from its beginning."""

    def __init__(self, note: Path) -> None:
        self._note = note
        self._note.write_bytes(bytes(_NOTE.size))
        self._phase = ""
        self._seen: tuple[int, int] | None = None
        self._since = time.monotonic()

    def begin(self, phase: str) -> None:
        """Something begins that has a limit as a callback has; nothing, if it has ended."""
        self._phase = phase
        self._since = time.monotonic()

    def check(self, seconds: float) -> None:
        """To be called all the time.

        Raises:
            LostError: if it has been in the same callback or phase for so long.

        """
        count, _, _, callback = self._read()
        if (count, callback) != self._seen or not (callback or self._phase):
            self._seen, self._since = (count, callback), time.monotonic()
        elif time.monotonic() - self._since > seconds:
            raise self.lost(f"has not returned for {seconds:g} s: stopped")

    def lost(self, what: str) -> LostError:
        """The error of what it was doing when this happened."""
        _, nanoseconds, flow, callback = self._read()
        if not callback:
            return LostError(f"{self._phase or 'the simulation'} {what}")
        name, at = _internal.CALLBACKS[callback], nanoseconds / 1e9
        who = "queue discipline" if flow == _DISCIPLINE else f"control of flow {flow}"
        return LostError(f"at {at:.9f} s, {who}: {name} {what}", at)

    def _read(self) -> tuple[int, int, int, int]:
        """Count, time in nanoseconds, flow and callback; no callback where that is no note."""
        content = self._note.read_bytes()
        count, nanoseconds, flow, callback = (
            _NOTE.unpack(content) if len(content) == _NOTE.size else (0, 0, 0, 0)
        )
        return count, nanoseconds, flow, callback if callback < len(_internal.CALLBACKS) else 0

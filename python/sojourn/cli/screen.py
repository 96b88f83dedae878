"""What programs write, as they write it: on this command's own standard output and error."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import click

from sojourn.cli.output import printed
from sojourn.literal import printable

_OUT = 1
#: Bytes of a line from which on it is told in parts.
_LONGEST = 1 << 16


@dataclass
class _Begun:
    """The beginning of a line."""

    #: Of the first byte.
    time: float = 0.0
    pieces: list[bytes] = field(default_factory=list)
    size: int = 0


class Screen:
    """Passes on what one program writes as it is, and lines of the others to standard error."""

    def __init__(self, hosts: Sequence[str], command: int | None) -> None:
        """``hosts`` are those of the programs, ``command`` the number of the one."""
        self._hosts = hosts
        self._command = command
        #: By program and stream.
        self._begun: dict[tuple[int, int], _Begun] = defaultdict(_Begun)

    def heard(self, program: int, stream: int, time: float, content: bytes) -> None:
        """Takes what a program wrote to a stream (1 or 2) at a virtual time in seconds."""
        if program == self._command:
            self._pass(stream, content)
            return
        first, *others = content.split(b"\n")
        self._add(program, stream, time, first)
        for piece in others:
            self._tell(program, self._begun.pop((program, stream), _Begun(time)))
            self._add(program, stream, time, piece)

    def end(self) -> None:
        """Tells lines that have no end."""
        for (program, _), begun in self._begun.items():
            self._tell(program, begun)
        self._begun.clear()

    def _add(self, program: int, stream: int, time: float, piece: bytes) -> None:
        """Goes on with a line; as much as is too long is told."""
        if not piece:
            return
        begun = self._begun[program, stream]
        begun.time = begun.time if begun.pieces else time
        begun.pieces.append(piece)
        begun.size += len(piece)
        if begun.size > _LONGEST:
            whole = b"".join(begun.pieces)
            *parts, rest = (whole[at : at + _LONGEST] for at in range(0, len(whole), _LONGEST))
            for part in parts:
                self._tell(program, _Begun(begun.time, [part]))
            self._begun[program, stream] = _Begun(time, [rest], len(rest))

    def _tell(self, program: int, begun: _Begun) -> None:
        line = b"".join(begun.pieces).decode(errors="backslashreplace")
        text = f"[{begun.time:13.9f} {self._hosts[program]}] {line}"
        with printed():
            click.echo(printable(text) if sys.stderr.isatty() else text, err=True)

    @staticmethod
    def _pass(stream: int, content: bytes) -> None:
        to = sys.stdout if stream == _OUT else sys.stderr
        with printed():
            to.buffer.write(content)
            to.flush()

"""What programs write, as they write it: on this command's own standard output and error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from sojourn.literal import printable

_OUT = 1


class Screen:
    """Passes on what one program writes as it is, and lines of the others to standard error."""

    def __init__(self, hosts: Sequence[str], command: int | None) -> None:
        """``hosts`` are those of the programs, ``command`` the number of the one."""
        self._hosts = hosts
        self._command = command
        #: The beginnings of lines, with the time of the first byte.
        self._begun: dict[tuple[int, int], tuple[float, bytes]] = {}

    def heard(self, program: int, stream: int, time: float, content: bytes) -> None:
        """Takes what a program wrote to a stream (1 or 2) at a virtual time in seconds."""
        if program == self._command:
            self._pass(stream, content)
            return
        begun, before = self._begun.pop((program, stream), (time, b""))
        *lines, rest = (before + content).split(b"\n")
        for number, line in enumerate(lines):
            self._tell(program, time if number else begun, line)
        if rest:
            self._begun[program, stream] = (time if lines else begun, rest)

    def end(self) -> None:
        """Tells lines that have no end."""
        for (program, _), (time, line) in self._begun.items():
            self._tell(program, time, line)
        self._begun.clear()

    def _tell(self, program: int, time: float, line: bytes) -> None:
        text = f"[{time:13.9f} {self._hosts[program]}] {line.decode(errors='backslashreplace')}"
        click.echo(printable(text) if sys.stderr.isatty() else text, err=True)

    @staticmethod
    def _pass(stream: int, content: bytes) -> None:
        to = sys.stdout if stream == _OUT else sys.stderr
        try:
            to.buffer.write(content)
            to.flush()
        except BrokenPipeError:  # a reader that has left ends nothing
            os.dup2(os.open(os.devnull, os.O_WRONLY), to.fileno())

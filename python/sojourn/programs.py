"""What programs in the guest of a kernel in virtual time have said, written and come to."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

#: Files of a run's directory: what programs said, and the directory of what they wrote.
OUTPUT, WRITTEN = "output.jsonl", "files"
#: The names of the streams by their numbers.
STREAMS = {1: "stdout", 2: "stderr"}


class Named(TypedDict):
    """A program as a scenario names it, and what that is on this machine."""

    host: str
    #: Text for the shell, or the program and its arguments.
    command: str | list[str]
    #: The file that is run, as far as it is known, and what tells its content.
    executable: NotRequired[str]
    digest: NotRequired[str]


class Program(Named):
    """A program of a run; times in virtual seconds."""

    #: When it became a process; absent if the run's end came before.
    started: NotRequired[float]
    #: When it ended, and its exit status as a shell returns it; absent if the run's end ended it.
    ended: NotRequired[float]
    status: NotRequired[int]


class Line(TypedDict):
    """A line of ``output.jsonl``: what a program wrote at once."""

    #: Virtual time in seconds.
    time: float
    #: Its place in the scenario's ``programs``.
    program: int
    host: str
    stream: str
    text: str


@dataclass(frozen=True)
class Written:
    """What a program wrote to a stream at once."""

    program: int
    #: 1 for standard output, 2 for standard error.
    stream: int
    #: Virtual time in seconds.
    time: float
    content: bytes


@dataclass(frozen=True)
class Programs:
    """All programs of a run."""

    #: The same for runs with the same packets, output and ends at the same nanoseconds.
    hash: str
    programs: Sequence[Program]
    #: What they said, in the order of time.
    output: Sequence[Line]
    #: The directory of what they wrote, if that was kept.
    files: Path | None = None
    #: What the files last as long as.
    place: object = None

    def written(self) -> dict[str, Path]:
        """The regular files that they wrote, by their names in a run's directory. Links are none:
        they may lead anywhere.
        """
        return {name: path for name, path in self._found() if path.is_file()}

    def directories(self) -> list[str]:
        """The names of the directories that they made, those without files among them."""
        return [name for name, path in self._found() if path.is_dir()]

    def _found(self) -> Iterator[tuple[str, Path]]:
        if self.files is not None:
            for path in sorted(self.files.rglob("*")):
                if _is_within(path, self.files):
                    yield f"{WRITTEN}/{path.relative_to(self.files).as_posix()}", path

    def write_output(self, path: Path) -> None:
        """Writes ``output.jsonl``."""
        with path.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(line, ensure_ascii=False)}\n" for line in self.output)


def read_output(path: Path) -> list[Line]:
    """What :meth:`Programs.write_output` has written; nothing if it has not."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def lines(output: Sequence[Written], hosts: Sequence[str]) -> list[Line]:
    """What programs on these ``hosts`` wrote, as text: a character that was written in two parts is
    in the later one.
    """
    decoder = codecs.getincrementaldecoder("utf-8")
    last = {(one.program, one.stream): place for place, one in enumerate(output)}
    decoders = {stream: decoder("backslashreplace") for stream in last}
    told: list[Line] = []
    for place, one in enumerate(output):
        stream = one.program, one.stream
        if text := decoders[stream].decode(one.content, final=last[stream] == place):
            who, where = STREAMS[one.stream], hosts[one.program]
            of: Line = {
                "time": one.time,
                "program": one.program,
                "host": where,
                "stream": who,
                "text": text,
            }
            told.append(of)
    return told


def _is_within(path: Path, directory: Path) -> bool:
    """Whether it is no link, nor does one on the way to it lead out of the directory."""
    inner = path.relative_to(directory).parents
    links = (directory / parent for parent in inner)
    return not path.is_symlink() and not any(map(Path.is_symlink, links))

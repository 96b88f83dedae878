"""What the guest of a kernel in virtual time is started with: its first process, and for programs
their surroundings.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypedDict

from sojourn import _internal
from sojourn.errors import ScenarioError, refused
from sojourn.json_types import Fields
from sojourn.literal import printable

#: Directories of programs that only the administrator has in PATH, who everybody is in the guest.
_SYSTEM = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
#: Random numbers and code that a processor chooses differ from run to run, or from machine to
#: machine: libraries that listen are told that it has none.
_MASKED = {
    "OPENSSL_ia32cap": "~0x4000000000000000:~0x40000",  # rdrand, rdseed; BoringSSL and AWS-LC too
    "GNUTLS_CPUID_OVERRIDE": "0x1",
}
#: Bytes of files written by programs that are kept at most.
_MOST_KEPT = 1 << 30
#: Words of a shell's command that its program follows.
_BEFORE = ("exec", "env", "time", "nohup", "setsid")


class Place(TypedDict):
    """Where programs run."""

    #: The directory in which the command was typed, which all hosts share.
    cwd: str
    env: dict[str, str]
    #: Where files that they have written there are copied to when the run ends, and how many bytes.
    files: str | None
    keep: int
    #: The directory of results, if it is below ``cwd``: programs see an empty one there.
    hidden: str | None


@dataclass(frozen=True)
class Executable:
    """A program's file."""

    path: Path
    #: Tells its content.
    digest: str


def init() -> list[str]:
    """The agent: an interpreter, without what it does not need, and the engine's module."""
    interpreter: str = getattr(sys, "_base_executable", sys.executable)
    agent = resources.files("sojourn.kernel") / "agent.py"
    return [interpreter, "-I", "-S", "-B", str(agent), str(_internal.__file__)]


def place(files: Path | None, results: Path | None) -> Place:
    """The surroundings of a run's programs, which is stored in ``results``.

    Raises:
        ScenarioError: if the working directory cannot be shared.

    """
    here = Path.cwd()
    if here == Path(here.anchor):
        raise ScenarioError(
            "programs: the working directory is /; all hosts share it and what is written there is "
            "kept: cd into a directory of its own"
        )
    _check_text("the working directory", here, "cd into another")
    where = None if files is None else files.absolute()
    if where is not None:
        _check_text("the directory of results", where.parent, "give another with --out")
    hidden = _below(here, results)
    return {
        "cwd": str(here),
        "env": environment(),
        "files": None if where is None else str(where),
        "keep": _MOST_KEPT,
        "hidden": None if hidden is None else str(hidden),
    }


def _below(here: Path, results: Path | None) -> Path | None:
    """The directory of results, if it is one below the working directory."""
    if not isinstance(results, Path):  # or they are on an object store
        return None
    whole = results.resolve()
    return whole if here in whole.parents else None


def _check_text(what: str, directory: Path, remedy: str) -> None:
    if not _is_text(str(directory)):
        named = printable(str(directory))
        raise refused("programs", f"{what}, {named}, has a name that is not UTF-8: {remedy}")


def _is_text(name: str) -> bool:
    """Whether it is UTF-8: what is not, Python has as halves of pairs."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def environment() -> dict[str, str]:
    """All that programs see of it: what else a user's shell has would make runs differ."""
    return {
        "PATH": _path(),
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONDONTWRITEBYTECODE": "1",
        **_MASKED,
    }


def _path() -> str:
    entries = os.environ.get("PATH", "").split(":")
    own = (entry for entry in entries if entry.startswith("/") and _is_text(entry))
    return ":".join(dict.fromkeys((*own, *_SYSTEM)))


def executables(programs: Iterable[Fields]) -> list[Executable | None]:
    """The file of each program, as far as it can be told before a run: of text for the shell, that
    of its first command.

    Raises:
        ScenarioError: naming the program that is not there.

    """
    return [_executable(number, program["command"]) for number, program in enumerate(programs)]


def _executable(number: int, command: str | Sequence[str]) -> Executable | None:
    found = shutil.which(first_word(command), path=_path())
    if found is not None:
        path = Path(found).absolute()
        return Executable(path, _digest(path, path.stat().st_mtime_ns))
    if isinstance(command, str):
        return None  # the shell's own, or it says what is wrong
    raise refused(
        f"programs.{number}.command",
        f"{command[0]}: not found on this machine, whose programs the guest runs",
    )


def first_word(command: str | Sequence[str]) -> str:
    """The program of a command."""
    try:
        words = shlex.split(command) if isinstance(command, str) else list(command)
    except ValueError:  # quotation marks that the shell will miss
        words = command.split() if isinstance(command, str) else []
    if not isinstance(command, str):
        return words[0]
    named = (word for word in words if word not in _BEFORE and "=" not in word)
    return next(named, "sh")


@cache
def _digest(path: Path, changed: int) -> str:
    """Of a file as it was when it was changed last, in ns."""
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()

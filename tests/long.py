"""The tests that are too long for CI: ``make test-long``, or a part: ``make test-long PART=NAME``.

`long.toml` has the parts. Each round of one is noted when it ends, for the checkout's files as they
are: what passed is not run again until one changes, what was interrupted goes on with the next
round, and what failed begins anew. What the commands print is in ``.test-long/PART.log``.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from capabilities import present

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "long.toml"
PLACE = ROOT / ".test-long"
#: How long commands may take to clean up behind them when they are interrupted, in seconds.
_PATIENCE = 30
#: Ends with whoever started it, however that ends.
_BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: sum(range(100_000))"


@dataclass(frozen=True)
class Part:
    """A line of the table."""

    name: str
    says: str
    commands: list[str]
    times: int = 1
    loaded: bool = False


@dataclass
class Rounds:
    """The rounds of a part that have ended: the seconds of each, and whether it passed."""

    wanted: int
    ended: list[tuple[float, bool]] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return sum(not passed for _, passed in self.ended)

    @property
    def left(self) -> int:
        return self.wanted - len(self.ended)

    def __str__(self) -> str:
        seconds = sum(seconds for seconds, _ in self.ended)
        done = f"{len(self.ended)} of {self.wanted}"
        verdict = "passed" if not self.left else "not finished"
        if self.failed:
            verdict = f"failed: {self.failed}"
        return f"{done:>10}{seconds:>10.1f} s  {verdict}"


class Notes:
    """What has been run of the checkout as it is; a file keeps it."""

    def __init__(self, place: Path, tree: str) -> None:
        self._file, self.tree = place / "rounds.json", tree
        self._trees = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._here: dict[str, list[tuple[float, bool]]] = self._trees.setdefault(tree, {})

    def rounds(self, part: Part) -> Rounds:
        return Rounds(part.times, self._here.setdefault(part.name, []))

    def begin(self, part: Part) -> None:
        """A part that has failed forgets its rounds."""
        rounds = self.rounds(part)
        if rounds.failed and not rounds.left:
            rounds.ended.clear()

    def save(self) -> None:
        """Writes them, whole or not at all."""
        written = self._file.with_suffix(".new")
        written.write_text(json.dumps(self._trees, indent=1), encoding="utf-8")
        written.replace(self._file)


def parts() -> list[Part]:
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return [Part(name, **keys) for name, keys in table.items()]


def tree() -> str:
    """Git's name of all files as they are, those that are not committed among them."""

    def git(*arguments: str, **variables: str) -> str:
        told = subprocess.check_output(
            ["git", *arguments], cwd=ROOT, env=os.environ | variables, text=True
        )
        return told.strip()

    with tempfile.TemporaryDirectory() as place:
        index = shutil.copy(ROOT / git("rev-parse", "--git-path", "index"), place)
        git("add", "--all", GIT_INDEX_FILE=str(index))
        return git("write-tree", GIT_INDEX_FILE=str(index))


@contextlib.contextmanager
def load() -> Iterator[list[subprocess.Popen[bytes]]]:
    """A busy process per core."""
    busy = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(os.cpu_count() or 1)]
    try:
        yield busy
    finally:
        for process in busy:
            process.kill()
            process.wait()


def passes(command: str, log: Path) -> bool:
    """Runs a command to its end; an interrupted one ends as if it had been typed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "SOJOURN_REQUIRE": present()}
    with log.open("ab") as told:
        process = subprocess.Popen(
            shlex.split(command),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        return _status(process) == 0
    except KeyboardInterrupt:
        _interrupt(process)
        raise


def _status(process: subprocess.Popen[bytes]) -> int:
    """Waits a little at a time: a signal just before a system call does not interrupt it."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=1)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Ends a command and all that it has started."""
    for end in (signal.SIGINT, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, end)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PATIENCE)


def run(part: Part, notes: Notes, log: Path) -> None:
    """Makes the rounds that are left of a part."""
    notes.begin(part)
    rounds = notes.rounds(part)
    if not rounds.ended:
        log.unlink(missing_ok=True)
    while rounds.left:
        began = time.monotonic()
        with load() if part.loaded else contextlib.nullcontext():
            failed = [command for command in part.commands if not passes(command, log)]
        seconds = round(time.monotonic() - began, 1)
        if tree() != notes.tree:
            raise SystemExit("a file of the checkout has changed meanwhile: begin again")
        rounds.ended.append((seconds, not failed))
        notes.save()
        print(f"{part.name:15}{rounds}", flush=True)


def main(arguments: Sequence[str]) -> int:
    """Makes all parts, or those that are named; 1 where one failed, 130 if interrupted."""
    table = parts()
    chosen = [part for part in table if not arguments or part.name in arguments]
    if unknown := set(arguments) - {part.name for part in table}:
        allowed = ", ".join(part.name for part in table)
        print(f"PART: {', '.join(unknown)} given; allowed: {allowed}", file=sys.stderr)
        return 2
    PLACE.mkdir(exist_ok=True)
    notes = Notes(PLACE, tree())
    interrupted = False
    try:
        for part in chosen:
            print(f"{part.name}: {part.says}", flush=True)
            run(part, notes, PLACE / f"{part.name}.log")
    except KeyboardInterrupt:
        interrupted = True
    print("\npart" + "rounds".rjust(21) + "seconds".rjust(10))
    for part in chosen:
        print(f"{part.name:15}{notes.rounds(part)}")
    failed = any(notes.rounds(part).failed for part in chosen)
    return 130 if interrupted else int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Commands on a disk whose n-th call fails, n = 0, 1, 2, ...: run under LD_PRELOAD of `disk.c` by
`tests/test_faults.py`, as ``commands.py STEP NAME...``; prints what went wrong, a line each.

Whatever fails, the old results are intact or the new ones whole, the message has a path and a
remedy, and the command succeeds when it is given again.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

import polars as pl

from conftest import call
from sojourn.installed import REPRODUCTIONS, points
from sojourn.store import manifest, run_directory
from test_directories import TINY
from test_directories_random import Found

#: What a call may fail with, in turn.
ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)
#: All kinds of calls but locks, which have an error of their own.
CALLS, LOCKS = 31, 32
disk = ctypes.CDLL(None)


@dataclass(frozen=True)
class Trial:
    """A command, what leads to it, and what is to be true of the files then."""

    before: tuple[tuple[str, ...], ...]
    command: tuple[str, ...]
    #: Whether new results are whole, of those that are no longer old.
    is_whole: Callable[[Path], bool]
    #: The files that are old results.
    old: tuple[str, ...] = ("out/**/*",)


def _has_run(home: Path) -> bool:
    return run_directory.load(home / "out").scenario.canonical["seed"] == 2


def _has_sweep(home: Path) -> bool:
    kept = manifest.read(home / "out")["kind"] == "sweep"
    return kept and len(pl.read_csv(home / "out/summary.csv")) > 0


def _grows(home: Path) -> bool:
    rows = pl.concat([pl.read_parquet(path) for path in (home / "out/runs").glob("*.parquet")])
    return rows.filter(scope="net")["point"].n_unique() >= 2


def _is_reproduced(home: Path) -> bool:
    return pl.read_csv(home / "out/comparison.csv")["row"].to_list() in ([1], [1, 2])


def _is_drawn(home: Path) -> bool:
    return (home / "drawn.png").read_bytes()[-8:-4] == b"IEND"


def _is_exported(home: Path) -> bool:
    return len((home / "trace").read_text().split()) > 100


RUN = ("run", "tiny.toml", "--no-figures", "--out", "out")
SWEEP = ("sweep", "tiny.toml", "--jobs", "1", "--out", "out")
PAPER = ("reproduce", "paper", "--jobs", "1", "--out", "out")
DRAW = ("plot", "out", "--y", "mean_throughput_l4", "--kind", "series", "--out", "drawn.png")
EXPORT = ("export", "out", "--mahimahi", "bottleneck", "trace")
GRID = "sweep.replications=3"
TRIALS = {
    "run": Trial((RUN,), (*RUN, "--seed", "2", "--force"), _has_run),
    "again": Trial(((*RUN, "--seed", "2"),), (*RUN, "--seed", "2"), _has_run),
    "sweep": Trial((RUN,), (*SWEEP, "--force"), _has_sweep),
    "grow": Trial((SWEEP,), (*SWEEP, "--set", GRID), _grows),
    "reproduce": Trial((RUN,), (*PAPER, "--table", "1", "--force"), _is_reproduced),
    "plot": Trial((RUN, DRAW), DRAW, _is_drawn, ("drawn.png", "out/*.parquet")),
    "export": Trial((RUN, EXPORT), EXPORT, _is_exported, ("trace", "out/*.parquet")),
}


def content(home: Path, patterns: tuple[str, ...]) -> dict[str, bytes]:
    files = [path for pattern in patterns for path in home.glob(pattern) if path.is_file()]
    return {str(p): p.read_bytes() for p in files if p.name != ".lock"}


def told(error: int, said: str) -> bool:
    """Whether a message has the reason, a path, and what helps."""
    reasons = (os.strerror(error), "cannot be written (")
    remedies = ("give a directory", "free some space", "mount it", "goes on with it", "used up")
    found = re.search(r"(^sojourn: |: )\S+: (.*)$", said, re.MULTILINE)
    return bool(found) and all(any(part in said for part in of) for of in (reasons, remedies))


def attempt(trial: Trial, home: Path, kinds: int, n: int, error: int) -> tuple[int, list[str]]:
    """How many calls there were, and what went wrong."""
    problems = []
    before = content(Path(), trial.old)
    disk.faults_arm(os.fsencode(home), kinds, n, error, 0)
    done = call(*trial.command)
    seen = disk.faults_arm(b"", 0, -1, 0, 0)
    if "internal error" in done.stderr or "Traceback" in done.stderr:
        problems.append(f"no words: {done.stderr[-400:]}")
    elif done.returncode and not told(error, done.stderr):
        problems.append(f"no remedy: {done.stderr[-400:]}")
    with contextlib.suppress(Exception):
        manifest.read(Path("out"))  # any command's first step
    after = content(Path(), trial.old)
    if before.items() - after.items():
        try:
            whole = trial.is_whole(Path())
        except Exception as why:
            whole = False
            problems.append(repr(why))
        if not whole:
            problems.append(f"lost: {sorted({n for n, _ in before.items() - after.items()})}")
    again = call(*trial.command)
    if again.returncode or not trial.is_whole(Path()):
        problems.append(f"not gone on with: {again.stderr[-400:]}")
    return seen, problems


def try_all(name: str, step: int) -> None:
    trial = TRIALS[name]
    with tempfile.TemporaryDirectory() as base, contextlib.chdir(base):
        prepared = Path(base, "prepared")
        prepared.mkdir()
        with contextlib.chdir(prepared):
            Path("tiny.toml").write_text(TINY)
            for command in trial.before:
                assert call(*command).returncode == 0
        failures = zip(itertools.count(0, step), itertools.cycle(ERRORS))
        for n, error in (*[(0, None)], *itertools.islice(failures, 2000)):
            home = Path(base, f"home-{n}-{error}")
            shutil.copytree(prepared, home)
            with contextlib.chdir(home):
                kinds = LOCKS if error is None else CALLS
                seen, problems = attempt(trial, home, kinds, n, error or errno.ENOLCK)
            for problem in problems:
                print(f"{name}, call {n} ({errno.errorcode[error or errno.ENOLCK]}): {problem}")
            shutil.rmtree(home)
            if error and n >= seen:
                break
        print(f"# {name}: {seen} calls", file=sys.stderr)


if __name__ == "__main__":
    with mock.patch.dict(points(REPRODUCTIONS), {"paper": Found()}):
        for chosen in sys.argv[2:]:
            try_all(chosen, int(sys.argv[1]))

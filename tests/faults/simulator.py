"""Sweeps and runs on a disk, in processes, over a network and by a clock that fail, as drawn from
a seed: ``simulator.py FIRST COUNT`` under LD_PRELOAD of `disk.c`. The same seed fails likewise.

What was told to be stored is there after any fault; nothing of two scenarios is mixed; what fails
is told in words; and when faults end, the same command gives the same table, byte for byte.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[1]))

import sojourn
from faults.power import Disk
from sojourn.errors import SojournError
from sojourn.executors import threads
from sojourn.scenario import load
from sojourn.store import manifest
from sojourn.store.place import claimed
from sojourn.sweeps import directory as place_of
from sojourn.sweeps import run, table
from sojourn.sweeps.expand import plan
from sojourn.sweeps.work import Identify
from test_directories import TINY

ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS, errno.ENOLCK)
#: All kinds of calls of `disk.c`.
ALL = 63
OUT = Path("out")
#: A few metrics, with which a story takes half the time.
METRICS = ("mean_throughput_l4", "mean_srtt_l4", "utilization_l1", "mean_agg_throughput_l4")
SWEEPS = {
    name: load(TINY.replace("[sweep]\n", "[sweep]\nreplications = 3\n"), [f"flows.0.cca={name}"])
    for name in ("reno", "cubic")
}
PLANS = {name: plan(scenario) for name, scenario in SWEEPS.items()}
disk = ctypes.CDLL(None)


class Shaky:
    """Work in any order, by workers that are lost, over a connection that may be cut."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw

    def __call__(
        self, items: Iterable[Any], work: Any, jobs: int, patience: float = 1.0
    ) -> Generator[Any, None, None]:
        draw, waiting = self._draw, list(items)
        draw.shuffle(waiting)
        while waiting:
            some = [waiting.pop() for _ in range(min(len(waiting), draw.randint(1, 3)))]
            chance = draw.random()
            if chance < 0.03:
                raise SojournError("the connection to the cluster is lost")
            if chance < 0.1:
                yield None
            # Places that are lost are refused alike, and count as one.
            lost = draw.random() < 0.03 and not isinstance(work, Identify)
            yield work.join([work.lost(i, "was lost") if lost else work(i) for i in some])


def sweep(name: str, execute: Any, told: Callable[[int], None], *, force: bool) -> None:
    """As `sojourn sweep` does."""
    scenario, planned = SWEEPS[name], PLANS[name]
    tenant = place_of.tenant(scenario, planned)
    with claimed(tenant, OUT, lambda _: None, force=force) as claim:
        run.sweep(
            planned,
            claim.work,
            1,
            progress=lambda done, _: told(done if claim.work == OUT else 0),
            warn=lambda _: None,
            retry_failed=True,
            execute=execute,
        )
        table.save(table.summary(claim.work, METRICS), claim.work)


def single(seed: int, *, force: bool) -> None:
    """As `sojourn run` does."""
    sojourn.run(TINY, seed=seed).save(OUT, force=force)


def holder() -> str:
    """Whose results the directory has; empty if it has none."""
    try:
        found = manifest.read(OUT)
    except sojourn.ScenarioError:  # there is none
        return ""
    if found.get("unfinished"):  # it was announced only
        return ""
    if found["kind"] == "run":
        return f"run {found['scenario']['seed']}"
    return str(found["document"]["flows"][0]["cca"])


def stored() -> int:
    """How many runs of a sweep are stored."""
    rows = table.ask(OUT, lambda rows: rows.collect())
    return 0 if rows is None else rows["point"].n_unique()


class Story:
    """What happens in a directory."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.disk = Disk(Path.cwd())
        self.held, self.told = "", 0

    def run(self) -> None:
        for _ in range(self.draw.randint(2, 5)):
            self.step()
        self.calm()

    def step(self) -> None:
        """A command with faults, and what must be true then."""
        kind = self.draw.choice(["reno", "reno", "cubic", "run 1", "run 2"])
        force = self.draw.random() < 0.6
        before, told = self.held, self.told if kind == self.held else 0

        def hear(done: int) -> None:
            nonlocal told
            told = max(told, done)

        self.arm()
        done = self.attempt(kind, force, hear)
        disk.faults_arm(b"", 0, -1, 0, 0)
        if self.draw.random() < 0.5:
            self.disk.lose(self.draw)
        # Whoever opens a directory goes on with a replacement there.
        with self.disk.watched():
            self.check(kind, before, told, done=done)

    def arm(self) -> None:
        """A fault of the disk, and whether all later calls fail, too: a process that is dead."""
        chance = self.draw.random()
        if chance < 0.8:
            lasts = chance < 0.5
            error = errno.EIO if lasts else self.draw.choice(ERRORS)
            n = self.draw.randint(0, 150)
            disk.faults_arm(os.fsencode(Path.cwd()), ALL, n, error, int(lasts))

    def attempt(self, kind: str, force: bool, hear: Callable[[int], None]) -> bool:
        """Whether the command succeeds; it may only fail in words."""
        clock = time.monotonic

        def jumping() -> float:
            return clock() + self.draw.choice([0, 0, 0, 3600, -3600])

        with self.disk.watched(), mock.patch("sojourn.campaign.loop.time.monotonic", jumping):
            try:
                if kind.startswith("run"):
                    single(int(kind[-1]), force=force)
                else:
                    sweep(kind, Shaky(self.draw), hear, force=force)
            except (SojournError, sojourn.ScenarioError, OSError):
                return False
        return True

    def check(self, kind: str, before: str, told: int, *, done: bool) -> None:
        held = holder()
        assert held in ({kind} if done else {before, kind}), f"{held} after {kind} over {before}"
        if held.startswith("run"):
            assert sojourn.open(OUT).flows.height == 1  # type: ignore[union-attr]
        elif held:
            kept = told if held == kind else self.told
            count = stored() if (OUT / "runs").is_dir() else 0
            assert count >= kept, f"{count} runs are stored, of {kept} that were told"
            self.told = kept
        self.held = held

    def calm(self) -> None:
        """Faults end."""
        name = self.held if self.held in SWEEPS else "reno"
        sweep(name, threads.execute, lambda _: None, force=True)
        assert holder() == name
        assert (OUT / "summary.csv").read_bytes() == reference(name)
        left = [path.name for path in OUT.iterdir() if path.name.endswith(".partial")]
        assert not left, left


REFERENCES: dict[str, bytes] = {}


def reference(name: str) -> bytes:
    """The table of a sweep that nothing has happened to."""
    if name not in REFERENCES:
        with tempfile.TemporaryDirectory() as base, contextlib.chdir(base):
            sweep(name, threads.execute, lambda _: None, force=False)
            REFERENCES[name] = (OUT / "summary.csv").read_bytes()
    return REFERENCES[name]


def main(first: int, count: int) -> int:
    """How many seeds fail; each is named with its reason."""
    failed = 0
    with tempfile.TemporaryDirectory() as base, contextlib.chdir(base):
        for seed in range(first, first + count):
            Path("home").mkdir()
            with contextlib.chdir("home"):
                try:
                    Story(seed).run()
                except Exception as error:
                    if count == 1:
                        raise
                    failed += 1
                    print(f"seed {seed}: {type(error).__name__}: {str(error)[:600]}")
                finally:
                    disk.faults_arm(b"", 0, -1, 0, 0)
            shutil.rmtree("home")
    print(f"{count} seeds from {first}, {failed} failed", file=sys.stderr)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))

"""Ctrl-C in long commands: what is stored by then, what is said, and that nothing is left."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT, TWO_FLOWS, Offspring
from sojourn.executors import threads as executor
from sojourn.interruption import SIGNALS, deferred, end, entire, heard, listen

#: Of its four runs two are done at once, and two last longer than any test.
SWEEP = (
    TWO_FLOWS.replace("3 s", "100000 s")
    + """
[sweep]
replications = 2
[sweep.grid]
"duration" = ["1 s", "100000 s"]
"""
)
OWN = SWEEP.replace('"reno"', '{ kind = "python", path = "aimd.py", class = "Aimd" }')
LOCAL = ("--cluster", "local:2")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with sweeps that do not end."""
    shutil.copy(ROOT / "examples" / "own-control-python" / "aimd.py", tmp_path)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "own.toml").write_text(OWN)
    return tmp_path


@pytest.mark.concurrent
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("sweep", "sweep.toml", "--jobs", "4"), id="sweep-threads"),
        pytest.param(("sweep", "own.toml", "--jobs", "4"), id="sweep-processes"),
        # One worker more than there are long runs: any two may be the first.
        pytest.param(("sweep", "own.toml", "--cluster", "local:3"), id="sweep-cluster"),
        pytest.param(
            ("reproduce", "ccperf", "--set", 'duration="400 s"', "--jobs", "1"),
            id="reproduce-threads",
        ),
        pytest.param(
            ("reproduce", "ccperf", "--set", 'duration="400 s"', *LOCAL), id="reproduce-cluster"
        ),
        pytest.param(("reproduce", "slow", "--jobs", "2"), id="computed"),
        pytest.param(("evaluate", "cubic", "--quick", "--jobs", "1"), id="evaluate-threads"),
        pytest.param(("evaluate", "cubic", "--quick", *LOCAL), id="evaluate-cluster"),
    ],
)
def test_an_interrupted_command_says_what_is_stored(
    here: Path, offspring: Offspring, command: Sequence[str]
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "import slow_paper; slow_paper.main()", *command, "--out", "out"],
        cwd=here,
        env=os.environ | {"TMPDIR": str(here), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _wait(lambda: _files(here) or process.poll() is not None)
        if process.poll() is None:  # else it is told why it has ended
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does: workers and all
        told = process.communicate(timeout=60)[1]
    finally:
        process.kill()
    assert process.returncode == 130, told
    assert "Traceback" not in told
    said = re.fullmatch(
        r"sojourn: interrupted: (\d+) of (\d+) runs are stored in out; "
        "the same command goes on from there",
        told.rstrip("\n").rpartition("\n")[2],
    )
    assert said, told
    stored = pl.concat([pl.read_parquet(file, columns=["key"]) for file in _files(here)])
    assert int(said[1]) == stored["key"].n_unique()
    assert 0 < int(said[1]) < int(said[2])
    _wait(lambda: not offspring())
    assert not [path.name for path in here.glob("sojourn-*")]


def _files(here: Path) -> list[Path]:
    return list((here / "out").glob("**/runs/[!.]*.parquet"))


def _wait(condition: Callable[[], object]) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_what_is_deferred_is_interrupted_where_it_waits() -> None:
    done: list[str] = []

    def work() -> None:
        with suppress(KeyboardInterrupt), heard():
            signal.raise_signal(signal.SIGINT)
            done.append("goes on waiting")
        done.append("stores")
        signal.raise_signal(signal.SIGINT)
        done.append("works")
        with heard():
            done.append("waits")

    with pytest.raises(KeyboardInterrupt), deferred():
        work()
    assert done == ["stores", "works"]


def test_what_waits_for_nothing_is_interrupted_at_its_end() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), deferred():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_to_end_ends_as_an_interrupted_one(number: signal.Signals) -> None:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(number, signal.SIG_DFL)  # one that is ignored, as below nohup, stays so
    done = []

    def store() -> None:
        signal.raise_signal(number)
        done.append("stored")

    try:
        listen()
        with pytest.raises(KeyboardInterrupt), deferred():
            store()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert end() == 128 + number
        signal.raise_signal(number)
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
    assert done == ["stored"]


def test_a_command_that_is_ended_leaves_nothing_and_one_that_is_killed_for_the_next(
    tmp_path: Path,
) -> None:
    (tmp_path / "long.toml").write_text(TWO_FLOWS.replace("3 s", "100000 s"))
    words = ("run", "long.toml", "--record", "packets", "--out", "out", "--no-figures")

    def spools() -> list[Path]:
        return list((tmp_path / "out").glob(".spool-*.partial"))

    for number, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)):
        before = spools()
        process = subprocess.Popen(
            [sys.executable, "-m", "sojourn", *words], cwd=tmp_path, stderr=subprocess.PIPE
        )
        _wait(lambda before=before: set(spools()) - set(before))
        assert not set(spools()) & set(before)
        process.send_signal(number)
        assert (process.communicate(timeout=60), process.returncode)[1] == status
        assert bool(spools()) == (number == signal.SIGKILL)


def test_what_is_ignored_stays_ignored() -> None:
    """As that of a command in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with deferred():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_who_insists_is_heard_at_once() -> None:
    def insist() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("was not interrupted")

    with pytest.raises(KeyboardInterrupt), deferred():
        insist()


def test_what_is_begun_is_ended_whatever_happens() -> None:
    done: list[str] = []

    @contextmanager
    def context(*, late: bool) -> Iterator[None]:
        if not late:
            signal.raise_signal(signal.SIGINT)
        done.append("begun")
        yield
        signal.raise_signal(signal.SIGINT)
        done.append("ended")

    with pytest.raises(KeyboardInterrupt), entire(context(late=False)):
        pytest.fail("was not interrupted")
    with pytest.raises(KeyboardInterrupt, match="half"), entire(context(late=True)):
        raise KeyboardInterrupt("half of it is stored")
    assert done == ["begun", "ended"] * 2


def test_who_stops_asking_ends_what_is_under_way() -> None:
    started, ended, given_up = (threading.Event() for _ in range(3))

    def work(item: int) -> None:
        if not item:
            return
        started.set()
        try:
            while not given_up.wait(0.001):
                executor.go_on()
        except KeyboardInterrupt:
            ended.set()

    asked = executor.execute([0, 1], work, 2)
    next(asked)
    assert started.wait(60)
    asked.close()
    assert ended.wait(60)
    given_up.set()
    executor.go_on()  # this thread is nobody's

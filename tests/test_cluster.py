"""Sweeps on a Dask cluster: two workers here, started once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import distributed
import polars as pl
import pytest

from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError, SojournError
from sojourn import sweep as run_sweep
from sojourn.executors.addresses import of_client
from sojourn.executors.threads import go_on
from sojourn.scenario import load
from sojourn.store.batches import Batches
from sojourn.sweeps import run
from sojourn.sweeps.expand import plan
from sojourn.sweeps.work import Run

GRID = """
[sweep]
replications = 2
[sweep.grid]
"topology.bottleneck.rate" = ["2 Mbit/s", "4 Mbit/s"]
"flows.0.start" = ["0 s", "2 s"]
"flows.0.stop" = ["3 s", "1 s"]
"""
SWEEP = TWO_FLOWS + GRID
pytestmark = pytest.mark.concurrent
CONTROL = """
from beside import WINDOW
from sojourn.cca import Control, Decision

class Fixed(Control):
    def __init__(self, params, init):
        pass
    def on_ack(self, now, ack):
        pass
    def on_congestion(self, now, event):
        pass
    def decision(self):
        return Decision(WINDOW, WINDOW)
"""


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import dask

    settings = {"distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    directory = tmp_path_factory.mktemp("threads")
    run.sweep(plan(load(SWEEP)), directory, 2, progress=lambda *_: None, warn=pytest.fail)
    return stored(directory)


def stored(directory: Path) -> pl.DataFrame:
    whole = Batches(directory, pytest.fail).ask(lambda rows: rows.drop("wall_seconds").collect())
    assert whole is not None
    return whole.sort("point", "scope", "id")


def test_as_a_user_types_it(
    client: Any, sojourn: Command, tmp_path: Path, undisturbed: pl.DataFrame
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    address = client.scheduler.address
    command = ("sweep", "sweep.toml", "--out", "d", "--format", "csv", "--cluster")
    done = sojourn(*command, address)
    assert done.returncode == 1  # a flow that stops before it starts is refused, as with threads
    assert "14 run now, 0 stored before, 2 equal to another point, 4 failed" in done.stderr
    assert stored(tmp_path / "d").equals(undisturbed)
    assert "0 run now, 16 stored before, 4 failed" in sojourn(*command, address).stderr


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("local:0", "expected the address of a Dask scheduler such as tcp://host:8786, or local:N"),
        ("somewhere", "expected the address of a Dask scheduler"),
    ],
)
def test_wrong_addresses_are_explained(
    called: Command, scenario_file: Path, address: str, told: str
) -> None:
    done = called("sweep", scenario_file, "--cluster", address)
    assert done.returncode == 2
    assert told in done.stderr


def test_another_build_is_refused_and_both_are_named(client: Any, tmp_path: Path) -> None:
    def become(build: str) -> None:
        from sojourn import build as module

        made: dict[str, Any] = {}
        exec(f"def engine(): return {build!r}", made)
        module.engine.__code__ = made["engine"].__code__

    client.wait_for_workers(2)  # on a slow machine one comes later than the other
    [worker, _] = client.scheduler_info(n_workers=-1)["workers"]
    from sojourn.build import engine

    client.run(become, "0.0.1-older", workers=[worker])
    try:
        with pytest.raises(ScenarioError, match=r"0\.0\.1-older") as error:
            run_sweep(SWEEP, directory=tmp_path, client=client)
        assert engine() in str(error.value)
    finally:
        client.run(become, engine(), workers=[worker])


def test_a_killed_worker_loses_nothing(
    client: Any, tmp_path: Path, undisturbed: pl.DataFrame
) -> None:
    workers = list(client.run(os.getpid).values())[:1]

    def kill(done: int, total: int) -> None:
        if workers:
            os.kill(workers.pop(), signal.SIGKILL)

    run_sweep(SWEEP, directory=tmp_path, client=client, progress=kill)
    assert not workers
    assert stored(tmp_path).equals(undisturbed)


class Deadly:
    """Work that an odd item does not survive."""

    def __call__(self, item: int) -> list[int]:
        if item % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return [item]

    def lost(self, item: int, why: str) -> list[int]:
        return [-item]

    def join(self, done: Sequence[list[int]]) -> list[int]:
        return [item for one in done for item in one]


def test_only_what_ends_its_worker_is_lost(client: Any) -> None:
    import cloudpickle

    from sojourn.executors.cluster import Cluster

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    found = list(Cluster(client)([0, 1, 2, 4], Deadly(), 9))
    assert sorted(item for done in found for item in done or ()) == [-1, 0, 2, 4]


def test_a_scheduler_that_goes_is_told(tmp_path: Path) -> None:
    from sojourn.executors.cluster import Cluster

    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        client = distributed.Client(cluster)
        execute = Cluster(client)
        threading.Timer(0.5, cluster.close).start()
        with pytest.raises(SojournError, match="scheduler is gone"):
            list(execute(range(10_000), Slow(), 9, patience=0.2))
        client.close()


class Slow(Deadly):
    def __call__(self, item: int) -> list[int]:
        time.sleep(0.1)
        return [item]


class Endless(Deadly):
    def __init__(self, place: Path) -> None:
        self._place = place

    def __call__(self, item: int) -> list[int]:
        (self._place / f"begun-{item}").touch()
        until = time.monotonic() + 60 * item
        try:
            while time.monotonic() < until:
                go_on()
                time.sleep(0.01)
        except KeyboardInterrupt:
            (self._place / f"ended-{item}").touch()
            raise
        return [item]


def test_who_stops_asking_ends_what_workers_do(client: Any, tmp_path: Path) -> None:
    import cloudpickle

    from sojourn.executors.cluster import Cluster

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    client.wait_for_workers(2)  # a test before this one may have ended one
    told = Cluster(client)([0, 1], Endless(tmp_path), 9, patience=0.05)
    while not (tmp_path / "begun-1").exists():
        next(told)
    workers = set(client.run(os.getpid).values())
    told.close()
    until = time.monotonic() + 60
    while not (tmp_path / "ended-1").exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    assert set(client.run(os.getpid).values()) == workers  # which are others' too


@pytest.mark.parametrize(("status", "is_left"), [("running", True), ("closing", False)])
def test_a_worker_that_goes_does_not_fail_its_work(status: str, is_left: bool) -> None:
    from sojourn.executors import remote

    worker = SimpleNamespace(status=distributed.Status[status])
    delivery = remote.Delivery("work", b"", None)
    delivery.setup(worker)
    left = remote._LEFT["work"]
    delivery.teardown(worker)
    assert left.is_set() == is_left


def test_controls_from_outside_travel_with_what_they_import(client: Any, tmp_path: Path) -> None:
    (tmp_path / "fixed.py").write_text(CONTROL)
    (tmp_path / "beside.py").write_text("WINDOW = 5.0\n")
    control = '{ kind = "python", path = "fixed.py", class = "Fixed" }'
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP.replace('cca = "reno"', f"cca = {control}").replace(', "1 s"]', "]"))
    ours = run_sweep(file, directory=tmp_path / "threads", overrides=["sweep.replications=1"])
    theirs = run_sweep(
        file, directory=tmp_path / "d", client=client, overrides=["sweep.replications=1"]
    )
    assert not theirs.failures
    assert stored(ours.directory).equals(stored(theirs.directory))
    samples = Batches(theirs.directory, name="samples").read(["scenario"])
    assert samples["scenario"].str.contains(str(tmp_path / "fixed.py"), literal=True).all()


def test_the_command_line_starts_without_dask() -> None:
    program = "import sys, sojourn.cli.sweep, sojourn.sweeps.run; print('dask' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", program]) == b"False\n"


def test_reproduce_and_evaluate_take_a_cluster(
    client: Any, sojourn: Command, tmp_path: Path
) -> None:
    address = client.scheduler.address
    done = sojourn("reproduce", "ccperf", "--quick", "--out", "r", "--cluster", address)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r/example/flows.parquet").exists()


@pytest.mark.long
def test_samples_and_optima_come_from_a_cluster_as_from_here(
    client: Any, sojourn: Command, tmp_path: Path
) -> None:
    asked = ("reproduce", "gnat2021", "--section", "4.9")
    for out, where in (("r", ("--cluster", client.scheduler.address)), ("here", ())):
        done = sojourn(*asked, "--out", out, *where)
        assert done.returncode == 0, done.stderr
    there, here = (tmp_path / out / "comparison.csv" for out in ("r", "here"))
    assert there.read_bytes() == here.read_bytes()


def test_who_waits_for_workers_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sojourn.executors.cluster._ABSENCE", 0.0)
    monkeypatch.setattr("sojourn.executors.cluster._LOOK", 0.05)
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as emptied,
        distributed.Client(emptied) as client,
    ):
        emptied.scale(0)
        while client.nthreads():
            time.sleep(0.01)
        looks = of_client(client)([1, 2], Run(), 1, 0.1)
        assert [next(looks) for _ in range(5)] == [None] * 5
        looks.close()
    told = capsys.readouterr().err
    assert told.count("the cluster has no worker") == 1, told
    assert "squeue" in told

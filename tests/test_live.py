"""Live runs, as a user starts them."""

from __future__ import annotations

import contextlib
import csv
import json
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

import sojourn
from conftest import Offspring

pytestmark = pytest.mark.concurrent
T = TypeVar("T")
SCENARIO = """
name = "live"
duration = "2 s"
[topology]
kind = "dumbbell"
[topology.bottleneck]
rate = "20 Mbit/s"
queue = { kind = "fifo", limit = "1 bdp" }
[[flows]]
cca = "cubic"
rtt = "20 ms"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "live.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "sojourn", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


def live(*arguments: object) -> str:
    """What a command prints that runs live."""
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.alone
@pytest.mark.needs("live")
def test_a_live_run_prints_and_stores_what_a_simulated_one_does(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    printed = json.loads(live("run", file, "--backend", "live", "--format", "json", "--out", out))
    assert printed["backend"] == "live"
    quality = printed["quality"]
    assert set(quality) >= {
        *("valid", "reasons", "release_error_ms", "longest_gap_ms", "tun_drops"),
        *("cpu_idle", "cpu_steal", "kernel"),
    }
    assert set(quality["release_error_ms"]) == {"p50", "p99", "p999"}
    flow = printed["flows"][0]["metrics"]
    assert 12 < flow["mean_throughput_l4"] < 19.4
    assert 20 < flow["mean_srtt_l4"] < 45
    assert flow["mean_one_way_delay_l7"] is None  # neither packets nor the kernel show it
    assert printed["links"][0]["metrics"]["utilization_l1"] <= 1.001
    assert sojourn.open(out).origin["repetition"] == 0
    again = command("run", file, "--out", out)
    assert again.returncode == 2
    assert "--force" in again.stderr


@pytest.mark.alone
@pytest.mark.needs("live")
def test_both_backends_are_compared(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    several = ("--repetitions", 2, "--seeds", 2)
    live("run", file, "--backend", "both", *several, "--out", out, "--format", "csv")
    with (out / "backends.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    header = ["scope", "id", "metric", "sim", "live", "difference", "low", "high"]
    assert list(rows[0]) == header
    row: dict[str, Any] = next(row for row in rows if row["metric"] == "mean_throughput_l4")
    assert (row["scope"], row["id"]) == ("flow", "0")
    difference = float(row["live"]) - float(row["sim"])
    assert float(row["difference"]) == pytest.approx(difference)
    # Runs that are all alike have no interval.
    assert float(row["low"] or difference) <= difference <= float(row["high"] or difference)
    runs = sorted(path.name for path in out.glob("*-*"))
    assert runs == ["live-0", "live-1", "sim-0", "sim-1"]
    origins = json.loads((out / "manifest.json").read_text())["origins"]
    assert {name: origin["repetition"] for name, origin in origins.items()} == {
        "live-0": 0,
        "live-1": 1,
    }
    here = {"backend": "live", "host": platform.node(), "kernel": platform.release()}
    assert all({**origin, **here} == origin for origin in origins.values())


def test_runs_of_a_backend_that_does_not_run_are_refused(file: Path) -> None:
    for arguments in (["--repetitions", 2], ["--backend", "live", "--seeds", 2]):
        done = command("run", file, *arguments)
        assert done.returncode == 2
        assert str(arguments[-2]) in done.stderr


@pytest.mark.needs("fewer-rights")
@pytest.mark.parametrize("name", ["run", "sweep"])
def test_without_permission_it_is_said_what_is_missing(
    file: Path, tmp_path: Path, name: str
) -> None:
    without = ["setpriv", "--bounding-set=-sys_admin", "--"]
    line = [*without, sys.executable, "-m", "sojourn", name, str(file), "--backend", "live"]
    line += ["--out", str(tmp_path / "out")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "a live run needs a network namespace" in done.stderr
    assert "unshare --user" in done.stderr
    assert not list(tmp_path.glob("out/[!.]*"))


@pytest.mark.alone
@pytest.mark.needs("live")
def test_what_the_kernel_says_of_limits_is_shown(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    traffic = 'flows.0.traffic={ kind = "cbr", rate = "200 kbit/s" }'
    live("run", file, "--backend", "live", "--set", traffic, "--out", out)
    flow = sojourn.open(out).flows.to_dicts()[0]
    # A segment every 58 ms, which is outstanding for a third of that.
    assert 40 < flow["limited_by_application_l4"] < 90
    assert 0.18 < flow["mean_throughput_l4"] < 0.21  # a late write does not delay the next
    assert flow["limited_by_receiver_l4"] == pytest.approx(0, abs=1)
    assert flow["limited_by_cwnd_l4"] is None  # the kernel does not tell it


@pytest.mark.needs("live")
@pytest.mark.usefixtures("kernel_controls")
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("kind", ["run", "live"])
def test_nothing_is_left_of_a_run_that_is_ended(
    file: Path, offspring: Offspring, kind: str, end: int
) -> None:
    arguments = {
        "run": ["run", str(file), "--backend", "live", "--set", 'duration="60 s"'],
        "live": ["live", str(file), "--", "sleep", "60"],
    }
    before = present()
    line = [sys.executable, "-m", "sojourn", *arguments[kind]]
    with subprocess.Popen(line, stderr=subprocess.PIPE, cwd=file.parent) as process:
        has_begun = wait_for(lambda: own_namespaces(process.pid), while_alive=process)
        assert has_begun
        process.send_signal(end)
        process.wait(timeout=20)
    assert process.returncode != 0
    assert wait_for(lambda: not offspring())  # so that no namespace is left
    assert present() == before


def wait_for(what: Callable[[], T], while_alive: subprocess.Popen[Any] | None = None) -> T:
    """What it gives as soon as that is something, or after 20 s."""
    until = time.monotonic() + 20
    while not (found := what()) and time.monotonic() < until:
        if while_alive is not None and while_alive.poll() is not None:
            break
        time.sleep(0.05)
    return found


def present() -> tuple[str, ...]:
    """The host's devices, routes, addresses, congestion controls and settings of TCP."""
    devices = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
    names = [line.split(":")[0] for line in devices]
    files = ["/proc/net/route", "/proc/net/fib_trie"]
    settings = ("available_congestion_control", "congestion_control", "rmem", "wmem", "ecn")
    files += [f"/proc/sys/net/ipv4/tcp_{name}" for name in settings]
    return (*names, *(Path(name).read_text(encoding="utf-8") for name in files))


def own_namespaces(process: int) -> set[str]:
    """The network namespaces that a process's threads are in and this one is not."""
    found = {str(Path("/proc/self/ns/net").readlink())}
    mine = set(found)
    for task in Path(f"/proc/{process}/task").glob("[0-9]*/ns/net"):
        with contextlib.suppress(OSError):
            found.add(str(task.readlink()))
    return found - mine

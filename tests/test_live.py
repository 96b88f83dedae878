"""Live runs, as a user starts them; skipped, with the reason, where the machine allows none."""

from __future__ import annotations

import contextlib
import csv
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import sojourn

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
    """What a command prints that runs live; skips the test where that is not possible."""
    done = command(*arguments)
    if done.returncode == 2 and "a live run needs" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return done.stdout


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
    assert float(row["low"]) <= difference <= float(row["high"])
    runs = sorted(path.name for path in out.glob("*-*"))
    assert runs == ["live-0", "live-1", "sim-0", "sim-1"]


def test_runs_of_a_backend_that_does_not_run_are_refused(file: Path) -> None:
    for arguments in (["--repetitions", 2], ["--backend", "live", "--seeds", 2]):
        done = command("run", file, *arguments)
        assert done.returncode == 2
        assert str(arguments[-2]) in done.stderr


def test_without_permission_it_is_said_what_is_missing(file: Path, tmp_path: Path) -> None:
    without = ["setpriv", "--bounding-set=-sys_admin", "--"]
    try:
        subprocess.run([*without, "true"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"needs setpriv and root: {error}")
    line = [*without, sys.executable, "-m", "sojourn", "run", str(file), "--backend", "live"]
    line += ["--out", str(tmp_path / "out")]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "a live run needs a network namespace" in done.stderr
    assert "unshare --user" in done.stderr


#: A server and a client in one program: sends for a second, and prints what arrived.
TRANSFER = """
import os, socket, threading, time
listener = socket.create_server(("0.0.0.0", 5201))
def serve():
    connection, _ = listener.accept()
    total = 0
    while data := connection.recv(1 << 16):
        total += len(data)
    print(total)
server = threading.Thread(target=serve)
server.start()
client = socket.create_connection((os.environ["SOJOURN_RECEIVER"], 5201))
until = time.monotonic() + 1
while time.monotonic() < until:
    client.send(bytes(4096))
client.close()
server.join()
raise SystemExit(7)
"""


def test_a_programs_traffic_passes_and_its_status_comes_back(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = command("live", file, "--out", out, "--", sys.executable, "-c", TRANSFER)
    if done.returncode == 2 and "a live run needs" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 7, done.stderr
    result = sojourn.open(out)
    flow = result.flows.to_dicts()[0]
    assert flow["label"].endswith(">5201")
    delivered = result.data.tables["flow_samples"]["delivered_bytes"].sum()
    assert delivered == int(done.stdout)
    assert 10 < flow["mean_throughput_l4"] < 19.4
    assert result.links["mean_qdisc_delay_l2"][0] > 1
    assert flow["mean_cwnd_l4"] is None  # the program's own socket is not asked


def test_nothing_is_left_of_a_killed_run(file: Path) -> None:
    def present() -> tuple[str, ...]:
        devices = Path("/proc/net/dev").read_text(encoding="utf-8").splitlines()
        names = [line.split(":")[0] for line in devices]
        routes = Path("/proc/net/route").read_text(encoding="utf-8")
        controls = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
        return (*names, routes, controls)

    before = present()
    line = [sys.executable, "-m", "sojourn", "live", str(file), "--", "sleep", "4321"]
    with subprocess.Popen(line, stderr=subprocess.PIPE) as process:
        time.sleep(2)
        if process.poll() is not None:
            pytest.skip("live runs are not allowed here")
        during = namespaces()
        process.kill()
    time.sleep(0.5)
    assert present() == before
    assert "sleep\x004321\x00" not in processes()
    assert len(namespaces()) < len(during)


def namespaces() -> set[str]:
    """The network namespaces that processes are in."""
    found = set()
    for task in Path("/proc").glob("[0-9]*/task/[0-9]*/ns/net"):
        with contextlib.suppress(OSError):
            found.add(str(task.readlink()))
    return found


def processes() -> set[str]:
    """The command lines of all processes."""
    lines = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.add(path.read_text())
    return lines

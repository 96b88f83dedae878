"""Live runs, as a user starts them; skipped, with the reason, where the machine allows none."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
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

"""Equal sweeps give equal tables, byte by byte, in whatever order and by whomever runs are done."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import TWO_FLOWS, Command
from sojourn import csv_table
from sojourn.store import manifest
from sojourn.store.batches import Batches
from sojourn.sweeps import table

SWEEP = (
    TWO_FLOWS.replace('"3 s"', '"300 ms"')
    + """
[sweep]
replications = 7
start_jitter = "40 ms"

[sweep.grid]
"topology.bottleneck.rate" = ["2 Mbit/s", "4 Mbit/s"]
"flows.0.cca" = ["reno", { kind = "reno", name = "Reno" }]
"""
)


def test_the_order_of_rows_moves_no_digit(called: Command, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    assert called("sweep", "sweep.toml", "--out", "one").returncode == 0
    rows = Batches(tmp_path / "one").ask(lambda rows: rows.collect())
    assert rows is not None
    grid = manifest.read(tmp_path / "one")["grid"]
    expected = csv_table.of_frame(table.summary(tmp_path / "one"))
    runs = rows.partition_by("point", maintain_order=True)
    for seed in range(3):
        random.Random(seed).shuffle(runs)
        store = Batches(tmp_path / f"shuffled-{seed}")
        for first in range(0, len(runs), 3 + seed):
            for run in runs[first : first + 3 + seed]:
                store.append(run)
        long = store.ask(lambda rows: table.with_members(table.aggregate(rows, grid)))
        assert long is not None
        assert csv_table.of_frame(long) == expected


@pytest.mark.concurrent
@pytest.mark.long
def test_threads_clusters_and_kills_give_one_table(called: Command, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP)
    ways = {"one": ("--jobs", "1"), "four": ("--jobs", "4"), "two": ("--cluster", "local:2")}
    for out, how in ways.items():
        done = called("sweep", "sweep.toml", "--out", out, *how)
        assert done.returncode == 0, done.stderr
    line = [sys.executable, "-m", "sojourn", "sweep", "sweep.toml", "--out", "killed"]
    for wait in (1.0, 1.5, 2.0):
        process = subprocess.Popen(line, cwd=tmp_path, stderr=subprocess.DEVNULL)
        time.sleep(wait)
        process.kill()
        process.wait()
    assert called("sweep", "sweep.toml", "--out", "killed").returncode == 0
    tables = {(tmp_path / out / "summary.csv").read_bytes() for out in (*ways, "killed")}
    assert len(tables) == 1

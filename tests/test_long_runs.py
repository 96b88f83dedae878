"""Long runs stream out: processor time and memory do not grow with what a run has recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from conftest import TWO_FLOWS

#: Seconds of a day, the most flows that a run may declare, and many transfers.
DAY, FLOWS, TRANSFERS = 86_400, 100_000, 10_000_000


#: Starts a command and tells its processor seconds and most kilobytes. A process of its own, since
#: what is started has at least the memory of whoever starts it on its account.
LAUNCHER = """
import os, sys
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(process, 0)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def limits(directory: Path, text: str) -> tuple[float, float]:
    """Processor seconds and the most megabytes of ``sojourn run`` without figures."""
    (directory / "a.toml").write_text(text)
    command = [sys.executable, "-m", "sojourn", "run", "a.toml", "--out", "out", "--no-figures"]
    launched = [sys.executable, "-c", LAUNCHER, *command]
    told = subprocess.run(launched, cwd=directory, check=True, capture_output=True, text=True)
    seconds, kilobytes = told.stdout.split()[-2:]
    return float(seconds), float(kilobytes) * 1024e-6


def days(share: float) -> str:
    """Two flows over 2 Mbit/s, sampled every 100 ms."""
    seconds = f'duration = "{round(DAY * share)} s"'
    return TWO_FLOWS.replace('duration = "3 s"', seconds).replace("8 Mbit/s", "2 Mbit/s")


def crowds(share: float) -> str:
    """Many flows for five seconds."""
    last = TWO_FLOWS.rindex("[[flows]]")
    text = TWO_FLOWS[:last].replace('duration = "3 s"', 'duration = "5 s"')
    return f"{text}count = {round(FLOWS * share)}\n"


def arriving(share: float) -> str:
    """Transfers of one datagram, 10,000 each second."""
    text = TWO_FLOWS[: TWO_FLOWS.index("[[flows]]")]
    seconds = f"{TRANSFERS * share / 10_000:.3f} s"
    text = text.replace("3 s", seconds).replace("8 Mbit/s", "1 Gbit/s")
    entry = 'rate = "10000 /s"\nsize = "1 kB"\ntransport = "udp"\nrtt = "20 ms"\n'
    return f"{text}[[arrivals]]\n{entry}"


def check_transfers(directory: Path, share: float) -> None:
    """Whether all transfers are stored, give or take what a Poisson process does."""
    rows = pl.scan_parquet(directory / "out/transfers.parquet")
    count = rows.select(pl.len()).collect().item()
    assert abs(count - TRANSFERS * share) < 5 * (TRANSFERS * share) ** 0.5
    assert not list((directory / "out").glob(".spool-*"))


def check_rows(directory: Path, flows: int, seconds: float) -> None:
    """Whether all samples are stored, at most a temporary directory beside them."""
    rows = pl.scan_parquet(directory / "out/flow_samples.parquet")
    assert rows.select(pl.len()).collect().item() == 10 * flows * round(seconds)
    assert not list((directory / "out").glob(".spool-*"))


def test_a_twentieth_of_a_day(tmp_path: Path) -> None:
    seconds, memory = limits(tmp_path, days(1 / 20))
    check_rows(tmp_path, 2, DAY / 20)
    assert seconds < 8
    assert memory < 300


def test_a_twentieth_of_the_most_flows(tmp_path: Path) -> None:
    _, memory = limits(tmp_path, crowds(1 / 20))
    check_rows(tmp_path, FLOWS // 20, 5)
    assert memory < 350


@pytest.mark.long
def test_a_day_of_two_flows(tmp_path: Path) -> None:
    seconds, memory = limits(tmp_path, days(1))
    check_rows(tmp_path, 2, DAY)
    assert seconds < 60
    assert memory < 300


@pytest.mark.long
def test_the_most_flows(tmp_path: Path) -> None:
    _, memory = limits(tmp_path, crowds(1))
    check_rows(tmp_path, FLOWS, 5)
    assert memory < 1500


def test_a_hundredth_of_ten_million_transfers(tmp_path: Path) -> None:
    _, memory = limits(tmp_path, arriving(1 / 100))
    check_transfers(tmp_path, 1 / 100)
    assert memory < 250


@pytest.mark.long
def test_ten_million_transfers(tmp_path: Path) -> None:
    _, memory = limits(tmp_path, arriving(1))
    check_transfers(tmp_path, 1)
    assert memory < 750

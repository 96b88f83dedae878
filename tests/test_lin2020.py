"""Table 19 of Lin et al. 2020, as `sojourn reproduce` prints it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from conftest import ROOT, Command
from sojourn.papers.reproduce import Reproduction


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    """The table with one seed."""
    from sojourn.papers.lin2020 import LIN2020
    from sojourn.papers.paper import Request
    from sojourn.papers.reproduce import reproduce

    out = tmp_path_factory.mktemp("lin2020")
    return reproduce(LIN2020, Request(quick=True), out, 2, lambda done, total: None)


@pytest.fixture(scope="module")
def rtt(made: Reproduction) -> dict[str, tuple[float, float]]:
    """Published and measured RTT of each row."""
    column = "UDP Flow Deactivated RTT"
    rows = [row for row in made.rows if row["column"] == column]
    return {row["row"]: (row["published"], row["measured"]) for row in rows}


def test_the_page_tells_the_rank_correlation_that_the_command_prints(made: Reproduction) -> None:
    (ranks,) = (sheet for sheet in made.sheets if sheet.name == "rank-correlation")
    assert ranks.header == ("column", "controls", "tau", "low", "high")
    page = (ROOT / "docs" / "lin2020.md").read_text(encoding="utf-8")
    for column, controls, tau, low, high in ranks.rows:
        assert controls == 9, column
        assert f"| {tau:.2f} | {low:.2f} to {high:.2f} |" in page, column
    assert "where it matters" not in page


def test_the_queues_that_do_not_hang_on_slow_start_agree(
    rtt: dict[str, tuple[float, float]],
) -> None:
    for row in ("CUBIC", "H-TCP", "Westwood+"):
        published, measured = rtt[row]
        assert measured == pytest.approx(published, rel=0.07), row


def test_bbr_was_not_paced(rtt: dict[str, tuple[float, float]]) -> None:
    published = rtt["BBR"][0]
    assert abs(rtt["BBR"][1] - published) < 0.5 * abs(rtt["BBR (fq)"][1] - published)


def test_overrides_leave_nothing_published(sojourn: Command) -> None:
    arguments = ("--quick", "--where", "row=Vegas", "--set", "duration=2 s", "--format", "json")
    done = sojourn("reproduce", "lin2020", *arguments)
    rows = json.loads(done.stdout)
    assert len(rows) == 3
    assert {row["published"] for row in rows} == {None}
    assert "not the published set-up: run with --set duration=2 s" in done.stderr


def test_what_was_really_run_is_told(sojourn: Command, tmp_path: Path) -> None:
    law = ("--where", "law=fixed window's throughput")
    plain = sojourn("reproduce", "theory", *law, "--out", "plain")
    assert "not the published" not in plain.stdout + plain.stderr
    assert json.loads((tmp_path / "plain/manifest.json").read_text())["published_set_up"] is True
    changed = ("--set", "duration=3 s", "--set", "warmup=1 s")
    done = sojourn("reproduce", "theory", *law, *changed, "--out", "changed")
    notice = "not the published set-up: run with --set duration=3 s --set warmup=1 s"
    assert notice in done.stdout.splitlines()[0]
    manifest = json.loads((tmp_path / "changed/manifest.json").read_text())
    assert manifest["published_set_up"] is False
    assert manifest["choices"][0] == notice
    assert list(manifest["request"]["overrides"]) == ["duration=3 s", "warmup=1 s"]
    with (tmp_path / "changed/comparison.csv").open(newline="") as file:
        assert {row["published"] for row in csv.DictReader(file)} == {""}
    assert sojourn("report", "changed").returncode == 0
    assert "not the published set-up" in (tmp_path / "changed/report.html").read_text()


def test_the_page_parameters_of_ccperf_are_no_change(sojourn: Command, tmp_path: Path) -> None:
    one = ("--quick", "--where", "metric=total_rtos_l4", "--format", "json")
    done = sojourn("reproduce", "ccperf", *one, "--set", "cca=reno")
    assert [row["published"] for row in json.loads(done.stdout)] == [0, 0]
    assert "not the published" not in done.stderr

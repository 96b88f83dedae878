"""ABE: how its values are compared, what its criteria judge, and one law its runs must obey."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from sojourn.reproduction.paper import Request
from sojourn_reproductions.abe import criteria
from sojourn_reproductions.abe.cells import PATIENCE, cells
from sojourn_reproductions.abe.sheets import sheets
from sojourn_reproductions.abe.trade_off import Curve
from sojourn_reproductions.abe.values import (
    AQMS,
    BACKOFF,
    CONVERGENCE,
    KEYS,
    RECOMMENDED,
    SHORT_FLOWS,
    STANDARD,
    TRACE,
    pairs,
)

RTTS = ("20", "80", "160", "240", "320")


def row(experiment: str, aqm: str, cca: str, beta: str, rtt: str, metric: str, value: Any) -> Any:
    keys = (experiment, aqm, cca, beta, "10", rtt, "", metric)
    return dict(zip(KEYS, keys, strict=True)) | {"measured": value}


def both(experiment: str, metric: str, cca: str, standard: float, abe: Iterable[float]) -> Any:
    """Rows of both AQMs: standard backoff has one value, the recommended one per RTT."""
    rows = []
    for aqm in AQMS:
        for rtt, value in zip(RTTS, abe, strict=True):
            place = (experiment, aqm, cca)
            rows.append(row(*place, f"{STANDARD[cca]:g}", rtt, metric, standard))
            rows.append(row(*place, f"{RECOMMENDED[cca]:g}", rtt, metric, value))
    return rows


def test_values_stand_beside_those_of_standard_backoff() -> None:
    place = (BACKOFF, "codel", "reno")
    rows = [
        row(*place, "0.5", "80", "mean_throughput_l4", 8.0),
        row(*place, "0.8", "80", "mean_throughput_l4", 9.0),
        row(*place, "0.9", "160", "mean_throughput_l4", 9.0),
        row(BACKOFF, "codel", "cubic", "no ECN", "80", "mean_throughput_l4", 9.0),
    ]
    standard, abe = pairs(rows, BACKOFF, "mean_throughput_l4")
    assert (standard.gain, standard.rise) == (0.0, 0.0)
    assert (abe.gain, abe.rise, abe.ratio) == (pytest.approx(12.5), 1.0, 1.125)
    with pytest.raises(KeyError):
        pairs(rows, BACKOFF, "p50_rtt_l4")


def test_the_knee_is_farthest_above_the_chord() -> None:
    beta = [0.5, 0.6, 0.7, 0.8, 0.9]
    # gain = sqrt(cost): the tangent is parallel to the chord at a quarter of the cost.
    cost = [0.0, 1.0, 4.0, 9.0, 16.0]
    assert Curve("codel", "reno", beta, cost, [0.0, 1.0, 2.0, 3.0, 4.0]).knee() == 0.7
    scaled = Curve("codel", "reno", beta, [5 + 7 * c for c in cost], [0, 3, 6, 9, 12])
    assert scaled.knee() == 0.7
    with pytest.raises(KeyError):
        Curve("codel", "reno", beta[:4], cost[:4], cost[:4]).knee()


GAIN = "mean_throughput_l4"


@pytest.mark.parametrize(
    ("check", "rows", "confirmed"),
    [
        (criteria.clear_gain, both(BACKOFF, GAIN, "reno", 8, [8, 8, 8.5, 9, 9]), True),
        (criteria.clear_gain, both(BACKOFF, GAIN, "reno", 8, [9, 9, 9, 9, 8.3]), False),
        (
            criteria.larger_at_larger_rtt,
            both(BACKOFF, GAIN, "reno", 8, [8, 8.2, 8.3, 9, 9.1]),
            True,
        ),
        (criteria.larger_at_larger_rtt, both(BACKOFF, GAIN, "reno", 8, [9, 8.2, 8.3, 8, 8]), False),
        (criteria.median_rtt, both(BACKOFF, "p50_rtt_l4", "reno", 80, [84, 76, 80, 80, 80]), True),
        (criteria.median_rtt, both(BACKOFF, "p50_rtt_l4", "reno", 80, [86, 80, 80, 80, 80]), False),
        (
            criteria.smaller_for_cubic,
            both(BACKOFF, GAIN, "reno", 8, [9] * 5) + both(BACKOFF, GAIN, "cubic", 8, [8.5] * 5),
            True,
        ),
        (
            criteria.smaller_for_cubic,
            both(BACKOFF, GAIN, "reno", 8, [9] * 5) + both(BACKOFF, GAIN, "cubic", 8, [9.5] * 5),
            False,
        ),
        (
            criteria.short_flows,
            both(SHORT_FLOWS, "flow_completion_time_l4", "reno", 1, [0.9, 1, 1, 1, 1.05]),
            True,
        ),
        (
            criteria.short_flows,
            both(SHORT_FLOWS, "flow_completion_time_l4", "reno", 1, [0.9, 1, 1, 1, 1.2]),
            False,
        ),
    ],
)
def test_criteria_confirm_and_refute(check: Any, rows: Any, confirmed: bool) -> None:
    assert check(rows).confirmed is confirmed


@pytest.mark.parametrize(("left", "confirmed"), [(1, True), (3, False)])
def test_marks_replace_losses(left: int, confirmed: bool) -> None:
    rows = [
        row(TRACE, aqm, "cubic", beta, "80", "total_qdisc_drops_l2", drops)
        for aqm in AQMS
        for beta, drops in (("no ECN", 20), ("0.7", 0), ("0.85", left))
    ]
    assert criteria.marks_replace_losses(rows).confirmed is confirmed


@pytest.mark.parametrize(("slow", "confirmed"), [(2.0, True), (5.0, False)])
def test_convergence_may_take_twice_as_long(slow: float, confirmed: bool) -> None:
    times = {"0.5": 2.0, "0.6": 2.1, "0.7": 2.2, "0.8": 2 * slow, "0.9": 12.0}
    rows = [
        row(CONVERGENCE, aqm, "reno", beta, "80", "convergence_time", time)
        for aqm in AQMS
        for beta, time in times.items()
    ]
    assert criteria.slower_convergence(rows).confirmed is confirmed


def test_what_did_not_converge_is_shown_as_such() -> None:
    times = {("80", "0.5"): 10.0, ("80", "0.8"): PATIENCE, ("320", "0.5"): PATIENCE}
    times |= {("320", "0.8"): 30.0, ("240", "0.5"): PATIENCE, ("240", "0.8"): PATIENCE}
    rows = [
        row(CONVERGENCE, aqm, "reno", beta, rtt, "convergence_time", time)
        for aqm in AQMS
        for (rtt, beta), time in times.items()
    ]
    table = next(s for s in sheets(rows) if s.name == "convergence-codel")
    assert table.rows == [
        ["10", "80", "10.00", ">6.00"],
        ["10", "320", "> 60", "<0.50"],
        ["10", "240", "> 60", "both"],
    ]


def test_runs_that_did_not_converge_are_counted() -> None:
    cut = [row(CONVERGENCE, "pie", "reno", "0.9", rtt, "never_converged", 0.0) for rtt in RTTS]
    shares = (0.0, 0.0, 1 / 3, 2 / 3, 1.0)
    rows = [r | {"mean": share, "replications": 3} for r, share in zip(cut, shares, strict=True)]
    (table,) = (s for s in sheets(rows) if s.name == "never-converged")
    assert (table.header, table.rows) == (("AQM", "0.9"), [["PIE", "6 of 15"]])


def test_delays_and_the_trade_off_are_tabulated() -> None:
    gain = both(BACKOFF, GAIN, "reno", 8, [8, 9, 9, 10, 10])
    rise = both(BACKOFF, "p50_rtt_l4", "reno", 80, [80, 82, 83, 84, 85])
    slower = both(CONVERGENCE, "convergence_time", "reno", 2, [2, 3, 3, 5, 6])
    cubic = [
        r | {"cca": "cubic", "beta_ecn": {"0.5": "0.7"}.get(r["beta_ecn"], "0.85")}
        for r in gain + rise
    ]
    delays = [
        row(BACKOFF, aqm, cca, f"{beta:g}", "80", f"p{p}_qdisc_delay_l2", p / 10)
        for aqm in AQMS
        for cca, beta in RECOMMENDED.items()
        for p in (50, 95, 99)
    ]
    delays += [r | {"beta_ecn": f"{STANDARD[r['cca']]:g}"} for r in delays]
    found = {s.name: s for s in sheets(gain + rise + slower + cubic + delays)}
    assert found["queueing-delay-pie"].rows == [["80", *["5.0 9.5 9.9"] * 4]]
    # Means from 80 ms on: (1 + 1 + 2 + 2) / 4 of 8 Mbit/s, (2 + 3 + 4 + 5) / 4 ms; the median.
    assert found["trade-off"].rows[1] == ["NewReno", "CoDel", "0.8", "+18.8", "+3.5", "1.50"]
    assert found["trade-off"].rows[-1] == ["Cubic", "PIE", "0.85", "+18.8", "+3.5", "-"]


def test_the_whole_grid_of_the_slides_is_there() -> None:
    found = list(cells(Request(tables=(CONVERGENCE,))))
    places = {
        tuple(cell.keys[k] for k in ("aqm", "rate_mbit", "rtt_ms", "beta_ecn")) for cell in found
    }
    rates, rtts = (
        ("1", "5", "10", "20", "40", "100"),
        ("10", "20", "40", "60", "80", "160", "240", "320"),
    )
    betas = ("0.5", "0.6", "0.7", "0.8", "0.9")
    assert places == {(a, r, t, b) for a in AQMS for r in rates for t in rtts for b in betas}
    assert {len(cell.replications) for cell in found} == {3}


@pytest.mark.long
def test_utilization_is_the_mean_of_the_sawtooth(called: Command, tmp_path: Path) -> None:
    """A queue that hardly holds anything leaves a window between beta_ecn and 1 times the
    bandwidth-delay product, of (1 + beta_ecn) / 2 in the mean. What is stored is not run again.
    """
    command = ("reproduce", "abe", "--quick", "--table", BACKOFF, "--where", "aqm=codel")
    narrower = ("--where", "cca=reno", "--where", "rtt_ms=320", "--format", "json")
    done = called(*command, *narrower)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    measured = {r["beta_ecn"]: r["measured"] for r in printed if r["metric"] == "utilization_l1"}
    for beta in ("0.5", "0.6", "0.8"):
        assert measured[beta] == pytest.approx((1 + float(beta)) / 2, abs=0.03)
    results = tmp_path / "results" / "abe"
    with (results / "comparison.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(printed)
    stored = sorted(p.stat().st_mtime_ns for p in (results / "runs").iterdir())
    assert json.loads(called(*command, *narrower).stdout) == printed
    assert sorted(p.stat().st_mtime_ns for p in (results / "runs").iterdir()) == stored
    assert (results / "figures" / "gain-reno.png").stat().st_size > 10_000

"""``sojourn evaluate``: the suite, its verdicts and its page."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from sojourn import data
from sojourn.evaluation.ccperf.run import Place, Request
from sojourn.evaluation.ccperf.scores import COLUMNS, scores
from sojourn.evaluation.ccperf.suite import SUITE, TESTED
from sojourn.figures.pareto import front
from sojourn.metrics import metrics
from sojourn.quantity import number

#: CCPerf's page of topologies: rate (Mbit/s), one-way delay (ms), loss, queue (packets).
PATHS = {
    "default": (8.0, 30, 0, 20),
    "india-aws": (100.42, 27, 0, 173),
    "korea-china": (77.72, 51, 0.0006, 94),
    "california-mexico": (114.68, 45, 0, 450),
    "winds": (42.0, 400, 0.0074, 2800),
    "nepal-aws": (0.57, 28, 0.0477, 14),
    "mexico-cellular": (2.64, 88, 0, 130),
    "brazil-cellular": (3.04, 130, 0, 426),
}


def test_the_suite_has_eleven_experiments_over_the_named_paths() -> None:
    assert len(SUITE) == 11
    known = {(m.scope, m.name) for m in metrics()}
    for experiment in SUITE:
        assert set(experiment.measures) <= known
        assert any(
            f.get("label") == TESTED
            for f in next(experiment.cases(quick=True))[1].document["flows"]
        )
    over = {path for e in SUITE for path, _ in e.cases(quick=False) if e.paths}
    assert over == set(PATHS)


def test_of_k_flows_half_rounded_up_are_cubic() -> None:
    (friendliness,) = (e for e in SUITE if e.name == "friendliness")
    counts = [
        {flow["label"]: flow["count"] for flow in scenario.document["flows"]}
        for _, scenario in friendliness.cases(quick=False)
    ]
    assert counts == [{TESTED: k // 2, "Cubic": (k + 1) // 2} for k in range(2, 17)]


@pytest.mark.parametrize("name", ["step", "pulse-wave"])
def test_rate_delay_and_loss_change_one_at_a_time(name: str) -> None:
    (experiment,) = (e for e in SUITE if e.name == name)
    for parameter, scenario in experiment.cases(quick=False):
        link = scenario.canonical["topology"]["bottleneck"]
        assert [key for key in link if key.endswith("_schedule")] == [f"{parameter}_schedule"]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_as_ccperf_lists_it(path: str) -> None:
    cases = (case for e in SUITE if e.paths for case in e.cases(quick=False))
    scenario = next(scenario for name, scenario in cases if name == path)
    rate, delay, loss, packets = PATHS[path]
    link = scenario.canonical["topology"]["bottleneck"]
    assert scenario.canonical["flows"][0]["rtt"] == f"{2 * delay} ms"
    assert number(link["loss"]) == pytest.approx(loss)
    assert link["queue"]["limit"] == f"{packets} packets"
    if not link.get("trace"):
        assert number(link["rate"]) == pytest.approx(rate * 1e6)
        return
    times = np.array(link["trace"]["opportunities"])
    assert len(times) * 12e3 / 30 == pytest.approx(rate * 1e6, rel=0.05)
    # Exponential distances deviate as much as they are long.
    distances = np.diff(times)
    assert distances.std() == pytest.approx(distances.mean(), rel=0.1)


def test_a_control_against_itself_and_a_worse_one() -> None:
    rng = np.random.default_rng(1)
    same = rng.normal(10, 0.05, 16)
    place = Place(SUITE[0], "here")
    place.values["flow", "mean_throughput_l4"] = {"a": same, "b": same, "c": same - 1}
    place.values["flow", "mean_est_qdelay_l4"] = {"a": same, "b": same, "c": same - 1}
    found = scores([place], Request(["a"], ["b", "c"]))
    told = {(s.metric.name, s.against): s.finding.verdict for s in found}
    assert told == {
        ("mean_throughput_l4", "b"): "same",
        ("mean_throughput_l4", "c"): "better",
        ("mean_est_qdelay_l4", "b"): "same",
        ("mean_est_qdelay_l4", "c"): "worse",
    }


def test_the_front_is_what_nothing_beats() -> None:
    points = {
        "a": (5.0, 10.0),
        "b": (8.0, 30.0),
        "c": (4.0, 20.0),
        "d": (8.0, 40.0),
        "e": (1.0, 1.0),
    }
    assert front(points) == ["e", "a", "b"]


def test_the_command_writes_scores_and_a_page(sojourn: Command, tmp_path: Path) -> None:
    options = ("--against", "cubic", "--quick", "--experiment", "single-flow")
    options += ("--experiment", "friendliness", "--out", "out")
    done = sojourn("evaluate", "reno", *options)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out" / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert {row["point"] for row in rows} == {"default", "k = 2", "k = 16"}
    share = next(r for r in rows if r["metric"] == "throughput_share_l4" and r["point"] == "k = 16")
    # Eight Reno flows beside eight of Cubic: roughly half, of an interval that holds its mean.
    assert 0.2 < float(share["value"]) < 0.8
    assert float(share["low"]) < float(share["value"]) < float(share["high"])
    # Harm done to eight flows of Cubic by eight others: about half of what they had.
    harm = [r for r in rows if r["metric"] == "group_harm_throughput_l4" and r["point"] == "k = 16"]
    assert 0.2 < float(harm[0]["value"]) < 0.8
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Reno against Cubic" in page
    assert "Where it is worse" in page
    again = sojourn("evaluate", "reno", *options)
    assert again.returncode == 0
    (tmp_path / "out" / "report.html").unlink()
    reported = sojourn("report", "out")
    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("evaluate", "cubik"), "CCA cubik: "),
        (("evaluate", "cubic", "--against", "rino"), "CCA rino: "),
        (
            ("evaluate", "cubic", "--experiment", "udq"),
            "unknown experiment 'udq'; did you mean 'udp'",
        ),
    ],
)
def test_what_cannot_be_evaluated_is_refused(
    sojourn: Command, arguments: tuple[str, ...], told: str
) -> None:
    done = sojourn(*arguments, "--out", "out")
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_the_guide_names_what_there_is() -> None:
    text = data.path("docs/evaluate.md").read_text(encoding="utf-8")
    for name in COLUMNS[:9]:
        assert name in text

"""``sojourn evaluate``: the suite, its verdicts and its page."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT, Command
from sojourn.evaluation.suites.competition import COLUMNS as COMPETITION
from sojourn.evaluation.suites.competition import standings
from sojourn.evaluation.suites.experiment import TESTED
from sojourn.evaluation.suites.run import Place, Request
from sojourn.evaluation.suites.scores import COLUMNS, notes, scores
from sojourn.figures.pareto import front
from sojourn.metrics import metrics
from sojourn.quantity import number
from sojourn.report.evaluation import page
from sojourn_reproductions.ccperf.suite import SUITE

EXPERIMENTS = SUITE.experiments

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
    assert len(EXPERIMENTS) == 11
    known = {(m.scope, m.name) for m in metrics()}
    for experiment in EXPERIMENTS:
        assert set(experiment.measures) <= known
        assert any(
            f.get("label") == TESTED
            for f in next(experiment.cases(quick=True))[1].document["flows"]
        )
    over = {path for e in EXPERIMENTS for path, _ in e.cases(quick=False) if e.paths}
    assert over == set(PATHS)


def test_of_k_flows_half_rounded_up_are_cubic() -> None:
    (friendliness,) = (e for e in EXPERIMENTS if e.name == "friendliness")
    counts = [
        {flow["label"]: flow["count"] for flow in scenario.document["flows"]}
        for _, scenario in friendliness.cases(quick=False)
    ]
    assert counts == [{TESTED: k // 2, "Cubic": (k + 1) // 2} for k in range(2, 17)]


@pytest.mark.parametrize("name", ["step", "pulse-wave"])
def test_rate_delay_and_loss_change_one_at_a_time(name: str) -> None:
    (experiment,) = (e for e in EXPERIMENTS if e.name == name)
    for parameter, scenario in experiment.cases(quick=False):
        link = scenario.canonical["topology"]["bottleneck"]
        assert [key for key in link if key.endswith("_schedule")] == [f"{parameter}_schedule"]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_is_as_ccperf_lists_it(path: str) -> None:
    cases = (case for e in EXPERIMENTS if e.paths for case in e.cases(quick=False))
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
    place = Place(EXPERIMENTS[0], "here")
    place.values["flow", "mean_throughput_l4"] = {"a": same, "b": same, "c": same - 1}
    place.values["flow", "mean_est_qdelay_l4"] = {"a": same, "b": same, "c": same - 1}
    found = scores([place], Request(SUITE, ["a"], ["b", "c"]))
    told = {(s.metric.name, s.against): s.finding.verdict for s in found}
    assert told == {
        ("mean_throughput_l4", "b"): "same",
        ("mean_throughput_l4", "c"): "better",
        ("mean_est_qdelay_l4", "b"): "same",
        ("mean_est_qdelay_l4", "c"): "worse",
    }


def competition(name: str, tested: float, share: float, harm: float) -> Place:
    """16 replications of a control that gets so much of all, and of what the others lose by it."""
    (experiment,) = (e for e in EXPERIMENTS if e.name == name)
    place, noise = Place(experiment, f"{share} of all", tested), np.linspace(-0.01, 0.01, 16)
    for measure, value in (
        (("group", "throughput_share_l4"), share),
        (("group", "group_harm_throughput_l4"), harm),
        (("flow", "total_retransmissions_l4"), share),
    ):
        fair = np.full(16, 0.5) + noise[::-1]
        place.values[measure] = {"mine": value + noise, "cubic": fair}
    return place


@pytest.mark.parametrize(
    ("name", "tested", "share", "harm", "outcome"),
    [
        ("friendliness", 0.5, 0.04, 0.04, "starved"),
        ("friendliness", 0.5, 0.96, 0.96, "dominant"),
        ("friendliness", 0.5, 0.33, 0.33, "neither"),  # within a factor of two
        ("friendliness", 0.5, 0.249, 0.249, "neither"),  # less than half of it, but not surely
        ("friendliness", 1 / 3, 0.2, 0.2, "neither"),  # one flow of three
        ("on-off", 1 / 3, 0.1, 0.8, "starved and dominant"),  # the link is idle
    ],
)
def test_who_starves_and_who_dominates(
    name: str, tested: float, share: float, harm: float, outcome: str
) -> None:
    place = competition(name, tested, share, harm)
    (found,) = standings([place], Request(SUITE, ["mine"], ["cubic"]))
    assert found.outcome == outcome
    assert found.own.mean == pytest.approx(share / tested)
    assert found.others.mean == pytest.approx((1 - harm) / (1 - tested))


def test_beside_udp_that_does_not_give_way_there_is_no_fair_share() -> None:
    assert (
        standings([competition("udp", 0.5, 0.04, 0.04)], Request(SUITE, ["mine"], ["cubic"])) == []
    )


def test_starvation_comes_first_and_numbers_of_comparisons_last() -> None:
    """A control with 4 % of the link beside Cubic loses few packets; that makes it no better."""
    request = Request(SUITE, ["mine"], ["cubic"])
    places = [competition("friendliness", 0.5, share, share) for share in (0.04, 0.48)]
    places[0].values["flow", "mean_throughput_l4"] = {
        "mine": np.full(16, 0.3) + np.linspace(0, 0.01, 16),
        "cubic": np.full(16, 3.8) + np.linspace(0, 0.01, 16),
    }
    made = page(request, places, scores(places, request), {})
    told = made.sentence
    starves = (
        "Of 2 competitions with other TCP it starves in 1 (at worst it gets 8 % of a fair share"
    )
    order = [
        starves,
        "Throughput worse in 1, better in 0",
        "Harm to throughput worse in 0",
        "in all",
    ]
    assert sorted(order, key=told.index) == order, told
    beside, worse, better, *_ = made.sections[0].tables
    assert beside.rows[0][:2] == ["friendliness, 0.04 of all", "starved"]
    assert worse.rows[0][0].startswith("Throughput")
    assert [row[0] for row in better.rows] == ["Harm to throughput", "Retransmissions (count)"]
    assert [section.heading for section in made.sections][-2:] == [
        "Numbers of comparisons",
        "Every comparison",
    ]


def test_too_few_replications_to_decide_anything_are_told() -> None:
    place = competition("friendliness", 0.5, 0.04, 0.04)
    assert not notes([place], Request(SUITE, ["mine"], ["cubic"]))
    few = {
        measure: {control: values[:4] for control, values in of.items()}
        for measure, of in place.values.items()
    }
    told = notes([replace(place, values=few)], Request(SUITE, ["mine"], ["cubic"]))
    assert told[0].startswith("warning: key metrics: with 4 replications of each side no")
    assert told[0].endswith("among 2 comparisons it takes 7")


def test_the_front_is_what_nothing_beats() -> None:
    points = {
        "a": (5.0, 10.0),
        "b": (8.0, 30.0),
        "c": (4.0, 20.0),
        "d": (8.0, 40.0),
        "e": (1.0, 1.0),
    }
    assert front(points) == ["e", "a", "b"]


def test_the_command_writes_scores_and_a_page(called: Command, tmp_path: Path) -> None:
    options = ("--against", "cubic", "--quick", "--experiment", "single-flow")
    options += ("--experiment", "friendliness", "--out", "out")
    done = called("evaluate", "reno", *options)
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
    written = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Reno against Cubic" in written
    assert "Where it is worse" in written
    assert (
        "Of 2 competitions with other TCP it starves in none and dominates in none" in done.stdout
    )
    assert "Beside other TCP, in per cent of a fair share" in done.stdout
    with (tmp_path / "out" / "competition.csv").open(encoding="utf-8", newline="") as file:
        standing, *_ = csv.DictReader(file)
    assert (tuple(standing), standing["outcome"]) == (COMPETITION, "neither")
    assert 0.5 < float(standing["share"]) < 1.5
    again = called("evaluate", "reno", *options)
    assert again.returncode == 0
    (tmp_path / "out" / "report.html").unlink()
    reported = called("report", "out")
    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == written


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
    called: Command, arguments: tuple[str, ...], told: str
) -> None:
    done = called(*arguments, "--out", "out")
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_the_guide_names_what_there_is() -> None:
    text = (ROOT / "docs/howto/evaluate.md").read_text(encoding="utf-8")
    for name in (*COLUMNS[:9], *COMPETITION):
        assert name in text

"""``sojourn reproduce gnat2021``: sections 2.3 and 3.1 to 3.3 of the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from sojourn.engine import simulate
from sojourn.reproduction.paper import Request
from sojourn.scenario import validated
from sojourn_reproductions.gnat2021 import GNAT2021
from sojourn_reproductions.gnat2021.sliq import delays, predicted
from sojourn_reproductions.gnat2021.sliq.changing import full_again
from sojourn_reproductions.gnat2021.sliq.scenarios import document
from sojourn_reproductions.gnat2021.sliq.series import Series

#: It counts the paths that are compared.
pytestmark = pytest.mark.needs("graphillion")


def test_the_table_of_section_2_3_stands_beside_the_published_one(
    called: Command, tmp_path: Path
) -> None:
    done = called(
        *("reproduce", "gnat2021", "--section", "2.3", "--out", "out", "--format", "json")
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == 9 * 7
    cells = {(row["row"], row["column"]): row for row in rows}
    for column, published in (("paths_to_a", 27243), ("paths_to_b", 425381)):
        row = cells["deadline=100", column]
        assert row["published"] == published
        assert abs(row["measured"] / published - 1) < 0.1
    total = [row for row in rows if row["column"] == "total_cpu"]
    # Ten times faster, and room for a machine that is busy.
    assert sum(row["measured"] for row in total) < sum(row["published"] for row in total) / 4
    out = tmp_path / "out"
    assert (out / "figures" / "rate-over-deadline-5x5.png").stat().st_size > 5000
    with (out / "tables" / "statements.csv").open() as file:
        found = {row["id"]: row["finding"] for row in csv.DictReader(file)}
    mine = {"paths-9x9", "levels-off", "paths-grow"}  # "faster" is the machine's as well
    assert {found[name] for name in mine} == {"confirmed"}


def test_a_part_of_the_table_can_be_asked_for(called: Command) -> None:
    asked = (
        "--section",
        "2",
        "--where",
        "row=deadline=40",
        "--where",
        "column=rate",
        "--format",
        "json",
    )
    done = called("reproduce", "gnat2021", *asked)
    assert [row["row"] for row in json.loads(done.stdout)] == ["deadline=40"]
    refused = called("reproduce", "gnat2021", "--chapter", "2", "--set", "seed=3")
    assert refused.returncode == 2
    assert "--set: section 2.3 runs no scenario" in refused.stderr


@pytest.mark.parametrize(
    ("asked", "section", "covered"),
    [
        ("4.2", "4.2", True),
        ("4.2", "4.2.1", True),
        ("4.2", "4.20", False),
        ("4.2", "4.20.2", False),
        ("3.1.7", "3.1", False),
        ("3", "3.3.5", True),
        ("3", "30.1", False),
    ],
)
def test_sections_are_told_apart_by_whole_numbers(asked: str, section: str, covered: bool) -> None:
    request = Request(sections=("9", asked))
    assert request.covers(section) == covered
    assert request.includes(Request(sections=(section,))) == covered


def test_a_part_of_a_section_touches_it() -> None:
    request = Request(sections=("3.1.7",))
    assert request.touches("3.1")
    assert not request.touches("2")
    assert Request().includes(request)
    assert not request.includes(Request())


def test_the_set_up_is_told_of_what_was_asked_for() -> None:
    parameters = GNAT2021.card.parameters
    assert GNAT2021.choices_of(Request()) == list(map(str, parameters))
    mine = GNAT2021.choices_of(Request(sections=("4.3", "2.2")))
    [learning] = [p for p in parameters if p.name == "Learning of the dual gradient"]
    assert str(learning) in mine
    others = [
        str(p) for p in parameters if p.sections and not {"4", "4.3", "2", "2.2"} & {*p.sections}
    ]
    assert others
    assert not {*others} & {*mine}


def test_a_section_of_sliq_stands_beside_the_published_one(called: Command) -> None:
    only = ("--where", "row=rate_mbit=3", "--format", "json", "--out", "out")
    done = called("reproduce", "gnat2021", "--section", "3.1.5", *only)
    assert done.returncode == 0, done.stderr
    rows = {row["column"]: row for row in json.loads(done.stdout)}
    assert set(rows) == {"linux_tcp_cubic", "linux_tcp_cubic_today", "sliq_cubic", "sliq_copa"}
    for column in ("sliq_cubic", "sliq_copa"):
        assert rows[column]["published"] == 2.8
        assert abs(rows[column]["measured"] - 2.8) < 0.1
    refused = called("reproduce", "gnat2021", "--section", "3.x")
    assert refused.returncode == 2
    assert "--section 3.x: expected numbers" in refused.stderr
    other = called("reproduce", "abe", "--section", "3")
    assert other.returncode == 2
    assert "--section" in other.stderr


def test_what_the_report_says_of_a_plot_is_judged_and_drawn(
    called: Command, tmp_path: Path
) -> None:
    only = ("--section", "3.2.9", "--section", "3.2.10", "--format", "json", "--out", "out")
    done = called("reproduce", "gnat2021", *only)
    assert done.returncode == 0, done.stderr
    rows = {(r["section"], r["row"], r["column"]): r["measured"] for r in json.loads(done.stdout)}
    assert 9 < rows["3.2.10", "client", "outage_mode_s"] < 10
    assert rows["3.2.10", "server", "outage_mode_s"] == 0
    with (tmp_path / "out" / "tables" / "statements.csv").open() as file:
        found = {row["id"]: row["finding"] for row in csv.DictReader(file)}
    assert found["client-enters-outage-mode"] == "confirmed"
    assert found["outage-rebounds"] == "not run", "needs 3.2.7 and 3.2.8"
    assert (tmp_path / "out" / "figures" / "outage-3.2.10.png").stat().st_size > 5000


def test_retransmission_alone_sends_nothing_twice_that_arrived() -> None:
    scenario = document("adaptive", Request(), loss="10 %")
    scenario["duration"] = "20 s"
    scenario["flows"][0]["stream"]["deadline"] = "170 ms"
    samples = simulate(validated(scenario).canonical)[0].flow.samples
    assert samples["usable_messages"].sum() > 0.99 * samples["received_packets"].sum() > 10_000


def test_a_series_finds_when_a_link_is_full_again() -> None:
    values = np.array([9, 10, 2, 9, 4, 9, 9, 9, 9], dtype=float)
    begins = np.arange(9.0)
    rates = Series(begins, begins + 1, values)
    assert full_again(rates, 9, 0) == 5
    assert full_again(rates, 1, 0) == 0
    assert full_again(rates, 10, 0) is None
    assert rates.below(9, 0, 9) == 2
    assert rates.until(9, 2) == 1
    assert rates.windows(2).values.tolist() == [9.5, 5.5, 6.5, 9]


def test_a_longer_deadline_promises_more() -> None:
    promised = [predicted.efficiency(0.4, deadline) for deadline in (30, 70, 110, 170)]
    assert promised == sorted(promised)
    assert promised[0] < 50
    assert 99 < promised[-1] < 100


def test_delays_gather_by_rounds_within_the_deadline() -> None:
    scenario = validated(delays.close(Request(), 170)).canonical
    bins, shares = delays.histogram(simulate(scenario)[0])
    assert shares.sum() == pytest.approx(100)
    # The first sending, and after a round trip and the queue the second one.
    assert shares[bins < 30].sum() > 50 > shares[(bins >= 36) & (bins < 54)].sum() > 15
    assert shares[bins >= 170].sum() < 1

"""Cases beside the axes of a sweep, and values with names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import TWO_FLOWS
from sojourn import ScenarioError
from sojourn.campaign import keys
from sojourn.located import named, settle
from sojourn.overview import flow_names, sentence
from sojourn.result import run as run_one
from sojourn.scenario import load
from sojourn.store.rows import coordinate_text
from sojourn.sweeps import directory as own_directory
from sojourn.sweeps import run, table
from sojourn.sweeps.expand import plan
from sojourn.sweeps.stored import StoredSweep
from test_sweep import quiet, unexpected

BRIEF = TWO_FLOWS.replace('duration = "3 s"', 'duration = "0.2 s"')
CASES = """
[[sweep.cases]]
name = "FIFO"
"topology.bottleneck.queue" = { kind = "fifo", limit = "1 bdp" }
"flows.*.ecn" = "off"

[[sweep.cases]]
name = "FQ-CoDel"
"topology.bottleneck.queue" = "fq_codel"
"flows.*.ecn" = "classic"
"""
RTTS = '[sweep.grid]\n"flows.*.rtt" = ["20 ms", "60 ms"]\n'
NAMED = """
[sweep.grid]
"topology.bottleneck.queue" = [
    { name = "shallow", kind = "fifo", limit = "5 packets" },
    { name = "deep", kind = "fifo", limit = "50 packets" },
    "codel",
]
"""


def made(text: str, directory: Path) -> StoredSweep:
    run.sweep(plan(load(text)), directory, 1, progress=quiet, warn=unexpected)
    return StoredSweep(directory)


def test_cases_are_crossed_with_the_axes() -> None:
    points = list(plan(load(BRIEF + CASES + RTTS)))
    told = [
        (coordinate_text(point.coordinates["case"]), point.coordinates["flows.*.rtt"])
        for point in points
    ]
    assert told == [
        ("FIFO", "20 ms"), ("FIFO", "60 ms"), ("FQ-CoDel", "20 ms"), ("FQ-CoDel", "60 ms"),
    ]  # fmt: skip
    last = points[-1].canonical
    assert last["topology"]["bottleneck"]["queue"]["kind"] == "fq_codel"
    assert [(flow["ecn"], flow["rtt"]) for flow in last["flows"]] == [("classic", "60 ms")] * 2
    assert points[0].canonical["topology"]["bottleneck"]["queue"]["limit"] == "1 bdp"


def test_an_axis_may_change_a_part_of_what_its_case_sets() -> None:
    grid = '[sweep.grid]\n"topology.bottleneck.queue.kind" = ["fifo", "codel"]\n'
    queue = '"topology.bottleneck.queue" = { kind = "pie", limit = "9 kB" }'
    case = f'[[sweep.cases]]\nname = "a"\n{queue}\n'
    queues = [
        point.canonical["topology"]["bottleneck"]["queue"]
        for point in plan(load(BRIEF + case + grid))
    ]
    told = [(queue["kind"], queue["limit"]) for queue in queues]
    assert told == [("fifo", "9 kB"), ("codel", "9 kB")]


def test_a_name_is_no_part_of_the_run() -> None:
    told = [
        run_key(text)
        for text in (NAMED, NAMED.replace('name = "shallow", ', ""), NAMED.replace("shallow", "x"))
    ]
    assert told[0] == told[1] == told[2]


def run_key(text: str) -> str:
    return keys.run_key(next(iter(plan(load(BRIEF + text)))).canonical)


def test_a_name_that_is_a_kinds_own_stays() -> None:
    queue = {"kind": "kernel", "name": "codel", "options": "ecn"}
    assert coordinate_text(queue) == '{"kind": "kernel", "name": "codel", "options": "ecn"}'


def test_tables_and_columns_have_the_labels(tmp_path: Path) -> None:
    found = made(BRIEF + CASES + RTTS, tmp_path)
    assert found.runs["case"].unique(maintain_order=True).to_list() == ["FIFO", "FQ-CoDel"]
    long = table.summary(tmp_path, ["mean_agg_throughput_l4"])
    header, body, _ = table.pivot(long, "mean_agg_throughput_l4", (), ("case",))
    assert header == ["rtt", "FIFO", "FQ-CoDel"]
    assert [line[0] for line in body] == ["20 ms", "60 ms"]


def test_a_label_may_not_change_its_meaning_in_one_directory(tmp_path: Path) -> None:
    made(BRIEF + NAMED, tmp_path)
    without = NAMED.replace('{ name = "deep", kind = "fifo", limit = "50 packets" },', "")
    made(BRIEF + without, tmp_path)
    scenario = load(BRIEF + NAMED.replace("50 packets", "60 packets"))
    conflict = own_directory.tenant(scenario, plan(scenario)).conflict(tmp_path)
    assert "'deep' of topology.bottleneck.queue stands for another value there" in conflict
    again = load(BRIEF + NAMED)
    assert own_directory.tenant(again, plan(again)).conflict(tmp_path) == ""


@pytest.mark.parametrize(
    ("sweep", "field", "told"),
    [
        ("[sweep]\ncases = 3\n", "sweep.cases", "expected a table [[sweep.cases]] for each case"),
        (
            CASES.replace('name = "FQ-CoDel"\n', ""),
            "sweep.cases[1].name",
            "is missing; give each case a label",
        ),
        (CASES.replace('"FIFO"', "5"), "sweep.cases[0].name", "5 given; expected a label"),
        (
            CASES.replace("FQ-CoDel", "FIFO"),
            "sweep.cases[1].name",
            "'FIFO' is the label of another value",
        ),
        (
            CASES.replace('"flows.*.ecn" = "off"\n', ""),
            'sweep.cases[1]."flows.*.ecn"',
            "case 'FIFO' does not set this field; expected the same fields in every case",
        ),
        ('[[sweep.cases]]\nname = "FIFO"\n', "sweep.cases[0]", "sets no field"),
        (
            '[[sweep.cases]]\nname = "FIFO"\ntopology.bottleneck.queue = "fifo"\n',
            "sweep.cases[0].topology",
            'write a path as one key in quotes, such as "topology.bottleneck.queue"',
        ),
        (
            CASES + '[sweep.grid]\n"flows.1.ecn" = ["off", "classic"]\n',
            'sweep.cases[0]."flows.*.ecn"',
            'sweep.grid."flows.1.ecn" sets this field too',
        ),
        (
            CASES + '[sweep.grid]\n"topology.bottleneck" = [{ rate = "8 Mbit/s" }]\n',
            'sweep.cases[0]."topology.bottleneck.queue"',
            'sweep.grid."topology.bottleneck" sets this field too',
        ),
        (
            CASES.replace('"fq_codel"', '"fq_kodel"'),
            'sweep.cases[1]."topology.bottleneck.queue"',
            "= 'fq_kodel': unknown queue discipline",
        ),
        (
            CASES.replace('"off"', '"of"'),
            'sweep.cases[0]."flows.*.ecn"',
            "= 'of': ",
        ),
        ('[sweep.grid]\ncase = ["a"]\n', 'sweep.grid."case"', "see [[sweep.cases]]"),
        (
            '[sweep.grid]\ntopology.bottleneck.rate = ["1 Mbit/s"]\n',
            'sweep.grid."topology"',
            'write a path as one key in quotes, such as "topology.bottleneck.rate"',
        ),
        (
            NAMED.replace('"deep"', '"codel"'),
            'sweep.grid."topology.bottleneck.queue"[1].name',
            "'codel' is the label of another value",
        ),
        (
            NAMED.replace("50 packets", "50 pckts"),
            'sweep.grid."topology.bottleneck.queue"[1]',
            "limit",
        ),
    ],
)
def test_wrong_cases_are_explained(sweep: str, field: str, told: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        plan(load(BRIEF + sweep))
    assert str(caught.value).startswith(field)
    assert told in str(caught.value)


def test_files_of_a_case_are_found_beside_the_scenario(tmp_path: Path) -> None:
    case: dict[str, Any] = {"name": "mine", "flows.0.cca.source": "tcp_mine.c"}
    sweep = {"cases": [case]}
    settle(sweep, tmp_path)
    assert case["flows.0.cca.source"] == str(tmp_path / "tcp_mine.c")
    assert list(named(sweep)) == [(str(tmp_path / "tcp_mine.c"), "linux")]


# A label says the control beside it


def test_a_label_says_its_control() -> None:
    text = BRIEF.replace('cca = "reno"', 'cca = "bbr3"\nlabel = "challenger"')
    result = run_one(text.replace('cca = "cubic"', 'cca = "cubic"\nlabel = "Cubic"'))
    assert sentence(result).startswith("1 challenger (bbr3) and 1 Cubic flow (")
    assert flow_names(result) == ["0 challenger (bbr3)", "1 Cubic"]


def test_members_are_named_by_what_the_grid_does_not_vary(tmp_path: Path) -> None:
    text = BRIEF.replace('cca = "reno"', 'cca = "reno"\nlabel = "challenger"')
    made(text + '\n[sweep.grid]\n"flows.0.cca" = ["bbr", "reno"]\n', tmp_path / "varied")
    made(text, tmp_path / "fixed")
    for name, told in (("varied", "0 challenger"), ("fixed", "0 challenger (reno)")):
        long = table.summary(tmp_path / name, ["mean_throughput_l4"])
        members = long.filter(pl.col("scope") == "flow")["member"]
        assert members.unique(maintain_order=True).to_list() == [told, "1 cubic"]

"""The SCE draft's tables: numbering, derivation, and a reproduction in small."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import pytest

from conftest import Command
from sojourn.reproduction.paper import Cell, Request
from sojourn_reproductions.sce2019 import SCE2019, summary, tables
from sojourn_reproductions.sce2019.tables import MODES, PAIRS, TABLES, published


def test_tables_are_numbered_as_in_the_draft() -> None:
    assert [n for n in TABLES if n.isdigit()] == [str(n) for n in range(1, 112)]
    assert (TABLES["14"].flow1, TABLES["14"].metric) == ("reno-sce", tables.THROUGHPUT)
    assert (TABLES["26"].mode, TABLES["26"].flow1, TABLES["26"].flow2) == (
        "flowblind",
        "cubic",
        "dctcp-sce",
    )
    assert (TABLES["111"].mode, TABLES["111"].flow1) == ("triple-isolate", "dctcp-sce")
    assert len(PAIRS) == 15
    places = {(t, f, b, d) for t, f, b, d in published() if t.isdigit()}
    for number, flow, bandwidth, delay in places:
        table = TABLES[number]
        assert flow in table.flows
        assert bandwidth in table.grid[0]
        assert delay in table.grid[1]


def test_the_whole_draft_is_1220_runs() -> None:
    cells = list(SCE2019.cells(Request()))
    cases = {case for cell in cells for group in cell.replications for case in group}
    assert len(cases) == 5 * 8 * 8 + 15 * 5 * 4 * len(MODES) == 1220


#: Where the draft contradicts itself: its table 4 is not table 21 less table 20.
_INCONSISTENT = {"4": [("5", "80"), ("5", "160")]}


def _raw(mode: str, metric: str, *flows: str) -> str:
    wanted = (mode, metric, *flows)
    return next(
        t.number
        for t in TABLES.values()
        if (t.mode, t.metric, *filter(None, (t.flow1, t.flow2))) == wanted
    )


@pytest.mark.parametrize("number", [str(n) for n in range(1, 12)])
def test_derived_tables_follow_from_the_raw_ones(number: str) -> None:
    """The published tables 1-11 are what our derivation makes of the published raw ones."""
    table = TABLES[number]
    cells: dict[tuple[str, str], Cell] = {}
    for cell in SCE2019.cells(Request(tables=(number,))):
        cells.setdefault((cell.keys["bandwidth_mbit"], cell.keys["delay_ms"]), cell)
    compared, off = 0, []
    for bandwidth, delay in itertools.product(*table.grid):
        printed = published().get((number, "", bandwidth, delay))
        cell = cells[bandwidth, delay]
        runs = (
            [(table.flow1,), (table.flow2,)]
            if table.is_difference
            else [(table.flow1, table.flow2)]
        )
        try:
            outcomes = [_outcome(table.mode, flows, bandwidth, delay) for flows in runs]
        except KeyError:
            continue
        if printed is None:
            continue
        # The raw values have two decimals, and so the derived ones an error of that order.
        tolerance = {tables.RTT_DIFFERENCE: 0.02, tables.JAIN: 0.02}.get(table.metric, 0.021)
        if cell.measure(*outcomes) != pytest.approx(float(printed), abs=tolerance):
            off.append((bandwidth, delay))
        compared += 1
    assert compared >= 16
    assert off == _INCONSISTENT.get(number, [])


def _outcome(mode: str, flows: tuple[str, ...], bandwidth: str, delay: str) -> dict[str, object]:
    names = {tables.THROUGHPUT: "mean_throughput_l4", tables.RTT: "mean_srtt_l4"}
    return {
        "flows": [
            {
                "metrics": {
                    name: float(
                        published()[_raw(mode, metric, *flows), str(i + 1), bandwidth, delay]
                    )
                    for metric, name in names.items()
                }
            }
            for i in range(len(flows))
        ]
    }


def test_the_noise_floor_is_that_of_the_reference() -> None:
    floor = summary.floor()
    assert floor[tables.THROUGHPUT].startswith("3.4%")
    assert floor[tables.RTT].startswith("0.9%")


#: Largest medians that the quick form may have: what the whole reaches, rounded up.
_QUICK_MEDIANS = {
    **{(mode, tables.THROUGHPUT): 0.01 for mode in (tables.ONE_FLOW, "triple-isolate")},
    **{(mode, tables.RTT): 0.025 for mode in (tables.ONE_FLOW, *MODES)},
    ("flowblind", tables.THROUGHPUT): 0.04,
    ("flowblind sce-single", tables.THROUGHPUT): 0.06,
    ("flowblind", tables.JAIN): 0.01,
    ("flowblind sce-single", tables.JAIN): 0.03,
    ("triple-isolate", tables.JAIN): 0.01,
}


@pytest.mark.long
def test_the_quick_form_is_near_the_draft(called: Command, tmp_path: Path) -> None:
    """One, five and ten Mbit/s at three delays: 450 runs."""
    done = called("reproduce", "sce2019", "--quick")
    assert done.returncode == 0, done.stderr
    assert "Error by mode" in done.stdout
    with (tmp_path / "results/sce2019/tables/fidelity.csv").open() as file:
        medians = {(r["mode"], r["metric"]): float(r["median"]) for r in csv.DictReader(file)}
    misses = {key: medians[key] for key, most in _QUICK_MEDIANS.items() if medians[key] > most}
    assert not misses

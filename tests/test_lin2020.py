"""Lin et al. 2020, as `sojourn reproduce` runs it: its quick form, and what it is made of."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from conftest import Command
from sojourn.errors import ScenarioError
from sojourn.reproduction.paper import Request
from sojourn.reproduction.reproduce import Reproduction, check, reproduce
from sojourn_reproductions.lin2020 import FORMS, LIN2020, exchangeable

#: The paper's wired tables, those kept for checking included.
WIRED = ("3", *map(str, range(5, 12)), *(f"A{n}" for n in range(20, 29)), "19")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the quick form is run."""
    return tmp_path_factory.mktemp("lin2020")


@pytest.fixture(scope="module")
def made(out: Path) -> Reproduction:
    """Some rows of WAN-2 and of table 19 with one seed of a minute."""
    off = [f"UDP Flow Deactivated {column}" for column in ("RTT", "Retr.")]
    rows = ["CUBIC", "H-TCP", "Veno", "Westwood+", "BBR", "BBR (fq)"]
    where = {"row": rows, "column": ["Sum", *off]}
    request = Request(tables=("10", "19"), where=where, quick=True)
    return reproduce(LIN2020, request, out, 2, lambda done, total: None)


def _pairs(
    made: Reproduction, form: str, table: str, column: str
) -> dict[str, tuple[float, float]]:
    place = (form, table, column)
    rows = [r for r in made.rows if (r["form"], r["table"], r["column"]) == place]
    return {row["row"]: (row["published"], row["measured"]) for row in rows}


def test_every_wired_table_has_a_judged_form_and_cells_in_it() -> None:
    request = Request(tables=WIRED, quick=True)
    cells = {(cell.keys["table"], cell.keys["form"]) for cell in LIN2020.cells(request)}
    for table in WIRED:
        assert (table, FORMS[table].form) in cells


def test_the_queues_that_do_not_hang_on_slow_start_agree(made: Reproduction) -> None:
    rtt = _pairs(made, "printed", "19", "UDP Flow Deactivated RTT")
    for row in ("CUBIC", "H-TCP", "Westwood+"):
        published, measured = rtt[row]
        assert measured == pytest.approx(published, rel=0.07), row


def test_a_send_buffer_ends_slow_start_where_the_paper_lost_segments(made: Reproduction) -> None:
    lost = _pairs(made, "inferred", "19", "UDP Flow Deactivated Retr.")
    for row in ("H-TCP", "Veno", "Westwood+"):
        published, measured = lost[row]
        assert measured == pytest.approx(published, rel=0.25), row


def test_bbr_was_not_paced(made: Reproduction) -> None:
    rtt = _pairs(made, "printed", "19", "UDP Flow Deactivated RTT")
    published = rtt["BBR"][0]
    assert abs(rtt["BBR"][1] - published) < 0.5 * abs(rtt["BBR (fq)"][1] - published)


def test_the_inferred_loss_gives_the_goodputs_of_wan_2_and_the_printed_one_does_not(
    made: Reproduction,
) -> None:
    cubic = {f: _pairs(made, f, "10", "Sum")["CUBIC"] for f in ("printed", "inferred")}
    assert cubic["inferred"][1] == pytest.approx(cubic["inferred"][0], rel=0.5)
    assert cubic["printed"][1] > 5 * cubic["printed"][0]


def test_whole_bursts_starve_beside_cubic_who_is_starved_in_print(tmp_path: Path) -> None:
    rows = ["Illinois", "YeAH", "BBR"]
    where = {"form": ["inferred"], "row": rows, "column": ["Flow-1"]}
    request = Request(tables=("5",), where=where, quick=True)
    made = reproduce(LIN2020, request, tmp_path, 2, lambda done, total: None)
    first = {
        row: measured for row, (_, measured) in _pairs(made, "inferred", "5", "Flow-1").items()
    }
    assert first["Illinois"] > 2 * first["YeAH"]
    assert first["Illinois"] > 2 * first["BBR"]


def test_the_contract_s_files_have_their_columns(made: Reproduction, out: Path) -> None:
    assert made.rows
    with (out / "comparison.csv").open(encoding="utf-8") as file:
        header = next(csv.reader(file))
    assert header[:6] == ["form", "table", "row", "column", "published", "measured"]
    with (out / "tables" / "forms.csv").open(encoding="utf-8") as file:
        forms = {line["table"]: line for line in csv.DictReader(file)}
    assert [*forms["A28"]] == ["table", "form", "reason", "since"]
    assert forms["A28"]["form"] == "inferred"
    assert {*WIRED} <= {*forms}


def test_what_the_text_tells_of_figures_is_published() -> None:
    cells = LIN2020.cells(Request(tables=("figure-19",), quick=True))
    told = {(c.keys["row"], c.keys["column"]): c.published for c in cells}
    assert told["Westwood+", "RTT=200ms loss=0.01%"] == 109.8
    assert told["Westwood+", "RTT=100ms loss=0.01%"] is None
    assert told["BBR", "RTT=200ms loss=0.01%"] is None


def test_errors_leave_out_what_parameters_were_fitted_to(made: Reproduction) -> None:
    [errors] = [sheet for sheet in made.sheets if sheet.name == "errors"]
    rows = {(table, form, column): count for table, form, _, column, count, _ in errors.rows}
    # The loss of the inferred form was fitted to Cubic.
    assert rows["10", "printed", "Sum"] == rows["10", "inferred", "Sum"] + 1


def test_what_exchangeable_flows_have_in_expectation_is_no_bound() -> None:
    """Print has one order in the first flows and the opposite one in the second."""
    rows = [
        {
            "form": "printed",
            "table": "8",
            "row": row,
            "column": column,
            "published": at,
            "measured": at,
        }
        for column, order in (("Flow-1", (1, 2, 3, 4)), ("Flow-2", (4, 3, 2, 1)))
        for row, at in zip(("CUBIC", "Vegas", "YeAH", "BBR"), map(float, order), strict=True)
    ]
    [sheet] = exchangeable.sheet(rows, FORMS)
    [line] = sheet.rows
    assert dict(zip(sheet.header, line, strict=True)) == {
        "table": "8",
        "form": "printed",
        "controls": 4,
        "tau of one to the other": -1,
        "at most": 0,
        "measured": 1,
    }


def test_overrides_leave_nothing_published(called: Command) -> None:
    arguments = ("--quick", "--where", "row=Vegas", "--set", "duration=3 s", "--format", "json")
    rows = json.loads(called("reproduce", "lin2020", "--table", "19", *arguments).stdout)
    assert len(rows) == 12
    assert {row["published"] for row in rows} == {None}


def test_printed_lengths_are_for_what_is_shortened_and_not_quick() -> None:
    from sojourn.reproduction.found import paper as find

    check(LIN2020, Request(full=True))
    for paper, request in (
        (find("ccperf"), Request(full=True)),
        (LIN2020, Request(quick=True, full=True)),
    ):
        with pytest.raises(ScenarioError, match="--full"):
            check(paper, request)

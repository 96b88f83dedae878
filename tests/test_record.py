"""What a run records as it happens: files, frames, figures."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import sojourn
from conftest import TWO_FLOWS, Command
from sojourn import _internal
from sojourn.campaign.keys import run_key
from sojourn.engine import simulate
from sojourn.errors import ScenarioError
from sojourn.figures import chart, figures_of
from sojourn.record import KINDS, SCHEMAS
from sojourn.scenario import load
from sojourn.store import run_directory

CODEL = TWO_FLOWS.replace('{ kind = "fifo", limit = "20 packets" }', '"codel"')
#: The tables that people ask for.
TABLES = set(KINDS.values()) & SCHEMAS.keys()


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    return sojourn.run(CODEL, overrides=[f"record={json.dumps(list(KINDS))}"])


def test_the_kinds_are_those_of_a_scenario() -> None:
    schema = json.loads(_internal.schema())["properties"]["record"]["items"]
    assert schema["enum"] == list(KINDS)


def test_the_command_line_writes_what_it_is_told_to(called: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(CODEL)
    done = called("run", "a.toml", "--out", "out", "--record", "cc,queue", "--record", "packets")
    assert done.returncode == 0, done.stderr
    frames = {name: pl.read_parquet(tmp_path / f"out/{name}.parquet") for name in TABLES}
    schemas = {name: SCHEMAS[name] for name in TABLES}
    assert {name: dict(frame.schema) for name, frame in frames.items()} == schemas
    components = set(frames["state"]["component"])
    assert {"flow.0.cc", "flow.1.cc", "link.bottleneck.queue"} <= components
    assert set(frames["packets"]["event"]) == {"enqueue", "deliver", "drop"}
    drawn = {path.stem for path in (tmp_path / "out/figures").glob("*.png")}
    assert {"cc", "queue", "operating_point"} <= drawn
    assert not list((tmp_path / "out").glob(".*.partial"))
    done = called("report", "out")
    assert "State of the queues" in (tmp_path / "out/report.html").read_text(), done.stderr
    # The same run without a record: what was recorded goes.
    done = called("run", "a.toml", "--out", "out", "--no-figures")
    assert done.returncode == 0, done.stderr
    assert not [name for name in SCHEMAS if (tmp_path / f"out/{name}.parquet").exists()]


def test_an_unknown_kind_is_refused(called: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(CODEL)
    done = called("run", "a.toml", "--record", "queues")
    assert done.returncode == 2
    assert "--record: unknown kind of record 'queues'; did you mean 'queue'?" in done.stderr
    done = called("run", "a.toml", "--set", "record=['ccs']")
    assert done.returncode == 2
    assert "record" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_record_changes_neither_the_run_nor_its_key(result: sojourn.Result) -> None:
    plain = sojourn.run(CODEL)
    assert result.flows.equals(plain.flows)
    assert result.series.links.equals(plain.series.links)
    assert run_key(result.scenario.canonical) == run_key(plain.scenario.canonical)
    with pytest.raises(ScenarioError, match="state: was not recorded; run with --record cc,queue"):
        _ = plain.state
    assert set(figures_of(plain)) == set(figures_of(result)) - {"cc", "queue"}


def test_packets_are_conserved_and_drops_are_those_counted(result: sojourn.Result) -> None:
    events = result.packets.filter(link="bottleneck")["event"].value_counts().rows()
    counts = dict(events)
    inside = counts["enqueue"] - counts["deliver"] - counts["drop"]
    assert 0 <= inside <= 200
    (drops,) = result.links.filter(id="bottleneck")["total_qdisc_drops_l2"]
    assert counts["drop"] == drops > 0
    delivered = result.packets.filter(event="deliver")
    assert delivered["sojourn"].null_count() == 0
    assert result.packets.filter(event="enqueue")["sojourn"].null_count() == counts["enqueue"]


def test_each_row_of_state_changes_something(result: sojourn.Result) -> None:
    same = [pl.col(name).eq_missing(pl.col(name).shift()) for name in ("value", "text")]
    repeated = result.state.with_columns(
        pl.all_horizontal(*same).over("component", "name").alias("same"),
        first=pl.int_range(pl.len()).over("component", "name") == 0,
    ).filter(pl.col("same") & ~pl.col("first"))
    assert repeated.height == 0
    names = set(result.state.filter(component="link.bottleneck.queue")["name"])
    assert {"packets", "bytes", "count", "dropping", "drop_next"} <= names


def test_a_stored_run_has_its_record(result: sojourn.Result, tmp_path: Path) -> None:
    result.save(tmp_path)
    again = run_directory.load(tmp_path)
    assert again.state.equals(result.state)
    assert again.packets.equals(result.packets)
    panels = chart("cc", again).panels
    [window] = [panel for panel in panels if panel.y_label == "cwnd"]
    assert [line.label for line in window.lines] == ["reno (0)", "cubic (1)"]
    assert all(len(line.x) <= 1500 for panel in panels for line in panel.lines)  # type: ignore[arg-type]


def test_what_cannot_be_written_stops_the_run() -> None:
    scenario = load(CODEL, ['record=["packets"]'])

    def full(*_batch: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        simulate(scenario.canonical, record=full)

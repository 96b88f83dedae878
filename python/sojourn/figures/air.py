"""Who holds the air of each shared medium, over 20 ms in the middle of the run."""

from __future__ import annotations

import polars as pl

from sojourn.figures.chart import PALETTE, RECORDED, Chart, Panel, Spans, figure
from sojourn.result import Result

#: What is shown, s: a saturated channel has some tens of frames in it.
_WINDOW = 0.02


@figure("air", RECORDED)
def air(result: Result) -> Chart:
    """Frames of each station with their answers, and collisions."""
    canonical = result.scenario.canonical
    panels = [_panel(result, medium["id"]) for medium in canonical["media"]]
    told = "A frame with its answer and what goes before it; stations whose frames overlap collide."
    return Chart("Who holds the air", told, panels, stacked=True)


def _panel(result: Result, medium: str) -> Panel:
    held = _held(result, f"medium.{medium}")
    begin = result.timing["simulated_seconds"] / 2
    stations = held["sender"].str.split("+").explode().unique().drop_nulls().sort().to_list()
    shown = held.filter(pl.col("end") > begin, pl.col("start") < begin + _WINDOW).with_columns(
        pl.col("start").clip(lower_bound=begin), pl.col("end").clip(upper_bound=begin + _WINDOW)
    )
    collided = pl.col("sender").str.contains("+", literal=True)
    kinds = {"one station": shown.filter(~collided), "collision": shown.filter(collided)}
    spans = [
        _spans(name, color, rows, stations, begin)
        for (name, rows), color in zip(kinds.items(), PALETTE, strict=False)
    ]
    label = f"Time since {begin:g} s (ms)"
    return Panel(label, "Station", [], from_zero=False, spans=spans, title=medium)


def _held(result: Result, component: str) -> pl.DataFrame:
    """Who held the air: ``start``, ``end`` and ``sender``, ``a+b`` of those that collide."""
    rows = result.record.scan("state").filter(
        pl.col("component") == component, pl.col("name") == "sender"
    )
    spans = rows.select(start=pl.col("time"), end=pl.col("time").shift(-1), sender=pl.col("text"))
    return spans.drop_nulls().collect()


def _spans(label: str, color: str, rows: pl.DataFrame, stations: list[str], begin: float) -> Spans:
    each = rows.with_columns(pl.col("sender").str.split("+")).explode("sender")
    at = [stations.index(name) for name in each["sender"]]
    milliseconds = (1e3 * (each[column] - begin) for column in ("start", "end"))
    return Spans(label, color, stations, at, *(values.to_numpy() for values in milliseconds))

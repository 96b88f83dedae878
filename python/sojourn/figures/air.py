"""Who holds the air of each shared medium, over 20 ms in the middle of the run."""

from __future__ import annotations

import polars as pl

from sojourn.figures.chart import PALETTE, RECORDED, Chart, Panel, Spans, figure
from sojourn.measured import Measured

#: What is shown, s: a saturated channel has some tens of frames in it.
_WINDOW = 0.02


@figure("air", RECORDED)
def air(result: Measured) -> Chart:
    """Frames of each station with their answers, and collisions."""
    canonical = result.scenario.canonical
    panels = [_panel(result, medium["id"]) for medium in canonical["media"]]
    told = "A frame with its answer and what goes before it; stations whose frames overlap collide."
    return Chart("Who holds the air", told, panels, stacked=True)


def _panel(result: Measured, medium: str) -> Panel:
    held = _held(result, f"medium.{medium}")
    begin = result.timing["simulated_seconds"] / 2
    channels = held["channel"].unique().sort().to_list()
    shown = held.filter(pl.col("end") > begin, pl.col("start") < begin + _WINDOW).with_columns(
        pl.col("start").clip(lower_bound=begin), pl.col("end").clip(upper_bound=begin + _WINDOW)
    )
    kinds = {"alone": shown.filter(~pl.col("collided")), "collision": shown.filter("collided")}
    spans = [
        _spans(name, color, rows, channels, begin)
        for (name, rows), color in zip(kinds.items(), PALETTE, strict=False)
        if len(rows)
    ]
    label = f"Time since {begin:g} s (ms)"
    return Panel(label, "", [], from_zero=False, spans=spans, title=medium)


def _held(result: Measured, component: str) -> pl.DataFrame:
    """Who held the air: ``start``, ``end``, ``channel`` (``a to b``), whether it ``collided``."""
    rows = result.record.scan("state").filter(pl.col("component") == component)
    ends = [
        rows.filter(pl.col("name") == name).select("time", pl.col("text").alias(name))
        for name in ("sender", "receiver")
    ]
    spans = ends[0].join(ends[1], on="time").sort("time")
    spans = spans.with_columns(end=pl.col("time").shift(-1)).drop_nulls()
    named = (pl.col(name).str.split("+") for name in ("sender", "receiver"))
    each = spans.with_columns(*named).with_columns(collided=pl.col("sender").list.len() > 1)
    each = each.explode("sender", "receiver")
    channel = pl.format("{} to {}", "sender", "receiver")
    return each.select("end", "collided", start=pl.col("time"), channel=channel).collect()


def _spans(label: str, color: str, rows: pl.DataFrame, channels: list[str], begin: float) -> Spans:
    at = [channels.index(name) for name in rows["channel"]]
    start, end = (1e3 * (rows[column] - begin).to_numpy() for column in ("start", "end"))
    return Spans(label, color, channels, at, start, end)

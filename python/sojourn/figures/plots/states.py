"""What controls, queues and nodes let be seen as it happened: numbers as lines, words as bands."""

from __future__ import annotations

import re

import numpy as np
import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.chart import Panel, Spans, color_of
from sojourn.figures.plots import words
from sojourn.figures.plots.asked import Asked, Place, label_of, line_of, rows_at
from sojourn.figures.plots.source import Source, Stored
from sojourn.figures.plots.values import Values
from sojourn.figures.thin import outline
from sojourn.names import unknown

_NAME = re.compile(r"(?:flow|link|node|medium)\..+\.\w+")
_MOST_POINTS = 3000


def is_state(y: str | None) -> bool:
    """Whether this is a component's name and that of what it lets be seen: ``flow.0.cc.mode``."""
    return bool(y and _NAME.fullmatch(y))


def evaluate(source: Source, y: str) -> Values:
    """What was recorded under this name, ``*`` in it being any part: from ``time`` (s) on a
    ``value`` or a ``text``, of each ``component``. Flows have the columns of metrics of flows.
    """
    parts = [_of(one, y).with_columns(result=pl.lit(name)) for name, one in source.results.items()]
    rows = pl.concat(parts)
    runs = source.rows.unique("result", maintain_order=True).select(source.keys)
    flows = source.of_scope("flow").select("result", "flow", "cca", "label")
    flow = pl.col("component").str.extract(r"^flow\.(\d+)\.cc$")
    rows = rows.join(runs, on="result", maintain_order="left").with_columns(flow=flow)
    rows = rows.join(flows, on=["result", "flow"], how="left", maintain_order="left")
    component, _, name = y.rpartition(".")
    of_one = "" if "*" in component else f" of {_called(component)}"
    return Values(rows, words.of_state(name, of_one))


def _called(component: str) -> str:
    """A component as a person calls it: ``flow 0``, ``link bottleneck``."""
    kind, rest = component.split(".", 1)
    return f"{kind} {re.sub(r'[.](cc|queue)$', '', rest)}"


def _of(one: Stored, y: str) -> pl.DataFrame:
    """Of one run; its last row of a component is the end of the run."""
    if one.run is None:
        raise ScenarioError(
            f"--y {y}: {one.directory} is a sweep, which records nothing; give runs that were made "
            "with --record cc,queue"
        )
    state = one.run.record.scan("state")
    component, _, name = y.rpartition(".")
    pattern = f"^{re.escape(component).replace(re.escape('*'), '[^.]+')}$"
    named = state.filter(pl.col("name") == name, pl.col("component").str.contains(pattern))
    rows = named.select("component", "time", "value", "text").collect()
    if not len(rows):
        known = state.select(pl.concat_str("component", "name", separator=".")).unique().collect()
        told = unknown("recorded state", y, sorted(known.to_series()))
        raise ScenarioError(f"--y: {one.directory}: {told}")
    last = rows.group_by("component", maintain_order=True).last()
    end = one.run.timing["simulated_seconds"]
    return pl.concat([rows, last.with_columns(time=pl.lit(end)).select(rows.columns)])


def states(asked: Asked, place: Place) -> Panel:
    """Steps of numbers; of words a band for each line, coloured by word."""
    rows = asked.found.rows
    if rows["text"].count():
        return _modes(asked, place)
    lines = []
    for hue in asked.places(asked.hue):
        of = rows_at(asked, rows, place, hue).sort("time", maintain_order=True)
        x, y = outline(of["time"].to_numpy(), of["value"].to_numpy(), _MOST_POINTS)
        lines.append(line_of(asked, hue, x, y, "step"))
    return Panel("Time (s)", asked.y_label, lines)


def _modes(asked: Asked, place: Place) -> Panel:
    hues = asked.places(asked.hue)
    parts = [
        rows_at(asked, asked.found.rows, place, hue)
        .sort("time", maintain_order=True)
        .select("text", start="time", end=pl.col("time").shift(-1), at=pl.lit(number))
        for number, hue in enumerate(hues)
    ]
    bands = pl.concat(parts).drop_nulls()
    names = [label_of(asked, hue) for hue in hues]
    every = asked.found.rows["text"].drop_nulls().unique(maintain_order=True)
    spans = []
    for number, text in enumerate(every):
        of = bands.filter(text=text)
        ends = np.array(of["start"], dtype=float), np.array(of["end"], dtype=float)
        spans.append(Spans(text, color_of(number), names, of["at"].to_list(), *ends, written=True))
    return Panel("Time (s)", asked.y_label, [], from_zero=False, spans=spans)

"""The state of congestion controls and of queues over time, as it was recorded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sojourn.figures.chart import RECORDED, Chart, Line, Panel, color_of, dash_of, figure
from sojourn.figures.flows import MOST_FLOWS, best_and_worst, labels
from sojourn.figures.thin import share
from sojourn.result import Result

#: More panels than this are not drawn, nor more lines in one.
_MOST_PANELS, _MOST_LINES = 16, 12


@figure("cc", RECORDED)
def controls(result: Result) -> Chart:
    """What each flow's congestion control let be seen."""
    names = labels(result)
    shown = list(enumerate(names))
    if len(shown) > MOST_FLOWS:
        shown = [(flow, name) for name, flow in best_and_worst(result)]
    components = {f"flow.{flow}.cc": name for flow, name in shown}
    return _chart(result, "State of the congestion controls", components)


@figure("queue", RECORDED)
def queues(result: Result) -> Chart:
    """What each queue discipline and node let be seen."""
    state = result.record.scan("state")
    component = pl.col("component")
    others = component.str.contains(r"^(flow|medium)\.")
    ours = state.filter(others.not_()).select(component.unique())
    found = sorted(ours.collect()["component"])[:_MOST_LINES]
    components = {name: name.removeprefix("link.").removesuffix(".queue") for name in found}
    return _chart(result, "State of the queues", components)


def _chart(result: Result, title: str, components: dict[str, str]) -> Chart:
    points = _thinned(result, components)
    end = result.timing["simulated_seconds"]
    names = points["name"].unique(maintain_order=True).to_list()
    panels = [_panel(points, name, components, end) for name in names[:_MOST_PANELS]]
    more = f" The first {_MOST_PANELS} of {len(names)} names." if len(names) > len(panels) else ""
    told = "Whenever a value changed; units are on the page of each component."
    return Chart(title, f"{told}{more}", panels, stacked=True)


def _thinned(result: Result, components: dict[str, str]) -> pl.DataFrame:
    """First, lowest, highest and last value in each stretch of the run, words as numbers."""
    stretches = share(len(components)) // 4
    length = max(result.timing["simulated_seconds"] / stretches, 1e-9)
    rows = result.record.scan("state").filter(pl.col("component").is_in(list(components)))
    value, time = pl.col("value"), pl.col("time")
    rows = rows.with_columns(_number_of_text(rows), stretch=(time / length).floor())
    chosen: list[int | pl.Expr] = [0, value.arg_min(), value.arg_max(), -1]
    keys = [pl.col("component"), pl.col("name"), pl.col("stretch")]
    thin = rows.group_by(keys, maintain_order=True).agg(
        time=pl.concat_list([time.get(place) for place in chosen]),
        value=pl.concat_list([value.get(place) for place in chosen]),
        text=pl.col("text").first(),
    )
    thin = thin.explode("time", "value").filter(time.is_not_null())
    return thin.sort("time", maintain_order=True).collect()


def _number_of_text(rows: pl.LazyFrame) -> pl.Expr:
    """A word's number: words are few."""
    words = rows.select(pl.col("text").unique().drop_nulls().sort()).collect()["text"].to_list()
    numbers = pl.col("text").replace_strict(words, list(range(len(words))), default=None)
    return pl.coalesce("value", numbers.cast(pl.Float64)).alias("value")


def _panel(points: pl.DataFrame, name: str, components: dict[str, str], end: float) -> Panel:
    rows = points.filter(pl.col("name") == name)
    words = rows.select("value", "text").drop_nulls().unique("text").sort("value")
    meaning = ", ".join(f"{value:g} {text}" for value, text in words.iter_rows())
    label = f"{name} ({meaning})" if meaning else name
    return Panel("Time (s)", label, _lines(rows, components, end), from_zero=False)


def _lines(rows: pl.DataFrame, components: dict[str, str], end: float) -> Sequence[Line]:
    lines = []
    for index, (component, label) in enumerate(components.items()):
        own = rows.filter(pl.col("component") == component)
        if own.height:  # the last value lasts to the end
            x = [*own["time"], end]
            y = np.array([*own["value"], own["value"][-1]], dtype=float)
            lines.append(Line(label, x, y, color_of(index), "step", dash_of(index)))
    return lines

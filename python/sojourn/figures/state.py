"""The state of congestion controls and of queues over time, as it was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sojourn.figures.chart import RECORDED, Chart, Line, Panel, color_of, dash_of, figure
from sojourn.figures.flows import MOST_FLOWS, best_and_worst, labels
from sojourn.figures.thin import share
from sojourn.measured import Measured
from sojourn.numbers import number

#: More panels than this are not drawn, nor more lines in one, nor more words.
_MOST_PANELS, _MOST_LINES, _MOST_WORDS = 24, 12, 12
#: Lines of one panel that are at the same word lie beside each other within so much of a level.
_LANES = 0.5
_TOLD = "Whenever a value changed; units are on the page of each component."


@figure("cc", RECORDED)
def controls(result: Measured) -> Chart:
    """What each flow's congestion control let be seen."""
    names = labels(result)
    shown, more = list(enumerate(names)), ""
    if len(shown) > MOST_FLOWS:
        shown = [(flow, name) for name, flow in best_and_worst(result)]
        more = f"Of {len(names):,} flows those with the most and the least throughput."
    components = {f"flow.{flow}.cc": name for flow, name in shown}
    return _chart(result, "State of the congestion controls", components, more)


@figure("queue", RECORDED)
def queues(result: Measured) -> Chart:
    """What each queue discipline and node let be seen."""
    state = result.record.scan("state")
    others = pl.col("component").str.contains(r"^(flow|medium)\.")
    ours = state.filter(others.not_()).select(pl.col("component").unique())
    found = sorted(ours.collect()["component"])
    more = f"The first {_MOST_LINES} of {len(found):,}." if len(found) > _MOST_LINES else ""
    components = {
        name: name.removeprefix("link.").removesuffix(".queue") for name in found[:_MOST_LINES]
    }
    return _chart(result, "State of the queues", components, more)


@dataclass(frozen=True)
class _Seen:
    """What was recorded of the components that are shown."""

    rows: pl.LazyFrame
    #: What each is called.
    components: Mapping[str, str]
    #: ``name``, ``component``, ``rows`` and the first ``value`` and ``text``, as they came.
    first: pl.DataFrame
    #: The words of each name, in the order in which they came.
    words: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, result: Measured, components: Mapping[str, str]) -> _Seen:
        """Of these components."""
        state = result.record.scan("state")
        rows = state.filter(pl.col("component").is_in(list(components)))
        each = rows.group_by("name", "component", maintain_order=True)
        first = each.agg(pl.len().alias("rows"), pl.col("time", "value", "text").first())
        said = rows.drop_nulls("text").group_by("name", "text").agg(pl.col("time").min())
        words: dict[str, list[str]] = {}
        for name, word in said.sort("time", "text").select("name", "text").collect().iter_rows():
            words.setdefault(name, []).append(word)
        return cls(rows, components, first.sort("time", maintain_order=True).collect(), words)

    def names(self) -> list[str]:
        """All of them, words before numbers: what a control does explains the rest."""
        names = self.first["name"].unique(maintain_order=True).to_list()
        return sorted(names, key=lambda name: name not in self.words)

    def steady(self, name: str) -> bool:
        """Whether it never changed: each row of a record changes something."""
        return bool((self.first.filter(name=name)["rows"] == 1).all())

    def constant(self, name: str) -> str:
        """What it was all the time, of each component where they differ."""
        each = {
            self.components[component]: text if text is not None else number(value)
            for component, value, text in self.first.filter(name=name)
            .select("component", "value", "text")
            .iter_rows()
        }
        if len(set(each.values())) == 1:
            return f"{name} {next(iter(each.values()))}"
        return f"{name} {', '.join(f'{value} of {who}' for who, value in each.items())}"


def _chart(result: Measured, title: str, components: Mapping[str, str], more: str) -> Chart:
    """A panel for each name that changed; of the others the figure says what they were."""
    seen, end = _Seen.of(result, components), result.timing["simulated_seconds"]
    names = seen.names()
    constant = [name for name in names if seen.steady(name)]
    wordy = [name for name in names if len(seen.words.get(name, ())) > _MOST_WORDS]
    fit = [name for name in names if name not in (*constant, *wordy)]
    # Where nothing changed that is what there is to see.
    shown = (fit or names)[:_MOST_PANELS]
    left_out = [name for name in (*fit, *wordy) if name not in shown]
    never = "; ".join(seen.constant(name) for name in constant)
    notes = [
        more,
        f"Never changed: {never}." if never else "",
        f"Not drawn: {', '.join(left_out)}." if left_out else "",
    ]
    note = " ".join(filter(None, notes))
    points = _thinned(seen, shown, end)
    panels = [_panel(seen, points, name, end) for name in shown]
    return Chart(title, f"{_TOLD} {note}".strip(), panels, stacked=True, note=note)


def _thinned(seen: _Seen, names: Sequence[str], end: float) -> pl.DataFrame:
    """First, lowest, highest and last value in each stretch of the run, words as numbers."""
    length = max(end / (share(len(seen.components)) // 4), 1e-9)
    value, time = pl.col("value"), pl.col("time")
    rows = seen.rows.filter(pl.col("name").is_in(names))
    rows = rows.with_columns(_numbered(seen), stretch=(time / length).floor())
    chosen: list[int | pl.Expr] = [0, value.arg_min(), value.arg_max(), -1]
    keys = [pl.col("component"), pl.col("name"), pl.col("stretch")]
    thin = rows.group_by(keys, maintain_order=True).agg(
        time=pl.concat_list([time.get(place) for place in chosen]),
        value=pl.concat_list([value.get(place) for place in chosen]),
    )
    thin = thin.explode("time", "value").filter(time.is_not_null())
    return thin.sort("time", maintain_order=True).collect()


def _numbered(seen: _Seen) -> pl.Expr:
    """The value, or the place of a word among those of its name."""
    value = pl.col("value")
    for name, words in seen.words.items():
        places = pl.col("text").replace_strict(words, list(range(len(words))), default=None)
        value = pl.when(pl.col("name") == name).then(places.cast(pl.Float64)).otherwise(value)
    return value.alias("value")


def _panel(seen: _Seen, points: pl.DataFrame, name: str, end: float) -> Panel:
    """Steps; at words, each component has a lane of its own."""
    rows, words = points.filter(pl.col("name") == name), seen.words.get(name, ())
    present = [c for c in seen.components if c in rows["component"]]
    lines = []
    for index, (component, label) in enumerate(seen.components.items()):
        own = rows.filter(pl.col("component") == component)
        if own.height:  # the last value lasts to the end
            lane = _lane(present.index(component), len(present)) if words else 0.0
            x = [*own["time"], end]
            y = np.array([*own["value"], own["value"][-1]], dtype=float) + lane
            lines.append(Line(label, x, y, color_of(index), "step", dash_of(index)))
    return Panel("Time (s)", name, lines, from_zero=seen.steady(name), levels=words)


def _lane(place: int, count: int) -> float:
    """How far beside the level the line of one of ``count`` components is."""
    return (place - (count - 1) / 2) * _LANES / count

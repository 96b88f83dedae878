"""From what a person asks for to a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.chart import Chart
from sojourn.figures.plots import series, transfers, values, words
from sojourn.figures.plots.advice import advice
from sojourn.figures.plots.asked import Asked
from sojourn.figures.plots.cells import Cells, axes_of, cells, check, kept, names_mixed
from sojourn.figures.plots.kinds import panels
from sojourn.figures.plots.source import ALL_SIZES, MEMBERS, Source, read
from sojourn.metrics import metrics
from sojourn.names import unknown
from sojourn.origin import ran_on

Kind = Literal["line", "box", "ecdf", "ccdf", "heat", "scatter", "series", "fct"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_NEED_X = ("line", "heat", "scatter")
#: The horizontal axes that kinds have by themselves, and distributions, which have values there.
_OWN_X = {"series": "time", "fct": "sizes"}
_DISTRIBUTIONS = ("ecdf", "ccdf")
#: What is drawn unless one says.
_USUAL = {"fct": "slowdown_p99"}
_INTERVALS = {
    "line": "; bars: 95 % confidence intervals",
    "fct": "; bars: 95 % confidence intervals",
    "series": "; bands: 95 % confidence intervals",
}


@dataclass(frozen=True)
class Request:
    """A figure as it is asked for."""

    #: May be left out of the kinds of :data:`_USUAL`.
    y: str | None = None
    x: str | None = None
    hue: str | None = None
    facet: str | None = None
    kind: Kind = "line"
    #: Axes and the value that is kept of each.
    where: Sequence[tuple[str, str]] = ()


def chart(directory: Path, request: Request) -> Chart:
    """The chart of a run's or a sweep's directory.

    Raises:
        ScenarioError: names the option, what was given and what is allowed.

    """
    if request.kind not in KINDS:
        raise ScenarioError(f"--kind: {unknown('kind', request.kind, KINDS)}")
    source = read(directory)
    found = _values(source, request)
    rows = _sized(kept(found.rows, request.where), request)
    x = _OWN_X.get(request.kind, request.x)
    if request.kind in _NEED_X and x is None:
        raise ScenarioError(f"--x: needed for {request.kind}; choose from: {_known(rows)}")
    if request.kind == "scatter":
        return _scatter(source, request, rows, found.label)
    axes = [x, request.hue, request.facet]
    check({"--x": x, "--hue": request.hue, "--facet": request.facet}, rows)
    distribution = request.kind in _DISTRIBUTIONS
    chosen = [a for a in axes if a is not None and not (distribution and a == x)]
    if names_mixed(rows, chosen):
        raise ScenarioError(advice(rows, chosen, _free(request)))
    at = cells(rows, chosen, source.pilot)
    asked = Asked(at, None if distribution else x, found.label, request.hue, request.facet)
    return _chart(request, asked, _note(at, rows, request.kind), source)


def _values(source: Source, request: Request) -> values.Values:
    """Of a run, distributions are over its samples: it has no replications."""
    y = request.y or _USUAL.get(request.kind)
    if y is None:
        raise ScenarioError(f"--y: needed for {request.kind}; see sojourn list metrics")
    over_values = request.kind in ("box", *_DISTRIBUTIONS)
    if y in transfers.QUANTITIES and over_values:
        return transfers.evaluate(source, y)
    if request.kind == "fct" and not any(m.name == y for m in metrics("transfer")):
        known = [m.name for m in metrics("transfer")]
        raise ScenarioError(f"--y: {unknown('metric of transfers', y, known)}")
    if request.kind == "series" or (source.run is not None and over_values):
        return series.evaluate(source, y)
    return values.evaluate(source, y)


def _sized(rows: pl.DataFrame, request: Request) -> pl.DataFrame:
    """Of transfers those of all sizes, where nothing asks for bins."""
    if request.kind == "fct":
        return rows.filter(pl.col("sizes") != ALL_SIZES)
    asked = (request.x, request.hue, request.facet, *(axis for axis, _ in request.where))
    if "sizes" not in rows.columns or "sizes" in asked:
        return rows
    whole = rows.filter(pl.col("sizes") == ALL_SIZES)
    return whole if len(whole) else rows.drop("sizes")


def _free(request: Request) -> list[str]:
    """The options that could have an axis and have none; what needs a quantity across has one."""
    options = {"--hue": request.hue, "--facet": request.facet}
    if request.kind == "box":
        options = {"--x": request.x, **options}
    return [option for option, axis in options.items() if axis is None]


def _scatter(source: Source, request: Request, rows: pl.DataFrame, label: str) -> Chart:
    assert request.x is not None
    across = values.evaluate(source, request.x)
    check({"--hue": request.hue, "--facet": request.facet}, rows)
    shared = [c for c in axes_of(rows) if c in axes_of(across.rows)]
    keys = ["key", "replication", *shared]
    other = across.rows.select(*keys, pl.col("value").alias("across"))
    if other.select(keys).is_duplicated().any():
        raise ScenarioError(f"--x {request.x}: has several values for one of --y {request.y}")
    both = rows.join(other, on=keys, how="inner", nulls_equal=True)
    at = Cells(both, [])
    asked = Asked(at, None, label, request.hue, request.facet, across.label)
    return _chart(request, asked, "A point for each run, and flow or link.", source)


def _chart(request: Request, asked: Asked, note: str, source: Source) -> Chart:
    drawn = panels(asked, request.kind)
    title = asked.y_label.partition(" (")[0]
    if request.kind not in _DISTRIBUTIONS and asked.x:
        title += f" over {words.small(words.of_path(asked.x))}"
    if source.origin:
        note = f"{note} Run {ran_on(source.origin)}.".lstrip()
    return Chart(title, note, drawn, note=note, fitted=True)


def _note(at: Cells, rows: pl.DataFrame, kind: Kind) -> str:
    """What the values stand for: over what they are averaged, or of what a distribution is."""
    over = words.listed([part for part in at.over if not part.endswith("values of time")])
    if kind in ("box", *_DISTRIBUTIONS):
        sampled = "time" in rows.columns
        told = " of ".join(filter(None, ["samples" if sampled else "", over]))
        return f"Over {told}." if told else ""
    if "half_width" in rows.columns and rows["half_width"].count() and kind == "fct":
        return "Bars: 95 % confidence intervals by batch means over the run."
    if not over:
        return ""
    interval = "" if rows["replication"].n_unique() == 1 else _INTERVALS.get(kind, "")
    return f"Mean over {over}{interval}."


def _known(rows: pl.DataFrame) -> str:
    varied = [a for a in axes_of(rows) if rows[a].n_unique() > 1 or a not in MEMBERS]
    return ", ".join(varied) or "none"

"""From what a person asks for to a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.chart import Chart
from sojourn.figures.plots import series, states, transfers, values, words
from sojourn.figures.plots.advice import advice
from sojourn.figures.plots.asked import Asked
from sojourn.figures.plots.cells import Cells, axes_of, cells, check, kept, names_mixed
from sojourn.figures.plots.finish import Finish, finished
from sojourn.figures.plots.kinds import panels
from sojourn.figures.plots.source import ALL_SIZES, MEMBERS, Source, read
from sojourn.metrics import metrics
from sojourn.names import unknown

Kind = Literal["line", "box", "ecdf", "ccdf", "heat", "scatter", "series", "fct"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_NEED_X = ("line", "heat", "scatter")
#: The horizontal axes that kinds have by themselves, and distributions, which have values there.
_OWN_X = {"series": "time", "state": "time", "fct": "sizes"}
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
    columns: str | None = None
    #: ``line`` unless given; what was recorded is drawn over time alone.
    kind: Kind | None = None
    #: Axes and the value that is kept of each.
    where: Sequence[tuple[str, str]] = ()
    rows: str | None = None
    finish: Finish = field(default_factory=Finish)

    @property
    def drawn(self) -> str:
        """The kind, or ``state``."""
        if not states.is_state(self.y):
            return self.kind or "line"
        if self.kind not in (None, "series"):
            raise ScenarioError(
                f"--kind {self.kind}: what was recorded is drawn over time; leave it out"
            )
        return "state"

    @property
    def across(self) -> str | None:
        """The horizontal axis."""
        return _OWN_X.get(self.drawn, self.x)

    @property
    def options(self) -> Mapping[str, str | None]:
        """The axes that any kind may have, by option."""
        return {"--hue": self.hue, "--columns": self.columns, "--rows": self.rows}

    def axes(self) -> list[str]:
        """All axes that are named."""
        named = (self.x, *self.options.values(), *(axis for axis, _ in self.where))
        return [axis for axis in named if axis is not None]


def chart(directories: Path | Sequence[Path], request: Request) -> Chart:
    """The chart of a run's or a sweep's directory, or of several.

    Raises:
        ScenarioError: names the option, what was given and what is allowed.

    """
    if request.kind not in (None, *KINDS):
        raise ScenarioError(f"--kind: {unknown('kind', str(request.kind), KINDS)}")
    kind, x = request.drawn, request.across
    source = read([directories] if isinstance(directories, Path) else directories, request.axes())
    found = _values(source, request)
    rows = _sized(kept(found.rows, request.where), request)
    if kind in _NEED_X and x is None:
        raise ScenarioError(f"--x: needed for {kind}; choose from: {_known(rows)}")
    if kind == "scatter":
        return _scatter(source, request, rows, found.label)
    check({"--x": x, **request.options}, rows)
    if kind in _DISTRIBUTIONS:
        x = None
    chosen = [axis for axis in (x, *request.options.values()) if axis is not None]
    if names_mixed(rows, chosen):
        raise ScenarioError(advice(rows, chosen, _free(request)))
    at = cells(rows, chosen)
    asked = Asked(at, x, found.label, request.hue, request.rows, request.columns)
    return _chart(request, asked, _note(at, kind), source)


def _values(source: Source, request: Request) -> values.Values:
    """Of a run, distributions are over its samples: it has no replications."""
    kind = request.drawn
    y = request.y or _USUAL.get(kind)
    if y is None:
        raise ScenarioError(f"--y: needed for {kind}; see sojourn list metrics")
    if kind == "state":
        return states.evaluate(source, y)
    over_values = kind in ("box", *_DISTRIBUTIONS)
    if y in transfers.QUANTITIES and over_values:
        return transfers.evaluate(source, y)
    if kind == "fct" and not any(m.name == y for m in metrics("transfer")):
        known = [m.name for m in metrics("transfer")]
        raise ScenarioError(f"--y: {unknown('metric of transfers', y, known)}")
    if kind == "series" or (source.runs and over_values):
        return series.evaluate(source, y)
    return values.evaluate(source, y)


def _sized(rows: pl.DataFrame, request: Request) -> pl.DataFrame:
    """Of transfers those of all sizes, where nothing asks for bins."""
    if request.kind == "fct":
        return rows.filter(pl.col("sizes") != ALL_SIZES)
    if "sizes" not in rows.columns or "sizes" in request.axes():
        return rows
    whole = rows.filter(pl.col("sizes") == ALL_SIZES)
    return whole if len(whole) else rows.drop("sizes")


def _free(request: Request) -> list[str]:
    """The options that could have an axis and have none; what needs a quantity across has one."""
    across = {"--x": request.x} if request.kind == "box" else {}
    return [option for option, axis in {**across, **request.options}.items() if axis is None]


def _scatter(source: Source, request: Request, rows: pl.DataFrame, label: str) -> Chart:
    assert request.x is not None
    across = values.evaluate(source, request.x)
    check(request.options, rows)
    shared = [c for c in axes_of(rows) if c in axes_of(across.rows)]
    keys = ["key", "replication", *shared]
    other = across.rows.select(*keys, pl.col("value").alias("across"))
    if other.select(keys).is_duplicated().any():
        raise ScenarioError(f"--x {request.x}: has several values for one of --y {request.y}")
    both = rows.join(other, on=keys, how="inner", nulls_equal=True)
    asked = Asked(
        Cells(both), None, label, request.hue, request.rows, request.columns, across.label
    )
    return _chart(request, asked, "A point for each run, and flow or link.", source)


def _chart(request: Request, asked: Asked, note: str, source: Source) -> Chart:
    kind = request.drawn
    title = asked.y_label.partition(" (")[0]
    if kind not in _DISTRIBUTIONS and asked.x:
        title += f" over {words.small(words.of_path(asked.x))}"
    note = " ".join(filter(None, (note, _missing(source, asked), source.ran_on())))
    numbers = asked.hue and not any(words.is_name(str(v)) for v in asked.places(asked.hue))
    drawn = Chart(
        title,
        note,
        panels(asked, kind),
        note=note,
        fitted=True,
        columns=len(asked.places(asked.columns)) if asked.rows else 0,
        legend=words.of_path(str(asked.hue)) if numbers and asked.hue != "flow" else "",
    )
    return finished(drawn, asked, request.finish)


def _missing(source: Source, asked: Asked) -> str:
    """Says of results that were given and have nothing to show."""
    shown = asked.found.rows["result"].unique()
    lost = [name for name in source.results if name not in shown]
    return f"Nothing of {words.listed(lost)} is shown." if lost else ""


def _note(at: Cells, kind: str) -> str:
    """What the values stand for: over what they are averaged, or of what a distribution is."""
    over = words.listed([part for part in at.over if not part.endswith("values of time")])
    columns = at.rows.columns
    if kind == "state":
        return "As recorded on every change."
    if kind in ("box", *_DISTRIBUTIONS):
        told = " of ".join(filter(None, ["samples" if "time" in columns else "", over]))
        return f"Over {told}." if told else ""
    if "half_width" in columns and at.rows["half_width"].count() and kind == "fct":
        return "Bars: 95 % confidence intervals by batch means over the run."
    if not over:
        return ""
    interval = "" if at.rows["replication"].n_unique() == 1 else _INTERVALS.get(kind, "")
    return f"Mean over {over}{interval}."


def _known(rows: pl.DataFrame) -> str:
    varied = [a for a in axes_of(rows) if rows[a].n_unique() > 1 or a not in MEMBERS]
    return ", ".join(varied) or "none"

"""Figures: one file per figure, which says what is shown; two renderers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.figures.chart import FIGURES, NETWORKS, RECORDED, Builder, Chart
from sojourn.figures.places import joined
from sojourn.names import unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.measured import Measured

__all__ = ["FIGURES", "chart", "draw", "figures_of", "save_all", "save_each"]

Warn = Callable[[str], None]

#: The files of the figures, in the order of the report.
FILES = ("operating_point", "ecdf", "throughput_delay", "network", "state", "air")
for _file in FILES:
    import_module(f"sojourn.figures.{_file}")


def controlled(result: Measured) -> bool:
    """Whether a control let anything be seen: datagrams of UDP have none."""
    component = pl.col("component").str.ends_with(".cc")
    return result.record.scan("state").filter(component).head(1).collect().height > 0


def figures_of(result: Measured) -> dict[str, Builder]:
    """The figures of a run: those of every run, of a network, and of what it has recorded."""
    canonical = result.scenario.canonical
    recorded = set(canonical.get("record", ()))
    if "queue" in recorded and canonical.get("media"):
        recorded.add("air")
    if "cc" in recorded and not controlled(result):
        recorded.remove("cc")
    networks = NETWORKS if joined(result.data.network["links"]) else {}
    return FIGURES | networks | {name: RECORDED[name] for name in RECORDED if name in recorded}


def chart(name: str, result: Measured) -> Chart:
    """What the figure ``name`` shows of a run."""
    builders = figures_of(result)
    if name not in builders:
        raise ScenarioError(unknown("figure", name, builders))
    return builders[name](result)


def draw(name: str, result: Measured) -> Figure:
    """The figure ``name`` of a run, by matplotlib."""
    from sojourn.figures.paper import render

    return render(chart(name, result))


def save_all(result: Measured, directory: Path, warn: Warn) -> None:
    """Every figure of a run as PNG and SVG; ``warn`` is told of those that cannot be drawn."""
    save_each(figures_of(result), lambda name: chart(name, result), directory, warn)


def save_each(
    names: Iterable[str], chart_of: Callable[[str], Chart], directory: Path, warn: Warn
) -> None:
    """Each chart as PNG and SVG; ``warn`` is told of those that cannot be drawn."""
    for name in names:
        try:
            from sojourn.figures.paper import save

            save(chart_of(name), directory, name)
        except Exception as error:
            warn(f"figure {name} could not be drawn: {type(error).__name__}: {error}")

"""Figures: one file per figure, which says what is shown; two renderers."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.errors import ScenarioError
from sojourn.figures.chart import FIGURES, Chart
from sojourn.names import unknown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.result import Result

__all__ = ["FIGURES", "chart", "draw", "save_all"]

#: The files of the figures, in the order of the report.
FILES = ("operating_point", "ecdf", "throughput_delay")
for _file in FILES:
    import_module(f"sojourn.figures.{_file}")


def chart(name: str, result: Result) -> Chart:
    """What the figure ``name`` shows of a run."""
    if name not in FIGURES:
        raise ScenarioError(unknown("figure", name, FIGURES))
    return FIGURES[name](result)


def draw(name: str, result: Result) -> Figure:
    """The figure ``name`` of a run, by matplotlib."""
    from sojourn.figures.paper import render

    return render(chart(name, result))


def save_all(result: Result, directory: Path) -> None:
    """Every figure of a run as PNG and SVG."""
    from sojourn.figures.paper import save

    for name in FIGURES:
        save(chart(name, result), directory, name)

"""What is done to a figure once it is known what it shows: axes, size, annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from sojourn import literal
from sojourn.errors import ScenarioError
from sojourn.figures.chart import Chart, Panel
from sojourn.figures.plots.annotations import annotated
from sojourn.figures.plots.asked import Asked

Log = Literal["x", "y", "both"]
LOGS: tuple[Log, ...] = get_args(Log)
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(in|cm)?\s*")
_CENTIMETRES = 2.54
#: A figure has at most so many inches either way: a longer one is a mistake in the unit.
_LONGEST = 100.0


@dataclass(frozen=True)
class Finish:
    """What a figure looks like, whatever it shows."""

    #: Inches, or a text with a unit: ``"3.5 in"``, ``"8.9 cm"``.
    width: str | float | None = None
    height: str | float | None = None
    #: The axes that are to be logarithmic.
    log: Log | None = None
    #: A file of texts, lines and spans.
    annotations: str | Path | None = None


def finished(chart: Chart, asked: Asked, finish: Finish) -> Chart:
    """The chart in its size, with its logarithmic axes and its annotations."""
    drawn = chart.panels
    if finish.log is not None:
        drawn = [_logarithmic(panel, finish.log) for panel in drawn]
    if finish.annotations is not None:
        drawn = annotated(drawn, asked, Path(finish.annotations))
    width, height = _inches("--width", finish.width), _inches("--height", finish.height)
    return replace(chart, panels=drawn, width=width, height=height)


def _inches(option: str, given: str | float | None) -> float | None:
    """A length in inches."""
    if given is None:
        return None
    match = _LENGTH.fullmatch(str(given))
    length = float(match[1]) / (_CENTIMETRES if match[2] == "cm" else 1) if match else 0.0
    if not 0 < length <= _LONGEST:
        raise ScenarioError(
            f"{option}: {literal.given(given)} given; expected a length of at most "
            f"{_LONGEST:g} in, such as 3.5, 3.5in or 8.9cm"
        )
    return length


def _logarithmic(panel: Panel, log: str) -> Panel:
    if log not in LOGS:
        raise ScenarioError(f"--log: {literal.given(log)} given; allowed: {', '.join(LOGS)}")
    for axis in ("x", "y") if log == "both" else (log,):
        if any(np.nanmin(values) <= 0 for values in _along(panel, axis)):
            raise ScenarioError(
                f"--log {log}: the {axis} axis has names, or numbers that are not above zero: they "
                "have no logarithm; leave it out, or keep other values with --where"
            )
    x, y = log in ("x", "both"), log in ("y", "both")
    return replace(
        panel,
        log_x=panel.log_x or x,
        log_y=panel.log_y or y,
        from_zero=panel.from_zero and not y,
    )


def _along(panel: Panel, axis: str) -> Iterator[ArrayLike]:
    """The values along an axis; names are numbered from zero."""
    for line in panel.lines:
        if np.isfinite(of := np.asarray(line.x if axis == "x" else line.y, dtype=float)).any():
            yield of
    if panel.heat or panel.spans:
        yield [0.0]
    for boxes in panel.boxes:
        yield from (
            [[0.0]] if axis == "x" else (values for values in boxes.values if np.size(values))
        )

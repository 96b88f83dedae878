"""What a figure shows, apart from how it is rendered: for paper or for the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from sojourn.measured import Measured

Style = Literal["line", "joined", "step", "points", "dots", "mark", "star", "up", "down"]

#: Okabe and Ito's colours, distinguishable by colour-blind readers; black is for the joint values.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442")
BLACK = "#000000"
#: Of lines and spans that are no values.
NOTED = "#777777"
DASHES = ("solid", "dashed", "dotted", "dashdot")
#: Marks that tell lines apart without colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: Colours of values that lie to both sides of another: below it, at it, above it.
DIVERGING = (PALETTE[0], "#F2F2F2", PALETTE[1])


@dataclass(frozen=True)
class Line:
    """One series of points."""

    label: str
    x: ArrayLike
    y: ArrayLike
    color: str
    style: Style = "line"
    dash: str = "solid"
    #: Half widths of the intervals at the points, NaN for none.
    error: ArrayLike | None = None
    #: One of :data:`MARKERS`, at the points or now and then; that of the style otherwise.
    marker: str = ""


@dataclass(frozen=True)
class Band:
    """What lies between two lines, such as a confidence interval."""

    x: ArrayLike
    low: ArrayLike
    high: ArrayLike
    color: str


@dataclass(frozen=True)
class Boxes:
    """Box plots side by side, one at each name."""

    names: Sequence[str]
    values: Sequence[ArrayLike]
    color: str = PALETTE[0]
    #: Named in the legend where a panel has several.
    label: str = ""


@dataclass(frozen=True)
class Heat:
    """A heat map: ``values[row][column]``, rows from the bottom."""

    columns: Sequence[str]
    rows: Sequence[str]
    values: ArrayLike
    label: str
    #: Whether colours follow the logarithm.
    log: bool = False
    #: Values at the ends of the colours, where several maps have them in common.
    limits: tuple[float, float] | None = None
    #: The value from which others differ in either direction: zero of differences, one of ratios.
    #: Colours diverge from it, so that a sign, and which of two is the further off, can be seen.
    middle: float | None = None

    def ends(self) -> tuple[float, float]:
        """Values at the ends of the colours, between which ``middle`` is in the middle."""
        values = np.asarray(self.values, dtype=float)
        known = values[np.isfinite(values) & ((values > 0) | (not self.log))]
        low, high = self.limits or ((known.min(), known.max()) if known.size else (1.0, 2.0))
        if self.middle is None and low == high and not self.log:
            low, high = sorted((0.0, low or 1.0))  # one value has no span to make a scale of
        if self.middle is None:
            return float(low), float(high)
        if self.log:
            factor = float(max(high / self.middle, self.middle / low, 1.01))
            return self.middle / factor, self.middle * factor
        reach = float(max(high - self.middle, self.middle - low)) or 1.0
        return self.middle - reach, self.middle + reach


def zero_between(values: ArrayLike) -> float | None:
    """Zero, as the middle of a map, if there are values to both sides of it."""
    known = np.asarray(values, dtype=float)
    return 0.0 if (known < 0).any() and (known > 0).any() else None


@dataclass(frozen=True)
class Forest:
    """Intervals above each other around zero, one at each name, from the top."""

    names: Sequence[str]
    middles: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    colors: Sequence[str]
    #: How far from zero the axis goes. What lies beyond is an arrow at its end with the number: a
    #: few large differences would leave the others no room.
    reach: float = np.inf

    def span(self) -> tuple[float, float]:
        """From where to where the axis goes."""
        low, high = min(0.0, *self.lows), max(0.0, *self.highs)
        room = 0.04 * (min(high, self.reach) - max(low, -self.reach))
        return max(low - room, -self.reach), min(high + room, self.reach)

    def beyond(self) -> list[tuple[int, int, str]]:
        """The places at which an interval goes beyond the axis, the direction (1 or -1), and the
        number in the middle if that lies there, too.
        """
        return [
            (place, sign, f"{middle:+,.0f}" if sign * middle > self.reach else "")
            for place, (low, middle, high) in enumerate(
                zip(self.lows, self.middles, self.highs, strict=True)
            )
            for sign, end in ((-1, low), (1, high))
            if sign * end > self.reach
        ]


@dataclass(frozen=True)
class Spans:
    """Stretches along the horizontal axis, each at a name; names from the top."""

    label: str
    color: str
    names: Sequence[str]
    #: The place among the names, the beginning and the end of each.
    at: Sequence[int]
    starts: ArrayLike
    ends: ArrayLike
    #: Whether the label is also written where a stretch has room for it.
    written: bool = False


@dataclass(frozen=True)
class Graph:
    """A network over time: nodes at places, and arcs between them."""

    names: Sequence[str]
    #: ``[node, 2]``; the distance of neighbours is 1 on average.
    places: ArrayLike
    #: Where each begins and ends, by the number of the node, and what it is called.
    arcs: Sequence[tuple[int, int]]
    arc_names: Sequence[str]
    #: The ends of the stretches of time (s).
    times: ArrayLike
    #: ``[stretch, arc]``: share of its rate or of its medium that is used, NaN where it has none.
    loads: ArrayLike
    #: ``[stretch, node]``: packets that wait.
    waiting: ArrayLike


@dataclass(frozen=True)
class Note:
    """A text at a place, or a line or a span across the panel with its text: of each axis the
    place, none, or the span's two ends.
    """

    text: str = ""
    x: Sequence[float] = ()
    y: Sequence[float] = ()


@dataclass(frozen=True)
class Panel:
    """One pair of axes, units in the labels."""

    x_label: str
    y_label: str
    lines: Sequence[Line]
    #: Whether the vertical axis begins at zero.
    from_zero: bool = True
    #: Whether the horizontal axis is logarithmic.
    log_x: bool = False
    #: ... and the vertical one.
    log_y: bool = False
    bands: Sequence[Band] = ()
    #: Beside each other at each name, which all have in common.
    boxes: Sequence[Boxes] = ()
    heat: Heat | None = None
    forest: Forest | None = None
    #: Of several kinds, at names which all have in common.
    spans: Sequence[Spans] = ()
    #: Has the chart to itself.
    graph: Graph | None = None
    #: Above the panel.
    title: str = ""
    #: To the right of it, where a chart has rows and columns: what its row is of.
    aside: str = ""
    notes: Sequence[Note] = ()
    #: Where the horizontal axis has ticks, and what they say; otherwise at round numbers.
    ticks: Sequence[tuple[float, str]] = ()
    #: Names that stand for 0, 1, 2, ... on the vertical axis.
    levels: Sequence[str] = ()


@dataclass(frozen=True)
class Chart:
    """A figure: panels side by side, or stacked over a common horizontal axis."""

    title: str
    caption: str
    panels: Sequence[Panel]
    stacked: bool = False
    #: What the figure itself says below its panels.
    note: str = ""
    #: Whether it is sized for a paper: a panel for a column, several for the width of the page.
    fitted: bool = False
    #: How many panels a row has where rows and columns mean something; otherwise as many as fit.
    columns: int = 0
    #: Above the legend, where its names need it.
    legend: str = ""
    #: Inches; the usual ones otherwise.
    width: float | None = None
    height: float | None = None

    def shares(self) -> bool:
        """Whether its panels have the same axes: they are to be compared."""
        return self.fitted and not any(panel.heat for panel in self.panels)


def with_texts(thing: Any, change: Callable[[str], str]) -> Any:
    """A chart, or a part of one, in which ``change`` was made to every text."""
    if isinstance(thing, str):
        return change(thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        # Numbers are many.
        names = (field.name for field in fields(thing) if "ArrayLike" not in str(field.type))
        return replace(thing, **{name: with_texts(getattr(thing, name), change) for name in names})
    if isinstance(thing, list | tuple):
        return type(thing)(with_texts(part, change) for part in thing)
    return thing


Builder = Callable[["Measured"], Chart]
#: Of every run.
FIGURES: dict[str, Builder] = {}
#: Of the runs whose results have several links between three nodes or more.
NETWORKS: dict[str, Builder] = {}
#: Of the runs that recorded the kind of the same name; ``air`` where queues and media are.
RECORDED: dict[str, Builder] = {}


def figure(name: str, among: dict[str, Builder] = FIGURES) -> Callable[[Builder], Builder]:
    """Registers a builder as the figure ``name``."""

    def register(builder: Builder) -> Builder:
        among[name] = builder
        return builder

    return register


def color_of(index: int) -> str:
    """Colour of the flow with this id."""
    return PALETTE[index % len(PALETTE)]


def dash_of(index: int) -> str:
    """Dash of the flow with this id: once the colours are used up, the dashes differ."""
    return DASHES[index // len(PALETTE) % len(DASHES)]

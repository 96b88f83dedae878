"""Charts for papers, by matplotlib."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from io import BytesIO
from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.figures.chart import Chart, Panel, with_texts
from sojourn.figures.paper_names import fit_all
from sojourn.figures.paper_panels import begin_at_zero, draw
from sojourn.literal import drawn
from sojourn.store.files import write_together

#: Some versions of matplotlib type the keys one by one, others do not.
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "svg.hashsalt": "sojourn",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}
_WIDTH = 7.0
#: Of a paper's column and of its page between the margins (inches), and of letters in either.
_COLUMN, _PAGE, _FITTED = 3.5, 7.16, {"font.size": 8}
#: So many panels stand beside each other, or heat maps.
_MOST_BESIDE, _MOST_MAPS = 3, 2
_DPI = 160
#: What a notebook takes an inch for; where the screen has more, it has use for the pixels above.
_SCREEN = 96
#: Kinds of files, and what would differ in them from day to day.
KINDS: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
    "svg": {"Date": None},
}
#: More flows than this make a legend longer than the figure.
_LONGEST_LEGEND = 24
#: About as many letters of a legend fit an inch; a row of it takes so much of one.
_LEGEND_LETTERS, _LEGEND_ROW = 14, 0.18
#: And of a label beside a panel, as high as this is at first.
_UP_LETTERS = 18
#: And of a note.
_NOTE_LETTERS = 17


class Picture(Figure):
    """A figure that shows itself in a notebook, also where that has not been told of matplotlib."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        width, height = (int(_SCREEN * inches) for inches in self.get_size_inches())
        return _written(self, "png"), {"width": width, "height": height}


def render(chart: Chart) -> Figure:
    """The chart as a matplotlib figure, its texts as they are: none is mathematics."""
    chart = with_texts(chart, drawn)
    with mpl.rc_context(_STYLE | (_FITTED if chart.fitted else {})):
        figure = Picture(figsize=_size(chart), layout="constrained")
        shares = chart.shares()
        rows, columns = _grid(chart)
        across = chart.stacked or shares
        grid = figure.subplots(rows, columns, sharex=across, sharey=shares, squeeze=False)
        axes = grid.ravel()[: len(chart.panels)].tolist()
        for ax in grid.ravel()[len(axes) :]:
            ax.remove()
        for ax, panel in zip(axes, chart.panels, strict=True):
            draw(figure, ax, panel)
        for alike in [slice(None)] if shares else [slice(i, i + 1) for i in range(len(axes))]:
            if all(_from_zero(panel) for panel in chart.panels[alike]):
                begin_at_zero(axes[alike])
        if shares:
            _label_outer(axes, chart, columns)
        if chart.columns:
            _head(axes, chart)
        if chart.stacked:
            for ax in axes[:-1]:
                ax.set_xlabel("")
        rows = _legend(figure, axes, chart.legend)
        if chart.stacked:
            # Panels are as high whatever stands above them.
            figure.set_figheight(figure.get_figheight() + _LEGEND_ROW * max(0, rows - 1))
        if chart.note:
            letters = int(_NOTE_LETTERS * figure.get_figwidth())
            figure.supxlabel(fill(chart.note, letters), fontsize=7, color="#555555")
        fit_all(figure, axes, chart.panels)
        return figure


def _from_zero(panel: Panel) -> bool:
    return panel.from_zero and not panel.heat and not panel.forest


def _label_outer(axes: Sequence[Axes], chart: Chart, columns: int) -> None:
    """Names shared axes at the left, and below the lowest panel of each column."""
    for ax, panel in zip(axes, chart.panels, strict=True):
        letters = int(_UP_LETTERS * ax.get_window_extent().height / ax.figure.dpi)
        ax.set_ylabel(fill(panel.y_label, letters, break_long_words=False))
        ax.label_outer(remove_inner_ticks=False)
    for ax, panel in list(zip(axes, chart.panels, strict=True))[-columns:]:
        ax.xaxis.set_tick_params(labelbottom=True)
        ax.set_xlabel(panel.x_label)


def _head(axes: Sequence[Axes], chart: Chart) -> None:
    """Says what columns are of above the first row, and what rows are of beside the last column."""
    for place, (ax, panel) in enumerate(zip(axes, chart.panels, strict=True)):
        if place >= chart.columns:
            ax.set_title("")
        if place % chart.columns == chart.columns - 1:
            beside: dict[str, Any] = {"xycoords": "axes fraction", "va": "center", "rotation": 270}
            ax.annotate(panel.aside, (1.02, 0.5), fontsize="medium", **beside)


def _grid(chart: Chart) -> tuple[int, int]:
    """Rows and columns of panels."""
    if chart.stacked:
        return len(chart.panels), 1
    if chart.columns:
        return len(chart.panels) // chart.columns, chart.columns
    beside = _MOST_MAPS if any(panel.heat for panel in chart.panels) else _MOST_BESIDE
    rows = ceil(len(chart.panels) / beside)
    return rows, ceil(len(chart.panels) / rows)


def images(chart: Chart) -> dict[str, bytes]:
    """The chart as files of kind ``png`` and ``svg``; the same chart gives the same bytes."""
    return encoded(render(chart))


def encoded(figure: Figure, kinds: Iterable[str] = ("png", "svg")) -> dict[str, bytes]:
    """A figure as files of some of :data:`KINDS`."""
    written = {}
    for kind in kinds:
        written[kind] = _written(figure, kind)
        # Where everything goes is known now, and costs as much to find out as to draw. With another
        # engine that does nothing, matplotlib would still draw twice.
        figure.set_layout_engine(None)
    return written


def _written(figure: Figure, kind: str) -> bytes:
    buffer = BytesIO()
    with mpl.rc_context(_STYLE):
        figure.savefig(buffer, format=kind, dpi=_DPI, metadata=KINDS[kind])
    return buffer.getvalue()


def save(chart: Chart, directory: Path, name: str) -> None:
    """Writes ``name.png`` and ``name.svg``."""
    write(images(chart), directory, name)


def write(contents: Mapping[str, bytes], directory: Path, name: str) -> None:
    """Writes ``name`` in each kind."""
    writes = {f"{name}.{kind}": partial(_put, content) for kind, content in contents.items()}
    write_together(directory, writes)


def _put(content: bytes, path: Path) -> None:
    path.write_bytes(content)


def _size(chart: Chart) -> tuple[float, float]:
    width, height = _usual_size(chart)
    return chart.width or width, chart.height or height


def _usual_size(chart: Chart) -> tuple[float, float]:
    if chart.stacked:
        return _WIDTH, 0.7 + 1.5 * len(chart.panels)
    if graph := chart.panels[0].graph:
        side = min(10.0, 3.0 + 0.7 * len(graph.names) ** 0.5)
        return side + 1.0, side
    if forest := chart.panels[0].forest:
        return _WIDTH, 0.9 + 0.19 * len(forest.names)
    rows, columns = _grid(chart)
    if chart.fitted or rows > 1:
        return (_PAGE if columns > 1 else _COLUMN), 0.5 + 2.2 * rows
    names = max((len(panel.heat.rows) for panel in chart.panels if panel.heat), default=0)
    # Each row of a map has room for its name.
    return (_WIDTH if len(chart.panels) > 1 else 5.0), max(3.4, 0.9 + 0.16 * names)


def _legend(figure: Figure, axes: Iterable[Axes], title: str) -> int:
    """The number of its rows."""
    entries = {
        name: handle
        for ax in axes
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    rows = 0
    if entries and len(entries) <= _LONGEST_LEGEND:
        longest = max(map(len, entries))
        most = max(1, int(_LEGEND_LETTERS * figure.get_figwidth()) // (longest + 8))
        columns = ceil(len(entries) / ceil(len(entries) / most))
        # matplotlib fills columns; one reads rows.
        names = [name for first in range(columns) for name in list(entries)[first::columns]]
        rows = ceil(len(entries) / columns)
        handles = [entries[name] for name in names]
        figure.legend(handles, names, loc="outside upper center", ncols=columns, title=title)
    return rows

"""Annotations on the page, by plotly.js."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10

from sojourn.figures.chart import NOTED, Note, Panel
from sojourn.figures.plotly_types import Part


def shapes(panel: Panel, suffix: str) -> Iterator[Part]:
    """Spans, below what the panel shows, and lines, which its grid would hide there."""
    for note in panel.notes:
        if note.x and note.y:
            continue
        span = bool(note.x[1:] or note.y[1:])
        look: Part = {"fillcolor": NOTED, "opacity": 0.15, "line": {"width": 0}}
        if not span:
            look = {"line": {"color": NOTED, "width": 1, "dash": "dash"}}
        form: Part = {"type": "rect", "layer": "below"} if span else {"type": "line"}
        ends: Part = {"xref": f"x{suffix} domain", "x0": 0, "x1": 1}
        ends |= {"yref": f"y{suffix} domain", "y0": 0, "y1": 1}
        for axis, at in (("x", note.x), ("y", note.y)):
            if at:
                ends |= {f"{axis}ref": f"{axis}{suffix}", f"{axis}0": at[0], f"{axis}1": at[-1]}
        yield {**form, **look, **ends}


def texts(panel: Panel, suffix: str) -> Iterator[Part]:
    """What is written beside them, and elsewhere."""
    for note in panel.notes:
        if note.text:
            yield {"text": note.text, "showarrow": False, **_place(panel, note, suffix)}


def _place(panel: Panel, note: Note, suffix: str) -> Part:
    place: Part = {"xref": f"x{suffix} domain", "x": 0.99, "xanchor": "right"}
    place |= {"yref": f"y{suffix} domain", "y": 0.99, "yanchor": "top"}
    both = bool(note.x and note.y)
    if note.x:
        anchor = "center" if both else "left"
        at = _along(note.x[0], panel.log_x)
        place |= {"xref": f"x{suffix}", "x": at, "xanchor": anchor}
    if note.y:
        anchor = "middle" if both else "bottom"
        at = _along(note.y[0], panel.log_y)
        place |= {"yref": f"y{suffix}", "y": at, "yanchor": anchor}
    return place


def _along(at: float, log: bool) -> float:
    """Texts, unlike lines, have logarithms for places on logarithmic axes."""
    return log10(at) if log else at

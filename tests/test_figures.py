"""How charts are drawn on paper."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sojourn.figures.chart import Chart, Heat, Line, Panel, color_of
from sojourn.figures.paper import render


def test_a_legend_reads_along_its_rows_and_stays_inside() -> None:
    names = [f"{rtt} ms" for rtt in (10, 20, 40, 60, 80, 160, 240, 320)]
    lines = [Line(name, [0, 1], [0, i], color_of(i)) for i, name in enumerate(names)]
    panel = Panel("x", "y", lines)
    figure = render(Chart("title", "caption", [panel, panel]))
    figure.draw_without_rendering()
    (legend,) = figure.legends
    boxes = {text.get_text(): text.get_window_extent() for text in legend.get_texts()}
    assert sorted(boxes, key=lambda name: (-round(boxes[name].y0), boxes[name].x0)) == names
    frame = legend.get_window_extent()
    assert frame.x0 >= 0
    assert frame.x1 <= figure.bbox.width


def test_colours_of_a_heat_map_may_follow_the_logarithm() -> None:
    values = np.array([[0.1, 1.0, 10.0], [np.nan, 1.0, 1.0]])
    for log, middle in ((True, 0.5), (False, 0.9 / 9.9)):
        heat = Heat(["a", "b", "c"], ["d", "e"], values, "s", log=log)
        axes = render(Chart("title", "caption", [Panel("x", "y", [], heat=heat)])).axes
        assert axes[0].images[0].norm(1.0) == pytest.approx(middle)
        assert [text.get_text() for text in axes[0].texts][3] == "-"


def test_many_names_of_a_heat_map_do_not_overlap() -> None:
    names = [f"{rate}@{delay}" for rate in (1, 5, 10, 50, 100) for delay in (0, 10, 20, 80)]
    heat = Heat(names, ["flows that have a long name"], [range(len(names))], "s")
    figure = render(Chart("title", "caption", [Panel("x", "y", [], heat=heat)]))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_xticklabels()]
    assert len(boxes) == len(names)
    # Capitals do not fill their lines.
    gaps = [right.x0 - left.x1 for left, right in itertools.pairwise(boxes)]
    assert min(gaps) > -0.25 * boxes[0].width

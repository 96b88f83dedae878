"""How charts are drawn on paper."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import sojourn
from conftest import TWO_FLOWS
from sojourn.figures import chart, figures_of, forest, page, page_heat
from sojourn.figures.chart import DIVERGING, Chart, Heat, Line, Panel, color_of
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


@pytest.mark.parametrize(
    ("names", "shown", "angle"),
    [
        (["0.25", "0.5", "1", "2", "4", "8"], ["0.25", "0.5", "1", "2", "4", "8"], 0),
        (
            ["no", "filter", "filter-aggressive"],
            ["no", "filter", "filter-\naggressive"],
            0,
        ),
        (["incomprehensibilities"] * 3, ["incomprehensibilities"] * 3, 90),
    ],
)
def test_names_along_an_axis_are_broken_before_they_stand(
    names: list[str], shown: list[str], angle: float
) -> None:
    places = range(len(names))
    line = Line("", list(places), list(places), "black")
    panel = Panel("x", "y", [line], ticks=[(float(at), name) for at, name in enumerate(names)])
    made = Chart("title", "caption", 3 * [panel], fitted=True, columns=3)
    ax = render(made).axes[0]
    ticks = ax.get_xticklabels()
    assert [tick.get_text() for tick in ticks] == shown
    assert {tick.get_rotation() for tick in ticks} == {angle}


def _colour(axes: object, value: float) -> np.ndarray:
    return np.asarray(axes.images[0].to_rgba(value)[:3])  # type: ignore[attr-defined]


def test_colours_of_differences_diverge_from_zero() -> None:
    values = [[-1.0, 0.0, 4.0]]
    heat = Heat(["a", "b", "c"], ["d"], values, "s", middle=0.0)
    made = Chart("title", "caption", [Panel("x", "y", [], heat=heat)])
    axes = render(made).axes[0]
    ends = [np.array([int(c[i : i + 2], 16) for i in (1, 3, 5)]) / 255 for c in DIVERGING]
    for value, expected in zip((-4.0, 0.0, 4.0), ends, strict=True):
        assert _colour(axes, value) == pytest.approx(expected, abs=0.01)
    colors = page.render(made)["layout"]["coloraxis"]
    assert (colors["cmin"], colors["cmax"]) == (-4, 4)
    assert colors["colorscale"] == [[0, DIVERGING[0]], [0.5, DIVERGING[1]], [1, DIVERGING[2]]]


def test_colours_of_ratios_diverge_from_one_also_on_the_page() -> None:
    heat = Heat(["a", "b", "c"], ["d"], [[0.5, 1.0, 10.0]], "s", log=True, middle=1.0)
    made = Chart("title", "caption", [Panel("x", "y", [], heat=heat)])
    assert render(made).axes[0].images[0].norm(1.0) == pytest.approx(0.5)
    drawn = page.render(made)
    colors, (trace,) = drawn["layout"]["coloraxis"], drawn["data"]
    assert (colors["cmin"], colors["cmax"]) == (-1, 1)
    assert trace["z"][0][1:] == [0, 1]
    assert trace["customdata"] == [[0.5, 1, 10]]
    assert colors["colorbar"]["ticktext"] == ["0.1", "0.2", "0.5", "1", "2", "5", "10"]


def test_colours_of_one_value_alone_begin_at_zero() -> None:
    ends = {value: Heat(["a"], ["b"], [[value]], "s").ends() for value in (0.0, 3.0, -3.0)}
    assert ends == {0.0: (0, 1), 3.0: (0, 3), -3.0: (-3, 0)}


def test_a_long_label_of_colours_is_broken() -> None:
    heat = Heat(["a"], ["b"], [[1.0]], "Throughput, coefficient of variation of all flows")
    title = page_heat.colors(heat, 0.5, 1.0)["colorbar"]["title"]["text"]
    assert max(map(len, title.splitlines())) <= 26


def _differences(*middles: float) -> pl.DataFrame:
    """In hundredths of B."""
    rows = [
        ("", "flow", str(flow), "mean_srtt_l4", middle, 1.0, middle, middle - 0.05, middle + 0.05)
        for flow, middle in enumerate(middles)
    ]
    names = ["point", "scope", "id", "metric", "a", "b", "difference", "low", "high"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(verdict=pl.lit("worse"))


def test_one_large_difference_does_not_flatten_the_others() -> None:
    made = forest.chart(_differences(10.8, 0.4, -0.3, 0.25, 0.2), "a", "b")
    assert made
    low, high = render(made).axes[0].get_xlim()
    assert (low, high) == pytest.approx((-38.2, 135), abs=10)
    texts = [text.get_text() for text in render(made).axes[0].texts]
    assert texts == ["\u25b6 +1,080"]
    drawn = page.render(made)
    assert drawn["layout"]["xaxis"]["range"] == pytest.approx([low, high])
    assert "\u25b6 +1,080" in [told["text"] for told in drawn["layout"]["annotations"]]
    assert "Arrows: beyond the axis" in made.caption


def test_differences_alike_are_all_on_the_axis() -> None:
    made = forest.chart(_differences(1.2, 0.9, -0.8, 0.6), "a", "b")
    assert made
    assert not render(made).axes[0].texts
    low, high = render(made).axes[0].get_xlim()
    assert low < -85
    assert high > 125
    assert "Arrows" not in made.caption


def test_names_of_differences_stand_above_them_on_the_page() -> None:
    made = forest.chart(_differences(0.2, 0.1), "a", "b")
    assert made
    layout = page.render(made)["layout"]
    names = [told for told in layout["annotations"] if told["yanchor"] == "bottom"]
    assert [told["text"] for told in names] == ["Smoothed RTT of flow 0", "Smoothed RTT of flow 1"]
    assert not layout["yaxis"]["showticklabels"]


BBR3 = TWO_FLOWS.replace('cca = "reno"', 'cca = "bbr3"').replace(
    '{ kind = "fifo", limit = "20 packets" }', '"dualpi2"'
)


@pytest.fixture(scope="module")
def recorded() -> sojourn.Result:
    return sojourn.run(BBR3, overrides=['record=["cc", "queue"]'])


def test_every_name_that_a_control_lets_be_seen_is_shown_or_told(recorded: sojourn.Result) -> None:
    cc = pl.col("component").str.ends_with(".cc")
    names = set(recorded.state.filter(cc)["name"])
    made = chart("cc", recorded)
    shown = {panel.y_label for panel in made.panels}
    assert {"mode", "phase", "cwnd", "inflight_hi"} <= shown
    told = [name for name in names - shown if f"{name} " in made.note.partition("changed: ")[2]]
    assert shown | set(told) == names
    assert made.note in made.caption


def test_words_are_steps_at_their_names(recorded: sojourn.Result) -> None:
    made = chart("cc", recorded)
    panel = next(panel for panel in made.panels if panel.y_label == "phase")
    phases = recorded.state.filter(name="phase")
    assert set(panel.levels) == set(phases["text"].drop_nulls())
    (line,) = panel.lines
    # What is drawn is what was recorded last at that time, or nothing where it had no phase.
    for time, level in list(zip(line.x, line.y, strict=True))[:-1]:  # type: ignore[call-overload]
        said = set(phases.filter(time=time)["text"])
        assert (None if np.isnan(level) else panel.levels[round(level)]) in said
    figure = render(made)
    ax = figure.axes[list(made.panels).index(panel)]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(panel.levels)
    suffix = list(made.panels).index(panel) + 1
    assert page.render(made)["layout"][f"yaxis{suffix}"]["ticktext"] == list(panel.levels)


def test_what_never_changed_is_told_and_not_drawn(recorded: sojourn.Result) -> None:
    made = chart("queue", recorded)
    assert "l_packets" not in {panel.y_label for panel in made.panels}
    assert "l_packets 0" in made.note
    assert made.note in render(made).get_supxlabel().replace("\n", " ")


def test_where_nothing_changed_that_is_drawn_from_zero() -> None:
    text = (
        TWO_FLOWS[: TWO_FLOWS.index("[[flows]]")]
        + """
[[flows]]
transport = "udp"
rtt = "20 ms"
traffic = { kind = "cbr", rate = "100 kbit/s" }
"""
    )
    idle = sojourn.run(text, overrides=['record=["cc", "queue"]'])
    # Datagrams have no control.
    assert "cc" not in figures_of(idle)
    made = chart("queue", idle)
    assert {panel.y_label for panel in made.panels} == {"packets", "bytes"}
    assert [ax.get_ylim() for ax in render(made).axes] == [(0, pytest.approx(1.05))] * 2


def test_components_that_are_not_drawn_are_named_in_number(recorded: sojourn.Result) -> None:
    many = sojourn.run(BBR3, overrides=['record=["cc"]', "flows.1.count=13"])
    assert "Of 14 flows those with the most and the least throughput." in chart("cc", many).note


def test_panels_that_do_not_fit_are_named(
    recorded: sojourn.Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = [panel.y_label for panel in chart("cc", recorded).panels]
    monkeypatch.setattr("sojourn.figures.state._MOST_PANELS", 3)
    made = chart("cc", recorded)
    assert [panel.y_label for panel in made.panels] == every[:3]
    assert f"Not drawn: {', '.join(every[3:])}." in made.note
    monkeypatch.setattr("sojourn.figures.state._MOST_WORDS", 2)
    assert chart("cc", recorded).note.endswith(", mode, phase.")

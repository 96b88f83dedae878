"""Many flows, shown as groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import sojourn
from sojourn.figures import FIGURES, chart
from sojourn.figures.thin import binned, evenly, outline
from sojourn.groups import extremes, groups, quantiles


def scenario(*flows: dict[str, Any], duration: str = "1 s") -> dict[str, Any]:
    bottleneck = {"rate": "100 Mbit/s", "queue": {"kind": "fifo", "limit": "2000 packets"}}
    return {
        "name": "many",
        "duration": duration,
        "topology": {"kind": "dumbbell", "bottleneck": bottleneck},
        "flows": [{"rtt": "20 ms", **flow} for flow in flows],
    }


def names(*flows: dict[str, Any], most: int = 6) -> dict[str, int]:
    result = sojourn.run(scenario(*flows, duration="10 ms"))
    return {group.name: len(group.flows) for group in groups(result, most)}


def test_groups_share_label_control_and_rtt() -> None:
    reno, cubic = {"cca": "reno", "count": 3}, {"cca": "cubic", "count": 2}
    assert names(reno, cubic) == {"reno": 3, "cubic": 2}
    assert names(reno, {**reno, "label": "mine"}, reno) == {"reno": 6, "mine": 3}
    assert names(reno, {**reno, "rtt": "0.5 s"}) == {"reno, 20 ms": 3, "reno, 500 ms": 3}


def test_groups_of_one_name_are_told_apart_by_their_parameters() -> None:
    half, third = {"kind": "reno"}, {"kind": "reno", "beta": 0.3}
    found = names({"cca": half}, {"cca": third, "count": 2})
    assert found == {"reno (beta 0.5000)": 1, "reno (beta 0.3000)": 2}


def test_too_many_groups_become_coarser() -> None:
    flows = [{"cca": c, "rtt": f"{r} ms"} for c in ("reno", "bbr") for r in range(1, 6)]
    assert len(names(*flows, most=10)) == 10
    assert names(*flows, most=6) == {"reno": 5, "bbr": 5}
    assert names(*flows, most=1) == {"all": 10}


def test_quantiles_are_numpys() -> None:
    values = np.random.default_rng(1).normal(size=(7, 40))
    values[values > 1] = np.nan
    values[3] = np.nan
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        expected = np.nanquantile(values, (0.05, 0.5, 0.95), axis=-1)
    assert_allclose(quantiles(values, (0.05, 0.5, 0.95)), expected)


def test_extremes_are_the_highest_and_the_lowest() -> None:
    assert extremes(np.array([3.0, np.nan, 9.0, 1.0, 2.0]), 2) == ([2, 0], [3, 4])


def test_an_outline_keeps_the_peaks() -> None:
    x = np.arange(10_000.0)
    y = np.sin(x)
    y[1234], y[7777] = 50, -50
    kept_x, kept_y = outline(x, y, 300)
    assert len(kept_x) <= 300
    assert (kept_y.max(), kept_y.min()) == (50, -50)
    assert (np.diff(kept_x) > 0).all()


def test_bins_are_means_of_what_is_known() -> None:
    values = np.array([[1.0, np.nan], [3.0, 5.0], [9.0, np.nan]])
    assert_allclose(binned(values, 2), [[2.0, 5.0], [9.0, np.nan]])
    assert_allclose(binned(values, 3), values)


def test_even_indices_have_both_ends() -> None:
    assert evenly(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert evenly(1001, 3).tolist() == [0, 500, 1000]
    assert evenly(0, 10).tolist() == []


@pytest.mark.parametrize("name", FIGURES)
def test_what_a_figure_draws_does_not_grow_with_the_flows(name: str) -> None:
    def size(count: int) -> tuple[int, int]:
        flows = [{"cca": cca, "count": count // 2} for cca in ("reno", "cubic")]
        panels = chart(name, sojourn.run(scenario(*flows, duration="3 s"))).panels
        lines = [line for panel in panels for line in panel.lines]
        return len(lines), sum(len(np.asarray(line.x)) for line in lines)

    few, many = size(20), size(1000)
    assert many[0] == few[0] <= 18
    assert many[1] <= 3000


def test_figures_of_many_flows_name_the_groups_and_the_extremes() -> None:
    flows = [{"cca": cca, "count": 10} for cca in ("reno", "cubic")]
    result = sojourn.run(scenario(*flows))
    labels = [line.label for line in chart("operating_point", result).panels[0].lines]
    throughput = result.flows["mean_throughput_l4"]
    best, worst = throughput.arg_max(), throughput.arg_min()
    control = ["reno"] * 10 + ["cubic"] * 10
    assert labels == [
        "reno (10 flows)",
        "cubic (10 flows)",
        f"most: {control[best]} ({best})",
        f"least: {control[worst]} ({worst})",
    ]


def test_a_restricted_run_is_drawn_all_the_same() -> None:
    result = sojourn.run(scenario({"cca": "reno"}), metrics=["mean_throughput_l4"])
    assert [bool(chart(name, result).panels) for name in FIGURES] == [True] * len(FIGURES)


def test_undefined_is_null_and_counts_are_integers() -> None:
    flows = sojourn.run(scenario({"cca": "reno"}, {"cca": "reno", "start": "999 ms"})).flows
    assert flows["convergence_time_l4"].to_list() == [None, None]
    assert flows["total_rtos_l4"].to_list() == [0, 0]
    assert flows["mean_srtt_l4"][1] is None
    assert flows["mean_throughput_l4"][0] > 0

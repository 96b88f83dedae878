"""Metrics of long runs and of many flows: the same values by ways that take less."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_runs import run_of
from sojourn.metrics import (
    RunData,
    columns,
    compute,
    convergence_of_fairness,
    fairness,
    fairness_over_time,
)
from sojourn.metrics.columns import EPSILON
from sojourn.metrics.fairness_over_time import jain_over
from sojourn.scenario import expanded_flows
from sojourn.store import files

#: 100 ms samples of up to four flows, and when each begins and ends.
RUNS = st.integers(2, 4).flatmap(
    lambda flows: st.tuples(
        st.lists(
            st.lists(st.sampled_from([0, 1448, 9000]), min_size=flows, max_size=flows),
            min_size=1,
            max_size=45,
        ),
        st.lists(st.floats(0, 2), min_size=flows, max_size=flows),
        st.lists(st.floats(2, 5), min_size=flows, max_size=flows),
        st.sampled_from(["0 s", "300 ms", "1 s"]),
        st.sampled_from([0.1, 0.3, 0.7, 2.5]),
    )
)


def _one_stretch_after_the_other(run: RunData, seconds: float) -> float:
    """Jain's index over stretches, interval by interval and flow by flow."""
    view, indices = run.flow, []
    delivered, ends = view.samples["delivered_bytes"], view.samples.ends
    for first in np.arange(run.warmup, ends[-1] - seconds + EPSILON, seconds):
        until = first + seconds
        inside = [i for i, at in enumerate(view.samples.begins) if first <= at + EPSILON < until]
        rates = []
        for flow in range(view.count):
            time = sum(view.span[i, flow] for i in inside)
            if time >= seconds / 2:
                rates.append(sum(delivered[i, flow] for i in inside if view.span[i, flow]) / time)
        if len(rates) > 1 and any(rates):
            squares = sum(rate**2 for rate in rates)
            indices.append(sum(rates) ** 2 / (len(rates) * squares))
    return sum(indices) / len(indices) if indices else np.nan


@settings(max_examples=60)
@given(RUNS)
def test_fairness_over_stretches_is_that_of_each(
    drawn: tuple[list[list[float]], list[float], list[float], str, float],
) -> None:
    delivered, start, stop, warmup, seconds = drawn
    run = run_of(delivered, start=start, stop=stop, warmup=warmup)
    expected = _one_stretch_after_the_other(run, seconds)
    assert jain_over(run, seconds) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_matrices_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"cwnd_time": [[3, 4]] * 20, "sent_bytes": [[2000, 3000]] * 20}
    free, bounded = (run_of([[1500, 2500]] * 20, **made) for _ in range(2))
    scopes = ("flow", "net", "group")
    values = [compute(free, scope) for scope in scopes]
    monkeypatch.setattr(columns, "MOST_KEPT", 3 * 20 * 2 * 8)
    assert free.flow.samples.kept.bytes > columns.MOST_KEPT
    for scope, before in zip(scopes, values, strict=True):
        np.testing.assert_equal(compute(bounded, scope), before)
    assert 0 < bounded.flow.samples.kept.bytes <= columns.MOST_KEPT
    assert bounded.flow.made.bytes <= columns.MOST_KEPT
    monkeypatch.setattr(columns, "MOST_KEPT", 0)  # less than one takes
    assert bounded.flow.samples["sent_bytes"] is bounded.flow.samples["sent_bytes"]


def test_stretches_of_samples_come_to_what_all_at_once_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [[1500 * (n % 5), 9000 * (n > 6), 3000 * (n % 3)] for n in range(30)]
    made = {"delivered_packets": np.array(rows) / 1500 * 40}
    one, other = (run_of(rows, interval=1, **made) for _ in range(2))
    before = compute(one, "net")
    assert np.isfinite(before["convergence_time_jain_past_100_l4"]).all()
    monkeypatch.setattr(fairness, "AT_ONCE", 4)
    monkeypatch.setattr(convergence_of_fairness, "AT_ONCE", 4)
    monkeypatch.setattr(fairness_over_time, "_AT_ONCE", 40)
    np.testing.assert_equal(compute(other, "net"), before)


def test_an_entry_of_several_flows_is_as_so_many_entries() -> None:
    reno = {"transport": "tcp", "cca": {"kind": "reno"}, "label": "old", "count": 2}
    entries = [
        reno | {"traffic": {"kind": "greedy"}},
        reno | {"traffic": {"kind": "sized", "repeats": 1}, "label": None, "count": 1},
        reno | {"traffic": {"kind": "cbr"}, "cca": {"kind": "cubic"}},
    ]
    counted, listed = (run_of([[9000, 1448, 3000, 4000, 0]] * 3) for _ in range(2))
    counted.scenario = {"warmup": "0 s", "flows": entries}
    listed.scenario = {"warmup": "0 s", "flows": expanded_flows(counted.scenario)}
    assert counted.group.ids == listed.group.ids == ["cca:reno", "cca:cubic", "label:old"]
    assert [counted.group.members(place) for place in range(3)] == [(0, 1, 2), (3, 4), (0, 1, 3, 4)]
    assert counted.flow.greedy.tolist() == [True, True, False, False, False]
    assert counted.flow.bounded.tolist() == [False, False, True, False, False]
    for scope in ("flow", "net", "group"):
        np.testing.assert_equal(compute(counted, scope), compute(listed, scope))


def test_long_json_reads_back_and_short_json_is_indented(tmp_path: Path) -> None:
    flow = {"cca": {"kind": "reno"}, "label": "größer", "rtt": 0.1, "stop": None}
    short, long = {"flows": [flow]}, {"flows": [flow] * 10_000}
    for value, indented in ((short, True), (long, False)):
        path = tmp_path / "value.json"
        files.write_json(value, path)
        text = path.read_text(encoding="utf-8")
        assert json.loads(text) == value
        assert ("\n " in text) == indented

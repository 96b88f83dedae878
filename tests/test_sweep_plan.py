"""The points of a grid, their replications and their keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn import ScenarioError
from sojourn.scenario import load
from sojourn.sweeps import work
from sojourn.sweeps.expand import plan
from sojourn.sweeps.jitter import draw
from test_sweep import RUNS, SWEEP


def test_grid_and_replications() -> None:
    points = list(plan(load(SWEEP)))
    assert len(points) == RUNS
    assert len({work.run_key(p.canonical) for p in points}) == RUNS
    assert {p.canonical["seed"] for p in points} == {1, 2, 3, 4}
    first = points[0]
    assert dict(first.coordinates) == {
        "topology.bottleneck.rate": "2 Mbit/s",
        "flows.0.cca": "reno",
    }
    assert first.canonical["topology"]["bottleneck"]["rate"] == "2 Mbit/s"


@given(st.integers(0, 2**64 - 1), st.integers(0, 1000))
def test_jitter_is_uniform_and_depends_on_seed_and_flow_only(seed: int, flow: int) -> None:
    assert 0 <= draw(seed, flow) < 1
    assert draw(seed, flow) == draw(seed, flow)
    assert draw(seed, flow) != draw(seed, flow + 1)


def test_jitter_fills_its_range() -> None:
    drawn = sorted(draw(seed, 0) for seed in range(1000))
    assert max(abs(value - rank / 1000) for rank, value in enumerate(drawn)) < 0.06


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("replications = 4", "replications = 0", "sweep.replications: 0"),
        (
            "replications = 4",
            "repetitions = 4",
            "sweep.repetitions: unknown key 'repetitions'; did you mean 'replications'",
        ),
        ('"50 ms"', "50", "sweep.start_jitter"),
        ('["reno", "cubic"]', '["reno", "cubik"]', "did you mean 'cubic'"),
        ('["reno", "cubic"]', "[]", "expected a list"),
        ('"flows.0.cca" =', '"flows.9.cca" =', "flows.9"),
        ("replications = 4", "replications = 4000000", "at most"),
    ],
)
def test_wrong_sweeps_are_explained(old: str, new: str, told: str) -> None:
    assert old in SWEEP
    with pytest.raises(ScenarioError) as error:
        plan(load(SWEEP.replace(old, new)))
    assert told in str(error.value)


def test_renaming_a_scenario_changes_no_key() -> None:
    points = [next(iter(plan(load(text)))) for text in (SWEEP, SWEEP.replace("two-flows", "x"))]
    assert work.run_key(points[0].canonical) == work.run_key(points[1].canonical)

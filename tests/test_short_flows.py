"""The transfers of docs/howto/short-flows.md; `test_docs_commands.py` runs its commands."""

from __future__ import annotations

import pytest

import docs_commands as docs
from sojourn.result import run

#: What makes its run short enough for every change.
BRIEF = (
    *("duration=4 s", "arrivals.0.start=1 s", "arrivals.0.stop=3 s"),
    "topology.bottleneck.rate=40 Mbit/s",
    'arrivals.0.size={kind="lognormal", mean="6 kB", cv=2}',
)


def test_every_transfer_is_counted_once_and_the_load_is_what_was_asked_for() -> None:
    scenario = docs.page("docs/howto/short-flows.md").blocks[0]
    made = run(scenario.text, overrides=BRIEF)
    told = made.to_json()["transfers"]
    everything = next(one for one in told if one["sizes"] is None)
    bins = [one for one in told if one["sizes"]]
    count = everything["metrics"]["count"]
    assert sum(one["metrics"]["count"] or 0 for one in bins) == count
    rows = made.transfers
    assert len(rows) == count
    assert rows["arrival"].is_between(1.0, 3.0, closed="left").all()
    assert (rows["slowdown"] >= 1.0).all()
    load = made.values("transfer", "offered_load")[0]
    assert load == pytest.approx(0.6, rel=0.2)

"""Harm, whose definition takes further runs: in a run, in a sweep, in what is made of one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sojourn
from conftest import TWO_FLOWS
from sojourn import ScenarioError
from sojourn.figures.plots.request import Request, chart
from sojourn.scenario import load
from sojourn.sweeps.expand import plan

NAMES = ["group_harm_throughput_l4", "harm_throughput_l4"]
SWEEP = (
    TWO_FLOWS
    + """
[sweep]
replications = 2
[sweep.grid]
"topology.bottleneck.rate" = ["4 Mbit/s", "8 Mbit/s"]
"""
)
WITH_HARM = SWEEP.replace("[sweep]", f"[sweep]\nmetrics = {NAMES}".replace("'", '"'))


def test_harm_to_a_group_is_what_its_flows_lose_together() -> None:
    text = TWO_FLOWS.replace('cca = "cubic"', 'cca = "cubic"\ncount = 2')
    result = sojourn.run(text, metrics=[*NAMES, "sum_throughput_l4"])
    groups = {row["id"]: row for row in result.groups.to_dicts()}
    flow = result.flows.filter(pl.col("cca") == "reno")["harm_throughput_l4"].item()
    assert groups["cca:reno"]["group_harm_throughput_l4"] == pytest.approx(flow)
    # The two others fill the link without it, and so lose what it gets: their shares add up.
    got = groups["cca:reno"]["sum_throughput_l4"]
    lost = groups["cca:cubic"]["group_harm_throughput_l4"]
    assert lost == pytest.approx(got / (got + groups["cca:cubic"]["sum_throughput_l4"]), abs=0.1)


def test_flows_alone_find_the_same_network() -> None:
    """With a buffer of 1 bdp of the longest path, which is another flow's."""
    text = TWO_FLOWS.replace('"20 packets"', '"1 bdp"').replace('"20 ms"', '"200 ms"', 1)
    result = sojourn.run(text)
    apart, (place,) = result.data.alone((1,))
    delivered = apart.flow.total("delivered_bytes")
    assert delivered[place] > 0
    assert delivered[1 - place] == 0
    # A buffer of 200 ms, of which slow start alone fills more than of its own 20 ms there is room.
    assert apart.flow.table["rtt_p99"][place] > 0.06


def test_a_stored_run_says_what_its_harm_takes(tmp_path: Path) -> None:
    stored = sojourn.open(sojourn.run(TWO_FLOWS).save(tmp_path / "run"))
    assert isinstance(stored, sojourn.Result)
    with pytest.raises(sojourn.SojournError, match=r"harm: needs .* flow 0 alone.* when the"):
        _ = stored.request(["harm_throughput_l4"]).flows


def test_a_sweep_computes_harm_that_its_table_names(tmp_path: Path) -> None:
    without = sojourn.sweep(SWEEP, directory=tmp_path)
    assert not without.runs["harm_throughput_l4"].count()
    with pytest.raises(ScenarioError, match="sweep with metrics"):
        without.plot("harm_throughput_l4", x="topology.bottleneck.rate", hue="cca")
    with pytest.warns(UserWarning, match="anew from their samples"):
        made = sojourn.sweep(WITH_HARM, directory=tmp_path)
    fresh = sojourn.sweep(WITH_HARM, directory=tmp_path / "fresh")
    for name, scope in ((NAMES[0], "group"), (NAMES[1], "flow")):
        values = made.runs.filter(pl.col("scope") == scope).sort("key", "id")[name]
        assert values.null_count() == 0
        again = fresh.runs.filter(pl.col("scope") == scope).sort("key", "id")[name]
        assert values.to_list() == pytest.approx(again.to_list())
    request = Request("harm_throughput_l4", "topology.bottleneck.rate", "cca")
    (panel,) = chart(made.directory, request).panels
    assert [line.label for line in panel.lines] == ["Reno", "Cubic"]
    assert set(sojourn.compare(made, fresh, names=NAMES).table["verdict"]) == {"same"}


@pytest.mark.parametrize(
    ("metrics", "told"),
    [
        ('["harm"]', "unknown metric that needs further runs 'harm'"),
        ('["mean_srtt_l4"]', "without being named"),
        ('"harm_delay_l4"', "expected a list"),
    ],
)
def test_what_a_sweep_cannot_be_asked_for_is_refused(metrics: str, told: str) -> None:
    with pytest.raises(ScenarioError, match=told):
        plan(load(SWEEP.replace("[sweep]", f"[sweep]\nmetrics = {metrics}")))

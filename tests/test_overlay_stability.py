"""Overlays inside and outside the capacity region, and while they fall apart and come together."""

from __future__ import annotations

import random
from typing import Any

import networkx
import numpy as np
import pytest

from sojourn.engine import simulate
from sojourn.metrics import RunData
from sojourn.scenario import validated

#: Admission at the source's rate, whatever waits.
_UNBOUNDED = 1e18


def _run(links: list[dict[str, Any]], rate: str, k: float, duration: int) -> RunData:
    """Datagrams from 1 to 2, with neither zombies nor admission that would hold queues short."""
    nodes = sorted({end for link in links for end in (link["from"], link["to"])})
    kinds = [{"id": n, "kind": "overlay", "k": k, "zombies": False} for n in nodes]
    queue = {"kind": "fifo", "limit": "50 kB"}
    flow = {
        "from": "1",
        "to": "2",
        "transport": "udp",
        "mss": 1024,
        "traffic": {"kind": "cbr", "rate": rate, "size": "1024 B"},
        "start": "1 s",
        "service": {"ceiling": "100 Mbit/s"},
    }
    links = [{"queue": queue, "delay": "5 ms", "rate": "10 Mbit/s", **link} for link in links]
    topology = {"kind": "graph", "nodes": kinds, "links": links}
    scenario = {"name": "overlay", "duration": f"{duration} s", "sample_interval": "500 ms"}
    return simulate(validated({**scenario, "topology": topology, "flows": [flow]}).canonical)[0]


def _link(one: str, other: str, **more: Any) -> dict[str, Any]:
    return {"id": f"{one}-{other}", "from": one, "to": other, **more}


_TRIANGLE = [_link("1", "2"), _link("1", "3"), _link("3", "2")]


def _waiting(data: RunData) -> np.ndarray:
    """Bytes that wait in all nodes, by sample."""
    table = data.tables["node_samples"]
    nodes = len(np.unique(np.asarray(table["node"])))
    return np.asarray(table["queue_bytes"], dtype=float).reshape(-1, nodes).sum(axis=1)


@pytest.mark.parametrize(("rate", "grows"), [("16 Mbit/s", False), ("22 Mbit/s", True)])
def test_queues_are_bounded_inside_the_capacity_region_and_grow_outside(
    rate: str, grows: bool
) -> None:
    """The cut is two links of 10 Mbit/s, 18.2 of payload less headers and messages."""
    waiting = _waiting(_run(_TRIANGLE, rate, _UNBOUNDED, 16))
    first, last = waiting[len(waiting) // 2], waiting[-1]
    if grows:
        # What does not fit stays: 3.8 Mbit/s of payload for 8 s.
        assert last - first > 2e6
    else:
        assert last < 100_000


@pytest.mark.parametrize("seed", range(3))
def test_a_flow_that_saturates_gets_the_minimum_cut_less_headers(seed: int) -> None:
    """In random networks of five nodes, within 5 %."""
    draw = random.Random(seed)
    pairs = [("1", "3"), ("3", "2"), ("1", "4"), ("4", "5"), ("5", "2"), ("3", "4"), ("3", "5")]
    links = [_link(*ends, rate=f"{draw.randint(4, 10)} Mbit/s") for ends in pairs]
    data = _run(links, "40 Mbit/s", 1e12, 20)
    cut = networkx.DiGraph()
    for link in links:
        rate = float(link["rate"].split()[0])
        cut.add_edge(link["from"], link["to"], capacity=rate)
        cut.add_edge(link["to"], link["from"], capacity=rate)
    most = 0.99 * networkx.minimum_cut_value(cut, "1", "2") * 1_024 / (1_024 + 28 + 62)
    samples = data.flow.samples
    steady = samples.begins >= 8
    time = (samples.ends - samples.begins)[steady].sum()
    goodput = 8e-6 * samples["in_order_bytes"][steady, 0].sum() / time
    assert 0.95 * most <= goodput <= 1.01 * most


def test_a_partition_neither_loops_nor_leaves_stale_ways_behind() -> None:
    """Both links into 2 fail for ten seconds, which is longer than advertisements live."""
    outage = {"outages": [{"start": "5 s", "duration": "10 s", "two_way": True}]}
    links = [_link("1", "2", **outage), _link("1", "3"), _link("3", "2", **outage)]
    data = _run(links, "5 Mbit/s", 1e12, 25)
    samples, wires = data.flow.samples, data.link.samples
    goodput = 8e-6 * samples["in_order_bytes"][:, 0] / (samples.ends - samples.begins)
    apart = (samples.begins >= 8) & (samples.ends <= 15)
    assert goodput[apart].max() == 0
    # What waits in 1 has nowhere to go: between 1 and 3 there are messages about queues alone.
    names = [link["id"] for link in data.network["links"]]
    between = [index for index, name in enumerate(names) if name.startswith("1-3")]
    sent = 8e-6 * wires["sent_bytes"][:, between] / (samples.ends - samples.begins)[:, None]
    assert sent[apart].max() < 0.3
    assert goodput[samples.begins >= 18].min() == pytest.approx(5, rel=0.1)

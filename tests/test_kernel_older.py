"""Linux 6.1 in virtual time, beside 6.12, where both have been built."""

from __future__ import annotations

import pytest

import sojourn
from sojourn.backends.kernel import On
from sojourn.scenario import Document, validated

pytestmark = [
    pytest.mark.long,
    pytest.mark.concurrent,
    pytest.mark.needs("virtual-kernel", "older-kernel"),
]
SCENARIO: Document = {
    "duration": "8 s",
    "topology": {
        "kind": "dumbbell",
        "bottleneck": {"rate": "4 Mbit/s", "queue": {"kind": "fifo", "limit": "1 bdp"}},
    },
    "flows": [
        {
            "cca": "cubic",
            "rtt": "20 ms",
            "send_buffer": "stack",
            "receive_buffer": "stack",
            "traffic": {"kind": "sized", "size": "100 kB"},
        }
    ],
}
#: Nothing passes at first: each of the first SYNs is lost.
OUTAGE = {"outages": [{"start": "0 s", "duration": "3500 ms"}]}


def run(version: str, **bottleneck: object) -> sojourn.Result:
    topology = SCENARIO["topology"]
    changed = {**topology, "bottleneck": {**topology["bottleneck"], **bottleneck}}
    return On(version).run(validated({**SCENARIO, "topology": changed}))


def completion(result: sojourn.Result) -> float:
    return float(result.flows["flow_completion_time_l4"][0])


def test_runs_are_the_same_each_time() -> None:
    first, *others = (run("6.1").series.flows.write_csv() for _ in range(5))
    assert set(others) == {first}


def test_a_lost_syn_is_sent_again_later_than_by_6_12() -> None:
    """After 1, 3 and 7 s; `tcp_syn_linear_timeouts` of 6.5 makes that 1, 2, 3, 4 and 5 s."""
    assert completion(run("6.12", **OUTAGE)) == pytest.approx(4.3, abs=0.2)
    assert completion(run("6.1", **OUTAGE)) == pytest.approx(7.3, abs=0.2)

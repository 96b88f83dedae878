"""What a reader must know first about a run, and nothing where there is nothing to know."""

from __future__ import annotations

from typing import Any

from sojourn.metrics.warnings import RunWarning, brief, warnings_of
from sojourn.result import run

RENO = {"cca": "reno", "rtt": "20 ms"}


def kinds(*flows: dict[str, Any], duration: str = "10 s", **bottleneck: Any) -> list[str]:
    """Scope, id and kind of the warnings about flows over 8 Mbit/s."""
    queue = {"kind": "fifo", "limit": "20 packets"}
    link = {"rate": "8 Mbit/s", "queue": queue} | bottleneck
    topology = {"kind": "dumbbell", "bottleneck": link}
    found = warnings_of(run({"duration": duration, "topology": topology, "flows": list(flows)}))
    assert [w.severity for w in found] == sorted(
        (w.severity for w in found), key=["error", "warning", "note"].index
    )
    return [f"{w.scope} {w.id} {w.text.partition(':')[0]}" for w in found]


def test_a_plain_run_has_none() -> None:
    assert kinds(RENO, duration="60 s") == []


def test_a_flow_that_others_leave_hardly_anything_starved() -> None:
    flood = {"transport": "udp", "traffic": {"kind": "cbr", "rate": "12 Mbit/s"}, "rtt": "20 ms"}
    crushed = kinds(flood, RENO)
    assert {"flow 1 starved", "flow 1 retransmission timeouts"} <= set(crushed)
    assert not any(kind.startswith("flow 0") for kind in crushed)
    assert "flow 0 starved" not in kinds(RENO, loss="20 %")  # nobody takes its share


def test_a_flow_over_a_dead_link_delivers_nothing() -> None:
    assert "flow 0 delivered nothing" in kinds(RENO, loss="100 %")


def test_what_the_application_limits_is_said_and_is_no_starvation() -> None:
    trickle = RENO | {"traffic": {"kind": "cbr", "rate": "100 kbit/s"}}
    assert kinds(RENO, trickle) == ["flow 1 limited by the application"]
    udp = {"transport": "udp", "rtt": "20 ms", "traffic": trickle["traffic"]}
    assert kinds(udp) == []


def test_a_buffer_that_limits_is_said() -> None:
    roomy = {"queue": {"kind": "fifo", "limit": "100 packets"}}
    for buffer, limit in (("receive_buffer", "receiver"), ("send_buffer", "send buffer")):
        assert f"flow 0 limited by the {limit}" in kinds(RENO | {buffer: "20 kB"}, **roomy)
    assert not any("limited" in kind for kind in kinds(RENO, **roomy))


def test_a_transfer_that_does_not_end_is_incomplete() -> None:
    big = RENO | {"traffic": {"kind": "sized", "size": "1 GB"}}
    assert kinds(big) == ["flow 0 transfer incomplete"]
    assert kinds(RENO | {"traffic": {"kind": "sized", "size": "1 MB"}}) == []


def test_a_window_that_is_elsewhere_in_the_end_has_not_converged() -> None:
    late = RENO | {"start": "60 s", "count": 3}
    assert "flow 0 never converged" in kinds(RENO, late, duration="90 s")


def test_alike_members_are_told_once() -> None:
    many = [RunWarning("warning", "flow", str(i), f"starved: {i} Mbit/s") for i in range(6)]
    alone = RunWarning("note", "net", "", "never converged: Jain's index")
    assert brief([*many, alone]) == [
        RunWarning("warning", "flow", "0, 1, 2, 3 and 2 more", "starved"),
        alone,
    ]

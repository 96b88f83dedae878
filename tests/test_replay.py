"""Replays beside the kernel's sources: which differences are explained."""

from __future__ import annotations

import pytest

from sojourn.conformance.explained import UNEXPLAINED, Difference, explained

AN_ACK = "after an ACK: ours cwnd {}, ssthresh {}; theirs cwnd {}, ssthresh {}"
BBR = AN_ACK.format(142, 80, 144, 80)
CAKE = (
    "at a departure: ours Done { left: Some((0, 7413, NotEct)), dropped: [(0, 1), (1, 2)], "
    "marked: [] }; theirs Done { left: Some((1, 1380, NotEct)), dropped: [(0, 1), (1, 2)], "
    "marked: [] }"
)


def test_what_differs_is_read_from_what_the_core_tells() -> None:
    bbr, cake = Difference.opened(BBR, 0.0), Difference.opened(CAKE, 0.0)
    assert (bbr.event, bbr.fields) == ("after an ACK", {"cwnd by 2"})
    assert (cake.event, cake.fields) == ("at a departure", {"left"})
    both = Difference.opened(AN_ACK.format(109, 107, 111, 108), 0.0)
    assert both.fields == {"cwnd by 2", "ssthresh by 1"}
    lost = CAKE.replace("dropped: [(0, 1), (1, 2)]", "dropped: []", 1)
    assert Difference.opened(lost, 0.0).fields == {"left", "dropped"}


def test_known_differences_are_explained() -> None:
    bbr, cake = Difference.opened(BBR, 2 / 24458), Difference.opened(CAKE, 54 / 65734)
    for scenario in ("deep buffer", "timeout", "ECN"):
        assert explained("control", "bbr", scenario, bbr).startswith("a phase that drains")
    assert explained("queue", "cake", "overload", cake).startswith("a flow's quantum")


@pytest.mark.parametrize(
    ("name", "scenario", "told", "share"),
    [
        ("cubic", "deep buffer", BBR, 0.0001),
        ("bbr", "slow and long", BBR, 0.0001),
        ("bbr", "deep buffer", BBR.replace("after an ACK", "after an undo"), 0.0001),
        ("bbr", "deep buffer", AN_ACK.format(142, 80, 160, 80), 0.0001),
        ("bbr", "deep buffer", AN_ACK.format(142, 80, 144, 90), 0.0001),
        ("bbr", "deep buffer", BBR, 0.01),
        ("bbr", "deep buffer", "what a later core tells", 0.0001),
    ],
)
def test_another_difference_of_a_known_member_is_not(
    name: str, scenario: str, told: str, share: float
) -> None:
    apart = Difference.opened(told, share)
    assert explained("control", name, scenario, apart) == UNEXPLAINED


def test_a_reason_of_open_loop_explains_no_closed_one() -> None:
    apart = Difference("closed", "", frozenset({"mean_srtt_l4"}))
    assert explained("control", "bbr", "deep buffer", apart) == UNEXPLAINED

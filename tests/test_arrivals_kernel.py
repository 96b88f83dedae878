"""Arrivals beside those of the Linux kernel in virtual time: the same list of transfers on both."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from sojourn import run
from sojourn.errors import ScenarioWarning
from test_arrivals_oracles import MSS, SLOW, Numbers, listed, over, rows_of


def beside_bulk(times: list[float], sizes: list[int], start: float, backend: str) -> Numbers:
    """How long listed transfers take beside a flow that begins at ``start``."""
    queue = {"kind": "fifo", "limit": "1 bdp"}
    keys = {"cca": "cubic", "rtt": "40 ms"}
    bulk = keys | {"start": f"{start:g} s"}
    entry = keys | {"process": {"kind": "file", "time": times, "size": sizes}}
    bottleneck = {"rate": "20 Mbit/s", "queue": queue}
    document = over(bottleneck, times[-1] + 5, entry, flows=[bulk])
    rows = rows_of(run(document, backend=backend))
    assert set(rows["outcome"]) == {"finished"}
    return rows["fct"].to_numpy()


def some(transfers: int) -> tuple[list[float], list[int]]:
    """Times and payloads of a list of transfers, about a third of 20 Mbit/s."""
    random = np.random.default_rng(4)
    sizes = random.choice([10_000, 50_000, 200_000], transfers, p=[0.5, 0.3, 0.2])
    times = 1 + np.cumsum(random.exponential(1 / 12.5, transfers))
    return times.round(6).tolist(), sizes.tolist()


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_a_short_list_takes_as_long_as_on_linux() -> None:
    times, sizes = [0.1 + 0.5 * at for at in range(10)], [10_000, 50_000] * 5
    ours, theirs = (beside_bulk(times, sizes, 5.2, backend) for backend in ("sim", "kernel:6.12"))
    assert ours == pytest.approx(theirs, rel=0.01)


#: Transfers that come in fours, so that they share connections or wait for them. They have even
#: numbers of segments: of an odd one the acknowledgment waits, unless Linux's FIN follows.
TOGETHER = listed(
    [0.1 + 0.6 * (at // 4) for at in range(12)], [MSS * count for count in (14, 34, 4, 22)] * 3
)
ASKED = {"request": "500 B", "server_time": {"kind": "fixed", "mean": "30 ms"}}


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
@pytest.mark.parametrize(
    "keys",
    [
        {"connections": "pool", "pool": {"size": 2}},
        {"connections": "pool", "pool": {"protocol": "http/2"}, **ASKED},
        {"connections": "pool", "pool": {"size": 2, "idle": "200 ms"}, **ASKED},
        ASKED,
    ],
    ids=["http/1", "http/2 asked", "http/1 asked, idle", "asked"],
)
def test_pools_and_requests_are_as_on_linux(keys: dict[str, Any]) -> None:
    """The same connections and waits, and about the same times: each within a tenth, or what a
    delayed acknowledgment takes; all together within 3 %.
    """
    document = over(SLOW, 2.5, TOGETHER | keys)
    ours, theirs = (
        rows_of(run(document, backend=backend)).sort("arrival", "size")
        for backend in ("sim", "kernel:6.12")
    )
    assert set(theirs["outcome"]) == {"finished"}
    same = ["size", "variant", "group", "timeouts"]
    assert theirs.select(same).equals(ours.select(same))
    waits = [(rows["start"] - rows["arrival"]).to_list() for rows in (ours, theirs)]
    assert [wait > 1e-3 for wait in waits[0]] == [wait > 1e-3 for wait in waits[1]]
    assert waits[1] == pytest.approx(waits[0], rel=0.1, abs=0.04)
    assert theirs["fct"].to_list() == pytest.approx(ours["fct"].to_list(), rel=0.1, abs=0.04)
    assert theirs["fct"].mean() == pytest.approx(ours["fct"].mean(), rel=0.03)
    # The least of a handshake, where there is one, differs from others' by a round trip.
    ideal = [(rows["fct"] / rows["slowdown"]).to_list() for rows in (ours, theirs)]
    assert ideal[1] == pytest.approx(ideal[0], abs=1e-6)


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_transfers_that_wait_as_the_run_ends_are_told_of_on_linux_too() -> None:
    """One connection, which the first one fills."""
    entry = listed([0.1, 0.2, 0.3], [2_000_000] * 3, connections="pool", pool={"size": 1})
    with pytest.warns(ScenarioWarning):
        rows = rows_of(run(over(SLOW, 1, entry), backend="kernel:6.12"))
    assert rows["outcome"].to_list() == ["live"] * 3
    assert rows["start"].is_null().to_list() == [False, True, True]


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_datagrams_are_as_on_linux() -> None:
    """The same are lost and doubled, which is drawn by their numbers: the same transfers end, each
    within a millisecond, in the mean within 1 %; of marks as many within 5 %.
    """
    entry = {
        **{"transport": "udp", "rtt": "20 ms", "ecn": "classic", "rate": "150 /s", "stop": "2 s"},
        **{"size": {"kind": "exponential", "mean": "4 kB"}},
    }
    queue = {"kind": "codel", "ce_threshold": "4 ms"}
    link = {"rate": "10 Mbit/s", "queue": queue, "loss": "1 %", "duplicate": "2 %"}
    ours, theirs = (
        rows_of(run(over(link, 2.5, entry), backend=backend)) for backend in ("sim", "kernel:6.12")
    )
    assert set(ours["outcome"]) == {"finished", "live"}
    same = ["arrival", "size", "variant", "group", "outcome", "retransmissions", "rtt", "min_rtt"]
    assert theirs.select(same).equals(ours.select(same))
    both = [rows.filter(pl.col("outcome") == "finished")["fct"] for rows in (ours, theirs)]
    assert both[1].to_list() == pytest.approx(both[0].to_list(), abs=1e-3)
    assert both[1].mean() == pytest.approx(both[0].mean(), rel=0.01)
    assert theirs["marks"].sum() == pytest.approx(ours["marks"].sum(), rel=0.05)


@pytest.mark.long
@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_a_list_beside_a_bulk_flow_takes_as_long_as_on_linux() -> None:
    """Each start of the bulk flow has losses of its own, SYNs among them. With so many transfers,
    chance makes 1 % between the two means.
    """
    ours, theirs = (
        np.array([beside_bulk(*some(1_000), 0.04 * start, backend) for start in range(10)])
        for backend in ("sim", "kernel:6.12")
    )
    assert ours.mean() == pytest.approx(theirs.mean(), rel=0.03)
    kernels = np.quantile(theirs, 0.95, axis=1)
    assert kernels.min() <= np.quantile(ours, 0.95) <= kernels.max()

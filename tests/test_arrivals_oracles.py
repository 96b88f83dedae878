"""Transfers that come and go, beside exact queues of the same arrivals and closed forms."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from sojourn import Result, run
from sojourn.errors import ScenarioWarning
from sojourn.metrics.warnings import warnings_of
from sojourn.oracles.queueing import lindley, mean_present, pk_md1, ps
from sojourn.statistics import mean_interval

MSS = 1448
#: Headers of a data segment, and both packets of a sender's handshake.
HEADERS, HANDSHAKE = 52, 60 + 52
RATE = 100e6
RTT = 1e-3
#: Payloads of a mixture, each with its share of the transfers.
SIZES = {50_000: 0.5, 200_000: 0.3, 1_000_000: 0.2}
#: Nothing is dropped, and turns are short.
SHARED = {"kind": "fq_codel", "quantum": "300 B", "target": "100 s", "flows": 65_536}
TCP = {"cca": "cubic", "rtt": "20 ms"}

Numbers = NDArray[np.float64]


def wire(sizes: Any) -> Numbers:
    """Bytes that transfers put on a link without framing."""
    payload = np.asarray(sizes, dtype=float)
    return payload + HEADERS * np.ceil(payload / MSS) + HANDSHAKE


def over(bottleneck: dict[str, Any], duration: float, *entries: dict[str, Any], **keys: Any) -> Any:
    """A scenario of a dumbbell and these entries of arrivals."""
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    return {"duration": f"{duration:g} s", "topology": topology, "arrivals": [*entries], **keys}


@cache
def shared(load: float, transfers: int) -> Result:
    """About so many transfers over a fair queue, at this share of its rate with all headers.

    An entry for each size: together they are a Poisson process, too.
    """
    mean = sum(share * wire(size) for size, share in SIZES.items())
    rate = load * RATE / 8 / float(mean)
    stop = round(transfers / rate, 3)
    entries = [
        {
            **{"label": f"{size} B", "size": f"{size} B", "rate": f"{share * rate:.6f} /s"},
            **{"cca": "cubic", "rtt": f"{RTT * 1e3:g} ms", "stop": f"{stop:g} s"},
        }
        for size, share in SIZES.items()
    ]
    bottleneck = {"rate": f"{RATE / 1e6:g} Mbit/s", "overhead": "0 B", "queue": SHARED}
    return run(over(bottleneck, stop + 10, *entries, sample_interval="10 ms"))


def rows_of(result: Result) -> pl.DataFrame:
    """Its transfers in the order of their arrivals, with the time that each took."""
    fct = (pl.col("completed") - pl.col("arrival")).alias("fct")
    return result.transfers.sort("arrival").with_columns(fct)


def counts_of(result: Result) -> pl.DataFrame:
    """The entries' counts at each sample, added up."""
    samples = pl.DataFrame(dict(result.data.tables["arrival_samples"]))
    return samples.group_by("time").sum().sort("time")


def compare_with_sharing(load: float, transfers: int, within: float) -> None:
    """All transfers together, and those of each size, take as long as in the exact queue."""
    rows = rows_of(shared(load, transfers))
    assert set(rows["outcome"]) == {"finished"}
    arrivals = rows["arrival"].to_numpy()
    expected = ps(arrivals, wire(rows["size"]) * 8 / RATE) - arrivals
    # A round trip for the handshake, another one for the first byte and the last acknowledgment.
    rows = rows.with_columns(pl.col("fct") - 2 * RTT, expected=expected)
    for name, group in [(("all",), rows), *rows.group_by("size")]:
        ratio = group["fct"].sum() / group["expected"].sum()
        assert ratio == pytest.approx(1, abs=within), (load, name, len(group))


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_transfers_share_a_fair_queue_as_jobs_share_a_processor(load: float) -> None:
    """Of the least transfers, of 35 packets, a turn is some per cent of their time."""
    compare_with_sharing(load, 2_000, within=0.02)


@pytest.mark.long
@pytest.mark.parametrize(("load", "transfers"), [(0.3, 40_000), (0.6, 100_000), (0.8, 300_000)])
def test_transfers_that_share_take_one_by_what_is_left(load: float, transfers: int) -> None:
    """M/G/1-PS: transfers of any size take 1 / (1 - load) times as long as alone. There are so many
    that the mean's own interval is below 5 %.
    """
    compare_with_sharing(load, transfers, within=0.02)
    rows = rows_of(shared(load, transfers))
    took = (rows["fct"].to_numpy() - 2 * RTT) * (1 - load)
    alone = (wire(rows["size"]) * 8 / RATE).mean()
    interval = mean_interval([batch.mean() for batch in np.array_split(took / alone, 20)])
    assert interval is not None
    assert interval.high - interval.low < 2 * 0.05
    assert took.mean() / alone == pytest.approx(1, abs=0.05)
    shared.cache_clear()


def test_every_transfer_and_every_byte_is_counted_once() -> None:
    result = shared(0.6, 2_000)
    rows, counts = rows_of(result), counts_of(result)
    last = counts.row(-1, named=True)
    assert last["arrived"] == last["finished"] == len(rows)
    assert (last["live"], last["failed"], last["connections"]) == (0, 0, 0)
    assert last["offered_bytes"] == last["carried_bytes"] == rows["size"].sum()
    sent = result.series.links.filter(pl.col("link") == 0)["sent_bytes"].sum()
    assert sent == wire(rows["size"]).sum()
    # At every instant those are under way that have arrived and are not complete.
    times = counts["time"].to_numpy()
    came = np.searchsorted(rows["arrival"].to_numpy(), times, side="right")
    went = np.searchsorted(np.sort(rows["completed"].to_numpy()), times, side="right")
    assert counts["arrived"].to_list() == came.tolist()
    assert counts["live"].to_list() == (came - went).tolist()


def test_littles_law() -> None:
    """Transfers under way, as samples count them, are the rate times what each takes."""
    result = shared(0.6, 2_000)
    rows, counts = rows_of(result), counts_of(result)
    duration = counts["time"][-1]
    little = len(rows) / duration * rows["fct"].mean()
    assert counts["live"].mean() == pytest.approx(little, rel=0.01)
    present = mean_present(rows["arrival"], rows["completed"], 0, duration)
    assert present == pytest.approx(little)


def test_slowdown_is_by_two_round_trips_and_the_bytes_on_the_wire() -> None:
    rows = rows_of(shared(0.3, 2_000))
    data = wire(rows["size"]) - HANDSHAKE
    expected = rows["fct"].to_numpy() / (2 * RTT + data * 8 / RATE)
    assert rows["slowdown"].to_numpy() == pytest.approx(expected, rel=1e-6)
    assert rows["slowdown"].min() >= 1


#: Of a datagram of 1000 B, with IP, UDP and the link's framing, at 10 Mbit/s; ns.
SERVICE = (1000 + 28 + 38) * 800


def datagrams(load: float, transfers: int) -> pl.DataFrame:
    """Transfers of a datagram each, in the order of their arrivals, in ns."""
    rate = load * 1e9 / SERVICE
    stop = round(transfers / rate, 3)
    entry = {
        **{"transport": "udp", "size": "1000 B", "rate": f"{rate:.6f} /s", "rtt": "2 ms"},
        **{"stop": f"{stop:g} s"},
    }
    queue = {"kind": "fifo", "limit": "100000 packets"}
    link = {"rate": "10 Mbit/s", "overhead": "38 B", "queue": queue}
    rows = run(over(link, stop + 1, entry)).transfers.sort("arrival")
    assert set(rows["outcome"]) == {"finished"}
    return rows.with_columns((pl.col("arrival", "completed") * 1e9).round().cast(pl.Int64))


def waits(rows: pl.DataFrame) -> NDArray[np.int64]:
    """How long each waited at the bottleneck, ns: half a round trip is not its wait."""
    fct = (rows["completed"] - rows["arrival"]).to_numpy()
    found: NDArray[np.int64] = fct - SERVICE - 1_000_000
    return found


def test_datagrams_wait_as_lindley_says() -> None:
    rows = datagrams(0.8, 20_000)
    assert len(rows) == pytest.approx(20_000, rel=0.03)
    expected = lindley(rows["arrival"].to_numpy(), np.full(len(rows), SERVICE))
    assert np.abs(waits(rows) - expected).max() <= 1
    slowdown = 1 + expected / (SERVICE + 1_000_000)
    assert rows["slowdown"].to_numpy() == pytest.approx(slowdown, rel=1e-6)


@pytest.mark.long
def test_datagrams_wait_as_pollaczek_and_khinchine_say() -> None:
    rows = datagrams(0.8, 1_000_000)
    expected = lindley(rows["arrival"].to_numpy(), np.full(len(rows), SERVICE))
    assert np.abs(waits(rows) - expected).max() <= 1
    assert waits(rows).mean() / SERVICE == pytest.approx(pk_md1(0.8), rel=0.02)


def listed(times: list[float], sizes: list[int], **keys: Any) -> dict[str, Any]:
    return TCP | {"process": {"kind": "file", "time": times, "size": sizes}, **keys}


SLOW = {"rate": "10 Mbit/s", "queue": {"kind": "fifo", "limit": "100 packets"}}


def all_sizes(result: Result) -> dict[str, Any]:
    """The metrics of an only entry."""
    [found] = [one for one in result.to_json()["transfers"] if one["sizes"] is None]
    metrics: dict[str, Any] = found["metrics"]
    return metrics


def test_nothing_arrives_from_stop_on_and_the_run_drains() -> None:
    every = {"process": "deterministic", "rate": "10 /s", "start": "500 ms", "stop": "1 s"}
    rows = run(over(SLOW, 3, TCP | every | {"size": "100 kB"})).transfers.sort("arrival")
    assert rows["arrival"].to_list() == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9])
    assert set(rows["outcome"]) == {"finished"}
    assert rows["completed"].max() > 1


def test_metrics_are_of_those_that_arrive_after_the_warmup() -> None:
    entry = listed([0.2, 0.9, 1.0, 1.5], [10_000, 500_000, 10_000, 20_000])
    result = run(over(SLOW, 3, entry, warmup="1 s"))
    rows, metrics = rows_of(result), all_sizes(result)
    assert len(rows) == 4
    assert rows["completed"][1] > 1
    assert (metrics["count"], metrics["unfinished"]) == (2, 0)
    assert metrics["fct_mean"] == pytest.approx(rows["fct"][2:].mean())


def test_what_is_unfinished_counts_with_its_age_and_is_told() -> None:
    with pytest.warns(ScenarioWarning, match="process: with headers"):  # as for other open loops
        result = run(over(SLOW, 4, listed([0.5, 2.0], [10_000, 100_000_000])))
    rows, metrics = rows_of(result), all_sizes(result)
    assert rows["outcome"].to_list() == ["finished", "live"]
    assert rows["completed"].null_count() == 1
    assert (metrics["count"], metrics["unfinished"]) == (2, 1)
    assert metrics["fct_mean"] == pytest.approx((rows["fct"][0] + 2.0) / 2)
    assert any("1 of 2 transfers (50" in warning.text for warning in warnings_of(result))


def test_more_than_a_link_carries_is_warned_of_with_headers_and_handshakes() -> None:
    """Of 1448 B each: 66 more for their packet, 140 for the handshake's two, which makes 1.07."""
    entry = TCP | {"size": "1448 B", "load": 0.94}
    with pytest.warns(ScenarioWarning, match=r"load: with headers, .* 1\.07 of the rate of link"):
        result = run(over(SLOW, 0.1, entry))
    [told] = result.data.network["arrivals"]
    assert told["rate"] == pytest.approx(0.94 * 10e6 / 8 / 1448)
    assert told["wire_bytes"] == pytest.approx(1448 + 66 + 140)


def test_a_load_is_what_is_offered() -> None:
    """Of web searches, within three standard deviations of so few."""
    result = run(over(SLOW, 600, TCP | {"size": "web-search", "load": 0.6}))
    assert result.data.network["arrivals"][0]["mean_size"] == pytest.approx(1_711_250)
    sizes = result.transfers["size"].to_numpy().astype(float)
    spread = np.sqrt((sizes**2).sum())
    assert abs(sizes.sum() - 0.6 * 10e6 / 8 * 600) < 3 * spread

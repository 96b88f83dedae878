"""The page on Wi-Fi: the simulator beside closed forms, with its errors, and who holds the air.

``python -m sojourn.pages.wifi`` runs what it tells of and writes ``docs/wifi.md`` and its figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn import data
from sojourn.engine import run
from sojourn.pages import wifi_models as models
from sojourn.pages.wifi_text import BEGIN, END, NS3

_PAYLOAD = 1472
_PACKET = _PAYLOAD + 28
_SEGMENT = 1448
Document = dict[str, Any]


@dataclass(frozen=True)
class Oracle:
    """A number that is known, and the run that should give it."""

    name: str
    #: Largest relative error.
    within: float
    expected: float
    scenario: Document

    def measured(self) -> float:
        """Goodput of all flows, Mbit/s."""
        result = run(self.scenario, metrics=["mean_throughput_l4"])
        return float(result.flows["mean_throughput_l4"].sum())


def scenario(
    medium: Mapping[str, Any], flows: Sequence[Document], stations: int, seconds: float
) -> Document:
    """Stations ``s0``, ``s1``, ... and ``ap`` on a medium with these keys."""
    links = [{"id": f"l{n}", "from": f"s{n}", "to": "ap", "medium": "air"} for n in range(stations)]
    return {
        "duration": f"{seconds:g} s",
        "warmup": "500 ms",
        "media": [{"id": "air", "kind": "wifi", **medium}],
        "topology": {"kind": "graph", "links": links},
        "flows": list(flows),
    }


def datagrams(source: str, rate: str) -> Document:
    """A flow that sends more than the medium carries."""
    traffic = {"kind": "cbr", "rate": rate, "size": f"{_PAYLOAD} B"}
    return {
        "from": source,
        "to": "ap",
        "rtt": "0 s",
        "transport": "udp",
        "mss": _PAYLOAD,
        "traffic": traffic,
    }


def _contention(
    law: Callable[..., float], mode: str, within: float, counts: Sequence[int], seconds: float
) -> Iterator[Oracle]:
    for stations in counts:
        rate = f"{90_000 // stations} kbit/s"
        flows = [datagrams(f"s{n}", rate) for n in range(stations)]
        expected = law(models.A, _PACKET, _PAYLOAD, stations)
        keys = {"standard": "a", "contention": mode}
        name = f"{law.__name__.capitalize()}, {stations} stations"
        yield Oracle(name, within, expected, scenario(keys, flows, stations, seconds))


def _aggregation(seconds: float) -> Iterator[Oracle]:
    plain = [(models.A, 1), (models.G, 1)]
    for phy, frames in [*plain, (models.N, 1), (models.N, 16), (models.N, 40), (models.AC, 64)]:
        keys = {"standard": phy.name, "frames": frames}
        expected = models.udp(phy, _PACKET, _PAYLOAD, frames)
        rate = "850 Mbit/s" if phy.qos else "60 Mbit/s"
        name = f"UDP, {phy.name}, {frames} MPDU in a frame"
        yield Oracle(name, 0.02, expected, scenario(keys, [datagrams("s0", rate)], 1, seconds))


def _tcp(seconds: float) -> Iterator[Oracle]:
    for phy, frames in [(models.N, 16), (models.N, 32), (models.AC, 32)]:
        flow = {
            "from": "s0",
            "to": "ap",
            "rtt": "0 s",
            "cca": {"kind": "fixed-window", "window": "1000 packets"},
        }
        keys = {"standard": phy.name, "frames": frames}
        expected = models.tcp(phy, _SEGMENT + 52, _SEGMENT, frames)
        name = f"TCP, {phy.name}, {frames} MPDU in a frame"
        yield Oracle(name, 0.10, expected, scenario(keys, [flow], 1, seconds))


def oracles(counts: Sequence[int] = (1, 2, 5, 10, 20, 50), seconds: float = 8.0) -> list[Oracle]:
    """All of them."""
    return [
        *_contention(models.bianchi, "bianchi", 0.03, counts, seconds),
        *_contention(models.tinnirello, "standard", 0.03, counts, seconds),
        *_aggregation(min(seconds, 3.0)),
        *_tcp(min(seconds, 4.0)),
    ]


def _table() -> Iterator[str]:
    yield "| case | closed form (Mbit/s) | simulator | error | aim |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for oracle in oracles():
        measured = oracle.measured()
        error = measured / oracle.expected - 1
        said = f"{100 * error:+.1f} %"
        said = said if abs(error) <= oracle.within else f"**{said}**"
        aim = f"{100 * oracle.within:.0f} %"
        yield f"| {oracle.name} | {oracle.expected:.2f} | {measured:.2f} | {said} | {aim} |"


def anomaly() -> Iterator[str]:
    """One slow station among three, behind an access point that takes turns either way."""
    yield "| turns at the access point | fast | fast | slow | airtime of the slow one |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    slow = {"s2": {"mcs": 0, "streams": 1}}
    for queueing, turns in (("driver", "by frames"), ("mac80211", "by airtime")):
        medium = {"standard": "n", "queueing": queueing, "stations": slow, "frames": 32}
        flows = [{**datagrams("ap", "150 Mbit/s"), "to": f"s{n}"} for n in range(3)]
        metrics = ["mean_throughput_l4", "airtime_l1"]
        result = run(scenario(medium, flows, 3, 5.0), metrics=metrics)
        fast, other, last = result.flows["mean_throughput_l4"]
        airtimes = dict(zip(result.links["id"], result.links["airtime_l1"], strict=True))
        share = airtimes["l2_reverse"]
        yield f"| {turns} | {fast:.1f} | {other:.1f} | {last:.1f} | {100 * share:.0f} % |"


def main() -> None:
    """Writes the page."""
    text = [BEGIN, "\n".join(_table()), END, "\n".join(anomaly()), NS3]
    path = data.checkout() / "docs" / "wifi.md"
    path.write_text("\n\n".join(text) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""The page on Wi-Fi: the simulator beside closed forms, with its errors, and who holds the air.

``python -m tools.pages.wifi`` runs what it tells of and writes ``docs/wifi.md`` and its figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sojourn import data
from sojourn.result import run
from sojourn.scenario import Document
from tools.pages import wifi_figures, wifi_home
from tools.pages import wifi_models as models
from tools.pages import wifi_ns3 as ns3
from tools.pages.wifi_scenario import PAYLOAD, datagrams, scenario
from tools.pages.wifi_text import TEXT

_PACKET = PAYLOAD + 28
_SEGMENT = 1448


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


def _contention(
    law: Callable[..., float], mode: str, within: float, counts: Sequence[int], seconds: float
) -> Iterator[Oracle]:
    for stations in counts:
        rate = f"{90_000 // stations} kbit/s"
        flows = [datagrams(f"s{n}", rate) for n in range(stations)]
        expected = law(models.A, _PACKET, PAYLOAD, stations)
        keys = {"standard": "a", "contention": mode}
        told = law.__name__.capitalize().replace("_", " ")
        name = f"{told}, {stations} stations"
        yield Oracle(name, within, expected, scenario(keys, flows, stations, seconds))


def _aggregation(seconds: float) -> Iterator[Oracle]:
    plain = [(models.A, 1), (models.G, 1)]
    for phy, frames in [*plain, (models.N, 1), (models.N, 16), (models.N, 40), (models.AC, 64)]:
        keys = {"standard": phy.name, "frames": frames}
        expected = models.udp(phy, _PACKET, PAYLOAD, frames)
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
        *_contention(models.head_start, "standard", 0.03, counts[1:], seconds),
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


def beside_ns3() -> Iterator[str]:
    """Goodput that ns-3 gave (``make compare-ns3``), and ours."""
    yield "| set-up | ns-3 (Mbit/s) | simulator | difference | processor time of ns-3 (s) |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for row in ns3.published():
        measured = ns3.measured(row)
        difference = f"{100 * (measured / row.goodput - 1):+.1f} %"
        told = f"{row.goodput:.1f} | {measured:.1f} | {difference} | {row.processor_time:.0f}"
        yield f"| {row.name} | {told} |"


def main() -> None:
    """Writes the page."""
    docs = data.checkout() / "docs"
    found = wifi_figures.results()
    wifi_figures.draw(found, docs / "wifi")
    tables = {
        "closed_forms": _table(),
        "anomaly": wifi_figures.table(found),
        "ns3": beside_ns3(),
        **{f"home_{room}": wifi_home.table(room) for room in wifi_home.ROOMS},
    }
    text = TEXT
    for name, lines in tables.items():
        text = text.replace(f"<!-- {name} -->", "\n".join(lines))
    (docs / "wifi.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

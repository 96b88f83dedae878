"""The page on Wi-Fi: the simulator beside closed forms, with its errors, and who holds the air.

``python -m tools.pages.wifi`` runs what it tells of, and writes ``wifi/`` (tables, figures) and
``wifi.md``, which is rendered from the tables, in ``docs/explanation/``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sojourn.result import run
from sojourn.scenario import Document
from tools.pages import kept, wifi_figures, wifi_home
from tools.pages import wifi_models as models
from tools.pages import wifi_ns3 as ns3
from tools.pages.wifi_scenario import PAYLOAD, datagrams, scenario

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


def closed_forms() -> Iterator[kept.Measured]:
    """A row for each oracle."""
    for oracle in oracles():
        sides = {"expected": oracle.expected, "measured": oracle.measured()}
        yield {"case": oracle.name, **sides, "within": oracle.within}


def _table(rows: Sequence[kept.Row]) -> Iterator[str]:
    yield "| case | closed form (Mbit/s) | simulator | error | aim |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for row in rows:
        expected, measured, within = (float(row[k]) for k in ("expected", "measured", "within"))
        error = measured / expected - 1
        said = f"{100 * error:+.1f} %"
        said = said if abs(error) <= within else f"**{said}**"
        aim = f"{100 * within:.0f} %"
        yield f"| {row['case']} | {expected:.2f} | {measured:.2f} | {said} | {aim} |"


def page() -> str:
    """The page of what is stored."""
    forms, anomaly, home = (kept.rows("wifi", t) for t in ("closed-forms", "anomaly", "home"))

    def more(stations: int) -> str:
        """What the head start adds to the model's throughput, in percent."""
        laws = ("Head start", "Tinnirello")
        cases = (kept.one(forms, case=f"{law}, {stations} stations") for law in laws)
        with_it, without = (float(case["expected"]) for case in cases)
        return f"{100 * (with_it / without - 1):.1f}"

    return kept.render(
        "wifi",
        stamp=kept.stamp("wifi"),
        closed_forms="\n".join(_table(forms)),
        more=more,
        anomaly="\n".join(wifi_figures.table(anomaly)),
        airtime=lambda turns: f"{100 * wifi_figures.airtime(anomaly, turns):.0f}",
        home=lambda room: "\n".join(wifi_home.table(home, room)),
        download=lambda room, at: float(kept.one(home, room=room, at=at)[wifi_home.DOWNLOAD]),
        seeds=len(wifi_home.SEEDS),
        ns3="\n".join(ns3.table(kept.rows("wifi", "ns3"))),
    )


def main() -> None:
    """Measures, and writes the tables, the figures and the page."""
    found = wifi_figures.results()
    wifi_figures.draw(found, kept.explanation() / "wifi")
    tables = {
        "closed-forms": list(closed_forms()),
        "anomaly": list(wifi_figures.rows(found)),
        "home": list(wifi_home.rows()),
        "ns3": list(ns3.rows()),
    }
    kept.store("wifi", "python -m tools.pages.wifi", tables)
    kept.put("wifi", page())


if __name__ == "__main__":
    main()

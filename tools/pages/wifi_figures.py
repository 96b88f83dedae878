"""The rate anomaly and its repair: one slow station among three, in a table and two figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sojourn.figures.air import air
from sojourn.figures.chart import Chart, Line, Panel, color_of
from sojourn.figures.paper import render
from sojourn.measured import Measured
from sojourn.result import run
from sojourn.scenario import Document
from tools.pages import kept

_DPI = 90
#: How the access point's receivers take turns, by ``queueing``.
_TURNS = {"driver": "by frames", "mac80211": "by airtime"}
_STATIONS = ("fast", "fast too", "slow")


def scenario(queueing: str, duration: str) -> Document:
    """More datagrams for each of three stations over 802.11n than fit, the third at MCS 0."""
    slow = {"slow": {"mcs": 0, "streams": 1}}
    medium = {"id": "air", "kind": "wifi", "standard": "n", "queueing": queueing, "stations": slow}
    links = [{"id": name, "from": name, "to": "ap", "medium": "air"} for name in _STATIONS]
    traffic = {"kind": "poisson", "rate": "100 Mbit/s"}
    flow = {"from": "ap", "rtt": "0 s", "transport": "udp", "traffic": traffic}
    return {
        "duration": duration,
        "warmup": "1 s",
        "record": ["queue"],
        "media": [medium],
        "topology": {"kind": "graph", "links": links},
        "flows": [{**flow, "to": name} for name in _STATIONS],
    }


def results(duration: str = "20 s") -> Mapping[str, Measured]:
    """A run for each way to take turns."""
    metrics = ["mean_throughput_l4", "airtime_l1", "mean_srtt_l4"]
    return {turns: run(scenario(of, duration), metrics=metrics) for of, turns in _TURNS.items()}


def rows(found: Mapping[str, Measured]) -> Iterator[kept.Measured]:
    """A row for each station and way: goodput in Mbit/s, and the share of the air."""
    for turns, result in found.items():
        goodput = map(float, result.flows["mean_throughput_l4"])
        for of in zip(_STATIONS, goodput, _airtimes(result), strict=True):
            yield {"turns": turns, **dict(zip(("station", "goodput", "airtime"), of, strict=True))}


def table(stored: Sequence[kept.Row]) -> Iterator[str]:
    """A line for each way."""
    head = " | ".join(_STATIONS)
    yield f"| turns at the access point | {head} | sum | airtime of the slow one |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    for turns in _TURNS.values():
        goodput = [float(row["goodput"]) for row in stored if row["turns"] == turns]
        cells = [f"{value:.1f}" for value in (*goodput, sum(goodput))]
        yield f"| {turns} | {' | '.join(cells)} | {100 * airtime(stored, turns):.0f} % |"


def airtime(stored: Sequence[kept.Row], turns: str) -> float:
    """The share of the air that the slow station has."""
    return float(kept.one(stored, turns=turns, station=_STATIONS[-1])["airtime"])


def _airtimes(result: Measured) -> list[float]:
    """The share of each station's downlink."""
    of = dict(zip(result.links["id"], result.links["airtime_l1"], strict=True))
    return [of[f"{name}_reverse"] for name in _STATIONS]


def draw(found: Mapping[str, Measured], directory: Path) -> None:
    """Writes ``anomaly.png`` and ``air.png``."""
    directory.mkdir(exist_ok=True)
    charts = {"anomaly": _shares(found), "air": _held(found)}
    for name, chart in charts.items():
        path = directory / f"{name}.png"
        render(chart).savefig(path, dpi=_DPI, metadata={"Software": None})


def _shares(found: Mapping[str, Measured]) -> Chart:
    measures: Mapping[str, Callable[[Measured], list[float]]] = {
        "Goodput (Mbit/s)": lambda result: list(result.flows["mean_throughput_l4"]),
        "Airtime of its downlink (%)": lambda result: [100 * x for x in _airtimes(result)],
    }
    places = [float(index) for index in range(len(_STATIONS))]
    ticks = list(zip(places, _STATIONS, strict=True))
    panels = []
    for label, measure in measures.items():
        lines = [
            Line(turns, places, measure(result), color_of(index), "mark")
            for index, (turns, result) in enumerate(found.items())
        ]
        panels.append(Panel("", label, lines, ticks=ticks))
    return Chart("One slow station among three", "", panels)


def _held(found: Mapping[str, Measured]) -> Chart:
    panels = [
        replace(panel, title=f"turns {turns}")
        for turns, result in found.items()
        for panel in air(result).panels
    ]
    return Chart("Who holds the air", "", panels, stacked=True)

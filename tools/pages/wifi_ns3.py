"""Three set-ups that ns-3 has run as well (``benches/ns3_wifi.py``); what it gave is stored."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sojourn import data
from sojourn.result import run
from tools.pages import kept
from tools.pages.wifi_scenario import datagrams, scenario

#: Seconds of each run; the first is not counted in either.
SECONDS = 4.0
#: Standard, stations, bytes of an A-MPDU.
SETUPS = [("a", 5, 0), ("n", 1, 65_535), ("ac", 3, 262_143)]
_FILE = "reference/ns3/wifi.csv"
_COLUMNS = ("standard", "stations", "ampdu", "goodput", "processor_time")


@dataclass(frozen=True)
class Published:
    """What ns-3 gave."""

    standard: str
    stations: int
    ampdu: int
    #: UDP goodput of all, Mbit/s.
    goodput: float
    #: Seconds that it took.
    processor_time: float

    @property
    def name(self) -> str:
        """As the page says it."""
        aggregates = f", A-MPDUs of {self.ampdu:,} B" if self.ampdu else ""
        return f"802.11{self.standard}, stations: {self.stations}{aggregates}"


def published() -> Iterator[Published]:
    """The stored rows."""
    with data.path(_FILE).open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            whole = (int(row[key]) for key in ("stations", "ampdu"))
            yield Published(row["standard"], *whole, *(float(row[k]) for k in _COLUMNS[3:]))


def store(rows: list[Published]) -> None:
    """Writes them anew."""
    with data.path(_FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_COLUMNS)
        writer.writerows([getattr(row, column) for column in _COLUMNS] for row in rows)


def measured(row: Published) -> float:
    """Goodput of the same here, Mbit/s."""
    keys = {"standard": row.standard, "airtime": "5484 us"}
    if row.ampdu:
        keys["bytes"] = f"{row.ampdu} B"
    rate = "40 Mbit/s" if row.standard == "a" else "850 Mbit/s"
    flows = [datagrams(f"s{n}", rate) for n in range(row.stations)]
    document = scenario(keys, flows, row.stations, SECONDS) | {"warmup": "1 s"}
    result = run(document, metrics=["mean_throughput_l4"])
    return float(result.flows["mean_throughput_l4"].sum())


def rows() -> Iterator[kept.Measured]:
    """Goodput here."""
    for row in published():
        yield {"set-up": row.name, "goodput": measured(row)}


def table(stored: Sequence[kept.Row]) -> Iterator[str]:
    """Both, set-up by set-up."""
    yield "| set-up | ns-3 (Mbit/s) | simulator | difference |"
    yield "| --- | ---: | ---: | ---: |"
    for row in published():
        goodput = float(kept.one(stored, **{"set-up": row.name})["goodput"])
        difference = f"{100 * (goodput / row.goodput - 1):+.1f} %"
        yield f"| {row.name} | {row.goodput:.1f} | {goodput:.1f} | {difference} |"

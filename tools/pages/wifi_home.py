"""The home of ``experiments/catalogue/home.toml``: what FQ-CoDel does in each place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from sojourn import data
from sojourn.result import run
from tools.pages import kept

_FILE = "experiments/catalogue/home.toml"
#: What gives each place FQ-CoDel; the access point has it unless it is taken away.
_PLACES: Mapping[str, str] = {
    "access point": "",
    "line down": "topology.links.4.queue='fq-codel'",
    "line up": "topology.links.5.queue='fq-codel'",
}
_PLAIN = "media.0.stations.ap.queueing='driver'"
#: Seeds; a cell is the mean over them.
SEEDS = range(1, 6)
DOWNLOAD = "download (Mbit/s)"
#: Flows by label, the metric of theirs, and how it is told.
_COLUMNS = (
    ("call in (ms)", "call, in", "mean_one_way_delay_l7", ".0f"),
    ("call out (ms)", "call, out", "mean_one_way_delay_l7", ".0f"),
    ("web page (s)", "web page", "flow_completion_time_l4", ".1f"),
    (DOWNLOAD, "download", "mean_throughput_l4", ".1f"),
    ("camera (Mbit/s)", "camera", "mean_throughput_l4", ".1f"),
)


#: Where the laptop is, by what is set for it.
ROOMS: Mapping[str, str] = {"far": "12 dB", "near": "30 dB"}


def rows() -> Iterator[kept.Measured]:
    """A row for each room and choice of places."""
    chosen = [(), *((place,) for place in _PLACES), ("line down", "line up"), tuple(_PLACES)]
    for room in ROOMS:
        for places in chosen:
            cells = zip((name for name, *_ in _COLUMNS), _measured(places, room), strict=True)
            yield {"room": room, "at": ", ".join(places) or "none", **dict(cells)}


def table(stored: Sequence[kept.Row], room: str) -> Iterator[str]:
    """A line for each choice of places, with the laptop in one of ``ROOMS``."""
    yield f"| FQ-CoDel at | {' | '.join(name for name, *_ in _COLUMNS)} |"
    yield f"| --- |{' ---: |' * len(_COLUMNS)}"
    for row in stored:
        if row["room"] == room:
            cells = (format(float(row[name]), how) for name, *_, how in _COLUMNS)
            yield f"| {row['at']} | {' | '.join(cells)} |"


def _measured(places: Sequence[str], room: str) -> list[float]:
    overrides = [_PLACES[place] for place in places if _PLACES[place]]
    # Who has the air is not looked at here.
    overrides += [f"media.0.stations.laptop.snr='{ROOMS[room]}'", "record=[]"]
    if "access point" not in places:
        overrides.append(_PLAIN)
    metrics = sorted({metric for _, _, metric, _ in _COLUMNS})
    results = [run(data.path(_FILE), overrides=overrides, seed=s, metrics=metrics) for s in SEEDS]
    return [
        fmean(
            float(value)
            for result in results
            for of, value in zip(result.flows["label"], result.flows[metric], strict=True)
            if of == label and value is not None
        )
        for _, label, metric, _ in _COLUMNS
    ]

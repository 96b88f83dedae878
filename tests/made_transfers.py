"""Runs with transfers made by hand, over one link of 10 Mbit/s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from made_runs import run_of
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.scenario import Scenario

#: Entry, arrival (s), completion time (s, ``None`` if it was not finished), size (B).
Transfer = tuple[int, float, float | None, int]
FINISHED, LIVE, FAILED = range(3)
#: Of each transfer, the least possible time (s).
IDEAL = 0.1


def run_of_transfers(
    transfers: Sequence[Transfer],
    *,
    labels: Sequence[str] = ("web",),
    entry: dict[str, Any] | None = None,
    flows: int = 1,
    duration: int = 10,
    warmup: str = "0 s",
    failed: Sequence[int] = (),
    counts: Sequence[Sequence[dict[str, float]]] = (),
) -> RunData:
    """``failed`` are the places of those that failed; ``counts`` has, for each second, the columns
    of ``arrival_samples`` of each entry that are not zero; ``entry`` has further keys of entries.
    """
    plain = run_of([[125_000.0] * flows] * duration, interval=1.0, warmup=warmup)
    keys = {"cca": {"kind": "cubic"}, "start": "0 s", **(entry or {})}
    arrivals = [{"label": label, **keys} for label in labels]
    told = {"mean_size": 1000.0, "wire_bytes": 1100.0, "rate": 1.0, "link": 0, "variants": []}
    scenario = {
        **{"seed": 1, "stack": "linux-6", "name": "made", "duration": f"{duration} s"},
        **{"topology": {"kind": "dumbbell", "bottleneck": {"rate": "10 Mbit/s"}}},
        **plain.scenario,
        "arrivals": arrivals,
    }
    network: Any = {**plain.network, "arrivals": [{"label": name, **told} for name in labels]}
    tables = {
        **plain.tables,
        "transfers": _rows(transfers, duration, failed),
        "arrival_samples": _samples(counts or [[{}] * len(labels)] * duration),
    }
    return replace(plain, scenario=scenario, network=network, tables=tables)


def measured(run: RunData) -> Measured:
    scenario = dict(run.scenario)
    timing = {"simulated_seconds": 1.0, "wall_seconds": 1.0, "events": 1.0, "data_packets": 1.0}
    return Measured(Scenario(scenario, scenario), run, timing)


def _rows(transfers: Sequence[Transfer], end: float, failed: Sequence[int]) -> dict[str, Any]:
    entries, arrivals, took, sizes = ([row[at] for row in transfers] for at in range(4))
    arrival = np.array(arrivals, dtype=float)
    duration = np.array([np.nan if t is None else t for t in took], dtype=float)
    outcome = np.where(np.isnan(duration), LIVE, FINISHED)
    outcome[list(failed)] = FAILED
    age = np.where(np.isnan(duration), end - arrival, duration)
    zeros = np.zeros(len(transfers), dtype=np.int64)
    names = ("variant", "group", "retransmissions", "timeouts", "marks")
    return {
        **dict.fromkeys(names, zeros),
        **{"arrivals": np.array(entries, dtype=np.int64), "size": np.array(sizes, dtype=np.int64)},
        **{"arrival": arrival, "start": arrival, "completed": arrival + duration},
        **{"slowdown": age / IDEAL, "rtt": duration, "min_rtt": duration},
        "outcome": outcome.astype(np.int64),
    }


def _samples(counts: Sequence[Sequence[dict[str, float]]]) -> dict[str, Any]:
    names = ("arrived", "offered_bytes", "finished", "failed", "carried_bytes", "live")
    every = [
        (second, entry, of) for second, s in enumerate(counts, 1) for entry, of in enumerate(s)
    ]
    return {
        "time": np.array([float(second) for second, _, _ in every]),
        "arrivals": np.array([entry for _, entry, _ in every], dtype=np.int64),
        **{
            name: np.array([of.get(name, 0) for _, _, of in every], dtype=np.int64)
            for name in (*names, "connections", "waiting")
        },
    }

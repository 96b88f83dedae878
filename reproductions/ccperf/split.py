"""How two flows share: the split is chance, so the distribution over the seeds is judged.

Ten draws reach on average from the 1/11 to the 10/11 quantile of what they are drawn from. That
range of the seeds is set beside the range of ns-3 over ten jitters, whatever single seeds do.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence

import numpy as np

from sojourn import data
from sojourn.campaign.cases import Outcome
from sojourn.reproduction.statements import Finding, Row, row_of

#: The metric that is shared.
SPLIT = "mean_throughput_l4"
LOW, HIGH = f"seeds_1_of_11_{SPLIT}", f"seeds_10_of_11_{SPLIT}"
#: The ends of that range, as rows of the comparison.
OF_SEEDS = {LOW: 1 / 11, HIGH: 10 / 11}
#: The range may be so many times as wide as ns-3's.
NARROWEST, WIDEST = 0.5, 1.5


def of_seeds(
    value: Callable[[Outcome], float | None], share: float, *outcomes: Outcome
) -> float | None:
    """A quantile over the seeds of what each came to, if all have it."""
    values = [v for v in map(value, outcomes) if v is not None]
    return float(np.quantile(values, share)) if len(values) == len(outcomes) else None


def check(rows: Sequence[Row]) -> Finding:
    """Whether each flow's printed throughput is in the range, and that about as wide as ns-3's."""
    told, holds = [], True
    for column, (ns3_low, ns3_high) in _ns3().items():
        printed = row_of(rows, metric=SPLIT, column=column)["published"]
        low, high = (_measured(rows, metric, column) for metric in OF_SEEDS)
        wide = (high - low) / (ns3_high - ns3_low)
        holds &= low <= printed <= high and NARROWEST <= wide <= WIDEST
        told.append(f"{printed:.2f} in {low:.2f} to {high:.2f}, {wide:.2f} times as wide")
    return Finding(holds, "; ".join(told))


def _measured(rows: Sequence[Row], metric: str, column: str) -> float:
    for row in rows:
        if (row["metric"], row["column"]) == (metric, column) and row["measured"] is not None:
            return float(row["measured"])
    raise KeyError(f"{metric} of {column}")


def _ns3() -> dict[str, tuple[float, float]]:
    """The range of each flow's throughput over ten jitters of ns-3, Mbit/s."""
    with data.path("reference/ccperf/ns3_jitters.csv").open(encoding="utf-8", newline="") as file:
        return {
            row["flow"]: (float(row["throughput_low"]), float(row["throughput_high"]))
            for row in csv.DictReader(file)
        }

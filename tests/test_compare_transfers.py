"""``sojourn compare`` of transfers: who is compared, and when pairs have the same arrivals."""

from __future__ import annotations

import numpy as np
import polars as pl

from made_transfers import Transfer, measured, run_of_transfers
from sojourn.evaluation import side
from sojourn.evaluation.compare import Comparison, judged
from sojourn.evaluation.margins import Margins, relative
from sojourn.evaluation.side import Side
from sojourn.store.rows import COMMON, frame, rows_of

#: Seeds of each side.
SEEDS = range(12)


def side_of(name: str, factor: float = 1.0, few: int = 0) -> Side:
    """Runs whose transfers take ``factor`` times as long; of the first, ``few`` are missing."""
    rows = []
    for seed in SEEDS:
        took = factor * (1 + np.random.default_rng(seed).exponential(size=200))
        transfers: list[Transfer] = [
            (0, 0.04 * i, float(value), 5_000) for i, value in enumerate(took)
        ]
        told = measured(run_of_transfers(transfers[few if seed == 0 else 0 :])).to_json()
        common = {**dict.fromkeys(COMMON), "seed": seed, "replication": seed, "point": ""}
        rows += rows_of(common, {}, told)
    return Side(name, side._chosen(frame(rows).with_columns(pilot=pl.lit(None, pl.Boolean))))


def compared(a: Side, b: Side) -> Comparison:
    return judged(a, b, Margins(relative("2 %", "margin")))


def test_labels_and_bins_are_compared_in_pairs() -> None:
    made = compared(side_of("slow", 1.5), side_of("fast"))
    rows = made.table.filter(pl.col("metric") == "fct_p99")
    assert rows["scope"].to_list() == ["transfer"] * 2
    assert rows["id"].to_list() == ["web", "web 1 kB-10 kB"]
    assert rows["paired"].all()
    assert set(rows["family"]) == {"key"}
    assert set(rows["verdict"]) == {"worse"}
    assert not [note for note in made.notes if "arrivals" in note]


def test_other_arrivals_are_told() -> None:
    made = compared(side_of("slow", 1.5), side_of("fast", few=20))
    assert sum("do not have the same arrivals" in note for note in made.notes) == 1

"""What is compared with what at one point: members, metrics, replications."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
import polars as pl

from sojourn.evaluation.margins import Margins
from sojourn.metrics import Metric, metrics
from sojourn.statistics import Pair
from sojourn.statistics.values import Values
from sojourn.statistics.verdicts import Mask

#: Scope and id of a member.
Member = dict[str, str]


def pairs_of(
    a: pl.DataFrame, b: pl.DataFrame, margins: Margins, names: set[str] | None, notes: list[str]
) -> Iterator[tuple[Member, Metric, Pair]]:
    """The pairs of one point, each with the member and the metric that it is of; ``notes`` are
    added to.
    """
    a, b, paired = _courses(a, b, notes)
    if paired and not _arrive_alike(a, b):
        notes.append(
            "warning: the same seeds do not have the same arrivals (other rates, sizes or times, "
            "or users who wait for what they asked for): pairs are of seeds only"
        )
    of_a, of_b = (side.partition_by("scope", "id", as_dict=True) for side in (a, b))
    if left_out := sorted(" ".join(map(str, key)) for key in of_a.keys() ^ of_b.keys()):
        notes.append(f"warning: on one side only and left out: {', '.join(left_out)}")
    for key in [key for key in of_a if key in of_b]:
        scope, identity = key
        for metric in metrics(scope):
            if names is None or metric.name in names:
                pair = _pair(metric, of_a[key], of_b[key], margins, paired=paired)
                if pair is not None:
                    yield {"scope": scope, "id": identity}, metric, pair


def _arrive_alike(a: pl.DataFrame, b: pl.DataFrame) -> bool:
    """Whether as many transfers of each label and size have arrived on both sides, by seed."""
    arrived = [
        side.filter(pl.col("scope") == "transfer").select("seed", "id", "count").sort("seed", "id")
        for side in (a, b)
        if "count" in side.columns
    ]
    return len(arrived) < 2 or arrived[0].equals(arrived[1])


def _courses(
    a: pl.DataFrame, b: pl.DataFrame, notes: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame, bool]:
    """Both sides with one row per replication that differs from the others, and whether the same
    place in both is the same seed: where at least half of the fewer seeds are common, these alone
    count.
    """
    own_a, own_b = (sorted(set(side["seed"])) for side in (a, b))
    common = sorted(set(own_a) & set(own_b))
    if 2 * len(common) >= min(len(own_a), len(own_b)):
        courses = list(zip(_course(a, common), _course(b, common), strict=True))
        kept = _different(courses, common, notes)
        return _of(a, kept), _of(b, kept), True
    kept_a, kept_b = (
        _different(_course(side, own), own, notes) for side, own in ((a, own_a), (b, own_b))
    )
    return _of(a, kept_a), _of(b, kept_b), False


def _of(side: pl.DataFrame, seeds: Sequence[int]) -> pl.DataFrame:
    return side.filter(pl.col("seed").is_in(seeds)).sort("seed", maintain_order=True)


def _course(side: pl.DataFrame, seeds: Sequence[int]) -> list[int]:
    """Of each seed a number that stands for everything that was measured."""
    rows = side.select("seed", course=pl.struct(pl.exclude("seed", "pilot")).hash())
    sums = dict(rows.group_by("seed").agg(pl.col("course").sum()).iter_rows())
    return [sums[seed] for seed in seeds]


def _different(
    courses: Sequence[Hashable], seeds: Sequence[int], notes: list[str]
) -> Sequence[int]:
    """The first seed of each course."""
    first = dict(zip(reversed(courses), reversed(seeds), strict=True))
    if len(first) < len(seeds):
        notes.append(
            f"warning: of {len(seeds)} replications only {len(first)} differ, and count; a larger "
            "sweep.start_jitter makes them differ"
        )
    return sorted(first.values())


def _pair(
    metric: Metric, a: pl.DataFrame, b: pl.DataFrame, margins: Margins, *, paired: bool
) -> Pair | None:
    """The values of both sides, if the metric is defined on any."""
    of_a, of_b = _values(a, metric.name), _values(b, metric.name)
    if np.isnan(of_a).all() and np.isnan(of_b).all():
        return None
    known = of_b[~np.isnan(of_b)]
    margin = margins.of(metric.name).around(float(known.mean())) if len(known) else 0.0
    paired = paired and a["seed"].equals(b["seed"])  # a label may have no transfers of a size
    return Pair(of_a, of_b, paired, metric.better, margin, _pilots(a, b))


def _pilots(a: pl.DataFrame, b: pl.DataFrame) -> tuple[Mask, Mask] | None:
    """Which values said how many there are: all, of a side whose number was given."""
    if not a["pilot"].count() and not b["pilot"].count():
        return None
    first_a, first_b = (side["pilot"].fill_null(True).to_numpy() for side in (a, b))
    return first_a, first_b


def _values(side: pl.DataFrame, name: str) -> Values:
    if name not in side.columns:
        return np.full(len(side), np.nan)
    return side[name].to_numpy().astype(float)

"""How many more runs would decide."""

from __future__ import annotations

from math import ceil, comb, isfinite, log2

#: The chance that so many runs decide, if the difference is as it has been measured.
POWER = 0.8
#: More runs than this per side are no advice.
MOST = 10_000


def needed(difference: float, deviation: float, margin: float, level: float) -> int | None:
    """Runs of each side until the tests, at their corrected ``level``, find a difference or its
    absence beyond the margin, whichever is sooner; ``None`` if that is out of reach.

    ``deviation`` is that of the difference of two runs. Normal approximation.
    """
    from statsmodels.stats.power import normal_sample_size_one_tail

    distance = abs(difference)
    enough = []
    if distance > 0:
        enough.append(normal_sample_size_one_tail(distance, POWER, level / 2, deviation))
    if distance < margin:
        enough.append(normal_sample_size_one_tail(margin - distance, POWER, level, deviation))
    least = min(enough, default=float("inf"))
    return ceil(least) if isfinite(least) and least <= MOST else None


def fewest(level: float, *, paired: bool) -> int:
    """Runs of each side with which a permutation test can be as sure as ``level`` at all."""
    if paired:
        return ceil(1 + log2(1 / level))
    runs = 2
    while 2 / comb(2 * runs, runs) > level:
        runs += 1
    return runs

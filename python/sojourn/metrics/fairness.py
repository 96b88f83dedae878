"""How evenly flows share: per sample, then the mean; and of the flows' means.

A sample's index is over the flows that are active in it; with two flows or more in the run,
samples with fewer than two are left out, because a lone flow shares with nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from sojourn.metrics.columns import Values, mean, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData

Index = Callable[[Values], Values]
#: Samples whose indices are computed at once: the steps to them take several times their memory.
AT_ONCE = 1 << 16
_SKIPPED = "samples in which nobody delivered left out; null if none is left"


def jain(shares: Values) -> Values:
    """Jain's index over the last axis: (sum x)^2 / (n sum x^2), NaN left out."""
    count = (~np.isnan(shares)).sum(axis=-1)
    return ratio(np.nansum(shares, axis=-1) ** 2, count * np.nansum(shares**2, axis=-1))


def product(shares: Values) -> Values:
    """Product over the last axis, NaN left out."""
    return np.asarray(np.nanprod(shares, axis=-1), dtype=float)


def entropy(shares: Values) -> Values:
    """-sum p ln p over the last axis, in nats, with p = x / sum x; NaN left out."""
    total = np.nansum(shares, axis=-1, keepdims=True)
    p = ratio(shares, np.broadcast_to(total, shares.shape))
    terms = np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0)
    return np.where(total[..., 0] > 0, terms.sum(axis=-1), np.nan)


def over_samples(run: RunData, index: Index) -> float:
    """Mean over samples of a fairness index of throughput."""
    whole, indices = run.flow.throughput, [np.empty(0)]
    for first in range(0, len(whole), AT_ONCE):
        shares = whole[first : first + AT_ONCE]
        present = (~np.isnan(shares)).sum(axis=1)
        indices.append(index(shares[present >= min(2, run.flow.count)]))
    return float(mean(np.concatenate(indices)[:, None])[0])


def of_means(run: RunData, index: Index) -> float:
    """A fairness index of the flows' mean throughputs; nobody shares without flows."""
    if not run.flow.count:
        return np.nan
    return float(index(run.flow.mean_rate("delivered_bytes")[None, :])[0])


def _register(name: str, index: Index, unit: str, summary: str, high: float = inf) -> None:
    """Both readings of one index: what is printed admits either."""

    def sampled(run: RunData) -> float:
        return over_samples(run, index)

    def of_flow_means(run: RunData) -> float:
        return of_means(run, index)

    sampled.__doc__ = f"{summary}, per sample, then the mean."
    of_flow_means.__doc__ = f"{summary} of the flows' mean throughputs."
    metric(
        "net",
        f"mean_{name}_fairness_throughput_l4",
        quantity=f"{name} fairness of throughput",
        unit=unit,
        aggregator="mean",
        empty=_SKIPPED,
        better="higher",
        high=high,
    )(sampled)
    metric(
        "net",
        f"{name}_fairness_of_means_throughput_l4",
        quantity=f"{name} fairness of mean throughput",
        unit=unit,
        aggregator="value",
        sampling="run",
        better="higher",
        high=high,
    )(of_flow_means)


_register("jains", jain, "1", "Jain's index of throughput", 1.0)
_register("product", product, "(Mbit/s)^n", "Product of throughputs in Mbit/s")
_register("entropy", entropy, "nats", "Entropy of the shares of throughput")

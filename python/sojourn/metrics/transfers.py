"""Transfers that come and go, by label and size: how long they take, and what they load.

Completion times run from a transfer's arrival to the acknowledgment of its last byte. A slowdown is
that time over the least possible one on an empty path (docs/reference/metrics.md).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sojourn.metrics.columns import Values, ratio
from sojourn.metrics.registry import metric
from sojourn.metrics.samples import RunData
from sojourn.metrics.transfer_view import FAILED, LIVE, STATISTICS, least

_OF_ALL = "null for bins of sizes"


@metric("transfer", "count", quantity="transfers", unit="count", aggregator="count", sampling="run")
def count(run: RunData) -> Values:
    """Transfers that arrived after the warm-up."""
    return run.transfer.counts()


@metric(
    "transfer",
    "unfinished",
    quantity="unfinished transfers",
    unit="count",
    aggregator="count",
    sampling="run",
    better="lower",
)
def unfinished(run: RunData) -> Values:
    """Those of them that were not finished as the run ended, or failed: their age counts."""
    return run.transfer.counts((LIVE, FAILED))


def _register(quantity: str, words: str, unit: str, statistic: str, share: float | None) -> None:
    """A statistic of one quantity."""

    def compute(run: RunData) -> Values:
        return run.transfer.statistic(quantity, statistic)

    what = "Mean" if share is None else f"{100 * share:g}th percentile"
    compute.__doc__ = f"{what} of the {words}s of transfers."
    metric(
        "transfer",
        f"{quantity}_{statistic}",
        quantity=words,
        unit=unit,
        aggregator=statistic,
        sampling="transfer",
        empty="null" if share is None else f"null of fewer than {least(share):,} transfers",
        better="lower",
    )(compute)


for _quantity, _words, _unit in (("fct", "completion time", "s"), ("slowdown", "slowdown", "1")):
    for _statistic, _share in STATISTICS.items():
        _register(_quantity, _words, _unit, _statistic, _share)


@metric(
    "transfer",
    "offered_load",
    quantity="offered load",
    unit="1",
    aggregator="ratio of totals",
    sampling="run",
    empty=_OF_ALL,
)
def offered_load(run: RunData) -> Values:
    """Payload that arrived to be sent, as a share of the link's rate."""
    return run.transfer.of_entries(_offered(run))


@metric(
    "transfer",
    "offered_wire_load",
    quantity="offered load on the wire",
    unit="1",
    aggregator="ratio of totals",
    sampling="run",
    empty=_OF_ALL,
)
def offered_wire_load(run: RunData) -> Values:
    """The same with headers, framing and handshakes, by the mean of the sizes."""
    return run.transfer.of_entries(_offered(run) * run.transfer.on_the_wire())


@metric(
    "transfer",
    "carried_load",
    quantity="carried load",
    unit="1",
    aggregator="ratio of totals",
    sampling="interval",
    empty=_OF_ALL,
)
def carried_load(run: RunData) -> Values:
    """Payload that reached receivers while transfers arrived, as a share of the link's rate."""
    view = run.transfer
    return view.of_entries(ratio(8 * view.growth("carried_bytes"), view.rates()))


def _register_level(column: str, unit: str, words: str) -> None:
    """Mean and maximum of a count over the samples."""
    hows: dict[str, Callable[[Values], float]] = {"mean": np.mean, "most": np.max}
    for name, how in hows.items():
        _register_one(f"{name}_{column}", column, unit, how, f"{name.capitalize()} {words}")


def _register_one(
    name: str, column: str, unit: str, how: Callable[[Values], float], summary: str
) -> None:
    def compute(run: RunData) -> Values:
        view = run.transfer
        levels = (view.levels(column, entry) for entry in range(len(view.windows)))
        of_entries = [how(level) if len(level) else np.nan for level in levels]
        return view.of_entries(np.array(of_entries, dtype=float))

    compute.__doc__ = f"{summary} at the samples while transfers arrive."
    metric(
        "transfer",
        name,
        quantity=unit,
        unit=unit,
        aggregator="mean" if name.startswith("mean") else "maximum",
        sampling="interval",
        empty=_OF_ALL,
    )(compute)


_register_level("live", "transfers", "transfers that are under way")
_register_level("connections", "connections", "connections that are open")


def _offered(run: RunData) -> Values:
    view = run.transfer
    span = view.windows[:, 1] - view.windows[:, 0]
    return ratio(8 * view.offered_bytes(), view.rates() * span)

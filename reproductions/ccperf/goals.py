"""How near the page the comparison with CCPerf is to come; the card says since when."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sojourn.reproduction.statements import GOALS, Finding, Row, Statement, row_of
from sojourn_reproductions.ccperf.split import NARROWEST, WIDEST, check

_FLOWS = ("flow_1", "flow_2")
_DROPS = 1.5


def _near(metric: str, tolerance: float, *columns: str) -> Callable[[Sequence[Row]], Finding]:
    """Whether the mean over the seeds is within ``tolerance`` of what is printed."""

    def check(rows: Sequence[Row]) -> Finding:
        found = [row_of(rows, metric=metric, column=column) for column in columns]
        errors = [row["mean"] / row["published"] - 1 for row in found]
        told = (f"{row['mean']:.2f} for {row['published']:.2f}" for row in found)
        return Finding(max(map(abs, errors)) <= tolerance, "; ".join(told))

    return check


def _drops(rows: Sequence[Row]) -> Finding:
    row = row_of(rows, metric="total_qdisc_drops_l2")
    factor = row["measured"] / row["published"]
    told = f"{row['measured']:.0f} for {row['published']:.0f}"
    return Finding(1 / _DROPS <= factor <= _DROPS, told)


STATEMENTS = (
    Statement(
        "throughput",
        GOALS,
        "The flows together carry what the page prints",
        "mean over the seeds within 1 %",
        _near("mean_agg_throughput_l4", 0.01, _FLOWS[0]),
    ),
    Statement(
        "srtt",
        GOALS,
        "Both flows have the page's smoothed RTT",
        "mean over the seeds within 5 %",
        _near("mean_srtt_l4", 0.05, *_FLOWS),
    ),
    Statement(
        "queueing-delay",
        GOALS,
        "The bottleneck has the page's queueing delay",
        "mean over the seeds within 10 %",
        _near("mean_qdisc_delay_l2", 0.1, _FLOWS[0]),
    ),
    Statement(
        "drops",
        GOALS,
        "The bottleneck drops as many packets as the page's",
        f"median over the seeds within a factor of {_DROPS}",
        _drops,
    ),
    Statement(
        "split",
        GOALS,
        "NewReno and Cubic share as on the page",
        "each flow's printed throughput within the 1/11 to 10/11 quantiles of the seeds, which are "
        f"{NARROWEST:g} to {WIDEST:g} times as wide as ns-3's range over ten jitters",
        check,
    ),
)

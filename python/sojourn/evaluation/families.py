"""Which comparisons are corrected together: those of key metrics, and all others.

The more comparisons share one correction, the more replications it takes until any of them is
certain. Metrics by the dozen that say the same in other words must not hide what matters most, so
that this has a correction of its own.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Literal, get_args

from sojourn.metrics import Metric
from sojourn.statistics import Finding, Pair, judge, replications_needed

Family = Literal["key", "other"]
FAMILIES: tuple[Family, ...] = get_args(Family)
#: What its comparisons are called in a sentence.
CALLED: dict[Family, str] = {"key": "key metrics", "other": "other metrics"}
#: How sure verdicts are.
HOW = (
    "Holm's correction is over all comparisons of key metrics, and over all others apart: in "
    "either family the chance of any wrong verdict on a change is 5 %."
)
#: By scope and name, the most important first, and why each is one: few, because each makes the
#: others less sure, and none that another one implies.
KEY = {
    ("flow", "mean_throughput_l4"): "what a flow gets of the network",
    ("group", "mean_flow_throughput_l4"): "the same where many flows stand as groups",
    ("group", "throughput_share_l4"): "who gets how much where groups compete",
    ("flow", "harm_throughput_l4"): "what a flow loses by the others; if asked for",
    ("group", "group_harm_throughput_l4"): "what a group loses by the others; if asked for",
    ("net", "jains_fairness_of_means_throughput_l4"): "how evenly the flows share",
    ("flow", "flow_completion_time_l4"): "what a person waits for who transfers something",
    ("transfer", "fct_p50"): "what half of those who transfer something wait for",
    ("transfer", "fct_p99"): "what one of a hundred waits for",
    ("flow", "late_messages_l7"): "what a stream with a deadline loses",
    ("flow", "mean_srtt_l4"): "how long a flow's packets and their answers take",
    ("group", "mean_flow_srtt_l4"): "the same where many flows stand as groups",
    ("flow", "harm_delay_l4"): "how much of that is due to the others; if asked for",
    ("group", "group_harm_delay_l4"): "the same of a group; if asked for",
    ("link", "mean_qdisc_delay_l2"): "the queue that all who use the link wait in",
    ("link", "utilization_l1"): "whether the link's capacity is used",
}
_PLACES = {measure: place for place, measure in enumerate(KEY)}


def family(metric: Metric, named: Container[str] | None = None) -> Family:
    """The one of a metric's comparisons; whoever has named metrics has said which ones are key."""
    key = (metric.scope, metric.name) in KEY if named is None else metric.name in named
    return "key" if key else "other"


def importance(metric: Metric) -> int:
    """The place among the key metrics, that behind all of them for others."""
    return _PLACES.get((metric.scope, metric.name), len(KEY))


def judged(families: Sequence[Family], pairs: Sequence[Pair]) -> list[Finding]:
    """A finding on each pair, those of a family corrected together."""
    found: dict[int, Finding] = {}
    for one in FAMILIES:
        places = _of(one, families)
        found |= zip(places, judge([pairs[place] for place in places]), strict=True)
    return [found[place] for place in range(len(pairs))]


def too_few(families: Sequence[Family], pairs: Sequence[Pair]) -> list[str]:
    """Says so where replications cannot decide anything among so many comparisons."""
    notes = []
    for one in FAMILIES:
        mine = [pairs[place] for place in _of(one, families)]
        needed = replications_needed(mine)
        most = max((min(len(pair.a), len(pair.b)) for pair in mine), default=0)
        if needed is not None and most < needed:
            notes.append(
                f"warning: {CALLED[one]}: with {most} replications of each side no difference of "
                f"means can be certain, however large: among {len(mine)} comparisons it takes "
                f"{needed}"
            )
    return notes


def _of(one: Family, families: Sequence[Family]) -> list[int]:
    return [place for place, own in enumerate(families) if own == one]

"""Links and their queues, from the end of the warm-up to the end of the run."""

from __future__ import annotations

import numpy as np

from sojourn.metrics.columns import Values, overhead_of, ratio
from sojourn.metrics.registry import Better, metric
from sojourn.metrics.samples import RunData

#: Payload of a full segment, and at most how many bytes of headers a packet has.
_USUAL, _HEADERS = 1460, 120


@metric("link", "mean_sending_rate_l1", quantity="sending rate", unit="Mbit/s", aggregator="mean")
def mean_sending_rate(run: RunData) -> Values:
    """Bytes put on the link, framing included."""
    return ratio(run.link.total("sent_bytes") * 8e-6, run.link.time)


@metric(
    "link",
    "utilization_l1",
    high=1.0,
    quantity="utilization",
    unit="1",
    aggregator="mean",
    better="higher",
)
def utilization(run: RunData) -> Values:
    """Sending rate divided by the link's rate; null for a link without one. A packet counts as a
    whole when it is sent: up to a packet more than the link can send is 1.
    """
    share = mean_sending_rate(run) * 1e6 / run.link.rate
    payload = run.flow.mss.max(initial=_USUAL)
    framing = np.array([overhead_of(link) for link in run.network["links"]])
    packet = 8 * (payload + _HEADERS + framing) / (run.link.rate * run.link.time)
    return np.where((share > 1) & (share <= 1 + packet), 1.0, share)


@metric(
    "link",
    "mean_qdisc_delay_l2",
    quantity="sojourn time",
    unit="ms",
    aggregator="mean",
    sampling="packet",
    better="lower",
)
def mean_qdisc_delay(run: RunData) -> Values:
    """Time a packet spends in the queue."""
    return 1e3 * ratio(run.link.total("sojourn_sum"), run.link.total("sojourn_count"))


@metric(
    "link",
    "mean_qdisc_length_l2",
    quantity="queue length",
    unit="packets",
    aggregator="mean",
    sampling="time-weighted",
    better="lower",
)
def mean_qdisc_length(run: RunData) -> Values:
    """Packets waiting in the queue."""
    return ratio(run.link.total("queue_time"), run.link.time)


def _percentile(percent: int) -> None:
    def compute(run: RunData) -> Values:
        return 1e3 * np.asarray(run.link.table[f"sojourn_p{percent}"], dtype=float)

    compute.__doc__ = f"The time that {percent} % of the packets spend at most in the queue."
    metric(
        "link",
        f"p{percent}_qdisc_delay_l2",
        quantity="sojourn time",
        unit="ms",
        aggregator=f"{percent}th percentile",
        better="lower",
        sampling="packet",
    )(compute)


def _total(name: str, quantity: str, summary: str, *columns: str, better: Better = None) -> None:
    def compute(run: RunData) -> Values:
        return np.sum([run.link.total(column) for column in columns], axis=0)

    compute.__doc__ = summary
    metric(
        "link",
        name,
        quantity=quantity,
        unit="count",
        aggregator="total",
        sampling="event",
        empty="0",
        better=better,
    )(compute)


for _percent in (50, 95, 99):
    _percentile(_percent)

_DROPS = ("drops_overflow", "drops_aqm", "drops_policed")
_total("total_qdisc_drops_l2", "drops", "Packets that the queue dropped.", *_DROPS, better="lower")
_total("total_qdisc_drops_overflow_l2", "drops", "Drops because the queue was full.", _DROPS[0])
_total("total_qdisc_drops_aqm_l2", "drops", "Drops by the control law.", _DROPS[1])
_total("total_qdisc_drops_policed_l2", "drops", "Drops by a policer.", _DROPS[2])
_total("total_qdisc_marks_l2", "marks", "CE and SCE marks set.", "ce_marks", "sce_marks")
_total("total_qdisc_marks_ce_l2", "marks", "CE marks set.", "ce_marks")
_total("total_qdisc_marks_sce_l2", "marks", "SCE marks set.", "sce_marks")
_total("total_link_losses_l1", "losses", "Packets lost at random after the queue.", "drops_loss")

"""Delivery delays of messages under adaptive error control (section 3.3.4)."""

from __future__ import annotations

import numpy as np

from sojourn.metrics import RunData
from sojourn.metrics.columns import Values
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document
from sojourn_reproductions.gnat2021.published import published
from sojourn_reproductions.gnat2021.sliq.scenarios import document

TABLE = "aec_delivery_delay"
#: What the report calls the first and last few seconds, s.
_EDGE = 5.0


def deadlines() -> list[int]:
    """Those of the report, in milliseconds."""
    return [int(row["deadline_ms"]) for row in published(TABLE)]


def by_deadline(request: Request, deadline: int) -> Document:
    """The scenario of a deadline in milliseconds."""
    scenario = document("adaptive", request, loss="40 %")
    scenario["duration"] = "60 s"
    scenario["flows"][0]["stream"]["deadline"] = f"{deadline} ms"
    return scenario


def close(request: Request, deadline: int) -> Document:
    """The same, with samples of the messages of a millisecond each."""
    return {**by_deadline(request, deadline), "sample_interval": "1 ms"}


def histogram(data: RunData) -> tuple[Values, Values]:
    """Delays in whole milliseconds, and the share of the messages (%) that take up to 1 ms longer.

    Messages that are delivered in the same millisecond count with their mean.
    """
    samples = data.flow.samples
    steady = (samples.begins >= _EDGE) & (samples.ends <= samples.ends[-1] - _EDGE)
    count = samples["one_way_delay_count"][:, 0]
    some = steady & (count > 0)
    delays = 1e3 * samples["one_way_delay_sum"][some, 0] / count[some]
    bins = np.arange(0.0, np.ceil(delays.max()) + 1)
    messages, _ = np.histogram(delays, bins=bins, weights=count[some])
    return bins[:-1], 100 * messages / messages.sum()

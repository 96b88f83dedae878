"""A run's columns arranged for metrics: one matrix [interval, flow or link] per column.

Which intervals count:

* An interval counts when it begins at or after the warm-up.
* A flow's intervals are those that overlap its active time, from ``max(start, warmup)`` to its
  ``stop`` or, if it completed its transfer earlier, to its completion. ``span`` is the overlap.
* Metrics of single samples (variation, utilities, fairness) use the *regular* samples, those
  whose overlap is at least half of the interval, so that a sliver of a sample is not a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sojourn.errors import SojournError
from sojourn.json_types import Fields
from sojourn.metrics.columns import EPSILON, Samples, Values, rate_of
from sojourn.metrics.flow_view import FlowView
from sojourn.metrics.recorded import Recorded
from sojourn.metrics.transfer_view import DECADES, TransferView
from sojourn.names import control_name
from sojourn.scenario import entries

#: Given numbers of flows, a run in which these alone send, and their numbers in it.
Alone = Callable[[tuple[int, ...]], "tuple[RunData, Sequence[int]]"]


def _cannot(flows: tuple[int, ...]) -> tuple[RunData, Sequence[int]]:
    alone = ", ".join(map(str, flows))
    raise SojournError(
        f"harm: needs a run of flow {alone} alone, and a stored run is not run again; name the "
        "metric when the scenario is run"
    )


@dataclass
class RunData(Recorded):
    """Everything metrics may look at."""

    #: Runs the same without the others, when a metric asks for it.
    alone: Alone = field(default=_cannot)
    #: Ends of the bins of sizes by which transfers are told apart, in bytes.
    sizes: Sequence[int] = DECADES
    #: What to know of the run beside its numbers, each sentence by what it is of.
    notes: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def flow(self) -> FlowView:
        """The flows' side of the run."""
        return FlowView(self)

    @cached_property
    def link(self) -> LinkView:
        """The links' side of the run."""
        return LinkView(self)

    def let_go(self) -> None:
        """Frees what has been made of the samples: it is made anew when somebody asks for it."""
        for view in ("flow", "link"):
            self.__dict__.pop(view, None)

    @cached_property
    def group(self) -> GroupView:
        """The flows by control and by label."""
        return GroupView(self.scenario)

    @cached_property
    def transfer(self) -> TransferView:
        """The transfers that came and went, by label and size."""
        return TransferView(self, self.sizes)


class GroupView:
    """Which flows belong to which group."""

    def __init__(self, canonical: Fields) -> None:
        flows, counts = entries(canonical)
        controls = [f"cca:{control_name(flow)}" for flow in flows]
        labels = [f"label:{flow['label']}" if flow.get("label") else "" for flow in flows]
        #: ``cca:NAME`` and ``label:NAME``; none in a run of a single flow.
        self.ids = list(dict.fromkeys(filter(None, controls + labels))) if sum(counts) > 1 else []
        places = {name: place for place, name in enumerate(self.ids)}
        of_flows = [
            np.repeat(np.array([places.get(name, -1) for name in names], dtype=int), counts)
            for names in (controls, labels)
        ]
        self._flows = np.concatenate([np.flatnonzero(of >= 0) for of in of_flows])
        self._places = np.concatenate([of[of >= 0] for of in of_flows])

    def members(self, place: int) -> tuple[int, ...]:
        """The numbers of the flows of a group."""
        return tuple(map(int, self._flows[self._places == place]))

    def sum(self, values: Values) -> Values:
        """Sum of the flows' values in each group; NaN counts nothing."""
        together = np.bincount(self._places, np.nan_to_num(values)[self._flows], len(self.ids))
        return together.astype(float)


class LinkView:
    """Samples of the links after the warm-up."""

    def __init__(self, run: RunData) -> None:
        self.table = {name: np.asarray(column) for name, column in run.tables["links"].items()}
        rates = np.array([rate_of(link) for link in run.network["links"]])
        #: bit/s, NaN for a link without a rate.
        self.rate: Values = np.where(np.isinf(rates), np.nan, rates)
        self.samples = Samples(run.tables["link_samples"], len(self.table["link"]))
        self.counted = self.samples.begins >= run.warmup - EPSILON
        self.time = float((self.samples.ends - self.samples.begins)[self.counted].sum())

    def total(self, column: str) -> Values:
        """Sum of a counter after the warm-up, per link."""
        return self.samples[column][self.counted].sum(axis=0)

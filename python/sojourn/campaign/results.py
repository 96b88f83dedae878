"""What the cases of a reproduction came to."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.campaign.cases import AnyCase, Sampled, Told
from sojourn.campaign.keys import key_of
from sojourn.metrics import RunData
from sojourn.store.samples import Samples

#: Bytes of samples that have been read and stay in memory, for who asks next.
MOST_READ = 128e6


class Stored(Mapping[AnyCase, Any]):
    """By case. Samples stay on disk, where all runs of a long chapter have room, until somebody
    asks for them.
    """

    def __init__(self, samples: Samples) -> None:
        self._told: dict[AnyCase, Told] = {}
        self._samples = samples
        self._read: OrderedDict[AnyCase, RunData] = OrderedDict()

    def add(self, case: AnyCase, told: Told) -> None:
        """Takes in what a case came to; nothing is told of samples, which are stored."""
        self._told[case] = told

    def __getitem__(self, case: AnyCase) -> Any:
        told = self._told[case]
        return self._sampled(case) if isinstance(case, Sampled) else told

    def __contains__(self, case: object) -> bool:
        return case in self._told

    def __iter__(self) -> Iterator[AnyCase]:
        return iter(self._told)

    def __len__(self) -> int:
        return len(self._told)

    def _sampled(self, case: Sampled) -> RunData:
        if case not in self._read:
            self._read[case] = self._samples.one(key_of(case))
            while len(self._read) > 1 and sum(map(_size, self._read.values())) > MOST_READ:
                self._read.popitem(last=False)
        self._read.move_to_end(case)
        return self._read[case]


def _size(data: RunData) -> int:
    columns = (column for table in data.tables.values() for column in table.values())
    return sum(column.nbytes for column in columns)

"""Flows taken together by label, control and base RTT, where they are too many to name each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sojourn.measured import Measured
from sojourn.metrics.columns import Values
from sojourn.names import control_name
from sojourn.numbers import number

Key = tuple[str, ...]
#: As JSON, alike for tables that are alike; ``json.dumps`` would make an encoder each time.
_ordered = json.JSONEncoder(sort_keys=True).encode


@dataclass(frozen=True)
class Group:
    """Flows that belong together."""

    name: str
    #: Their ids.
    flows: NDArray[np.intp]


@dataclass(frozen=True)
class _Kind:
    """What flows of one entry of the scenario have in common."""

    label: str
    control: str
    parameters: str
    rtt: str

    @property
    def name(self) -> str:
        return self.label or self.control


#: What flows of a group share, from the finest to the coarsest.
_SHARED: Sequence[Callable[[_Kind], Key]] = (
    lambda kind: (kind.name, kind.parameters, kind.rtt),
    lambda kind: (kind.name, kind.parameters),
    lambda kind: (kind.name,),
    lambda kind: (kind.control,),
    lambda _: ("all",),
)


def groups(result: Measured, most: int) -> list[Group]:
    """The finest groups that are ``most`` or fewer, in the order of their first flows."""
    kinds = list(_kinds(result))
    for shared in _SHARED:
        members: dict[Key, list[NDArray[np.intp]]] = {}
        for kind, ids in kinds:
            members.setdefault(shared(kind), []).append(ids)
        if len(members) <= most:
            break
    names = _names(list(members))
    return [
        Group(name, np.concatenate(ids)) for name, ids in zip(names, members.values(), strict=True)
    ]


def quantiles(values: Values, shares: Sequence[float]) -> Values:
    """Quantiles over the last axis, NaN left out: one row per share, NaN where nothing is left.

    NumPy's own goes through Python once per row.
    """
    ordered = np.sort(values, axis=-1)
    last = np.maximum((~np.isnan(values)).sum(axis=-1) - 1, 0)
    found = []
    for share in shares:
        place = share * last
        below = np.floor(place).astype(int)
        above = np.minimum(below + 1, last)
        low = np.take_along_axis(ordered, below[..., None], -1)[..., 0]
        high = np.take_along_axis(ordered, above[..., None], -1)[..., 0]
        found.append(low + (place - below) * (high - low))
    return np.array(found)


def extremes(values: Values, count: int) -> tuple[list[int], list[int]]:
    """The ids of the ``count`` flows with the highest and of those with the lowest values, the
    most extreme first.
    """
    order = np.argsort(values, kind="stable")
    known = order[: (~np.isnan(values)).sum()]
    return known[::-1][:count].tolist(), known[:count].tolist()


def _kinds(result: Measured) -> Iterator[tuple[_Kind, NDArray[np.intp]]]:
    rtts = 1e3 * result.data.flow.base_rtt
    first = 0
    for flow in result.scenario.canonical["flows"]:
        count = flow.get("count", 1)
        control = flow.get("cca") or {"kind": flow["transport"]}
        kind = _Kind(
            flow.get("label") or "",
            control_name(flow),
            _ordered(control),
            f"{rtts[first]:.6g} ms",
        )
        yield kind, np.arange(first, first + count)
        first += count


def _names(keys: Sequence[Key]) -> list[str]:
    """A name for each key: what tells it from the others."""
    several_rtts = len({key[2] for key in keys if len(key) > 2}) > 1
    plain = [f"{key[0]}, {key[2]}" if several_rtts else key[0] for key in keys]
    return [
        f"{name} ({told})" if plain.count(name) > 1 and (told := _told(key, keys)) else name
        for name, key in zip(plain, keys, strict=True)
    ]


def _told(key: Key, keys: Sequence[Key]) -> str:
    """The parameters of a key's control that other keys of its name have otherwise."""
    own = json.loads(key[1])
    others = [json.loads(other[1]) for other in keys if other[0] == key[0]]
    told = {
        name: value
        for name, value in own.items()
        if any(other.get(name) != value for other in others)
    }
    return ", ".join(f"{name} {_text(value)}" for name, value in told.items())


def _text(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)

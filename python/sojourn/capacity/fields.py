"""Fields of a document, checked: every error names the field and the remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import isfinite

from sojourn import literal, quantity
from sojourn.capacity.network import Name
from sojourn.errors import ScenarioError
from sojourn.names import unknown


def name(value: object, where: str) -> Name:
    """A node's name."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        given = "missing" if value is None else f"{literal.given(value)} given"
        raise ScenarioError(f"{where}: {given}; expected the name or number of a node")
    return value


def number(value: object, where: str, unit: str) -> Fraction:
    """A number that is not negative, in the unit that results use."""
    expected = f'a quantity such as "10 {unit}"' if unit else "a number without a unit"
    number = value
    if unit and isinstance(value, str):
        number, found = quantity.split(value)
        number = number if found == unit else None
    if (
        isinstance(number, str | bool)
        or not isinstance(number, int | float)
        or not isfinite(number)
    ):
        raise ScenarioError(f"{where}: {literal.given(value)} given; expected {expected}")
    if unit and not isinstance(value, str):
        raise ScenarioError(
            f"{where}: {literal.given(value)} given beside others with units; expected {expected}"
        )
    if number < 0:
        raise ScenarioError(f"{where}: {literal.given(value)} given; allowed: 0 or more")
    # As it was written: the nearest binary fraction has no useful common denominator.
    return Fraction(f"{number:.12g}")


def flag(table: Mapping[str, object], key: str, where: str, default: bool) -> bool:
    """True or false."""
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise ScenarioError(f"{where}: {literal.given(value)} given; allowed: true, false")
    return value


def tables(value: object, name: str, keys: str) -> list[Mapping[str, object]]:
    """A list of tables, not empty."""
    if not isinstance(value, list) or not value or not all(isinstance(t, Mapping) for t in value):
        raise ScenarioError(f"{name}: none given; write [[{name}]] with {keys}")
    return value


def known(table: Mapping[str, object], keys: Iterable[str], where: str) -> None:
    """Refuses keys that there are not."""
    for key in table:
        if key not in keys:
            raise ScenarioError(f"{where}: {unknown('key', key, keys)}")

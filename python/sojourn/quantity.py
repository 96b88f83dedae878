"""Quantities as people write them ("32 Mbit/s", "15 ms") as numbers: the core reads them."""

from __future__ import annotations

import math

from sojourn import _internal

#: Units that figures use for a kind.
_SHOWN = {"s": (1e3, "ms"), "bit/s": (1e-6, "Mbit/s"), "": (1.0, "")}


def number(text: str) -> float:
    """The quantity in its base unit: seconds, bit/s, bytes, packets, or a fraction."""
    return _parse(text)[0]


def split(text: str) -> tuple[float, str]:
    """The quantity in the unit that figures use for its kind; NaN for what is no quantity."""
    value, base = _parse(text)
    factor, unit = _SHOWN.get(base, (1.0, base))
    return value * factor, unit


def _parse(text: str) -> tuple[float, str]:
    return _internal.quantity(text) or (math.nan, "")

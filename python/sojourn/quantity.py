"""Quantities as people write them (``"32 Mbit/s"``, ``"15 ms"``) as numbers.

The core has validated them already: this only reads what it accepts.
"""

from __future__ import annotations

import math
import re

#: Unit to its factor and the base unit of its kind.
_UNITS = {
    "min": (60.0, "s"), "s": (1.0, "s"), "ms": (1e-3, "s"), "us": (1e-6, "s"), "µs": (1e-6, "s"),
    "ns": (1e-9, "s"), "bit/s": (1.0, "bit/s"), "kbit/s": (1e3, "bit/s"),
    "Mbit/s": (1e6, "bit/s"), "Gbit/s": (1e9, "bit/s"), "B": (1.0, "B"), "kB": (1e3, "B"),
    "MB": (1e6, "B"), "GB": (1e9, "B"), "packets": (1.0, "packets"), "packet": (1.0, "packets"),
    "bdp": (1.0, "bdp"), "%": (1e-2, ""), "": (1.0, ""),
}  # fmt: skip
#: Units that figures use for a kind.
_SHOWN = {"s": (1e3, "ms"), "bit/s": (1e-6, "Mbit/s"), "": (1.0, "")}
_QUANTITY = re.compile(r"\s*([+-]?[\d_.]+(?:[eE][+-]?\d+)?)\s*(\S*)\s*")


def number(text: str) -> float:
    """The quantity in its base unit: seconds, bit/s, bytes, packets, or a fraction."""
    return _parse(text)[0]


def split(text: str) -> tuple[float, str]:
    """The quantity in the unit that figures use for its kind; NaN for what is no quantity."""
    value, base = _parse(text)
    factor, unit = _SHOWN.get(base, (1.0, base))
    return value * factor, unit


def _parse(text: str) -> tuple[float, str]:
    match = _QUANTITY.fullmatch(text)
    if not match or match[2] not in _UNITS:
        return math.nan, ""
    factor, base = _UNITS[match[2]]
    try:
        return float(match[1].replace("_", "")) * factor, base
    except ValueError:
        return math.nan, ""

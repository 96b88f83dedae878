"""Canonical quantities (``"32 Mbit/s"``, ``"15 ms"``) as numbers.

The core has validated them already: this only reads what it writes.
"""

from __future__ import annotations

_FACTORS = {
    "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0,
    "bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
    "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9,
    "packets": 1.0, "packet": 1.0, "%": 1e-2,
}  # fmt: skip


def number(text: str) -> float:
    """The quantity in its base unit: seconds, bit/s, bytes, packets, or a fraction."""
    value, unit = text.split()
    return float(value) * _FACTORS[unit]

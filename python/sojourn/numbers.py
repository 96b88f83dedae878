"""How tables write numbers."""

from __future__ import annotations

import math
from typing import Any

#: A width below these decimal places is that of rounding errors.
_MOST_PLACES = 9


def number(value: Any) -> str:
    """Four significant digits; a dash for what is undefined."""
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    if not math.isfinite(value):
        return "-"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return f"{value:.1e}"
    digits = 3 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:.{max(0, min(digits, 4))}f}"


def with_uncertainty(value: float, half_width: float) -> str:
    """``42.98 ± 0.10``: the half width to two significant digits, the value to the same place, for
    further ones mean nothing. Both are multiples of one power of ten where the value is very large
    or very small; a width that is nothing, or not known, takes no digits away.
    """
    if not (math.isfinite(value) and math.isfinite(half_width)):
        return number(value)
    if half_width == 0:
        return f"{number(value)} ± 0"
    largest = _exponent(max(abs(value), abs(half_width)))
    power = 0 if -3 <= largest < 6 else largest
    value, half_width = value / 10.0**power, half_width / 10.0**power
    place = 1 - _exponent(half_width)
    if place > _MOST_PLACES:
        return f"{number(value * 10.0**power)} ± {half_width * 10.0**power:.1e}"
    told = " ± ".join(f"{round(v, place):.{max(place, 0)}f}" for v in (value, half_width))
    return f"({told})e{power}" if power else told


def _exponent(value: float) -> int:
    """The power of ten of the leading digit of two, after rounding to these."""
    return int(f"{value:.1e}".partition("e")[2])

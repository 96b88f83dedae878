"""How tables write numbers."""

from __future__ import annotations

import math

#: A value has at most so many significant digits, however narrow its interval is.
_MOST_DIGITS = 7


def number(value: object) -> str:
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


def with_uncertainty(value: float | None, half_width: float | None) -> str:
    """A value ± half the width of its interval: two significant digits of that, and the value to
    the same decimal place, because further digits of either say nothing. As :func:`number` where
    there is no interval.
    """
    if value is None or half_width is None or not _are_finite(value, half_width):
        return number(value)
    if half_width == 0:
        return f"{number(value)} ± 0"
    largest = _power(max(abs(value), half_width))
    place = max(_power(half_width) - 1, largest - _MOST_DIGITS + 1)
    half = max(half_width, 10.0**place)
    if -3 <= largest < 6:
        return f"{_to(value, place)} ± {_to(half, place)}"
    scaled = (_to(part / 10.0**largest, place - largest) for part in (value, half))
    return f"({' ± '.join(scaled)})e{largest:+03d}"


def _are_finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _power(value: float) -> int:
    """Of ten, of the first digit of what the value is as two digits."""
    return int(f"{value:.1e}".partition("e")[2])


def _to(value: float, place: int) -> str:
    """To the decimal place of that power of ten; nothing is less than nothing."""
    text = f"{round(value, -place):.{max(0, -place)}f}"
    return text if text.strip("-0.") else text.removeprefix("-")

"""How tables write numbers."""

from __future__ import annotations

import math
from typing import Any


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

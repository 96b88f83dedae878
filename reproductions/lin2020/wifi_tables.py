"""Names in the Wi-Fi tables, which cells and figures have in common."""

from __future__ import annotations

#: Section 7.2's simulated Wi-Fi, and section 6.2's transfers.
SIMULATED, TRANSFERS = "figure-19-wifi", "figure-12"
BANDS = ("2.4", "5")
#: What a box of figure 12 is drawn from.
QUANTILES = {"min": 0.0, "25 %": 0.25, "": 0.5, "75 %": 0.75, "max": 1.0}


def at_quantile(band: str, quantile: str) -> str:
    """A column of figure 12."""
    return f"{band}GHz {quantile}".strip()

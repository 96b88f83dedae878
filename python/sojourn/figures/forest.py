"""What changed most between two sides: differences with their intervals above each other."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sojourn.figures.chart import PALETTE, Chart, Forest, Panel

#: So many differences are drawn.
MOST = 30
#: Verdicts by colour.
COLORS = {"better": PALETTE[2], "worse": PALETTE[1], "different": PALETTE[0]}
_OTHER = "#888888"


def chart(differences: pl.DataFrame, a: str, b: str) -> Chart | None:
    """Relative differences in the order given; none if no difference has an interval and a mean of
    B to be compared with.
    """
    drawn = differences.filter((pl.col("b") != 0) & pl.col("low").is_not_null())
    if not len(drawn):
        return None
    shown = drawn.head(MOST)
    size = 100 / shown["b"].abs()
    forest = Forest(
        _names(shown),
        (shown["difference"] * size).to_list(),
        (shown["low"] * size).to_list(),
        (shown["high"] * size).to_list(),
        [COLORS.get(verdict, _OTHER) for verdict in shown["verdict"]],
    )
    caption = (
        f"Difference of the means, {a} less {b}, in per cent of the latter, with 95 % confidence "
        "intervals. Green: better, orange: worse, blue: different, grey: no verdict on a change."
    )
    if len(drawn) > MOST:
        caption += f" The {MOST} largest of {len(drawn)}."
    panel = Panel(f"{a} against {b} (%)", "", [], from_zero=False, forest=forest)
    return Chart("What changed most", caption, [panel])


def _names(shown: pl.DataFrame) -> Sequence[str]:
    """Metric, member and, where there are several, point."""
    several = shown["point"].n_unique() > 1
    parts = ["metric", "scope", "id", *(["point"] if several else [])]
    return [" ".join(filter(None, row)) for row in shown.select(parts).iter_rows()]

"""What changed most between two sides: differences with their intervals above each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl

from sojourn.figures.chart import PALETTE, Chart, Forest, Panel
from sojourn.figures.plots import words
from sojourn.metrics.columns import Values

#: So many differences are drawn.
MOST = 30
#: Verdicts by colour.
COLORS = {"better": PALETTE[2], "worse": PALETTE[1], "different": PALETTE[0]}
_OTHER = "#888888"
#: The axis goes no further than so many times what holds three quarters of the intervals.
_REACH = 3.0


def chart(differences: pl.DataFrame, a: str, b: str) -> Chart | None:
    """Relative differences in the order given; none if no difference has an interval and a mean of
    B to be compared with.
    """
    drawn = differences.filter((pl.col("b") != 0) & pl.col("low").is_not_null())
    if not len(drawn):
        return None
    shown = drawn.head(MOST)
    size = 100 / shown["b"].abs()
    middles, lows, highs = (shown[name] * size for name in ("difference", "low", "high"))
    colors = [COLORS.get(verdict, _OTHER) for verdict in shown["verdict"]]
    reach = _reach(lows.to_numpy(), highs.to_numpy())
    ends = (middles.to_list(), lows.to_list(), highs.to_list())
    forest = Forest(_names(shown), *ends, colors, reach)
    caption = (
        f"Difference of the means, {a} less {b}, in per cent of the latter, with 95 % confidence "
        "intervals. Green: better, orange: worse, blue: different, grey: no verdict on a change."
    )
    if forest.beyond():
        caption += " Arrows: beyond the axis, a number beside them if the difference itself is."
    if len(drawn) > MOST:
        caption += f" The {MOST} largest of {len(drawn)}."
    panel = Panel(f"{a} against {b} (%)", "", [], from_zero=False, forest=forest)
    return Chart("What changed most", caption, [panel])


def _reach(lows: Values, highs: Values) -> float:
    """How far from zero the axis goes: as far as all intervals, unless a few go much further than
    the others. The axis stays linear, so that lengths can be compared, intervals are symmetric, and
    zero is crossed as anywhere; the few have their numbers instead.
    """
    ends = np.maximum(np.abs(lows), np.abs(highs))
    reach = _REACH * float(np.quantile(ends, 0.75, method="lower"))
    return reach if 0 < reach < ends.max() else np.inf


def _names(shown: pl.DataFrame) -> Sequence[str]:
    """Quantity, member and, where there are several, point; the metric's own name where another
    one is called the same.
    """
    several = shown["point"].n_unique() > 1
    columns = ("metric", "scope", "id", "point")
    rows = list(shown.select(columns).iter_rows())
    called = {metric: _quantity(metric) for metric, *_ in rows}
    counts = Counter(called.values())
    names = []
    for metric, scope, identity, point in rows:
        name = called[metric] if counts[called[metric]] == 1 else f"{called[metric]} ({metric})"
        names.append(", ".join(filter(None, [name + _of(scope, identity), point * several])))
    return names


def _quantity(metric: str) -> str:
    return words.of_metric(metric).partition(" (")[0]


def _of(scope: str, identity: str) -> str:
    """Whose it is, in words."""
    if scope == "group":
        return f" of {words.of_value(identity.partition(':')[2] or identity)} flows"
    return "" if scope == "net" else f" of {scope} {identity}"

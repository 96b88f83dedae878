"""The printed cells that parameters were fitted to, as the card has them."""

from __future__ import annotations

from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.section import INFERRED, MEASURED, PATH

_GOODPUTS = ("Flow-1", "Flow-2", "CUBIC", "Sum")
#: Form, tables, rows and columns; all of them where there are none.
_FITTED: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    # The real paths: Cubic's baseline.
    (PATH, ("3",), (), ()),
    # The loss of WAN-2: what Cubic has, beside others and by itself.
    (INFERRED, ("9", "A26"), (), ("CUBIC",)),
    (INFERRED, ("10", "A28"), ("CUBIC",), _GOODPUTS),
    # Its receive buffer, and that BBR is paced: what BBR has beside Cubic.
    (INFERRED, ("9", "A26"), ("BBR",), _GOODPUTS),
    # The air: Cubic alone at 2.4 GHz, two of it at 5 GHz.
    (MEASURED, ("12",), ("CUBIC",), ("Thp.", "RTT")),
    (MEASURED, ("17",), ("CUBIC",), _GOODPUTS),
)


def is_fitted(row: Row) -> bool:
    """Whether a cell's error says how well it was fitted, and nothing of the model."""
    return any(
        (row["form"] == form and row["table"] in tables)
        and (not rows or row["row"] in rows)
        and (not columns or row["column"] in columns)
        for form, tables, rows, columns in _FITTED
    )

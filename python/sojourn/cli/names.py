"""Names that the command line is given."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from sojourn.errors import ScenarioError


def checked_metrics(option: str, names: Iterable[str]) -> list[str]:
    """The names of metrics, or an error with the nearest one."""
    from sojourn.metrics import metrics, unknown

    wanted = [name.strip() for name in names if name.strip()]
    for name in unknown(wanted):
        near = difflib.get_close_matches(name, [m.name for m in metrics()], 1)
        hint = f"did you mean {near[0]!r}?" if near else "see: sojourn list metrics"
        raise ScenarioError(f"{option}: unknown metric {name!r}; {hint}")
    return wanted

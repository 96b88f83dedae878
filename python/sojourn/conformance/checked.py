"""What a member does in a check."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sojourn import _internal, class_sources, located
from sojourn.errors import RunError
from sojourn.executors import processes
from sojourn.external import inside


def value(kind: str, table: Mapping[str, Any], check: str) -> float:
    """The value of a check of a member, a table of this kind; in a process of its own for a control
    from outside.

    Raises:
        ScenarioError: if the member is refused.
        RunError: if it ends a run.

    """
    text = json.dumps(table)
    if table["kind"] in located.KINDS:
        classes = class_sources.pickled([str(table.get("digest", ""))])
        return float(processes.call(inside.conform, kind, text, check, classes))
    try:
        return _internal.conform(kind, text, check)
    except RuntimeError as error:
        raise RunError(str(error), getattr(error, "failed_at", None)) from None

"""Names that a person writes, and the nearest one where there is no such name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any


def unknown(what: str, name: str, known: Iterable[str], see: str = "") -> str:
    """Says that there is no ``what`` called ``name``: the nearest one, and what there is or, with
    ``see``, how to list it.
    """
    names = list(known)
    near = _nearest(name, names)
    hint = f"did you mean {near!r}? " if near else ""
    rest = f"see: {see}" if see else f"allowed: {', '.join(names) or 'none'}"
    return f"unknown {what} {name!r}; {hint}{rest}"


def control_name(flow: Mapping[str, Any]) -> str:
    """What tables and figures call a flow's control: its kind, of one from outside its name, its
    class or its file; the transport of a flow without control; several at once joined by ``+``.
    """
    control = flow.get("cca")
    if not control:
        return str(flow["transport"])
    if isinstance(control, list):
        return "+".join(control_name({**flow, "cca": one}) for one in control)
    key = _NAMING.get(control["kind"], "kind")
    if key in ("path", "source"):
        return PurePath(control[key]).stem.removeprefix("lib").removeprefix("tcp_")
    return str(control[key])


#: What tells controls of a kind apart, if the kind does not.
_NAMING = {"bpf": "name", "python": "class", "library": "path", "linux": "source"}


def _nearest(name: str, names: list[str]) -> str | None:
    """The name most like it, or else the first that it is a part of."""
    folded = {known.lower().replace("-", "_"): known for known in names}
    given = name.lower().replace("-", "_")
    part_of = [known for known in folded if given and given in known]
    near = [*difflib.get_close_matches(given, folded, 1), *part_of]
    return folded[near[0]] if near else None

"""Names that a person writes, and the nearest one where there is no such name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from sojourn import literal
from sojourn.json_types import Fields

#: So many names are suggested at most.
_MOST = 3
#: Names so alike differ by a slip, and words of names.
_SLIP, _SLIP_OF_WORD = 0.85, 0.8


def unknown(what: str, name: str, known: Iterable[str], see: str = "") -> str:
    """Says that there is no ``what`` called ``name``: the nearest ones, and what there is or, with
    ``see``, how to list it.
    """
    names = list(known)
    near = nearest(literal.beginning(name), names)
    hint = f"did you mean {either(map(repr, near))}? " if near else ""
    rest = f"see: {see}" if see else f"allowed: {', '.join(names) or 'none'}"
    return f"unknown {what} {literal.given(name)}; {hint}{rest}"


def either(words: Iterable[str]) -> str:
    """``a, b or c``."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def control_name(flow: Fields) -> str:
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


def flow_name(label: str | None, control: str) -> str:
    """What a flow is called: its control, or its label, with the control beside it where the label
    does not say that already.
    """
    if not label:
        return control
    return label if _folded(control) in _folded(label) else f"{label} ({control})"


#: What tells controls of a kind apart, if the kind does not.
_NAMING = {"bpf": "name", "python": "class", "library": "path", "linux": "source"}


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """What may be meant: the one that only is written otherwise; else those that it is a part of,
    first the plainest; else the one from which a slip parts it; else those that share words with
    it; else those that are like it at all.
    """
    folded = {_folded(known): known for known in names}
    given = _folded(name)
    if given in folded:
        return [folded[given]]
    parts = sorted((known for known in folded if given in known), key=_length) if given else []
    close = difflib.get_close_matches(given, folded, _MOST)
    slip = difflib.get_close_matches(given, close, 1, _SLIP)
    near = parts or slip or _with_words(given, list(folded)) or close
    return [folded[known] for known in near[:_MOST]]


def _with_words(given: str, names: Sequence[str]) -> list[str]:
    """The names that have most of the words, give or take a slip; rare words count for more."""
    words = {word for name in names for word in _words(name)}
    score = dict.fromkeys(names, 0.0)
    for word in _words(given):
        [sought] = difflib.get_close_matches(word, words, 1, _SLIP_OF_WORD) or [word]
        having = [name for name in names if sought in name]
        for name in having:
            score[name] += 1 / len(having)
    found = [name for name in names if score[name]]
    return sorted(found, key=lambda name: (-score[name], _length(name)))


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[_.]", name) if word]


def _length(name: str) -> int:
    return len(_words(name))

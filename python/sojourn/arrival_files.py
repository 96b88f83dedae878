"""Files that entries of ``arrivals`` name: lists of arrivals, and distributions of sizes.

``process = { kind = "file", path = "arrivals.csv" }`` has the columns ``time`` (s, since the
entry's start) and, if there are any, ``size`` (B) and ``pair`` (number of the entry of ``mix``);
``size = { kind = "empirical", path = "sizes.csv" }`` has ``bytes`` and ``cumulative`` (per cent, or
shares if the last one is 1). A first line with these names may be there. As with traces, paths are
relative to the scenario's own file, and the content takes the place of the path before the scenario
is validated: it belongs to what is hashed and stored, and the simulator itself reads no file.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, TypeGuard

from sojourn import literal, regular_file
from sojourn.errors import ScenarioError

#: More than the simulator takes; nothing larger is read.
_MOST_ROWS = 1_000_000
#: Characters of a number that the simulator takes.
_LONGEST = 40


def _real(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


#: The columns of each kind of file: how a value is read, and what it is.
_ARRIVALS: Mapping[str, tuple[Callable[[str], float], str]] = {
    "time": (_real, "a time in seconds"),
    "size": (int, "a whole number of bytes"),
    "pair": (int, "the number of an entry of mix"),
}
_SIZES: Mapping[str, tuple[Callable[[str], float], str]] = {
    "bytes": (_real, "a number of bytes"),
    "cumulative": (_real, "a share in per cent"),
}


def inline(document: Mapping[str, object], base: Path) -> None:
    """Replaces the paths of all entries of ``arrivals`` by what the files hold, in place.

    Raises:
        ScenarioError: naming the field, if a file cannot be read or holds something else.

    """
    entries = document.get("arrivals")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if not isinstance(entry, Mapping):
            continue
        process = entry.get("process")
        if _names_file(process, "file"):
            process.update(_read(base, process.pop("path"), f"arrivals.{index}.process", _ARRIVALS))
        for key in ("size", "request"):
            sizes = entry.get(key)
            if _names_file(sizes, "empirical"):
                field = f"arrivals.{index}.{key}"
                sizes["points"] = _points(_read(base, sizes.pop("path"), field, _SIZES))


def _names_file(table: object, kind: str) -> TypeGuard[MutableMapping[str, Any]]:
    return isinstance(table, MutableMapping) and table.get("kind") == kind and "path" in table


def _points(columns: Mapping[str, list[float]]) -> list[list[float]]:
    """Pairs of a size and the per cent up to it."""
    cumulative = columns["cumulative"]
    if cumulative[-1] == 1:
        cumulative = [round(100 * share, 10) for share in cumulative]
    return [list(pair) for pair in zip(columns["bytes"], cumulative, strict=True)]


def _read(
    base: Path,
    name: object,
    field: str,
    known: Mapping[str, tuple[Callable[[str], float], str]],
) -> dict[str, list[float]]:
    """The columns of a file of comma-separated values, of which the first ones are required: one of
    arrivals, both of sizes.
    """
    if not isinstance(name, str):
        given = literal.given(name)
        raise ScenarioError(f"{field}.path: {given} given; expected the name of a file")
    path = base / name
    try:
        lines = regular_file.text(path).splitlines()
        rows = [(number, row) for number, row in enumerate(csv.reader(lines), 1) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "is no text of comma-separated values"
        raise ScenarioError(f"{field}.path: {path}: cannot be read: {reason}") from None
    names = _names(rows, known)
    wrong = f"{field}.path: {path}"
    required = list(known)[: 1 if known is _ARRIVALS else 2]
    if not names or not set(required) <= set(names) <= set(known):
        raise ScenarioError(
            f"{wrong}: columns {literal.beginning(', '.join(names)) or 'none'} given; "
            f"allowed: {', '.join(known)}, of which {', '.join(required)} required"
        )
    if not _is_number(rows[0][1][0]):
        del rows[0]
    if not 1 <= len(rows) <= _MOST_ROWS:
        raise ScenarioError(f"{wrong}: {len(rows)} rows given; allowed: 1 to {_MOST_ROWS}")
    return {
        column: [_value(row, at, number, known[column], wrong) for number, row in rows]
        for at, column in enumerate(names)
    }


def _names(rows: list[tuple[int, list[str]]], known: Mapping[str, object]) -> list[str]:
    """The columns' names: those of the first line, or the known ones in their order."""
    first = rows[0][1] if rows else []
    if first and not _is_number(first[0]):
        return [name.strip() for name in first]
    unknown = ["?"] * (len(first) - len(known))
    return [*known, *unknown][: len(first)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _value(
    row: list[str], at: int, number: int, kind: tuple[Callable[[str], float], str], wrong: str
) -> float:
    read, meaning = kind
    text = row[at].strip() if at < len(row) else ""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        return read(text)
    except ValueError:
        told = f"{literal.given(text)} is not {meaning}"
        raise ScenarioError(f"{wrong}, line {number}: {told}") from None

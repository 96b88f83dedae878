"""Texts, lines and spans that a file adds to the panels of a figure."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

from sojourn import literal, regular_file
from sojourn.errors import ScenarioError
from sojourn.figures.chart import Note, Panel
from sojourn.figures.plots import words
from sojourn.figures.plots.asked import Asked, Place
from sojourn.json_types import Json
from sojourn.names import unknown

#: The tables of a file, and how many values of ``x`` and ``y`` an entry may have.
_TABLES = {
    "text": {(1, 1)},
    "line": {(1, 0), (0, 1)},
    "span": {(2, 0), (0, 2)},
}
_EXPECTED = {
    "text": "x, y and text",
    "line": "x or y",
    "span": "x or y with two ends, such as x = [10, 20]",
}
_KEYS = ("x", "y", "text", "row", "column")


@dataclass(frozen=True)
class _Entry:
    """One entry of a file."""

    where: str
    kind: str
    given: dict[str, Json]

    def refuse(self, told: str) -> NoReturn:
        """Says what is wrong with it."""
        raise ScenarioError(f"{self.where}: {told}")

    def is_at(self, place: Place) -> bool:
        """Whether it is of the panel at these values of the axes of rows and columns."""
        own = zip(("row", "column"), place, strict=True)
        return all(key not in self.given or str(self.given[key]) == str(at) for key, at in own)


def annotated(panels: Sequence[Panel], asked: Asked, path: Path) -> list[Panel]:
    """The panels, row by row, with what the file says of each.

    Raises:
        ScenarioError: names the file, the entry and what is allowed.

    """
    entries = _read(path)
    for entry in entries:
        _check_panel(entry, asked)
    return [
        replace(panel, notes=[_note(entry, panel) for entry in entries if entry.is_at(place)])
        for panel, place in zip(panels, asked.panels(), strict=True)
    ]


def _read(path: Path) -> list[_Entry]:
    try:
        document = tomllib.loads(regular_file.text(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not text in UTF-8"
        raise ScenarioError(f"--annotations {path}: cannot be read: {reason}") from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"--annotations {path}: {error}") from None
    entries = []
    for kind, tables in document.items():
        if kind not in _TABLES:
            raise ScenarioError(f"{path}: {unknown('table', kind, list(_TABLES))}")
        if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
            raise ScenarioError(f"{path}: {kind}: expected a list of tables: [[{kind}]]")
        entries += [
            _Entry(f"{path}: {kind}.{place}", kind, given) for place, given in enumerate(tables)
        ]
    return entries


def _note(entry: _Entry, panel: Panel) -> Note:
    for key in entry.given:
        if key not in _KEYS:
            entry.refuse(unknown("key", key, _KEYS))
    x, y = _places(entry, "x", _names(panel)), _places(entry, "y", {})
    text = str(entry.given.get("text", ""))
    if (len(x), len(y)) not in _TABLES[entry.kind] or (entry.kind == "text" and not text):
        entry.refuse(f"expected {_EXPECTED[entry.kind]}")
    return Note(text, x, y)


def _names(panel: Panel) -> dict[str, float]:
    """What stands along the horizontal axis, and where."""
    if panel.ticks:
        return {name: place for place, name in panel.ticks}
    names = panel.heat.columns if panel.heat else panel.boxes[0].names if panel.boxes else ()
    return {name: float(place) for place, name in enumerate(names)}


def _places(entry: _Entry, key: str, names: Mapping[str, float]) -> list[float]:
    """Where on an axis: numbers in its unit, or names along it."""
    given = entry.given.get(key, [])
    found = []
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, int | float) and not isinstance(each, bool):
            found.append(float(each))
        elif isinstance(each, str) and (name := words.of_value(each)) in names:
            found.append(names[name])
        else:
            allowed = f", or one of {', '.join(names)}" if names else ""
            entry.refuse(f"{key} = {literal.given(each)}; expected a number{allowed}")
    return found


def _check_panel(entry: _Entry, asked: Asked) -> None:
    """Refuses a panel that there is not."""
    for key, axis in (("row", asked.rows), ("column", asked.columns)):
        if key not in entry.given:
            continue
        if axis is None:
            entry.refuse(f"{key}: the figure has no --{key}s")
        known = [str(value) for value in asked.places(axis)]
        if (given := str(entry.given[key])) not in known:
            entry.refuse(f"{key}: {unknown(f'value of {axis}', given, known)}")

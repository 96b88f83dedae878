"""Fields of scenarios as columns, whether a grid varies them, what they are in, or nothing."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.json_types import Json
from sojourn.scenario import Document, set_path, validated
from sojourn.store.rows import coordinate_text

#: By axis of a grid and label what the values stand for that have one.
Labels = Mapping[str, Mapping[str, Json]]
#: The axis each of whose values sets several fields by their paths.
_CASE = "case"


def with_field(
    rows: pl.DataFrame, path: str, document: Document, grid: Sequence[str], labels: Labels
) -> pl.DataFrame:
    """The rows of a result with the field at ``path`` as a column of texts: of the scenario as it
    was written, changed as the row's values of the ``grid`` say, or else of its defaults. Null
    where it has none.
    """
    axes = [axis for axis in grid if axis == _CASE or _touches(axis, path)]
    if not axes:
        return rows.with_columns(pl.lit(_text(document, path), pl.String).alias(path))
    points = rows.select(axes).unique(maintain_order=True)
    texts = []
    for point in points.iter_rows(named=True):
        changed = copy.deepcopy(document)
        for field, value in _settings(point, labels):
            set_path(changed, field, value)
        texts.append(_text(changed, path))
    told = points.with_columns(pl.Series(path, texts, pl.String))
    return rows.join(told, on=axes, how="left", nulls_equal=True, maintain_order="left")


def _touches(axis: str, path: str) -> bool:
    """Whether an axis sets the field, a table that it is in, or a part of it."""
    parts = zip(axis.split("."), path.split("."), strict=False)
    return all(a == b or (a == "*" and b.isdigit()) or (b == "*" and a.isdigit()) for a, b in parts)


def _settings(point: Mapping[str, str | None], labels: Labels) -> Iterator[tuple[str, Json]]:
    """The fields that a point sets, with their values."""
    for axis, text in point.items():
        if text is None:
            continue
        value = labels.get(axis, {}).get(text, _read(text))
        if axis == _CASE and isinstance(value, dict):
            yield from value.items()
        elif axis != _CASE:
            yield axis, value


def _read(text: str) -> Json:
    """A grid's value."""
    try:
        read: Json = json.loads(text)
    except ValueError:
        return text
    return read


def _text(document: Document, path: str) -> str | None:
    """The field of a scenario."""
    value = _at(document, path.split("."))
    if value is None:
        try:
            with warnings.catch_warnings(action="ignore"):  # Who ran it was warned.
                value = _at(validated(document).canonical, path.split("."))
        except ScenarioError:  # Files that it names may have gone.
            return None
    return None if value is None else coordinate_text(value)


def _at(node: Json, parts: Sequence[str]) -> Json:
    """The value below a node; a name alone is a table of that kind, and ``*`` stands for all
    entries if they have one value.
    """
    if not parts:
        return node
    first, *rest = parts
    if isinstance(node, str) and parts == ["kind"]:
        return node
    if isinstance(node, Mapping):
        return _at(node.get(first), rest)
    if isinstance(node, list) and first == "*":
        values = [_at(each, rest) for each in node]
        return values[0] if values and all(value == values[0] for value in values) else None
    if isinstance(node, list) and first.isdigit() and int(first) < len(node):
        return _at(node[int(first)], rest)
    return None

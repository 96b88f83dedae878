"""The axes of a sweep: values of fields by their paths, and cases, each of several fields together.

The cases are an axis of their own, :data:`CASE`, whose values are tables of paths with a name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sojourn import literal
from sojourn.errors import ScenarioError
from sojourn.json_types import Json
from sojourn.store.labels import KEY, is_labelled, unlabelled
from sojourn.store.rows import Coordinates, Grid, coordinate_text

#: The axis of the cases, as columns and options name it.
CASE = "case"
_EXAMPLE = '"FQ-CoDel"'
#: By axis and label what the values stand for that have one.
Labelled = Mapping[str, Mapping[str, Json]]


def axes(table: Mapping[str, object]) -> Grid:
    """The axes of a sweep table, that of the cases first.

    Raises:
        ScenarioError: names the key, what is wrong with it and the remedy.

    """
    cases, grid = _cases(table.get("cases", [])), _grid(table.get("grid", {}))
    for path in grid:
        _check_apart(path, cases)
    return ({CASE: cases} if cases else {}) | grid


def settings(coordinates: Coordinates) -> Iterator[tuple[str, Json]]:
    """The fields that a point sets with their values, those of its case first: an axis may change
    a part of what its case has set.
    """
    for axis, value in coordinates.items():
        plain = unlabelled(value)
        if axis == CASE and isinstance(plain, dict):
            yield from plain.items()
        else:
            yield axis, plain


def field_of(axis: str, place: int, path: str = "") -> str:
    """What messages call a value of an axis, or of a case what it gives the field at ``path``."""
    if axis != CASE:
        return f'sweep.grid."{axis}"[{place}]'
    return f"sweep.cases[{place}]" + (f'."{path}"' if path else "")


def labelled(grid: Grid) -> Labelled:
    """The values with labels; no axis without any."""
    found = {
        axis: {coordinate_text(value): unlabelled(value) for value in values if is_labelled(value)}
        for axis, values in grid.items()
    }
    return {axis: values for axis, values in found.items() if values}


def _grid(given: object) -> dict[str, list[Json]]:
    if not isinstance(given, dict):
        raise ScenarioError(
            f"sweep.grid: {literal.given(given)} given; expected a table of field paths"
        )
    for path, values in given.items():
        if path == CASE:
            raise ScenarioError(f'sweep.grid."{CASE}": no field of a scenario; see [[sweep.cases]]')
        if not isinstance(values, list) or not values:
            raise ScenarioError(
                f'sweep.grid."{path}": {literal.given(values)} given; expected a list of values '
                f'such as ["1 Mbit/s", "10 Mbit/s"]{_in_quotes(path, values)}'
            )
        _check_labels(path, values)
    return given


def _cases(given: object) -> list[Json]:
    if not isinstance(given, list) or not all(isinstance(case, dict) for case in given):
        raise ScenarioError(
            f"sweep.cases: {literal.given(given)} given; expected a table [[sweep.cases]] for each "
            "case, with a name and values of fields by their paths"
        )
    for place, case in enumerate(given):
        if KEY not in case:
            raise ScenarioError(
                f"{field_of(CASE, place)}.{KEY}: is missing; give each case a label, such as "
                f"{_EXAMPLE}"
            )
        for path, value in case.items():
            if told := _in_quotes(path, value):
                raise ScenarioError(f"{field_of(CASE, place)}.{path}: a table without kind{told}")
        _check_same_fields(place, case, given[0])
    _check_labels(CASE, given)
    return given


def _check_same_fields(place: int, case: Mapping[str, Json], first: Mapping[str, Json]) -> None:
    """Refuses a case that sets other fields than the first one: the rest would be of the file in
    one and of the case in the other.
    """
    if len(case) == 1:
        raise ScenarioError(
            f"{field_of(CASE, place)}: sets no field; give values by paths, such as "
            '"topology.bottleneck.queue" = "fq_codel"'
        )
    for path in (*first, *case):
        if path not in case or path not in first:
            lacking = literal.given(first[KEY] if path in case else case[KEY])
            raise ScenarioError(
                f"{field_of(CASE, place, path)}: case {lacking} does not set this field; expected "
                "the same fields in every case: what the file says may be repeated"
            )


def _check_labels(axis: str, values: Sequence[Json]) -> None:
    """Refuses labels that are none, and two values of an axis that would look the same."""
    texts: set[str] = set()
    plain = {coordinate_text(value) for value in values if not is_labelled(value)}
    for place, value in enumerate(values):
        if not is_labelled(value):
            continue
        name, field = value[KEY], f"{field_of(axis, place)}.{KEY}"
        if not isinstance(name, str) or not name.strip():
            raise ScenarioError(
                f"{field}: {literal.given(name)} given; expected a label, such as {_EXAMPLE}"
            )
        if name in texts | plain:
            raise ScenarioError(
                f"{field}: {literal.given(name)} is the label of another value; give each its own"
            )
        texts.add(name)


def _check_apart(axis: str, cases: Sequence[Json]) -> None:
    """Refuses an axis that would undo what a case has set."""
    for place, case in enumerate(cases):
        for path, _ in settings({CASE: case}):
            if _covers(axis, path):
                raise ScenarioError(
                    f'{field_of(CASE, place, path)}: sweep.grid."{axis}" sets this field too; '
                    "leave it out of the cases or of the grid"
                )


def _covers(path: str, other: str) -> bool:
    """Whether setting the field at a path sets the one at the other; ``*`` is any entry."""
    parts = list(zip(path.split("."), other.split("."), strict=False))
    fits = all(a == b or (a == "*" and b.isdigit()) or (b == "*" and a.isdigit()) for a, b in parts)
    return fits and path.count(".") <= other.count(".")


def _in_quotes(path: str, value: object) -> str:
    """The remedy where a path has become tables within each other."""
    if "." in path or not isinstance(value, dict) or "kind" in value:
        return ""
    while isinstance(value, dict) and "kind" not in value and len(value) == 1:
        [(key, value)] = value.items()
        path = f"{path}.{key}"
    return f'; write a path as one key in quotes, such as "{path}"'

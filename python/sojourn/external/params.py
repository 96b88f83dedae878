"""Parameters of a control written in Python: the fields of its dataclass, checked like ours."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

from sojourn import literal
from sojourn.errors import refused
from sojourn.external import raised
from sojourn.names import unknown

_PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def read(params: type | None, given: Mapping[str, object]) -> object:
    """An instance of the class ``params`` from the keys of a scenario.

    Raises:
        ScenarioError: naming the key, what was given and what is allowed.

    """
    fields = _fields(params)
    for key in given:
        if key not in fields:
            raise refused(key, unknown("parameter", key, fields))
    if params is None:
        return None
    hints = _hints(params)
    values = {key: _value(key, hints[key], value) for key, value in given.items()}
    for name, field in fields.items():
        if name not in values and _has_no_default(field):
            raise refused(name, f"is missing; expected {_expected(hints[name])}")
    try:
        return params(**values)
    except ValueError as error:
        raise refused("", str(error)) from None
    except Exception as error:
        raise refused("", f"{params.__name__} raised {raised.told(error)}") from None


def plain(params: object) -> dict[str, object]:
    """The values of an instance."""
    return {} if params is None else {name: getattr(params, name) for name in _fields(type(params))}


def _fields(params: type | None) -> dict[str, dataclasses.Field[object]]:
    if params is None:
        return {}
    if not dataclasses.is_dataclass(params):
        raise refused("class", f"its {params.__name__} is no dataclass")
    return {field.name: field for field in dataclasses.fields(params) if field.init}


def _hints(params: type) -> dict[str, object]:
    try:
        return get_type_hints(params)
    except Exception as error:
        raise refused("class", f"a type in its {params.__name__} is no type: {error}") from None


def _has_no_default(field: dataclasses.Field[object]) -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _value(key: str, hint: object, value: object) -> object:
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise refused(key, unknown("choice", str(value), map(str, get_args(hint))))
        return value
    kinds = set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}
    if value is None and NoneType in kinds:
        return None
    if type(value) in kinds:
        return value
    if float in kinds and type(value) is int:
        return float(value)
    raise refused(key, f"{literal.given(value)} given; expected {_expected(hint)}")


def _expected(hint: object) -> str:
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    words = [_PLAIN.get(kind, str(kind)) for kind in kinds if kind is not NoneType]
    return " or ".join(words)

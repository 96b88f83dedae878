"""Entries of TOML files of reproductions, each of which becomes an object; what is wrong with one
is named.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sojourn.errors import ScenarioError
from sojourn.names import unknown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Entry = TypeVar("Entry", bound="DataclassInstance")


def document(path: Path) -> dict[str, Any]:
    """What a file has.

    Raises:
        ScenarioError: names the file, if it cannot be read.

    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ScenarioError(f"{path}: {error}") from None


def entries(
    path: Path, document: Mapping[str, Any], name: str, kind: type[Entry]
) -> Iterator[Entry]:
    """Those of a list of tables, in order.

    Raises:
        ScenarioError: names file, entry and key.

    """
    for place, entry in enumerate(document.get(name, ())):
        known(f"{path}: {name}.{place}", entry, kind)
        yield kind(**entry)


def known(where: str, entry: Mapping[str, object], kind: type[DataclassInstance]) -> None:
    """Refuses keys that there are not, and asks for those that are missing.

    Raises:
        ScenarioError: names ``where`` and the key.

    """
    allowed = {field.name: field.default is MISSING for field in fields(kind)}
    for key in entry:
        if key not in allowed:
            raise ScenarioError(f"{where}: {unknown('key', key, allowed)}")
    for key, required in allowed.items():
        if required and key not in entry:
            raise ScenarioError(f"{where}: has no {key}")

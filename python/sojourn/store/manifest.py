"""The manifest of a result directory: what it holds, and in which format."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from sojourn.disk import DAMAGED, told
from sojourn.errors import ScenarioError, SojournError
from sojourn.store.batches import Batches
from sojourn.store.files import write_atomically, write_json
from sojourn.store.layout import MANIFEST
from sojourn.store.replacement import settle

FILE = MANIFEST
#: Version of the layout of result directories.
FORMAT = 2
#: Its further keys depend on the kind of directory, whose owner knows what they hold.
Manifest = dict[str, Any]
#: What a manifest of a kind has at least, finished or not, with its type.
_NEEDED: dict[str, dict[str, type]] = {
    "run": {"scenario": dict, "document": dict},
    "backends": {"scenario": dict, "document": dict, "runs": dict},
    "sweep": {"engine": str, "metrics": str, "document": dict, "grid": dict, "replications": int},
    "reproduction": {"paper": str, "title": str, "keys": list},
    "evaluation": {"suite": dict, "controls": list, "against": list},
    "comparison": {"a": str, "b": str},
    "capacity": {"links": list},
    "fidelity campaign": {"asked": dict, "origin": dict},
}


def _first(directory: Path, manifest: Manifest) -> Manifest:
    """Format 1 named the core's build and the metrics' definitions together, or not at all."""
    Batches(directory).rewrite(_with_definitions)
    if "build" in manifest:
        build = manifest.pop("build").partition(_JOINT)
        manifest |= {"engine": build[0], "metrics": build[2]}
    return manifest


def _with_definitions(rows: pl.DataFrame) -> pl.DataFrame | None:
    if "metrics" in rows.columns:
        return None
    joint = pl.col("engine") if "engine" in rows.columns else pl.lit("")
    parts = joint.str.split(_JOINT)
    return rows.with_columns(engine=parts.list.first(), metrics=parts.list.last())


_JOINT = "+metrics."
#: For each older format, how its directory becomes one of the next format.
MIGRATIONS: dict[int, Callable[[Path, Manifest], Manifest]] = {1: _first}


def write(directory: Path, kind: str, content: Manifest) -> None:
    """Writes the manifest of a directory of the given kind."""
    write_atomically(directory / FILE, writer(kind, content))


def writer(kind: str, content: Manifest) -> Callable[[Path], None]:
    """What writes the manifest to a path."""
    return partial(write_json, {"format": FORMAT, "kind": kind, **content})


def read(directory: Path) -> Manifest:
    """The manifest of a directory, migrated to the present format.

    Raises:
        ScenarioError: if there is none.
        SojournError: if it is damaged, or written by a later version.

    """
    path = directory / FILE
    try:
        settle(directory)
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ScenarioError(
            f"{directory}: not a result directory: it has no {FILE}; give one that sojourn run or "
            "sweep has written, such as results/NAME"
        ) from None
    except OSError as error:
        raise SojournError(told(error)) from None
    except ValueError as error:
        raise SojournError(f"{path}: {DAMAGED} ({error})") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("format"), int):
        raise SojournError(f"{path}: {DAMAGED} (it is not a manifest of Sojourn)")
    return _checked(path, migrated(directory, manifest))


def _checked(path: Path, manifest: Manifest) -> Manifest:
    """A manifest that has what its kind needs."""
    kind = manifest.get("kind")
    needed = _NEEDED.get(kind, {}) if isinstance(kind, str) else {"kind": str}
    for key, type_ in needed.items():
        if not isinstance(manifest.get(key), type_):
            raise SojournError(f"{path}: {DAMAGED} (it lacks {key!r})")
    return manifest


def migrated(directory: Path, manifest: Manifest) -> Manifest:
    """Brings an older directory to the present format, step by step."""
    if manifest["format"] > FORMAT:
        raise SojournError(
            f"{directory}: written in format {manifest['format']}; this version reads formats up "
            f"to {FORMAT}: use a later version of Sojourn"
        )
    while (old := manifest["format"]) < FORMAT:
        if old not in MIGRATIONS:
            raise SojournError(
                f"{directory}: written in format {old}, which this version no longer reads"
            )
        manifest = {**MIGRATIONS[old](directory, manifest), "format": old + 1}
        write_atomically(directory / FILE, partial(write_json, manifest))
    return manifest

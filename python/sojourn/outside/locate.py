"""Controls from outside in scenarios: where their files are, and which a scenario has."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, MutableSequence
from pathlib import Path
from typing import Any

from sojourn.outside import given

#: Kinds whose tables name a file.
KINDS = ("python", "library")


def settle(node: Any, base: Path) -> None:
    """Makes every file's path below ``node`` absolute, seen from ``base``, and puts tables in the
    place of classes, in place.
    """
    items: list[tuple[Any, Any]] = []
    if isinstance(node, MutableMapping):
        if node.get("kind") in KINDS and isinstance(node.get("path"), str):
            node["path"] = _absolute(base, node["path"])
        if node.get("kind") == "bpf" and isinstance(node.get("object"), str):
            node["object"] = _absolute(base, node["object"])
        if node.get("kind") == "python" and isinstance(node.get("class"), type):
            node.update(given.table(node["class"]))
        items = list(node.items())
    elif isinstance(node, MutableSequence):
        items = list(enumerate(node))
    for key, child in items:
        if isinstance(child, type):
            node[key] = given.table(child)
        elif str(key).endswith(("cca.path", "cca.object")) and isinstance(
            child, list
        ):  # of a sweep's grid
            node[key] = [_absolute(base, p) if isinstance(p, str) else p for p in child]
        else:
            settle(child, base)


def _absolute(base: Path, path: str) -> str:
    return str((base / path).resolve())


def placeless(node: Any) -> Any:
    """A canonical form in which files whose content a digest tells are known by their names,
    wherever they lie.
    """
    if isinstance(node, Mapping):
        found = {key: placeless(child) for key, child in node.items()}
        if "digest" in found and isinstance(found.get("path"), str):
            found["path"] = Path(found["path"]).name
        return found
    return [placeless(child) for child in node] if isinstance(node, list) else node


def controls(canonical: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The tables of a canonical scenario's controls from outside."""
    tables = (flow.get("cca") or {} for flow in canonical["flows"])
    return [table for table in tables if table.get("kind") in KINDS]

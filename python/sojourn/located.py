"""Controls from outside in scenarios: where their files are, and which a scenario has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from pathlib import Path

from sojourn import class_sources
from sojourn.json_types import Scalar, tables

#: Kinds whose tables name a file, and the key that does.
_FILES = {"python": "path", "library": "path", "bpf": "object", "linux": "source"}
_GRID = ("cca.path", "cca.object", "cca.source", "queue.source")
#: What the last key of such a path says of the kind; a library travels as Python without imports.
_GRID_KINDS = {"path": "python", "object": "bpf", "source": "linux"}
#: Of those, what runs in processes of its own.
KINDS = ("python", "library", "linux")


def settle(node: object, base: Path) -> None:
    """Makes every file's path below ``node`` absolute, seen from ``base``, and puts tables in the
    place of classes, in place.
    """
    if isinstance(node, MutableMapping):
        key = _FILES.get(str(node.get("kind")), "")
        if isinstance(node.get(key), str):
            node[key] = _absolute(base, node[key])
        if node.get("kind") == "python" and isinstance(node.get("class"), type):
            node.update(class_sources.table(node["class"]))
        for name, child in node.items():
            if str(name).endswith(_GRID) and isinstance(child, list):  # of a sweep's grid
                node[name] = [_absolute(base, p) if isinstance(p, str) else p for p in child]
            elif str(name).endswith(_GRID) and isinstance(child, str):  # of a sweep's cases
                node[name] = _absolute(base, child)
            else:
                node[name] = _settled(child, base)
    elif isinstance(node, MutableSequence):
        node[:] = [_settled(child, base) for child in node]


def _settled(child: object, base: Path) -> object:
    """What takes the place of a child, which may be itself."""
    if isinstance(child, type):
        return class_sources.table(child)
    if not isinstance(child, Scalar):
        settle(child, base)
    return child


def _absolute(base: Path, path: str) -> str:
    return str((base / path).resolve())


def placeless(node: object) -> object:
    """A canonical form in which files whose content a digest tells are known by their names,
    wherever they lie.
    """
    if isinstance(node, Mapping):
        found = {key: placeless(child) for key, child in node.items()}
        key = _FILES.get(str(found.get("kind")), "path")
        if "digest" in found and isinstance(path := found.get(key), str):
            found[key] = Path(path).name
        return found
    return [placeless(child) for child in node] if isinstance(node, list) else node


def components(node: object) -> Iterator[Mapping[str, object]]:
    """The tables of a canonical scenario's controls and disciplines from outside."""
    for table in tables(node):
        if table.get("kind") in KINDS and "digest" in table:
            yield table


def files(canonical: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The files of those tables, and what tells one version of each from another."""
    for table in components(canonical):
        path = table.get(_FILES[str(table["kind"])])
        if isinstance(path, str):
            yield path, str(table["digest"])


def named(node: object) -> Iterator[tuple[str, str]]:
    """Path and kind of the files that tables below ``node`` name, and values of a sweep."""
    for table in tables(node):
        key = _FILES.get(str(table.get("kind")), "")
        if isinstance(table.get(key), str):
            yield table[key], str(table["kind"])
        for name, child in table.items():
            if str(name).endswith(_GRID):
                kind = _GRID_KINDS.get(str(name).rpartition(".")[2], "")
                paths = child if isinstance(child, list) else [child]
                yield from ((path, kind) for path in paths if isinstance(path, str))


def digests(node: object) -> Iterator[str]:
    """The digests in tables below ``node``."""
    for table in tables(node):
        if isinstance(table.get("digest"), str):
            yield table["digest"]

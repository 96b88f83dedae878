"""The code of controls and disciplines from outside, on its way to a worker on another machine.

A scenario names files of the machine that it was read on. Their content travels with the work and
is laid out in a directory of the worker, where it is found in the place of those files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from sojourn import class_sources, located, regular_file, scratch
from sojourn.errors import refused
from sojourn.external import sources
from sojourn.linux.source import Source

#: The tops of kernel trees are told by this file.
_TREE = "include/net/tcp.h"
#: What names files: documents, canonical scenarios, values of a grid.
_Node = TypeVar("_Node")


@dataclass(frozen=True)
class Places:
    """Where files are: here, by where they were."""

    here: Mapping[str, str] = field(default_factory=dict)

    def move(self, node: _Node) -> _Node:
        """What names the files here, from what names them where they were."""
        return _renamed(node, self.here) if self.here else node

    def back(self, node: _Node) -> _Node:
        """The other way."""
        there = {here: there for there, here in self.here.items()}
        return _renamed(node, there) if there else node

    def told(self, text: str) -> str:
        """A message that names files where they were, as those who gave them know them."""
        for there, here in self.here.items():
            text = text.replace(here.removesuffix(there), "")
        return text


@dataclass(frozen=True)
class Bundle:
    """Files and classes that scenarios name."""

    #: By a file's path, the paths and contents of all files that belong to it.
    files: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    #: By digest, classes of a notebook.
    classes: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def packed(cls, node: object) -> Bundle:
        """Of all that is named below ``node``: documents, canonical scenarios, grids.

        Raises:
            ScenarioError: if a file cannot be read.

        """
        named = dict(located.named(node))
        files = {path: _contents(kind, Path(path)) for path, kind in named.items()}
        return cls(files, class_sources.pickled(set(located.digests(node))))

    def unpacked(self) -> Places:
        """Lays everything out, in each process at its first call."""
        class_sources.pass_on(self.classes)
        return Places({path: _laid_out(path, tuple(of.items())) for path, of in self.files.items()})


def _contents(kind: str, path: Path) -> dict[str, bytes]:
    try:
        return {str(file): regular_file.content(file) for file in _belonging(kind, path)}
    except OSError as error:
        name = error.filename or str(path)
        raise refused(name, f"cannot be read: {error.strerror}") from None


def _belonging(kind: str, path: Path) -> Iterator[Path]:
    if kind != "linux":
        yield from sources.files(path)
        return
    source = Source(path)
    yield from source.files
    yield from source.algorithms.values()
    for module in source.modules:
        yield from Source(module).files
    if source.tree:
        yield source.tree / _TREE


@cache
def _laid_out(path: str, files: tuple[tuple[str, bytes], ...]) -> str:
    """Where the file at ``path`` is now."""
    digest = hashlib.blake2b(repr(files).encode(), digest_size=8).hexdigest()
    return str(scratch.kept(digest, partial(_lay_out, files)) / path.lstrip("/"))


def _lay_out(files: tuple[tuple[str, bytes], ...], top: Path) -> None:
    for name, content in files:
        place = top / name.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _renamed(node: object, names: Mapping[str, str]) -> Any:  # of the same form as the node
    if isinstance(node, Mapping):
        return {key: _renamed(child, names) for key, child in node.items()}
    if isinstance(node, list):
        return [_renamed(child, names) for child in node]
    return names.get(node, node) if isinstance(node, str) else node

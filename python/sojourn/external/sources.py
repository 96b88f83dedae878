"""What the code of a control from outside is told by: a digest of its sources or its binary."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

from sojourn import regular_file, syntax


def digest(path: Path) -> str:
    """Of the file and, if it is Python, of the files beside it that it imports.

    Raises:
        OSError: if it cannot be read.

    """
    told = hashlib.blake2b(digest_size=16)
    for file in files(path):
        content = regular_file.content(file)
        told.update(f"{file.relative_to(path.parent)}:{len(content)}:".encode())
        told.update(content)
    return told.hexdigest()


def files(path: Path) -> list[Path]:
    """The file and, if it is Python, the files beside it that it imports."""
    return [path, *(_beside(path) if path.suffix == ".py" else ())]


def _beside(path: Path) -> list[Path]:
    """The modules in the file's directory that it imports, and they import, by name."""
    found: set[Path] = set()
    waiting = [path]
    while waiting:
        for file in _imported(waiting.pop(), path.parent):
            if file not in found and file != path:
                found.add(file)
                waiting.append(file)
    return sorted(found)


def _imported(file: Path, directory: Path) -> Iterator[Path]:
    try:
        nodes = list(ast.walk(syntax.tree(regular_file.content(file))))
    except (SyntaxError, ValueError):  # whoever loads it says so
        return
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            parent = f"{node.module}." if node.module else ""
            names += [node.module or "", *(f"{parent}{alias.name}" for alias in node.names)]
    for name in names:
        place = directory.joinpath(*name.split("."))
        for candidate in (place.with_suffix(".py"), place / "__init__.py"):
            if name and candidate.is_file():
                yield candidate

"""What produced a result: the engine's build, and the definitions of the metrics."""

from __future__ import annotations

import ast
import hashlib
import inspect
import marshal
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from sojourn import _internal, syntax
from sojourn.metrics import metrics

_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def engine() -> str:
    """Names what simulates: what a run's samples depend on, beside its scenario."""
    return _internal.engine_build()


def definitions(requested: Iterable[str] = ()) -> str:
    """Changes whenever a metric could: with the code of the metrics and of what they use of this
    package, but not with its comments and docstrings; and with which of those that need further
    runs are computed.
    """
    return "+".join([_digest(tuple(metric.compute for metric in metrics())), *requested])


def code(function: Callable[..., Any]) -> str:
    """Changes whenever what a function comes to could: with its code and what it uses of this
    package, but not with comments and docstrings.
    """
    return _digest((function,))


def identity() -> str:
    """Names the engine's build and the metrics' definitions: where they are the same, so are
    results.
    """
    return f"{engine()} (metrics {definitions()})"


@cache
def _digest(functions: tuple[Callable[..., Any], ...]) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for module in _used_by(function.__module__ for function in functions):
        digest.update(_code(module).encode())
    for function in functions:
        if not _source(function.__module__):
            digest.update(_bytecode(function))
    return digest.hexdigest()


def _used_by(modules: Iterable[str]) -> list[str]:
    """These modules and all of this package that they import, by name."""
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found and _source(name):
            found.add(name)
            waiting += _imports(name)
    return sorted(found)


def _imports(module: str) -> list[str]:
    nodes = ast.walk(syntax.tree(_text(module)))
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [name for name in names if name.startswith("sojourn.")]


def _code(module: str) -> str:
    return without_docstrings(_text(module))


def without_docstrings(source: str) -> str:
    """The syntax tree of Python source as text, without docstrings; it has no comments."""
    tree = syntax.tree(source)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _text(module: str) -> str:
    path = _source(module)
    return path.read_text(encoding="utf-8") if path else ""


@cache
def _source(module: str) -> Path | None:
    """The module's file, if it is loaded and has one."""
    name = getattr(sys.modules.get(module), "__file__", None)
    return Path(name) if name and name.endswith(".py") else None


def _bytecode(function: Callable[..., Any]) -> bytes:
    """Code that has no source file, such as a notebook's."""
    return marshal.dumps(inspect.unwrap(function).__code__)

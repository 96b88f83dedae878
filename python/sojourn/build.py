"""What produced a result: the engine's build, and the definitions of the metrics."""

from __future__ import annotations

import ast
import hashlib
import inspect
import marshal
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sojourn import _internal, syntax
from sojourn.metrics import metrics

_PACKAGE = "sojourn"
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
    package and of its own, but not with comments and docstrings.
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
    used = _used_by(function.__module__ for function in functions)
    for module in sorted(used):
        digest.update(used[module].encode())
    for function in functions:
        if not _source(function.__module__):
            digest.update(_bytecode(function))
    return digest.hexdigest()


def _used_by(modules: Iterable[str]) -> dict[str, str]:
    """The code of these modules and of all that they import of this package, but for its face, and
    of the packages that they are in.
    """
    waiting = list(modules)
    packages = {_PACKAGE, *(_top(name) for name in waiting)}
    found: dict[str, str] = {}
    while waiting:
        name = waiting.pop()
        if name not in found and name != _PACKAGE and (path := _source(name)):
            tree = syntax.tree(path.read_text(encoding="utf-8"))
            waiting += (used for used in _imports(name, tree) if _top(used) in packages)
            found[name] = _undocumented(tree)
    return found


def _top(module: str) -> str:
    return module.partition(".")[0]


def _imports(module: str, tree: ast.Module) -> Iterator[str]:
    """What a module imports, at its top or in its functions, and names that may be modules, too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            whole = (alias.name.split(".") for alias in node.names)
            yield from (".".join(path[:end]) for path in whole for end in range(1, len(path) + 1))
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _base(module: str, node: ast.ImportFrom) -> str:
    """The module that names are imported from."""
    if not node.level:
        return node.module or ""
    path, file = module.split("."), _source(module)
    kept = len(path) - node.level + (file is not None and file.stem == "__init__")
    return ".".join([*path[:kept], *filter(None, [node.module])])


def without_docstrings(source: str) -> str:
    """The syntax tree of Python source as text, without docstrings; it has no comments."""
    return _undocumented(syntax.tree(source))


def _undocumented(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


@cache
def _source(module: str) -> Path | None:
    """The module's file, if it has one. It need not be loaded, and is not by this: else results
    would be told apart by what a process has done before.
    """
    name = getattr(sys.modules.get(module), "__file__", None)
    if name is None and (spec := _spec(module)):
        name = spec.origin
    return Path(name) if name and name.endswith(".py") else None


def _spec(module: str) -> ModuleSpec | None:
    """Where a module is; ``find_spec`` alone would import the packages that it is in."""
    if module in sys.modules:
        return getattr(sys.modules[module], "__spec__", None)
    package, _, _ = module.rpartition(".")
    if not package:
        return find_spec(module)
    above = _spec(package)
    places = above.submodule_search_locations if above else None
    return PathFinder.find_spec(module, places) if places else None


def _bytecode(function: Callable[..., Any]) -> bytes:
    """Code that has no source file, such as a notebook's."""
    return marshal.dumps(inspect.unwrap(function).__code__)

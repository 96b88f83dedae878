"""Classes that a program gives itself, as ``cca = Mine`` in a notebook."""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import CodeType, FunctionType, ModuleType

from sojourn import syntax
from sojourn.errors import refused

#: By the digests that scenarios know them by; a worker process has those of its run.
CLASSES: dict[str, type] = {}
#: What only passes through this process, packed: unpacking it runs its code.
_PACKED: dict[str, bytes] = {}

#: Which modules' classes are pickled by value is a setting that all threads share.
_registering = threading.Lock()
_PLAIN = (bool, int, float, str, bytes, type(None))


def table(control: type) -> dict[str, str]:
    """How a scenario names the class.

    Raises:
        ScenarioError: if its source is not to be had, which tells one version from another.

    """
    parts = sorted(set(_sources(control, set())))
    digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()
    CLASSES[digest] = control
    return {"kind": "python", "class": control.__name__, "digest": digest}


def pickled(digests: Iterable[str]) -> dict[str, bytes]:
    """The classes of these digests for another process: with their code, not as names."""
    import cloudpickle

    return {
        d: _PACKED[d] if d in _PACKED else _by_value(cloudpickle, CLASSES[d])
        for d in digests
        if is_known(d)
    }


def is_known(digest: str) -> bool:
    """Whether this process has the class, packed or not."""
    return digest in CLASSES or digest in _PACKED


def pass_on(classes: Mapping[str, bytes]) -> None:
    """Keeps classes from another process for those in which they are run."""
    _PACKED.update({d: code for d, code in classes.items() if d not in CLASSES})


def take(classes: Mapping[str, bytes]) -> None:
    """Makes classes from another process known in this one."""
    if not classes:  # the import takes longer than many a piece of work
        return
    import cloudpickle

    CLASSES.update({digest: cloudpickle.loads(code) for digest, code in classes.items()})


def _by_value(cloudpickle: ModuleType, control: type) -> bytes:
    module = sys.modules.get(control.__module__)
    if module is None or control.__module__ == "__main__":
        return bytes(cloudpickle.dumps(control))
    with _registering:
        cloudpickle.register_pickle_by_value(module)
        try:
            return bytes(cloudpickle.dumps(control))
        finally:
            cloudpickle.unregister_pickle_by_value(module)


def _sources(thing: type | FunctionType, seen: set[int]) -> Iterator[str]:
    """The source of a class or function, and what it uses of its module."""
    if id(thing) in seen or (thing.__module__ or "").partition(".")[0] in ("sojourn", "builtins"):
        return
    seen.add(id(thing))
    try:
        yield _source(thing)
    except (OSError, TypeError):
        raise refused(
            "",
            f"the source code of {thing.__qualname__} cannot be found: define it in a file or a "
            "cell",
        ) from None
    if isinstance(thing, type):
        for base in thing.__mro__[1:]:
            yield from _sources(base, seen)
    for function in _functions(thing):
        for name, value in _used(function):
            if isinstance(value, _PLAIN):
                yield f"{name} = {value!r}"
            elif isinstance(value, (type, FunctionType)) and value.__module__ == thing.__module__:
                yield from _sources(value, seen)


def _source(thing: type | FunctionType) -> str:
    try:
        with syntax.ONE_AT_A_TIME:
            return inspect.getsource(thing)
    except (OSError, TypeError):
        if isinstance(thing, type):
            return _in_a_cell(thing)
        raise


def _in_a_cell(control: type) -> str:
    """The source of a class of a notebook, whose module has no file: from the cell of a method."""
    for method in filter(inspect.isfunction, vars(control).values()):
        with suppress(OSError, SyntaxError):
            text, first = "".join(inspect.findsource(method)[0]), method.__code__.co_firstlineno
            classes = (n for n in ast.walk(syntax.tree(text)) if isinstance(n, ast.ClassDef))
            for node in (n for n in classes if n.name == control.__name__):
                if node.lineno <= first <= (node.end_lineno or 0):
                    return ast.get_source_segment(text, node) or ""
    raise OSError


def _functions(thing: type | FunctionType) -> Iterator[FunctionType]:
    members = vars(thing).values() if isinstance(thing, type) else [thing]
    for member in members:
        if inspect.isfunction(member):
            yield member
        elif inspect.isclass(member):
            yield from _functions(member)


def _used(function: FunctionType) -> Iterator[tuple[str, object]]:
    """The names and values of its module that a function reads."""
    for name in _names(function.__code__):
        value = function.__globals__.get(name, builtins)
        if value is not builtins and not isinstance(value, ModuleType):
            yield name, value


def _names(code: CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(_names, inner))

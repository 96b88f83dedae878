"""Syntax trees of Python sources."""

from __future__ import annotations

import ast
import threading

#: CPython 3.11 counts the depth of the trees that all threads make as one, and refuses a tree when
#: another thread's came between ("AST constructor recursion depth mismatch"). Whoever makes one by
#: other means, as ``inspect.getsource`` of a class does, holds it, too.
ONE_AT_A_TIME = threading.RLock()


def tree(source: str | bytes) -> ast.Module:
    """The tree of a source.

    Raises:
        SyntaxError: if it is no Python.
        ValueError: if it has null bytes.

    """
    with ONE_AT_A_TIME:
        return ast.parse(source)

"""Syntax trees of Python sources."""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sojourn import syntax

SOURCE = Path(syntax.__file__).read_text(encoding="utf-8") * 10


@pytest.fixture
def _threads_take_turns_often() -> Iterator[None]:
    """A collection of garbage in the midst of a tree lets another thread have its turn."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


class _Heavy:
    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(50))


def _parsed(_: int) -> str:
    _Heavy()
    return ast.dump(syntax.tree(SOURCE))


@pytest.mark.usefixtures("_threads_take_turns_often")
def test_threads_make_trees_beside_each_other() -> None:
    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(_parsed, range(200)))) == 1

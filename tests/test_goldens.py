"""Not a bit of what the engine computes has changed, nor a word of what it says."""

from __future__ import annotations

import goldens


def test_every_run_is_as_it_was() -> None:
    assert goldens.lines() == goldens.RUNS_FILE.read_text(encoding="utf-8").splitlines()


def test_every_text_is_as_it_was() -> None:
    assert goldens.texts() == goldens.TEXTS_FILE.read_text(encoding="utf-8").splitlines()


def test_something_is_simulated() -> None:
    """A golden of runs that do nothing would hold for ever."""
    names = [line.split(";")[0] for line in goldens.RUNS_FILE.read_text().splitlines()]
    assert len(names) == len(set(names)) > 250
    one = dict(goldens.cases())["cca bbr3"]
    assert goldens.line(("x", one)) != goldens.line(("x", one | {"seed": 2}))

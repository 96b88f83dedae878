"""Controls that are classes of the program, of a notebook or of an imported module."""

from __future__ import annotations

import importlib
import linecache
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import pytest

import sojourn as package
from own_controls import refusal
from sojourn import class_sources
from sojourn.campaign.keys import run_key
from sojourn.cca import Ack, Control, Decision, Event, Init
from sojourn.scenario import load

GAIN = 2


class Mine(Control):
    """As a notebook defines one."""

    @dataclass
    class Params:
        window: int = 4

    def __init__(self, params: Params, init: Init) -> None:
        self.window = params.window * GAIN

    def on_ack(self, now: float, ack: Ack) -> None:
        pass

    def on_congestion(self, now: float, event: Event) -> None:
        pass

    def decision(self) -> Decision:
        return Decision(self.window, self.window)


def mapping(**cca: Any) -> dict[str, Any]:
    link = {"rate": "8 Mbit/s"}
    flow = {"cca": {"kind": "python", "class": Mine, **cca} if cca else Mine, "rtt": "20 ms"}
    return {
        "duration": "1 s",
        "topology": {"kind": "dumbbell", "bottleneck": link},
        "flows": [flow],
    }


def test_a_class_of_the_program_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    result = package.run(mapping())
    assert result.flows["cca"].to_list() == ["Mine"]
    assert result.series.flows["cwnd"][-1] == 8
    assert package.run(mapping(window=3)).series.flows["cwnd"][-1] == 6
    key = run_key(load(mapping()).canonical)
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 3)
    assert run_key(load(mapping()).canonical) != key
    assert package.run(mapping()).series.flows["cwnd"][-1] == 12


def test_a_class_without_source_is_refused() -> None:
    space: dict[str, Any] = {"Control": Control, "__name__": "nowhere"}
    exec("class Mine(Control):\n    pass", space)
    document = mapping()
    document["flows"][0]["cca"] = space["Mine"]
    assert "the source code of Mine cannot be found" in refusal(document)


CELL = """
from dataclasses import dataclass
from sojourn.cca import Control, Decision

class Noted(Control):
    @dataclass
    class Params:
        window: int = 4

    def __init__(self, params, init):
        self.window = params.window

    def on_ack(self, now, ack):
        pass

    def on_congestion(self, now, event):
        pass

    def decision(self):
        return Decision(self.window, self.window)
"""


def test_a_class_of_a_notebook_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its module has no file, and its cell is known only where Python looks for lines."""

    def run_cell(name: str, text: str) -> type:
        cached = (len(text), None, text.splitlines(keepends=True), name)
        monkeypatch.setitem(linecache.cache, name, cached)
        exec(compile(text, name, "exec"), module.__dict__)
        return module.Noted  # type: ignore[no-any-return]

    module = ModuleType("notebook_of_a_test")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    document = mapping()
    document["flows"][0]["cca"] = run_cell("<cell 1>", CELL)
    assert package.run(document).series.flows["cwnd"][-1] == 4
    key = run_key(load(document).canonical)
    document["flows"][0]["cca"] = run_cell("<cell 2>", CELL.replace("int = 4", "int = 6"))
    assert package.run(document).series.flows["cwnd"][-1] == 6
    assert run_key(load(document).canonical) != key


class Marked(Mine):
    """Needs the marks of L4S."""

    ECN = "l4s"


def test_a_control_says_what_feedback_it_needs() -> None:
    document = mapping()
    document["flows"][0]["cca"] = Marked
    assert load(document).canonical["flows"][0]["ecn"] == "l4s"
    assert load(mapping()).canonical["flows"][0]["ecn"] == "off"
    document["flows"][0]["ecn"] = "classic"
    assert "flows.0.ecn: classic given; allowed: accurate" in refusal(document)


def test_threads_pickle_a_class_of_a_module_with_its_code(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(here))
    digest = class_sources.table(importlib.import_module("aimd").Aimd)["digest"]
    dumps, second_pickles = cloudpickle.dumps, threading.Event()

    def pausing(control: type) -> bytes:
        if threading.current_thread() is not first:
            second_pickles.set()
            first.join()
        else:
            second.start()
            second_pickles.wait(0.5)  # in vain where threads take turns
        return bytes(dumps(control))

    monkeypatch.setattr(cloudpickle, "dumps", pausing)
    made: list[bytes] = []
    first, second = (
        threading.Thread(target=lambda: made.extend(class_sources.pickled([digest]).values()))
        for _ in range(2)
    )
    first.start()
    first.join()
    second.join()
    assert len(made) == 2
    assert all(b"decision" in code for code in made)  # which a name would not have

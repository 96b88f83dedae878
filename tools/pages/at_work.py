"""Figures of members at work: runs of the scenarios of ``experiments/catalogue``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from sojourn import data
from sojourn.catalogue import Kind
from sojourn.figures.chart import Chart
from sojourn.figures.paper import render
from sojourn.measured import Measured
from sojourn.result import run
from tools.pages.charts import rates, signals, window

_DPI = 90
#: Where a kind's members stand in its scenario; each topology has a scenario of its own.
_FIELDS: Mapping[Kind, tuple[str, str]] = {
    "ccas": ("control", "flows.0.cca"),
    "queues": ("queue", "topology.bottleneck.queue"),
}
_L4S = "topology.bottleneck.queue='dualpi2'"
_SCE = "topology.bottleneck.queue={ kind = 'cake', sce = 'sce' }"
#: Members that show what they are for only with something else in the scenario.
_SPECIAL: Mapping[tuple[Kind, str], tuple[str, ...]] = {
    ("ccas", "dctcp"): (_L4S, "flows.0.ecn='l4s'"),
    ("ccas", "prague"): (_L4S,),
    ("ccas", "reno-sce"): (_SCE,),
    ("ccas", "dctcp-sce"): (_SCE,),
    ("ccas", "cubic-sce"): (_SCE,),
    ("queues", "dualpi2"): ("flows.1.cca='prague'", "flows.1.label='Prague'", "flows.1.ecn='l4s'"),
}
#: What is drawn of a run.
FIGURES: Mapping[Kind, Callable[[Measured], Chart]] = {
    "ccas": window,
    "queues": signals,
    "topologies": rates,
}


def figure_path(kind: Kind, name: str) -> PurePosixPath:
    """Path of a member's figure below the directory of the reference."""
    return PurePosixPath(kind) / f"{name}.png"


def draw(kind: Kind, name: str, chart: Callable[[Measured], Chart], reference: Path) -> None:
    """Runs and draws a member."""
    path = reference / figure_path(kind, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    render(chart(result(kind, name))).savefig(path, dpi=_DPI, metadata={"Software": None})


def result(kind: Kind, name: str) -> Measured:
    """The run that shows a member."""
    return run(data.path(_file(kind, name)), overrides=_set(kind, name))


def caption(kind: Kind, name: str) -> str:
    """Says how to run what the figure shows; links are relative to the reference."""
    file = _file(kind, name)
    settings = "".join(f' \\\n    --set "{setting}"' for setting in _set(kind, name))
    return f"```sh\nsojourn run {file}{settings}\n```"


def _file(kind: Kind, name: str) -> str:
    stem, _ = _FIELDS.get(kind, (name, ""))
    return f"experiments/catalogue/{stem}.toml"


def _set(kind: Kind, name: str) -> tuple[str, ...]:
    if kind not in _FIELDS:
        return ()
    return (f"{_FIELDS[kind][1]}='{name}'", *_SPECIAL.get((kind, name), ()))

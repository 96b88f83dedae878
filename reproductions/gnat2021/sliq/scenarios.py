"""The runs of sections 3.1 to 3.3, from the files of ``experiments/gnat2021``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sojourn import data
from sojourn.campaign.cases import Case, Outcome, Sampled
from sojourn.reproduction.paper import Request
from sojourn.scenario import Document, apply_override, read, set_path, validated

#: Columns of the tables that compare controls, and what their flows are.
CONTROLS: Mapping[str, Mapping[str, Any]] = {
    "linux_tcp_cubic": {"cca": "cubic", "stack": "linux-4.9"},
    "linux_tcp_cubic_today": {"cca": "cubic", "stack": "linux-6"},
    "sliq_cubic": {"transport": "sliq", "cca": "cubic", "mss": 1000},
    "sliq_copa": {"transport": "sliq", "cca": "copa", "mss": 1000},
}

#: Those of SLIQ.
SLIQ = ("sliq_cubic", "sliq_copa")


def key(section: str, table: str, row: str, column: str) -> dict[str, str]:
    """The keys of a cell."""
    return {"section": section, "table": table, "row": row, "column": column}


def metric(name: str, factor: float, outcome: Outcome) -> float | None:
    """A metric of the first flow."""
    value: float | None = outcome["flows"][0]["metrics"][name]
    return None if value is None else factor * value


def document(experiment: str, request: Request, **fields: Any) -> Document:
    """An experiment with these fields of the topology, and what ``--set`` says."""
    scenario = read(data.path(f"experiments/gnat2021/{experiment}.toml"))
    for field, value in fields.items():
        set_path(scenario, f"topology.{field}", value)
    for override in request.overrides:
        apply_override(scenario, override)
    return scenario


def with_control(scenario: Document, control: str) -> Document:
    """All flows with the control of a column."""
    for index, flow in enumerate(scenario["flows"]):
        label = {"label": flow["label"]} if "label" in flow else {}
        scenario["flows"][index] = {**CONTROLS[control], **label}
    return scenario


def case(scenario: Document, seed: int = 1) -> Case:
    """The run of a scenario."""
    return Case.of(validated({**scenario, "seed": seed}).canonical)


def sampled(scenario: Document) -> Sampled:
    """The run of a scenario, of which the samples are read."""
    return Sampled.of(validated(scenario).canonical)


def seeds(request: Request, random: bool) -> range:
    """The seeds of a cell: one where nothing is random."""
    if not random:
        return range(1, 2)
    return range(1, 6 if request.quick else 21)


def buffer(rate_mbit: float, delay_ms: float) -> str:
    """Twice the product of rate and round trip, at least 20,000 bytes."""
    return f"{max(20_000, round(2 * rate_mbit * 1e6 * 2e-3 * delay_ms / 8))} B"

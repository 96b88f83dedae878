"""The page on speed: what ``make bench`` stores of the workloads of ``experiments/speed``.

``python -m tools.pages`` writes ``docs/explanation/performance.md`` of that, without a run.
"""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.experiments import experiments
from tools.pages import kept

#: The page, and its tables.
NAME, GOALS, WORKLOADS = "performance", "goals", "workloads"
#: Workloads that are not in ``experiments/speed``.
ELSEWHERE = {"mesh": "experiments/gnat2021/12enclave-concurrent-mixed.toml"}


def file(workload: str) -> str:
    """The name of a workload's scenario."""
    return ELSEWHERE.get(workload, f"experiments/speed/{workload}.toml")


def page() -> str:
    """The page of what is stored."""
    table = "\n".join(_workloads())
    return kept.render(NAME, stamp=kept.stamp(NAME), goals=goals(), workloads=table)


def goals() -> str:
    """What is measured beside its goal; what misses it is bold."""
    return "\n".join(_goals())


def _goals() -> Iterator[str]:
    yield "| what | measured | goal |"
    yield "| --- | ---: | ---: |"
    for row in kept.rows(NAME, GOALS):
        value = float(row["measured"])
        told = _quantity(value, row["unit"])
        if not row["goal"]:
            yield f"| {row['what']} | {told} | |"
            continue
        most = float(row["goal"])
        told = told if value <= most else f"**{told}**"
        yield f"| {row['what']} | {told} | {_quantity(most, row['unit'])} |"


def _quantity(value: float, unit: str) -> str:
    shown = f"{value:,.0f}" if value >= 20 else f"{value:.2f}"
    return f"{shown} {unit}".strip()


def _workloads() -> Iterator[str]:
    told = {entry["name"]: entry["summary"] for entry in experiments()}
    yield "| workload | what it is | packets/s | ns per packet | events per packet | memory, MB |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for row in kept.rows(NAME, WORKLOADS):
        name, ns = row["workload"], float(row["ns"])
        what = told[file(name)].partition(": workload")[0].rstrip(".")
        shown = f"{1e3 / ns:.1f} million", f"{ns:.0f}", f"{float(row['events']):.2f}"
        yield f"| {name} | {what} | {' | '.join(shown)} | {float(row['memory']):.1f} |"

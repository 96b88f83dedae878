"""Tables of the page of fidelity: the simulator beside Linux 6.12 in virtual time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from statistics import median

from sojourn.experiments import experiments
from sojourn.oracles.linux612.goals import CHAOTIC, by_flow, meets_goal, repeated
from sojourn.oracles.linux612.table import FOLDER
from sojourn.oracles.linux618.sheets import changes
from sojourn.reproduction.statements import Row
from tools.pages.reproduction import markdown

#: What is shown of a flow.
SHOWN = ("goodput", "mean_srtt", "retrans")
_REPEATS = set(CHAOTIC.values())


def by_experiment(rows: Sequence[Row]) -> str:
    """How many flows of each experiment meet the narrow goal, of those that it judges."""
    told = {entry["name"]: entry["summary"] for entry in experiments()}
    flows: dict[str, list[bool]] = {}
    for flow in by_flow([row for row in rows if not repeated(row)]):
        flows.setdefault(flow[0]["experiment"], []).append(all(map(meets_goal, flow)))
    found = [
        [name, told[f"{FOLDER}/{name}.toml"], len(met), sum(met)] for name, met in flows.items()
    ]
    return markdown(("experiment", "", "flows", "meet the goal"), found, 2)


def misses(rows: Sequence[Row]) -> str:
    """The flows that miss the narrow goal; the values that do are in bold."""
    found = []
    for flow in by_flow([row for row in rows if not repeated(row)]):
        if not all(map(meets_goal, flow)):
            first = flow[0]
            values = {row["metric"]: row for row in flow}
            cells = (_cells(values.get(name)) for name in (*SHOWN, "completion_s"))
            named = [first["experiment"], setting(first), first["cca"]]
            found.append([*named, *(cell for pair in cells for cell in pair)])
    return markdown((*NAMES, *_heads((*SHOWN, "completion_s"))), found, 3)


NAMES = ("experiment", "cell", "cca")


def _heads(metrics: Iterable[str]) -> list[str]:
    return [f"{name} {side}" for name in metrics for side in ("sim", "kernel")]


def _cells(row: Row | None) -> tuple[str, str]:
    if row is None:
        return "-", "-"
    measured = f"{row['measured']:.4g}"
    return measured if meets_goal(row) else f"**{measured}**", f"{row['published']:.4g}"


def setting(row: Row) -> str:
    """What of the experiment's grid is set, without what differs between repetitions."""
    kept = {k: v for k, v in json.loads(row["changes"]).items() if k not in _REPEATS}
    return changes(json.dumps(kept))


def cells(rows: Sequence[Row], *wanted: str) -> str:
    """The cells of some experiments; of several starts or draws the median, and the kernel's
    range.
    """
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row["experiment"] in wanted:
            found.setdefault((row["experiment"], setting(row), row["cca"]), []).append(row)
    told = [
        [*key, *(text for name in SHOWN for text in _repeated(here, name))]
        for key, here in found.items()
    ]
    return markdown((*NAMES, *_heads(SHOWN)), told, 3)


def _repeated(rows: Sequence[Row], metric: str) -> tuple[str, str]:
    ours = [row["measured"] for row in rows if row["metric"] == metric]
    kernel = [row["published"] for row in rows if row["metric"] == metric]
    known = f"{median(kernel):.4g}"
    if len(set(kernel)) > 1:
        known += f" ({min(kernel):.4g}-{max(kernel):.4g})"
    return f"{median(ours):.4g}", known

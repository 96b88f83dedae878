"""Tables of the page of fidelity: Linux 6.1 beside 6.12, both in virtual time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sojourn.oracles.linux612.goals import by_flow, meets_goal
from sojourn.oracles.linux612.table import KEYS
from sojourn.reproduction.statements import Row
from tools.pages import kept
from tools.pages.fidelity_virtual import NAMES, SHOWN, setting
from tools.pages.reproduction import markdown

_METRICS = (*SHOWN, "completion_s")
_SIDES = ("6.12", "6.1", "sim")


def by_experiment(rows: Sequence[Row], older: Sequence[kept.Row]) -> str:
    """How many flows of each experiment do on 6.1 as on 6.12, to the last digit of the table and
    within the narrow goals.
    """
    flows: dict[str, list[tuple[bool, bool]]] = {}
    for flow in _flows(rows, older):
        same = all(row["measured"] == row["published"] for row in flow)
        flows.setdefault(flow[0]["experiment"], []).append((same, all(map(meets_goal, flow))))
    found = [
        [name, len(of), sum(same for same, _ in of), sum(near for _, near in of)]
        for name, of in flows.items()
    ]
    return markdown(("experiment", "flows", "the same", "within the goal"), found, 1)


def differing(rows: Sequence[Row], older: Sequence[kept.Row]) -> str:
    """The flows that do otherwise on 6.1 than the narrow goals allow, with the simulator's values;
    of 6.1 what is off is in bold.
    """
    found = []
    for flow in _flows(rows, older):
        if not all(map(meets_goal, flow)):
            values = {row["metric"]: row for row in flow}
            told = [text for name in _METRICS for text in _three(values.get(name))]
            found.append([flow[0]["experiment"], setting(flow[0]), flow[0]["cca"], *told])
    heads = [f"{name} {side}" for name in _METRICS for side in _SIDES]
    return markdown((*NAMES, *heads), found, 3)


def _flows(rows: Sequence[Row], older: Sequence[kept.Row]) -> Iterator[list[Row]]:
    """The values of each flow that both kernels have: published is 6.12's, measured 6.1's."""
    known = {tuple(row[name] for name in KEYS): row for row in older}
    for flow in by_flow(rows):
        ours = known.get(tuple(flow[0][name] for name in KEYS))
        if ours is not None:
            yield [
                {**row, "measured": float(ours[row["metric"]]), "sim": row["measured"]}
                for row in flow
            ]


def _three(row: Row | None) -> tuple[str, str, str]:
    """A value on 6.12, on 6.1 and simulated."""
    if row is None:
        return "-", "-", "-"
    older = f"{row['measured']:.4g}"
    newer, ours = f"{row['published']:.4g}", f"{row['sim']:.4g}"
    return newer, older if meets_goal(row) else f"**{older}**", ours

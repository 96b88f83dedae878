"""Names of flows in figures."""

from __future__ import annotations

from sojourn.result import Result, flow_identities


def labels(result: Result) -> list[str]:
    """A name for each flow: its label, or its control and id."""
    return [
        flow["label"] or f"{flow['cca']} ({flow['id']})"
        for flow in flow_identities(result.scenario.canonical)
    ]

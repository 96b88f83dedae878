"""Pages that are rendered from what is stored, by their names in ``docs/explanation/``."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools.pages import conformance, fidelity, nodes, ns3, performance, replay, wifi

RENDERED: Mapping[str, Callable[[], str]] = {
    "conformance": conformance.page,
    "fidelity": fidelity.page,
    "nodes": nodes.page,
    "ns3": ns3.page,
    "performance": performance.page,
    "replay": replay.page,
    "wifi": wifi.page,
}

"""Controls from outside run in the simulator: what is said where a kernel's are wanted."""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.errors import refused
from sojourn.scenario import Document

#: Kinds of controls that the simulator loads, and no kernel.
SIMULATED = ("python", "library", "linux")


def refuse(canonical: Document) -> None:
    """Checks that no flow and no arrival has a control that only the simulator can load.

    Raises:
        ScenarioError: naming the flow, or the entry of arrivals.

    """
    for field, entry in _entries(canonical):
        control = entry.get("cca")
        if isinstance(control, dict) and control["kind"] in SIMULATED:
            raise refused(
                f"{field}.cca",
                f"a control of kind '{control['kind']}' given, which the simulator runs, not a "
                "kernel: --backend sim, or a control that the kernel has",
            )


def _entries(canonical: Document) -> Iterator[tuple[str, Document]]:
    """What has a control, and its field."""
    for number, flow in enumerate(canonical["flows"]):
        yield f"flows.{number}", flow
    for number, entry in enumerate(canonical.get("arrivals") or []):
        yield f"arrivals.{number}", entry
        for place, variant in enumerate(entry.get("mix") or []):
            yield f"arrivals.{number}.mix.{place}", variant

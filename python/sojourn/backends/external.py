"""Controls from outside run in the simulator: what is said where a kernel's are wanted."""

from __future__ import annotations

from sojourn.errors import refused
from sojourn.scenario import Document

#: Kinds of controls that the simulator loads, and no kernel.
SIMULATED = ("python", "library", "linux")


def refuse(canonical: Document) -> None:
    """Checks that no flow has a control that only the simulator can load.

    Raises:
        ScenarioError: naming the flow.

    """
    for number, flow in enumerate(canonical["flows"]):
        control = flow.get("cca")
        if isinstance(control, dict) and control["kind"] in SIMULATED:
            raise refused(
                f"flows.{number}.cca",
                f"a control of kind '{control['kind']}' given, which the simulator runs, not a "
                "kernel: --backend sim, or a control that the kernel has",
            )

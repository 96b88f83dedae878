"""What a directory of a campaign is told by: what is asked for in it may only grow."""

from __future__ import annotations

from sojourn.backends import backend
from sojourn.fidelity.asked import Asked
from sojourn.origin import told
from sojourn.store.manifest import Manifest
from sojourn.store.place import Tenant

KIND = "fidelity campaign"
#: What is the same for as long as a directory grows.
_ALIKE = ("kind", "flows", "queue", "ecn")


def content(asked: Asked, reference: str) -> Manifest:
    """The manifest of such a directory; ``reference`` is the backend that is compared with."""
    return {"asked": asked.to_json(), "origin": backend(reference).key()}


def tenant(asked: Asked, reference: str) -> Tenant:
    """What wants it."""
    here = content(asked, reference)

    def differs(found: Manifest) -> str:
        if found["origin"] != here["origin"]:
            return f"beside {told(found['origin'])}, not {told(here['origin'])}"
        before, now = found["asked"], here["asked"]
        for name in _ALIKE:
            if before[name] != now[name]:
                return f"--{name} was {_said(before[name])}, here it is {_said(now[name])}"
        grows = before["cells"] <= now["cells"] and {*before["seeds"]} <= {*now["seeds"]}
        return "" if grows else "of more cells or seeds"

    parts = ["fidelity", asked.kind, *([asked.queue] if asked.queue else [])]
    parts += [f"{asked.flows}-flows"] if asked.flows > 1 else []
    parts += ["ecn"] if asked.ecn else []
    return Tenant(KIND, "-".join(parts), "-".join(parts), here, differs)


def _said(value: object) -> str:
    return "drawn" if value is None else str(value)

"""What a directory of a reproduction is told by."""

from __future__ import annotations

from dataclasses import asdict

from sojourn.reproduction.paper import Paper, Request
from sojourn.store.manifest import Manifest
from sojourn.store.place import Tenant

KIND = "reproduction"


def content(chosen: Paper, request: Request) -> Manifest:
    """The manifest of a reproduction's directory."""
    return {
        "paper": chosen.name,
        "title": chosen.title,
        "choices": chosen.choices_of(request),
        "keys": list(chosen.keys),
        "request": asdict(request),
    }


def tenant(chosen: Paper, request: Request) -> Tenant:
    """The evaluation and its overrides stay in a directory; what is asked for may only grow."""

    def differs(found: Manifest) -> str:
        if found["paper"] != chosen.name:
            return f"of {found['paper']}"
        before = Request(**found.get("request", {}))
        if list(before.overrides) != list(request.overrides):
            return f"with {' '.join(f'--set {o}' for o in before.overrides) or 'no --set'}"
        return "" if request.includes(before) else "of more tables, cells or replications"

    return Tenant(KIND, chosen.name, chosen.name, content(chosen, request), differs)

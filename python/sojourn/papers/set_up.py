"""What a reproduction really ran: the paper's set-up as it was read, and what ``--set`` changed."""

from __future__ import annotations

from sojourn.papers.paper import Paper, Request


def notice(paper: Paper, request: Request) -> str | None:
    """That this is not the published set-up, and what differs; ``None`` if it is."""
    if not paper.changed(request.overrides):
        return None
    changes = " ".join(f"--set {override}" for override in request.overrides)
    return f"not the published set-up: run with {changes}"


def set_up(paper: Paper, request: Request) -> list[str]:
    """The lines that tell it; what was changed comes first, for it holds against the others."""
    changed = notice(paper, request)
    return [*([changed] if changed else []), *paper.choices]

"""A member of the catalogue in Markdown: its documentation and its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sojourn.catalogue import Member, Parameter

# A link of rustdoc leads nowhere outside it.
_RUSTDOC_LINK = re.compile(r"\[(`[^`]+`)\](?:\([^)]*::[^)]*\))?(?!\()")


def describe(member: Member, heading: str) -> Iterator[str]:
    """A member's documentation and parameters under a heading of this level."""
    yield f"{heading} {member.name}"
    yield _RUSTDOC_LINK.sub(r"\1", member.documentation)
    yield f"{heading}# Parameters"
    yield _parameters(member.parameters)


def _parameters(parameters: Sequence[Parameter]) -> str:
    if not parameters:
        return "None."
    head = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join(head + [_parameter(p) for p in parameters])


def _parameter(parameter: Parameter) -> str:
    default = f"`{parameter.written}`" if parameter.written else ""
    cells = (f"`{parameter.name}`", parameter.type, default, parameter.description)
    return f"| {' | '.join(map(cell, cells))} |"


def cell(text: str) -> str:
    """Text as a cell of a table."""
    return text.replace("|", "\\|")

"""Problems from files: a graph in TOML, or the topology of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sojourn.capacity.network import Problem
from sojourn.capacity.parse import parse
from sojourn.capacity.topology import links_of
from sojourn.scenario import Document, read, validated


def problem(
    path: Path, source: str | None = None, to: Sequence[str] = (), deadline: str | None = None
) -> Problem:
    """Reads a problem; what is given besides replaces what the file says."""
    document = {"name": path.stem, **_document(path)}
    given = {"source": source, "to": list(to) or None}
    if any(given.values()):
        document.pop("sessions", None)
        document |= {key: value for key, value in given.items() if value}
    if deadline is not None:
        document["deadline"] = bare(deadline)
    return parse(document)


def bare(text: str) -> float | str:
    """The number that a text is, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


def _document(path: Path) -> Document:
    document = read(path)
    if "topology" not in document:
        return document
    canonical = validated(document).canonical
    return {"name": canonical["name"], "links": links_of(canonical["topology"])}

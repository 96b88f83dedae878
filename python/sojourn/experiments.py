"""The experiments that come with Sojourn."""

from __future__ import annotations

from pathlib import Path

from sojourn import data

_FOLDER = "experiments"


def experiments() -> list[dict[str, str]]:
    """Scenario files, each with the first line of its leading comment."""
    root = data.path(_FOLDER)
    files = sorted(root.glob("**/*.toml"))
    return [{"name": str(f.relative_to(root.parent)), "summary": _first_comment(f)} for f in files]


def located(path: Path) -> Path:
    """A scenario's file: an experiment's name also works where there is no such file."""
    if path.parts[:1] == (_FOLDER,) and not path.exists():
        shipped = data.path(str(path))
        return shipped if shipped.is_file() else path
    return path


def _first_comment(path: Path) -> str:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""

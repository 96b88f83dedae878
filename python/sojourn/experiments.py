"""The experiments that come with Sojourn and with installed reproductions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sojourn import data, installed


def experiments() -> list[dict[str, str]]:
    """Scenario files, each with the first line of its leading comment."""
    files = dict(sorted(_files()))
    return [{"name": name, "summary": _first_comment(file)} for name, file in files.items()]


def _files() -> Iterator[tuple[str, Path]]:
    folders = [f.name for f in data.path(data.EXPERIMENTS).iterdir() if f.is_dir()]
    for folder in (*folders, *installed.points(installed.REPRODUCTIONS)):
        name = f"{data.EXPERIMENTS}/{folder}"
        root = data.path(name)
        for file in root.glob("**/*.toml"):
            yield f"{name}/{file.relative_to(root)}", file


def located(path: Path) -> Path:
    """A scenario's file: an experiment's name also works where there is no such file."""
    if path.parts[:1] == (data.EXPERIMENTS,) and not path.exists():
        shipped = data.path(path.as_posix())
        return shipped if shipped.is_file() else path
    return path


def _first_comment(path: Path) -> str:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""

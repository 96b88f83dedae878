"""Reports: one self-contained HTML page per result directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sojourn.errors import SojournError
from sojourn.report import comparison, over_sweep, reproduction, run
from sojourn.report.page import Page, write
from sojourn.store import manifest
from sojourn.store.place import UNFINISHED


def _evaluation(directory: Path) -> Page:
    """Imported only here: the statistics it needs take long to import."""
    from sojourn.report import evaluation

    return evaluation.of_directory(directory)


#: What makes the page of each kind of directory.
PAGES: dict[str, Callable[[Path], Page]] = {
    "run": run.page,
    "reproduction": reproduction.page,
    "sweep": over_sweep.page,
    "comparison": comparison.page,
    "evaluation": _evaluation,
}
FILE = "report.html"


def report(directory: Path, out: Path | None = None) -> Path:
    """Writes the report of a result directory; its path."""
    content = manifest.read(directory)
    kind = content["kind"]
    if content.get(UNFINISHED):
        raise SojournError(f"{directory}: its {kind} has not finished; run it again")
    if kind not in PAGES:
        raise SojournError(f"{directory}: there is no report of a {kind!r}")
    path = (out or directory) / FILE
    write(PAGES[kind](directory), path)
    return path

"""Figures that a person asks for, as files: for papers, or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from sojourn.errors import ScenarioError
from sojourn.figures import paper
from sojourn.figures.chart import Chart
from sojourn.figures.plots.request import Kind, Request, chart
from sojourn.report.page import Page, Section, picture, write
from sojourn.store.files import write_atomically
from sojourn.store.location import located

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.measured import Measured
    from sojourn.sweeps.stored import StoredSweep


class Axes(TypedDict, total=False):
    """What a figure is drawn over, as the options of ``sojourn plot``."""

    x: str | None
    hue: str | None
    facet: str | None
    kind: Kind


class Options(Axes, total=False):
    """What :func:`plot` is asked for besides."""

    out: str | Path | None
    where: dict[str, str] | None


FORMATS = (*paper.KINDS, "html")


def plot(
    source: str | Path | StoredSweep | Measured,
    y: str | None = None,
    *,
    out: str | Path | None = None,
    where: dict[str, str] | None = None,
    **axes: Unpack[Axes],
) -> Figure:
    """A figure of a run or a sweep, as ``sojourn plot`` makes it.

    ``source`` is its directory or what :func:`sojourn.open` gives. ``x``, ``hue``, ``facet`` and
    ``kind`` are as the options of the command; ``where`` keeps one value of an axis. With ``out``
    it is also written, in the format that the ending says.

    Raises:
        ScenarioError: names the option, what was given and what is allowed.

    """
    directory = located(str(getattr(source, "directory", source)))
    made = chart(directory, Request(y, where=tuple((where or {}).items()), **axes))
    if out is not None:
        save(made, Path(out))
    return paper.render(made)


def check(path: Path) -> str:
    """The format that a file's ending says."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise ScenarioError(f"--out {path}: the ending says the format: {', '.join(FORMATS)}")
    return kind


def save(made: Chart, path: Path) -> None:
    """Writes a chart in the format that the ending says."""
    kind = check(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "html":
        section = Section("Figure", pictures=[picture(path.stem, made)])
        write(Page(made.title, made.note, [section]), path)
        return
    content = paper.encoded(paper.render(made), [kind])[kind]
    write_atomically(path, lambda partial: partial.write_bytes(content))

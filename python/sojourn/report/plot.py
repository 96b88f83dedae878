"""Figures that a person asks for, as files: for papers, or as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from sojourn.errors import ScenarioError
from sojourn.figures import paper
from sojourn.figures.chart import Chart
from sojourn.figures.plots.finish import Finish, Log
from sojourn.figures.plots.request import Kind, Request, chart
from sojourn.report.page import Page, Section, picture, write
from sojourn.store.files import write_atomically
from sojourn.store.location import located

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.measured import Measured
    from sojourn.sweeps.stored import StoredSweep

    Stored = str | Path | StoredSweep | Measured


class Axes(TypedDict, total=False):
    """What a figure is drawn over and looks like, as the options of ``sojourn plot``."""

    x: str | None
    hue: str | None
    rows: str | None
    columns: str | None
    #: The same as ``columns``.
    facet: str | None
    kind: Kind | None
    log: Log | None
    width: str | float | None
    height: str | float | None
    annotations: str | Path | None


class Options(Axes, total=False):
    """What :func:`plot` is asked for besides."""

    out: str | Path | None
    where: dict[str, str] | None


FORMATS = (*paper.KINDS, "html")


def plot(
    source: Stored | Sequence[Stored],
    y: str | None = None,
    *,
    out: str | Path | None = None,
    where: dict[str, str] | None = None,
    **axes: Unpack[Axes],
) -> Figure:
    """A figure of runs and sweeps, as ``sojourn plot`` makes it.

    ``source`` is a directory or what :func:`sojourn.open` gives, or a list of several. The other
    arguments are as the options of the command; ``where`` keeps one value of an axis. With ``out``
    it is also written, in the format that the ending says.

    Raises:
        ScenarioError: names the option, what was given and what is allowed.

    """
    several = source if isinstance(source, list | tuple) else [source]
    directories = [located(str(getattr(one, "directory", one))) for one in several]
    made = chart(directories, request(y, list((where or {}).items()), **axes))
    if out is not None:
        save(made, Path(out))
    return paper.render(made)


def request(y: str | None, where: Sequence[tuple[str, str]], **axes: Unpack[Axes]) -> Request:
    """What is asked for by these options."""
    finish = Finish(axes.get("width"), axes.get("height"), axes.get("log"), axes.get("annotations"))
    return Request(
        y,
        axes.get("x"),
        axes.get("hue"),
        axes.get("columns") or axes.get("facet"),
        axes.get("kind"),
        where,
        axes.get("rows"),
        finish,
    )


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

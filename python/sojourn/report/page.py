"""What a page is made of, and its HTML."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypedDict

import jinja2

from sojourn.figures.chart import Chart
from sojourn.figures.plotly_types import Drawn
from sojourn.literal import printable
from sojourn.numbers import number
from sojourn.store.files import write_atomically
from sojourn.table import Table

#: Letters that all pictures of a page may have together; with plotly.js and tables it then stays
#: below 8 MB.
_PICTURES = 4_500_000
#: A table shows so many rows, and the page so many warnings before others are asked for.
_MOST_ROWS, _MOST_WARNINGS = 300, 3


@dataclass(frozen=True)
class Picture:
    """A figure: interactive on the page, with PNG and SVG to download."""

    name: str
    title: str
    caption: str
    interactive: str
    png: str
    svg: str


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading."""

    heading: str
    paragraphs: Sequence[str] = ()
    items: Sequence[str] = ()
    tables: Sequence[Table] = ()
    pictures: Sequence[Picture] = ()
    #: Preformatted text, folded away.
    listing: str = ""
    #: Whether the section is shown only when it is opened.
    folded: bool = False
    #: What there is to say, each line with a label that says of what kind it is.
    lines: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Page:
    """A report: what it is about in a sentence, what to beware of, then everything else."""

    title: str
    sentence: str
    sections: Sequence[Section] = field(default_factory=list)
    #: Each begins with its severity and a colon.
    warnings: Sequence[str] = ()


class Kept(TypedDict):
    """What a file holds of a figure that was rendered before, beside its images."""

    title: str
    caption: str
    interactive: Drawn


def picture(name: str, chart: Chart) -> Picture:
    """Renders a chart in all three forms."""
    from sojourn.figures import page, paper

    return _picture(name, chart.title, chart.caption, page.render(chart), paper.images(chart))


def kept(name: str, told: Kept, directory: Path) -> Picture:
    """One that was rendered before: what the page shows of it, and where its files are."""
    forms = {kind: directory / f"{name}.{kind}" for kind in ("png", "svg")}
    images = {kind: path.read_bytes() for kind, path in forms.items() if path.exists()}
    return _picture(name, told["title"], told["caption"], told["interactive"], images)


def _picture(
    name: str, title: str, caption: str, shown: Drawn, images: Mapping[str, bytes]
) -> Picture:
    interactive = json.dumps(shown, separators=(",", ":")).replace("<", "\\u003c")
    forms = (base64.b64encode(images.get(kind, b"")).decode("ascii") for kind in ("png", "svg"))
    return Picture(name, title, caption, interactive, *forms)


def write(page: Page, path: Path) -> None:
    """Writes the page with everything it needs inside."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sojourn.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )
    environment.filters["number"] = lambda v: v if isinstance(v, str) else number(v)
    environment.globals |= {"most_rows": _MOST_ROWS, "most_warnings": _MOST_WARNINGS}
    page, left_out = lightened(page)
    interactive = any(section.pictures for section in page.sections)
    library = _library() if interactive else ""
    template = environment.get_template("page.html")
    html = template.render(page=page, plotly=library, left_out=left_out)
    write_atomically(path, lambda partial: partial.write_text(html, encoding="utf-8"))


@cache
def _library() -> str:
    """plotly.js, compressed: browsers inflate it themselves. To be a hundredth smaller would take
    twice as long.
    """
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), 5, mtime=0)).decode("ascii")


def lightened(page: Page, limit: int = _PICTURES) -> tuple[Page, list[str]]:
    """The page without the largest downloads that do not fit, and what was left out."""
    pictures = [picture for section in page.sections for picture in section.pictures]
    size = sum(len(p.interactive) + len(p.png) + len(p.svg) for p in pictures)
    dropped: dict[str, set[str]] = {}
    for kind in ("svg", "png"):
        for large in sorted(pictures, key=lambda p: -len(getattr(p, kind))):
            if size <= limit:
                break
            size -= len(getattr(large, kind))
            dropped.setdefault(large.name, set()).add(kind)
    if not dropped:
        return page, []
    sections = [
        replace(
            section,
            pictures=[
                replace(p, **dict.fromkeys(dropped.get(p.name, ()), "")) for p in section.pictures
            ],
        )
        for section in page.sections
    ]
    told = [f"{name}: {' and '.join(sorted(kinds)).upper()}" for name, kinds in dropped.items()]
    return replace(page, sections=sections), told

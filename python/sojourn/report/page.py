"""What a page is made of, and its HTML."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
from markupsafe import Markup

from sojourn.figures.chart import Chart
from sojourn.numbers import number
from sojourn.store.files import write_atomically
from sojourn.table import Table


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


@dataclass(frozen=True)
class Page:
    """A report."""

    title: str
    subtitle: str
    sections: Sequence[Section] = field(default_factory=list)


def picture(name: str, chart: Chart) -> Picture:
    """Renders a chart in all three forms."""
    from sojourn.figures import page, paper

    interactive = json.dumps(page.render(chart), separators=(",", ":")).replace("</", "<\\/")
    forms = {
        kind: base64.b64encode(content).decode("ascii")
        for kind, content in paper.images(chart).items()
    }
    return Picture(name, chart.title, chart.caption, interactive, forms["png"], forms["svg"])


def write(page: Page, path: Path) -> None:
    """Writes the page with everything it needs inside."""
    from plotly.offline import get_plotlyjs

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sojourn.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = lambda v: v if isinstance(v, str) else number(v)
    interactive = any(section.pictures for section in page.sections)
    library = Markup(get_plotlyjs() if interactive else "")
    html = environment.get_template("page.html").render(page=page, plotly=library)
    write_atomically(path, lambda partial: partial.write_text(html, encoding="utf-8"))

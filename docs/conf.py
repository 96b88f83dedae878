"""How Sphinx makes the site of these pages: ``make site``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
# The sources, wherever the package is installed from.
sys.path[:0] = [str(HERE.parent / "python"), str(HERE.parent)]

from sojourn._internal import engine_build  # noqa: E402
from tools.pages.links import led, stand_ins  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Sojourn"
version = release = engine_build().partition("-")[0]
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
]
exclude_patterns = ["**/*.j2", "_playground", "_templates", "decisions/README.md"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
# Outputs are stored: `python -m tools.pages.notebooks` makes them.
nb_execution_mode = "off"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"

html_theme = "pydata_sphinx_theme"
html_title = "Sojourn"
html_favicon = "_static/favicon.svg"
templates_path = ["_templates"]
# The reports' colours are the site's.
html_static_path = ["_static", "../python/sojourn/report/templates/style.css"]
html_css_files = ["style.css", "site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto", "playground": (HERE / "_playground").is_dir()}
html_theme_options = {
    "header_links_before_dropdown": 5,
    "navbar_center": ["navbar-nav", "playground"],
    "navbar_persistent": ["search-button"],
    "search_as_you_type": True,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
copyright = "the authors of Sojourn; MIT or Apache 2.0"  # noqa: A001

STANDING = stand_ins(HERE)


def setup(app: Sphinx) -> None:
    """Leads the links of pages that are shown elsewhere than they lie."""

    def read(app: Sphinx, name: str, texts: list[str]) -> None:
        page = Path(app.env.doc2path(name))
        if page.suffix == ".md":
            texts[0] = led(texts[0], page, page, STANDING)

    def included(app: Sphinx, file: Path, parent: str, texts: list[str]) -> None:
        page = Path(app.env.doc2path(app.env.docname))
        texts[0] = led(texts[0], (HERE / file).resolve(), page, STANDING)

    def named(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _: object) -> None:
        made = context.get("generate_toctree_html")
        if made:  # by the theme, whose buttons have no name for who does not see them
            context["generate_toctree_html"] = lambda *how, **more: str(made(*how, **more)).replace(
                "<summary>", '<summary aria-label="Pages below it">'
            )

    app.connect("source-read", read)
    app.connect("html-page-context", named, priority=900)
    app.connect("include-read", included)

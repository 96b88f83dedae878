"""The lessons of the tutorial, as the playground shows them.

A lesson is a page of ``docs/tutorial/lessons``; ``index.md`` there lists them in the order in
which they are taught. Its blocks of TOML are scenarios: the first, of the lesson's name, is what it
begins with; others are its variants that sliders do not make.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "tutorial" / "lessons"
#: Where the pages are within the site, and its playground.
PLACE, PLAYGROUND = "tutorial/lessons", "playground/index.html"
_SCENARIO = re.compile(r"<!-- file: (\S+)\.toml -->\n```toml\n(.*?)```\n", re.DOTALL)
_LISTED = re.compile(r"^\d+\. \[.*\]\((\S+)\.md\)", re.MULTILINE)


@dataclass(frozen=True)
class Lesson:
    """A lesson: what it is called, scenario files by name, and its other words as HTML."""

    name: str
    title: str
    scenarios: dict[str, str]
    html: str


def names() -> list[str]:
    """The lessons in the order in which they are taught."""
    return _LISTED.findall((PAGES / "index.md").read_text(encoding="utf-8"))


def lesson(name: str) -> Lesson:
    """A lesson.

    Raises:
        ValueError: Its page does not begin with a scenario of its name.
    """
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    scenarios = dict(_SCENARIO.findall(text))
    if next(iter(scenarios), None) != name:
        raise ValueError(
            f"docs/{PLACE}/{name}.md: the first block is to be <!-- file: {name}.toml -->"
        )
    title = text.partition("\n")[0].removeprefix("# ")
    return Lesson(name, title, scenarios, _rendered(_SCENARIO.sub("", text)))


def _rendered(text: str) -> str:
    # The playground's page has its own heading above it.
    html = MarkdownIt("commonmark").enable("table").render(text).replace("h1>", "h2>")
    return re.sub(r'href="([^"]+)"', lambda link: f'href="{_from_playground(link[1])}"', html)


def _from_playground(target: str) -> str:
    """A link of a lesson's page, as the playground's has to have it."""
    if "://" in target:
        return target
    path, _, fragment = target.partition("#")
    path = posixpath.normpath(posixpath.join(PLACE, path))
    hash_ = f"#{fragment}" if fragment else ""
    if path == PLAYGROUND:
        return hash_
    return f"../{re.sub(r'[.]md$', '.html', path)}{hash_}"


def lessons() -> list[dict[str, str]]:
    """All of them, as the playground's ``lessons.json`` has them."""
    return [asdict(lesson(name)) for name in names()]

"""Links of pages that the site shows elsewhere than where they lie.

Files at the top of the checkout and in ``reproductions/`` are read where they are, and a page of
``docs/`` that includes one stands for it on the site. So a link to such a file leads to that page,
and one from it is told from that page's place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_FENCED = re.compile(r"(^```.*?^```[ ]*$)", re.S | re.M)
_INCLUDES = re.compile(r"^```\{include\} (\S+)$", re.M)
#: A link or an image: what it shows, where it leads, and the section there.
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def stand_ins(docs: Path) -> Mapping[Path, Path]:
    """The pages that stand for a file, by that file."""
    found = {}
    for page in docs.rglob("*.md"):
        for included in _INCLUDES.findall(page.read_text(encoding="utf-8")):
            found[(page.parent / included).resolve()] = page
    return found


def led(text: str, place: Path, page: Path, standing: Mapping[Path, Path]) -> str:
    """A text that lies at ``place`` with its links as ``page`` needs them.

    A file that is no page of the site is offered as it is; a directory cannot be, so that what the
    link shows stands alone.
    """

    def one(link: re.Match[str]) -> str:
        image, shown, target, section = link[1], link[2], link[3], link[4] or ""
        shown = _LINK.sub(one, shown)
        file = (place.parent / target).resolve()
        if file.is_dir():
            return shown
        to = standing.get(file, file)
        path = Path(os.path.relpath(to, page.parent)).as_posix()
        within = to.is_relative_to(_docs(page))
        offered = "" if image or within or not file.exists() else "path:"
        return f"{image}[{shown}]({offered}{path}{section})"

    parts = _FENCED.split(text)
    return "".join(part if at % 2 else _LINK.sub(one, part) for at, part in enumerate(parts))


def _docs(page: Path) -> Path:
    return next(parent for parent in page.parents if (parent / "conf.py").exists())

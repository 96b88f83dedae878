"""``make docs`` writes the generated pages and figures, ``make page NAME=...`` a member's."""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn.catalogue import KINDS, members
from tools.pages import crates, kept
from tools.pages.at_work import FIGURES, draw
from tools.pages.rendered import RENDERED
from tools.pages.text import pages


def write(directory: Path, only: str | None = None) -> None:
    """Writes every page below ``directory``, which takes no time, and every figure, or those of
    the members called ``only``.
    """
    for name, text in pages().items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for kind, chart in FIGURES.items():
        for member in members(kind):
            if only in (None, member.name):
                draw(kind, member.name, chart, directory)


def main(names: list[str]) -> None:
    """Writes everything, or the pages of members and what belongs to the one that the command line
    names.
    """
    known = [member.name for kind in KINDS for member in members(kind)]
    only = names[0] if names else None
    if only not in (None, *known):
        sys.exit(f"NAME: {only!r} given; allowed: {', '.join(known)}")
    write(kept.docs() / "reference", only)
    if only is None:
        for name, page in RENDERED.items():
            kept.put(name, page())
        (kept.explanation() / crates.PICTURE).write_text(crates.picture(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

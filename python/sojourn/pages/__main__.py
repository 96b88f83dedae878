"""``make docs``: writes the generated pages and their figures."""

from __future__ import annotations

from pathlib import Path

from sojourn import data
from sojourn.pages.at_work import FIGURES, draw
from sojourn.pages.text import pages


def write(directory: Path) -> None:
    """Writes every page and figure below ``directory``."""
    for name, text in pages().items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for kind, chart in FIGURES.items():
        draw(kind, chart, directory)


if __name__ == "__main__":
    write(data.checkout() / "docs")

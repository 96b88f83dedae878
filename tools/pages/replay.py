"""Writes ``docs/replay.md`` of both versions' tables: ``python -m tools.pages.replay CSV...``."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from sojourn import data
from sojourn.conformance.replay import Row
from sojourn.conformance.replay_page import page


def _read(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [_row(line) for line in csv.DictReader(file)]


def _row(line: dict[str, str]) -> Row:
    steps = line.pop("steps")
    return Row(steps=int(steps) if steps else None, **line)


if __name__ == "__main__":
    found = [row for name in sys.argv[1:] for row in _read(Path(name))]
    (data.checkout() / "docs" / "replay.md").write_text(page(found), encoding="utf-8")

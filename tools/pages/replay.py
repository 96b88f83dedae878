"""The page of the replays beside the kernel's sources.

``python -m tools.pages.replay 6.1=DIR 6.12=DIR`` replays the sources of both trees, and writes
``docs/explanation/replay/`` and from that ``docs/explanation/replay.md``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sojourn.conformance.directory import REPLAY, tenant
from sojourn.conformance.replay import COLUMNS, Row, planned, rows
from sojourn.conformance.replay_page import page as told
from sojourn.store.batches import tell
from sojourn.store.place import claimed
from tools.pages import kept

_COMMAND = "make replay V6_1=DIR V6_12=DIR"
_HOW = """\
[Linux sources](../howto/linux-sources.md) tells how such a source is run.
"""
_NOTE = """\
Written by `sojourn conformance --against DIR`; do not edit.
"""


def page() -> str:
    """The page of what is stored."""
    found = [_row(line) for line in kept.rows("replay", "replay")]
    by = f"Every replay is in [replay/replay.csv](replay/replay.csv)\n{kept.stamp('replay')}.\n"
    return told(found).replace(_NOTE, by + _HOW)


def _row(line: kept.Row) -> Row:
    texts = {**line}
    steps = texts.pop("steps")
    return Row(steps=int(steps) if steps else None, **texts)


def measured(trees: Sequence[str]) -> Iterator[Row]:
    """What the replays of each ``VERSION=DIR`` come to."""
    for tree in trees:
        version, _, sources = tree.partition("=")
        with claimed(tenant(REPLAY), Path(f"results/replay-{version}"), tell) as claim:
            replays = planned(Path(sources), version, ())
            yield from rows(replays, claim.work, os.cpu_count() or 1, lambda done, of: None)


def main(trees: Sequence[str]) -> None:
    """Replays, and writes the table and the page."""
    lines = [dict(zip(COLUMNS, row.cells(), strict=True)) for row in measured(trees)]
    kept.store("replay", _COMMAND, {"replay": lines})
    kept.put("replay", page())


if __name__ == "__main__":
    main(sys.argv[1:])

"""Random scenarios on the page of fidelity: the share within the goals, and each cell that misses.

``python -m tools.pages.fidelity_random SEED...`` draws cells of every kind of each seed, runs them
in the simulator and on Linux 6.12 in virtual time, and writes ``shares.csv`` and ``misses.csv`` in
``docs/explanation/fidelity/random/``. It goes on where it was interrupted; ``--kinds`` names those
that are run, the others keep their rows. Why a cell misses is written by hand, in ``causes.toml``
beside the tables.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn.cli.progress import progress
from sojourn.fidelity import campaign, table
from sojourn.fidelity.asked import ANY_AQM, FIFO, Asked
from sojourn.fidelity.judge import Judged
from sojourn.fidelity.parting import partings
from sojourn.store.rows import Row
from tools.pages import kept
from tools.pages.reproduction import markdown

PLACE = "fidelity/random"
COMMAND = "python -m tools.pages.fidelity_random"
CAUSES = "causes.toml"
_OUT = Path("results/renew/random")
#: Cells of a seed, and what is drawn besides; :mod:`sojourn.fidelity.goals` says what each is to
#: meet.
KINDS: Mapping[str, tuple[int, Mapping[str, Any]]] = {
    "one flow": (200, {}),
    "one flow with ECN": (40, {"queue": ANY_AQM, "ecn": True}),
    "transfers": (40, {"kind": "transfer"}),
    "paths": (40, {"kind": "path"}),
    "two flows": (40, {"flows": 2}),
    "four flows": (40, {"flows": 4}),
}
#: What is kept of a cell that misses: where it differs most, and the first packet that does.
_MISS = (
    *("kind", "cell", "controls", "queue", "path", "rate_mbit", "rtt_ms", "buffer"),
    *("start", "flow", "metric", "sim", "kernel", "excess"),
    *("time", "link", "event", "packet", "known"),
)
#: Of the kinds of which a part has a goal of its own, the names of the parts.
_PARTS = (FIFO, ANY_AQM)


def measured(
    kind: str, seeds: Sequence[int], jobs: int
) -> tuple[list[kept.Measured], list[kept.Measured]]:
    """The shares of a kind, and the cells that miss."""
    number, drawn = KINDS[kind]
    asked, out = Asked(number, tuple(seeds), **drawn), _OUT / kind.replace(" ", "-")
    asked.check()
    reference = campaign.reference()
    out.mkdir(parents=True, exist_ok=True)
    with progress("runs", out) as report:
        judged = campaign.campaign(asked, reference, out, jobs, report)
    missed = sorted((one for one in judged if not one.is_within), key=lambda one: -one.worst.excess)
    with progress("partings", out) as report:
        parted = partings(missed, reference, out, jobs, report)
    firsts = {row["cell"]: row for row in reversed(parted)}
    shares: list[kept.Measured] = [{"kind": kind, **row} for row in table.shares(judged)]
    return shares, [_miss(kind, one, firsts[one.cell.name]) for one in missed]


def _miss(kind: str, one: Judged, first: Row) -> kept.Measured:
    known: Row = {"kind": kind, **one.worst.row(), **first}
    known["controls"] = " ".join(one.cell.controls)
    return {name: known.get(name) for name in _MISS}


def goals_met(rows: Sequence[kept.Row]) -> str:
    """The share of each kind that has a goal, with Wilson's interval."""
    found = []
    for kind in KINDS:
        of = [row for row in rows if row["kind"] == kind]
        parts = [row for row in of if row["by"] == "queue" and row["name"] in _PARTS]
        # Parts are told where they have goals of their own.
        for row in parts if of and not of[0]["goal"] else of[:1]:
            share, low, high = (f"{float(row[name]):.1%}" for name in ("share", "low", "high"))
            told = f"{row['within']} of {row['cells']}"
            met = "met" if float(row["share"]) >= float(row["goal"]) else "**missed**"
            queue = row["name"] if row["by"] == "queue" else ""
            goal = f"{float(row['goal']):.0%}"
            found.append([kind, queue, told, share, f"{low} to {high}", goal, met])
    heads = ("cells", "queue", "within", "share", "95 % interval", "goal", "")
    return markdown(heads, found, 2)


def by_control(rows: Sequence[kept.Row]) -> str:
    """How many cells of one flow are within, by control."""
    found = [
        [row["name"], f"{row['within']} of {row['cells']}"]
        for row in rows
        if row["kind"] == "one flow" and row["by"] == "cca"
    ]
    return markdown(("control", "within"), found, 1)


def misses(rows: Sequence[kept.Row]) -> str:
    """Each cell that misses: what is furthest off, and the first packet that differs."""
    causes = {cell: cause["name"] for cause in written() for cell in cause["cells"]}
    found = []
    for row in rows:
        queue = f"{row['buffer']} packets" if row["buffer"] else row["queue"]
        path = f"{row['rate_mbit']} Mbit/s, {row['rtt_ms']} ms, {queue}"
        if row["path"]:
            path += f", {row['path']}"
        values = f"{float(row['sim']):.4g}" if row["sim"] else "-"
        kernel = f"{float(row['kernel']):.4g}" if row["kernel"] else "-"
        packet = f"{row['packet']} at {float(row['time']):.4f} s" if row["packet"] else "-"
        cause = causes.get(f"{row['kind']} {row['cell']}", "")
        named = [row["kind"], row["cell"], row["controls"], path, row["metric"]]
        found.append([*named, values, kernel, packet, cause])
    heads = ("cells", "cell", "control", "path", "metric", "sim", "kernel", "packet", "cause")
    return markdown(heads, found, 5)


def written() -> list[dict[str, Any]]:
    """Causes as they are written: a name, a text, and the cells that miss for it."""
    text = (kept.explanation() / PLACE / CAUSES).read_text(encoding="utf-8")
    return list(tomllib.loads(text)["cause"])


def main() -> None:
    """Runs the kinds that are asked for and stores their rows in place of the former ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", nargs="+", type=int)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    for kind in asked.kinds:
        told = dict(zip(("shares", "misses"), measured(kind, asked.seeds, asked.jobs), strict=True))
        tables = {name: [*_others(name, kind), *rows] for name, rows in told.items()}
        kept.store(PLACE, f"{COMMAND} {' '.join(map(str, asked.seeds))}", tables)


def _others(name: str, kind: str) -> Iterator[kept.Measured]:
    path = kept.explanation() / PLACE / f"{name}.csv"
    if path.exists():
        yield from (row for row in kept.read(path) if row["kind"] != kind)


if __name__ == "__main__":
    main()

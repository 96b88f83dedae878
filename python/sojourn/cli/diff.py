"""``sojourn diff``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.output import printed, say, warn
from sojourn.cli.units import Location, Time

if TYPE_CHECKING:
    from sojourn.difference import Difference, Side

#: So many lines of what was known are told.
_MOST = 10


@click.command("diff")
@click.argument("a", type=Location())
@click.argument("b", type=Location())
@click.option(
    "--tolerance",
    type=Time(),
    show_default="0 s where both were simulated, or both ran in virtual time, 1 us elsewhere",
    metavar="TIME",
    help="Times that differ by no more are the same, such as 10 us.",
)
@click.option("--all", "every", is_flag=True, help="Tell all that was known, not only ten lines.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is printed; json has all that was known.",
)
def command(a: Path, b: Path, tolerance: float | None, every: bool, output: str) -> None:
    """Say at which packet runs A and B part, and what was known then in both: two builds, stacks,
    seeds or backends. They are what sojourn run has written with --record packets; with cc and
    queue as well, there is more to tell. Either may be a capture: a file (.pcapng, .pcap), what
    sojourn import has made of one, or a run with --record pcap.
    """
    from sojourn.difference import difference, sides

    both = sides(a, b)
    if both[0].vantages != both[1].vantages:
        names = [" and ".join(one.vantages) for one in both]
        warn(f"A was captured at the {names[0]}, B at the {names[1]}: only what both have counts")
    found = difference(*both, tolerance)
    with printed():
        if output == "json":
            click.echo(json.dumps({"first_difference": found.to_json() if found else None}))
        elif found is None:
            say(f"no packet differs until {_until(*both)}")
        else:
            _tell(found, both, every=every)


def _until(a: Side, b: Side) -> str:
    return f"{min(a.end, b.end):g} s" + ("" if a.end == b.end else ", where the shorter run ends")


def _tell(found: Difference, sides: tuple[Side, Side], *, every: bool) -> None:
    parting, known = found.parting, found.known
    where = f"flow {parting.flow}, link {parting.link}, {parting.event}"
    say(f"first difference at {parting.time!r} s: {where} of packet {parting.index}\n")
    rows = [
        (name, *("none" if one is None else _exact(one[name]) for one in (parting.a, parting.b)))
        for name in (parting.a or parting.b or ())
    ]
    tables.show("The event", ("", "A", "B"), rows, 3)
    told = known if every else known[:_MOST]
    if told:
        title = "What was known then (what differs comes first)"
        cells = [(one["of"], one["name"], _exact(one["a"]), _exact(one["b"])) for one in told]
        tables.show(title, ("of", "name", "A", "B"), cells, 4)
    if more := len(known) - len(told):
        say(f"and {more} more: --all")
    if not all("state" in one.run.record.tables or one.vantages for one in sides):
        say("more: what controls and queues held, with --record cc,queue")


def _exact(value: object) -> str:
    """To the last digit: it may be the one that differs."""
    return "-" if value is None else str(value)

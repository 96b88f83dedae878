"""``sojourn fidelity``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.options import (
    Workers,
    force_option,
    format_option,
    out_option,
    workers_options,
)
from sojourn.cli.output import printed, say, warn
from sojourn.cli.progress import progress

if TYPE_CHECKING:
    from sojourn.fidelity.asked import Asked
    from sojourn.fidelity.judge import Judged
    from sojourn.store.rows import Row

#: As :mod:`sojourn.fidelity.asked` has them, which takes longer to import.
_KINDS, _FLOWS = ("bulk", "transfer", "path"), ("1", "2", "4")
_QUEUES = ("fifo", "aqms", "codel", "fq_codel", "cake", "pie", "fq_pie")


@click.command("fidelity")
@click.option(
    "--cells", type=click.IntRange(min=1), required=True, metavar="N", help="Scenarios of a seed."
)
@click.option(
    "--seed",
    "seeds",
    type=click.IntRange(min=0),
    multiple=True,
    required=True,
    metavar="S",
    help="Seed of the draws. May be repeated: shares are of all seeds together.",
)
@click.option(
    "--kind",
    type=click.Choice(_KINDS),
    default="bulk",
    show_default=True,
    help="Greedy flows; transfers with random loss; greedy flows over a path that reorders, varies "
    "delay, loses ACKs or changes its rate.",
)
@click.option(
    "--flows", type=click.Choice(_FLOWS), default="1", show_default=True, help="Flows of a cell."
)
@click.option(
    "--queue",
    type=click.Choice(_QUEUES),
    help="Queue discipline; aqms: one of those that follow it.  [default: all are drawn]",
)
@click.option("--ecn", is_flag=True, help="Flows that hear of marks, before queues that mark.")
@workers_options
@out_option
@force_option
@format_option
def command(
    cells: int,
    seeds: tuple[int, ...],
    kind: str,
    flows: str,
    queue: str | None,
    ecn: bool,
    workers: Workers,
    out: Path | None,
    force: bool,
    output: str,
) -> None:
    """Draw random scenarios, run them in the simulator and on Linux 6.12 in virtual time, and say
    how often both do the same.

    Writes cells.csv, the worst cells as scenario files (worst/), and for each of these the first
    packet at which both part (partings.csv). The same command goes on where it was interrupted;
    more cells or seeds are added to what is there.
    """
    from sojourn.fidelity.asked import Asked

    asked = Asked(cells, tuple(dict.fromkeys(seeds)), kind, int(flows), queue, ecn)
    asked.check()
    directory, judged, parted = _done(asked, workers, out, force)
    with printed():
        _show(judged, parted, output)
    say(f"results: {directory}", err=True)


def _done(
    asked: Asked, workers: Workers, out: Path | None, force: bool
) -> tuple[Path, list[Judged], list[Row]]:
    """Where the results are, all cells, and where the worst ones part."""
    from sojourn.fidelity import campaign, table
    from sojourn.fidelity.directory import KIND, content, tenant
    from sojourn.fidelity.parting import partings
    from sojourn.store import manifest
    from sojourn.store.place import claimed

    beside = campaign.reference()
    with (
        claimed(tenant(asked, beside), out, warn, force=force) as claim,
        workers.connected() as execute,
    ):
        with progress("runs", claim.directory) as report:
            judged = campaign.campaign(asked, beside, claim.work, workers.jobs, report, execute)
        table.write(judged, claim.work)
        worst = table.worst(judged)
        with progress("partings", claim.directory) as report:
            parted = partings(worst, beside, claim.work, workers.jobs, report, execute)
        table.write_partings(parted, claim.work)
        manifest.write(claim.work, KIND, content(asked, beside))
    return claim.directory, judged, parted


def _show(judged: Sequence[Judged], parted: Sequence[Row], output: str) -> None:
    from sojourn.fidelity.judge import COLUMNS
    from sojourn.fidelity.table import SHARES, shares, worst

    counted, missed = list(shares(judged)), [one.worst.row() for one in worst(judged)]
    if output == "csv":
        tables.write_csv(COLUMNS, [value.row() for one in judged for value in one.values])
    elif output == "json":
        click.echo(json.dumps({"shares": counted, "worst": missed, "partings": parted}))
    else:
        lines = [[row[name] for name in SHARES] for row in counted]
        tables.show("Within the goals", SHARES, lines, words=2)
        _tell(missed, parted)


def _tell(missed: Sequence[Row], parted: Sequence[Row]) -> None:
    """The worst cells, and below each where both part."""
    header = ("cell", "cca", "queue", "metric", "rate_mbit", "rtt_ms", "buffer", "sim", "kernel")
    if missed:
        lines = [[row[name] for name in header] for row in missed]
        tables.show("Worst cells", header, lines, words=4)
    for row in parted:
        if "time" in row:
            apart = f"by more than {row['tolerance_s']:g} s"
            where = f"flow {row['flow']}, link {row['link']}, {row['event']}"
            said = f"at {row['time']!r} s: {where} of packet {row['packet']}"
            known = f"; {row['known']}" if row["known"] else ""
            say(f"{row['cell']} parts {apart} {said}{known}")
        else:
            say(f"{row['cell']}: {row.get('known', 'no packet differs')}")

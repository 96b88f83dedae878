"""``sojourn conformance``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.names import Name
from sojourn.cli.options import (
    Workers,
    force_option,
    format_option,
    limit_options,
    out_option,
    workers_options,
)
from sojourn.cli.output import printed, warn
from sojourn.cli.progress import progress

if TYPE_CHECKING:
    from sojourn.campaign.run import Progress
    from sojourn.conformance.measure import Row
    from sojourn.executors import Executor
    from sojourn.store.place import Claim

#: The kinds that have a suite.
KINDS = ("ccas", "queues", "transports", "nodes", "media")


@click.command("conformance")
@click.argument("names", nargs=-1, metavar="[NAME|FILE]...")
@click.option("--kind", type=Name("kind", KINDS), help="All of one kind.")
@click.option(
    "--against",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Replay the Linux sources of DIR beside our own controls and disciplines instead.",
)
@click.option(
    "--version",
    type=Name("version", ("6.1", "6.12")),
    default="6.1",
    show_default=True,
    help="Version of the kernel's interface, with --against.",
)
@workers_options
@out_option
@force_option
@limit_options
@format_option
def command(
    names: tuple[str, ...],
    kind: str | None,
    against: Path | None,
    version: str,
    workers: Workers,
    out: Path | None,
    force: bool,
    output: str,
) -> int:
    """Put congestion controls, queue disciplines and others through the conformance suite: all, or
    those that are named.

    NAME is a congestion control, a queue discipline, a transport, a kind of node or a shared
    medium, or a table such as '{ kind = "cubic", beta = 0.8 }'; FILE brings a control along:
    FILE.py, FILE.py:CLASS, FILE.so, or a scenario with one. Exit status 1 if something fails that
    is no known exception.

    With --against, every source of a kernel's tree that has a counterpart here runs beside it
    (names choose among them): in open loop, on the same events, and in closed loop, by itself;
    replay.csv and replay.md are written to the directory of --out.
    """
    if against is not None:
        return _replay(against, version, names, (workers, out, force), output)
    from sojourn.conformance.directory import SUITE
    from sojourn.conformance.measure import rows
    from sojourn.conformance.subjects import chosen

    subjects = chosen(names, kind)
    with _at_work(SUITE, "checks", workers, out, force) as (claim, work):
        found = rows(subjects, claim.work, *work)
    with printed():
        _show(found, output)
    return int(any(row.verdict in ("fails", "error") for row in found))


@contextmanager
def _at_work(
    kind: str, unit: str, workers: Workers, out: Path | None, force: bool
) -> Iterator[tuple[Claim, tuple[int, Progress, Executor]]]:
    """Where a campaign stores, how many cases it does at a time, whom it tells, and who does it."""
    from sojourn.conformance.directory import tenant
    from sojourn.store.place import claimed

    with (
        claimed(tenant(kind), out, warn, force=force) as claim,
        workers.connected() as execute,
        progress(unit, claim.directory) as report,
    ):
        yield claim, (workers.jobs, report, execute)


def _replay(
    against: Path,
    version: str,
    names: tuple[str, ...],
    where: tuple[Workers, Path | None, bool],
    output: str,
) -> int:
    """Exit status 1 if something parts that is not explained, or does not run."""
    from sojourn.conformance.directory import REPLAY
    from sojourn.conformance.replay import COLUMNS, planned, rows
    from sojourn.conformance.replay_page import written

    replays = planned(against, version, names)
    with _at_work(REPLAY, "replays", *where) as (claim, work):
        found = rows(replays, claim.work, *work)
        written(found, claim.work)
    out = claim.directory
    with printed():
        cells = [dict(zip(COLUMNS, row.cells(), strict=True)) for row in found]
        if output == "json":
            click.echo(json.dumps(cells))
        elif output == "csv":
            tables.write_csv(COLUMNS, cells)
        else:
            shown = [(row.name, row.scenario, row.loop, row.verdict, row.note) for row in found]
            tables.show("Replay", ("name", "scenario", "loop", "verdict", "note"), shown)
            tables.say(f"{out / 'replay.csv'}, {out / 'replay.md'}")
    return int(any(row.verdict in ("parts", "does not run") for row in found))


def _show(found: Sequence[Row], output: str) -> None:
    from sojourn.conformance.measure import COLUMNS

    if output == "json":
        click.echo(json.dumps([row.cells() for row in found]))
    elif output == "csv":
        tables.write_csv(COLUMNS, [row.cells() for row in found])
    else:
        for kind in dict.fromkeys(row.kind for row in found):
            _table(kind, [row for row in found if row.kind == kind])


def _table(kind: str, found: Sequence[Row]) -> None:
    """Members by checks, then what is not as required."""
    from sojourn.catalogue import title

    checks = list(dict.fromkeys(row.check.name for row in found))
    members: dict[str, dict[str, float | str | None]] = {}
    for row in found:
        value = "error" if row.value is None else row.value
        members.setdefault(row.name, {})[row.check.name] = value
    lines = [(name, *(values[check] for check in checks)) for name, values in members.items()]
    tables.show(title(kind), ("name", *checks), lines)
    notes: dict[tuple[str, str, str], list[str]] = {}
    for row in found:
        if row.verdict != "holds":
            note = row.note or row.check.legend
            notes.setdefault((row.verdict, row.name, note), []).append(row.check.name)
    for (verdict, name, note), same in notes.items():
        tables.say(f"{verdict}: {name}, {', '.join(same)}: {note}")

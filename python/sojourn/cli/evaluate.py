"""``sojourn evaluate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.backends import one_backend_option, workers_of
from sojourn.cli.options import (
    Workers,
    force_option,
    limit_options,
    out_option,
    workers_options,
)
from sojourn.cli.output import give, printed, warn
from sojourn.cli.progress import progress

if TYPE_CHECKING:
    from sojourn.evaluation.suites.run import Place, Request
    from sojourn.origin import Origin
    from sojourn.report.page import Page


@click.command("evaluate")
@click.argument("ccas", nargs=-1, required=True, metavar="CCA...")
@click.option(
    "--against", default="cubic,reno,bbr", show_default=True, metavar="CCA,...", help="The others."
)
@click.option("--quick", is_flag=True, help="One path, and the ends of each grid.")
@click.option("--experiment", "experiments", multiple=True, metavar="NAME", help="Only these.")
@one_backend_option
@workers_options
@out_option
@force_option
@limit_options
def command(
    ccas: tuple[str, ...],
    against: str,
    quick: bool,
    experiments: tuple[str, ...],
    backend: str,
    workers: Workers,
    out: Path | None,
    force: bool,
) -> None:
    """Put congestion controls through CCPerf's experiments; say whether each starves or dominates
    beside other TCP, and where it is better and worse.

    A CCA is a name, a table such as '{ kind = "cubic", beta = 0.8 }', or a file that brings a
    control along: FILE.py, FILE.py:CLASS, FILE.so.
    """
    from sojourn.evaluation.suites import directory as place
    from sojourn.evaluation.suites import found
    from sojourn.evaluation.suites.run import Request, evaluate
    from sojourn.report import FILE
    from sojourn.store import manifest
    from sojourn.store.place import claimed

    others = [name.strip() for name in against.split(",") if name.strip()]
    controls = list(dict.fromkeys(ccas))
    request = Request(found.suite(found.DEFAULT), controls, others, quick, experiments, backend)
    workers = workers_of(backend, workers)
    tenant = place.tenant(request)
    with claimed(tenant, out, warn, force=force) as claim:
        with workers.connected() as execute, progress("runs", claim.directory) as report:
            places = evaluate(request, claim.work, workers.jobs, report, warn, execute)
        content = place.content(request)
        manifest.write(claim.work, place.KIND, content)
        _judge(request, places, claim.work, content.get("origin", {}))
    give(str(claim.directory / FILE))


def _judge(request: Request, places: Sequence[Place], directory: Path, origin: Origin) -> None:
    """Scores, standings and the page, of which the beginning is shown."""
    from sojourn.evaluation.suites import competition, scores
    from sojourn.report import FILE
    from sojourn.report.evaluation import page
    from sojourn.report.page import write

    found = scores.scores(places, request)
    scores.save(found, directory)
    competition.save(competition.standings(places, request), directory)
    made = page(request, places, found, origin)
    write(made, directory / FILE)
    for note in made.warnings:
        warn(note)
    with printed():
        _show(made)


def _show(made: Page) -> None:
    """What the page begins with."""
    tables.say(f"{made.sentence}\n")
    for table in made.sections[0].tables:
        tables.show(table.title, table.header, table.rows, table.words)

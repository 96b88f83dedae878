"""``--backend``: other backends than the simulator, several runs, several backends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli import tables
from sojourn.cli.options import Workers
from sojourn.cli.output import printed, warn
from sojourn.cli.progress import share
from sojourn.cli.show_run import PRINTERS
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from sojourn.backends import Backend
    from sojourn.measured import Measured
    from sojourn.scenario import Scenario
    from sojourn.store.rows import Row

#: What runs differ by, and the option that counts them.
_COUNTED_BY = {"sim": "--seeds", "kernel": "--seeds", "live": "--repetitions"}

backend_option = click.option(
    "--backend",
    metavar="BACKEND[,...]",
    default="sim",
    show_default=True,
    callback=lambda _context, _option, value: chosen(value),
    help="The simulator (sim), this machine's kernel in real time (live), a kernel in virtual time "
    "(kernel, kernel:6.12), or several and how they differ; both is sim,live.",
)
one_backend_option = click.option(
    "--backend",
    metavar="BACKEND",
    default="sim",
    show_default=True,
    callback=lambda _context, _option, value: one(value),
    help="The simulator (sim), this machine's kernel in real time (live), or a kernel in virtual "
    "time (kernel, kernel:6.12).",
)
repetitions_option = click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many live runs.  [default: 1]",
)
seeds_option = click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many runs of the simulator, or in virtual time, each with a seed of its own.  "
    "[default: 1]",
)


def chosen(given: str) -> tuple[str, ...]:
    """The backends of a list, in its order.

    Raises:
        ScenarioError: if there is no such backend, or one is given twice.

    """
    from sojourn.backends import NAMES, is_known

    names = tuple(name.strip() for name in given.replace("both", "sim,live").split(","))
    for name in names:
        if not is_known(name):
            has = ", ".join(NAMES)
            raise ScenarioError(f"--backend: {name!r} given; allowed: {has}, kernel:VERSION, both")
    if len(set(names)) < len(names):
        raise ScenarioError(f"--backend: {given} names a backend twice")
    return names


def one(given: str) -> str:
    """The only backend of a command that makes many runs.

    Raises:
        ScenarioError: if there is no such backend, or several are given.

    """
    names = chosen(given)
    if len(names) > 1:
        raise ScenarioError(
            f"--backend: {given} given; allowed is one here: run the command once for each, and "
            "compare their directories with sojourn compare"
        )
    return names[0]


def workers_of(name: str, workers: Workers) -> Workers:
    """Who is to make a backend's runs: of the machine itself one at a time, which is said.

    Raises:
        ScenarioError: if a cluster is asked for what only this machine can do.

    """
    from sojourn.backends import backend

    if backend(name).side_by_side:
        return workers
    if workers.cluster:
        raise ScenarioError(
            f"--cluster {workers.cluster}: {name} runs are this machine's own; leave it out, or "
            "--backend sim or kernel"
        )
    if (workers.given or 1) > 1:
        warn(f"--jobs {workers.given}: {name} runs go on one at a time")
    return Workers(None, 1)


def counts(backends: tuple[str, ...], repetitions: int | None, seeds: int | None) -> dict[str, int]:
    """How many runs of which backend.

    Raises:
        ScenarioError: if a number is given of a backend that does not run.

    """
    given = {"--seeds": seeds, "--repetitions": repetitions}
    by = {name: _COUNTED_BY[name.partition(":")[0]] for name in backends}
    for option, number in given.items():
        if number is not None and option not in by.values():
            counted = [name for name, known in _COUNTED_BY.items() if known == option]
            raise ScenarioError(
                f"{option}: counts runs of the backend {' or '.join(counted)}, and the backend is "
                f"{','.join(backends)}; leave it out, or --backend {counted[0]} or both"
            )
    return {name: given[option] or 1 for name, option in by.items()}


def several(
    scenario: Scenario,
    numbers: dict[str, int],
    metrics: Collection[str],
    place: tuple[Path | None, bool],
    output: str,
) -> None:
    """Makes several runs, stores each, and prints them or how the backends differ."""
    from sojourn.backends import backend
    from sojourn.backends.disagreement import columns, table
    from sojourn.store import backends_directory
    from sojourn.store.place import claimed

    origins = {name: [backend(name).key(n) for n in range(c)] for name, c in numbers.items()}
    tenant = backends_directory.tenant(scenario, origins)
    out, force = place
    with claimed(tenant, out, warn, force=force) as directory:
        results = {
            name: list(_runs(scenario, name, count, directory, metrics))
            for name, count in numbers.items()
        }
        rows = table(results) if len(results) > 1 else []
        backends_directory.finish(tenant, directory, columns(list(results)), rows)
        with printed():
            _show(scenario, results, rows, output)
        click.echo(f"results: {directory}", err=True)


def _runs(
    scenario: Scenario, name: str, count: int, directory: Path, metrics: Collection[str]
) -> Iterator[Measured]:
    from sojourn.backends import backend
    from sojourn.store import backends_directory

    on = backend(name)
    for number, single in enumerate(on.runs_of(scenario, count)):
        result = measured(single, on, directory, metrics, number)
        backends_directory.save_run(result, directory, name, number)
        tell_quality(result, f"{name}-{number}: ")
        yield result


def measured(
    scenario: Scenario, on: Backend, directory: Path, metrics: Collection[str], repetition: int = 0
) -> Measured:
    """A run, with the metrics that are asked for; what it records meanwhile is in the directory."""
    with share() as progress:
        result = on.run(scenario, progress, repetition, directory)
    return result.request(frozenset(metrics) or None)


def tell_quality(result: Measured, whose: str = "") -> None:
    """Says on standard error why a run cannot be trusted."""
    for reason in result.origin.get("quality", {}).get("reasons", ()):
        warn(f"{whose}the run is invalid: {reason}")


def _show(
    scenario: Scenario, results: dict[str, list[Measured]], rows: list[Row], output: str
) -> None:
    from sojourn.backends.disagreement import columns

    heads = columns(list(results))
    runs = [result for of_backend in results.values() for result in of_backend]
    if output == "json":
        documents = [result.to_json() for result in runs]
        document = {"scenario": scenario.canonical, "backends": rows} if rows else documents[0]
        click.echo(json.dumps({**document, "runs": documents}))
    elif not rows:
        for result in runs:
            PRINTERS[output](result, False)
    elif output == "csv":
        tables.write_csv(heads, rows)
    else:
        cells = [[row[c] if row[c] is not None else "" for c in heads] for row in rows]
        tables.show(scenario.name, heads, cells, words=3)

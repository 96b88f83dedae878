"""``sojourn run --backend``: other backends than the simulator, several runs, several backends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli import tables
from sojourn.cli.output import printed, warn
from sojourn.cli.progress import share
from sojourn.cli.show_run import PRINTERS
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sojourn.measured import Measured
    from sojourn.scenario import Scenario

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
    from sojourn.backends import NAMES

    names = tuple(name.strip() for name in given.replace("both", "sim,live").split(","))
    for name in names:
        kind, _, version = name.partition(":")
        if kind not in NAMES or (version and kind != "kernel"):
            has = ", ".join(NAMES)
            raise ScenarioError(f"--backend: {name!r} given; allowed: {has}, kernel:VERSION, both")
    if len(set(names)) < len(names):
        raise ScenarioError(f"--backend: {given} names a backend twice")
    return names


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
    metrics: Iterable[str],
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
            name: _runs(scenario, name, count, directory, frozenset(metrics) or None)
            for name, count in numbers.items()
        }
        rows = table(results) if len(results) > 1 else []
        backends_directory.finish(tenant, directory, columns(list(results)), rows)
        with printed():
            _show(scenario, results, rows, output)
        click.echo(f"results: {directory}", err=True)


def _runs(
    scenario: Scenario, name: str, count: int, directory: Path, metrics: frozenset[str] | None
) -> list[Measured]:
    from sojourn.backends import backend
    from sojourn.store import backends_directory

    results = []
    for number, one in enumerate(backend(name).runs_of(scenario, count)):
        with share() as progress:
            result = backend(name).run(one, progress, number).request(metrics)
        backends_directory.save_run(result, directory, name, number)
        tell_quality(result, f"{name}-{number}: ")
        results.append(result)
    return results


def tell_quality(result: Measured, whose: str = "") -> None:
    """Says on standard error why a run cannot be trusted."""
    for reason in result.origin.get("quality", {}).get("reasons", ()):
        warn(f"{whose}the run is invalid: {reason}")


def _show(
    scenario: Scenario, results: dict[str, list[Measured]], rows: list[dict[str, Any]], output: str
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

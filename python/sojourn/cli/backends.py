"""``--backend``: on what a command's runs are made, and how many on each."""

from __future__ import annotations

import click

from sojourn import literal
from sojourn.cli.lean import import_numpy
from sojourn.cli.options import Workers
from sojourn.cli.output import warn
from sojourn.errors import ScenarioError

#: Backends whose runs are repetitions; those of others differ by seed.
_REPEATED = ("live", "overlay")

backend_option = click.option(
    "--backend",
    metavar="BACKEND[,...]",
    default="sim",
    show_default=True,
    callback=lambda _context, _option, value: chosen(value),
    help="The simulator (sim), this machine's kernel in real time (live), a kernel in virtual time "
    "(kernel, kernel:6.12), the scenario's overlay nodes as programs (overlay), or several and how "
    "they differ; both is sim,live.",
)
one_backend_option = click.option(
    "--backend",
    metavar="BACKEND",
    default="sim",
    show_default=True,
    callback=lambda _context, _option, value: one(value),
    help="The simulator (sim), this machine's kernel in real time (live), a kernel in virtual time "
    "(kernel, kernel:6.12), or the scenario's overlay nodes as programs (overlay).",
)
repetitions_option = click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many runs in real time: of live, or overlay.  [default: 1]",
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
    import_numpy()
    from sojourn.backends import NAMES, is_known

    names = tuple(name.strip() for name in given.replace("both", "sim,live").split(","))
    for name in names:
        if not is_known(name):
            has = ", ".join(NAMES)
            raise ScenarioError(
                f"--backend: {literal.given(name)} given; allowed: {has}, kernel:VERSION, both"
            )
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
    from sojourn.backends import NAMES

    given = {"--seeds": seeds, "--repetitions": repetitions}
    by = {name: _counted_by(name) for name in backends}
    for option, number in given.items():
        if number is not None and option not in by.values():
            counted = [name for name in NAMES if _counted_by(name) == option]
            raise ScenarioError(
                f"{option}: counts runs of the backend {' or '.join(counted)}, and the backend is "
                f"{','.join(backends)}; leave it out, or --backend {counted[0]} or both"
            )
    return {name: given[option] or 1 for name, option in by.items()}


def _counted_by(name: str) -> str:
    """The option that says how many runs of a backend there are."""
    return "--repetitions" if name.partition(":")[0] in _REPEATED else "--seeds"

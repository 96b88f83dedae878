"""Draws a grid whose links are random: ``python -m sojourn.capacity.draw 5 5 --seed 1``.

The GNAT report tells of its 8 x 8 grid the size alone. With ``--like 27243,425381 --deadline 100``
instances are drawn, one seed after the other, until two destinations have as many paths, within a
tenth and in either order.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from sojourn.capacity.diagram import Limits, count_paths
from sojourn.capacity.network import Arc, Network, Problem, Session, Units

#: Latencies and capacities are drawn from 1 to this, as in the report's example.
_LARGEST = 10
#: Path counts that differ by less are comparable.
_TOLERANCE = 0.1


def grid(rows: int, columns: int, seed: int) -> Problem:
    """A grid, and two of its nodes to be reached from the first; nodes count from 1."""
    generator = random.Random(seed)
    arcs = []
    for node, far in _neighbours(rows, columns):
        latency, capacity = generator.randint(1, _LARGEST), generator.randint(1, _LARGEST)
        arc = Arc(node, far, capacity, latency)
        arcs += [arc, replace(arc, tail=far, head=node)]
    network = Network(range(1, rows * columns + 1), arcs, duplex=True, steps=1)
    to = generator.sample(range(1, rows * columns), 2)
    return Problem(f"grid-{rows}x{columns}", network, [Session(0, to)], None, Units())


def _neighbours(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    for node in range(rows * columns):
        if (node + 1) % columns:
            yield node, node + 1
        if node + columns < rows * columns:
            yield node, node + columns


def toml(problem: Problem) -> str:
    """The problem as a file."""
    network, session = problem.network, problem.sessions[0]
    names = network.names
    lines = [f"source = {names[session.source]}", f"to = {[names[n] for n in session.to]}"]
    for arc in network.arcs[::2]:
        ends = f"from = {names[arc.tail]}, to = {names[arc.head]}"
        lines.append(f"    {{ {ends}, latency = {arc.latency}, capacity = {arc.capacity} }},")
    return "\n".join([*lines[:2], "links = [", *lines[2:], "]"])


def first_like(rows: int, columns: int, paths: Sequence[int], deadline: int) -> tuple[int, Problem]:
    """The first seed whose destinations have about so many paths.

    Raises:
        ClickException: if they cannot be counted.

    """
    seed, limits = 0, Limits(listed=0, seconds=300)
    while True:
        problem = grid(rows, columns, seed)
        counted = count_paths(problem.network, list(problem.pairs()), deadline, limits)
        if counted.failure:
            raise click.ClickException(counted.failure)
        found = sorted(p.count for p in counted.paths.values())
        pairs = zip(found, sorted(paths), strict=True)
        if all(abs(mine / theirs - 1) < _TOLERANCE for mine, theirs in pairs):
            return seed, problem
        seed += 1


@click.command()
@click.argument("rows", type=click.IntRange(min=1))
@click.argument("columns", type=click.IntRange(min=2))
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random draws.")
@click.option("--to", type=int, multiple=True, help="A destination, instead of random ones.")
@click.option("--like", metavar="A,B", help="Draw until the destinations have so many paths.")
@click.option("--deadline", type=int, default=100, show_default=True, help="Of these paths.")
def main(
    rows: int, columns: int, seed: int, to: tuple[int, ...], like: str | None, deadline: int
) -> None:
    """Prints a grid of random links as a file for ``sojourn capacity``."""
    problem = grid(rows, columns, seed)
    if like:
        seed, problem = first_like(rows, columns, [int(n) for n in like.split(",")], deadline)
    if to:
        problem = replace(problem, sessions=[Session(0, [node - 1 for node in to])])
    click.echo(f"# For sojourn capacity: {rows} x {columns} nodes with random links (seed {seed}).")
    click.echo(toml(problem))


if __name__ == "__main__":
    main()

"""``sojourn run``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.backends import (
    backend_option,
    counts,
    measured,
    repetitions_option,
    seeds_option,
    several,
    tell_quality,
)
from sojourn.cli.names import checked_metrics, recorded
from sojourn.cli.options import (
    force_option,
    format_option,
    limit_options,
    metrics_option,
    out_option,
    record_option,
    set_option,
)
from sojourn.cli.output import printed, say, warn
from sojourn.cli.show_run import PRINTERS
from sojourn.cli.source import scenario_of

if TYPE_CHECKING:
    from sojourn.scenario import Scenario


@dataclass(frozen=True)
class _Asked:
    """The options, as they are given."""

    file: Path
    overrides: tuple[str, ...]
    seed: int | None
    metrics: tuple[str, ...]
    figures: bool
    everything: bool
    record: tuple[str, ...]
    backend: tuple[str, ...]
    repetitions: int | None
    seeds: int | None
    out: Path | None
    force: bool
    output: str


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@set_option
@click.option("--seed", type=int, help="Seed of all random draws.")
@metrics_option
@click.option("--figures/--no-figures", default=True, show_default=True, help="Draw figures.")
@click.option("--all", "everything", is_flag=True, help="Show every metric, not a summary.")
@record_option
@backend_option
@repetitions_option
@seeds_option
@out_option
@force_option
@limit_options
@format_option
def command(**options: Any) -> None:  # the fields of _Asked
    """Run one scenario, of FILE or with - of standard input: metrics on the screen, results and
    figures in DIR.
    """
    asked = _Asked(**options)
    overrides = asked.overrides + recorded("--record", asked.record)
    scenario = scenario_of(asked.file, overrides, asked.seed)
    names = checked_metrics("--metrics", asked.metrics)
    if scenario.sweep is not None:
        whole = f"sojourn sweep {asked.file}"
        warn(f"{asked.file}: ignoring its [sweep] table; to run the whole grid: {whole}")
    numbers = counts(asked.backend, asked.repetitions, asked.seeds)
    if sum(numbers.values()) > 1:
        several(scenario, numbers, names, (asked.out, asked.force), asked.output)
    else:
        _once(scenario, names, asked)


def _once(scenario: Scenario, names: Collection[str], asked: _Asked) -> None:
    from sojourn.backends import backend
    from sojourn.store import run_directory
    from sojourn.store.place import claimed

    chosen = backend(asked.backend[0])
    tenant = run_directory.tenant(scenario, chosen.key())
    with claimed(tenant, asked.out, warn, force=asked.force) as directory:
        result = measured(scenario, chosen, directory, names)
        tell_quality(result)
        try:
            run_directory.save(result, directory)
        finally:  # a disk that is full loses only what it would have held
            with printed():
                PRINTERS[asked.output](result, asked.everything)
            say(speed(result.timing), err=True)
        if asked.figures:
            from sojourn.figures import save_all

            save_all(result, directory / "figures", warn)
        click.echo(f"results: {directory}", err=True)


def speed(timing: dict[str, float]) -> str:
    """How fast it ran."""
    wall = max(timing["wall_seconds"], 1e-9)
    return (
        f"simulated {timing['simulated_seconds']:g} s in {wall:.3g} s: "
        f"{timing['simulated_seconds'] / wall:,.0f} simulated seconds per second, "
        f"{timing['data_packets'] / wall:,.0f} packets per second"
    )

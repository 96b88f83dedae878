"""``sojourn run``."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.backends import backend_option, counts, repetitions_option, seeds_option
from sojourn.cli.lean import undocument_matplotlib
from sojourn.cli.names import checked_metrics, recorded
from sojourn.cli.options import (
    force_option,
    format_option,
    limit_options,
    metrics_option,
    out_option,
    qlog_option,
    record_option,
    set_option,
)
from sojourn.cli.output import printed, say, warn
from sojourn.cli.progress import share
from sojourn.cli.show_run import show_runs
from sojourn.cli.source import scenario_of
from sojourn.cli.units import Sizes

if TYPE_CHECKING:
    from sojourn.backends.runs import Made


@dataclass(frozen=True)
class _Asked:
    """The options, as they are given."""

    file: Path
    overrides: tuple[str, ...]
    seed: int | None
    metrics: tuple[str, ...]
    figures: bool
    everything: bool
    sizes: tuple[int, ...] | None
    record: tuple[str, ...]
    qlog_version: str | None
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
@click.option(
    "--sizes", type=Sizes(), help="Show transfers by these bins of sizes, not by decades."
)
@record_option
@qlog_option
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
    from sojourn.backends.runs import Wanted, stored

    asked = _Asked(**options)
    overrides = asked.overrides + recorded("--record", asked.record)
    if asked.qlog_version:
        overrides += (f"qlog.version={json.dumps(asked.qlog_version)}",)
    scenario = scenario_of(asked.file, overrides, asked.seed)
    names = checked_metrics("--metrics", asked.metrics)
    if scenario.sweep is not None:
        whole = f"sojourn sweep {asked.file}"
        warn(f"{asked.file}: ignoring its [sweep] table; to run the whole grid: {whole}")
    numbers = counts(asked.backend, asked.repetitions, asked.seeds)
    wanted = Wanted(scenario, numbers, names or None, asked.out, asked.force)
    directory, made = stored(wanted, share, warn, lambda made: _show(made, asked))
    if made.is_one and asked.figures:
        from sojourn.figures import save_all

        undocument_matplotlib()
        save_all(made.every[0], directory / "figures", warn)
    say(f"results: {directory}", err=True)


def _show(made: Made, asked: _Asked) -> None:
    if sizes := asked.sizes:
        runs = {name: [run.by_size(sizes) for run in of] for name, of in made.runs.items()}
        made = replace(made, runs=runs)
    with printed():
        show_runs(made, asked.output, everything=asked.everything)
    if made.is_one:
        say(speed(made.every[0].timing), err=True)


def speed(timing: dict[str, float]) -> str:
    """How fast it ran."""
    wall = max(timing["wall_seconds"], 1e-9)
    return (
        f"simulated {timing['simulated_seconds']:g} s in {wall:.3g} s: "
        f"{timing['simulated_seconds'] / wall:,.0f} simulated seconds per second, "
        f"{timing['data_packets'] / wall:,.0f} packets per second"
    )

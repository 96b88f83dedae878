"""``sojourn run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.names import checked_metrics
from sojourn.cli.options import format_option, metrics_option, out_option, set_option
from sojourn.cli.show_run import PRINTERS
from sojourn.scenario import load

if TYPE_CHECKING:
    from sojourn.result import Result


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@set_option
@click.option("--seed", type=int, help="Seed of all random draws.")
@metrics_option
@click.option("--figures/--no-figures", default=True, show_default=True, help="Draw figures.")
@out_option
@format_option
def command(
    file: Path,
    overrides: tuple[str, ...],
    seed: int | None,
    metrics: tuple[str, ...],
    figures: bool,
    out: Path | None,
    output: str,
) -> None:
    """Run one scenario: metrics on the screen, results and figures in DIR."""
    from sojourn.engine import default_directory, run

    scenario, names = load(file, overrides, seed), checked_metrics("--metrics", metrics) or None
    result = run(scenario).request(names)
    PRINTERS[output](result)
    click.echo(speed(result.timing), err=True)
    directory = out or default_directory(scenario)
    _save(result, directory, figures)
    click.echo(f"results: {directory}", err=True)


def _save(result: Result, directory: Path, figures: bool) -> None:
    from sojourn.store import run_directory

    run_directory.save(result, directory)
    if figures:
        from sojourn.figures import save_all

        save_all(result, directory / "figures")


def speed(timing: dict[str, float]) -> str:
    """How fast the simulator ran."""
    wall = max(timing["wall_seconds"], 1e-9)
    return (
        f"simulated {timing['simulated_seconds']:g} s in {wall:.3g} s: "
        f"{timing['simulated_seconds'] / wall:,.0f} simulated seconds per second, "
        f"{timing['data_packets'] / wall:,.0f} packets per second"
    )

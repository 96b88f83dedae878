"""``sojourn plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from sojourn.cli.output import give
from sojourn.cli.units import Location
from sojourn.errors import ScenarioError

_KINDS = ("line", "box", "ecdf", "ccdf", "heat", "scatter", "series", "fct")
_LOGS = ("x", "y", "both")


@click.command("plot")
@click.argument("directories", nargs=-1, required=True, type=Location(), metavar="DIR...")
@click.option(
    "--x",
    metavar="PATH",
    help="Across: a field of the scenarios, flow, cca, label, link or result.",
)
@click.option(
    "--y",
    metavar="METRIC",
    help="What is drawn: a metric, share(bbr), ratio(0, 1), sum by label; these of mean "
    "throughput, or 'of METRIC'. What was recorded: flow.0.cc.mode. Of the distributions of "
    "transfers fct or slowdown; of kind fct slowdown_p99 unless given.",
)
@click.option("--hue", metavar="PATH", help="One colour for each of its values.")
@click.option("--rows", metavar="PATH", help="One row of panels for each of its values.")
@click.option(
    "--columns", "--facet", "columns", metavar="PATH", help="One column for each of its values."
)
@click.option(
    "--kind", type=click.Choice(_KINDS), help="Default: line; of what was recorded series."
)
@click.option(
    "--where",
    multiple=True,
    metavar="PATH=VALUE",
    help="Keep this value of an axis, and others given likewise.",
)
@click.option("--log", type=click.Choice(_LOGS), help="Axes that are to be logarithmic.")
@click.option("--width", metavar="LENGTH", help="Of the figure: 3.5in or 8.9cm.")
@click.option("--height", metavar="LENGTH", help="Likewise.")
@click.option(
    "--annotations",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Texts, lines and spans to add, in TOML.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where it goes; the ending says the format: pdf, png, svg or html. Default: plot.pdf in "
    "the first DIR.",
)
def command(directories: tuple[Path, ...], out: Path | None, **options: Any) -> None:
    """Draw a metric of runs and sweeps over chosen axes, in one figure."""
    from sojourn.figures.plots.request import chart
    from sojourn.report.plot import check, request, save

    path = out or directories[0] / "plot.pdf"
    check(path)
    where = [_kept(text) for text in options.pop("where")]
    save(chart(directories, request(options.pop("y"), where, **options)), path)
    give(str(path))


def _kept(text: str) -> tuple[str, str]:
    axis, equals, value = text.partition("=")
    if not equals:
        raise ScenarioError(f"--where {text}: expected PATH=VALUE, such as cca=bbr")
    return axis.strip(), value.strip()

"""``sojourn plot``."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli.output import give
from sojourn.cli.units import Location
from sojourn.errors import ScenarioError

_KINDS = ("line", "box", "ecdf", "ccdf", "heat", "scatter", "series", "fct")


@click.command("plot")
@click.argument("directory", type=Location(), metavar="DIR")
@click.option("--x", metavar="PATH", help="Across: a path of the grid, flow, cca, label or link.")
@click.option(
    "--y",
    metavar="METRIC",
    help="What is drawn: a metric, share(bbr), ratio(0, 1), sum by label; these of mean "
    "throughput, or 'of METRIC'. Of the distributions of transfers fct or slowdown; of kind fct "
    "slowdown_p99 unless given.",
)
@click.option("--hue", metavar="PATH", help="One colour for each of its values.")
@click.option("--facet", metavar="PATH", help="One panel for each of its values.")
@click.option("--kind", type=click.Choice(_KINDS), default="line", show_default=True)
@click.option(
    "--where", multiple=True, metavar="PATH=VALUE", help="Keep one value of an axis. Repeatable."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where it goes; the ending says the format: pdf, png, svg or html. Default: DIR/plot.pdf.",
)
def command(
    directory: Path,
    x: str | None,
    y: str | None,
    hue: str | None,
    facet: str | None,
    kind: str,
    where: tuple[str, ...],
    out: Path | None,
) -> None:
    """Draw a metric of a run or a sweep over chosen axes."""
    from typing import cast

    from sojourn.figures.plots.request import Kind, Request, chart
    from sojourn.report.plot import check, save

    path = out or directory / "plot.pdf"
    check(path)
    request = Request(y, x, hue, facet, cast(Kind, kind), [_kept(text) for text in where])
    save(chart(directory, request), path)
    give(str(path))


def _kept(text: str) -> tuple[str, str]:
    axis, equals, value = text.partition("=")
    if not equals:
        raise ScenarioError(f"--where {text}: expected PATH=VALUE, such as cca=bbr")
    return axis.strip(), value.strip()

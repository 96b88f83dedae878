"""Options that commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from sojourn.cli.units import Size

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

set_option: Decorator = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="PATH=VALUE",
    help="Override a field, such as topology.bottleneck.rate='\"10 Mbit/s\"'. May be repeated.",
)
metrics_option: Decorator = click.option(
    "--metrics",
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME,...",
    help="Show only these; harm_* is computed if named. May be repeated.",
)
force_option: Decorator = click.option(
    "--force", is_flag=True, help="Replace what another scenario has left in DIR."
)
record_option: Decorator = click.option(
    "--record",
    multiple=True,
    metavar="cc,queue,packets",
    help="Record the state of controls or queues, or packets, whenever something happens.",
)
out_option: Decorator = click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Where results go."
)
format_option: Decorator = click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="What is printed.",
)
jobs_option: Decorator = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default="all cores",
    metavar="N",
    help="Runs at a time.",
)


def _limit(name: str, value: float | None) -> None:
    """Notes a limit of what controls from outside may take."""
    if value is not None:
        from sojourn.executors.processes import limits

        setattr(limits, name, value)


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Limits of what a control that brings its own code may take."""
    seconds = click.option(
        "--control-timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        expose_value=False,
        callback=lambda context, option, value: _limit("seconds", value),
        help="End a run whose control from outside stays in one callback for so long (60).",
    )
    memory = click.option(
        "--control-memory",
        type=Size(),
        metavar="SIZE",
        expose_value=False,
        callback=lambda context, option, value: _limit("memory", value),
        help="What a run with controls from outside may take, such as 8 GB (4.3 GB).",
    )
    return seconds(memory(command))

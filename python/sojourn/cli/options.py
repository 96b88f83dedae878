"""Options that commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from sojourn.cli.units import Location, Size

if TYPE_CHECKING:
    from sojourn.executors import Executor

_Given = TypeVar("_Given", bound=Callable[..., object])
_Done = TypeVar("_Done")


class Decorator(Protocol):
    """Gives a command an option."""

    def __call__(self, command: _Given, /) -> _Given:
        """The command with it."""


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
    metavar="cc,queue,packets,pcap,qlog",
    help="Record the state of controls or queues, or packets, whenever something happens; pcap: in "
    "a capture; qlog: as events of each flow.",
)
qlog_option: Decorator = click.option(
    "--qlog-version",
    type=click.Choice(["draft-14", "0.3"]),
    help="Version of what --record qlog writes; qvis reads 0.3.  [default: draft-14]",
)
out_option: Decorator = click.option(
    "--out", type=Location(), metavar="DIR", help="Where results go."
)
format_option: Decorator = click.option(
    "--format",
    "output",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="What is printed.",
)


@dataclass(frozen=True)
class Workers:
    """Who is to run what: threads here, or a cluster."""

    cluster: str | None
    #: How many runs at a time, if that was said.
    given: int | None

    @property
    def jobs(self) -> int:
        """Runs at a time: one per core here, as many as it has workers on a cluster."""
        return self.given or (sys.maxsize if self.cluster else os.cpu_count() or 1)

    def connected(self) -> AbstractContextManager[Executor]:
        """What has work done, while it is needed."""
        from sojourn.executors.addresses import connected

        return connected(self.cluster, self.given)


def workers_options(command: Callable[..., _Done]) -> Callable[..., _Done]:
    """Gives a command ``workers``."""

    @click.option(
        "--jobs",
        type=click.IntRange(min=1),
        show_default="all cores, or all workers of the cluster",
        metavar="N",
        help="Runs at a time.",
    )
    @click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on a Dask cluster: tls://HOST:PORT, tcp://HOST:PORT, local:N or slurm "
        "(sojourn[cluster]).",
    )
    @wraps(command)
    def with_workers(
        *args: object, jobs: int | None, cluster: str | None, **kwargs: object
    ) -> _Done:
        return command(*args, workers=Workers(cluster, jobs), **kwargs)

    return with_workers


def _limit(name: str, value: float | None) -> None:
    """Notes a limit of what controls from outside may take."""
    if value is not None:
        from sojourn.executors.processes import limits

        setattr(limits, name, value)


def limit_options(command: _Given) -> _Given:
    """Limits of what a control that brings its own code may take."""
    seconds = click.option(
        "--control-timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        expose_value=False,
        callback=lambda context, option, value: _limit("seconds", value),
        help="End a run whose control from outside stays in one callback, or in loading, for so "
        "long.  [default: 60]",
    )
    memory = click.option(
        "--control-memory",
        type=Size(),
        metavar="SIZE",
        expose_value=False,
        callback=lambda context, option, value: _limit("memory", value),
        help="Memory for a run with controls from outside, such as 8 GB.  [default: 4.3 GB]",
    )
    return seconds(memory(command))

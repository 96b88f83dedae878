"""What is compared: the events of packets of a run, and what else it can tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.measured import Measured
from sojourn.store import manifest, run_directory


@dataclass(frozen=True)
class Side:
    """One of the two."""

    #: An event each: ``time`` (s), ``link``, ``flow``, ``index``, ``size`` (bytes), ``event``,
    #: ``reason``. Those of one link are in the order of time.
    rows: pl.LazyFrame
    #: Until when there are events, s.
    end: float
    #: Whether times were not measured.
    exact: bool
    #: The run that they are of.
    run: Measured


def side(directory: Path) -> Side:
    """The run in a directory.

    Raises:
        ScenarioError: if there is none, or its packets were not recorded.

    """
    content = manifest.read(directory)
    if content["kind"] != run_directory.KIND:
        raise ScenarioError(
            f"{directory}: holds a {content['kind']}; give the directory of one run, as sojourn "
            "run writes"
        )
    run = run_directory.load(directory)
    try:
        rows = run.record.scan("packets")
    except ScenarioError as error:
        raise ScenarioError(f"{directory}: {error}") from None
    return Side(rows, run.timing["simulated_seconds"], not run.origin, run)

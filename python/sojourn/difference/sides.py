"""What is compared: the events of packets of a run or a capture, and what else it can tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.interchange import capture
from sojourn.interchange.observed import Asked
from sojourn.interchange.passages import PASSAGES
from sojourn.measured import Measured
from sojourn.record import FILES
from sojourn.store import manifest, run_directory

#: The port of flow 0's receiver where Sojourn numbers them, and how many have ports of their own.
_PORT, _PORTS = 10_000, 1_000
#: The clocks in which runs on a backend take place, if they are not of the world.
_CLOCKS = {"sim": "simulator", "kernel": "kernel in virtual time"}


@dataclass(frozen=True)
class Side:
    """One of the two."""

    #: An event each: ``time`` (s), ``link``, ``flow``, ``index``, ``size`` (bytes), ``event``; of a
    #: run ``reason``, of a capture what headers tell. Those of one link are in the order of time.
    rows: pl.LazyFrame
    #: Until when there are events, s.
    end: float
    #: Whose clock the times are of, where it tells the same ones in each run; empty where they
    #: were measured.
    clock: str
    #: The run that they are of.
    run: Measured
    #: Where they were captured; nothing of a run's own events.
    vantages: tuple[str, ...] = ()
    #: What the rows of a capture last as long as.
    source: Measured | None = None


def sides(a: Path, b: Path) -> tuple[Side, Side]:
    """Both: of captures the events at the vantages that they share.

    Raises:
        ScenarioError: as :func:`side`, and if there is no such vantage.

    """
    found = side(a), side(b)
    if not any(one.vantages for one in found):
        return found
    left, right = (
        one if one.vantages else side(place, captured=True)
        for one, place in zip(found, (a, b), strict=True)
    )
    shared = [name for name in left.vantages if name in right.vantages]
    if not shared:
        told = ["; ".join(one.vantages) for one in (left, right)]
        raise ScenarioError(
            f"{a} was captured at the {told[0]}, {b} at the {told[1]}: give captures that share a "
            "vantage"
        )
    at = pl.col("link").is_in(shared)
    return replace(left, rows=left.rows.filter(at)), replace(right, rows=right.rows.filter(at))


def side(place: Path, *, captured: bool = False) -> Side:
    """The run in a directory, or the capture in a file; ``captured`` asks for a run's capture, and
    not for its own events.

    Raises:
        ScenarioError: if there is none, or its packets were not recorded.

    """
    if place.is_file():
        run = capture.read(Asked(place)).result
        return _captured(run, run)
    content = manifest.read(place)
    if content["kind"] != run_directory.KIND:
        raise ScenarioError(
            f"{place}: holds a {content['kind']}; give the directory of one run, as sojourn run "
            "writes, or a capture"
        )
    run = run_directory.load(place)
    if PASSAGES in run.record.tables:
        return _captured(run, run)
    file = run.record.files.get(FILES["capture"])
    if file is not None and (captured or "packets" not in run.record.tables):
        found = capture.read(Asked(file)).result
        return _captured(found, run if _is_numbered(found) else found)
    if captured:
        raise ScenarioError(
            f"{place}: has no capture, as the other side is; run with --record pcap"
        )
    try:
        return of_run(run)
    except ScenarioError as error:
        raise ScenarioError(f"{place}: {error}") from None


def of_run(run: Measured) -> Side:
    """A run by its own events.

    Raises:
        ScenarioError: if its packets were not recorded.

    """
    rows, end = run.record.scan("packets"), run.timing["simulated_seconds"]
    return Side(rows, end, _CLOCKS.get(run.origin.get("backend", "sim"), ""), run)


def _captured(found: Measured, run: Measured) -> Side:
    rows = found.record.scan(PASSAGES)
    vantages = rows.select(pl.col("link").unique().sort(descending=True)).collect()
    end = found.timing["simulated_seconds"]
    return Side(rows, end, "", run, tuple(vantages["link"]), found)


def _is_numbered(found: Measured) -> bool:
    """Whether the flows of a capture have the numbers that they have in its run."""
    flows = found.scenario.document["flows"]
    ports = [int(flow["label"].rpartition(":")[2]) for flow in flows]
    return ports == [_PORT + number % _PORTS for number in range(len(ports))]

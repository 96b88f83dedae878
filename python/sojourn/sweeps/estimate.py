"""What a sweep will take: time and disk, from a few of its runs.

Up to five of the missing runs, evenly spread, are simulated one after the other and thrown away.
One that takes longer than two seconds is cut off there, and its time taken from the share of it
that had been simulated; its disk is then what flows and samples usually take.
"""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean

import polars as pl

from sojourn.backends import Backend, backend
from sojourn.build import definitions, engine
from sojourn.campaign.keys import run_key
from sojourn.errors import RunError
from sojourn.metrics import RunData
from sojourn.quantity import number
from sojourn.scenario import expanded_flows
from sojourn.store import rows
from sojourn.store.batches import Batches, tell
from sojourn.store.renew import outcome
from sojourn.store.samples import Samples, packed
from sojourn.sweeps.expand import Plan, Point
from sojourn.sweeps.known import known

#: So many runs are timed, each for so long, s.
TIMED = 5
PATIENCE = 2.0
#: So many runs are counted exactly.
EXACT = 20_000
#: Bytes that a flow takes on disk per sample and per run: two flows over 60 s, as measured.
_PER_SAMPLE = 70
_PER_RUN = 500


@dataclass(frozen=True)
class Estimate:
    """What is to be run, and what that takes."""

    runs: int
    stored: int
    #: Runs that were timed, and how many of them were cut off.
    timed: int
    cut: int
    seconds: float
    bytes: float


@dataclass(frozen=True)
class _Trial:
    point: Point
    seconds: float
    #: ``None`` if it was cut off or failed.
    data: RunData | None
    cut: bool = False


class _CutOffError(Exception):
    """A run has been watched for long enough."""


def estimate(plan: Plan, directory: Path, jobs: int, *, samples: bool = True) -> Estimate:
    """Estimates a sweep; writes nothing."""
    missing = _missing(plan, directory)
    places = sorted({missing[i * len(missing) // TIMED] for i in range(TIMED)} if missing else ())
    points = (_point(plan, place) for place in places)
    on = backend(plan.backend)
    trials = [_trial(point, plan.requested, on) for point in points if not point.error]
    each = fmean(trial.seconds for trial in trials) if trials else 0.0
    return Estimate(
        runs=len(missing),
        stored=len(plan) - len(missing),
        timed=len(trials),
        cut=sum(trial.cut for trial in trials),
        seconds=each * len(missing) / min(jobs, max(len(missing), 1)),
        bytes=_bytes(trials, samples) * len(missing),
    )


def _missing(plan: Plan, directory: Path) -> Sequence[int]:
    """The places in the plan of what is to be run. Of very many runs only the names are looked at:
    that two points are the same run takes their canonical scenarios to see.
    """
    stored = known(Batches(directory), retry_failed=False, requested=plan.requested)
    if len(plan) > EXACT:
        if not stored.keys:
            return range(len(plan))
        names = _names(directory, plan)
        texts = (hash(rows.point_text(*place)) for place in plan.places())
        return [place for place, text in enumerate(texts) if text not in names]
    begun = set(stored.keys)
    if stored.other_builds:  # perhaps only their metrics are of before
        begun |= Samples(directory, tell).keys()
    missing = []
    for place, point in enumerate(plan):
        key = run_key(point.canonical, plan.origin)
        if key not in begun:
            begun.add(key)
            missing.append(place)
    return missing


def _names(directory: Path, plan: Plan) -> set[int]:
    """Hashes of the names of the stored runs of this build."""
    mine = (pl.col("engine") == engine()) & (pl.col("metrics") == definitions(plan.requested))
    ends = pl.col("scope").is_in(["net", "run"])
    found = Batches(directory).ask(lambda rows: rows.filter(mine & ends).select("point").collect())
    return set() if found is None else {hash(text) for text in found["point"]}


def _point(plan: Plan, place: int) -> Point:
    return plan.point(*next(islice(plan.places(), place, None)))


def _trial(point: Point, requested: Sequence[str], on: Backend) -> _Trial:
    began, share = time.perf_counter(), 0.0

    def watch(done: float) -> None:
        nonlocal share
        share = done
        if time.perf_counter() - began > PATIENCE and 0 < done < 1:
            raise _CutOffError

    try:
        data = on.measure(point.canonical, watch)[0]
        outcome(data, requested)
    except _CutOffError:
        return _Trial(point, (time.perf_counter() - began) / share, None, cut=True)
    except (RuntimeError, RunError):  # the sweep will store the failure
        return _Trial(point, time.perf_counter() - began, None)
    return _Trial(point, time.perf_counter() - began, data)


def _bytes(trials: Sequence[_Trial], samples: bool) -> float:
    """Of a run, on the average."""
    whole = [trial.data for trial in trials if trial.data]
    told = [row for data in whole for row in rows.rows_of({}, {}, outcome(data))]
    frames = [rows.frame(told)] if told else []
    if samples and whole:
        frames.append(pl.concat([packed("", data) for data in whole], how="diagonal_relaxed"))
    sizes: list[float] = [_size(frame) for frame in frames]
    sizes += [_usual(trial.point, samples) for trial in trials if trial.cut]
    return sum(sizes) / max(len(trials), 1)


def _size(frame: pl.DataFrame) -> int:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return len(buffer.getvalue())


def _usual(point: Point, samples: bool) -> float:
    scenario = point.canonical
    intervals = number(scenario["duration"]) / number(scenario["sample_interval"])
    per_flow = _PER_RUN + (_PER_SAMPLE * intervals if samples else 0)
    return per_flow * len(expanded_flows(scenario))

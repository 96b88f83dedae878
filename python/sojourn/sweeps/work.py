"""One run of a sweep, in a worker."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import polars as pl

from sojourn.build import definitions, engine
from sojourn.engine import simulate
from sojourn.errors import RunError, ScenarioError
from sojourn.outside.locate import placeless
from sojourn.scenario import Document
from sojourn.store import rows
from sojourn.store.renew import outcome
from sojourn.store.samples import packed
from sojourn.sweeps.expand import Point


@dataclass(frozen=True)
class Finished:
    """What a run came to."""

    rows: list[rows.Row]
    #: As they are stored; ``None`` if it failed.
    samples: pl.DataFrame | None = None

    @property
    def failed(self) -> bool:
        """Whether it did."""
        return self.samples is None


def run_key(canonical: Document) -> str:
    """Identifies a run: its scenario but for the name, what it records and where its files lie,
    seed included, and what simulates it.
    """
    told = {name: value for name, value in canonical.items() if name not in ("name", "record")}
    text = json.dumps(placeless(told), sort_keys=True) + engine()
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def work(key: str, point: Point, requested: tuple[str, ...] = ()) -> Finished:
    """Runs one point; whatever goes wrong is part of the result. ``requested`` are metrics that are
    computed though they need further runs.
    """
    common: rows.Row = {
        "key": key,
        "engine": engine(),
        "metrics": definitions(requested),
        "point": rows.point_text(point.coordinates, point.replication),
        "replication": point.replication,
        "seed": point.canonical.get("seed"),
        "error": None,
    }
    if point.error:
        return Finished(rows.failure(common, point.coordinates, point.error))
    try:
        data, timing = simulate(point.canonical)
        told = outcome(data, requested)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the core is no Exception
        expected = isinstance(error, (RunError, ScenarioError))
        message = str(error) if expected else f"{type(error).__name__}: {error}"
        failed_at = getattr(error, "failed_at", None)
        return Finished(rows.failure(common, point.coordinates, message, failed_at))
    common["wall_seconds"] = timing["wall_seconds"]
    common["data_packets"] = int(timing["data_packets"])
    return Finished(rows.rows_of(common, point.coordinates, told), packed(key, data))

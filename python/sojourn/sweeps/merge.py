"""Unites the results of one sweep that was run in parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.store import manifest
from sojourn.store.batches import DIRECTORY as RUNS
from sojourn.store.batches import Batches, Warn
from sojourn.store.lock import exclusive
from sojourn.store.manifest import Manifest
from sojourn.store.place import check_writable
from sojourn.store.samples import DIRECTORY as SAMPLES
from sojourn.sweeps import table
from sojourn.sweeps.directory import KIND, with_labels

#: What must be the same, and what is to be done where it is not.
_REMEDY = {
    "document": "it is of another scenario; keep them apart",
    "grid": "it is of another sweep; keep them apart",
    "replications": "it is of another sweep; keep them apart",
    "start_jitter": "it is of another sweep; keep them apart",
    "engine": "run its sweep again with this build of Sojourn first",
    "metrics": "run its sweep again with this build of Sojourn first: metrics are computed anew",
    "backend": "it was run on another backend; keep them apart",
    "origin": "it was run on another kernel; keep them apart",
    "sources": "a control from outside was edited in between; run its sweep again",
    "programs": "a program was another one; run its sweep again",
}
_SAME = tuple(_REMEDY)
#: What rows of a run have in common; a run that failed may have succeeded later.
_RUN = pl.struct("key", "point", "metrics", pl.col("scope") == "run")


@dataclass(frozen=True)
class Merged:
    """What the united directory holds."""

    total: int
    stored: int
    failed: int


def merge(directories: Sequence[Path], out: Path, warn: Warn) -> Merged:
    """Copies the runs and samples of ``directories`` to ``out``, each once; what is there stays.

    Raises:
        ScenarioError: if they are not of one sweep, or not made by one build.

    """
    sources = [path for path in directories if path.resolve() != out.resolve()]
    content = _common([*directories, *([out] if (out / manifest.FILE).exists() else [])])
    check_writable(out, f"--out {out}")
    with exclusive(out, lambda: warn(f"{out}: a sweep is at work: waiting")):
        manifest.write(out, KIND, content)
        for name, identity in ((SAMPLES, pl.col("key")), (RUNS, _RUN)):
            target = Batches(out, warn, name)
            target.tidy()
            _copy([Batches(path, warn, name) for path in sources], target, identity)
    total = content["replications"] * math.prod(len(v) for v in content["grid"].values())
    count = pl.col("point").n_unique()
    stored = table.ask(out, lambda rows: rows.select(count).collect().item()) or 0
    return Merged(total, stored, len(table.failures(out)))


def _common(directories: Sequence[Path]) -> Manifest:
    """The manifest of all, as if the sweep had been run in one piece."""
    contents = [manifest.read(directory) for directory in directories]
    for directory, content in zip(directories, contents, strict=True):
        if content["kind"] != KIND:
            raise ScenarioError(f"{directory}: holds a {content['kind']}, not a sweep")
        if content.get("until"):
            raise ScenarioError(
                f"{directory}: its replications follow from its results, so that it was run in one "
                "piece: there is nothing to merge"
            )
        for name in _SAME:
            if content.get(name) != contents[0].get(name):
                told = f"its {name} differs from that of {directories[0]}"
                raise ScenarioError(f"{directory}: {told}: {_REMEDY[name]}")
    shared = {name: contents[0][name] for name in _SAME if name in contents[0]}
    return reduce(
        lambda made, found: with_labels(found, made), contents, shared | {"shard": [1, 1]}
    )


def _copy(sources: Sequence[Batches], target: Batches, identity: pl.Expr) -> None:
    """Copies the rows of the runs that the target has not, one file at a time."""
    own = identity.hash().alias("own")
    known = target.ask(lambda rows: rows.select(own).unique().collect())
    for source in sources:
        for path, rows in source.each():
            there = rows.select(own)
            new = (
                rows if known is None else rows.filter(~there["own"].is_in(known["own"].implode()))
            )
            if len(new):
                target.copy(path, new)
                known = pl.concat([*([] if known is None else [known]), there]).unique()

"""One run on disk: a manifest and Parquet tables, readable without Sojourn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import _internal
from sojourn.errors import SojournError
from sojourn.metrics import RunData
from sojourn.result import Result
from sojourn.scenario import Scenario
from sojourn.store import manifest
from sojourn.store.difference import difference
from sojourn.store.files import write_together
from sojourn.store.place import UNFINISHED, Tenant, clear_derived

KIND = "run"
#: The core's columns, which metrics and figures are computed from.
TABLES = ("flow_samples", "flows", "link_samples", "links")


def tenant(scenario: Scenario) -> Tenant:
    """What a directory of this scenario's run is told by."""
    identity = _plain({"scenario": scenario.canonical, "document": scenario.document})

    def differs(found: manifest.Manifest) -> str:
        # A later version may fill in the defaults of the same document otherwise.
        if found["document"] == identity["document"]:
            return ""
        return difference(found["scenario"], identity["scenario"])

    return Tenant(KIND, scenario.name, scenario.name, identity, differs)


def save(result: Result, directory: Path) -> None:
    """Writes a run: the core's tables, the metrics, the manifest; all of them or none. What was
    made from an earlier run goes.
    """
    frames = {name: pl.DataFrame(result.data.tables[name]) for name in TABLES}
    frames |= {f"metrics_{name}": frame for name, frame in result.complete().items()}
    content = {
        "engine": _internal.engine_build(),
        "scenario": result.scenario.canonical,
        "document": result.scenario.document,
        "network": result.data.network,
        "timing": result.timing,
    }
    files = {f"{name}.parquet": frame.write_parquet for name, frame in frames.items()}
    write_together(directory, {**files, manifest.FILE: manifest.writer(KIND, content)})
    clear_derived(directory)


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """As JSON gives it back."""
    return dict(json.loads(json.dumps(value)))


def load(directory: Path) -> Result:
    """Reads a run back; metrics are computed anew from its tables."""
    content = manifest.read(directory)
    if content["kind"] != KIND:
        raise SojournError(f"{directory}: holds a {content['kind']}, not a run")
    if content.get(UNFINISHED):
        raise SojournError(f"{directory}: its run has not finished")
    tables = {name: _columns(directory / f"{name}.parquet") for name in TABLES}
    data = RunData(content["scenario"], tables, content["network"])
    return Result(Scenario(content["document"], content["scenario"]), data, content["timing"])


def _columns(path: Path) -> dict[str, Any]:
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise SojournError(f"{path}: cannot be read: {error}") from None
    return {column.name: column.to_numpy() for column in frame}

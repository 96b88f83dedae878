"""One run on disk: a manifest and Parquet tables, readable without Sojourn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from sojourn import _internal
from sojourn.errors import SojournError
from sojourn.metrics import RunData
from sojourn.result import Result
from sojourn.scenario import Scenario
from sojourn.store import manifest
from sojourn.store.files import write_atomically

KIND = "run"
#: The core's columns, which metrics and figures are computed from.
TABLES = ("flow_samples", "flows", "link_samples", "links")


def save(result: Result, directory: Path) -> None:
    """Writes a run: the core's tables, the metrics, and last the manifest."""
    for name in TABLES:
        _write(pl.DataFrame(result.data.tables[name]), directory / f"{name}.parquet")
    for name, frame in result.complete().items():
        _write(frame, directory / f"metrics_{name}.parquet")
    manifest.write(
        directory,
        KIND,
        {
            "engine": _internal.engine_build(),
            "scenario": result.scenario.canonical,
            "document": result.scenario.document,
            "network": result.data.network,
            "timing": result.timing,
        },
    )


def load(directory: Path) -> Result:
    """Reads a run back; metrics are computed anew from its tables."""
    content = manifest.read(directory)
    if content["kind"] != KIND:
        raise SojournError(f"{directory}: holds a {content['kind']}, not a run")
    tables = {name: _columns(directory / f"{name}.parquet") for name in TABLES}
    data = RunData(content["scenario"], tables, content["network"])
    return Result(Scenario(content["document"], content["scenario"]), data, content["timing"])


def _columns(path: Path) -> dict[str, Any]:
    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise SojournError(f"{path}: cannot be read: {error}") from None
    return {column.name: column.to_numpy() for column in frame}


def _write(frame: pl.DataFrame, path: Path) -> None:
    write_atomically(path, frame.write_parquet)

"""A run as rows of the store: one per flow, per link and for the network.

A failed run has one row of scope ``run`` with its error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from sojourn.metrics import metrics

Row = dict[str, Any]
Types = dict[str, type[pl.DataType]]
#: Columns of every row, before the coordinates and the metrics.
COMMON: Types = {
    "key": pl.String,
    "engine": pl.String,
    "point": pl.String,
    "replication": pl.Int64,
    "seed": pl.UInt64,
    "error": pl.String,
    "wall_seconds": pl.Float64,
    "data_packets": pl.Int64,
    "scope": pl.String,
    "id": pl.String,
    "cca": pl.String,
    "label": pl.String,
}


def point_text(coordinates: Mapping[str, Any], replication: int) -> str:
    """A point of a sweep and the replication, as one text."""
    return json.dumps([coordinates, replication], sort_keys=True)


def coordinate_text(value: Any) -> str:
    """A grid value as its column holds it."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def rows_of(common: Row, coordinates: Mapping[str, Any], outcome: Mapping[str, Any]) -> list[Row]:
    """The rows of a run that succeeded; ``outcome`` as ``sojourn run --format json`` prints it."""
    base = common | {path: coordinate_text(value) for path, value in coordinates.items()}
    members = [("flow", flow) for flow in outcome["flows"]]
    members += [("link", link) for link in outcome["links"]]
    members += [("net", outcome["net"])]
    return [
        base
        | {
            "scope": scope,
            "id": str(member.get("id", "")),
            "cca": member.get("cca"),
            "label": member.get("label"),
        }
        | member["metrics"]
        for scope, member in members
    ]


def failure(common: Row, coordinates: Mapping[str, Any], error: str) -> list[Row]:
    """The row of a run that failed."""
    base = common | {path: coordinate_text(value) for path, value in coordinates.items()}
    return [base | {"scope": "run", "id": "", "error": error}]


def frame(rows: Sequence[Row]) -> pl.DataFrame:
    """Rows as a data frame with the store's types."""
    counts = {m.name for m in metrics() if m.unit in ("count", "bytes")}
    names: Types = {m.name: pl.Int64 if m.name in counts else pl.Float64 for m in metrics()}
    coordinates: Types = {n: pl.String for row in rows for n in row if n not in COMMON | names}
    return pl.DataFrame(rows, schema=COMMON | coordinates | names)


def failed(rows: pl.LazyFrame) -> pl.DataFrame:
    """Key, point and error of the runs that failed, by point."""
    chosen = rows.filter(pl.col("scope") == "run")
    return chosen.select("key", "point", "error").sort("point").collect()


def without_repaired(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Leaves out the failures of runs that have succeeded since."""
    again = pl.col("key").is_in(failed(rows)["key"].implode()) & (pl.col("scope") == "net")
    repaired = rows.filter(again).select("key").collect()["key"].implode()
    return rows.filter((pl.col("scope") != "run") | ~pl.col("key").is_in(repaired))

"""A run as rows of the store: one per flow, per link, for the network, per group of flows, and per
label and bin of sizes of transfers.

A failed run has one row of scope ``run`` with its error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isnan

import polars as pl

from sojourn.json_types import Json, Scalar
from sojourn.metrics import metrics
from sojourn.outcome import Outcome, Transfers
from sojourn.quantity import split
from sojourn.store.labels import KEY, is_labelled

Row = dict[str, Scalar]
#: A value for each axis of a sweep: a field path of its grid, or its cases.
Coordinates = Mapping[str, Json]
#: Several of each.
Grid = Mapping[str, Sequence[Json]]
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
    "metrics": pl.String,
    "failed_at": pl.Float64,
    "backend": pl.String,
    "size_low": pl.Int64,
    "size_high": pl.Int64,
}
#: Units of the numbers beside a grid's texts, as their columns end.
_ENDINGS = {
    "ms": "ms",
    "Mbit/s": "mbit_s",
    "B": "bytes",
    "packets": "packets",
    "bdp": "bdp",
    "": "number",
}


def point_text(coordinates: Coordinates, replication: int) -> str:
    """A point of a sweep and the replication, as one text."""
    return json.dumps([coordinates, replication], sort_keys=True)


def coordinate_text(value: Json) -> str:
    """A grid value as its column holds it: its label, if it has one."""
    text = value[KEY] if is_labelled(value) else value
    return text if isinstance(text, str) else json.dumps(text, sort_keys=True)


def numeric(path: str, text: str) -> tuple[str, float] | None:
    """Column and value of a grid value that is a quantity or a number: the column is named after
    the field and the unit, such as ``topology.bottleneck.rate_mbit_s``.
    """
    value, unit = split(text)
    return None if isnan(value) else (f"{path}_{_ENDINGS[unit]}", float(f"{value:.12g}"))


def coordinate_columns(coordinates: Coordinates) -> Row:
    """A point's columns: its values as text and, where they are numbers, as those too."""
    texts = {path: coordinate_text(value) for path, value in coordinates.items()}
    numbers = (numeric(path, text) for path, text in texts.items())
    return texts | dict(entry for entry in numbers if entry)


def rows_of(common: Row, coordinates: Coordinates, outcome: Outcome) -> list[Row]:
    """The rows of a run that succeeded; ``outcome`` as ``sojourn run --format json`` prints it."""
    base = common | coordinate_columns(coordinates)
    members = [("flow", flow) for flow in outcome["flows"]]
    members += [("link", link) for link in outcome["links"]]
    members += [("net", outcome["net"])]
    members += [("group", group) for group in outcome["groups"]]
    rows: list[Row] = [
        {
            **base,
            "scope": scope,
            "id": str(member.get("id", "")),
            "cca": member.get("cca"),
            "label": member.get("label"),
            **member["metrics"],
        }
        for scope, member in members
    ]
    return rows + [base | _of_transfers(one) for one in outcome.get("transfers", ())]


def _of_transfers(one: Transfers) -> Row:
    low, high = one["sizes"] or (None, None)
    who: Row = {"scope": "transfer", "id": one["id"], "label": one["label"]}
    return who | {"size_low": low, "size_high": high} | one["metrics"]


def failure(
    common: Row, coordinates: Coordinates, error: str, failed_at: float | None = None
) -> list[Row]:
    """The row of a run that failed, at this time of the simulation if it had begun."""
    told = {"scope": "run", "id": "", "error": error, "failed_at": failed_at}
    return [common | coordinate_columns(coordinates) | told]


def remade(old: pl.DataFrame, outcome: Outcome, definitions: str) -> pl.DataFrame:
    """A stored run's rows with other metrics, at every point that it stands for."""
    texts = coordinate_paths(old.schema)
    made: list[Row] = []
    for row in old.unique("point", maintain_order=True).to_dicts():
        common = {name: row.get(name) for name in COMMON} | {"metrics": definitions}
        coordinates = {path: row[path] for path in texts if row[path] is not None}
        made += rows_of(common, coordinates, outcome)
    return frame(made)


def coordinate_paths(schema: Mapping[str, pl.DataType]) -> list[str]:
    """The grid's paths among the columns: the texts that are not in every row."""
    return [name for name, type_ in schema.items() if type_ == pl.String and name not in COMMON]


def frame(rows: Sequence[Row]) -> pl.DataFrame:
    """Rows as a data frame with the store's types."""
    counts = {m.name for m in metrics() if m.unit in ("count", "bytes")}
    names: Types = {m.name: pl.Int64 if m.name in counts else pl.Float64 for m in metrics()}
    known = COMMON | names
    others = {n: value for row in rows for n, value in row.items() if n not in known}
    coordinates: Types = {
        n: pl.Float64 if isinstance(value, float) else pl.String for n, value in others.items()
    }
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

"""Tables over a sweep: means over replications with 95 % confidence intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from sojourn import csv_table, literal
from sojourn.errors import ScenarioError
from sojourn.json_types import Json
from sojourn.metrics import Scope, metrics
from sojourn.names import flow_name, unknown
from sojourn.numbers import number, with_uncertainty
from sojourn.statistics.stopping import t_quantile
from sojourn.store import manifest
from sojourn.store.batches import Batches
from sojourn.store.files import write_atomically
from sojourn.store.rows import (
    Grid,
    coordinate_paths,
    coordinate_text,
    failed,
    numeric,
    without_repaired,
)
from sojourn.sweeps.statistics import DISTINCT, ORDER, SIZE, SPREAD, over_replications

#: What is shown unless metrics are named: one or two of each scope.
MAIN = (
    "mean_throughput_l4",
    "mean_srtt_l4",
    "utilization_l1",
    "mean_qdisc_delay_l2",
    "jains_fairness_of_means_throughput_l4",
    "fct_p50",
    "fct_p99",
)
_SCOPES: tuple[Scope, ...] = ("flow", "link", "net", "group", "transfer")
_OF_MEMBERS = (ORDER, SIZE, DISTINCT)
#: A column while members are named: a flow's label and control.
_NAME = "_name"

Answer = TypeVar("Answer")


def ask(directory: Path, question: Callable[[pl.LazyFrame], Answer]) -> Answer | None:
    """The answer of ``question`` to the rows of a sweep's directory that the engine of its last
    sweep made, with the metrics as it defined them; ``None`` if nothing is stored.
    """
    content = manifest.read(directory)
    mine = (pl.col("engine") == content["engine"]) & (pl.col("metrics") == content["metrics"])
    return Batches(directory).ask(lambda rows: question(without_repaired(rows.filter(mine))))


def failures(directory: Path) -> list[tuple[str, str]]:
    """Point and error of the runs that failed."""
    return ask(directory, lambda rows: failed(rows).select("point", "error").rows()) or []


def summary(directory: Path, names: Iterable[str] | None = None) -> pl.DataFrame:
    """The aggregate of a sweep's directory in the order of its grid, with members; without
    columns if no run has succeeded.
    """
    content = manifest.read(directory)
    pilot = content["replications"] if content.get("until") else None
    long = ask(directory, lambda rows: aggregate(rows, content["grid"], names, pilot))
    return pl.DataFrame() if long is None or not len(long) else with_members(long)


def aggregate(
    rows: pl.LazyFrame,
    grid: Grid,
    names: Iterable[str] | None = None,
    pilot: int | None = None,
) -> pl.DataFrame:
    """Long form: one row per point, member and metric, with mean, half width of the 95 %
    confidence interval (Student's t; null for one replication and for identical ones), count,
    number of different replications, minimum and maximum. Where the
    first ``pilot`` replications said how many there are, the interval is made of their spread
    (:mod:`sojourn.statistics.stopping`). A few metrics are in memory at a time, whatever their
    number.
    """
    schema = rows.collect_schema()
    columns, point = schema.names(), coordinate_paths(schema)
    wanted = set(columns) if names is None else set(columns).intersection(names)
    keys = [*point, "scope", "id", "cca", "label"]
    parts = []
    for scope in _SCOPES:
        chosen = [m.name for m in metrics() if m.scope == scope and m.name in wanted]
        every = [m.name for m in metrics() if m.scope == scope and m.name in columns]
        member = over_replications(
            rows.filter(pl.col("scope") == scope), keys, chosen, every, pilot
        )
        for name in chosen:
            of_metric = member.select(*keys, *_OF_MEMBERS, pl.lit(name).alias("metric"), name)
            parts.append(of_metric.unnest(name).filter(pl.col("n") > 0))
    if not parts:
        return pl.DataFrame()
    long = pl.concat(parts)
    long = long.with_columns(pl.max(DISTINCT).over(point) if point else pl.max(DISTINCT))
    metric = rank("metric", [m.name for m in metrics()])
    places = [rank(path, grid[path]) for path in point if path in grid]
    return (
        long.with_columns(ci95=_half_width(long))
        .sort(*places, *point, metric, rank("scope", _SCOPES), *_members(point))
        .select(pl.exclude("std", SPREAD, *_OF_MEMBERS), DISTINCT, *_numbers(long, point))
    )


def _members(point: Sequence[str]) -> list[pl.Expr]:
    """The order of a scope's members: as they appear; of transfers label by label, and by size,
    because the first replication may lack a size.
    """
    of_label = pl.col(ORDER).min().over(*point, "scope", "label")
    transfers = pl.col("scope") == "transfer"
    told = [pl.col(name) for name in (SIZE, ORDER, "id", "cca", "label")]
    return [pl.when(transfers).then(of_label).otherwise(ORDER), *told]


def _half_width(long: pl.DataFrame) -> pl.Series:
    """Of the confidence interval of the mean."""
    width = half_width(long["std"], long["n"], long[SPREAD])
    return width.set((long[SPREAD] < 2) | (long[DISTINCT] < 2), None)


def half_width(std: pl.Series, n: pl.Series, spread: pl.Series) -> pl.Series:
    """Of the confidence interval of a mean of ``n`` values (Student's t), ``std`` being that of
    ``spread`` of them.
    """
    return std * pl.Series(t_quantile(spread.to_numpy())) / n.sqrt()


def _numbers(long: pl.DataFrame, point: Sequence[str]) -> list[pl.Expr]:
    """The grid's numbers beside its texts."""
    columns: dict[str, pl.Expr] = {}
    for path in point:
        texts = [text for text in long[path].unique() if text is not None]
        entries = {text: entry for text in texts if (entry := numeric(path, text))}
        for name in {name for name, _ in entries.values()}:
            values = {text: value for text, (own, value) in entries.items() if own == name}
            columns[name] = pl.col(path).replace_strict(
                values, default=None, return_dtype=pl.Float64
            )
    return [column.alias(name) for name, column in sorted(columns.items())]


def rank(column: str, values: Sequence[Json]) -> pl.Expr:
    """The places of a column's texts among ``values``; others come last."""
    places = {coordinate_text(value): place for place, value in enumerate(values)}
    return pl.col(column).replace_strict(places, default=len(places), return_dtype=pl.Int64)


def cell(entry: Mapping[str, Any]) -> str:
    """Of a row of the aggregate, as Polars gives it: the mean with its confidence interval, or what
    is known instead.
    """
    if entry["ci95"] is not None:
        return with_uncertainty(entry["mean"], entry["ci95"])
    identical = entry["n"] > 1 and entry[DISTINCT] == 1
    return number(entry["mean"]) + (f" (n = {entry['n']}, identical)" if identical else "")


def warnings(long: pl.DataFrame) -> list[str]:
    """What a reader should know before the numbers: replications that are no replications."""
    point = coordinates_of(long)
    points = long.group_by(point or pl.lit(0), maintain_order=True).agg(
        pl.max("n"), pl.max(DISTINCT)
    )
    repeated = points.filter(pl.col("n") > pl.col(DISTINCT))
    if not len(repeated):
        return []
    n, distinct = repeated.select("n", DISTINCT).row(0)
    where = f"at {len(repeated)} of {len(points)} points" if len(points) > 1 else "here"
    told = "are identical" if distinct == 1 else f"took only {distinct} different courses"
    return [
        f"replications {where} are not independent: {n} replications {told}; a larger "
        "sweep.start_jitter makes them differ"
    ]


def pivot(
    long: pl.DataFrame, metric: str, rows: Sequence[str], columns: Sequence[str]
) -> tuple[list[str], list[list[str]], int]:
    """Header, rows and number of leading text columns of a pivot table of one metric; a grid path
    that is in neither ``rows`` nor ``columns`` is a row.
    """
    point = coordinates_of(long)
    check_paths((*rows, *columns), point)
    chosen = long.filter(pl.col("metric") == metric)
    rows = [path for path in (*rows, *point) if path not in columns]
    rows = [*dict.fromkeys(rows), *(["member"] if chosen["member"].n_unique() > 1 else [])]
    heads: dict[tuple[str, ...], None] = {}
    lines: dict[tuple[str, ...], dict[tuple[str, ...], str]] = {}
    for entry in chosen.to_dicts():
        head = tuple(str(entry[c]) for c in columns)
        heads[head] = None
        line = lines.setdefault(tuple(str(entry[r]) for r in rows), {})
        line[head] = cell(entry)
    header = [*(short(r, point) for r in rows), *(" ".join(h) or metric for h in heads)]
    body = [[*key, *(line.get(h, "-") for h in heads)] for key, line in lines.items()]
    return header, body, len(rows)


def check_paths(paths: Iterable[str], grid: Sequence[str]) -> None:
    """Refuses paths that the grid does not vary."""
    for path in paths:
        if path not in grid:
            raise ScenarioError(unknown("path of the grid", path, grid))


def save(long: pl.DataFrame, directory: Path) -> None:
    """Writes the aggregate as ``summary.csv``."""
    text = csv_table.of_frame(long)
    path = directory / "summary.csv"
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def coordinates_of(long: pl.DataFrame) -> list[str]:
    """The grid's field paths in an aggregate."""
    own = {"member", "metric"}
    return [path for path in coordinate_paths(long.schema) if path not in own]


def with_members(long: pl.DataFrame) -> pl.DataFrame:
    """Adds ``member``: which flow, link or group a row is of. A flow is named after its label and
    its control, of these two what the grid does not vary.
    """
    name = pl.coalesce("label", "cca")
    varies = name.n_unique().over("scope", "id") > 1
    one_control = pl.col("cca").n_unique().over("scope", "id") == 1
    told = pl.when(one_control).then(_NAME).otherwise(name)
    flow = (
        pl.when(varies).then(pl.format("flow {}", "id")).otherwise(pl.format("{} {}", "id", told))
    )
    scope = pl.col("scope")
    network = pl.when(scope == "net").then(pl.lit("network")).otherwise(pl.col("id"))
    member = pl.when(scope == "flow").then(flow).otherwise(network)
    return _with_names(long).with_columns(member=member).drop(_NAME)


def _with_names(long: pl.DataFrame) -> pl.DataFrame:
    pairs = long.select("label", "cca").unique()
    told = [flow_name(label, cca or "") for label, cca in pairs.iter_rows()]
    named = pairs.with_columns(pl.Series(_NAME, told, pl.String))
    return long.join(
        named, on=["label", "cca"], how="left", nulls_equal=True, maintain_order="left"
    )


def short(path: str, paths: Sequence[str]) -> str:
    """As much of the end of a field path as tells it from the others."""
    parts = path.split(".")
    for count in range(1, len(parts)):
        tail = ".".join(parts[-count:])
        if sum(f".{other}".endswith(f".{tail}") for other in paths) == 1:
            return tail
    return path


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown, its cells as they are."""
    head, *body = ([literal.markdown(cell) for cell in line] for line in (header, *rows))
    lines = [head, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

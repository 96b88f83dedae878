"""Tables over a sweep: means over replications with 95 % confidence intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl
from scipy.special import stdtrit

from sojourn.errors import ScenarioError
from sojourn.metrics import metrics
from sojourn.numbers import number
from sojourn.store import manifest
from sojourn.store.batches import Batches
from sojourn.store.files import write_atomically
from sojourn.store.rows import COMMON, coordinate_text, without_repaired

#: What is shown unless metrics are named: one or two of each scope.
MAIN = (
    "mean_throughput_l4",
    "mean_srtt_l4",
    "utilization_l1",
    "mean_qdisc_delay_l2",
    "jains_fairness_of_means_throughput_l4",
)
_CONFIDENCE = 0.95


def stored(directory: Path) -> pl.DataFrame:
    """The rows of a sweep's directory that the build of its last sweep made, in the order of its
    grid.
    """
    content = manifest.read(directory)
    frame = Batches(directory).read()
    if not len(frame):
        return frame
    mine = without_repaired(frame.filter(pl.col("engine") == content["build"]))
    ranks = [
        pl.col(path).replace_strict(
            {coordinate_text(value): rank for rank, value in enumerate(values)},
            default=len(values),
            return_dtype=pl.Int64,
        )
        for path, values in content["grid"].items()
        if path in mine.columns
    ]
    return mine.sort(*ranks, "replication", maintain_order=True)


def coordinates(frame: pl.DataFrame) -> list[str]:
    """The grid's field paths."""
    known = set(COMMON) | {m.name for m in metrics()}
    return [name for name in frame.columns if name not in known]


def aggregate(frame: pl.DataFrame, names: Iterable[str] | None = None) -> pl.DataFrame:
    """Long form: one row per point, member and metric, with mean, half width of the 95 %
    confidence interval (Student's t; null for one replication), count, minimum and maximum.
    """
    wanted = set(names) if names is not None else None
    point = coordinates(frame)
    keys = [*point, "scope", "id", "cca", "label"]
    parts = []
    for metric in metrics():
        if wanted is not None and metric.name not in wanted:
            continue
        member = frame.filter(pl.col("scope") == metric.scope)
        if metric.name in frame.columns and len(member):
            parts.append(_over_replications(member, keys, metric.name))
    if not parts:
        return pl.DataFrame()
    long = pl.concat(parts)
    return (
        long.with_columns(ci95=_half_width(long))
        .drop("std")
        .sort(_order(frame, point), maintain_order=True)
    )


def _over_replications(member: pl.DataFrame, keys: list[str], name: str) -> pl.DataFrame:
    value = pl.col(name).cast(pl.Float64)
    return (
        member.group_by(keys, maintain_order=True)
        .agg(
            metric=pl.lit(name),
            mean=value.mean(),
            std=value.std(),
            n=value.count(),
            min=value.min(),
            max=value.max(),
        )
        .filter(pl.col("n") > 0)
    )


def _half_width(long: pl.DataFrame) -> pl.Series:
    """Of the confidence interval of the mean."""
    n = long["n"].to_numpy()
    quantile = stdtrit((n - 1).clip(1), 0.5 + _CONFIDENCE / 2)
    width = long["std"] * pl.Series(quantile / n**0.5)
    return width.set(long["n"] < 2, None)


def _order(frame: pl.DataFrame, point: Sequence[str]) -> list[pl.Expr]:
    """Grid values in the order of their first appearance, which is that of the file."""
    ranks = {p: {v: i for i, v in enumerate(frame[p].unique(maintain_order=True))} for p in point}
    return [pl.col(p).replace_strict(rank, return_dtype=pl.Int64) for p, rank in ranks.items()]


def interval(mean: float | None, half_width: float | None) -> str:
    """A mean with its confidence interval."""
    return number(mean) if half_width is None else f"{number(mean)} ± {number(half_width)}"


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
        line[head] = interval(entry["mean"], entry["ci95"])
    header = [*(short(r, point) for r in rows), *(" ".join(h) or metric for h in heads)]
    body = [[*key, *(line.get(h, "-") for h in heads)] for key, line in lines.items()]
    return header, body, len(rows)


def check_paths(paths: Iterable[str], grid: Sequence[str]) -> None:
    """Refuses paths that the grid does not vary."""
    for path in paths:
        if path not in grid:
            raise ScenarioError(f"{path}: is not in the grid; it has: {', '.join(grid) or '-'}")


def save(long: pl.DataFrame, directory: Path) -> None:
    """Writes the aggregate as ``summary.csv``."""
    write_atomically(directory / "summary.csv", long.write_csv)


def coordinates_of(long: pl.DataFrame) -> list[str]:
    """The grid's field paths in an aggregate."""
    own = {"scope", "id", "cca", "label", "member", "metric", "mean", "n", "min", "max", "ci95"}
    return [name for name in long.columns if name not in own]


def with_members(long: pl.DataFrame) -> pl.DataFrame:
    """Adds ``member``: which flow or link a row is of. A flow is named after its control unless
    the grid varies that.
    """
    name = pl.coalesce("label", "cca")
    varies = name.n_unique().over("scope", "id") > 1
    flow = (
        pl.when(varies).then(pl.format("flow {}", "id")).otherwise(pl.format("{} {}", "id", name))
    )
    member = pl.when(pl.col("scope") == "flow").then(flow).otherwise(pl.col("id"))
    return long.with_columns(member=member)


def short(path: str, paths: Sequence[str]) -> str:
    """As much of the end of a field path as tells it from the others."""
    parts = path.split(".")
    for count in range(1, len(parts)):
        tail = ".".join(parts[-count:])
        if sum(f".{other}".endswith(f".{tail}") for other in paths) == 1:
            return tail
    return path


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

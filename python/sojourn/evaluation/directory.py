"""The directory of a comparison."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl

from sojourn import csv_table
from sojourn.evaluation.compare import Comparison
from sojourn.figures import forest
from sojourn.store import manifest
from sojourn.store.files import Write, write_together
from sojourn.store.layout import clear_derived
from sojourn.store.place import Tenant

KIND = "comparison"
TABLE = "comparison.csv"
_TEXTS = ("point", "scope", "id", "metric", "verdict", "family")


def tenant(a: str, b: str) -> Tenant:
    """What a directory of this comparison is told by."""

    def differs(found: manifest.Manifest) -> str:
        there = (found["a"], found["b"])
        return "" if there == (a, b) else f"of {there[0]} against {there[1]}"

    name = f"{a}-against-{b}"
    return Tenant(KIND, name, name, {"a": a, "b": b}, differs, grows=False)


def save(made: Comparison, directory: Path, warn: Callable[[str], None]) -> None:
    """Writes the table and the figure; :func:`sojourn.report.report` makes the page of them."""
    from sojourn.figures import save_each

    content = {"a": made.a, "b": made.b, "notes": made.notes, "on": list(made.on)}
    files: dict[str, Write] = {
        TABLE: lambda path: path.write_text(csv_table.of_frame(made.table), encoding="utf-8"),
        manifest.FILE: manifest.writer(KIND, content),
    }
    write_together(directory, files)
    clear_derived(directory)
    chart = forest.chart(made.of("better", "worse", "different"), made.a, made.b)
    if chart:
        save_each(["forest"], lambda _: chart, directory / "figures", warn)


def load(directory: Path) -> Comparison:
    """Reads a comparison back; what was stored before there were families is one."""
    content = manifest.read(directory)
    types = dict.fromkeys(_TEXTS, pl.String)
    table = pl.read_csv(
        directory / TABLE, schema_overrides=types, infer_schema_length=None, glob=False
    )
    table = csv_table.to_frame(table)
    if "family" not in table.columns:
        table = table.with_columns(family=pl.lit("key"))
    told = table.with_columns(pl.col(_TEXTS).fill_null(""))
    on = content.get("on", ())  # nothing in what was stored before it was told
    return Comparison(content["a"], content["b"], told, content["notes"], on)

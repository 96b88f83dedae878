"""Transfers as they are stored and shown: words where the core has numbers.

The core's table ``transfers`` has, in the order in which transfers ended, ``arrivals`` (the entry
of the scenario's ``arrivals``), ``variant`` (of its ``mix``), ``outcome`` (an index of
:data:`OUTCOMES`), and NaN where something is not known.
"""

from __future__ import annotations

import math

import polars as pl

from sojourn.json_types import Fields
from sojourn.names import control_name

#: What becomes of a transfer; live ones have not ended when the run does.
OUTCOMES = ("finished", "live", "failed")
#: The stored columns: times in seconds, sizes in bytes.
COLUMNS = (
    *("label", "arrival", "start", "completed", "size", "slowdown", "retransmissions", "timeouts"),
    *("marks", "rtt", "min_rtt", "cca", "outcome", "group", "variant"),
)
#: Most variants of an entry.
_VARIANTS = 1 << 16


def named(rows: pl.LazyFrame, scenario: Fields) -> pl.LazyFrame:
    """The core's rows of a run of a canonical scenario as they are stored."""
    entries = scenario["arrivals"]
    controls = {
        _VARIANTS * entry + variant: control
        for entry, declared in enumerate(entries)
        for variant, control in enumerate(_controls(declared))
    }
    labels = {entry: str(declared["label"]) for entry, declared in enumerate(entries)}
    return rows.with_columns(
        _words(pl.col("arrivals"), labels).alias("label"),
        _words(_VARIANTS * pl.col("arrivals") + pl.col("variant"), controls).alias("cca"),
        _words(pl.col("outcome"), dict(enumerate(OUTCOMES))),
        pl.col(pl.Float64).fill_nan(None),
    ).select(COLUMNS)


def numbered(rows: pl.LazyFrame, scenario: Fields) -> pl.LazyFrame:
    """Stored rows as the core gives them."""
    labels = {str(declared["label"]): at for at, declared in enumerate(scenario["arrivals"])}
    outcomes = {word: at for at, word in enumerate(OUTCOMES)}
    return rows.with_columns(
        _numbers(pl.col("label"), labels).alias("arrivals"),
        _numbers(pl.col("outcome"), outcomes),
        pl.col(pl.Float64).fill_null(math.nan),
    ).drop("label", "cca")


def _controls(entry: Fields) -> list[str]:
    """The name of the control of each variant."""
    variants: list[Fields] = entry.get("mix") or [{}]
    return [control_name({**entry, **variant}) for variant in variants]


def _words(numbers: pl.Expr, words: dict[int, str]) -> pl.Expr:
    kind = pl.Enum(list(dict.fromkeys(words.values())))
    return numbers.replace_strict(list(words), list(words.values()), return_dtype=kind)


def _numbers(words: pl.Expr, numbers: dict[str, int]) -> pl.Expr:
    plain = words.cast(pl.String)
    return plain.replace_strict(list(numbers), list(numbers.values()), return_dtype=pl.Int64)

"""How backends are compared."""

from __future__ import annotations

import polars as pl
import pytest

from sojourn.backends.disagreement import columns, table


class Ran:
    """A result of one flow with one metric."""

    def __init__(self, value: float | None) -> None:
        self.value = value

    def frames(self) -> tuple[pl.DataFrame, ...]:
        flow = pl.DataFrame(
            {"id": [0], "metric": [self.value]}, schema={"id": int, "metric": float}
        )
        return (flow, *(pl.DataFrame() for _ in range(4)))


def test_two_backends_have_the_columns_that_scripts_rely_on() -> None:
    head = ("scope", "id", "metric", "sim", "live", "difference", "low", "high")
    assert columns(["sim", "live"]) == head
    more = ("kernel", "kernel_difference", "kernel_low", "kernel_high")
    assert columns(["sim", "live", "kernel"]) == (*head, *more)


def test_all_are_compared_with_the_first() -> None:
    results = {"sim": [Ran(10.0)], "kernel:6.1": [Ran(12.0)], "kernel:6.12": [Ran(9.0), Ran(11.0)]}
    (row,) = table(results)  # type: ignore[arg-type]
    assert tuple(row) == columns(list(results))
    assert (row["sim"], row["kernel:6.1"], row["difference"], row["low"]) == (10, 12, 2, None)
    assert row["kernel:6.12_difference"] == pytest.approx(0)
    assert row["kernel:6.12_low"] < 0 < row["kernel:6.12_high"]


def test_what_is_undefined_has_no_difference() -> None:
    results = {"sim": [Ran(None)], "kernel": [Ran(1.0)]}
    (row,) = table(results)  # type: ignore[arg-type]
    assert (row["sim"], row["kernel"], row["difference"]) == (None, 1, None)
    assert table({"sim": [Ran(None)], "kernel": [Ran(None)]}) == []  # type: ignore[arg-type]

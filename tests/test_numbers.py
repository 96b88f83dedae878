"""How numbers with an interval are written."""

from __future__ import annotations

import pytest

from sojourn.numbers import number, with_uncertainty


@pytest.mark.parametrize(
    ("value", "half", "told"),
    [
        (42.98, 0.0997, "42.98 ± 0.10"),
        (0.78, 0.0113, "0.780 ± 0.011"),
        (0.78, 1.34, "0.8 ± 1.3"),
        (56789.0, 1234.0, "56800 ± 1200"),
        (99.96, 9.96, "100 ± 10"),
        (-0.01, 5.0, "0.0 ± 5.0"),
        (1.2345e9, 3e6, "(1.2345 ± 0.0030)e+09"),
        (1.2e-5, 3e-7, "(1.200 ± 0.030)e-05"),
        (0.0, 0.0, "0 ± 0"),
    ],
)
def test_an_uncertainty_has_two_digits_and_its_value_ends_where_it_does(
    value: float, half: float, told: str
) -> None:
    assert with_uncertainty(value, half) == told


def test_an_interval_that_is_too_narrow_to_be_told_is_rounded_up() -> None:
    assert with_uncertainty(8.00000012, 2e-9) == "8.000000 ± 0.000001"


@pytest.mark.parametrize(("value", "half"), [(None, 1.0), (3.0, None), (3.0, float("nan"))])
def test_without_an_interval_there_is_a_number_alone(
    value: float | None, half: float | None
) -> None:
    assert with_uncertainty(value, half) == number(value)

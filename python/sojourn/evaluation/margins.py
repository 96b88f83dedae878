"""Within which margin two means are the same: per cent of the one compared with, or a quantity."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sojourn import literal, regular_file
from sojourn.errors import ScenarioError
from sojourn.metrics import metrics
from sojourn.names import unknown

DEFAULT = "2 %"
#: The key of a file of margins for the metrics that it does not name.
OTHERS = "default"


@dataclass(frozen=True)
class Margin:
    """So much, of the mean compared with if ``relative``."""

    size: float
    relative: bool

    def around(self, mean: float) -> float:
        """In the metric's unit."""
        return self.size * abs(mean) if self.relative else self.size


@dataclass(frozen=True)
class Margins:
    """One for each metric."""

    others: Margin
    named: Mapping[str, Margin] = field(default_factory=dict)

    def of(self, metric: str) -> Margin:
        """The metric's own, or that of all others."""
        return self.named.get(metric, self.others)


def relative(text: str, where: str) -> Margin:
    """A margin such as ``2 %``; ``where`` says in errors who asked for it."""
    number, percent, rest = text.partition("%")
    size = _number(number) if percent and not rest.strip() else None
    if size is None:
        raise ScenarioError(f"{where}: {literal.given(text)} given; expected a share such as '2 %'")
    return Margin(size / 100, relative=True)


def read(path: Path) -> Margins:
    """A TOML file of a margin for each of some metrics, and ``default`` for all others."""
    try:
        table = tomllib.loads(regular_file.text(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not text in UTF-8"
        raise ScenarioError(f"--margins {path}: cannot be read: {reason}") from None
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"--margins {path}: {error}") from None
    units = {m.name: m.unit for m in metrics()}
    for name in table:
        if name not in units and name != OTHERS:
            known = [OTHERS, *units]
            told = unknown("metric", name, known, "sojourn list metrics")
            raise ScenarioError(f"--margins {path}: {name}: {told}")
    others = table.pop(OTHERS, DEFAULT)
    return Margins(
        _margin(others, None, f"--margins {path}: {OTHERS}"),
        {n: _margin(text, units[n], f"--margins {path}: {n}") for n, text in table.items()},
    )


def _margin(text: object, unit: str | None, where: str) -> Margin:
    """A share, or a number with the metric's unit."""
    if isinstance(text, str) and text.rstrip().endswith("%") and unit != "%":
        return relative(text, where)
    number, _, written = str(text).strip().partition(" ")
    size = _number(number)
    wanted = "" if unit in ("1", "count") else unit
    if unit is None or isinstance(text, bool) or size is None or written.strip() != wanted:
        quantity = f" or a quantity such as '0.5 {wanted}'".rstrip(" '") + "'" if unit else ""
        raise ScenarioError(
            f"{where}: {literal.given(text)} given; expected a share such as '2 %'{quantity}"
        )
    return Margin(size, relative=False)


def _number(text: str) -> float | None:
    """One that is neither negative nor infinite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None

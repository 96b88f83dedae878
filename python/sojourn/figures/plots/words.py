"""Names and units as a person writes them."""

from __future__ import annotations

import json
import re
from math import isnan

from sojourn.figures.plots.spelling import spelled
from sojourn.json_types import Json, Scalar
from sojourn.metrics import metrics
from sojourn.quantity import split

#: Fields of a scenario in words; others are their own last part.
_FIELDS = {
    "limit": "Buffer",
    "rtt": "Base RTT",
    "rate": "Rate",
    "loss": "Random loss",
    "delay": "Propagation delay",
    "cca": "Congestion control",
    "queue": "Queue discipline",
    "count": "Flows",
    "mss": "MSS",
    "ecn": "ECN",
}
#: What every sender and every queue lets be seen, with units.
_STATES = {
    "cwnd": ("Congestion window", "segments"),
    "ssthresh": ("Slow-start threshold", "segments"),
    "pacing_rate": ("Pacing rate", "bit/s"),
    "packets": ("Packets that wait", ""),
    "bytes": ("Bytes that wait", ""),
}
#: What is said of no aggregate: a mean is what one expects.
_EXPECTED = {"", "mean", "value", "count", "total", "ratio of totals", "ratio of means"}


def of_metric(name: str) -> str:
    """A metric's quantity with its unit: ``Smoothed RTT (ms)``."""
    metric = next(m for m in metrics() if m.name == name)
    words = metric.quantity or name
    if metric.aggregator not in _EXPECTED and metric.aggregator not in words:
        words = f"{words}, {metric.aggregator}"
    return with_unit(capital(words), metric.unit)


def of_state(name: str, of_one: str) -> str:
    """What a control or a queue lets be seen, and ``of_one`` of them: ``Mode of flow 0``."""
    words, unit = _STATES.get(name, (capital(name.replace("_", " ")), ""))
    return with_unit(f"{words}{of_one}", unit)


def of_path(path: str) -> str:
    """What a field, or a column of the flows, is called."""
    where, field = path.rpartition(".")[::2]
    if field == "kind":
        where, field = where.rpartition(".")[::2]
    words = _FIELDS.get(field, capital(field.replace("_", " ")))
    if flow := re.fullmatch(r"flows\.(\d+)(\..*)?", where):
        return f"{words} of flow {flow[1]}"
    return f"Bottleneck {words.lower()}" if field == "rate" and "bottleneck" in where else words


def of_value(value: Scalar) -> str:
    """A value of an axis as it is written in prose: names of the catalogue as their field spells
    them, others and quantities as they are, a table by its kind and its other keys.
    """
    if value is None:
        return "none"
    table = _table(str(value))
    if table is None:
        return spelled(str(value))
    kind = [str(table.pop("kind"))] if "kind" in table else []
    return spelled(", ".join([*kind, *(f"{key} {each}" for key, each in table.items())]))


def of_place(axis: str, value: Scalar) -> str:
    """A value apart from its axis: a name speaks for itself, a number needs its field."""
    told = of_value(value)
    if axis == "flow":
        return f"flow {told}"
    return told if is_name(str(value)) else f"{of_path(axis)} {told}"


def is_name(text: str) -> bool:
    """Whether a value of an axis is no number or quantity."""
    return isnan(quantity(text)[0])


def _table(text: str) -> dict[str, Json] | None:
    """The table that a grid's value is, if it is one."""
    try:
        read = json.loads(text)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None


def quantity(text: str) -> tuple[float, str]:
    """A grid's value as number and unit for an axis; NaN for a name."""
    value, unit = split(text)
    if text.rstrip().endswith("%"):
        return value * 100, "%"
    return value, "BDP" if unit == "bdp" else unit


def with_unit(words: str, unit: str) -> str:
    """Words with their unit in parentheses, where there is one."""
    return words if unit in ("", "1") else f"{words} ({unit})"


def capital(words: str) -> str:
    """Words with a capital first letter; abbreviations keep theirs."""
    return words[:1].upper() + words[1:]


def small(words: str) -> str:
    """Words as they stand within a sentence; abbreviations keep their capitals."""
    return words if words[1:2].isupper() else words[:1].lower() + words[1:]


def listed(words: list[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1] if words else ""]))

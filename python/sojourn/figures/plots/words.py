"""Names and units as a person writes them."""

from __future__ import annotations

import re

from sojourn.catalogue import members
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
_CONTROLS = {
    "bbr": "BBR",
    "bbr3": "BBRv3",
    "bic": "BIC",
    "dctcp": "DCTCP",
    "dctcp-sce": "DCTCP-SCE",
    "reno-sce": "Reno-SCE",
    "cubic-sce": "Cubic-SCE",
    "highspeed": "HighSpeed",
    "htcp": "H-TCP",
    "ledbat": "LEDBAT",
    "yeah": "YeAH",
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


def of_path(path: str) -> str:
    """What a field, or a column of the flows, is called."""
    where, field = path.rpartition(".")[::2]
    if field == "kind":
        where, field = where.rpartition(".")[::2]
    words = _FIELDS.get(field, capital(field.replace("_", " ")))
    if flow := re.fullmatch(r"flows\.(\d+)(\..*)?", where):
        return f"{words} of flow {flow[1]}"
    return f"Bottleneck {words.lower()}" if field == "rate" and "bottleneck" in where else words


def of_value(text: str) -> str:
    """A name as it is written in prose; quantities as they are, but for bandwidth-delay products
    in capitals.
    """
    if any(member.name == text for member in members("ccas")):
        return _CONTROLS.get(text, capital(text))
    return text.replace(" bdp", " BDP")


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

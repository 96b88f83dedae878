"""The spread of a measurement beside the published value, as a small picture in a table."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from sojourn.numbers import number

_WIDTH, _HEIGHT, _MARGIN = 180.0, 18.0, 8.0
_MEASURED = ("min", "q1", "measured", "q3", "max")


def picture(row: Mapping[str, float | None]) -> Markup:
    """Least to greatest as a line, the quartiles as a box, the median as a stroke, the published
    value as a diamond; each row has a scale of its own.
    """
    names = (*_MEASURED, "published")
    values = {n: float(value) for n in names if (value := row[n]) is not None}
    if "measured" not in values:
        return Markup()
    low, high = min(values.values()), max(values.values())
    scale = (_WIDTH - 2 * _MARGIN) / (high - low) if high > low else 0.0

    def at(name: str) -> float:
        return round(_MARGIN + (values[name] - low) * scale, 1) if scale else _WIDTH / 2

    middle, box = _HEIGHT / 2, max(at("q3") - at("q1"), 0)
    parts = [
        f'<path class="whisker" d="M{at("min")} {middle}H{at("max")}"/>',
        f'<rect class="box" x="{at("q1")}" y="4" width="{box:.1f}" height="10"/>',
        f'<path class="median" d="M{at("measured")} 2V16"/>',
    ]
    if "published" in values:
        parts.append(f'<path class="published" d="M{at("published")} 4l5 5l-5 5l-5 -5z"/>')
    size = f'width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}"'
    told = f'role="img" aria-label="{_told(values)}"'
    return Markup(f'<svg class="spread" {size} {told}>{"".join(parts)}</svg>')


def _told(values: Mapping[str, float]) -> str:
    """The same for who does not see it; the rest is in the row."""
    low, first, third, high = (number(values[name]) for name in ("min", "q1", "q3", "max"))
    return f"{low} to {high}, quartiles {first} and {third}"

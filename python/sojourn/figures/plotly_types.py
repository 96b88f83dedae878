"""What plotly.js draws: objects of JSON."""

from __future__ import annotations

from typing import TypedDict

from sojourn.json_types import Jsonable

#: A trace, a layout, an axis: whatever plotly knows of it.
Part = dict[str, Jsonable]


class Drawn(TypedDict):
    """A figure."""

    data: list[Part]
    layout: Part

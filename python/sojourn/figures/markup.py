"""Texts for plotly.js, which takes some of HTML in them for markup."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from sojourn.literal import printable

#: Texts of our own, with marks for plotly.
_TEMPLATES = "hovertemplate"
#: The page gives such values other colours when it is dark.
_COLOR = re.compile("^#(?=[0-9a-fA-F]{6}$)")
#: What texts may be in; numbers are many.
_PARTS = (str, dict, list, tuple)


def escaped(part: Any, key: str = "") -> Any:
    """A part of a figure whose texts stand for themselves, and break where they have an end of a
    line; ``key`` is what it is called in the part that it belongs to.
    """
    if isinstance(part, str):
        return part if key == _TEMPLATES or "color" in key else _text(part)
    if isinstance(part, dict):
        return {name: escaped(value, name) for name, value in part.items()}
    if isinstance(part, list | tuple) and any(isinstance(value, _PARTS) for value in part):
        return type(part)(escaped(value, key) for value in part)
    return part


def _text(text: str) -> str:
    shown = escape(printable(text), quote=False).replace("\n", "<br>")
    return _COLOR.sub("&#35;", shown)

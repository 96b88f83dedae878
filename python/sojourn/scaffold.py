"""``make new-cca NAME=...``: writes a congestion control's file and its registry line."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from sojourn import data
from sojourn.errors import ScenarioError

_CONTROLS = "crates/sojourn-core/src/cc"
_TEMPLATE = Path(__file__).parent / "templates" / "congestion_control.rs"
_LAST_LINE = re.compile(r"(controls! \{\n(?:    .*\n)*)\}")


def new_control(name: str, directory: Path | None = None) -> Path:
    """Adds the congestion control ``name`` (words joined by hyphens); its file."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ScenarioError(f"NAME={name}: expected words in lower case joined by hyphens")
    directory = directory or data.checkout() / _CONTROLS
    module = name.replace("-", "_")
    path = directory / f"{module}.rs"
    if path.exists():
        raise ScenarioError(f"NAME={name}: {path} exists")
    kind = "".join(word.capitalize() for word in name.split("-"))
    registry = directory / "mod.rs"
    text = registry.read_text(encoding="utf-8")
    line = f'    "{name}" {module}::{kind},\n'
    registered, found = _LAST_LINE.subn(lambda match: f"{match[1]}{line}}}", text, count=1)
    if not found:
        raise ScenarioError(f"{registry}: has no controls! registry")
    path.write_text(_TEMPLATE.read_text(encoding="utf-8").replace("KIND", kind), encoding="utf-8")
    registry.write_text(registered, encoding="utf-8")
    return path


if __name__ == "__main__":
    try:
        print(new_control(" ".join(sys.argv[1:])))
    except ScenarioError as error:
        sys.exit(f"sojourn: {error}")

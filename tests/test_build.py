"""What a result is told apart by: the code of all modules that it may depend on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sojourn import build

#: A package beside Sojourn's, whose model imports in every way there is.
FILES = {
    "__init__": "",
    "model": """
import json
import outside.whole.deep
from outside import beside
from outside.named import value
from sojourn import slotted
from sojourn.statistics import difference

def run():
    from . import late
    from .relative.below import found
""",
    "beside": "",
    "late": "from .named import value",
    "named.__init__": "from .above import value",
    "named.above": "from ..further import value",
    "further": "",
    "relative.__init__": "",
    "relative.below": "",
    "whole.__init__": "",
    "whole.deep": "",
    "unused": "from outside import model",
}


def test_all_that_is_imported_counts_whether_it_is_loaded_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in FILES.items():
        path = tmp_path / "outside" / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    build._source.cache_clear()
    used = set(build._used_by(["outside.model"]))
    ours = {name for name in used if name.startswith("outside")}
    expected = {f"outside.{name}".removesuffix(".__init__") for name in FILES}
    assert ours == expected - {"outside.unused", "outside.relative"}
    assert {"sojourn.slotted", "sojourn.statistics", "sojourn.statistics.values"} <= used
    assert "sojourn" not in used, "its face names all of it"
    assert not {name for name in sys.modules if name.startswith("outside")}

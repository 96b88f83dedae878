"""The notebooks for teaching: what they show is what their cells do."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from conftest import ROOT
from docs_commands import without_numbers

FOLDER = ROOT / "docs" / "tutorial" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_was_executed_from_first_to_last_and_is_listed(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = [output["output_type"] for cell in cells for output in cell["outputs"]]
    assert "display_data" in kinds
    assert "error" not in kinds
    assert f"({path.name})" in (FOLDER / "index.md").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.needs("notebooks")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_still_says_so(path: Path) -> None:
    made = importlib.import_module("tools.pages.notebooks")
    stored = json.loads(path.read_text(encoding="utf-8"))
    now = made.executed(path)
    assert [*map(without_numbers, made.texts(now))] == [*map(without_numbers, made.texts(stored))]

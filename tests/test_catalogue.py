"""The catalogue as documentation, and the scaffold that adds to it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from conftest import ROOT, Command
from sojourn import ScenarioError, _internal
from sojourn.cli.catalogue import CORE_KINDS, KINDS, page
from sojourn.scaffold import new_control

CONTROLS = ROOT / "crates/sojourn-core/src/cc"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page(kind: str) -> None:
    text = page(kind)
    assert text.startswith(f"# {kind.capitalize()}\n")
    assert text.count("\n## ") >= 1


@pytest.mark.parametrize("kind", CORE_KINDS)
def test_pages_tell_every_parameter(kind: str) -> None:
    text = page(kind)
    for member in json.loads(_internal.catalogue())[kind]:
        assert f"\n## {member['name']}\n" in text
        for parameter in member["parameters"]:
            assert f"| `{parameter['name']}` |" in text


def test_the_command_prints_pages(sojourn: Command) -> None:
    printed = sojourn("list", "ccas", "--format", "markdown").stdout
    assert "## cubic" in printed
    assert "fast_convergence" in printed


def test_the_scaffold_writes_a_file_and_a_line(tmp_path: Path) -> None:
    shutil.copy(CONTROLS / "mod.rs", tmp_path)
    path = new_control("my-control", tmp_path)
    assert path.name == "my_control.rs"
    text = path.read_text()
    assert "pub struct MyControl" in text
    assert "KIND" not in text
    registry = (tmp_path / "mod.rs").read_text()
    assert '    "my-control" my_control::MyControl,\n}' in registry
    with pytest.raises(ScenarioError, match="exists"):
        new_control("my-control", tmp_path)


@pytest.mark.parametrize("name", ["", "My", "my_control", "-x", "a b"])
def test_the_scaffold_refuses_other_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScenarioError, match="lower case"):
        new_control(name, tmp_path)

"""What ARCHITECTURE.md promises."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from conftest import ROOT

PACKAGE = ROOT / "python" / "sojourn"
#: Packages and modules in the direction of the data; what is not listed is used by all.
PATH = (
    *("outside", "scenario", "executors", "metrics", "result", "engine"),
    *("conformance", "store"),
    *("statistics", "kernel", "backends", "sweeps"),
    *("figures", "evaluation", "capacity", "papers", "report", "pages", "cli"),
)


def imports(path: Path) -> set[str]:
    """The modules of the package that a file imports when it is imported itself."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    modules = [n.module or "" for n in body if isinstance(n, ast.ImportFrom)]
    return {m.split(".")[1] for m in modules if m.startswith("sojourn.")}


@pytest.mark.parametrize("place", range(len(PATH)), ids=PATH)
def test_imports_go_in_the_direction_of_the_data(place: int) -> None:
    module = PACKAGE / PATH[place]
    files = module.glob("**/*.py") if module.is_dir() else [module.with_suffix(".py")]
    used = {file.name: imports(file) & set(PATH[place + 1 :]) for file in files}
    assert {name: later for name, later in used.items() if later} == {}


def test_the_core_and_the_experiments_do_not_read_what_was_published() -> None:
    files = [*ROOT.glob("crates/**/*.rs"), *ROOT.glob("experiments/**/*.toml")]
    assert len(files) > 100
    named = re.compile(r"reference/\w+/\S+\.csv")
    assert [str(f) for f in files if named.search(f.read_text(encoding="utf-8"))] == []


def test_every_path_of_the_table_exists() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text[text.index("## Where does X go") :]
    named = {path for path in re.findall(r"`([\w./-]+/[\w./-]*)`", table) if "NAME" not in path}
    bases = (ROOT, PACKAGE, *ROOT.glob("crates/*/src"))
    wanted = {p for p in named if not any(w in p for w in ("FAMILY", "SUITE"))}
    assert len(wanted) > 8
    assert [p for p in wanted if not any((base / p).exists() for base in bases)] == []

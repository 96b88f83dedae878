"""What ARCHITECTURE.md promises."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

import pytest

from conftest import ROOT

PACKAGE = ROOT / "python" / "sojourn"
#: Where modules lie, by the package that they are in.
PLACES = {
    "sojourn": PACKAGE,
    "sojourn_reproductions": ROOT / "reproductions",
    "tools": ROOT / "tools",
}
#: Names of modules, each with its file.
MODULES = {
    ".".join([package, *file.relative_to(place).with_suffix("").parts]).removesuffix(
        ".__init__"
    ): file
    for package, place in PLACES.items()
    for file in place.glob("**/*.py")
}


def imported(source: str, modules: Iterable[str]) -> Iterator[str]:
    """The modules that a source imports: as it is imported itself, in functions, for types."""
    known = set(modules)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known - {"sojourn"})
        elif isinstance(node, ast.ImportFrom):
            named = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from named & known
            if named - known and node.module in known - {"sojourn"}:
                yield node.module


def with_packages(module: str, used: str) -> Iterator[str]:
    """What an import runs: the module, and the packages around it that are not the importer's."""
    parts = used.split(".")
    around = (".".join(parts[:end]) for end in range(2, len(parts) + 1))
    return (name for name in around if not f"{module}.".startswith(f"{name}."))


def circle(sources: Mapping[str, str]) -> list[str]:
    """Modules that import each other in a circle, if any do.

    The package's own ``__init__`` is a list of where its names are found, for people.
    """
    arrows = {
        module: {
            name
            for used in imported(source, sources)
            for name in (*with_packages(module, used), used)
            if name != module
        }
        for module, source in sources.items()
        if module != "sojourn"
    }
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_one_that_imports_it() -> None:
    assert len(MODULES) > 300
    assert circle({name: file.read_text(encoding="utf-8") for name, file in MODULES.items()}) == []


@pytest.mark.parametrize(
    "source",
    [
        "from sojourn.low import thing",
        "from sojourn import low",
        "import sojourn.low",
        "def later():\n    from sojourn.low import thing",
        "if TYPE_CHECKING:\n    from sojourn.low import thing",
        "from sojourn.around.inner import thing",
    ],
)
def test_a_circle_is_found_wherever_it_is_imported(source: str) -> None:
    around = {"sojourn.around": "from sojourn.low import thing", "sojourn.around.inner": ""}
    low = {"sojourn.low": "from sojourn.high import thing"}
    assert circle({"sojourn.high": "", **low, **around}) == []
    assert {"sojourn.high", "sojourn.low"} <= set(circle({"sojourn.high": source, **low, **around}))


def test_no_module_takes_a_name_from_the_face() -> None:
    """The floors are import-linter's (pyproject.toml), which passes over the package's own
    ``__init__``: a list of where its names are found, for people.
    """
    taken = [
        f"{module}: {alias.name}"
        for module, file in MODULES.items()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "sojourn"
        for alias in node.names
        if f"sojourn.{alias.name}" not in MODULES and alias.name != "_internal"
    ]
    assert taken == []


def test_the_core_and_the_experiments_do_not_read_what_was_published() -> None:
    files = [*ROOT.glob("crates/**/*.rs"), *ROOT.glob("**/experiments/**/*.toml")]
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


#: What a reader is asked to hold in mind at once.
MOST_OF_A_FILE, MOST_OF_A_FUNCTION = 300, 40
WRITTEN = [*MODULES.values(), *(ROOT / "tests").glob("**/*.py")]


def test_files_and_functions_are_short() -> None:
    long = []
    for file in WRITTEN:
        text = file.read_text(encoding="utf-8")
        if (lines := text.count("\n")) > MOST_OF_A_FILE:
            long.append(f"{file}: {lines} lines")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > MOST_OF_A_FUNCTION:
                    long.append(f"{file}: {node.name} has {lines} lines")
    assert long == []

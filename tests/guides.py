"""The guides name every file that must change: ``make test-guides``, because it builds.

One of each kind is scaffolded in a copy of the checkout, built, and put through its conformance.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ROOT
from sojourn import _internal, checkout
from sojourn.cli.catalogue import CORE_KINDS
from sojourn.scaffold import KINDS

COPY = ROOT / "target" / "guides"
# Its own: Cargo takes the copy's packages and the checkout's for the same.
TARGET = COPY / "target"
EXTENSION = Path(_internal.__file__).name
#: What is built of the copy. Tests name it, too: with other packages Cargo may give the crates' own
#: dependencies other features, and compile all of them again.
MODULE = ("-p", "sojourn-py", "--features", "pyo3/extension-module")
PARTS = dict(_internal.engine_parts())
CRATES = [f"crates/{name}/src/" for name in sorted(PARTS.keys() - {checkout.LOCK})]
BASES = ("", *CRATES, "python/sojourn/")
MY_FLOW = '{transport = "my-transport", rtt = "10 ms", traffic = "cbr"}'
MY_GRAPH = (
    '{kind = "graph", nodes = ["a", {id = "m", kind = "my-node"}, "b"], links = ['
    '{id = "am", from = "a", to = "m", rate = "10 Mbit/s"}, {id = "mb", from = "m", to = "b"}]}'
)
MY_AIR = '{id = "air", kind = "my-medium"}'
MY_SHARED = '{kind = "graph", links = [{id = "ab", from = "a", to = "b", medium = "air"}]}'
A_TO_B = '{cca = "reno", from = "a", to = "b", rtt = "10 ms"}'


def run(*command: str, **variables: str) -> str:
    """A command in the copy; what it printed."""
    here = {"PYTHONPATH": str(COPY / "python"), "CARGO_TARGET_DIR": str(TARGET)}
    environment = os.environ | here | {"PYO3_PYTHON": sys.executable} | variables
    done = subprocess.run(
        command, cwd=COPY, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


def cargo(*arguments: str, **variables: str) -> str:
    return run("cargo", *arguments, **variables)


def sojourn(*arguments: str) -> str:
    return run(sys.executable, "-m", "sojourn", *arguments)


def sources() -> list[str]:
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


@pytest.fixture(scope="module", autouse=True)
def copy() -> Iterator[None]:
    """The checkout, with the extension that is built and the times of its files."""
    shutil.rmtree(COPY, ignore_errors=True)
    for name in sources():
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, COPY / name, follow_symlinks=False)
    shutil.copy2(Path(_internal.__file__), COPY / "python/sojourn" / EXTENSION)
    yield
    shutil.rmtree(COPY)


def take_compiled() -> None:
    """What the checkout has compiled of other people's crates, which nothing here changes."""
    compiled = ROOT / "target" / "debug"
    compiled.mkdir(parents=True, exist_ok=True)
    with (compiled / ".cargo-lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as Cargo does that compiles there
        _take(compiled)


def _take(compiled: Path) -> None:
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    theirs = {package["name"] for package in locked if "source" in package}
    for fingerprint in (compiled / ".fingerprint").glob("*-*"):
        name, _, digest = fingerprint.name.rpartition("-")
        if name not in theirs:
            continue
        there = TARGET / "debug"
        shutil.copytree(fingerprint, there / ".fingerprint" / fingerprint.name)
        if (built := compiled / "build" / fingerprint.name).exists():
            shutil.copytree(built, there / "build" / fingerprint.name)
        (there / "deps").mkdir(exist_ok=True)
        for file in (compiled / "deps").glob(f"*-{digest}*"):
            shutil.copy2(file, there / "deps")


def contents() -> dict[str, bytes]:
    files = (COPY / name for name in sorted(set(sources()) | set(written())))
    return {str(p.relative_to(COPY)): p.read_bytes() for p in files if p.is_file()}


def written() -> list[str]:
    """Files of the copy that the checkout does not have."""
    found = (p.relative_to(COPY) for p in COPY.rglob("*") if p.is_file() and not p.is_symlink())
    kept = (p for p in found if "__pycache__" not in p.parts and p.name != EXTENSION)
    return [str(path) for path in kept]


def promised(kind: str) -> set[str]:
    """The files that the table of ARCHITECTURE.md names for a kind."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if f"`sojourn new {kind}`" in line]
    assert len(rows) == 1, f"ARCHITECTURE.md has {len(rows)} rows of {kind}"
    named = re.findall(r"`([\w./-]*/[\w./-]+)`", rows[0])
    return {resolved(re.sub("NAME|FAMILY", f"my_{kind}", path)) for path in named}


def resolved(path: str) -> str:
    """A path from the top of the checkout."""
    parents = (base + path for base in BASES if (ROOT / base / path).parent.is_dir())
    return next(parents)


# In the order of the file: everything is scaffolded before anything is built.
@pytest.mark.parametrize("kind", KINDS)
def test_exactly_the_files_change_that_the_guide_names(kind: str) -> None:
    before = contents()
    sojourn("new", kind, f"my-{kind}")
    after = contents()
    changed = {path for path, text in after.items() if before.get(path) != text}
    if kind == "scenario":
        assert changed == {"my-scenario.toml"}
    elif kind == "reproduction":
        assert {path.partition("/")[0] for path in changed} == {"my-reproduction"}
    else:
        assert {path.replace("my-", "my_") for path in changed} == promised(kind)


def test_the_guide_has_a_row_for_every_kind() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for kind in KINDS:
        assert f"sojourn new {kind} " in text, kind


def test_what_was_scaffolded_builds() -> None:
    take_compiled()
    for name in PARTS.keys() - {checkout.LOCK}:
        with (COPY / "crates" / name / "src" / "lib.rs").open("a") as file:
            file.write("// Changed.\n")
    cargo("build", "-q", *MODULE)
    library = next((TARGET / "debug").glob("lib_internal.*[!d]"))
    shutil.copy2(library, COPY / "python/sojourn" / EXTENSION)
    listed = "".join(sojourn("list", kind) for kind in CORE_KINDS)
    kinds = ("cca", "queue", "traffic", "topology", "transport", "node", "medium")
    assert all(f"my-{kind}" in listed for kind in kinds)


def test_the_build_names_each_crate_that_changed() -> None:
    code = "from sojourn import _internal, checkout; import json; "
    code += "print(json.dumps([_internal.engine_parts(), checkout.is_stale()]))"
    parts, stale = json.loads(run(sys.executable, "-c", code))
    assert not stale
    assert {name for name, part in parts if part != PARTS[name]} == PARTS.keys() - {checkout.LOCK}
    assert _internal.engine_build().rpartition("-")[2] not in sojourn("--version")


def test_what_was_scaffolded_conforms() -> None:
    suite = ("test", "-q", *MODULE, "-p", "sojourn-catalogue", "--test", "all", "--")
    cargo(*suite, "scenario_docs", BLESS="1")
    printed = cargo(*suite, "conformance::", "scenario_docs", "random_scenarios", CCA="my-cca")
    assert "0 failed" in printed


@pytest.mark.parametrize(
    "arguments",
    [
        ("my-scenario.toml", "--set", "duration=6 s"),
        ("my-scenario.toml", "--set", "flows.0.cca=my-cca"),
        ("my-scenario.toml", "--set", "topology.bottleneck.queue=my-queue"),
        ("my-scenario.toml", "--set", "flows.0.traffic=my-traffic"),
        ("my-scenario.toml", "--set", "flows=[" + MY_FLOW + "]"),
        ("my-scenario.toml", "--set", "topology=" + MY_GRAPH, "--set", "flows=[" + A_TO_B + "]"),
        (
            *("my-scenario.toml", "--set", f"media=[{MY_AIR}]", "--set", "topology=" + MY_SHARED),
            *("--set", "flows=[" + A_TO_B + "]"),
        ),
        ("experiments/catalogue/my-topology.toml",),
        ("my-scenario.toml", "--metrics", "my_metric_l4"),
    ],
    ids=lambda arguments: arguments[-1],
)
def test_what_was_scaffolded_runs(arguments: tuple[str, ...], tmp_path: Path) -> None:
    options = ("--no-figures", "--format", "json", "--out", str(tmp_path / "run"))
    printed = sojourn("run", *arguments, *options)
    assert '"mean_throughput_l4": 0.0' not in printed


@pytest.mark.parametrize("kind", ["cca", "queue", "topology"])
def test_what_was_scaffolded_has_a_page(kind: str) -> None:
    run(sys.executable, "-m", "tools.pages", f"my-{kind}")
    pages = {"cca": "ccas/my-cca.md", "queue": "queues/my-queue.md", "topology": "topologies.md"}
    text = (COPY / "docs/reference" / pages[kind]).read_text(encoding="utf-8")
    figure = re.search(rf"!\[my-{kind} at work\]\((.*?)\)", text)
    assert figure
    assert ((COPY / "docs/reference" / pages[kind]).parent / figure[1]).stat().st_size > 5_000

"""Programs with members of their own are the command line with these: ``make test-guides``, because
it builds them.

They are crates outside the checkout, as ``sojourn new`` writes them; the example is the same
program with its own law. Their builds share the checkout's target directory, and what is compiled
there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT
from sojourn import _internal
from sojourn.scaffold import new
from test_library import HARD, build

TARGET = ROOT / "target"
EXAMPLES = ROOT / "examples"
EXAMPLE = EXAMPLES / "own-control"
SCENARIO = EXAMPLE / "scenario.toml"
PAGE = (ROOT / "docs/howto" / "own-control.md").read_text(encoding="utf-8")


def here(tmp_path: Path) -> dict[str, str]:
    """The environment in which ``sojourn`` is that of the tests."""
    script = tmp_path / "bin" / "sojourn"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sojourn "$@"\n')
    script.chmod(0o755)
    path = f"{script.parent}:{os.environ['PATH']}"
    return os.environ | {"PATH": path, "PYTHONPATH": str(ROOT / "python")}


def shares_target(crate: Path) -> None:
    crate.mkdir(exist_ok=True)
    (crate / "target").symlink_to(TARGET)


def test_the_commands_of_the_page_work(tmp_path: Path) -> None:
    rust = PAGE[PAGE.index("\n## In Rust\n") :]
    commands = re.search(r"```sh\n(.*?)```", rust, re.S)
    assert commands
    shares_target(tmp_path / "my-rust")
    run = subprocess.run(
        ["sh", "-ec", commands[1]],
        cwd=tmp_path,
        env=here(tmp_path),
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    report = tmp_path / "my-rust" / "results" / "my-rust" / "report.html"
    assert all(name in report.read_text() for name in ("my-rust", "cubic", "bbr"))
    assert "1 passed" in run.stdout


def told(program: Path, *arguments: str | Path, cwd: Path) -> str:
    path = {"PYTHONPATH": str(ROOT / "python")}
    command = [program, *arguments]
    run = subprocess.run(
        command, cwd=cwd, env=os.environ | path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def code(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
    return [line for line in text.splitlines() if line and not line.startswith("//")]


@pytest.fixture(scope="module")
def crate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's law in a crate of its own."""
    place = tmp_path_factory.mktemp("crates")
    new("cca", "aimd", "rust", ROOT, place)
    shutil.copy(EXAMPLE / "src" / "aimd.rs", place / "aimd" / "src")
    shares_target(place / "aimd")
    return place / "aimd"


@pytest.fixture(scope="module")
def program(crate: Path) -> Path:
    subprocess.run(["cargo", "build", "--quiet"], cwd=crate, check=True)
    return crate / "target" / "debug" / "aimd"


def test_it_is_the_example(crate: Path) -> None:
    assert code(crate / "src" / "main.rs") == code(EXAMPLE / "src" / "main.rs")
    assert code(crate / "build.rs") == code(EXAMPLE / "build.rs")
    manifests = [tomllib.loads((d / "Cargo.toml").read_text()) for d in (crate, EXAMPLE)]
    for kind in ("dependencies", "build-dependencies"):
        assert manifests[0][kind].keys() == manifests[1][kind].keys()


def test_main_has_ten_lines() -> None:
    assert len(code(EXAMPLE / "src" / "main.rs")) <= 10


def test_it_lists_its_control_and_has_a_build_of_its_own(program: Path, tmp_path: Path) -> None:
    listed = json.loads(told(program, "list", "ccas", "--format", "json", cwd=tmp_path))["ccas"]
    assert {"reno", "aimd"} <= {control["name"] for control in listed}
    version = told(program, "--version", cwd=tmp_path)
    assert version.startswith("sojourn ")
    assert _internal.engine_build().rpartition("-")[2] not in version


def test_it_runs_its_control_beside_ours(program: Path, tmp_path: Path) -> None:
    printed = told(program, "run", SCENARIO, "--no-figures", "--format", "json", cwd=tmp_path)
    flows = json.loads(printed)["flows"]
    assert [flow["cca"] for flow in flows] == ["aimd", "reno"]
    # 1448 of 1514 bytes are payload.
    assert 18 < sum(flow["metrics"]["mean_throughput_l4"] for flow in flows) < 19.2


def test_it_sweeps_with_controls_from_outside_as_well(program: Path, tmp_path: Path) -> None:
    python = EXAMPLES / "own-control-python" / "aimd.py"
    text = SCENARIO.read_text(encoding="utf-8").replace("30 s", "4 s").replace("5 s", "1 s")
    text = text.replace('"reno"', f'{{ kind = "python", path = "{python}", class = "Aimd" }}')
    grid = '[sweep.grid]\n"flows.0.cca" = ["aimd", "cubic"]\n'
    (tmp_path / "grid.toml").write_text(f"{text}\n{grid}")
    told(program, "sweep", "grid.toml", "--out", "out", cwd=tmp_path)
    rows = pl.read_csv(tmp_path / "out" / "summary.csv")
    assert set(rows["flows.0.cca"]) == {"aimd", "cubic"}


def test_its_control_goes_through_the_suite(program: Path, tmp_path: Path) -> None:
    table = pl.read_csv(
        told(program, "conformance", "aimd", "--format", "csv", cwd=tmp_path).encode()
    )
    assert table["verdict"].to_list() == ["holds"] * 13


def test_the_same_law_makes_the_same_run_in_four_languages(program: Path, tmp_path: Path) -> None:
    c = build(EXAMPLES / "own-control-c" / "aimd.c", tmp_path / "c.so")
    cpp = build(EXAMPLES / "own-control-cpp" / "aimd.cpp", tmp_path / "cpp.so")
    python = EXAMPLES / "own-control-python" / "aimd.py"
    controls = {
        "rust": '"aimd"',
        "python": f'{{ kind = "python", path = "{python}", class = "Aimd" }}',
        "c": f'{{ kind = "library", path = "{c}" }}',
        "cpp": f'{{ kind = "library", path = "{cpp}" }}',
    }
    runs = {}
    for language, control in controls.items():
        (tmp_path / f"{language}.toml").write_text(HARD.replace("CONTROL", control))
        options = ("--no-figures", "--out", language)
        told(program, "run", f"{language}.toml", *options, cwd=tmp_path)
        tables = ("flow_samples", "flows", "link_samples", "links")
        runs[language] = [pl.read_parquet(tmp_path / language / f"{t}.parquet") for t in tables]
    assert runs["rust"][0]["rtos"].sum() > 0
    for language, found in runs.items():
        same = [a.equals(b) for a, b in zip(runs["rust"], found, strict=True)]
        assert all(same), language

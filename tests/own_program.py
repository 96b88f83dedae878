"""Programs with members of their own are the command line with these: ``make test-guides``, because
it builds them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT
from sojourn import _internal
from sojourn.scaffold import new
from test_library import HARD, build

TARGET = ROOT / "target" / "programs"
EXAMPLES = ROOT / "examples"
SCENARIO = EXAMPLES / "own-control" / "scenario.toml"
#: Quicker to build, the same results.
QUICKLY = {"CARGO_PROFILE_RELEASE_LTO": "off", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "16"}


def cargo(*arguments: str, cwd: Path) -> None:
    own = {"CARGO_TARGET_DIR": str(TARGET), "PYO3_PYTHON": sys.executable}
    command = ["cargo", *arguments, "--quiet", "--release"]
    subprocess.run(command, cwd=cwd, env=os.environ | QUICKLY | own, check=True)


def told(program: Path, *arguments: str | Path, cwd: Path) -> str:
    path = {"PYTHONPATH": str(ROOT / "python")}
    command = [program, *arguments]
    run = subprocess.run(
        command, cwd=cwd, env=os.environ | path, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def program() -> Path:
    cargo("build", "-p", "own-control", cwd=ROOT)
    return TARGET / "release" / "own-control"


def test_main_has_ten_lines() -> None:
    text = (EXAMPLES / "own-control" / "src" / "main.rs").read_text(encoding="utf-8")
    code = text[: text.index("#[cfg(test)]")].splitlines()
    assert len([line for line in code if line and not line.startswith("//")]) <= 10


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
    assert table["verdict"].to_list() == ["holds"] * 12


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


def test_a_crate_of_ones_own_is_written_built_and_run(tmp_path: Path) -> None:
    made = new("cca", "my-control", "rust", ROOT, tmp_path)
    crate = tmp_path / "my-control"
    assert {path.relative_to(crate).parts[0] for path in made.written} >= {"Cargo.toml", "src"}
    cargo("build", cwd=crate)
    program = TARGET / "release" / "my-control"
    options = ("--set", "duration=4 s", "--no-figures", "--format", "json")
    flows = json.loads(told(program, "run", "my-control.toml", *options, cwd=crate))["flows"]
    assert [flow["cca"] for flow in flows] == ["my-control", "cubic", "bbr"]

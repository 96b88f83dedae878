"""A program with the core's members alone: ``make test-core-alone``, because it builds one.

A target of its own: a build of the whole workspace would give it the wings, because Cargo puts
features together.
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
from sojourn import _internal, data

PROGRAM = ROOT / "target" / "debug" / "core-alone"
EXPERIMENT = data.path("experiments/ccperf/cubic-friendliness.toml")
WINGS = {"sojourn-gnat", "sojourn-sliq", "sojourn-wifi"}
THEIRS = {"overlay", "linkem", "sliq", "wifi"}


def output(*command: str | Path, cwd: Path = ROOT) -> str:
    variables = {"PYTHONPATH": str(ROOT / "python"), "PYO3_PYTHON": sys.executable}
    environment = os.environ | variables
    run = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module", autouse=True)
def program() -> None:
    output("cargo", "build", "--quiet", "-p", "core-alone")


def listed(*command: str | Path, cwd: Path) -> set[str]:
    kinds = json.loads(output(*command, "list", "--format", "json", cwd=cwd))
    return {member["name"] for members in kinds.values() for member in members}


def test_no_wing_is_compiled() -> None:
    tree = output("cargo", "tree", "-p", "core-alone", "--edges", "normal", "--prefix", "none")
    crates = {line.split()[0] for line in tree.splitlines() if line}
    assert {"sojourn-sim", "sojourn-live"} <= crates
    assert not crates & WINGS


def test_it_has_everything_but_what_the_wings_bring(tmp_path: Path) -> None:
    whole = listed(sys.executable, "-m", "sojourn", cwd=tmp_path)
    assert whole - listed(PROGRAM, cwd=tmp_path) == THEIRS


def test_ccperfs_file_has_the_same_numbers(tmp_path: Path) -> None:
    options = ("--no-figures", "--format", "json")
    runs = [
        json.loads(output(*command, "run", EXPERIMENT, *options, "--out", out, cwd=tmp_path))
        for out, command in [("core", [PROGRAM]), ("whole", [sys.executable, "-m", "sojourn"])]
    ]
    assert runs[0]["flows"] == runs[1]["flows"]
    output(PROGRAM, "sweep", EXPERIMENT, "--out", "sweep", cwd=tmp_path)
    assert pl.read_csv(tmp_path / "sweep" / "summary.csv")["n"].max() == 20


def test_the_members_conform(tmp_path: Path) -> None:
    printed = output(PROGRAM, "conformance", "--format", "csv", cwd=tmp_path)
    table = pl.read_csv(printed.encode())
    assert set(table["verdict"]) <= {"holds", "exception"}, printed
    assert not set(table["name"]) & THEIRS


def test_its_build_is_its_own(tmp_path: Path) -> None:
    version = output(PROGRAM, "--version", cwd=tmp_path)
    assert version.startswith("sojourn ")
    assert _internal.engine_build().rpartition("-")[2] not in version

"""Commands on disks that fail: every call of the system that may, in turn."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FAULTS = Path(__file__).with_name("faults")
#: Without figures, whose library takes long to import.
QUICK = ("run", "again", "sweep", "grow", "reproduce", "export")


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that fails."""
    library = tmp_path_factory.mktemp("faults") / "disk.so"
    build = ["gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", FAULTS / "disk.c", "-ldl"]
    subprocess.run([*build, "-o", library], check=True)
    return library


def attempts(disk: Path, step: int, *names: str) -> str:
    """What went wrong."""
    command = [sys.executable, FAULTS / "commands.py", str(step), *names]
    preloaded = {**os.environ, "LD_PRELOAD": str(disk)}
    done = subprocess.run(command, env=preloaded, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("calls") == len(names)
    return done.stdout


@pytest.mark.needs("compiler")
def test_some_failing_calls_cost_no_results(disk: Path) -> None:
    assert attempts(disk, 43, *QUICK) == ""


@pytest.mark.needs("compiler")
def test_drawn_faults_cost_no_results(disk: Path) -> None:
    preloaded = {**os.environ, "LD_PRELOAD": str(disk)}
    command = [sys.executable, FAULTS / "simulator.py", "0", "50"]
    done = subprocess.run(command, env=preloaded, capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert "50 seeds from 0, 0 failed" in done.stderr


@pytest.mark.long
@pytest.mark.needs("compiler")
@pytest.mark.parametrize("name", [*QUICK, "plot"])
def test_no_failing_call_costs_results(disk: Path, name: str) -> None:
    assert attempts(disk, 1, name) == ""

"""Tests are skipped for what the machine lacks, aloud, and for nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import capabilities
from conftest import ROOT

TESTS = """
import pytest

@pytest.mark.needs("iperf3")
def test_iperf3():
    raise AssertionError

def test_nothing():
    pass
"""


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """A file of tests where no program is found."""
    (folder / "test_inner.py").write_text(text)
    ours = {"PATH": "/nowhere", "PYTHONPATH": f"{ROOT / 'tests'}:{os.environ.get('PYTHONPATH')}"}
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", folder]
    return subprocess.run(
        command, cwd=folder, env=os.environ | ours, capture_output=True, text=True, check=False
    )


def test_what_is_lacking_is_named_at_the_end(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS)
    assert "1 passed, 1 skipped" in done.stdout, done.stdout + done.stderr
    told = "skipped: test_inner.py::test_iperf3: needs iperf3: no iperf3 (Debian: iperf3)"
    assert told in done.stdout.splitlines()


def test_what_is_there_is_never_skipped(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS.replace("iperf3", "linux"))
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr


def test_an_unknown_capability_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS.replace("iperf3", "iperf"))
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "test_iperf needs iperf; allowed: linux, live, " in done.stdout + done.stderr


def test_no_test_skips_itself() -> None:
    own = re.compile(r"pytest\.(skip|importorskip|mark\.skip)|unittest\.skip")
    files = {path: path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py")}
    found = [path.name for path, text in files.items() if own.search(text)]
    assert found == ["conftest.py"]


def test_what_the_tests_in_rust_ask_for_is_probed() -> None:
    pattern = re.compile(r'needs\("([\w-]+)"')
    files = [path.read_text(encoding="utf-8") for path in ROOT.glob("crates/*/tests/**/*.rs")]
    asked = {name for text in files for name in pattern.findall(text)}
    assert asked <= capabilities.CAPABILITIES.keys()
    assert "live" in asked

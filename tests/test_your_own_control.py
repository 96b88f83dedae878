"""The page on controls of one's own: every command of it works, in its order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

PAGE = (ROOT / "docs/howto" / "own-control.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which ``sojourn`` and ``python`` are those of the tests."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name, command in (("sojourn", "-m sojourn"), ("python", "")):
        script = bin_ / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command} "$@"\n')
        script.chmod(0o755)
    return os.environ | {"PATH": f"{bin_}:{os.environ['PATH']}"}


@pytest.mark.long
def test_every_command_of_the_page_works(tmp_path: Path, environment: dict[str, str]) -> None:
    assert len(COMMANDS) == 7
    for commands in COMMANDS:
        run = subprocess.run(
            ["sh", "-ec", commands],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, f"{commands}{run.stdout}{run.stderr}"
    report = (tmp_path / "results/my-control/report.html").read_text(encoding="utf-8")
    assert all(name in report for name in ("MyControl", "cubic", "bbr"))
    assert (tmp_path / "results/recorded/state.parquet").exists()
    assert (tmp_path / "results/grid/summary.csv").exists()

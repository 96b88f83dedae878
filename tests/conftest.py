"""Scenarios and the command line for the tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TWO_FLOWS = """
name = "two-flows"
duration = "3 s"

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "8 Mbit/s"
queue = { kind = "fifo", limit = "20 packets" }

[[flows]]
cca = "reno"
rtt = "20 ms"

[[flows]]
cca = "cubic"
rtt = "20 ms"
"""
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def scenario_file(tmp_path: Path) -> Path:
    """A small scenario of two flows."""
    path = tmp_path / "two-flows.toml"
    path.write_text(TWO_FLOWS)
    return path


@pytest.fixture
def sojourn(tmp_path: Path) -> Command:
    """The command line as a user types it, in an empty directory."""

    def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sojourn", *map(str, arguments)]
        options = {"cwd": tmp_path, "timeout": 120} | options
        return subprocess.run(command, capture_output=True, text=True, check=False, **options)

    return run

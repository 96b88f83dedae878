"""Commands with the backend of `fake_backend.py`, and a sweep for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from conftest import ROOT, TWO_FLOWS

SWEEP = (
    TWO_FLOWS.replace('"3 s"', '"1 s"')
    + """
[sweep]
replications = 2

[sweep.grid]
"topology.bottleneck.rate" = ["2 Mbit/s", "4 Mbit/s"]
"""
)
RUNS = 4


def line(*arguments: object) -> list[str]:
    """The command line with the fake backend beside the others."""
    return [sys.executable, str(ROOT / "tests" / "fake_backend.py"), *map(str, arguments)]


def command(file: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command with the fake backend, in the file's directory."""
    done = line(*arguments)
    return subprocess.run(done, cwd=file.parent, capture_output=True, text=True, check=False)


def made(notes: Path) -> int:
    return notes.read_text().count("ends") if notes.exists() else 0

"""The script that completes commands, in a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Command

#: What the tab key does.
TAB = """
eval "$(sojourn completion bash)"
COMP_WORDS=({line}) COMP_CWORD={word}
compopt() {{ echo "compopt $*"; }}
_sojourn_completion sojourn
echo "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which ``sojourn`` is that of the tests."""
    script = tmp_path / "sojourn"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sojourn "$@"\n')
    script.chmod(0o755)
    return os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("sojourn re", "reproduce report"),
        ("sojourn list to", "topologies"),
        ("sojourn run --see", "--seed --seeds"),
        ("sojourn run two-fl", "compopt -o default"),
        ("sojourn report resu", "compopt -o dirnames"),
    ],
)
def test_bash_completes(environment: dict[str, str], line: str, completed: str) -> None:
    script = TAB.format(line=line, word=line.count(" "))
    command = ["bash", "-c", script]
    told = subprocess.check_output(command, env=environment, text=True, stderr=subprocess.STDOUT)
    assert told.split() == completed.split()


def test_other_shells_get_theirs(called: Command) -> None:
    assert called("completion", "zsh").stdout.startswith("#compdef sojourn\n")
    assert "complete --no-files --command sojourn" in called("completion", "fish").stdout
    refused = called("completion", "basch")
    assert refused.returncode == 2
    assert "unknown shell 'basch'; did you mean 'bash'?" in refused.stderr

"""What docs/howto/compare.md lists, and the workflow of gate.md, by the shell that runs it there.
The commands of these pages are run by `test_docs_commands.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import docs_commands as docs
from conftest import ROOT
from sojourn.evaluation.compare import Row
from sojourn.evaluation.families import KEY
from sojourn.metrics import metrics

GUIDE = (ROOT / "docs/howto" / "compare.md").read_text(encoding="utf-8")
WORKFLOW = (ROOT / "docs/howto" / "gate.yml").read_text(encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "suite").mkdir()
    for block in docs.page("docs/howto/gate.md").blocks:
        if block.mark == "file":
            (tmp_path / block.said).write_text(block.text, encoding="utf-8")
    return tmp_path


def test_the_guide_lists_the_columns() -> None:
    listed = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", GUIDE, re.MULTILINE)))
    assert set(Row.__annotations__) <= set(listed)


def test_the_guide_lists_the_key_metrics_and_why_each_is_one() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.+) \|$", GUIDE, re.MULTILINE)
    assert [((scope, name), why) for name, scope, why in rows] == list(KEY.items())
    assert set(KEY) <= {(metric.scope, metric.name) for metric in metrics()}


def test_the_workflow(files: Path) -> None:
    """Its steps that call the command, by the shell that runs them there."""
    steps = re.findall(r"- run: (\|\n(?: {10}.*\n)+|.*\n)", WORKFLOW)
    ours = [step.removeprefix("|\n") for step in steps if "sojourn" in step]
    assert len(ours) == 3
    shell = (
        f'sojourn() {{ "{sys.executable}" -m sojourn "$@"; }}\n'
        f"RUNNER_TEMP={files / 'temp'}\nset -e\n"
    )
    done = subprocess.run(
        ["bash", "-c", shell + "\n".join(ours)],
        cwd=files,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (files / "gate" / "gate.md").read_text().startswith("# PASS")

"""The commands of docs/howto/compare.md and of its workflow, as a reader types them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Command
from sojourn.evaluation.families import KEY
from sojourn.metrics import metrics

GUIDE = (ROOT / "docs/howto" / "compare.md").read_text(encoding="utf-8")
WORKFLOW = (ROOT / "docs/howto" / "gate.yml").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    scenario, margins = blocks("toml")
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "cubic.toml").write_text(scenario)
    (tmp_path / "margins.toml").write_text(margins)
    return tmp_path


@pytest.mark.long
def test_the_guide(sojourn: Command, files: Path) -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) > 6
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "sojourn"
        done = sojourn(*arguments)
        assert done.returncode == 0, (command, done.stderr)
    assert (files / "results" / "gentler" / "figures" / "forest.svg").exists()
    assert (files / "gate" / "gate.xml").exists()
    header = (files / "results" / "gentler" / "comparison.csv").read_text().splitlines()[0]
    columns = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", GUIDE, re.MULTILINE)))
    assert set(header.split(",")) <= set(columns)


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

"""The commands of docs/howto/any-program.md, as a reader types them, and what they print."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from sojourn.scenario import load

GUIDE = (ROOT / "docs/howto/any-program.md").read_text(encoding="utf-8")
FILES = ROOT / "examples" / "programs"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SECTIONS = dict(re.findall(r"^##? (.+?)\n(.*?)(?=^##? |\Z)", GUIDE, re.DOTALL | re.MULTILINE))
STORIES = [title for title in SECTIONS if title.endswith("?")]


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """The examples, with a Python that has aioquic where the page has one made."""
    files = tmp_path / "programs"
    shutil.copytree(FILES, files)
    python = files / "quic" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return files


def type_all(title: str, there: Path) -> None:
    """Types the commands of a section; what it shows of their output has to be in that."""
    shell = f'sojourn() {{ "{sys.executable}" -m sojourn "$@"; }}\n'
    printed = ""
    for kind, text in BLOCK.findall(SECTIONS[title]):
        for command in text.splitlines() if kind == "sh" else ():
            done = subprocess.run(
                ["bash", "-c", shell + command],
                cwd=there,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=1_200,
            )
            assert done.returncode == 0, (command, done.stdout)
            printed = done.stdout
        at = 0
        for line in text.splitlines() if kind == "text" else ():
            shown = re.escape(line).replace(re.escape("0123..."), "[0-9a-f]{32}")
            found = re.compile(shown).search(printed, at)
            assert found, (line, printed)
            at = found.start()


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel", "curl")
def test_the_first_command(there: Path) -> None:
    type_all("Any program, in virtual time", there)
    assert not (there / "page").exists()  # it is with the results


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
@pytest.mark.parametrize("title", STORIES[1:3])
def test_the_stories_of_python(title: str, there: Path) -> None:
    type_all(title, there)


@pytest.mark.concurrent
@pytest.mark.long
@pytest.mark.needs("virtual-kernel", "aioquic", "openssl", "iperf3")
@pytest.mark.parametrize("title", [STORIES[0], STORIES[3]])
def test_the_long_stories(title: str, there: Path) -> None:
    type_all(title, there)


def test_the_page_has_four_stories_and_names_its_files() -> None:
    assert len(STORIES) == 4
    named = set(re.findall(r"[\w-]+\.(?:toml|py)\b", GUIDE))
    assert {path.name for path in FILES.iterdir()} == named


@pytest.mark.parametrize("path", sorted(FILES.glob("*.toml")), ids=lambda path: path.stem)
def test_an_example_is_a_scenario(path: Path) -> None:
    load(path)

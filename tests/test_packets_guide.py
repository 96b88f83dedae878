"""The commands of docs/howto/packets.md, as a reader types them, and what they print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

GUIDE = (ROOT / "docs/howto" / "packets.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def spaced(text: str) -> str:
    """The same whatever blanks it is laid out with."""
    return " ".join(text.split())


@pytest.mark.needs("tshark")
def test_the_guide(tmp_path: Path) -> None:
    shell = f'sojourn() {{ "{sys.executable}" -m sojourn "$@"; }}\nset -e\n'
    printed, shown = "", 0
    for kind, text in BLOCK.findall(GUIDE):
        if kind == "toml":
            (tmp_path / "shallow.toml").write_text(text)
        elif kind == "sh":
            done = subprocess.run(
                ["bash", "-c", shell + text],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == 0, (text, done.stderr)
            printed = spaced(done.stdout)
        else:
            at = 0
            for line in text.splitlines():
                at = printed.find(spaced(line), at)
                assert at >= 0, (line, printed)
                shown += 1
    assert shown > 20

"""What `.ci/run` promises, with a ``make`` that only says what it was asked for."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from conftest import ROOT

MAKE = """#!/bin/sh
echo "made $*"
case "$*" in *"$FAILS"*) exit 2 ;; esac
case "$*" in *" test") printf "$TOLD" ;; esac
"""
SKIPPED = (
    "skipped: tests/test_a.py::test_b[x y]: needs site: no chromium\n",
    "skipped: sojourn-live a_test: needs live: not permitted\n",
)


def run(place: Path, fails: str, told: str) -> tuple[int, str]:
    """Its status and what it prints, where no package can be had."""
    for name, text in {"make": MAKE, "apt-get": "#!/bin/sh\nexit 1\n"}.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    given = {"PATH": f"{place}:{os.environ['PATH']}", "FAILS": fails, "TOLD": told}
    done = subprocess.run(
        [ROOT / ".ci" / "run"],
        env=os.environ | given,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("fails", ["nothing", "setup", "check"])
def test_all_targets_are_made_and_timed_whatever_fails(tmp_path: Path, fails: str) -> None:
    status, told = run(tmp_path, fails, "")
    targets = ["test-site test-guides test-wheel check test-core-alone bench-instructions", "test"]
    made = r"made --keep-going (?:--jobs 3 --output-sync=target )?([a-z -]+)\n"
    assert re.findall(made, told)[-len(targets) :] == targets
    seconds = re.findall(r"^ +\d+ s  (.*)$", told, flags=re.MULTILINE)
    assert seconds == ["build", *targets, "in all"]
    *_, skipped, last = told.splitlines()
    assert skipped == "no test was skipped"
    assert (status, last) == (
        (1, f"failed: {targets[0]}") if fails == "check" else (0, "all passed")
    )


def test_what_was_skipped_is_named_once_at_the_end(tmp_path: Path) -> None:
    """Also where a line begins with what another runner has left there."""
    first, second = SKIPPED
    status, told = run(tmp_path, "nothing", f"{first}test a_test ... {second}ok\n{first}")
    assert status == 0
    assert sorted(told.splitlines(keepends=True)[-3:-1]) == sorted(SKIPPED)

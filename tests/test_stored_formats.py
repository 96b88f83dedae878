"""Results that an earlier version has stored open in this one (`tests/stored/`, a directory for
each format): who changes the format adds one of the format before, and a step to the next.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import sojourn
from sojourn.store import manifest

STORED = Path(__file__).with_name("stored")
FORMATS = sorted(path.name for path in STORED.iterdir())


def test_every_format_that_is_read_is_kept() -> None:
    assert f"format-{manifest.FORMAT}" in FORMATS
    assert set(manifest.MIGRATIONS) == set(range(1, manifest.FORMAT))


@pytest.mark.parametrize("kept", FORMATS)
def test_what_was_stored_opens(kept: str, tmp_path: Path) -> None:
    shutil.copytree(STORED / kept, tmp_path / "kept")
    run = sojourn.open(tmp_path / "kept/run")
    assert isinstance(run, sojourn.Result)
    assert run.scenario.canonical["name"] == "kept"
    assert run.flows["mean_throughput_l4"].to_list() == [pytest.approx(6.197, abs=0.01)]
    sweep = sojourn.open(tmp_path / "kept/sweep")
    assert isinstance(sweep, sojourn.Sweep)
    assert sorted(sweep.summary["topology.bottleneck.rate"].unique()) == ["4 Mbit/s", "8 Mbit/s"]
    for name in ("run", "sweep"):
        told = json.loads((tmp_path / "kept" / name / manifest.FILE).read_text())
        assert told["format"] == manifest.FORMAT

"""Packet-delivery traces named in scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn import ScenarioError
from sojourn.scenario import load

SCENARIO = """
duration = "1 s"

[topology]
kind = "dumbbell"
bottleneck = { trace = { file = "cellular.down" }, queue = "fifo" }

[[flows]]
cca = "reno"
rtt = "20 ms"
"""


def _write(directory: Path, trace: str) -> Path:
    (directory / "cellular.down").write_text(trace, encoding="ascii")
    path = directory / "scenario.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def test_a_trace_is_read_beside_the_scenario_and_belongs_to_it(tmp_path: Path) -> None:
    canonical = load(_write(tmp_path, "1\n3\n3\n8\n")).canonical
    link = canonical["topology"]["bottleneck"]
    assert link["trace"] == {"opportunities": [1, 3, 3, 8]}
    # Four packets of 1514 bytes in 8 ms.
    assert link["rate"] == f"{4 * 1514 * 8 * 1000 // 8 // 1000} kbit/s"
    assert load(canonical).canonical == canonical


def test_a_trace_given_on_the_command_line_is_read_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path, "5\n")
    (tmp_path / "other").write_text("7\n9\n", encoding="ascii")
    monkeypatch.chdir(tmp_path)
    scenario = load(path, ['topology.bottleneck.trace={ file = "other" }'])
    trace = scenario.canonical["topology"]["bottleneck"]["trace"]
    assert trace["opportunities"] == [7, 9]


def test_what_is_no_trace_is_refused_by_name(tmp_path: Path) -> None:
    field = r"topology\.bottleneck\.trace"
    with pytest.raises(ScenarioError, match=rf"{field}\.file: .*entry 2: 'x' is not a time"):
        load(_write(tmp_path, "1\nx\n"))
    with pytest.raises(
        ScenarioError, match=rf"{field}\.file: .*entry 1: '9{{200}}'\.\.\. \(5,000 "
    ):
        load(_write(tmp_path, "9" * 5_000))  # more digits than Python reads
    with pytest.raises(ScenarioError, match=rf"{field}\.opportunities: 2 ms given after 3 ms"):
        load(_write(tmp_path, "3\n2\n"))
    path = _write(tmp_path, "1\n")
    (tmp_path / "cellular.down").unlink()
    with pytest.raises(ScenarioError, match=rf"{field}\.file: .*cannot be read"):
        load(path)

"""Ablations of reproductions: choices of a set-up that are taken back, beside what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from sojourn import ScenarioError
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Request
from tools import ablations
from tools.pages.reproduction import home, written

ABLATED = [name for name in written() if (home(name) / ablations.FILE).exists()]
ONE = """
[[ablations]]
name = "short"
what = "runs of 20 s"
set = ['duration="20 s"']
tables = ["text-dctcp"]
"""


@pytest.mark.parametrize("name", ABLATED)
def test_each_ablation_changes_the_runs_of_each_of_its_tables(name: str) -> None:
    chosen = paper(name)
    for ablation in ablations.read(chosen, home(name)):
        for table in ablation.tables:
            usual = next(iter(chosen.cells(Request((table,)))))
            other = next(iter(chosen.cells(Request((table,), overrides=ablation.set))))
            assert usual.keys == other.keys
            assert not {*usual.replications} & {*other.replications}, (ablation.name, table)


def test_an_ablation_stands_beside_what_is_printed_and_is_run_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ablations.FILE).write_text(ONE, encoding="utf-8")
    found = ablations.read(paper("sce2019"), tmp_path)
    told = []
    for begin in ("0/1", "1/1"):
        [row] = ablations.measure(paper("sce2019"), found, tmp_path / "runs", 1)
        assert capsys.readouterr().err.splitlines()[0] == begin
        assert (row["ablation"], row["table"], row["published"]) == ("short", "text-dctcp", 225)
        told.append(row["measured"])
    assert told[0] == told[1]
    assert 0 < told[0] <= 20


@pytest.mark.parametrize(
    ("now", "then", "message"),
    [
        ("[[ablations]]", "[[ablation]]", "has no [[ablations]]"),
        ("what =", "why =", "ablations.0: unknown key 'why'"),
        ("what =", "#", "ablations.0: has no what"),
        ("text-dctcp", "text-dctp", "short: --table: unknown table 'text-dctp'"),
    ],
)
def test_what_is_wrong_with_an_ablation_is_named(
    now: str, then: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / ablations.FILE).write_text(ONE.replace(now, then), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"ablations\.toml: ") as error:
        ablations.read(paper("sce2019"), tmp_path)
    assert message in str(error.value)

"""``sojourn conformance``: the suite over the catalogue's members and controls from outside."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT, Command
from sojourn import ScenarioError, _internal
from sojourn.campaign import loop
from sojourn.campaign.cases import Attempted
from sojourn.campaign.finished import Simulate
from sojourn.campaign.keys import key_of
from sojourn.cca import Control, Decision, conformance
from sojourn.cli.conformance import KINDS
from sojourn.conformance import measure, suite
from sojourn.conformance.checked import value
from sojourn.conformance.measure import COLUMNS, rows
from sojourn.conformance.subjects import chosen
from sojourn.errors import RunError
from sojourn.executors import Executor, threads

AIMD = ROOT / "examples" / "own-control-python" / "aimd.py"


class Stubborn(Control):
    """Keeps its window, whatever happens."""

    def __init__(self, params, init):
        pass

    def on_ack(self, now, ack):
        pass

    def on_congestion(self, now, event):
        pass

    def decision(self):
        return Decision(10, 10)


class Broken(Stubborn):
    """Fails when the first loss comes."""

    def on_congestion(self, now, event):
        1 / 0  # noqa: B018


def test_every_kind_of_the_command_has_a_suite() -> None:
    assert tuple(suite.kinds()) == KINDS
    assert [len(suite.suite(kind)) for kind in KINDS] == [13, 8, 7, 4, 8]


def test_a_control_in_python_is_put_through_all_checks(called: Command) -> None:
    done = called("conformance", AIMD, "--format", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [tuple(row) for row in found] == [COLUMNS] * 13
    assert {row["name"] for row in found} == {"Aimd"}
    assert {row["verdict"] for row in found} == {"holds"}


def test_the_same_law_has_the_same_values_whoever_brings_it() -> None:
    check = [c for c in suite.suite("ccas") if c.name == "loss"]
    reno, named = chosen(["reno", '{ kind = "reno" }'])
    assert _internal.conform("ccas", json.dumps(reno.table), check[0].name) == pytest.approx(
        _internal.conform("ccas", json.dumps(named.table), check[0].name)
    )


def test_what_fails_is_told_and_is_the_status(called: Command) -> None:
    done = called("conformance", "fifo", '{ kind = "fixed-window", window = "20 packets" }')
    assert done.returncode == 1
    assert "fails: fixed-window, clean link: share of a clean link" in done.stdout
    wrong = called("conformance", '{ kind = "fixed-window", cwnd = 20 }')
    assert wrong.returncode == 2
    assert "unknown key 'cwnd'; allowed: window" in wrong.stderr
    known = called("conformance", "fifo", "drop")
    assert known.returncode == 2
    assert "transport, kind of node or shared medium 'drop'; see: sojourn list" in known.stderr
    for written, kind in (("renoo", "congestion control"), ("pfifo", "queue discipline")):
        with pytest.raises(ScenarioError, match=f"NAME: unknown {kind} '{written}'; did you"):
            chosen([written])


def test_known_exceptions_pass(called: Command) -> None:
    done = called("conformance", "fixed-rate", "--format", "csv")
    assert done.returncode == 0, done.stderr
    table = pl.read_csv(done.stdout.encode())
    assert set(table["verdict"]) == {"holds", "exception"}
    assert table.filter(pl.col("verdict") == "exception")["note"].str.len_chars().min() > 20


def test_disciplines_hold(called: Command) -> None:
    done = called("conformance", "--kind", "queues", "--format", "csv")
    assert done.returncode == 0, done.stdout
    table = pl.read_csv(done.stdout.encode())
    assert set(table["verdict"]) == {"holds"}
    assert table["name"].n_unique() == len(json.loads(_internal.catalogue())["queues"])


def test_a_class_of_this_program() -> None:
    table = conformance(Stubborn)
    failed = table.filter(~pl.col("holds"))["check"].to_list()
    assert failed[:3] == ["clean link", "loss", "marks"]


def test_one_that_fails_is_an_error_of_its_checks() -> None:
    with pytest.raises(RunError, match="ZeroDivisionError") as raised:
        conformance(Broken)
    assert raised.value.failed_at is not None


def _quiet(done: int, of: int) -> None:
    """Whom nobody listens to."""


def _at_work(done: list[str]) -> Executor:
    """Threads that say which checks they do."""

    def execute(items, work, jobs, patience=1.0):
        items = list(items)
        done.extend(item.given["check"] for item in items)
        yield from threads.execute(items, work, jobs, patience)

    return execute


def test_an_interrupted_suite_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "FLUSH", 0.0)
    subjects = chosen(["reno"])

    def interrupt(done: int, of: int) -> None:
        if done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rows(subjects, tmp_path, 1, interrupt)
    done: list[str] = []
    found = rows(subjects, tmp_path, 1, _quiet, _at_work(done))
    assert [row.verdict for row in found] == ["holds"] * 13
    assert len(done) == 13 - 5
    assert rows(subjects, tmp_path, 1, _quiet, _at_work(done)) == found
    assert len(done) == 13 - 5, "nothing is done twice"


CRASHES = """
import os

from sojourn.campaign import loop
from sojourn.campaign.cases import Attempted
from sojourn.campaign.finished import Simulate
from sojourn.campaign.keys import key_of
from sojourn.cca import Control, Decision


class Raises(Control):
    def __init__(self, params, init):
        pass

    def on_ack(self, now, ack):
        pass

    def on_congestion(self, now, event):
        raise ValueError

    def decision(self):
        return Decision(10, 10)


class Dies(Raises):
    def on_congestion(self, now, event):
        os._exit(3)
"""


def test_an_error_is_stored_but_not_that_of_a_process_that_died(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "crashes.py"
    file.write_text(CRASHES)
    monkeypatch.setattr(measure, "suite", lambda kind: suite.suite(kind)[:1])
    subjects = chosen([f"{file}:Raises", f"{file}:Dies"])
    first = rows(subjects, tmp_path / "out", 2, _quiet)
    assert [row.verdict for row in first] == ["error", "error"]
    assert f"ValueError:  ({file}, line " in first[0].note, "not where a copy of it ran"
    done: list[str] = []
    assert rows(subjects[:1], tmp_path / "out", 2, _quiet, _at_work(done)) == first[:1]
    assert done == []
    assert rows(subjects, tmp_path / "out", 2, _quiet, _at_work(done)) == first
    assert done == [first[1].check.name]


def test_a_control_from_outside_is_known_by_its_code_wherever_it_lies(tmp_path: Path) -> None:
    check = suite.suite("ccas")[0].name
    keys = []
    for place, text in (("a", CRASHES), ("b", CRASHES), ("c", f"{CRASHES}# changed")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "mine.py").write_text(text)
        [subject] = chosen([f"{tmp_path / place / 'mine.py'}:Raises"])
        given = {"kind": subject.kind, "table": subject.table, "check": check}
        keys.append(key_of(Attempted.of(value, **given)))
    assert keys[0] == keys[1] != keys[2]


def test_a_case_whose_worker_is_lost_has_an_error_that_is_not_stored() -> None:
    case = Attempted.of(value, kind="ccas", table={"kind": "reno"}, check="loss")
    [lost] = Simulate.of([case]).lost(case, "ended its worker 4 times")
    assert lost.outcome == {"error": "the run ended its worker 4 times"}
    assert lost.row is None


def test_a_file_with_several_controls_wants_a_class(tmp_path: Path, called: Command) -> None:
    file = tmp_path / "two.py"
    text = AIMD.read_text(encoding="utf-8")
    file.write_text(text + "\n\nclass Other(Aimd):\n    pass\n")
    refused = called("conformance", "two.py")
    assert refused.returncode == 2
    assert "has 2 controls: name one, two.py:CLASS" in refused.stderr.replace(f"{tmp_path}/", "")
    with pytest.raises(ScenarioError, match="No such file"):
        chosen(["nowhere.py"])
    assert chosen([f"{file}:Other"])[0].name == "Other"

"""``sojourn reproduce gnat2021`` goes on where it was; what its cases come to is read lazily."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from conftest import TWO_FLOWS, Command
from sojourn.campaign import keys, results
from sojourn.campaign.cases import AnyCase, Case, Computed, Sampled
from sojourn.campaign.finished import Finished, Simulate
from sojourn.campaign.keys import run_key
from sojourn.scenario import load
from sojourn_reproductions.gnat2021.multicast import best

#: Runs with and without the overlay, a linear program, and a run of SLIQ.
ASKED = ("reproduce", "gnat2021", "--section", "4.9", "--section", "3.2.9", "--jobs", "1")
#: Every run is stored at once, and the first one is the last.
KILLED = """
import os, signal
from sojourn.cli import main
from sojourn.campaign import finished, run

class Killed(finished.Finished):
    @property
    def full(self):
        return bool(self._samples._waiting)

    def flush(self):
        first = self.full
        super().flush()
        if first:
            os.kill(os.getpid(), signal.SIGKILL)

run.Finished = Killed
main()
"""


def _keys(directory: Path) -> list[str]:
    """The keys of all that is stored, each as often as it is."""
    files = [*directory.glob("runs/*.parquet"), *directory.glob("samples/*.parquet")]
    return [key for path in files for key in pl.read_parquet(path, columns=["key"])["key"]]


@pytest.mark.long
@pytest.mark.concurrent
def test_killed_it_goes_on_where_it_was(sojourn: Command, tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *ASKED, "--out", "killed"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    [before] = (tmp_path / "killed" / "samples").glob("*.parquet")
    content, done = before.read_bytes(), _keys(tmp_path / "killed")
    assert len(done) == 1
    for out in ("killed", "undisturbed"):
        ran = sojourn(*ASKED, "--out", out)
        assert ran.returncode == 0, ran.stderr
    resumed, whole = (_keys(tmp_path / out) for out in ("killed", "undisturbed"))
    assert sorted(resumed) == sorted(whole)
    assert len(whole) == len(set(whole)) == 4, "nothing is done twice"
    assert before.read_bytes() == content
    rows, others = ((tmp_path / out / "comparison.csv") for out in ("killed", "undisturbed"))
    assert rows.read_bytes() == others.read_bytes()


def _canonical(seed: int = 1) -> dict[str, object]:
    return load(TWO_FLOWS, seed=seed).canonical


def test_what_a_case_is_stored_under() -> None:
    canonical = _canonical()
    key = run_key(canonical)
    assert keys.key_of(Case.of(canonical)) == keys.key_of(Sampled.of(canonical)) == key
    some, more = (("sent_packets",), ("sent_packets", "in_order_bytes"))
    computed = [Computed.of(best.best, links=[], sent=sent) for sent in ([], [1])]
    cases: list[AnyCase] = [
        *computed,
        Sampled.of(canonical, keeps=some),
        Sampled.of(canonical, keeps=more),
    ]
    assert len({key, *map(keys.key_of, cases)}) == 5


def test_what_a_computed_case_is_stored_under_follows_its_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = Computed.of(best.best, links=[], sent=[])
    before = keys.key_of(case)
    monkeypatch.setattr(keys, "code", lambda _function: "changed")
    assert keys.key_of(case) != before


def test_samples_are_read_when_asked_for_and_do_not_gather(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [Sampled.of(_canonical(seed)) for seed in (1, 2, 3)]
    store, work = Finished(tmp_path, pytest.fail), Simulate.of(cases)
    found = store.of(cases)
    assert not found
    for case in cases:
        for done in work(case):
            store.add(done)
            found.add(done.case, done.outcome)
    store.flush()
    monkeypatch.setattr(results, "MOST_READ", 0)
    assert [found[case].scenario["seed"] for case in cases] == [1, 2, 3]
    assert len(found._read) == 1
    columns = found[cases[0]].tables["flow_samples"].values()
    assert all(column.flags.owndata for column in columns), "a view keeps a file of runs in memory"
    monkeypatch.setattr(results, "MOST_READ", 1e9)
    assert found[cases[0]] is found[cases[0]] is not found[cases[1]]
    assert len(found._read) == 2

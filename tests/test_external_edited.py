"""Controls in files that are edited or copied: which runs are the same, and which are run again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import sojourn as package
from conftest import TWO_FLOWS, Command
from own_controls import MINE
from sojourn import ScenarioError
from sojourn.campaign.keys import run_key
from sojourn.evaluation.suites.experiment import Experiment, Suite
from sojourn.evaluation.suites.run import Request, evaluate, stored
from sojourn.scenario import Scenario, load


def test_an_edited_file_is_another_run(here: Path) -> None:
    before = load(here / "bad.toml").canonical
    assert run_key(load(here / "bad.toml").canonical) == run_key(before)
    with (here / "aimd.py").open("a") as file:  # which faulty.py imports
        file.write("\n# edited\n")
    assert run_key(load(here / "bad.toml").canonical) != run_key(before)
    with pytest.raises(ScenarioError, match="has changed since the scenario was read"):
        package.run(before)


def test_a_sweep_does_not_mix_versions_of_a_file(here: Path) -> None:
    path, out = here / "mine.toml", here / "out"
    path.write_text(MINE.replace('"3 s"', '"1 s"') + "\n[sweep]\nreplications = 2\n")
    before = package.sweep(path, directory=out).runs["key"].n_unique()
    with (here / "aimd.py").open("a") as file:
        file.write("\n# edited\n")
    with pytest.raises(ScenarioError, match=r"aimd\.py has been edited since; give another"):
        package.sweep(path, directory=out)
    after = package.sweep(path, directory=out, force=True).runs
    assert after["key"].n_unique() == before == 2


class Short(Experiment):
    """An experiment that is soon over."""

    def cases(self, *, quick: bool) -> Iterator[tuple[str, Scenario]]:
        text = TWO_FLOWS.replace('"3 s"', '"1 s"').replace("rtt = ", 'label = "tested"\nrtt = ', 1)
        yield "here", load(f"{text}\n[sweep]\nreplications = 2\n")


def test_one_is_evaluated_from_its_file_and_again_when_it_was_edited(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rate = ("flow", "mean_throughput_l4")
    suite = Suite("mine", "experiments of mine", [Short(here, "short", "Short", [rate])])
    monkeypatch.chdir(here)
    request, told = Request(suite, ["aimd.py"], ["reno"]), list[str]()
    values = []
    for window in ("", "\n\nAimd.decision = lambda self: Decision(2, 2)\n"):
        with (here / "aimd.py").open("a") as file:
            file.write(window)
        (place,) = evaluate(request, here / "out", 2, lambda done, total: None, told.append)
        values.append(place.values[rate]["aimd.py"].mean())
    assert told == ["aimd.py has been edited: short, here is run again"]
    assert values[1] < values[0] / 2
    (here / "aimd.py").write_text("raise RuntimeError('run again')\n")
    (place,) = stored(request, here / "out", told.append)
    assert place.values[rate]["aimd.py"].mean() == values[1]


def test_a_copy_elsewhere_is_the_same_run(
    here: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("mine.toml", "aimd.py"):
        shutil.copy(here / name, elsewhere)
    keys = [run_key(load(place / "mine.toml").canonical) for place in (here, elsewhere)]
    assert keys[0] == keys[1]


def test_a_version_is_compared_with_another(here: Path, sojourn: Command) -> None:
    with (here / "mine.toml").open("a") as file:
        file.write("\n[sweep]\nreplications = 3\n")
    assert sojourn("sweep", "mine.toml", "--out", "a").returncode == 0
    text = (here / "aimd.py").read_text()
    (here / "aimd.py").write_text(text.replace("self.cwnd // 2", "self.cwnd // 4"))
    assert (here / "aimd.py").read_text() != text
    assert sojourn("sweep", "mine.toml", "--out", "b").returncode == 0
    told = sojourn("compare", "a", "b", "--format", "json")
    assert told.returncode == 0, told.stderr
    verdicts = {row["verdict"] for row in json.loads(told.stdout)}
    assert verdicts <= {"better", "worse", "same", "different", "unsure"}
    assert verdicts - {"same"}

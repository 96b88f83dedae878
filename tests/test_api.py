"""The Python interface as a notebook uses it."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn
from conftest import ROOT, TWO_FLOWS
from sojourn.metrics import metrics, registry

GRID = (
    TWO_FLOWS.replace("3 s", "300 ms")
    + """
[sweep.grid]
"topology.bottleneck.rate" = ["4 Mbit/s", "8 Mbit/s"]
"""
)


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    return sojourn.run(TWO_FLOWS)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def registered() -> Iterator[None]:
    """Forgets the metrics that a test registers."""
    before = dict(registry._METRICS)
    yield
    registry._METRICS.clear()
    registry._METRICS.update(before)


def test_completion_shows_what_there_is() -> None:
    shown = {"run", "sweep", "load", "open", "metric", "Result", "Sweep", "Scenario"}
    assert shown <= set(dir(sojourn))
    assert not {"Any", "annotations"} & set(dir(sojourn))
    assert all(callable(getattr(sojourn, name)) for name in shown)


def test_a_run_is_saved_and_opened(result: sojourn.Result) -> None:
    assert result.save() == Path("results/two-flows")
    read_back = sojourn.open("results/two-flows")
    assert isinstance(read_back, sojourn.Result)
    assert read_back.to_json() == result.to_json()
    assert result.save() == Path("results/two-flows")
    other = sojourn.run(TWO_FLOWS, seed=2)
    with pytest.raises(sojourn.ScenarioError, match=r"seed is 1, here 2; .* force=True"):
        other.save("results/two-flows")
    with pytest.warns(UserWarning, match="results go to results/two-flows-2"):
        assert other.save() == Path("results/two-flows-2")
    assert other.save("results/two-flows", force=True) == Path("results/two-flows")
    with pytest.raises(sojourn.ScenarioError, match="directory /proc/x: cannot be written"):
        result.save("/proc/x")


def test_a_sweep_is_run_and_opened() -> None:
    told: list[tuple[int, int]] = []
    made = sojourn.sweep(GRID, progress=lambda *counts: told.append(counts))
    assert told[-1] == (2, 2)
    assert made.directory == Path("results/two-flows")
    opened = sojourn.open(made.directory)
    assert isinstance(opened, sojourn.Sweep)
    assert opened.summary.equals(made.summary)
    assert set(opened.runs["topology.bottleneck.rate"]) == {"4 Mbit/s", "8 Mbit/s"}
    assert opened.failures == []
    assert "topology.bottleneck.rate (2)" in repr(opened)
    assert "<table" in opened._repr_html_()
    with pytest.raises(sojourn.ScenarioError, match=r"manifest\.json"):
        sojourn.open("nowhere")


def test_it_presents_itself(result: sojourn.Result) -> None:
    assert repr(result) == "<sojourn.Result 'two-flows': 2 flows (reno, cubic), 3 s, seed 1>"
    page = result._repr_html_()
    assert page.count("<table") == 3
    assert "mean_throughput_l4" in page
    with pytest.raises(sojourn.ScenarioError, match="allowed: operating_point"):
        result.plot("foo")


def test_a_figure_shows_itself_in_a_notebook(result: sojourn.Result) -> None:
    """By what IPython asks of any object, since a fresh kernel knows nothing of matplotlib."""
    figure = result.plot()
    png, told = figure._repr_png_()  # type: ignore[attr-defined]
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    assert width / told["width"] == pytest.approx(height / told["height"], rel=0.01)
    assert 500 < told["width"] < width
    figure.set_size_inches(4, 3)
    assert figure._repr_png_()[1] == {"width": 384, "height": 288}  # type: ignore[attr-defined]


def test_controls_are_at_hand_and_cost_nothing_until_used() -> None:
    lines = (
        "import sys, sojourn",
        "assert 'sojourn.cca' not in sys.modules",
        "class Mine(sojourn.cca.Control): ...",
        "print(Mine.__mro__[1])",
    )
    command = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "<class 'sojourn.cca.Control'>\n", done.stderr


def test_progress_is_told() -> None:
    shares: list[float] = []
    sojourn.run(TWO_FLOWS, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.usefixtures("registered")
def test_a_metric_of_ones_own(result: sojourn.Result) -> None:
    for factor in (1, 2):  # a cell that is run again

        @sojourn.metric("flow", "sent_twice_l4", unit="segments", better="lower")
        def sent(run: Any, factor: int = factor) -> Any:
            """Segments sent, times a number."""
            return factor * run.flow.total("sent_packets")

    total = result.series.flows.group_by("flow", maintain_order=True).sum()["sent_packets"]
    np.testing.assert_array_equal(result.flows["sent_twice_l4"], 2 * total)
    assert result.to_json()["flows"][0]["metrics"]["sent_twice_l4"] == 2 * total[0]
    assert result.request(["sent_twice_l4"]).flows.width == 4
    result.request(None)
    assert next(m.summary for m in metrics() if m.name == "sent_twice_l4").startswith("Segments")


@pytest.mark.usefixtures("registered")
def test_a_sweep_has_ones_own_metrics() -> None:
    @sojourn.metric("net", "events_of_mine", unit="1")
    def events(_run: Any) -> float:
        return 7.0

    summary = sojourn.sweep(GRID).summary
    assert summary.filter(metric="events_of_mine")["mean"].to_list() == [7.0, 7.0]


@pytest.mark.usefixtures("registered")
def test_wrong_metrics_are_explained(result: sojourn.Result) -> None:
    with pytest.raises(ValueError, match=r"mean_srtt_l4 of flow is registered already"):
        sojourn.metric("flow", "mean_srtt_l4", unit="ms")(lambda run: 0.0)
    with pytest.raises(ValueError, match="unknown scope 'flows'; did you mean 'flow'"):
        sojourn.metric("flows", "mine", unit="1")  # type: ignore[arg-type]

    @sojourn.metric("flow", "one_for_all", unit="1")
    def one(_run: Any) -> float:
        return 1.0

    with pytest.raises(sojourn.SojournError, match=r"one_for_all: .* expected 2, one per flow"):
        _ = result.flows


@pytest.mark.usefixtures("registered")
def test_the_documented_metric_works(result: sojourn.Result) -> None:
    text = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    [example] = [part for part in text.split("```python\n")[1:] if "@sojourn.metric" in part]
    file = ROOT.joinpath("experiments/catalogue/dumbbell.toml")
    code = example.split("```")[0].replace("friendliness.toml", str(file))
    exec(code, names := {})  # type: ignore[var-annotated]
    assert names["result"].flows["resent_share_l4"].max() < 0.5

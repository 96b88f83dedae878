"""``sojourn plot`` and what it draws."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sojourn as package
from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError
from sojourn.cli import plot as cli
from sojourn.figures import page
from sojourn.figures.plots import words
from sojourn.figures.plots.advice import advice
from sojourn.figures.plots.finish import LOGS
from sojourn.figures.plots.request import KINDS, Request, chart
from sojourn.metrics import metrics

LIMIT = "topology.bottleneck.queue.limit"
SWEEP = f"""{TWO_FLOWS}
[sweep]
replications = 3

[sweep.grid]
"{LIMIT}" = ["0.5 bdp", "2 bdp", "16 bdp"]
"flows.0.cca" = ["reno", "bbr"]
"""


#: Kinds differ in what is drawn, formats in how.
DRAWN = [(kind, "png") for kind in ("ecdf", "heat", "scatter", "series")]
DRAWN += [(kind, ending) for kind in ("line", "box") for ending in ("pdf", "png", "svg", "html")]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> package.Sweep:
    return package.sweep(SWEEP, directory=tmp_path_factory.mktemp("plot") / "sweep", jobs=1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package.run(TWO_FLOWS).save(tmp_path_factory.mktemp("plot") / "run")


def test_lines_are_the_means_of_the_summary(sweep: package.Sweep) -> None:
    asked = Request("utilization_l1", LIMIT, "flows.0.cca", where=[("link", "bottleneck")])
    panel = chart(sweep.directory, asked).panels[0]
    long = sweep.summary.filter(metric="utilization_l1", id="bottleneck")
    for line, control in zip(panel.lines, ("reno", "bbr"), strict=True):
        rows = long.filter(**{"flows.0.cca": control})
        assert np.asarray(line.y) == pytest.approx(rows["mean"].to_numpy())
        known = rows["ci95"].cast(float).fill_null(np.nan).to_numpy()
        if line.error is not None:
            assert np.asarray(line.error) == pytest.approx(known, nan_ok=True)
    assert [name for _, name in panel.ticks] == ["0.5", "2", "16"]
    assert panel.log_x


def test_shares_add_up_and_ratios_are_of_flows(sweep: package.Sweep) -> None:
    def ys(text: str) -> np.ndarray:
        where = [("flows.0.cca", "bbr")]
        return np.asarray(
            chart(sweep.directory, Request(text, LIMIT, where=where)).panels[0].lines[0].y
        )

    assert ys("share(bbr)") + ys("share(cubic)") == pytest.approx(100)
    assert ys("share(0)") == pytest.approx(ys("share(bbr)"))
    assert (ys("ratio(0, 1)") > 1).any()


def test_two_controls_are_never_in_one_cell(sweep: package.Sweep, run: Path) -> None:
    with pytest.raises(ScenarioError, match=r"2 values of flows\.0\.cca .*--hue flows\.0\.cca"):
        chart(sweep.directory, Request("ratio(0, 1)", LIMIT))
    with pytest.raises(ScenarioError, match="--hue cca"):
        chart(sweep.directory, Request("mean_throughput_l4", "flows.0.cca"))
    with pytest.raises(ScenarioError, match="mix 2 values of cca"):
        chart(run, Request("mean_throughput_l4", kind="ecdf"))


@pytest.mark.parametrize(
    ("x", "axes"),
    [
        (LIMIT, {}),
        (LIMIT, {"hue": "flows.0.cca"}),
        (LIMIT, {"hue": "cca"}),
        (LIMIT, {"hue": "cca", "columns": "flow"}),
        ("flow", {}),
        ("flow", {"hue": LIMIT}),
    ],
)
def test_what_is_advised_where_names_are_mixed_is_no_refusal(
    sweep: package.Sweep, x: str, axes: dict[str, str]
) -> None:
    with pytest.raises(ScenarioError, match="would mix") as refused:
        chart(sweep.directory, Request("mean_srtt_l4", x, **axes))
    ways = str(refused.value).partition("; add ")[2].split(", or ")
    for way in ways:
        further = dict(re.findall(r"--(hue|columns|rows) (\S+)", way))
        first, _, others = (way.partition("--where ")[2]).partition(" (or ")
        kept = [text for text in (first, *others.rstrip(")").split(", ")) if text]
        for text in kept or [""]:
            axis, _, value = text.partition("=")
            where = [(axis, value.strip("'"))] if axis else []
            asked = Request("mean_srtt_l4", x, **(axes | further), where=where)
            assert chart(sweep.directory, asked).panels


def test_labels_are_advised_as_what_may_be_kept() -> None:
    runs = [("reno", 0, "reno", "a"), ("reno", 1, "cubic", "b")]
    runs += [("bbr", 0, "bbr", "a"), ("bbr", 1, "cubic", "b")]
    columns = ["flows.0.cca", "flow", "cca", "label"]
    rows = pl.DataFrame(runs, schema=columns, orient="row").with_columns(replication=0, value=1.0)
    assert advice(rows, ["flows.0.cca"], ["--hue", "--columns"]).endswith(
        "; add --hue cca, or --where cca=cubic (or label=a, flow=0)"
    )
    assert advice(rows, ["cca"], ["--hue"]).endswith(
        "; add --hue flows.0.cca, or --where flows.0.cca=reno (or flow=0, label=a)"
    )
    crossed = rows.select("flows.0.cca", "replication", "value").join(
        pl.DataFrame({"flows.1.cca": ["cubic", "vegas"]}), how="cross"
    )
    assert advice(crossed, [], []).endswith("; keep one value of each with --where")


def test_what_is_averaged_over_is_named_in_the_figure(sweep: package.Sweep) -> None:
    made = chart(sweep.directory, Request("share(cubic)", "flows.0.cca"))
    assert (
        made.note
        == "Mean over 3 values of buffer and 3 replications; bars: 95 % confidence intervals."
    )
    figure = package.plot(sweep, "share(cubic)", x="flows.0.cca")
    assert made.note.split()[0] in figure.get_supxlabel()
    assert {line.style for line in made.panels[0].lines} == {"mark"}


@pytest.mark.parametrize(("kind", "ending"), DRAWN)
def test_every_kind_is_written_in_every_format(
    sweep: package.Sweep, tmp_path: Path, kind: str, ending: str
) -> None:
    axes = {"x": LIMIT, "hue": "flows.0.cca", "columns": "cca"}
    y = "mean_srtt_l4"
    if kind == "scatter":
        axes["x"] = "mean_throughput_l4"
    where = {LIMIT: "2 bdp"} if kind == "series" else {}
    path = tmp_path / f"figure.{ending}"
    figure = sweep.plot(y, kind=kind, out=path, where=where, **axes)
    assert path.stat().st_size > 5000
    assert figure.get_figwidth() == pytest.approx(7.16)


@pytest.mark.parametrize("kind", ["line", "box", "ecdf", "series"])
def test_a_run_is_drawn_too(run: Path, called: Command, tmp_path: Path, kind: str) -> None:
    axes = ("--x", "cca") if kind == "line" else ("--hue", "cca")
    done = called("plot", run, "--y", "mean_throughput_l4", "--kind", kind, *axes, "--out", "f.svg")
    assert done.returncode == 0, done.stderr
    assert "Throughput (Mbit/s)" in (tmp_path / "f.svg").read_text()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--y", "mean_srt_l4", "--x", "cca"), "mean_srtt_l4"),
        (("--y", "throughput"), "see: sojourn list metrics (also allowed: share(bbr), "),
        (("--y", "mean_srtt_l4"), "--x: needed for line"),
        (("--y", "mean_srtt_l4", "--x", "cc"), "unknown axis 'cc'; did you mean 'cca'"),
        (("--y", "share(bbrr)", "--x", "cca"), "unknown flow, label or control 'bbrr'"),
        (("--y", "mean_srtt_l4", "--x", "cca", "--out", "f.gif"), "pdf, png, svg, html"),
        (("--y", "mean_srtt_l4", "--x", "cca", "--where", "cca"), "PATH=VALUE"),
        (("--y", "mean_srtt_l4", "--x", "cca", "--where", "cca=vegas"), "unknown value 'vegas'"),
        (("--y", "total_rtos_l4", "--kind", "series"), "metric with a value per sample"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    run: Path, called: Command, options: tuple[str, ...], told: str
) -> None:
    done = called("plot", run, *options)
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_axes_are_named_as_a_person_writes_them() -> None:
    assert words.of_metric("mean_srtt_l4") == "Smoothed RTT (ms)"
    assert words.of_metric("p95_rtt_l4") == "RTT, 95th percentile (ms)"
    assert words.of_path("flows.0.cca.kind") == "Congestion control of flow 0"
    assert words.of_path("topology.bottleneck.rate") == "Bottleneck rate"
    assert all(words.of_metric(m.name)[0] == words.of_metric(m.name)[0].upper() for m in metrics())


def test_the_page_names_every_series_once(sweep: package.Sweep) -> None:
    asked = Request("mean_srtt_l4", LIMIT, "cca", "flows.0.cca")
    drawn = page.render(chart(sweep.directory, asked))["data"]
    shown = [trace["name"] for trace in drawn if trace.get("showlegend")]
    assert sorted(shown) == ["BBR", "Cubic", "Reno"]


def test_the_command_offers_what_there_is() -> None:
    assert (cli._KINDS, cli._LOGS) == (KINDS, LOGS)

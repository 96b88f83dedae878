"""``sojourn plot`` of several results: what joins them, panels, and what a figure looks like."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest

import sojourn as package
from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError
from sojourn.figures import over_sweep, page, paper
from sojourn.figures.chart import Chart, Panel
from sojourn.figures.plots import words
from sojourn.figures.plots.asked import Asked, label_of
from sojourn.figures.plots.cells import cells
from sojourn.figures.plots.fields import with_field
from sojourn.figures.plots.finish import Finish
from sojourn.figures.plots.request import Request, chart
from sojourn.sweeps import table

mpl.use("agg")
RTT, KIND = "flows.*.rtt", "topology.bottleneck.queue.kind"
CCA = "flows.0.cca"
SHORT = TWO_FLOWS.replace('"3 s"', '"1 s"')
QUEUES = {"fifo": "20 ms", "fq_codel": "0.02 s"}


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A sweep of each queue discipline, and a run of a third one that records."""
    home = tmp_path_factory.mktemp("joined")
    for kind, rtt in QUEUES.items():
        grid = f'[sweep]\nreplications = 2\n[sweep.grid]\n"{RTT}" = ["{rtt}", "60 ms"]\n'
        text = SHORT.replace('kind = "fifo"', f'kind = "{kind}"')
        package.sweep(text + grid + f'"{CCA}" = ["bbr3", "reno"]', directory=home / kind, jobs=1)
    text = SHORT.replace('kind = "fifo", limit = "20 packets"', 'kind = "codel"')
    text = text.replace('cca = "reno"', 'cca = "bbr3"')
    package.run(f'record = ["cc"]\n{text}').save(home / "codel")
    return {name: home / name for name in (*QUEUES, "codel")}


@pytest.fixture(scope="module")
def sweeps(stored: dict[str, Path]) -> list[Path]:
    return [stored[kind] for kind in QUEUES]


def delays(made: Chart) -> list[np.ndarray]:
    return [np.asarray(line.y) for panel in made.panels for line in panel.lines]


def test_results_are_joined_by_a_field_that_none_varies(sweeps: list[Path]) -> None:
    """Also where they write the same RTT otherwise, which is one place."""
    here = {"where": [("link", "bottleneck"), (CCA, "reno")]}
    made = chart(sweeps, Request("mean_qdisc_delay_l2", RTT, KIND, **here))
    (panel,) = made.panels
    assert [line.label for line in panel.lines] == ["FIFO", "FQ-CoDel"]
    assert [name for _, name in panel.ticks] == ["20", "60"]
    alone = [chart(one, Request("mean_qdisc_delay_l2", RTT, **here)) for one in sweeps]
    for joined, own in zip(delays(made), alone, strict=True):
        assert joined == pytest.approx(delays(own)[0])


def test_a_run_is_joined_with_sweeps(stored: dict[str, Path]) -> None:
    where = [("link", "bottleneck"), (RTT, "20 ms"), (CCA, "bbr3")]
    asked = Request("mean_qdisc_delay_l2", KIND, where=where)
    (line,) = chart(list(stored.values()), asked).panels[0].lines
    assert len(np.asarray(line.y)) == 3
    assert np.isnan(np.asarray(line.error)[2])


def test_results_are_never_averaged(sweeps: list[Path]) -> None:
    where = [("link", "bottleneck")]
    with pytest.raises(ScenarioError, match=r"2 values of result .*--hue result"):
        chart(sweeps, Request("mean_qdisc_delay_l2", RTT, columns=CCA, where=where))


def test_what_falls_together_is_said(sweeps: list[Path]) -> None:
    made = chart(sweeps, Request("share(cubic)", CCA, KIND))
    assert made.note.startswith("Mean over 2 values of base RTT and 2 replications;")


def test_a_result_of_which_nothing_is_kept_is_named(sweeps: list[Path]) -> None:
    """And several values of one axis may be kept."""
    where = [("link", "bottleneck"), (CCA, "reno"), (KIND, "fifo")]
    one = chart(sweeps, Request("mean_qdisc_delay_l2", RTT, where=where))
    assert one.note.endswith("Nothing of fq_codel is shown.")
    both = chart(
        sweeps, Request("mean_qdisc_delay_l2", RTT, KIND, where=[*where, (KIND, "fq_codel")])
    )
    assert len(both.panels[0].lines) == 2
    assert "Nothing" not in both.note


def test_rows_and_columns_have_the_same_axes(sweeps: list[Path]) -> None:
    made = chart(sweeps, Request("mean_srtt_l4", RTT, "flow", columns=CCA, rows=KIND))
    assert [(panel.aside, panel.title) for panel in made.panels] == [
        ("FIFO", "BBRv3"), ("FIFO", "Reno"), ("FQ-CoDel", "BBRv3"), ("FQ-CoDel", "Reno"),
    ]  # fmt: skip
    figure = paper.render(made)
    assert [ax.get_title() for ax in figure.axes] == ["BBRv3", "Reno", "", ""]
    assert [[text.get_text() for text in ax.texts] for ax in figure.axes] == [
        [], ["FIFO"], [], ["FQ-CoDel"],
    ]  # fmt: skip
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in figure.axes}) == 1
    layout = page.render(made)["layout"]
    assert (layout["grid"]["rows"], layout["grid"]["columns"]) == (2, 2)
    assert {layout[f"xaxis{n}"]["matches"] for n in (2, 3, 4)} == {"x"}


def test_a_label_has_its_control_beside_it() -> None:
    labels = ["up", "down", "down", "the Cubic one"]
    controls = ["bbr3", "cubic", "reno", "cubic"]
    rows = pl.DataFrame({"label": labels, "cca": controls, "value": 0.0, "replication": 0})
    asked = Asked(cells(rows, ["label", "cca"]), "cca", "", "label")
    told = [label_of(asked, label) for label in ("up", "down", "the Cubic one")]
    assert told == ["up (BBRv3)", "down", "the Cubic one"]


def test_a_mean_is_over_what_is_at_its_place() -> None:
    rows = pl.DataFrame({"label": ["a", "b", "b"], "flow": ["0", "1", "2"], "replication": 0})
    assert cells(rows, ["label"]).over == ["1 to 2 flows"]


def test_lines_differ_in_marks_and_dashes(sweeps: list[Path]) -> None:
    made = chart(sweeps, Request("mean_srtt_l4", RTT, "flow", KIND, where=[(CCA, "reno")]))
    looks = {(line.color, line.dash, line.marker) for line in made.panels[0].lines}
    for values in zip(*looks, strict=True):
        assert len(set(values)) == 2


def test_a_field_is_what_the_row_sets() -> None:
    """A value of the grid above it, one with a label, a case, or a default of the scenario."""
    document = {"topology": {"kind": "dumbbell", "bottleneck": {"rate": "1 Mbit/s"}}}
    above, case = "topology.bottleneck.queue", {"q": {"topology.bottleneck.queue": "pie"}}

    def told(path: str, axis: str, value: str, labels: dict[str, dict[str, object]]) -> object:
        rows = pl.DataFrame({axis: [value]})
        return with_field(rows, path, document, [axis], labels)[path].item()  # type: ignore[arg-type]

    assert told(KIND, above, '{"kind": "codel", "limit": "1 bdp"}', {}) == "codel"
    assert told(KIND, above, "deep", {above: {"deep": {"kind": "red"}}}) == "red"
    assert told(KIND, "case", "q", {"case": case}) == "pie"
    assert told("topology.bottleneck.rate", "seed", "2", {}) == "1 Mbit/s"
    assert told("flows.3.rtt", "seed", "2", {}) is None


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("fq_codel", "FQ-CoDel"),
        ("bbr3", "BBRv3"),
        ("my-control", "my-control"),
        ('{"kind": "dualpi2", "limit": "1 bdp"}', "DualPI2, limit 1 BDP"),
        ("0 cubic", "0 Cubic"),
    ],
)
def test_names_are_spelled_as_in_their_field(given: str, told: str) -> None:
    assert words.of_value(given) == told


def test_a_figure_has_the_size_that_it_is_given(
    sweeps: list[Path], called: Command, tmp_path: Path
) -> None:
    axes = ("--y", "mean_srtt_l4", "--x", RTT, "--hue", "flow", "--facet", CCA, "--rows", KIND)
    size = ("--width", "8.89cm", "--height", "2", "--log", "both")
    done = called("plot", *sweeps, *axes, *size, "--out", tmp_path / "f.png")
    assert done.returncode == 0, done.stderr
    height, width = mpl.image.imread(tmp_path / "f.png").shape[:2]
    assert (width, height) == (560, 320)
    with pytest.raises(ScenarioError, match=r"--width: .* such as 3\.5, 3\.5in or 8\.9cm"):
        chart(sweeps, Request("share(cubic)", RTT, KIND, CCA, finish=Finish("3 feet")))


def test_what_has_no_logarithm_is_refused(sweeps: list[Path]) -> None:
    with pytest.raises(ScenarioError, match="--log x: the x axis has names"):
        chart(sweeps, Request("mean_srtt_l4", CCA, "flow", KIND, finish=Finish(log="x")))


ANNOTATIONS = """
[[text]]
x = 40
y = 50
text = "here"
column = "bbr3"

[[line]]
y = 55
text = "fair share"

[[span]]
x = [20, 30]
"""


def annotated(sweeps: list[Path], path: Path, text: str) -> list[Panel]:
    path.write_text(text)
    asked = Request("share(cubic)", RTT, KIND, CCA, finish=Finish(annotations=path))
    made = chart(sweeps, asked)
    paper.render(made)
    page.render(made)
    return list(made.panels)


def test_annotations_are_where_the_file_says(sweeps: list[Path], tmp_path: Path) -> None:
    left, right = annotated(sweeps, tmp_path / "a.toml", ANNOTATIONS)
    assert [note.text for note in left.notes] == ["here", "fair share", ""]
    assert [(note.x, note.y) for note in right.notes] == [([], [55.0]), ([20.0, 30.0], [])]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[[line]]", "[[lin]]", "unknown table 'lin'; did you mean 'line'"),
        ("y = 55\ntext", "text", "line.0: expected x or y"),
        ('"bbr3"', '"bbr2"', f"text.0: column: unknown value of {CCA} 'bbr2'"),
        ("column", "row", "text.0: row: the figure has no --rows"),
        ("x = 40", 'x = "40 s"', "text.0: x = '40 s'; expected a number, or one of 20, 60"),
    ],
)
def test_wrong_annotations_are_refused(
    sweeps: list[Path], tmp_path: Path, old: str, new: str, told: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        annotated(sweeps, tmp_path / "a.toml", ANNOTATIONS.replace(old, new))
    assert told in str(refused.value)


def test_recorded_words_are_bands_and_numbers_are_lines(stored: dict[str, Path]) -> None:
    run = package.open(stored["codel"])
    made = chart(stored["codel"], Request("flow.0.cc.mode"))
    (panel,) = made.panels
    modes = run.state.filter(component="flow.0.cc", name="mode")["text"]
    assert [spans.label for spans in panel.spans] == modes.unique(maintain_order=True).to_list()
    lengths = sum(float(np.sum(np.asarray(s.ends) - np.asarray(s.starts))) for s in panel.spans)
    first = run.state.filter(component="flow.0.cc", name="mode")["time"][0]
    assert lengths == pytest.approx(1.0 - first, abs=0.01)
    (panel,) = chart(stored["codel"], Request("flow.*.cc.cwnd", hue="cca")).panels
    assert [line.label for line in panel.lines] == ["BBRv3", "Cubic"]
    assert panel.y_label == "Congestion window (segments)"


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("codel", Request("flow.*.cc.cwnd"), "--hue component"),
        ("codel", Request("flow.0.cc.mod"), "did you mean 'flow.0.cc.mode'"),
        ("codel", Request("flow.0.cc.mode", kind="box"), "--kind box: "),
        ("fifo", Request("flow.0.cc.mode"), "is a sweep, which records nothing"),
    ],
)
def test_state_that_cannot_be_drawn_is_refused(
    stored: dict[str, Path], name: str, asked: Request, told: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        chart(stored[name], asked)
    assert told in str(refused.value)


def test_the_report_of_a_sweep_averages_no_points(tmp_path: Path) -> None:
    """Lines over the first numbers, a panel for each name, and a line for each of the rest."""
    limits = '"topology.bottleneck.queue.limit" = ["10 packets", "40 packets"]'
    grid = f'[sweep.grid]\n{limits}\n"{RTT}" = ["20 ms", "60 ms"]\n"{CCA}" = ["bbr3", "reno"]\n'
    package.sweep(SHORT + grid, directory=tmp_path / "sweep", jobs=1)
    long = table.summary(tmp_path / "sweep")
    point = table.coordinates_of(long)
    chosen = long.filter(metric="mean_srtt_l4")
    made = over_sweep.lines(chosen, point, "mean_srtt_l4")
    assert isinstance(made, Chart)
    assert [panel.title for panel in made.panels] == ["BBRv3", "Reno"]
    labels = ["Base RTT 20 ms, flow 0", "Base RTT 20 ms, 1 Cubic"]
    assert [line.label for line in made.panels[0].lines][:2] == labels
    drawn = np.concatenate(delays(made))
    assert sorted(drawn) == pytest.approx(sorted(chosen["mean"]))
    maps = over_sweep.heat(chosen, point, "mean_srtt_l4")
    assert isinstance(maps, Chart)
    assert len(maps.panels) == 4
    values = np.concatenate([np.ravel(panel.heat.values) for panel in maps.panels if panel.heat])
    assert sorted(values) == pytest.approx(sorted(chosen["mean"]))

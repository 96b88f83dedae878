"""The report, looked at in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import sojourn as package
from browser import Looked, chromium, look_at
from conftest import Command
from sojourn.figures.chart import Chart, Heat, Panel
from sojourn.report import report
from sojourn.report.page import Page, Section, picture, write
from sojourn.reproduction.found import paper
from sojourn.reproduction.paper import Request
from sojourn.reproduction.reproduce import reproduce
from sojourn.sweeps import table
from sojourn.table import Table
from test_sweep import SWEEP

if TYPE_CHECKING:
    from playwright.sync_api import Browser

KINDS = ("run", "reproduction", "sweep")
#: A page whose figures are drawn, but those that are folded away.
DRAWN = """() => [...document.querySelectorAll(".plot")].every((plot) =>
  plot.offsetParent === null || plot.querySelector("text"))"""
OPEN = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"
#: Tables that are wider than the screen, and texts of figures beyond it.
CUT_OFF = """() => {
  const tables = [...document.querySelectorAll(".scroll")];
  const texts = [...document.querySelectorAll(".plot text")].map((t) => t.getBoundingClientRect());
  return [tables.filter((box) => box.scrollWidth > box.clientWidth).length,
          texts.filter((text) => text.left < 0 || text.right > innerWidth).length];
}"""
#: On paper: parts that are folded away, figures without a picture, and plots in sight.
ON_PAPER = """() => [
  document.querySelectorAll("details:not([open])").length,
  [...document.querySelectorAll("figure img")].filter((image) => !image.naturalWidth).length,
  [...document.querySelectorAll(".plot")].filter((plot) => plot.offsetParent !== null).length,
]"""


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A directory of each kind with its report."""
    home = tmp_path_factory.mktemp("reports")
    made = {kind: home / kind for kind in KINDS}
    package.run(SWEEP).save(made["run"])
    package.sweep(SWEEP, directory=made["sweep"])
    made["reproduction"].mkdir()
    quick = Request(quick=True)
    reproduce(paper("ccperf"), quick, made["reproduction"], 2, lambda done, total: None)
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(table, "MAIN", table.MAIN[:2])  # others look the same
        for directory in made.values():
            report(directory)
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def shown(browser: Browser, page: Path, width: int, height: int = 900) -> Looked:
    """A report with its figures."""
    looked = look_at(browser, page.as_uri(), width, height)
    looked.page.wait_for_function(DRAWN)
    return looked


@pytest.mark.needs("site")
@pytest.mark.parametrize(("kind", "figures"), [("run", 3), ("reproduction", 4), ("sweep", 6)])
def test_a_page_is_sound_on_screens(
    browser: Browser, directories: dict[str, Path], kind: str, figures: int
) -> None:
    looked = shown(browser, directories[kind] / "report.html", 480)
    looked.page.evaluate(OPEN)
    looked.page.wait_for_function(DRAWN)
    plots = looked.page.locator(".plot.js-plotly-plot .main-svg:first-child")
    assert plots.count() == looked.page.locator(".plot").count() >= figures
    assert looked.page.locator("a[download]").count() >= 2 * figures
    assert looked.beyond(480) == []
    assert looked.page.evaluate(CUT_OFF) == [0, 0]
    assert looked.violations() == []
    assert looked.wrong == []


@pytest.mark.needs("site")
def test_a_page_follows_the_screen_and_is_whole_on_paper(
    browser: Browser, directories: dict[str, Path]
) -> None:
    looked = shown(browser, directories["run"] / "report.html", 1400, 1600)
    page, light = looked.page, looked.pixels()
    ink = (light < 0.95).any(axis=2)
    bands = np.array_split(ink, 5)
    assert all(band.mean() > 0.005 for band in bands), [band.mean() for band in bands]
    assert np.median(light) > 0.9
    page.emulate_media(color_scheme="dark")
    assert np.median(looked.pixels()) < 0.2
    assert looked.violations(runOnly=["color-contrast"]) == []
    folded, _, plots = page.evaluate(ON_PAPER)
    assert folded
    assert plots
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(ON_PAPER) == [0, 0, 0]
    assert np.median(looked.pixels()) > 0.9
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() == folded


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_stands_alone(directories: dict[str, Path], kind: str) -> None:
    page = (directories[kind] / "report.html").read_text()
    without_library = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?!data:)', without_library)


def test_tables_hold_the_metrics_and_bold_the_best(directories: dict[str, Path]) -> None:
    page = (directories["run"] / "report.html").read_text()
    row = re.findall(r"<tr>\s*<td[^>]*>mean_throughput_l4</td>.*?</tr>", page, flags=re.DOTALL)[0]
    cells = re.findall(r'<td class="n">(.*?)</td>', row)
    values = [float(re.sub("<.*?>", "", cell)) for cell in cells]
    best = [cell.startswith("<b>") for cell in cells]
    assert best == [value == max(values) for value in values]
    assert "bottleneck" in page


def test_a_reproduction_opens_with_its_experiment(directories: dict[str, Path]) -> None:
    page = (directories["reproduction"] / "report.html").read_text()
    assert re.findall("<h2>(.*?)</h2>", page)[:2] == ["The experiment", "Statements and figures"]
    figures = re.findall('<figure id="(.*?)">', page)
    assert figures[0] == "operating_point"
    assert figures[-1] == "nearness"
    assert len(set(figures)) == len(figures)
    assert "1 NewReno and 1 Cubic flow (base RTT 15 ms) share" in page


def test_a_reproduction_shows_published_values(directories: dict[str, Path]) -> None:
    page = (directories["reproduction"] / "report.html").read_text()
    assert "30.79" in page
    assert "mean_agg_throughput_l4" in page


def test_report_goes_where_it_is_told(
    called: Command, directories: dict[str, Path], tmp_path: Path
) -> None:
    done = called("report", directories["run"], "--out", tmp_path / "elsewhere")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "elsewhere" / "report.html").exists()


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a run of a thousand flows."""
    home = tmp_path_factory.mktemp("crowded")
    flows = {"cca": "reno", "rtt": "20 ms", "count": 500}
    document = {
        "name": "crowded",
        "duration": "2 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "50 Mbit/s"}},
        "flows": [flows, {**flows, "cca": "cubic"}],
    }
    package.run(document).save(home)
    return report(home).read_text(encoding="utf-8")


def test_a_report_is_below_eight_megabytes(crowded: str, directories: dict[str, Path]) -> None:
    pages = [(path / "report.html").read_text(encoding="utf-8") for path in directories.values()]
    assert [len(page.encode()) < 8e6 for page in (crowded, *pages)] == [True] * 4


def test_a_report_opens_with_a_sentence_and_warnings(crowded: str) -> None:
    sentence = crowded.index("500 reno and 500 cubic flows (base RTT 20 ms) share a bottleneck")
    assert sentence < crowded.index('<ul class="warnings">') < crowded.index("<h2>")
    assert re.search(r'<li class="(error|warning)">\w+: flows? \d+', crowded)


def test_a_run_opens_with_its_figure_and_at_most_ten_lines_in_words(crowded: str) -> None:
    headings = re.findall("<h2>(.*?)</h2>", crowded)
    assert headings == ["At a glance", "Flows and links", "More figures", "Metrics", "Scenario"]
    glance = crowded[crowded.index("<h2>") : crowded.index("<h2>Flows and links")]
    assert re.findall('<figure id="(.*?)">|<ul class="(told)">', glance) == [
        ("operating_point", ""),
        ("", "told"),
    ]
    labels = re.findall(r"<li><b>(.*?):</b> \S", glance)
    assert labels[:2] == ["all flows", "starvation"]
    assert 3 < len(labels) <= 10
    assert "<table>" not in glance


def test_metrics_stand_in_families_with_unit_and_sentence(crowded: str) -> None:
    titles = re.findall(r"<caption>(\w+):", crowded)
    # Only what shares the air has metrics of flows and of links.
    once = [title for title in titles if title != "Air"]
    assert "``" not in crowded
    assert len(once) == len(set(once)) > 8
    [row] = re.findall(r"<tr>\s*<td[^>]*>mean_cwnd_l4</td>.*?</tr>", crowded, flags=re.DOTALL)
    assert "segments" in row
    assert "Congestion window." in row


def test_a_reproduction_shows_the_spread_as_a_picture(directories: dict[str, Path]) -> None:
    page = (directories["reproduction"] / "report.html").read_text()
    comparison = page[: page.index("One of the runs")]
    rows = re.findall(r'<svg class="spread".*?</svg>', comparison, flags=re.DOTALL)
    assert len(rows) > 60
    assert sum('class="published"' in row for row in rows) > 50


def test_a_reproduction_groups_its_metrics(directories: dict[str, Path]) -> None:
    page = (directories["reproduction"] / "report.html").read_text()
    titles = re.findall(r"<caption>flow flow_1: (\w+):", page)
    assert titles[:3] == ["Throughput", "Window", "Delay"]


@pytest.mark.needs("site")
def test_nothing_is_cut_off_on_a_narrow_screen(browser: Browser, tmp_path: Path) -> None:
    header = ["metric", "what it is", *(f"column {n}" for n in range(6))]
    rows = [["a_metric_with_a_long_name", "Words that say what it is." * 3, *range(6)]] * 3
    small = Table("small", ["a", "b"], [["c", 1.0]])
    heat = Heat(["10", "20"], ["reno / dctcp-sce"], [[-40.0, 1080.0]], "difference (%)", middle=0.0)
    panel = Panel("bandwidth (Mbit/s) @ delay (ms)", "flows", [], heat=heat)
    pictures = [picture("heat", Chart("title", "caption", [panel, panel]))]
    section = Section("heading", tables=[Table("wide", header, rows, words=2), small])
    other = Section(
        "mean_of_a_metric_whose_name_is_longer_than_a_screen_is_wide", pictures=pictures
    )
    page = tmp_path / "page.html"
    write(Page("", "", [section, other]), page)
    looked = shown(browser, page, 480)
    for width, stacked in ((480, 1), (1200, 0)):
        assert looked.beyond(width) == []
        looked.page.wait_for_function(f"document.querySelectorAll('.stacked').length == {stacked}")
        assert looked.page.evaluate(CUT_OFF) == [0, 0]

"""What is on a report's page, and what is left out of it aloud."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sojourn as package
from conftest import Command
from sojourn.report import report, spread
from sojourn.report.page import Page, Picture, Section, kept, lightened, write
from sojourn.report.reproduction import page
from test_sweep import SWEEP


def test_the_page_takes_the_figures_of_a_reproduction_from_its_directory(
    called: Command, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    called("reproduce", "sce2019", "--quick", "--table", "12", "--out", "out")
    told = json.loads((out / "pictures.json").read_text())
    assert set(told) == {path.stem for path in (out / "figures").glob("*.png")}
    pictures = [kept(name, each, out / "figures") for name, each in told.items()]
    shown = page(out).sections[0].pictures
    assert [*shown] == pictures
    # Without what was kept they are made again, and are the same.
    (out / "pictures.json").unlink()
    assert [*page(out).sections[0].pictures] == pictures


def test_a_spread_is_drawn_to_scale() -> None:
    row = {"min": 0.0, "q1": 1.0, "measured": 2.0, "q3": 3.0, "max": 4.0, "published": 5.0}
    drawn = str(spread.picture(row))
    assert 'x="40.8"' in drawn
    assert 'width="65.6"' in drawn
    assert 'class="published" d="M172.0' in drawn
    assert spread.picture({**dict.fromkeys(row), "published": 1.0}) == ""


def test_no_figure_of_a_sweep_is_left_out_silently(tmp_path: Path) -> None:
    values = ", ".join(f'"{n} ms"' for n in range(10, 24))
    text = SWEEP[: SWEEP.index("[sweep]")]
    text += f'[sweep]\nreplications = 1\n[sweep.grid]\n"flows.0.rtt" = [{values}]\n'
    package.sweep(text, directory=tmp_path)
    page = report(tmp_path).read_text()
    assert "Figures left out: " in page
    assert "mean_throughput_l4-boxes: " in page
    assert "mean_throughput_l4-heat: the grid does not vary two paths" in page


def test_what_was_not_run_has_no_table(called: Command, tmp_path: Path) -> None:
    cell = ("--where", "bandwidth_mbit=10", "--where", "delay_ms=0")
    done = called("reproduce", "sce2019", "--table", "99", "--quick", *cell, "--out", "out")
    assert done.returncode == 0, done.stderr
    tables = done.stdout.partition("Set-up:")[0]
    assert [line for line in tables.splitlines() if line.startswith("Table")] != []
    # A rule below the heads of each table, and a row below each rule.
    lines = tables.splitlines()
    below = [lines[i + 1] for i, line in enumerate(lines) if line.startswith("\u2500")]
    assert len(below) == 1
    assert below[0].startswith("10 ")
    assert re.search(r"Statements: all \d+ need what was not run\n", tables)
    named = {path.name for path in (tmp_path / "out" / "tables").iterdir()}
    assert named == {f"{t}.{e}" for t in ("table-99", "statements") for e in ("csv", "md")}
    called("report", "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Statements: all" in page
    bodies = re.findall("<tbody>(.*?)</tbody>", page, flags=re.DOTALL)
    assert all("<tr>" in body for body in bodies)


@pytest.mark.parametrize("paper", ["sce2019", "lin2020"])
def test_no_caption_repeats_its_title(paper: str, called: Command, tmp_path: Path) -> None:
    asked = {"sce2019": ("12",), "lin2020": ("figure-15",)}[paper]
    tables = [part for table in asked for part in ("--table", table)]
    done = called("reproduce", paper, "--quick", *tables, "--out", "out")
    assert "could not be drawn" not in done.stderr
    told = json.loads((tmp_path / "out" / "pictures.json").read_text()).values()
    assert told
    assert not [each["title"] for each in told if each["title"] in each["caption"]]


def test_a_heading_is_not_repeated_below_its_figure(tmp_path: Path) -> None:
    shown = [Picture(name, name, "What it shows.", "{}", "", "") for name in ("one", "other")]
    write(Page("", "", [Section("one", pictures=shown)]), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert re.findall(r"<figcaption>(.*?)\n", page) == [
        "What it shows.",
        "<b>other.</b> What it shows.",
    ]


def test_downloads_that_do_not_fit_are_left_out_aloud(tmp_path: Path) -> None:
    large = Picture("large", "", "", "{}", "p" * 10, "s" * 100)
    small = Picture("small", "", "", "{}", "p" * 10, "s" * 10)
    page, told = lightened(Page("", "", [Section("", pictures=[small, large])]), limit=60)
    assert [p.svg for p in page.sections[0].pictures] == ["s" * 10, ""]
    assert told == ["large: SVG"]
    write(page, tmp_path / "page.html")
    assert "large.png" in (tmp_path / "page.html").read_text()

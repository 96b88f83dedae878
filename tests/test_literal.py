"""Texts from outside are shown as they are, and messages quote the beginning of long ones."""

from __future__ import annotations

import html
import io
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import TWO_FLOWS
from sojourn import ScenarioError, csv_table, literal, run
from sojourn.capacity.parse import parse
from sojourn.cli import progress, show_run, tables
from sojourn.evaluation import directory, gate
from sojourn.evaluation.compare import Comparison
from sojourn.evaluation.margins import read as margins
from sojourn.figures import page, paper
from sojourn.figures.chart import Boxes, Chart, Forest, Graph, Heat, Line, Panel, Spans
from sojourn.names import unknown
from sojourn.report import report
from sojourn.report.page import Page, Section, picture, write
from sojourn.scenario import load
from sojourn.sweeps.expand import plan
from sojourn.sweeps.table import markdown
from sojourn.table import Table
from test_screen import on_a_terminal

#: Mathematics, markup of several kinds, what a figure or a page would leave out or run.
WORST = (
    r"$\alpha_{$",
    r"a\$b$c$",
    "_hidden",
    "<b>bold</b> &amp; <img src=x onerror=alert(1)>",
    "[red]r[/red] {{ 7 * 7 }} %{x}",
    "\x1b[31mred\x1b]0;t\x07 \u202edrawkcab\udc80",
    "</script><!--<script>",
    "#000000",
    "| a | `b` *c* [d](e)",
)
TEXTS = st.one_of(st.sampled_from(WORST), st.text(min_size=1, max_size=12))


def charts(text: str) -> list[Chart]:
    """Such that the text is at every place where a chart has one."""
    ends, color = [0.0, 1.0], "#0072B2"
    line = Line(text, ends, ends, color)
    spans = Spans(text, color, [text], [0], [0.0], [1.0])
    panels = (
        Panel(text, text, [line], title=text, ticks=[(0.0, text)], levels=[text]),
        Panel(text, text, [], boxes=[Boxes([text], [ends], label=text)]),
        Panel(text, text, [], heat=Heat([text, "x"], [text], [ends], text)),
        Panel(text, text, [], forest=Forest([text], [0.5], [0.0], [1.0], [color])),
        Panel(text, text, [], spans=[spans]),
    )
    graph = Graph([text, "b"], [ends, [1, 1]], [(0, 1)], [text], [1.0], [[0.5]], [[1.0, 2.0]])
    return [
        Chart(text, text, panels, note=text),
        Chart(text, text, [Panel("", "", [], graph=graph)]),
    ]


def written(svg: bytes) -> str:
    """Every text of a picture."""
    return "".join(ET.fromstring(svg).itertext()).replace("\u200b", "")


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.filterwarnings("ignore:constrained_layout")
@settings(max_examples=2, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp", "Cf"]),
               min_size=1, max_size=8))  # fmt: skip
@example(WORST[0])
@example(WORST[2])
def test_a_figure_on_paper_shows_texts_as_they_are(text: str) -> None:
    for chart in charts(text):
        svg = paper.encoded(paper.render(chart), ["svg"])["svg"]
        assert literal.printable(text).splitlines()[0] in written(svg)


def shown(part: object, key: str = "") -> list[str]:
    """The texts of a figure on the page, as plotly shows them, but those of its own."""
    if isinstance(part, dict):
        return [text for name, value in part.items() for text in shown(value, name)]
    if isinstance(part, list | tuple):
        return [text for value in part for text in shown(value, key)]
    if not isinstance(part, str) or key == "hovertemplate":
        return []
    assert "<" not in part.replace("<br>", "")
    return [html.unescape(part.replace("<br>", "\n"))]


@settings(max_examples=25, deadline=None)
@given(TEXTS)
@example(WORST[3])
@example(WORST[7])
def test_a_figure_on_the_page_shows_texts_as_they_are(text: str) -> None:
    for chart in charts(text):
        texts = shown(dict(page.render(chart)))
        assert literal.printable(text) in texts


@pytest.mark.filterwarnings("ignore:constrained_layout")
def test_a_page_shows_texts_as_they_are(tmp_path: Path) -> None:
    text = " ".join(WORST)
    table = Table(text, [text], [[text]])
    [chart, *_] = charts(text)
    drawn = [picture("name", chart)]
    sections = [Section(text, [text], [text], [table], drawn, text, lines=[(text, text)])]
    write(Page(text, text, sections, [f"error: {text}"]), tmp_path / "page.html")
    html_text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html_text.count(html.escape(literal.printable(text))) >= 11
    assert literal.printable(html_text) == html_text
    assert html_text.count("</script>") == 4
    assert "<img" not in html_text


def test_labels_are_shown_as_they_are_from_end_to_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = (r"flows.0.label='$\alpha_{$'", "flows.1.label='[red]<b>&[/red]'")
    result = run(TWO_FLOWS, overrides=("duration=1 s", *labels))
    show_run.summarise(result)
    shown = capsys.readouterr().out
    result.save(tmp_path / "out")
    text = report(tmp_path / "out").read_text()
    assert all(r"$\alpha_{$" in printed for printed in (shown, text))
    assert "[red]<b>&[/red]" in shown
    assert "[red]&lt;b&gt;&amp;[/red]" in text
    assert "[red]<b>" not in text


ROW = {
    **{"point": "", "scope": "flow", "id": "0", "metric": "mean_srtt_l4", "a": 1.0, "b": 2.0},
    **{"difference": -1.0, "low": -1.1, "high": -0.9, "effect": -3.0, "p": 0.01},
    **{"verdict": "worse", "more_runs": None, "n_a": 3, "n_b": 3, "paired": True, "family": "key"},
}


def compared(text: str) -> Comparison:
    rows = [{**ROW, "point": text, "id": text}, {**ROW, "point": "", "id": "-1"}]
    return Comparison(text, "old", pl.DataFrame(rows), [text], [])


@pytest.mark.parametrize("text", WORST)
def test_a_gate_shows_texts_as_they_are(text: str, tmp_path: Path) -> None:
    text = text.replace("\udc80", "")  # no data frame has one
    made = gate.Gate(compared(text), ("worse",), [(text, f"RuntimeError: {text}")])
    gate.save(made, tmp_path)
    [suites] = ET.parse(tmp_path / "gate.xml").iter("testsuites")
    names = {entry.get("name") for entry in suites.iter()}
    assert {literal.printable(text), f"flow {literal.printable(text)}"} & names
    assert literal.printable(text) in "".join(e.get("message", "") for e in suites.iter("error"))
    lines = (tmp_path / "gate.md").read_text().splitlines()
    shown = literal.markdown(text)
    assert f"- {literal.markdown(f'{text}: RuntimeError: {text}')}" in lines
    assert f"> {shown}" in lines
    [row] = [line for line in lines if line.startswith("|") and f"flow {shown}" in line]
    head = next(line for line in lines if line.startswith("| metric |"))
    assert len(re.findall(r"(?<!\\)\|", row)) == head.count("|")


def test_markdown_is_escaped_where_it_would_act_and_only_there() -> None:
    plain = ["mean_srtt_l4", "-", "-1.2 ± 0.3", "10 Mbit/s", "a, b: c", "cwnd + 1"]
    assert [literal.markdown(text) for text in plain] == plain
    acting = {
        "_a_": r"\_a\_",
        "# a": r"\# a",
        "1. a": r"1\. a",
        "a|b": r"a\|b",
        "<b> $x$": r"\<b> \$x\$",
        "a\nb": "a b",
    }
    assert {text: literal.markdown(text) for text in acting} == acting
    assert markdown(["a"], [["x|y"]]) == "| a |\n| --- |\n| x\\|y |\n"


CELLS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
    st.text("'=+-@\t\r\n\uff1d1.e %", max_size=4),
)


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4))
def test_no_text_in_csv_is_a_formula_and_each_is_read_as_it_was(
    rows: list[tuple[str, str]],
) -> None:
    table = [dict(zip("ab", row, strict=True)) for row in rows]
    csv_table.write(file := io.StringIO(newline=""), ["a", "b"], table)
    assert csv_table.read(io.StringIO(file.getvalue(), newline="")) == table
    frame = pl.DataFrame(table)
    text = csv_table.of_frame(frame)
    back = pl.read_csv(io.StringIO(text), schema_overrides=dict.fromkeys("ab", pl.String))
    assert csv_table.to_frame(back).fill_null("").equals(frame)
    assert csv_table.read(io.StringIO(text, newline="")) == table


def test_formulas_are_guarded_and_numbers_are_not() -> None:
    row = {"=a": "=1+1", "b": "@x", "c": -5, "d": "-5 %", "e": "-1e-3", "f": "-x", "g": "'=1"}
    csv_table.write(file := io.StringIO(), list(row), [row])
    expected = "'=a,b,c,d,e,f,g\n'=1+1,'@x,-5,-5 %,-1e-3,'-x,''=1\n"
    assert file.getvalue() == expected
    assert csv_table.of_frame(pl.DataFrame([row])) == expected


def test_a_comparison_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = compared("=cmd|' /C calc'!A0")
    directory.save(made, tmp_path, print)
    assert "'=cmd|" in (tmp_path / "comparison.csv").read_text()
    columns = ["point", "id"]
    assert directory.load(tmp_path).table.select(columns).equals(made.table.select(columns))


def test_a_terminal_gets_no_escape_of_others(tmp_path: Path) -> None:
    acting = "\x1b]0;title\x07\x9b2J"
    (tmp_path / "x.toml").write_text(TWO_FLOWS)
    for arguments in (
        ("run", f"{acting}.toml"),
        ("run", "x.toml", "--set", acting),
    ):
        text = "\n".join(on_a_terminal(*arguments, cwd=tmp_path, columns=300, status=2, err=True))
        assert literal.printable(acting) in text
        assert literal.printable(text) == text


def test_tables_and_progress_show_texts_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    tables.show("\x1b[1m", ["\x1b[2m"], [["\x1b[3m [red]x[/red]"]])
    with progress.steps() as tell:
        tell("\x1b[4m [red]y[/red]", 0.5)
    told = capsys.readouterr()
    assert "\x1b" not in told.out + told.err
    assert "\\x1b[3m [red]x[/red]" in told.out
    assert told.err.startswith("\\x1b[4m [red]y[/red] (50 %)\n")


LONG, MOST = "x" * 1_000_000, 700


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('"two-flows"', f'"{LONG}"', "name: '"),
        ('cca = "reno"', f'cca = "{LONG}"', "flows.0.cca: '"),
        ('cca = "reno"', f'cca = "reno"\n{LONG} = 1', "flows.0: key '"),
    ],
)
def test_what_is_long_is_refused_by_its_beginning(old: str, new: str, field: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        load(TWO_FLOWS.replace(old, new, 1))
    told = str(refused.value)
    assert field + "x" * 200 in told
    assert "... (1,000,000 characters) given; allowed: at most " in told
    assert len(told) < MOST


def test_messages_quote_the_beginning_of_what_is_long(tmp_path: Path) -> None:
    (tmp_path / "margins.toml").write_text(f'default = "{LONG}"')
    grid = f'{TWO_FLOWS}\n[sweep]\ngrid = {{ "flows.0.rtt" = "{"x" * 4000}" }}\n'
    link = {"from": LONG, "to": LONG, "capacity": 1}
    attempts = (
        lambda: load(TWO_FLOWS, [LONG]),
        lambda: load(TWO_FLOWS, [f"flows.0.label={LONG}"]),
        lambda: load(LONG),
        lambda: plan(load(grid)),
        lambda: margins(tmp_path / "margins.toml"),
        lambda: parse({"links": [link]}),
    )
    for attempt in attempts:
        with pytest.raises(ScenarioError, match=r"x'?\.\.\. \([0-9,]+ characters\)") as refused:
            attempt()
        assert len(str(refused.value)) < MOST
    assert len(unknown("metric", LONG, ["a"])) < MOST

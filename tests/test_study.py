"""The figure of docs/howto/study.md: how it is named, and what the page says that it shows."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import docs_commands as docs
from conftest import ROOT, Command
from sojourn.figures.plots.request import Request, chart

GUIDE = docs.page("docs/howto/study.md")
COMMANDS = [
    typed for block in GUIDE.blocks if block.mark == "run" for typed in docs.plain(block.text)
]
FILE = ROOT / "experiments" / "coexistence" / "beside-cubic.toml"
#: What makes runs short and few enough for every change.
BRIEF = (
    *("--set", "duration=2 s", "--set", "warmup=1 s"),
    *("--set", "topology.bottleneck.rate=5 Mbit/s"),
)
GRID = (
    '{"topology.bottleneck.queue.limit" = ["0.25 bdp", "8 bdp"], '
    '"flows.*.rtt" = ["20 ms", "60 ms"], "flows.0.cca" = ["bbr", "bbr3", "cubic", "prague"]}'
)
FEW = ("--set", f"sweep.grid={GRID}", "--set", "sweep.replications=2")


def figure(place: Path) -> tuple[Request, Path]:
    """What the first figure of the guide shows, and of which results."""
    plot = next(arguments for arguments in COMMANDS if arguments[0] == "plot")
    _, directory, *options = plot
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert (place / given.pop("--out")).stat().st_size > 0
    return Request(
        **{name.removeprefix("--"): axis for name, axis in given.items()}
    ), place / directory


def test_the_guide_shows_the_file() -> None:
    (text,) = [block.text for block in GUIDE.blocks if block.mark == "file"]
    assert FILE.read_text(encoding="utf-8").endswith(text)
    assert tomllib.loads(text)["sweep"]["replications"] == 10


def test_the_guide_is_two_commands_to_the_figure(called: Command, tmp_path: Path) -> None:
    """Ready for a paper: every panel, axis and line is named as a reader knows it."""
    sweep, plot, *_ = COMMANDS
    for arguments in ([*sweep, *BRIEF, *FEW], plot):
        done = called(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
    asked, results = figure(tmp_path)
    made = chart(results, asked)
    assert [panel.title for panel in made.panels] == 2 * ["FIFO", "FQ-CoDel", "DualPI2"]
    assert [panel.aside for panel in made.panels[::3]] == ["Base RTT 20 ms", "Base RTT 60 ms"]
    for panel in made.panels:
        assert [line.label for line in panel.lines] == ["BBR", "BBRv3", "Cubic", "Prague"]
        assert (panel.x_label, panel.log_x) == ("Buffer (BDP)", True)
        assert panel.y_label == "Challenger's share of throughput (%)"


@pytest.mark.long
def test_the_page_works_whole(tmp_path: Path) -> None:
    """The question that the page asks has its answer: BBR takes most of a shallow FIFO and little
    of a deep one, and FQ-CoDel shares evenly.
    """
    docs.follow(GUIDE, tmp_path / "here", whole=True)
    asked, results = figure(tmp_path / "here")
    fifo, fq_codel, _ = chart(results, asked).panels[:3]
    bbr = [float(share) for share in fifo.lines[0].y]
    assert bbr[0] > 80
    assert bbr[-1] < 50
    assert all(abs(float(share) - 50) < 5 for line in fq_codel.lines for share in line.y)

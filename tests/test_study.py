"""The commands of docs/howto/study.md, as a reader types them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from conftest import ROOT, Command
from guide_page import GuidePage
from sojourn.figures.plots.request import Request, chart

GUIDE = GuidePage("study.md")
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


def brief() -> list[list[str]]:
    """The first one of each kind, with short runs."""
    short = {"sweep": (*BRIEF, *FEW), "run": (*BRIEF, "--no-figures")}
    first: dict[str, list[str]] = {}
    for kind, *rest in GUIDE.commands():
        first.setdefault(kind, [kind, *rest, *short.get(kind, ())])
    return list(first.values())


def type_all(sojourn: Command, typed: list[list[str]]) -> None:
    for arguments in typed:
        done = sojourn(*arguments, timeout=3_600)
        assert done.returncode == 0, (arguments, done.stderr)


def figure(place: Path) -> tuple[Request, Path]:
    """What the first figure of the guide shows, and of which results."""
    plot = next(arguments for arguments in GUIDE.commands() if arguments[0] == "plot")
    _, directory, *options = plot
    given = dict(zip(options[::2], options[1::2], strict=True))
    assert (place / given.pop("--out")).stat().st_size > 0
    return Request(
        **{name.removeprefix("--"): axis for name, axis in given.items()}
    ), place / directory


def test_the_guide_shows_the_file() -> None:
    (text,) = GUIDE.blocks("toml")
    assert FILE.read_text(encoding="utf-8").endswith(text)
    assert tomllib.loads(text)["sweep"]["replications"] == 10


def test_the_guide_is_two_commands_to_the_figure(sojourn: Command, tmp_path: Path) -> None:
    """Ready for a paper: every panel, axis and line is named as a reader knows it."""
    type_all(sojourn, brief())
    asked, results = figure(tmp_path)
    made = chart(results, asked)
    assert [panel.title for panel in made.panels] == 2 * ["FIFO", "FQ-CoDel", "DualPI2"]
    assert [panel.aside for panel in made.panels[::3]] == ["Base RTT 20 ms", "Base RTT 60 ms"]
    for panel in made.panels:
        assert [line.label for line in panel.lines] == ["BBR", "BBRv3", "Cubic", "Prague"]
        assert (panel.x_label, panel.log_x) == ("Buffer (BDP)", True)
        assert panel.y_label == "Challenger's share of throughput (%)"


@pytest.mark.long
def test_the_commands(sojourn: Command, tmp_path: Path) -> None:
    """The question that the page asks has its answer: BBR takes most of a shallow FIFO and little
    of a deep one, and FQ-CoDel shares evenly.
    """
    type_all(sojourn, GUIDE.commands())
    asked, results = figure(tmp_path)
    fifo, fq_codel, _ = chart(results, asked).panels[:3]
    bbr = [float(share) for share in fifo.lines[0].y]
    assert bbr[0] > 80
    assert bbr[-1] < 50
    assert all(abs(float(share) - 50) < 5 for line in fq_codel.lines for share in line.y)

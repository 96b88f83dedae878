"""``sojourn capacity`` as a user types it."""

from __future__ import annotations

import csv
import io
import json
import resource
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import ROOT, Command
from sojourn.cli.capacity import command
from sojourn.errors import ScenarioError

#: It counts the paths that are compared.
pytestmark = pytest.mark.needs("graphillion")
GRID = ROOT / "experiments" / "capacity" / "grid-5x5.toml"
DIAMOND = """
links = [
    { from = "s", to = "a", capacity = 3, latency = 1 },
    { from = "a", to = "t", capacity = 2, latency = 1 },
    { from = "s", to = "b", capacity = 4, latency = 2.5 },
    { from = "b", to = "t", capacity = 4, latency = 2.5 },
]
"""
QUIET = ("--format", "json", "--no-figures")


@pytest.fixture
def diamond(tmp_path: Path) -> Path:
    """Two ways from s to t: 2 within 2, 6 within 5."""
    path = tmp_path / "diamond.toml"
    path.write_text(DIAMOND)
    return path


def test_json_has_what_is_documented(called: Command, diamond: Path, tmp_path: Path) -> None:
    done = called("capacity", diamond, "--source", "s", "--to", "t", "--deadline", 5, *QUIET)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert (printed["rate"], printed["bound"], printed["gap"]) == (6, 6, 0)
    assert printed["path_count"] == {"t": 2}
    assert printed["seconds"] > 0
    paths = {tuple(path["nodes"]): path["rate"] for path in printed["paths"]}
    assert paths == {("s", "a", "t"): 2, ("s", "b", "t"): 4}
    assert {"from": "s", "to": "a", "load": 2, "capacity": 3} in printed["links"]
    stored = json.loads((tmp_path / "results" / "diamond" / "capacity.json").read_text())
    assert stored == printed


def test_the_deadline_limits_the_paths(called: Command, diamond: Path) -> None:
    ends = ("--source", "s", "--to", "t")
    printed = json.loads(called("capacity", diamond, *ends, "--deadline", 4.9, *QUIET).stdout)
    assert (printed["rate"], printed["path_count"]) == (2, {"t": 1})
    free = json.loads(called("capacity", diamond, *ends, *QUIET).stdout)
    assert (free["rate"], free["deadline"]) == (6, None)


def test_paths_are_counted_where_less_memory_is_allowed_than_they_may_take(
    sojourn: Command, diamond: Path
) -> None:
    allowed = 6 << 30
    options = ("--source", "s", "--to", "t", "--memory", "8 GB", *QUIET)
    done = sojourn(
        *("capacity", diamond, *options),
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (allowed, allowed)),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["path_count"] == {"t": 2}


def test_one_command_gives_the_table_and_the_figure(called: Command, tmp_path: Path) -> None:
    options = ("--to", 5, "--to", 21, "--deadlines", "0,40:80:20", "--out", "out")
    done = called("capacity", GRID, *options, "--format", "csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [row["deadline"] for row in rows] == ["0", "40", "60", "80"]
    rates = [float(row["rate"]) for row in rows]
    assert rates[0] == 0
    assert rates == sorted(rates)
    assert [row["paths_to_5"] for row in rows][0::2] == ["0", "106"]
    assert done.stdout == (tmp_path / "out" / "deadlines.csv").read_text()
    assert (tmp_path / "out" / "figures" / "rate-over-deadline.png").stat().st_size > 5000


def test_a_picture_shows_the_network(called: Command, tmp_path: Path) -> None:
    options = ("--to", 5, "--to", 21, "--deadline", 60, "--routing", "--out", "out")
    done = called("capacity", GRID, *options)
    assert done.returncode == 0, done.stderr
    assert "rate" in done.stdout
    drawn = (tmp_path / "out" / "figures" / "network.svg").read_text()
    assert "routing alone" in drawn
    assert "to 21" in drawn


def test_a_count_that_does_not_fit_is_told(called: Command) -> None:
    done = called("capacity", GRID, "--deadline", 80, "--memory", "20 MB", *QUIET)
    assert done.returncode == 0, done.stderr
    assert "the diagram of the paths does not fit in 20 MB" in done.stderr
    printed = json.loads(done.stdout)
    assert set(printed["path_count"].values()) == {None}
    assert printed["rate"] > 0


def test_a_search_cut_short_says_how_far_it_may_be_from_the_optimum(called: Command) -> None:
    options = ("--routing", "--deadline", 80, "--seconds", 0, "--no-count")
    printed = json.loads(called("capacity", GRID, *options, *QUIET).stdout)
    assert 0 < printed["rate"] < 14 <= printed["bound"]
    assert printed["gap"] == pytest.approx(1 - printed["rate"] / printed["bound"])


def test_sessions_share_by_their_weights(called: Command, diamond: Path) -> None:
    text = 'sessions = [{ source = "s", to = "t", weight = 2 }, { source = "a", to = ["t"] }]'
    diamond.write_text(text + DIAMOND)
    printed = json.loads(called("capacity", diamond, *QUIET).stdout)
    assert printed["rate"] == 2
    assert printed["path_count"] == {"s->t": 2, "a->t": 2}
    carried = [0.0, 0.0]
    for path in printed["paths"]:
        carried[path["session"]] += path["rate"]
    assert carried == [4, 2]


def test_a_scenario_gives_its_topology(called: Command) -> None:
    scenario = ROOT / "experiments" / "catalogue" / "graph.toml"
    ends = ("--source", "a", "--to", "b")
    fast = json.loads(called("capacity", scenario, *ends, "--deadline", "10 ms", *QUIET).stdout)
    assert (fast["rate"], fast["path_count"]) == (10, {"b": 1})
    slow = json.loads(called("capacity", scenario, *ends, "--deadline", "30 ms", *QUIET).stdout)
    assert (slow["rate"], slow["path_count"]) == (18, {"b": 2})


@pytest.mark.parametrize(("topology", "to"), [("parking_lot", "n2"), ("dumbbell", "receivers")])
def test_the_other_topologies_have_graphs_too(called: Command, topology: str, to: str) -> None:
    scenario = ROOT / "experiments" / "catalogue" / f"{topology}.toml"
    source = {"n2": "n0", "receivers": "senders"}[to]
    done = called("capacity", scenario, "--source", source, "--to", to, *QUIET)
    assert json.loads(done.stdout)["rate"] == {"n2": 10, "receivers": 30}[to]
    back = called("capacity", scenario, "--source", to, "--to", source, *QUIET)
    assert back.returncode == 2
    assert "the rate has no limit" in back.stderr


LINK = '[[links]]\nfrom = "s"\nto = "t"\ncapacity = 1\n'
ENDS = 'source = "s"\nto = "t"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ENDS + LINK.replace("1", "-4"), "links.0.capacity: -4 given; allowed: 0 or more"),
        (ENDS + LINK + "latency = -1", "links.0.latency: -1 given; allowed: 0 or more"),
        (ENDS + LINK.replace("1", '"much"'), "links.0.capacity: 'much' given; expected"),
        (ENDS + LINK + "delay = 3", "links.0: unknown key 'delay'"),
        (ENDS + LINK.replace("capacity = 1\n", ""), "links.0.capacity: missing"),
        (ENDS + LINK.replace('to = "t"', 'to = "s"'), "links.0.to: 's' is where"),
        (ENDS + LINK + 'latency = "1 ms"', "links.0.latency: '1 ms' given; expected a number"),
        (ENDS + LINK.replace("1", '"1 Mbit/s"') + "latency = 1", "links.0.latency: 1 given"),
        (ENDS, "links: none given"),
        (LINK, "source: missing; name a node in the file, or give --source NODE"),
        ('source = "s"\n' + LINK, "to: missing"),
        ('source = "s"\nto = []\n' + LINK, "to: empty"),
        ('source = "S"\nto = "t"\n' + LINK, "source: unknown node 'S'"),
        (
            'source = "s"\nto = ["t", "tt"]\n' + LINK,
            "to: unknown node 'tt'; did you mean 't'",
        ),
        ('source = "s"\nto = "s"\n' + LINK, "to: 's' is the source"),
        ('directed = true\nsource = "t"\nto = "s"\n' + LINK, "to: 's' cannot be reached from 't'"),
        (ENDS + "deadline = 1\n" + LINK + "latency = 2", "deadline: no path from 's' to 't'"),
        (ENDS + 'deadline = "1 ms"\n' + LINK, "deadline: '1 ms' given; expected a number"),
        (ENDS + LINK + '[[sessions]]\nsource = "s"\nto = "t"', "source: given beside sessions"),
        (LINK + '[[sessions]]\nsource = "s"\nto = "t"\nweight = 0', "sessions.0.weight: 0 given"),
        (LINK + '[[sessions]]\nsource = "s"\nto = "u"', "sessions.0.to: unknown node 'u'"),
        ("links = 3", "links: none given"),
        ("links = [", "not valid TOML"),
    ],
)
def test_bad_input_is_told_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bad.toml"
    path.write_text(text)
    done = CliRunner().invoke(command, [str(path)])
    assert isinstance(done.exception, ScenarioError), done.output
    assert told in str(done.exception)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--to", "nowhere"), "to: unknown node 'nowhere'"),
        (("--deadline", "3"), "deadline: no path from 1 to "),
        (("--deadline", "soon"), "deadline: 'soon' given"),
        (("--deadline", "-3"), "deadline: -3.0 given"),
        (("--deadlines", "9:1"), "--deadlines 9:1: expected FROM:TO"),
        (("--deadlines", "0:9:0"), "--deadlines 0:9:0: expected FROM:TO"),
        (("--deadlines", "1,x"), "deadline: 'x' given"),
        (("--deadlines", "1:2", "--deadline", "3"), "--deadlines: given beside --deadline"),
        (("--memory", "much"), "--memory: 'much' given"),
    ],
)
def test_bad_options_are_told_by_name(called: Command, options: tuple[str, ...], told: str) -> None:
    done = called("capacity", GRID, *options)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_directory_holds_one_network(called: Command, diamond: Path) -> None:
    ends = ("--source", "s", "--to", "t", *QUIET, "--out", "out")
    assert called("capacity", diamond, *ends).returncode == 0
    assert called("capacity", diamond, *ends, "--deadline", 4).returncode == 0
    other = called("capacity", GRID, *QUIET, "--out", "out")
    assert other.returncode == 2
    assert "out: holds another capacity" in other.stderr
    assert called("capacity", GRID, *QUIET, "--out", "out", "--force").returncode == 0

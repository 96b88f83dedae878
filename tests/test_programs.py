"""Scenarios with programs: what the package makes of what a kernel tells of them. It is a fake one
(``fake_programs.py``).
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import fake_programs
import sojourn
from made_runs import run_of
from sojourn import _internal
from sojourn.backends.ends import Ends, failure, notes, told
from sojourn.backends.kernel import On
from sojourn.backends.programs import run
from sojourn.difference.checked import first_difference
from sojourn.errors import RunError, ScenarioError
from sojourn.evaluation.programs import others, programs_of
from sojourn.kernel import guest
from sojourn.programs import Written, lines
from sojourn.record import Record
from sojourn.sweeps.jitter import jittered


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with two scenarios and a kernel."""
    return fake_programs.prepared(monkeypatch, tmp_path)


def test_programs_see_little_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "bin:/opt/mine:/opt/\udcff")
    monkeypatch.setenv("MINE", "x")
    seen = guest.environment()
    path = seen.pop("PATH").split(":")
    assert path[0] == "/opt/mine"
    assert "/usr/sbin" in path
    assert "bin" not in path
    assert "/opt/\udcff" not in path
    assert sorted(seen) == [
        *("GNUTLS_CPUID_OVERRIDE", "HOME", "LANG", "OPENSSL_ia32cap"),
        *("PYTHONDONTWRITEBYTECODE", "TZ"),
    ]


def test_characters_that_come_in_two_parts_are_whole() -> None:
    parts = [Written(0, 1, 0.1, b"\xc3"), Written(1, 1, 0.2, b"x"), Written(0, 1, 0.3, b"\xbc!")]
    whole = [(line["time"], line["host"], line["text"]) for line in lines(parts, ["a", "b"])]
    assert whole == [(0.2, "b", "x"), (0.3, "a", "ü!")]


def test_the_program_of_a_text_is_its_first_command() -> None:
    for text in ("X=1 exec /usr/sbin/nginx -g 'a b'", ["/usr/sbin/nginx", "x"]):
        assert guest.first_word(text) == "/usr/sbin/nginx"
    assert guest.first_word("'") == "'"


def test_a_backend_runs_them_and_a_program_that_fails_fails_the_run(here: Path) -> None:
    result = sojourn.run("both.toml", backend="kernel")
    assert result.programs is not None
    assert result.programs.output[1]["text"] == "of Grüße\n"
    assert result.scenario.document["duration"] == "1 s"
    failing = 'programs.1.command="echo no route >&2; exit 4"'
    with pytest.raises(
        RunError, match=r"^echo \(sender\) ended with status 4 at 0.011 s: no route$"
    ):
        sojourn.run("both.toml", overrides=[failing], backend="kernel")
    for wrong in ('programs.0.host="nowhere"', 'programs.1.command=["no-such-program"]'):
        field = wrong.partition("=")[0]
        with pytest.raises(ScenarioError, match=f"^{field}: "):
            On().check(sojourn.load("both.toml", [wrong]).canonical)


def test_what_is_to_be_known_of_runs_is_warned_of_in_sweeps_once(here: Path) -> None:
    flows = 'flows=[{cca="reno", rtt="20 ms", count=2}]'
    more = [flows, 'programs.0={host="flow-1.sender", command="exit 3"}']
    server = "exit (flow-1.sender) ended with status 3 at 0.001 s"
    lost = "3 packets from receiver to flow-1.sender were dropped: no flow joins receiver and "
    lost += "flow-1.sender; declare one"

    def said(warned: pytest.WarningsRecorder) -> list[str]:
        return [str(one.message) for one in warned if one.category is UserWarning]

    with pytest.warns() as warned:
        sojourn.run("both.toml", overrides=more, backend="kernel")
    assert said(warned) == [f"warning: {told}" for told in (server, lost)]
    more.append('sweep.grid={"seed"=[1, 2, 3]}')
    with pytest.warns() as warned:
        sojourn.sweep("both.toml", overrides=more, backend="kernel", directory=here / "s")
    told = [f"warning: at least one run: {told}" for told in (server, lost)]
    assert said(warned) == told
    more.append('programs.1.command="exit 4"')
    with pytest.raises(
        RunError, match=r"status 4 at 0.011 s; exit \(flow-1.sender\) .*; 3 packets"
    ):
        sojourn.run("both.toml", overrides=more, backend="kernel")


def test_results_below_the_working_directory_are_hidden(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []

    def placed(*arguments: Any) -> dict[str, Any]:
        seen.append(json.loads(arguments[3])["hidden"])
        return fake_programs.run_programs(*arguments)

    monkeypatch.setattr(_internal, "run_programs", placed)
    for directory in ("deep/s", "../beside"):
        sojourn.sweep("both.toml", backend="kernel", directory=directory)
    sojourn.run("both.toml", backend="kernel", spool=here / "deep")
    sojourn.run("both.toml", backend="kernel")
    assert seen == [str(here / "deep" / "s"), None, str(here / "deep"), None]


def test_a_working_directory_is_utf_8(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = here / "\udcff"
    wrong.mkdir()
    monkeypatch.chdir(wrong)
    with pytest.raises(ScenarioError, match=r"^programs: the working directory, .*\\udcff, has a "):
        sojourn.run(here / "both.toml", backend="kernel")


def test_harm_is_not_known_of_programs() -> None:
    with pytest.raises(ScenarioError, match="harm: needs runs of a flow alone"):
        _ = sojourn.run("both.toml", metrics=["harm_throughput_l4"], backend="kernel").flows


def test_a_sweep_stores_the_connections(here: Path) -> None:
    flows = '[{cca="reno", rtt="20 ms"}, {cca="cubic", rtt="20 ms"}]'
    grid = '{"programs.1.command" = ["true", "exit 5"]}'
    overrides = [f"flows={flows}", f"sweep.grid={grid}"]
    done = sojourn.sweep("both.toml", overrides=overrides, backend="kernel", directory=here / "s")
    assert [error for _, error in done.failures] == ["exit (sender) ended with status 5 at 0.011 s"]
    rows = done.runs.filter(scope="flow").select("cca", "label").rows()
    assert sorted(rows) == [("cubic", None), ("reno", "tcp 40000>5201")]


def test_what_may_have_ended_a_program_is_told_beside_its_status() -> None:
    programs = [{"host": "sender", "command": ["/usr/bin/deno"], "wait": True}]
    canonical = {"programs": programs, "duration": "30 s"}
    ends = Ends(
        {0: (137, 1.25)},
        [Written(0, 2, 1.0, b"warning\npanicked\n")],
        unrouted={},
        lacks=[(321, "deno"), (321, "deno")],
        killed=["deno"],
        left_out=3_000_000_000,
        cut=[0],
        uncopied="a: permission denied",
    )
    assert failure(canonical, ends) == (
        "deno (sender) ended with status 137 at 1.25 s: panicked; deno was killed: the guest has "
        "1 GB; deno asked for system call 321, which the guest's kernel has not"
    )
    assert list(told(canonical, ends, 0)) == []
    empty = run_of([[0.0]])
    assert list(notes(canonical, ends, empty, []).values()) == [
        "deno was killed: the guest has 1 GB",
        "deno asked for system call 321, which the guest's kernel has not",
        "3000 MB of files are too many to be kept",
        "a file is not kept: a: permission denied",
        "of what deno (sender) wrote only the first 64 MB are kept",
    ]
    fine = Ends({0: (0, 1.0)}, lacks=[(321, "deno")])
    assert notes(canonical, fine, empty, []) == {}
    assert fine.status(programs) == 0
    assert Ends({}).status(programs) == 124
    both = [*programs, *programs]
    assert Ends({1: (3, 0.5), 0: (4, 0.6)}).status(both) == 3


def test_the_first_packet_that_differs_is_named(here: Path) -> None:
    scenario = sojourn.load("both.toml", ["record=['packets']"])
    one, other = (run(scenario, On().asked()).result for _ in range(2))
    assert first_difference(one, other) == ""
    assert one.programs is not None
    other.programs = replace(one.programs, hash="another")
    assert first_difference(one, other).startswith("no packet and no output, but the ends")
    moved = (pl.col("time") + 1e-9 * (pl.col("time") > 0.1)).alias("time")
    packets = one.record.scan("packets").with_columns(moved)
    other.record = Record({"packets": packets})
    named = first_difference(one, other)
    assert re.match(r"flow 0, link \w+, \w+ of packet \d+ at 0\.10\d+ s: time 0\.\d+ and ", named)


def test_packets_have_the_numbers_of_the_runs_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of connections without data, which are none of its flows, come after all others."""

    def numbered(*arguments: Any) -> dict[str, Any]:
        return {**fake_programs.run_programs(*arguments), "connections": [(1, 0), (7, 1)]}

    monkeypatch.setattr(_internal, "run_programs", numbered)
    flows = 'flows=[{cca="reno", rtt="20 ms", count=2}]'
    scenario = sojourn.load("both.toml", [flows, "record=['packets']"])
    packets = run(scenario, On().asked()).result.packets
    assert sorted(packets["flow"].unique()) == [0, 2]


def test_a_program_that_is_waited_for_starts_a_little_later() -> None:
    canonical = sojourn.load("both.toml").canonical
    moved = jittered(canonical, "100 ms")["programs"]
    assert moved[0] == canonical["programs"][0]
    assert 10e6 < float(moved[1]["start"].removesuffix(" ns")) < 110e6
    assert moved != jittered({**canonical, "seed": 2}, "100 ms")["programs"]


def test_sweeps_tell_of_their_programs_which_comparisons_name(here: Path) -> None:
    server = here / "server"

    def swept(name: str, text: str) -> None:
        server.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        server.chmod(0o755)
        overrides = [f'programs.0.command=["{server}"]', 'sweep.grid={"seed" = [1, 2]}']
        sojourn.sweep("both.toml", overrides=overrides, backend="kernel", directory=here / name)

    swept("old", "exit 99")
    with pytest.raises(ScenarioError, match=rf"{server} was another program then"):
        swept("old", "sleep 0; exit 99")
    swept("new", "sleep 0; exit 99")
    old, new = (
        json.loads((here / name / "manifest.json").read_text())["programs"]
        for name in ("old", "new")
    )
    assert old[0] == [{**new[0][0], "digest": old[0][0]["digest"]}]
    assert old[0] != new[0]
    assert old[1] == new[1]
    made = sojourn.compare(here / "new", here / "old")
    (note,) = (note for note in made.notes if "differs" in note)
    one, other = (f"{server} on receiver ({server} {it[0][0]['digest']})" for it in (new, old))
    assert note == f"programs.0 differs: {one} against {other}"
    assert not any("differs" in note for note in sojourn.compare(here / "new", here / "new").notes)


def test_programs_that_differ_are_named_by_place_and_none_where_one_side_tells_of_none() -> None:
    calls = [{"host": "sender", "command": f"call {number}"} for number in range(4)]
    several, one = programs_of([calls]), programs_of([calls[:1], calls[1:2]])
    assert list(others(several, one)) == [
        "programs.0 differs: call 1 on sender (no file) and call 2 on sender (no file) and 1 more "
        "against none besides",
        "programs.1 differs: none besides against call 1 on sender (no file)",
    ]
    assert list(others(several, {})) == []

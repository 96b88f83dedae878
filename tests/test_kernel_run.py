"""``sojourn kernel run`` and scenarios with programs: what the package does with them. Their kernel
is a fake here (``fake_programs.py``); tests/test_programs.py has the real one.
"""

from __future__ import annotations

import gc
import json
from pathlib import Path

import click
import pytest

import fake_programs
import sojourn
from sojourn.backends.kernel import On
from sojourn.cli.kernel import command
from sojourn.errors import RunError, ScenarioError, SojournError
from sojourn.kernel import guest
from sojourn.programs import Written, lines

SCENARIO = """
name = "programs"
duration = "1 s"
topology = { kind = "dumbbell", bottleneck = { rate = "8 Mbit/s" } }
[[flows]]
cca = "reno"
rtt = "20 ms"
"""
PROGRAMS = """
[[programs]]
host = "receiver"
command = "echo ready >&2; exit 99"
[[programs]]
host = "sender"
command = ["sh", "-c", "echo 'of Grüße'"]
start = "10 ms"
wait = true
"""
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with two scenarios and a kernel."""
    there = tmp_path / "here"
    there.mkdir()
    monkeypatch.chdir(there)
    fake_programs.install(monkeypatch, tmp_path / "cache")
    (there / "link.toml").write_text(SCENARIO, encoding="utf-8")
    (there / "both.toml").write_text(SCENARIO + PROGRAMS, encoding="utf-8")
    return there


def typed(*arguments: str) -> int:
    """The exit status of ``sojourn kernel run`` with these arguments."""
    with pytest.raises(SystemExit) as ended:
        command.main(["run", *arguments], standalone_mode=False)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_the_command_is_heard_and_its_status_comes_back(here: Path, capfd: Captured) -> None:
    line = "printf 'out\\n'; echo err >&2; exit 7"
    server = ("--on", "receiver", "printf 'a\\nb'; exit 99")
    assert typed("link.toml", *server, "--out", "out", "--", "sh", "-c", line) == 7
    told = capfd.readouterr()
    assert told.out == "out\n"
    lines = told.err.splitlines()
    assert lines[:3] == ["[  0.001000000 receiver] a", "err", "[  0.001000000 receiver] b"]
    manifest = json.loads((here / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert lines[-2:] == ["results: out", f"hash {manifest['hash']}"]
    assert len(manifest["hash"]) == 32
    server_entry, own = manifest["programs"]
    assert own["command"] == ["sh", "-c", line]
    assert (own["host"], own["started"], own["ended"], own["status"]) == ("sender", 0.01, 0.011, 7)
    assert Path(own["executable"]).name == "sh"
    assert len(own["digest"]) == 16
    assert server_entry["started"] == 0
    assert "ended" not in server_entry


def test_files_and_output_are_kept_and_go_with_the_next_run(here: Path) -> None:
    line = "mkdir -p deep/er; echo x > deep/er/x; ln -s /etc/passwd leads; printf 'Gr\\303'"
    assert typed("link.toml", "--out", "out", "--", "sh", "-c", line) == 0
    kept = [path.relative_to(here / "out") for path in (here / "out" / "files").rglob("*")]
    assert sorted(map(str, kept)) == ["files/deep", "files/deep/er", "files/deep/er/x"]
    result = sojourn.open(here / "out")
    assert isinstance(result, sojourn.Result)
    assert result.programs is not None
    (said,) = result.programs.output
    assert said == {
        **{"time": 0.011, "program": 0, "host": "sender", "stream": "stdout", "text": "Gr\\xc3"}
    }
    result.save(here / "copy")
    assert (here / "copy" / "files" / "deep" / "er" / "x").read_text() == "x\n"
    assert typed("link.toml", "--out", "out", "--force", "--", "true") == 0
    assert not (here / "out" / "files").exists()
    assert (here / "out" / "output.jsonl").read_text() == ""
    del result
    gc.collect()  # what pytest keeps of the exit has the run
    assert [path.name for path in (here / "out").glob(".*")] == [".lock"]


def test_a_file_may_have_all_programs(here: Path, capfd: Captured) -> None:
    assert typed("both.toml", "--out", "out") == 0
    told = capfd.readouterr()
    assert told.out == ""
    assert "[  0.011000000 sender] of Grüße\n" in told.err
    stored = sojourn.open(here / "out")
    assert [flow["label"] for flow in stored.flows.to_dicts()] == ["tcp 40000>5201"]
    assert stored.scenario.canonical["duration"] == "0.111 s"
    with pytest.raises(click.UsageError, match="no COMMAND, and no program of FILE has wait"):
        command.main(["run", "link.toml"], standalone_mode=False)


def test_what_has_not_ended_is_named(capfd: Captured) -> None:
    server = ("--on", "receiver@0.5s", "echo sorry >&2; exit 3")
    assert typed("link.toml", *server, "--", "sh", "-c", "exit 99") == 124
    told = capfd.readouterr().err
    assert "sh (sender) had not ended at 1 s, the scenario's duration: status 124\n" in told
    assert "echo (receiver) ended with status 3 at 0.501 s: sorry\n" in told


def test_packets_that_no_flow_carries_are_told(capfd: Captured) -> None:
    more = ("--set", 'flows=[{cca="reno", rtt="20 ms", count=2}]')
    assert typed("link.toml", *more, "--on", "flow-1.sender", "true", "--", "true") == 0
    assert (
        "3 packets from receiver to flow-1.sender were dropped: no flow joins receiver and "
        "flow-1.sender; declare one"
    ) in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--on", "server@x", "true", "--", "true"),
            "--on server@x: expected HOST or HOST@TIME, such as receiver@0.5s",
        ),
        (("--on", "server", "true", "--", "true"), "--on server: 'server' given; there are: "),
        (
            ("--", "no-such-program"),
            "COMMAND: no-such-program: not found on this machine, whose programs the guest runs",
        ),
        (("--kernel", "6.1", "--", "true"), "programs: kernel 6.1.1 given; they need 6.12 or"),
    ],
    ids=lambda given: "",
)
def test_what_cannot_be_is_refused_by_option(arguments: tuple[str, ...], message: str) -> None:
    fake_programs.build("6.1.1")
    with pytest.raises(ScenarioError) as refused:
        command.main(["run", "link.toml", *arguments], standalone_mode=False)
    assert str(refused.value).startswith(message)


def test_programs_are_not_run_in_the_root_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(Path("link.toml").absolute())
    monkeypatch.chdir("/")
    with pytest.raises(ScenarioError, match="the working directory is /"):
        command.main(["run", file, "--", "true"], standalone_mode=False)


def test_a_check_runs_twice(capfd: Captured) -> None:
    assert typed("link.toml", "--check", "--", "true") == 0
    assert "--check: two runs are the same\n" in capfd.readouterr().err
    line = "read seconds rest < /proc/uptime; cat /proc/sys/kernel/random/uuid"
    with pytest.raises(SojournError, match=r"differ first in output: '.*' of program 0 \(sender\)"):
        command.main(["run", "link.toml", "--check", "--", "sh", "-c", line], standalone_mode=False)


def test_programs_see_little_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "bin:/opt/mine")
    monkeypatch.setenv("MINE", "x")
    seen = guest.environment()
    path = seen.pop("PATH").split(":")
    assert path[0] == "/opt/mine"
    assert "/usr/sbin" in path
    assert "bin" not in path
    assert sorted(seen) == [
        *("GNUTLS_CPUID_OVERRIDE", "HOME", "LANG", "OPENSSL_ia32cap"),
        *("PYTHONDONTWRITEBYTECODE", "TZ"),
    ]


def test_characters_that_come_in_two_parts_are_whole() -> None:
    parts = [Written(0, 1, 0.1, b"\xc3"), Written(1, 1, 0.2, b"x"), Written(0, 1, 0.3, b"\xbc!")]
    told = [(line["time"], line["host"], line["text"]) for line in lines(parts, ["a", "b"])]
    assert told == [(0.2, "b", "x"), (0.3, "a", "ü!")]


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


def test_a_run_without_connections_is_stored(here: Path) -> None:
    """A program that sends nothing has a hash and output, too."""
    assert typed("link.toml", "--set", "flows.0.label=silent", "--out", "out", "--", "echo") == 0
    stored = sojourn.open(here / "out")
    assert len(stored.flows) == 0
    assert len(stored.links) > 0
    assert stored.programs.output[0]["text"] == "\n"

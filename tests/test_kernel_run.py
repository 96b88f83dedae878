"""``sojourn kernel run``, as a user types it. The kernel is a fake (``fake_programs.py``);
tests/test_programs_kernel.py has a real one.
"""

from __future__ import annotations

import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import fake_programs
import sojourn
from sojourn import _internal
from sojourn.cli.kernel import command
from sojourn.cli.screen import Screen
from sojourn.errors import RunError, ScenarioError, SojournError

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with two scenarios and a kernel."""
    return fake_programs.prepared(monkeypatch, tmp_path)


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
    said = capfd.readouterr()
    assert said.out == "out\n"
    lines = said.err.splitlines()
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
    line = "mkdir -p deep/er none/inside; echo x > deep/er/x; ln -s /etc/passwd leads"
    line += "; printf 'Gr\\303'"
    assert typed("link.toml", "--out", "out", "--", "sh", "-c", line) == 0
    kept = [path.relative_to(here / "out") for path in (here / "out" / "files").rglob("*")]
    wanted = ["files/deep", "files/deep/er", "files/deep/er/x", "files/none", "files/none/inside"]
    assert sorted(map(str, kept)) == wanted
    result = sojourn.open(here / "out")
    assert isinstance(result, sojourn.Result)
    assert result.programs is not None
    (said,) = result.programs.output
    assert said == {
        **{"time": 0.011, "program": 0, "host": "sender", "stream": "stdout", "text": "Gr\\xc3"}
    }
    result.save(here / "copy")
    assert (here / "copy" / "files" / "deep" / "er" / "x").read_text() == "x\n"
    assert (here / "copy" / "files" / "none" / "inside").is_dir()
    assert typed("link.toml", "--out", "out", "--force", "--", "true") == 0
    assert not (here / "out" / "files").exists()
    assert (here / "out" / "output.jsonl").read_text() == ""
    del result
    gc.collect()  # what pytest keeps of the exit has the run
    assert [path.name for path in (here / "out").glob(".*")] == [".lock"]


def test_a_file_may_have_all_programs(here: Path, capfd: Captured) -> None:
    assert typed("both.toml", "--out", "out") == 0
    said = capfd.readouterr()
    assert said.out == ""
    assert "[  0.011000000 sender] of Grüße\n" in said.err
    stored = sojourn.open(here / "out")
    assert [flow["label"] for flow in stored.flows.to_dicts()] == ["tcp 40000>5201"]
    assert stored.scenario.canonical["duration"] == "0.111 s"
    with pytest.raises(click.UsageError, match="no COMMAND, and no program of FILE has wait"):
        command.main(["run", "link.toml"], standalone_mode=False)


def test_what_has_not_ended_is_named(capfd: Captured) -> None:
    server = ("--on", "receiver@0.5s", "echo sorry >&2; exit 3")
    assert typed("link.toml", *server, "--", "sh", "-c", "exit 99") == 124
    said = capfd.readouterr()
    assert "sh (sender) had not ended at 1 s, the scenario's duration: status 124\n" in said.err
    assert "echo (receiver) ended with status 3 at 0.501 s: sorry\n" in said.err


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
    for line, told in (
        ("cat /proc/sys/kernel/random/uuid > made", "made: the content of the file"),
        ("mkdir `cat /proc/sys/kernel/random/uuid`", ".*: (a directory|nothing) in one run, "),
    ):
        with pytest.raises(SojournError, match=f"two runs differ first in files/{told}"):
            command.main(
                ["run", "link.toml", "--check", "--", "sh", "-c", line], standalone_mode=False
            )
    line = "read seconds rest < /proc/uptime; cat /proc/sys/kernel/random/uuid"
    with pytest.raises(SojournError, match=r"differ first in output: '.*' of program 0 \(sender\)"):
        command.main(["run", "link.toml", "--check", "--", "sh", "-c", line], standalone_mode=False)


def test_a_run_without_connections_is_stored(here: Path) -> None:
    """A program that sends nothing has a hash and output, too."""
    assert typed("link.toml", "--set", "flows.0.label=silent", "--out", "out", "--", "echo") == 0
    stored = sojourn.open(here / "out")
    assert len(stored.flows) == 0
    assert len(stored.links) > 0
    assert stored.programs.output[0]["text"] == "\n"


def test_bytes_that_took_a_way_without_a_bottleneck_are_told(
    capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def past(*arguments: Any) -> dict[str, Any]:
        made = fake_programs.run_programs(*arguments)
        network = json.loads(made["network"])
        free = [place for place, link in enumerate(network["links"]) if not link["rate"]]
        return {**made, "network": json.dumps({**network, "paths": [free]})}

    monkeypatch.setattr(_internal, "run_programs", past)
    assert typed("link.toml", "--out", "a", "--", "true") == 0
    assert re.search(
        r"warning: [\d.]+ MB in [\d.]+ s \([\d.]+ Mbit/s; the scenario's rate: 8\.000 Mbit/s\) "
        "took a way that has no bottleneck",
        capfd.readouterr().err,
    )


@pytest.mark.parametrize("others", [(), ("--on", "receiver", "yes | head -n 20000; exit 99")])
def test_a_reader_that_leaves_ends_no_run(here: Path, others: tuple[str, ...]) -> None:
    """Neither of what the command says nor of what is said beside it."""
    patched = "import fake_programs as f; f._internal.run_programs = f.run_programs"
    called = f"{patched}; from sojourn.cli import main; main()"
    words = [sys.executable, "-c", called, "kernel", "run", "link.toml", *others]
    line = ["--out", "out", "--", "sh", "-c", "yes | head -n 20000; exit 7"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    reads, writes = os.pipe()
    os.close(reads)
    streams = {"stdout": writes, "stderr": writes}
    done = subprocess.run([*words, *line], env=environment, check=False, **streams)
    os.close(writes)
    assert done.returncode == 7
    assert json.loads((here / "out" / "manifest.json").read_text())["programs"][-1]["status"] == 7


def test_a_file_may_be_where_a_directory_was_and_keeps_its_permissions(here: Path) -> None:
    one = "mkdir -p a/b; echo 1 > a/b/c; echo 2 > d; chmod 600 d; printf x > e; chmod 750 e"
    other = "echo 3 > a; mkdir d; echo 4 > d/f; echo 5 > unread; chmod 0 unread"
    assert typed("link.toml", "--out", "out", "--", "sh", "-c", one) == 0
    files = here / "out" / "files"
    modes = {name: (files / name).stat().st_mode & 0o777 for name in ("d", "e")}
    assert modes == {"d": 0o600, "e": 0o750}
    assert typed("link.toml", "--out", "out", "--force", "--", "sh", "-c", other) == 0
    assert ((files / "a").read_text(), (files / "d/f").read_text()) == ("3\n", "4\n")
    assert (files / "unread").stat().st_mode & 0o777 == 0o400


def test_a_status_is_not_lost_with_the_results(
    capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sojourn.store.run_directory.save", full)
    assert typed("link.toml", "--out", "out", "--", "sh", "-c", "exit 7") == 7
    assert typed("link.toml", "--out", "out", "--", "true") == 1
    assert "cannot be stored: [Errno 28] No space left on device\n" in capfd.readouterr().err
    assert not Path("out/manifest.json").exists()


def test_the_status_is_the_commands_own(here: Path, capfd: Captured) -> None:
    others = '[[programs]]\nhost="receiver"\ncommand="exit {}"\nwait=true\n'
    (here / "more.toml").write_text(fake_programs.SCENARIO + others.format(3) + others.format(99))
    assert typed("more.toml", "--", "true") == 0
    told = capfd.readouterr().err
    assert "warning: exit (receiver) ended with status 3 at 0.001 s\n" in told
    assert "warning: exit (receiver) had not ended at 1 s, the scenario's duration\n" in told
    assert typed("more.toml", "--", "sh", "-c", "exit 4") == 4
    (here / "more.toml").write_text(fake_programs.SCENARIO + others.format(3))
    assert typed("more.toml") == 3


def test_a_program_may_go_with_its_run(here: Path) -> None:
    own = here / "own"
    own.write_text('#!/bin/sh\nrm "$0"\n', encoding="utf-8")
    own.chmod(0o755)
    assert typed("link.toml", "--out", "out", "--", str(own)) == 0
    (told,) = json.loads((here / "out" / "manifest.json").read_text())["programs"]
    assert told["executable"] == str(own)


@pytest.mark.parametrize("given", ["inf", "nan", "0", "1e300"])
def test_what_is_no_time_to_wait_is_refused(given: str) -> None:
    with pytest.raises(click.BadParameter, match="given; expected more than 0") as refused:
        command.main(["run", "link.toml", "--watchdog", given, "--", "true"], standalone_mode=False)
    assert refused.value.param.opts == ["--watchdog"]


def test_long_lines_are_told_in_parts_and_lines_without_end_when_a_run_fails(
    capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen(["receiver"], None)
    for at in range(1200):
        screen.heard(0, 1, at / 1000, b"x" * 100)
    screen.heard(0, 1, 2.0, b"\n\nend")
    first, second, *others = capfd.readouterr().err.splitlines()
    assert (len(first), len(first) + len(second)) == (65536 + 25, 120_000 + 50)
    assert others == ["[  2.000000000 receiver] "]

    def fails(*arguments: Any) -> dict[str, Any]:
        arguments[-1](0, 2, 0.5, b"panic")
        raise RuntimeError("the kernel ended")

    monkeypatch.setattr(_internal, "run_programs", fails)
    with pytest.raises(RunError, match="the kernel ended"):
        command.main(["run", "both.toml"], standalone_mode=False)
    assert capfd.readouterr().err == "[  0.500000000 receiver] panic\n"

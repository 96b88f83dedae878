"""Programs on hosts of a kernel in virtual time, which CI does not build."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from conftest import ROOT, Command, Offspring
from sojourn.opened import open_directory as stored

pytestmark = [pytest.mark.concurrent, pytest.mark.needs("virtual-kernel")]
SCENARIO = """
name = "programs"
duration = "5 s"
topology = { kind = "dumbbell", bottleneck = { rate = "20 Mbit/s" } }
[[flows]]
cca = "cubic"
rtt = "40 ms"
"""
#: Sends what it gets back, to anyone.
ECHO = """
import socket
server = socket.socket(type=socket.SOCK_DGRAM)
server.bind(("", 7))
while True:
    server.sendto(*server.recvfrom(100))
"""
#: Asks each of its arguments, and says who has answered.
ASK = """
import socket, sys
for name in sys.argv[1:]:
    client = socket.socket(type=socket.SOCK_DGRAM)
    client.connect((name, 7))
    client.send(name.encode())
    print(client.recv(100).decode(), client.getpeername()[0])
"""
#: Reads clocks by itself and by a call of the kernel, in turn: says how many steps there are of
#: either, how many are those of a call (a clock has no more than 256 ns), and the smallest.
CLOCKS = """
import ctypes, time
call, spec = ctypes.CDLL(None).syscall, (ctypes.c_long * 2)()
told = [0] * 10000
for clock in (time.CLOCK_REALTIME, time.CLOCK_MONOTONIC):
    for i in range(0, len(told), 2):
        told[i] = time.clock_gettime_ns(clock)
        call(228, clock, spec)
        told[i + 1] = spec[0] * 1000000000 + spec[1]
    steps = [b - a for a, b in zip(told, told[1:])]
    by = [sum(760 < step < 1030 for step in steps[first::2]) for first in (0, 1)]
    print(*by, min(steps))
"""
#: Takes all memory, 128 MB by a call: faults for each page take the guest long.
GREEDY = "from mmap import *; how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE; "
GREEDY += "held = [mmap(-1, 1 << 27, how) for _ in range(20)]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "link.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    (tmp_path / "ask.py").write_text(ASK, encoding="utf-8")
    (tmp_path / "data").write_bytes(bytes(500_000))
    return path


def hash_of(out: Path) -> str:
    return str(json.loads((out / "manifest.json").read_text(encoding="utf-8"))["hash"])


@pytest.mark.needs("curl")
def test_a_download_is_the_same_each_time(sojourn: Command, file: Path, tmp_path: Path) -> None:
    server = ("--on", "receiver", "exec python3 -m http.server 80 2>&1")
    line = (
        "--",
        "curl",
        "-s",
        "-o",
        "got",
        "-w",
        "%{size_download} %{time_total}",
        "receiver/data",
    )
    for out in ("a", "b"):
        record = ("--record", "packets", "--out", out)
        done = sojourn("kernel", "run", file, *server, *record, *line)
        assert done.returncode == 0, done.stderr
        size, seconds = done.stdout.split()
        assert int(size) == 500_000
        assert 0.25 < float(seconds) < 0.6  # of which 0.2 s are at the link's rate
    assert hash_of(tmp_path / "a") == hash_of(tmp_path / "b")
    outputs = [(tmp_path / out / "output.jsonl").read_text() for out in ("a", "b")]
    assert outputs[0] == outputs[1]
    assert "GET /data" in outputs[0]
    assert (tmp_path / "a" / "files" / "got").stat().st_size == 500_000
    assert not (tmp_path / "got").exists()
    assert "no packet differs" in sojourn("diff", "a", "b").stdout
    checked = sojourn("kernel", "run", file, *server, "--check", "--out", "c", *line)
    assert "--check: two runs are the same" in checked.stderr


@pytest.mark.needs("curl")
@pytest.mark.parametrize("family", ["-4", "-6"])
def test_names_are_found_in_both_families(
    sojourn: Command, file: Path, tmp_path: Path, family: str
) -> None:
    server = ("--on", "receiver", "exec python3 -m http.server --bind :: 80")
    line = ("--", "curl", family, "-s", "-o", "/dev/null", "flow-0.receiver/data")
    done = sojourn("kernel", "run", file, *server, "--out", "out", *line)
    assert done.returncode == 0, done.stderr
    flows = stored(tmp_path / "out").flows
    data = flows.sort("mean_throughput_l4").to_dicts()[-1]
    assert data["label"].startswith("tcp receiver:80>")
    assert data["mean_throughput_l4"] > 10


def test_programs_know_their_place(sojourn: Command, file: Path) -> None:
    line = "hostname; echo $SOJOURN_HOST $HOME $MINE; date -u +%F; cat /proc/sys/kernel/ostype"
    done = sojourn(
        "kernel", "run", file, "--date", "2030-05-06", "--", "sh", "-c", f"{line}; exit 9"
    )
    assert done.returncode == 9, done.stderr
    assert done.stdout == "sender\nsender /tmp\n2030-05-06\nLinux\n"


def test_a_clock_says_the_same_whoever_reads_it(sojourn: Command, file: Path) -> None:
    done = sojourn("kernel", "run", file, "--", "python3", "-c", CLOCKS)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        itself, call, smallest = map(int, line.split())
        assert itself > 4900
        assert call > 4900
        assert smallest > 760


def test_programs_begin_as_from_a_shell_and_may_confine_others(
    sojourn: Command, file: Path, tmp_path: Path
) -> None:
    """No signal is ignored or blocked, and browsers may make the namespaces that they ask for."""
    line = "grep -E '^Sig(Blk|Ign)' /proc/self/status; unshare --user --map-root-user id -u"
    line += "; mkdir -p empty/inside; cut -d ' ' -f 2 /proc/mounts | head -n 1"
    done = sojourn("kernel", "run", file, "--out", "out", "--", "sh", "-c", line)
    none = "0" * 16
    assert done.stdout == f"SigBlk:\t{none}\nSigIgn:\t{none}\n0\n/\n", done.stderr
    assert (tmp_path / "out" / "files" / "empty" / "inside").is_dir()


def test_sixteen_hosts_talk(sojourn: Command, file: Path) -> None:
    more = ("--set", "flows=[" + ", ".join(['{cca="cubic", rtt="10 ms"}'] * 8) + "]")
    servers = [("--on", f"flow-{n}.receiver", "exec python3 echo.py") for n in range(8)]
    asking = [
        ("--on", f"flow-{n}.sender@1s", f"python3 ask.py flow-{n}.receiver") for n in range(8)
    ]
    words = [word for option in (*servers, *asking) for word in option]
    done = sojourn("kernel", "run", file, *more, *words, "--", "sleep", "3")
    assert done.returncode == 0, done.stderr
    for number in range(8):
        answer = f"flow-{number}.sender] flow-{number}.receiver 10.80.0."
        assert answer in done.stderr, done.stderr


def test_a_call_beside_a_flow_of_the_scenario_waits_in_its_queue(
    sojourn: Command, file: Path, tmp_path: Path
) -> None:
    flows = 'flows=[{cca="cubic", rtt="40 ms"}, {cca="cubic", rtt="40 ms"}]'
    server = ("--on", "receiver", "exec python3 echo.py")
    asks = ("--on", "sender@3s", "python3 ask.py receiver")
    options = ("--set", flows, "--out", "out", *server, *asks)
    done = sojourn("kernel", "run", file, *options, "--", "sleep", "4")
    assert done.returncode == 0, done.stderr
    result = stored(tmp_path / "out")
    labels = result.flows["label"].to_list()
    assert labels[0] is None
    assert [label.partition(" ")[0] for label in labels[1:]] == ["udp", "udp"]
    assert result.flows["mean_throughput_l4"][0] > 15
    (said,) = [line for line in result.programs.output if line["program"] == 1]
    assert said["time"] > 3.045  # a round trip, and some of the queue


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("sleep 9", 124, "sh (sender) had not ended at 5 s, the scenario's duration: status 124"),
        ("no-such-program", 127, "not found"),
        (f"python3 -c '{GREEDY}'", 137, "was killed: the guest has 1 GB"),
    ],
)
def test_how_a_program_ended_is_said(
    sojourn: Command, file: Path, line: str, status: int, words: str
) -> None:
    done = sojourn("kernel", "run", file, "--", "sh", "-c", f"exec {line}")
    assert done.returncode == status, done.stderr
    assert words in done.stderr


def test_a_program_that_spins_is_named_and_ended(
    sojourn: Command, file: Path, offspring: Offspring
) -> None:
    line = ("--watchdog", "2", "--", "sh", "-c", "while :; do :; done")
    done = sojourn("kernel", "run", file, *line)
    assert done.returncode == 1
    assert "sh (process" in done.stderr
    assert "on sender has computed for 2 s without a system call" in done.stderr
    assert not offspring()


def begun(file: Path, tmp_path: Path, *line: str) -> tuple[psutil.Process, list[psutil.Process]]:
    """A run whose programs have begun, in a session of its own, and the processes of its guest,
    which have nothing of its environment.
    """
    command = [sys.executable, "-m", "sojourn", "kernel", "run", str(file), "--out", "out", *line]
    run = psutil.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True)
    until = time.monotonic() + 60
    while len(guest := run.children(recursive=True)) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(guest) >= 3
    return run, guest


def test_nothing_is_left_of_a_killed_run(file: Path, tmp_path: Path) -> None:
    spins = ("--on", "receiver", "touch began; while :; do :; done", "--", "sleep", "9")
    run, guest = begun(file, tmp_path, *spins)
    run.kill()
    run.wait()
    _, left = psutil.wait_procs(guest, timeout=20)
    assert left == []
    assert not (tmp_path / "began").exists()


def test_a_run_that_was_stopped_goes_on(file: Path, tmp_path: Path) -> None:
    """As by Ctrl-Z and fg at a terminal."""
    run, _ = begun(file, tmp_path, "--", "sh", "-c", "for i in $(seq 300); do /bin/true; done")
    os.killpg(run.pid, signal.SIGSTOP)
    time.sleep(0.2)
    assert run.is_running()
    os.killpg(run.pid, signal.SIGCONT)
    assert run.wait(60) == 0


def test_two_installations_give_the_same(file: Path, tmp_path: Path) -> None:
    """Whose paths are of other lengths."""
    package = ROOT / "python" / "sojourn"
    hashes = set()
    for depth in ("a", "b/c/deeper"):
        there = tmp_path / depth
        shutil.copytree(package, there / "sojourn", symlinks=True, ignore=_compiled)
        line = [
            sys.executable,
            "-m",
            "sojourn",
            "kernel",
            "run",
            str(file),
            "--out",
            f"out-{depth[0]}",
        ]
        line += ["--on", "receiver", "exec /usr/bin/python3 echo.py"]
        line += ["--", "/usr/bin/python3", "ask.py", "receiver", "receiver"]
        environment = {**os.environ, "PYTHONPATH": str(there)}
        subprocess.run(line, cwd=tmp_path, env=environment, check=True, capture_output=True)
        hashes.add(hash_of(tmp_path / f"out-{depth[0]}"))
    assert len(hashes) == 1


def _compiled(directory: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]

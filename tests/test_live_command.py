"""Commands over a scenario's network, as a user starts them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import sojourn
from conftest import Offspring
from test_live import SCENARIO, command, live, wait_for

pytestmark = [pytest.mark.concurrent, pytest.mark.needs("live")]
BYTES = 5_000_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "live.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def started(file: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command's run, however it ended."""
    return command("live", file, "--out", file.parent / "out", *arguments)


#: A server and a client in one program: sends for a second, and prints what arrived.
TRANSFER = """
import os, socket, threading, time
listener = socket.create_server(("0.0.0.0", 5201))
def serve():
    connection, _ = listener.accept()
    total = 0
    while data := connection.recv(1 << 16):
        total += len(data)
    print(total)
server = threading.Thread(target=serve)
server.start()
client = socket.create_connection((os.environ["SOJOURN_RECEIVER"], 5201))
until = time.monotonic() + 1
while time.monotonic() < until:
    client.send(bytes(4096))
client.close()
server.join()
raise SystemExit(7)
"""


@pytest.mark.alone
def test_a_programs_traffic_passes_and_its_status_comes_back(file: Path) -> None:
    done = started(file, "--", sys.executable, "-c", TRANSFER)
    assert done.returncode == 7, done.stderr
    assert re.search(r"^bottleneck: .* % utilized", done.stderr, re.M)  # as `sojourn run` prints it
    assert "sojourn: warning" not in done.stderr
    result = sojourn.open(file.parent / "out")
    flow = result.flows.to_dicts()[0]
    assert flow["label"].endswith(">5201")
    delivered = result.data.tables["flow_samples"]["delivered_bytes"].sum()
    assert delivered == int(done.stdout)
    assert 10 < flow["mean_throughput_l4"] < 19.4
    assert result.links["mean_qdisc_delay_l2"][0] > 1
    assert 20 < flow["mean_srtt_l4"] < 45
    assert flow["mean_in_flight_l4"] > 10
    assert flow["mean_cwnd_l4"] is None  # the program's own socket is not asked


@pytest.mark.alone
@pytest.mark.needs("iperf3")
def test_iperf3_fills_the_link_and_its_queue_is_seen(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = "iperf3 -s -1 -D; sleep 0.5; iperf3 -c $SOJOURN_RECEIVER -C cubic -t 4 -O 1 --json"
    rate = ("--set", 'topology.bottleneck.rate="50 Mbit/s"', "--out", out)
    printed = json.loads(live("live", file, *rate, "--", "sh", "-c", line))
    share = printed["end"]["sum_received"]["bits_per_second"] / 50e6
    assert 0.93 < share < 0.97  # 1448 bytes of 1514 are 95.6 %
    flows = sojourn.open(out).flows.sort("mean_throughput_l4").to_dicts()
    data = flows[-1]
    assert 40 < data["mean_throughput_l4"] < 48.2
    assert 20 < data["mean_srtt_l4"] < 42
    assert 50 < data["mean_in_flight_l4"] < 180
    assert data["total_retransmissions_l4"] >= 0
    assert data["limited_by_cwnd_l4"] is None  # the program's own socket is not asked
    assert 2 < sojourn.open(out).links["mean_qdisc_delay_l2"][0] < 21


#: A server that sends so many bytes back as soon as it is asked, and prints how many arrived.
ANSWER = """
import os, socket, sys, threading
address, size = sys.argv[1] or os.environ["SOJOURN_RECEIVER"], int(sys.argv[2])
listener = socket.create_server(("0.0.0.0", 5201))
def serve():
    connection, _ = listener.accept()
    connection.recv(1)
    connection.sendall(bytes(size))
    connection.close()
threading.Thread(target=serve).start()
client = socket.create_connection((address, 5201))
client.send(b"?")
total = 0
while data := client.recv(1 << 16):
    total += len(data)
print(total)
"""
#: What is told of bytes that crossed no bottleneck.
AMOUNT = (
    r"warning: ([\d.]+) MB in ([\d.]+) s \(([\d.]+) Mbit/s; the scenario's rate: 20.00 Mbit/s\)"
)


def answered(address: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", ANSWER, address, str(BYTES))


@pytest.mark.alone
def test_what_goes_over_the_loopback_is_told(file: Path) -> None:
    done = started(file, *answered("localhost"))
    assert (done.returncode, int(done.stdout)) == (0, BYTES), done.stderr
    told = re.search(AMOUNT + " went over the namespace's loopback", done.stderr)
    assert told, done.stderr
    megabytes, seconds, rate = map(float, told.groups())
    # Once, with headers, acknowledgments and what a busy machine sends again: 64 kB at a time here.
    assert BYTES < 1e6 * megabytes < 1.5 * BYTES
    assert rate == pytest.approx(8 * megabytes / seconds, rel=0.01)
    assert "SOJOURN_RECEIVER in the place of localhost" in done.stderr


@pytest.mark.alone
def test_a_download_crosses_the_bottleneck_if_that_is_wanted(file: Path) -> None:
    done = started(file, "--download", *answered(""))
    assert (done.returncode, int(done.stdout)) == (0, BYTES), done.stderr
    assert "sojourn: warning" not in done.stderr
    result = sojourn.open(file.parent / "out")
    asked, data = result.flows.sort("mean_throughput_l4").to_dicts()
    assert asked["label"].endswith(">5201")
    assert data["label"].startswith("tcp 5201>")
    assert result.data.tables["flow_samples"]["delivered_bytes"].sum() == BYTES + 1
    assert 10 < data["mean_throughput_l4"] < 19.4
    assert 20 < data["mean_srtt_l4"] < 45
    assert result.links["mean_qdisc_delay_l2"][0] > 1


@pytest.mark.alone
def test_a_download_past_the_bottleneck_is_measured_and_told(file: Path) -> None:
    done = started(file, *answered(""))
    assert (done.returncode, int(done.stdout)) == (0, BYTES), done.stderr
    told = re.search(AMOUNT + " came back from SOJOURN_RECEIVER", done.stderr)
    assert told, done.stderr
    assert "--download puts the bottleneck there" in done.stderr
    megabytes, _, rate = map(float, told.groups())
    assert 1e6 * megabytes == pytest.approx(BYTES, rel=0.001)
    flows = sojourn.open(file.parent / "out").flows
    data = flows.sort("mean_throughput_l4").to_dicts()[-1]
    assert data["label"].startswith("tcp 5201>")
    assert data["mean_throughput_l4"] == pytest.approx(rate, rel=0.05)
    assert rate > 25


@pytest.mark.parametrize(
    ("line", "status"), [("exit 5", 5), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
)
def test_the_commands_status_is_that_of_the_run(file: Path, line: str, status: int) -> None:
    assert started(file, "--", "sh", "-c", line).returncode == status


def test_what_cannot_be_run_is_named(file: Path) -> None:
    done = started(file, "--", "no-such-program")
    assert done.returncode == 2
    assert "COMMAND: no-such-program: cannot be run" in done.stderr


def test_a_command_sees_its_own_processes(file: Path) -> None:
    mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    done = started(file, "--", "sh", "-c", "cat /proc/$$/comm")
    assert done.stdout == "sh\n", done.stderr
    assert Path("/proc/self/mountinfo").read_text(encoding="utf-8") == mounts


def test_what_a_command_leaves_in_the_background_ends_with_it(
    file: Path, offspring: Offspring
) -> None:
    done = started(file, "--", "sh", "-c", "setsid sleep 60 & exit 3")
    assert done.returncode == 3, done.stderr
    assert not offspring()


def test_nothing_of_a_command_outlives_a_killed_run(file: Path, offspring: Offspring) -> None:
    script = "setsid sleep 60 & exec sleep 60"
    with begun(file, "sh", "-c", script) as process:
        ready = wait_for(lambda: offspring().count("sleep\x0060\x00") == 2, while_alive=process)
        assert ready
        process.kill()
    assert wait_for(lambda: not offspring())


#: Ends in its own way when it is interrupted.
INTERRUPTED = """
import pathlib, signal, sys
def end(*_):
    pathlib.Path("interrupted").touch()
    sys.exit(4)
signal.signal(signal.SIGINT, end)
pathlib.Path("ready").touch()
signal.pause()
"""


def test_an_interrupt_reaches_the_command(file: Path) -> None:
    with begun(file, sys.executable, "-c", INTERRUPTED) as process:
        ready = wait_for((file.parent / "ready").exists, while_alive=process)
        assert ready
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it
        assert process.wait(timeout=20) == 130
    assert (file.parent / "interrupted").exists()


def begun(file: Path, *line: str) -> subprocess.Popen[bytes]:
    """A command's run that goes on, with a process group of its own."""
    sojourn_live = [sys.executable, "-m", "sojourn", "live", str(file), "--"]
    return subprocess.Popen(
        [*sojourn_live, *line], stderr=subprocess.PIPE, cwd=file.parent, start_new_session=True
    )

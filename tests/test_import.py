"""Files of other programs as runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sojourn
from captures import foreign, packets, pcap
from conftest import Command
from sojourn.errors import ScenarioError
from sojourn.interchange.files import read
from sojourn.interchange.observed import Asked
from sojourn.store import run_directory

SCENARIO = """
name = "three"
duration = "4 s"
record = ["pcap"]
topology = { kind = "dumbbell", bottleneck = { rate = "12 Mbit/s", loss = "0.3 %" } }
[[flows]]
cca = "reno"
rtt = "40 ms"
[[flows]]
cca = "cubic"
rtt = "40 ms"
start = "100 ms"
[[flows]]
cca = "bbr"
rtt = "40 ms"
start = "200 ms"
"""


@pytest.fixture(scope="module")
def run() -> sojourn.Result:
    return sojourn.run(SCENARIO)


@pytest.fixture(scope="module")
def capture(run: sojourn.Result) -> Path:
    return run.record.files["packets.pcapng"]


def close(ours: sojourn.Result, theirs: sojourn.Result, name: str) -> bool:
    """Whether flows have the same metric, up to 2 % or, of a count, to 2."""
    a, b = ours.flows[name].to_numpy(), theirs.flows[name].to_numpy()
    return bool(np.all(np.abs(a - b) <= np.maximum(0.02 * np.abs(b), 2 * (b == b.round()))))


def imported(path: Path, **options: str) -> sojourn.Result:
    return sojourn.Result.of(read(Asked(path, **options)).result)


def test_a_capture_of_sojourn_gives_the_runs_numbers(run: sojourn.Result, capture: Path) -> None:
    ours = imported(capture)
    assert ours.origin["vantage"] == "both ends"
    for name in ("mean_throughput_l4", "mean_srtt_l4", "total_retransmissions_l4"):
        assert close(ours, run, name), name
    assert ours.flows["label"][1].endswith(":10001")
    assert set(ours.flows["cca"]) == {"observed"}
    assert ours.flows["mean_cwnd_l4"].null_count() == 3


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_the_senders_side_of_it_is_enough(
    run: sojourn.Result, capture: Path, tmp_path: Path, unit: str
) -> None:
    ours = imported(pcap(tmp_path / "a.pcap", packets(capture, 0), unit), rate="12 Mbit/s")
    assert ours.origin["vantage"] == "senders"
    for name in ("mean_srtt_l4", "total_retransmissions_l4", "mean_sending_rate_l4"):
        assert close(ours, run, name), name
    assert 0.5 < ours.flows["bottleneck_share_l4"].sum() < 1.1
    receivers = imported(pcap(tmp_path / "b.pcap", packets(capture, 1), unit))
    assert receivers.origin["vantage"] == "receivers"
    assert close(receivers, run, "mean_throughput_l4")
    assert receivers.flows["mean_srtt_l4"].null_count() == 3


def test_half_a_file_is_read_as_far_as_it_is_whole(capture: Path, tmp_path: Path) -> None:
    content = capture.read_bytes()
    half = tmp_path / "half.pcapng"
    half.write_bytes(content[: len(content) // 2 + 3])
    made = read(Asked(half))
    assert made.notes[0].startswith("it is cut off after ")
    assert 1 < made.result.timing["simulated_seconds"] < 3
    assert (made.result.flows["mean_throughput_l4"] > 1).all()


def test_a_foreign_capture_has_what_can_be_read(tmp_path: Path) -> None:
    made = read(Asked(foreign(tmp_path / "card.pcap")))
    assert list(made.result.flows["label"]) == [
        "1.2.3.4:5000 > 5.6.7.8:6000",
        "[::]:5000 > [::1]:6000",
    ]
    np.testing.assert_allclose(made.result.flows["mean_throughput_l4"], 0.8 * 1.01, rtol=0.01)
    (left,) = made.notes
    assert "of 204 packets 202 are counted" in left
    assert "1 neither IPv4 nor IPv6" in left
    assert "1 fragments" in left


@pytest.mark.filterwarnings("error:constrained_layout:UserWarning")
def test_an_imported_run_is_a_run(
    run: sojourn.Result, called: Command, capture: Path, tmp_path: Path
) -> None:
    (tmp_path / "my cap.pcapng").write_bytes(capture.read_bytes())
    done = called("import", "my cap.pcapng", "--out", "mine")
    assert done.returncode == 0, done.stderr
    assert "observed elsewhere (file my cap.pcapng" in done.stdout
    run.save(tmp_path / "simulated")
    for line in [
        ("report", "mine"),
        ("plot", "mine", "--x", "label", "--y", "mean_throughput_l4"),
    ]:
        done = called(*line)
        assert done.returncode == 0, done.stderr
    done = called("compare", "mine", "simulated")
    assert done.returncode == 0, done.stderr
    assert "elsewhere (file my cap.pcapng" in done.stdout
    assert run_directory.load(tmp_path / "mine").scenario.name == "my-cap"
    done = called("import", "my cap.pcapng", "--out", "simulated")
    assert (done.returncode, "of capture" in done.stderr) == (2, True)


def test_what_is_no_capture_is_refused(tmp_path: Path, called: Command) -> None:
    (tmp_path / "a.pcap").write_text("no capture\n")
    for asked, message in [
        (("a.pcap",), "a.pcap: is no capture: give a pcap or pcapng file"),
        (("b.pcap",), "b.pcap: cannot be read: No such file or directory"),
        (("a.pcap", "--interval", "0 s"), "--interval: '0 s' given; expected 1 ms or more"),
    ]:
        done = called("import", *asked)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    card = foreign(tmp_path / "card.pcap")
    with pytest.raises(ScenarioError, match="--rate: 'fast' given"):
        read(Asked(card, rate="fast"))
    with pytest.raises(ScenarioError, match="has no packets of TCP or UDP"):
        read(Asked(pcap(tmp_path / "empty.pcap", [])))

"""``sojourn diff`` of captures."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import sojourn
from captures import blocks, packets, pcap
from sojourn.cli import cli
from sojourn.difference import Difference, difference, sides
from sojourn.difference.parting import Parting
from sojourn.difference.told import known
from sojourn.errors import ScenarioError
from sojourn.record import HEADERS, SCHEMAS

SCENARIO = """
name = "a"
duration = "2 s"
record = ["pcap"]
topology = { kind = "dumbbell", bottleneck = { rate = "8 Mbit/s", loss = "1 %" } }
[[flows]]
cca = "reno"
rtt = "20 ms"
[[flows]]
cca = "cubic"
rtt = "30 ms"
start = "100 ms"
"""
PACKET = 6
#: The place in a block of a packet's bytes; in those, of the lowest byte of TCP's sequence number.
BYTES, SEQUENCE = 20, 27


@pytest.fixture(scope="module")
def run() -> sojourn.Result:
    return sojourn.run(SCENARIO)


@pytest.fixture(scope="module")
def capture(run: sojourn.Result) -> Path:
    return run.record.files["packets.pcapng"]


def written(file: Path, parts: Iterable[tuple[int, bytes]]) -> Path:
    """A pcapng file of these blocks."""
    out = []
    for kind, body in parts:
        length = len(body) + 12
        out.append(struct.pack("<II", kind, length) + body + struct.pack("<I", length))
    file.write_bytes(b"".join(out))
    return file


def at_senders(capture: Path, number: int) -> tuple[int, float]:
    """Which block is the full packet of that number at the sending host, and its time."""
    of_host = []
    for place, (kind, body) in enumerate(blocks(capture)):
        interface, high, low, _, size = struct.unpack_from("<IIIII", body)
        if (kind, interface, size) == (PACKET, 0, 1500):
            of_host.append((place, ((high << 32) + low) / 1e9))
    return of_host[number]


def parted(a: Path, b: Path) -> Difference | None:
    return difference(*sides(a, b))


def told(*arguments: object) -> str:
    done = CliRunner().invoke(cli, ["diff", *map(str, arguments)], catch_exceptions=False)
    return done.stdout


def test_equal_captures_do_not_part(run: sojourn.Result, capture: Path, tmp_path: Path) -> None:
    run.save(tmp_path / "run")
    CliRunner().invoke(cli, ["import", str(capture), "--out", str(tmp_path / "imported")])
    for other in (capture, tmp_path / "run", tmp_path / "imported"):
        assert json.loads(told(capture, other, "--format", "json")) == {"first_difference": None}
    rows = pl.read_parquet(tmp_path / "imported/passages.parquet")
    assert dict(rows.schema) == SCHEMAS["passages"]
    # One end of it, in microseconds.
    senders = pcap(tmp_path / "senders.pcap", packets(capture, 0), "us")
    done = CliRunner().invoke(cli, ["diff", str(senders), str(tmp_path / "run")])
    assert done.stdout.startswith("no packet differs until 1.")
    assert "A was captured at the senders, B at the senders and receivers" in done.stderr
    receivers = pcap(tmp_path / "receivers.pcap", packets(capture, 1), "ns")
    message = r"senders.pcap was captured at the senders, .* at the receivers: give captures that"
    with pytest.raises(ScenarioError, match=message):
        sides(senders, receivers)


def test_a_changed_byte_is_found(run: sojourn.Result, capture: Path, tmp_path: Path) -> None:
    run.save(tmp_path / "run")
    place, time = at_senders(capture, 300)
    changed = list(blocks(capture))
    kind, body = changed[place]
    at = BYTES + SEQUENCE
    changed[place] = kind, body[:at] + bytes([body[at] ^ 1]) + body[at + 1 :]
    other = written(tmp_path / "changed.pcapng", changed)
    found = parted(tmp_path / "run", other)
    assert found is not None
    parting = found.parting
    assert parting.time == pytest.approx(time, abs=1e-12)
    assert parting.link == "senders"
    assert parting.a
    assert parting.b
    different = {name for name in parting.a if parting.a[name] != parting.b[name]}
    assert different == {"seq"}
    assert abs(parting.a["seq"] - parting.b["seq"]) == 1
    # The run's own samples are there, and what the ends had told each other.
    known = {(one["of"], one["name"]): one["a"] for one in found.known}
    flow = f"flow.{parting.flow}"
    assert known[f"{flow}.sample", "cwnd"]
    assert int(str(known[f"{flow}.senders", "deliver ack"])) > 0
    assert (f"{flow}.receivers", "deliver seq") in known
    assert "seq" in told(tmp_path / "run", other)


def test_a_dropped_packet_is_found(capture: Path, tmp_path: Path) -> None:
    place, time = at_senders(capture, 200)
    rest = [block for number, block in enumerate(blocks(capture)) if number != place]
    found = parted(capture, written(tmp_path / "less.pcapng", rest))
    assert found is not None
    assert found.parting.time == pytest.approx(time, abs=1e-12)
    assert found.parting.a
    assert found.parting.b
    assert found.parting.a["time"] < found.parting.b["time"]


def test_a_runs_own_events_are_not_at_a_vantage(capture: Path, tmp_path: Path) -> None:
    sojourn.run(SCENARIO, overrides=['record=["packets"]']).save(tmp_path)
    with pytest.raises(ScenarioError, match="has no capture, as the other side is; run with"):
        sides(capture, tmp_path)


def test_two_seeds_part_at_what_a_loss_has_changed() -> None:
    runs = [sojourn.run(SCENARIO, seed=seed) for seed in (1, 2)]
    files = [run.record.files["packets.pcapng"] for run in runs]
    found = parted(*files)
    assert found is not None
    assert (found.parting.link, found.parting.event) == ("receivers", "deliver")
    # What is dropped in one run came in the other one before the next packet.
    assert found.parting.a
    assert found.parting.b
    assert found.parting.a["seq"] != found.parting.b["seq"]


def test_acknowledgments_and_their_blocks_are_known(capture: Path) -> None:
    both = sides(capture, capture)
    rows = both[0].rows.filter(pl.col("sack").is_not_null(), link="senders").collect()
    row = rows.row(0, named=True)
    begin, end = map(int, row["sack"].split()[0].split("-"))
    assert row["ack"] < begin < end
    assert (end - begin) % 1448 == 0
    parting = Parting(row["time"], "senders", row["flow"], "deliver", row, row)
    found = {(one["of"], one["name"]): one["a"] for one in known(*both, parting)}
    of = f"flow.{row['flow']}.senders"
    assert (found[of, "deliver ack"], found[of, "deliver sack"]) == (row["ack"], row["sack"])


@pytest.mark.concurrent
@pytest.mark.needs("virtual-kernel")
def test_the_first_packet_that_a_kernel_sends_otherwise_is_named(
    run: sojourn.Result, tmp_path: Path
) -> None:
    for name, result in (("sim", run), ("kernel", sojourn.run(SCENARIO, backend="kernel"))):
        result.save(tmp_path / name)
    both = sides(tmp_path / "sim", tmp_path / "kernel")
    found = difference(*both)
    assert found is not None
    parting = found.parting
    sequence = {"link": parting.link, "flow": parting.flow, "event": parting.event}
    a, b = (one.rows.filter(**sequence).collect() for one in both)
    before, headers = parting.index, ("size", *HEADERS)
    assert before > 0
    assert a[:before].select(headers).equals(b[:before].select(headers))
    assert (parting.a, parting.b) == tuple(
        one.select("time", "index", *headers).row(before, named=True) for one in (a, b)
    )

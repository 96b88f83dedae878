"""Captures of simulated packets: where they are, and what they say of themselves."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import pytest

import sojourn
from captures import blocks
from conftest import TWO_FLOWS, Command
from sojourn.campaign.keys import run_key
from sojourn.errors import ScenarioError
from sojourn.record import FILES
from sojourn.store import run_directory

#: A key of the root stands before the tables.
PCAP = 'record = ["pcap"]\npcap = { flows = [1], links = ["bottleneck"], snap = 80 }\n' + TWO_FLOWS
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6


def counts(file: Path) -> tuple[bytes, list[str], Counter[int]]:
    """What a file says of itself, the names of its interfaces, the packets at each."""
    said = b""
    names: list[str] = []
    packets = Counter[int]()
    for kind, body in blocks(file):
        if kind == _SECTION:
            said = body[16:]
        elif kind == _INTERFACE:
            code, length = struct.unpack_from("<HH", body, 8)
            assert code == 2
            names.append(body[12 : 12 + length].decode())
        elif kind == _PACKET:
            packets[struct.unpack_from("<I", body)[0]] += 1
    return said, names, packets


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    return sojourn.run(PCAP)


def test_a_capture_has_the_packets_that_are_asked_for(result: sojourn.Result) -> None:
    said, names, packets = counts(result.record.files["packets.pcapng"])
    assert b"two-flows, seed 1" in said
    assert names == ["left", "right", *(f"bottleneck:{end}" for end in ("near", "far", "lost"))]
    assert all(packets[interface] > 0 for interface in range(len(names)))
    # Data, two packets of the handshake, and the answers; some is still on its way to the link.
    sent = int(result.data.flow.total("sent_packets")[1])
    assert sent - 100 < packets[2] <= sent + 2 < packets[0]


@pytest.mark.filterwarnings("ignore:Field type")  # of the reader
def test_another_reader_finds_the_same(result: sojourn.Result) -> None:
    from pcapng import FileScanner
    from pcapng.blocks import EnhancedPacket

    file = result.record.files["packets.pcapng"]
    with file.open("rb") as stream:
        packets = [block for block in FileScanner(stream) if isinstance(block, EnhancedPacket)]
    assert Counter(packet.interface_id for packet in packets) == counts(file)[2]
    assert all(len(packet.packet_data) == min(packet.packet_len, 80) for packet in packets)
    times = [packet.timestamp for packet in packets if packet.interface_id == 0]
    assert times == sorted(times)
    assert 2.5 < times[-1] < 3.0


def test_a_capture_makes_no_other_run(result: sojourn.Result, tmp_path: Path) -> None:
    plain = sojourn.run(TWO_FLOWS)
    assert result.flows.equals(plain.flows)
    assert run_key(result.scenario.canonical) == run_key(plain.scenario.canonical)
    assert not plain.record.files
    out = result.save(tmp_path / "out")
    content = (out / "packets.pcapng").read_bytes()
    assert content == result.record.files["packets.pcapng"].read_bytes()
    assert run_directory.load(out).record.files == {"packets.pcapng": out / "packets.pcapng"}
    plain.save(out)
    assert not [path for pattern in FILES.values() for path in out.glob(pattern)]


def test_the_command_line_captures(called: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TWO_FLOWS)
    done = called("run", "a.toml", "--out", "out", "--no-figures", "--record", "pcap")
    assert done.returncode == 0, done.stderr
    _, names, packets = counts(tmp_path / "out/packets.pcapng")
    assert names == ["left", "right", *(f"bottleneck:{end}" for end in ("near", "far", "lost"))]
    assert packets.total() > 1000
    assert not list((tmp_path / "out").glob(".*.partial"))
    # Another scenario replaces it.
    done = called("run", "a.toml", "--out", "out", "--no-figures", "--seed", "2", "--force")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "out/packets.pcapng").exists()


def test_what_there_is_not_is_refused() -> None:
    for given, message in [
        ("flows = [2]", "pcap.flows.0: 2 given; allowed: 0 to 1"),
        ('links = ["botleneck"]', "pcap.links.0: unknown link 'botleneck'; did you mean"),
        ("snap = 10", "pcap.snap: 10 given; allowed: 20 to 65535 bytes"),
    ]:
        with pytest.raises(ScenarioError) as refused:
            sojourn.run(f"pcap = {{ {given} }}\n{TWO_FLOWS}")
        assert message in str(refused.value)

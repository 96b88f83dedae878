"""Events of qlog as runs."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sojourn
from conftest import TWO_FLOWS
from sojourn.errors import ScenarioError
from sojourn.interchange.files import read
from sojourn.interchange.observed import Asked
from sojourn.measured import Measured

HEADS = {
    "quic": {
        "file_schema": "urn:ietf:params:qlog:file:sequential",
        "title": "one",
        "trace": {
            "vantage_point": {"name": "sender of flow 0", "type": "client"},
            "common_fields": {"time_format": "relative_to_epoch"},
        },
    },
    "transport": {"qlog_version": "0.3", "qlog_format": "JSON-SEQ", "title": "one", "trace": {}},
}
_METRICS = {"quic": "quic:recovery_metrics_updated", "transport": "recovery:metrics_updated"}
_LOST = {"quic": "quic:packet_lost", "transport": "recovery:packet_lost"}
Record = dict[str, object]


def packet(time: float, name: str, number: int, *frames: Record) -> Record:
    header = {"packet_type": "1RTT", "packet_number": number}
    data = {"header": header, "raw": {"length": 1052}, "frames": list(frames)}
    return {"time": time, "name": name, "data": data}


def events(of: str) -> list[Record]:
    """A packet of 1,000 bytes every 10 ms for a second, each acknowledged 40 ms later; the fourth
    is lost and sent again as number 100.
    """
    length: Record = {"raw": {"length": 1000}} if of == "quic" else {"length": 1000}
    sent, received = f"{of}:packet_sent", f"{of}:packet_received"
    told: list[Record] = [
        {
            "time": 40.0,
            "name": _METRICS[of],
            "data": {"smoothed_rtt": 40.0, "congestion_window": 10_000, "bytes_in_flight": 4_000},
        },
        {"time": 90.0, "name": _LOST[of], "data": {"header": {"packet_number": 3}}},
        {"time": 500.0, "name": _METRICS[of], "data": {"smoothed_rtt": 60.0}},
    ]
    for number in range(101):
        offset = 3000 if number == 100 else 1000 * number
        data: Record = {"frame_type": "stream", "stream_id": 0, "offset": offset, **length}
        told.append(packet(10.0 * number, sent, number, data))
        if number != 3:
            ack: Record = {"frame_type": "ack", "acked_ranges": [[number]]}
            told.append(packet(10.0 * number + 40.0, received, number, ack))
    return sorted(told, key=lambda event: float(str(event["time"])))


def sequence(file: Path, records: list[Record]) -> Path:
    file.write_bytes(b"".join(b"\x1e%b\n" % json.dumps(of).encode() for of in records))
    return file


def check(run: Measured) -> None:
    flow = run.flows.row(0, named=True)
    assert flow["mean_throughput_l4"] == pytest.approx(0.8, rel=0.15)
    assert run.data.flow.total("delivered_bytes")[0] == 100_000
    assert flow["total_retransmissions_l4"] == 1
    assert flow["mean_srtt_l4"] == pytest.approx((460 * 40 + 600 * 60) / 1060, rel=0.02)
    assert flow["mean_cwnd_l4"] == pytest.approx(10, rel=0.05)


@pytest.mark.parametrize("of", ["quic", "transport"])
def test_events_of_either_draft_are_a_run(tmp_path: Path, of: str) -> None:
    records = [HEADS[of], *events(of)]
    made = read(Asked(sequence(tmp_path / "0.sqlog", records), "50 ms"))
    assert not made.notes
    assert made.result.flows["label"][0].startswith("one")
    check(made.result)


def test_what_sojourn_records_gives_the_runs_numbers() -> None:
    run = sojourn.run(f'record = ["qlog"]\n{TWO_FLOWS}')
    for flow, control in enumerate(("reno", "cubic")):
        back = read(Asked(run.record.files[f"qlog/{flow}.sqlog"])).result
        for name in ("sent_bytes", "retransmissions", "lost", "in_flight_time", "srtt_time"):
            theirs = run.data.flow.total(name)[flow]
            assert back.data.flow.total(name)[0] == pytest.approx(theirs, rel=1e-9), (control, name)
        for name in ("mean_throughput_l4", "mean_srtt_l4", "mean_cwnd_l4"):
            assert back.flows[name][0] == pytest.approx(run.flows[name][flow], rel=0.02), name


def test_documents_and_lines_of_json_are_read_as_well(tmp_path: Path) -> None:
    head = HEADS["transport"]
    file = tmp_path / "a.qlog"
    told = events("transport")
    for record in told:  # from the epoch
        record["time"] = 1.7e12 + float(str(record["time"]))
    file.write_text(json.dumps({**head, "traces": [{"events": told}]}))
    check(read(Asked(file, "50 ms")).result)
    file.write_text("".join(json.dumps(record) + "\n" for record in [head, *told]))
    check(read(Asked(file, "50 ms")).result)


def test_a_receiver_tells_what_arrives(tmp_path: Path) -> None:
    frame: Record = {"frame_type": "stream", "stream_id": 4, "offset": 0, "length": 500}
    told = [packet(100.0 * step, "transport:packet_received", step, frame) for step in range(10)]
    made = read(Asked(sequence(tmp_path / "a.sqlog", [HEADS["transport"], *told])))
    assert made.result.data.flow.total("delivered_bytes")[0] == 5000
    assert made.result.flows["total_retransmissions_l4"].null_count() == 1


def test_what_is_cut_off_is_told(tmp_path: Path) -> None:
    file = sequence(tmp_path / "0.sqlog", [HEADS["quic"], *events("quic")])
    file.write_bytes(file.read_bytes()[:-20])
    made = read(Asked(file, "50 ms"))
    assert made.notes == ["1 records make no sense; left out"]
    assert made.result.data.flow.total("sent_packets")[0] == 101


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1e[1]\n", "is no file of qlog's"),
        (b"{", "is no file of qlog's"),
        (b"\x1e" + json.dumps(HEADS["quic"]).encode(), "has no events of qlog"),
        (b'{"traces": 3}', "has no events of qlog"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.qlog").write_bytes(content)
    with pytest.raises(ScenarioError, match=message):
        read(Asked(tmp_path / "a.qlog"))


_WORDS = ("time", "name", "data", "frames", "header", "raw", "length", "offset", "acked_ranges")
_NAMES = ("quic:packet_sent", "quic:packet_received", "recovery:metrics_updated", "smoothed_rtt")
_LEAVES = st.none() | st.integers(-1, 9) | st.floats() | st.sampled_from((*_NAMES, "stream"))
JSON = st.recursive(
    _LEAVES,
    lambda of: st.lists(of, max_size=3) | st.dictionaries(st.sampled_from(_WORDS), of, max_size=4),
    max_leaves=8,
)
EVENTS = st.fixed_dictionaries(
    {"time": st.integers(0, 999), "name": st.sampled_from(_NAMES)}, optional={"data": JSON}
)


@given(st.lists(EVENTS | JSON, max_size=5))
def test_any_records_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record]
) -> None:
    file = sequence(tmp_path_factory.mktemp("any") / "a.sqlog", [HEADS["quic"], *records])
    with contextlib.suppress(ScenarioError):
        read(Asked(file))

"""Events in qlog: where they are, what they are called, what they sum up to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sojourn
from conftest import TWO_FLOWS, Command
from sojourn.campaign.keys import run_key
from sojourn.record import Recording
from sojourn.spool import Spool
from sojourn.store import run_directory

#: A key of the root stands before the tables.
QLOG = 'record = ["qlog"]\n' + TWO_FLOWS


def records(file: Path) -> list[dict[str, Any]]:
    """The header and the events of a file."""
    empty, *texts = file.read_bytes().split(b"\x1e")
    assert not empty
    return [json.loads(text) for text in texts]


def names(file: Path) -> set[str]:
    return {str(record["name"]) for record in records(file)[1:]}


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    return sojourn.run(QLOG)


def test_each_flow_has_a_file_that_says_what_it_is(result: sojourn.Result) -> None:
    assert list(result.record.files) == ["qlog/0.sqlog", "qlog/1.sqlog"]
    header, *events = records(result.record.files["qlog/1.sqlog"])
    assert header["title"] == "two-flows"
    assert header["description"].startswith("TCP, not QUIC")
    assert header["trace"]["vantage_point"] == {"name": "sender of flow 1", "type": "client"}
    times = [event["time"] for event in events]
    assert times == sorted(times)
    assert 2900 < times[-1] <= 3000  # ms


def test_events_sum_up_to_the_counters(result: sojourn.Result) -> None:
    for flow in (0, 1):
        _, *events = records(result.record.files[f"qlog/{flow}.sqlog"])
        sent = [event["data"] for event in events if event["name"] == "quic:packet_sent"]
        payload = [data["raw"]["payload_length"] for data in sent if data["frames"]]
        total = result.data.flow.total
        assert len(payload) == total("sent_packets")[flow]
        assert sum(payload) == total("sent_bytes")[flow]
        lost = sum(event["name"] == "quic:packet_lost" for event in events)
        assert 0 < lost <= total("lost")[flow]
        metrics = [e["data"] for e in events if e["name"] == "quic:recovery_metrics_updated"]
        assert metrics[0]["congestion_window"] == 10 * 1448
        assert {"smoothed_rtt", "min_rtt", "bytes_in_flight"} <= set().union(*metrics)


def test_events_make_no_other_run(result: sojourn.Result, tmp_path: Path) -> None:
    plain = sojourn.run(TWO_FLOWS)
    assert result.flows.equals(plain.flows)
    assert run_key(result.scenario.canonical) == run_key(plain.scenario.canonical)
    out = result.save(tmp_path / "out")
    assert run_directory.load(out).record.files == {
        name: out / name for name in ("qlog/0.sqlog", "qlog/1.sqlog")
    }
    # The same run without a record: what was recorded goes.
    plain.save(out)
    assert not (out / "qlog").exists()


def test_an_older_version_has_its_names(called: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TWO_FLOWS)
    asked = ("--record", "qlog", "--qlog-version", "0.3", "--set", 'duration="1 s"')
    done = called("run", "a.toml", "--out", "out", "--no-figures", *asked)
    assert done.returncode == 0, done.stderr
    assert records(tmp_path / "out/qlog/0.sqlog")[0]["qlog_version"] == "0.3"
    assert {"transport:packet_sent", "recovery:metrics_updated"} < names(
        tmp_path / "out/qlog/0.sqlog"
    )
    assert not [name for name in names(tmp_path / "out/qlog/1.sqlog") if name.startswith("quic:")]


def test_bytes_go_to_the_file_of_their_flow(tmp_path: Path) -> None:
    recording = Recording(["qlog"], tmp_path)
    for flow, content in [(0, b"a"), (10, b"b"), (0, b"c")]:
        recording.add("qlog", {"flow": flow, "bytes": content}, [None])
    record = recording.finished()
    contents = {name: path.read_bytes() for name, path in record.files.items()}
    assert contents == {"qlog/0.sqlog": b"ac", "qlog/10.sqlog": b"b"}
    assert not record.tables


def test_what_cannot_be_written_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Spool, "append", full)
    with pytest.raises(OSError, match="no space left"):
        sojourn.run(QLOG)

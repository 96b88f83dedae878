"""What tshark says of captures, beside the run's own numbers."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sojourn
from sojourn.catalogue import members

pytestmark = pytest.mark.needs("tshark")

#: A transfer over a path that overflows, loses and reorders.
SCENARIO = """
name = "one"
duration = "60 s"
record = ["pcap"]

[topology]
kind = "dumbbell"

[topology.bottleneck]
rate = "20 Mbit/s"
queue = { limit = "0.5 bdp" }
loss = "0.3 %"
reorder = { probability = "0.2 %", delay = "5 ms" }

[[flows]]
rtt = "40 ms"
traffic = { kind = "sized", size = "4 MB" }
"""
SIZE = 4_000_000
WHOLE = """
name = "whole"
duration = "500 ms"
record = ["pcap"]
pcap = { snap = 65535 }
"""
MARKED = (
    WHOLE
    + """
[topology]
kind = "dumbbell"
bottleneck = { rate = "20 Mbit/s", queue = "codel", reverse_loss = "1 %" }

[[arrivals]]
label = "web"
cca = "cubic"
rtt = "20 ms"
rate = "20 /s"
request = "500 B"
size = "20 kB"

[[flows]]
transport = "udp"
rtt = "20 ms"
traffic = { kind = "cbr", rate = "1 Mbit/s" }
"""
    + "".join(
        f"""
[[flows]]
cca = "{cca}"
ecn = "{ecn}"
rtt = "20 ms"
"""
        for cca, ecn in (
            *(("prague", "l4s"), ("dctcp", "dctcp"), ("cubic", "accurate"), ("cubic", "classic")),
            ("reno-sce", "sce"),
        )
    )
)
SLIQ = (
    WHOLE
    + """
[topology]
kind = "linkem"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "20 kB"

[[flows]]
transport = "sliq"
cca = ["cubic", "copa"]
mss = 1000
"""
)
SHORT = ("reno", "cubic", "bbr")
#: What tshark calls a packet whose bytes have been sent before. Packets at their sender's interface
#: are in order, so one out of order there is one that was sent again within an RTT.
AGAIN = tuple(
    f"tcp.analysis.{name}"
    for name in ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
)
FIELDS = (
    *("_ws.malformed", "frame.time_epoch", "tcp.len", "tcp.seq", "tcp.ack"),
    *("tcp.options.sack_le", "tcp.options.sack_re", "tcp.analysis.ack_rtt", *AGAIN),
)
Row = dict[str, str]


def tshark(file: Path, *options: str) -> str:
    """What it prints of a file."""
    command = ["tshark", "-r", str(file), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def at_the_sender(file: Path, place: Path) -> list[Row]:
    """Packets of the sender's interface alone: what passes two would be taken for sent twice."""
    tshark(file, "-Y", 'frame.interface_name == "left"', "-w", str(place))
    wanted = (option for field in FIELDS for option in ("-e", field))
    lines = tshark(place, "-T", "fields", *wanted).splitlines()
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines]


def numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",") if number]


def within(edges: list[tuple[int, int]], segment: tuple[int, int]) -> bool:
    return any(left <= segment[0] and segment[1] <= right for left, right in edges)


def rtts(rows: list[Row]) -> Iterator[float]:
    """RTTs as a sender takes them, s: of each ACK the time since the first segment that its number
    tells of, or its blocks, unless what its number tells of was sent again.
    """
    waiting: dict[tuple[int, int], float] = {}
    for row in rows:
        now, first = float(row["frame.time_epoch"]), int(row["tcp.seq"])
        if int(row["tcp.len"]):
            segment = (first, first + int(row["tcp.len"]))
            again = any(row[name] for name in AGAIN)
            if not again or segment in waiting:
                waiting[segment] = np.nan if again else now
            continue
        blocks = zip(
            *(numbers(row[f"tcp.options.sack_{edge}"]) for edge in ("le", "re")), strict=True
        )
        acked, sacked = (
            [waiting.pop(segment) for segment in list(waiting) if within(edges, segment)]
            for edges in ([(0, int(row["tcp.ack"]))], list(blocks))
        )
        once = bool(acked) and not np.isnan(acked).any()
        known = acked if once else [at for at in sacked if not np.isnan(at)]
        if known:
            yield now - min(known)


@pytest.mark.parametrize(
    "cca",
    [
        pytest.param(member.name, marks=() if member.name in SHORT else pytest.mark.long)
        for member in members("ccas")
    ],
)
def test_a_capture_has_the_runs_numbers(cca: str, tmp_path: Path) -> None:
    run = sojourn.run(SCENARIO, overrides=[f'flows.0.cca="{cca}"'])
    rows = at_the_sender(run.record.files["packets.pcapng"], tmp_path / "left.pcapng")
    assert not [row for row in rows if row["_ws.malformed"]]
    flow = run.data.flow
    total = {name: flow.total(name)[0] for name in ("retransmissions", "rtt_sum", "rtt_count")}
    again = sum(any(row[name] for name in AGAIN) for row in rows)
    assert again == pytest.approx(total["retransmissions"], rel=0.02, abs=2)
    assert again > 0
    # Goodput: all of it, from the SYN at 0 s to the ACK of the last byte.
    done = next(float(row["frame.time_epoch"]) for row in rows if int(row["tcp.ack"]) > SIZE)
    assert done == pytest.approx(flow.table["completed_at"][0], abs=1e-8)
    assert np.mean(list(rtts(rows))) == pytest.approx(
        total["rtt_sum"] / total["rtt_count"], rel=0.01
    )
    # The run's may come from a timestamp, which has a resolution of 1 ms.
    least = min(float(row["tcp.analysis.ack_rtt"] or "inf") for row in rows)
    assert least == pytest.approx(np.nanmin(flow.samples["min_rtt"]), abs=1e-3)


def test_headers_and_checksums_are_right() -> None:
    """Of each mode of ECN, of connections over which both ends send, of UDP and of SLIQ."""
    sums = [f"{protocol}.checksum" for protocol in ("ip", "tcp", "udp")]
    checked = [word for name in sums for word in ("-o", f"{name.replace('.', '.check_')}:TRUE")]
    fields = [word for name in sums for word in ("-e", f"{name}.status")]
    for text, good in ((MARKED, {"1\t1\t", "1\t\t1"}), (SLIQ, {"1\t\t1"})):
        record = sojourn.run(text).record
        told = tshark(
            record.files["packets.pcapng"], *checked, "-T", "fields", *fields, "-e", "_ws.malformed"
        )
        assert {line.removesuffix("\t") for line in told.splitlines()} == good

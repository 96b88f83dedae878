"""``sojourn explain`` on runs whose numbers have a known cause, and on others without it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from conftest import TWO_FLOWS
from sojourn.cli import cli
from sojourn.errors import ScenarioError
from sojourn.explain import Explanation, Finding, explain
from sojourn.measured import Measured
from sojourn.result import run

CUBIC = {"cca": "cubic", "rtt": "40 ms"}
FIFO = {"kind": "fifo", "limit": "1 bdp"}


def explained(
    *flows: dict[str, Any], duration: str = "5 s", more: Any = (), **link: Any
) -> Explanation:
    """What is said of flows over 20 Mbit/s."""
    bottleneck = {"rate": "20 Mbit/s", "queue": FIFO} | link
    topology = {"kind": "dumbbell", "bottleneck": bottleneck}
    document = {"duration": duration, "topology": topology, "flows": list(flows)}
    return explain(run(document | dict(more)))


def of(made: Explanation, cause: str, who: str = "", word: str = "") -> list[Finding]:
    return [
        found
        for found in made.findings
        if found.cause == cause and found.of.startswith(who) and word in found.line()
    ]


def test_a_receive_window_is_what_limits() -> None:
    made = explained(CUBIC | {"receive_buffer": "40 kB"})
    first = made.findings[0]
    assert (first.cause, first.of, first.flows) == ("limits", "flow 0 cubic", (0,))
    assert first.numbers["receiver_share"] > 0.8
    assert "receive_buffer = 40 kB" in first.text
    assert first.when is not None
    assert first.when[0] < 1
    assert first.when[1] > 4
    (free,) = of(explained(CUBIC), "limits")
    assert free.numbers["receiver_share"] == 0
    assert free.weight < first.weight / 2


def test_a_policer_is_where_packets_are_lost() -> None:
    policer = {"rate": "4 Mbit/s", "burst": "30 kB"}
    first = explained(CUBIC, policer=policer).findings[0]
    assert (first.cause, first.of) == ("losses", "link bottleneck")
    assert "policer or shaper of 4 Mbit/s with bursts of 30 kB" in first.text
    assert first.numbers["unused"] > 0.5


def test_a_short_buffer_is_why_the_link_is_not_full() -> None:
    short = explained(CUBIC, queue={"kind": "fifo", "limit": "5 packets"}).findings[0]
    assert (short.cause, short.of) == ("losses", "link bottleneck")
    assert "full queue (fifo of 5 packets)" in short.text
    assert "too short for bursts" in short.inferred
    assert short.numbers["unused"] > 0.1
    assert not of(explained(CUBIC), "losses", word="too short")


def test_a_longer_round_trip_gets_less() -> None:
    near, far = ({"cca": "reno", "rtt": rtt} for rtt in ("20 ms", "120 ms"))
    queue = {"kind": "fifo", "limit": "30 packets"}
    made = explained(near, far, duration="20 s", queue=queue)
    (found,) = of(made, "starvation")
    assert found.of == "flow 1 reno"
    assert found.numbers["share_of_even"] < 0.4
    assert "its base RTT is 120 ms, not 20 ms" in found.inferred
    assert "yields" not in found.inferred
    assert not of(explained(near, near, duration="20 s", queue=queue), "starvation")


def test_bbr_beside_a_deep_buffer_takes_the_queue_for_the_path() -> None:
    deep = {"kind": "fifo", "limit": "8 bdp"}
    flows = ({"cca": "bbr", "rtt": "40 ms"}, CUBIC)
    made = explained(*flows, duration="20 s", queue=deep, more={"record": ["cc"]})
    (queue,) = of(made, "queueing")
    assert queue.numbers["mean_ms"] > 80
    assert re.search(r"[89]\d % of the queue is flow 1 cubic's", queue.inferred)
    (bbr,) = of(made, "inflation", "flow 0 bbr")
    assert bbr.numbers["own_minimum_ms"] > 50
    assert "the least RTT is taken for" in bbr.text
    assert "its own control holds back" in of(made, "starvation", "flow 0 bbr")[0].inferred
    assert queue in made.heaviest(3)

    alone = explained(flows[0], flows[0], duration="10 s", queue=deep)
    assert "none was dropped" in of(alone, "queueing")[0].text
    assert of(alone, "inflation")[0].of == "flow 0 bbr and flow 1 bbr"


def test_bbr3_beside_cubic_under_dualpi2_yields_less_to_the_same_loss() -> None:
    flows = ({"cca": "bbr3", "rtt": "60 ms"}, {"cca": "cubic", "rtt": "60 ms"})
    made = explained(*flows, duration="20 s", queue="dualpi2", rate="50 Mbit/s")
    (found,) = of(made, "starvation")
    assert found.of == "flow 1 cubic"
    assert "bbr3 yields less to congestion" in found.inferred
    assert of(made, "losses", "link bottleneck", "control law")


def test_marks_that_are_bleached_are_missed_behind_and_before_the_queue() -> None:
    flow = CUBIC | {"ecn": "classic"}
    behind = explained(flow, queue="codel", ecn_fault="bleach")
    (found,) = of(behind, "ecn")
    assert found is behind.findings[0]
    assert found.numbers["marks_received"] == 0 < found.numbers["marks_set"]
    assert "beyond the queue of bottleneck clears the ECN field" in found.inferred

    hops = [{"rate": "100 Mbit/s", "ecn_fault": "bleach"}, {"rate": "20 Mbit/s", "queue": "codel"}]
    lot = {"topology": {"kind": "parking_lot", "hops": hops}}
    (found,) = of(explained(flow, more=lot), "ecn")
    assert "without ECN" in found.inferred

    assert not any(found.inferred for found in of(explained(flow, queue="codel"), "ecn"))
    stuck = explained(flow, queue="codel", ecn_fault="stuck-ce").findings[0]
    assert "sets CE whatever the queues do" in stuck.inferred


def test_marks_that_a_control_does_not_heed_are_told() -> None:
    made = explained({"cca": "bbr3", "rtt": "60 ms", "ecn": "l4s"}, queue="dualpi2")
    (found,) = of(made, "ecn")
    assert found.numbers["marks_per_round_trip"] > 5
    assert "does not slow down" in found.inferred


def test_records_measure_what_samples_let_infer() -> None:
    flows = (CUBIC, {"cca": "bbr", "rtt": "40 ms"})
    link = {"loss": "0.2 %", "duration": "4 s"}
    inferred = explained(*flows, **link)
    measured = explained(*flows, **link, more={"record": ["cc", "packets"]})
    assert measured.recorded == ["packets", "state"]
    assert not measured.unknown
    assert any("--record packets" in told for told in inferred.unknown)
    for cause, share in (("queueing", r"(\d+) % of the queue is"), ("losses", r"are (\d+) %")):
        guess, known = (of(made, cause, "link bottleneck")[0] for made in (inferred, measured))
        assert guess.numbers == pytest.approx(known.numbers)
        assert not known.inferred
        (a,), (b,) = re.findall(share, guess.inferred)[:1], re.findall(share, known.text)[:1]
        assert int(a) == pytest.approx(int(b), abs=10)
    guess, known = (of(made, "inflation", "flow 0 cubic")[0] for made in (inferred, measured))
    assert "queues on its way" in guess.inferred
    assert "queues on its way" in known.text
    assert guess.numbers["queues_ms"] == pytest.approx(known.numbers["queues_ms"], rel=0.2)
    assert "; mode probe_bw" in of(measured, "limits", "flow 1 bbr")[0].text


def test_a_flow_that_starts_late_makes_shares_uneven_for_a_while() -> None:
    made = explained(CUBIC, CUBIC | {"start": "5 s"}, duration="20 s")
    (even,) = of(made, "convergence", "all flows")
    assert even.numbers["last_entry_s"] == 5
    assert even.when is not None
    assert even.when[0] == 5


def test_runs_without_what_a_cause_reads_are_explained_as_far_as_they_can_be() -> None:
    udp = {"transport": "udp", "traffic": {"kind": "cbr", "rate": "30 Mbit/s"}, "rtt": "20 ms"}
    flood = explained(udp, CUBIC)
    (starved,) = of(flood, "starvation")
    assert (starved.of, starved.inferred) == (
        "flow 1 cubic",
        "udp does not answer to congestion",
    )
    assert not of(flood, "limits", "flow 0")
    arrivals = [{"label": "web", "cca": "cubic", "rtt": "40 ms", "load": 0.5, "size": "100 kB"}]
    assert "no samples" in explained(more={"arrivals": arrivals}).unknown[0]


def test_a_kernel_does_not_tell_window_from_pacing() -> None:
    made = run(
        {
            "duration": "2 s",
            "topology": {"kind": "dumbbell", "bottleneck": {"rate": "20 Mbit/s"}},
            "flows": [CUBIC],
        }
    )
    samples = dict(made.data.tables["flow_samples"])
    for column in ("limited_by_cwnd", "limited_by_pacing", "lost"):
        samples[column] = np.full(len(samples["time"]), np.nan)
    data = replace(made.data, tables={**made.data.tables, "flow_samples": samples})
    told = explain(Measured(made.scenario, data, made.timing, origin={"backend": "live"}))
    (limits,) = of(told, "limits")
    assert limits.text.startswith("limited by the congestion window or pacing 100 %")
    assert limits.weight < 0.5
    assert not told.unknown


def test_many_flows_are_told_as_groups() -> None:
    made = explained(CUBIC | {"count": 12}, {"cca": "reno", "rtt": "40 ms", "count": 8})
    assert {found.of for found in of(made, "limits")} == {"12 flows cubic", "8 flows reno"}


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """What a command line prints in an empty directory; its errors are raised."""
    monkeypatch.chdir(tmp_path)

    def run_it(line: str) -> str:
        program, *arguments = shlex.split(line)
        assert program == "sojourn"
        return CliRunner().invoke(cli, arguments, catch_exceptions=False).stdout

    return run_it


def test_ten_lines_are_enough_unless_all_are_asked_for(
    typed: Callable[..., str], scenario_file: Path
) -> None:
    typed(f"sojourn run {scenario_file} --out two --no-figures")
    told = typed("sojourn explain two").splitlines()
    assert len(told) <= 11
    assert told[0].startswith("1 reno and 1 cubic flow")
    document = json.loads(typed("sojourn explain two --format json"))
    weights = [found["weight"] for found in document["findings"]]
    assert weights == sorted(weights, reverse=True)
    everything = typed("sojourn explain two --all")
    assert all(found["measured"] in everything for found in document["findings"])


def test_a_sweep_is_refused_with_the_command_for_a_point(
    typed: Callable[..., str], tmp_path: Path
) -> None:
    queue = '"topology.bottleneck.queue" = { kind = "codel", limit = "9 packets" }'
    grid = f'[[sweep.cases]]\nname = "CoDel"\n{queue}\n[sweep.grid]\n'
    grid += '"topology.bottleneck.rate" = ["4 Mbit/s", "8 Mbit/s"]\n"flows.*.rtt" = ["30 ms"]\n'
    (tmp_path / "grid.toml").write_text(TWO_FLOWS + grid)
    typed("sojourn sweep grid.toml --out grid --jobs 1")
    with pytest.raises(ScenarioError, match="holds a sweep") as refused:
        typed("sojourn explain grid")
    (command,) = re.findall(r"sojourn run FILE .*(?= \()", str(refused.value))
    typed(f"{command.replace('FILE', 'grid.toml')} --no-figures")
    told = typed("sojourn explain POINT")
    assert "(base RTT 30 ms) share a bottleneck of 4 Mbit/s and a codel queue" in told

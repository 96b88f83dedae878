"""Files for Flent and Mahimahi, and Flent's as runs."""

from __future__ import annotations

import contextlib
import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sojourn
from conftest import TWO_FLOWS, Command
from sojourn.errors import ScenarioError
from sojourn.interchange import flent, mahimahi
from sojourn.interchange.files import read
from sojourn.interchange.observed import Asked

WHEN = datetime(2026, 11, 25, 12, tzinfo=UTC)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.just("word"),
    lambda of: st.lists(of, max_size=4) | st.dictionaries(st.sampled_from("ab"), of, max_size=2),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def run() -> sojourn.Result:
    return sojourn.run(TWO_FLOWS)


def test_a_file_of_flents_has_the_runs_series(run: sojourn.Result) -> None:
    document = json.loads(gzip.decompress(flent.written(run, WHEN)))
    assert (document["version"], document["metadata"]["NAME"]) == (4, "tcp_ndown")
    times, results = document["x_values"], document["results"]
    assert len(times) == 30
    assert all(len(values) == 30 for values in results.values())
    first = run.data.flow.throughput[:, 0].tolist()
    assert results["TCP download::1"] == first
    assert document["raw_values"]["TCP download::2"][3]["t"] == WHEN.timestamp() + times[3]
    both = np.array([results[f"TCP download::{n}"] for n in (1, 2)], dtype=float)
    np.testing.assert_allclose(both.sum(axis=0), results["TCP download sum"])
    assert flent.written(run, WHEN) == flent.written(run, WHEN)


def test_flent_opens_it(run: sojourn.Result, tmp_path: Path) -> None:
    from flent import resultset

    file = tmp_path / "two.flent.gz"
    file.write_bytes(flent.written(run, WHEN))
    opened = resultset.load(str(file))
    assert opened.meta("TITLE") == "two-flows"
    assert len(opened.series("TCP download::1")) == 30
    first = next(iter(opened.raw_series("TCP download::1")))
    assert first[0] == pytest.approx(0.1, abs=1e-5)
    # Flent's own files come back.
    again = tmp_path / "again.flent.gz"
    opened.dump_file(str(again))
    assert len(read(Asked(again)).result.flows) == 2


def test_it_comes_back_as_a_run(run: sojourn.Result, tmp_path: Path) -> None:
    file = tmp_path / "two.flent.gz"
    file.write_bytes(flent.written(run, WHEN))
    back = read(Asked(file)).result
    assert back.scenario.name == "two"
    assert list(back.flows["label"]) == ["TCP download::1", "TCP download::2"]
    for name, share in [("mean_throughput_l4", 0.02), ("mean_srtt_l4", 0.05)]:
        np.testing.assert_allclose(back.flows[name], run.flows[name], rtol=share)
    assert back.flows["total_retransmissions_l4"].null_count() == 2


def flents(directory: Path, content: object) -> Path:
    file = directory / "a.flent.gz"
    file.write_bytes(gzip.compress(json.dumps(content).encode()))
    return file


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "is no file of Flent's of version 1 to 4"),
        ({"version": 5}, "is no file of Flent's of version 1 to 4"),
        ({"version": 4}, "has no results over rising times"),
        ({"version": 4, "x_values": [1, 1], "results": {}}, "has no results over rising times"),
        (
            {"version": 4, "x_values": [0, 1], "results": {"TCP upload sum": [1, 2]}},
            "has no series of a TCP connection; it has: TCP upload sum",
        ),
    ],
)
def test_what_flent_does_not_write_is_refused(
    tmp_path: Path, content: object, message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        read(Asked(flents(tmp_path, content)))


def test_damaged_gzip_is_refused(run: sojourn.Result, tmp_path: Path) -> None:
    file = tmp_path / "a.flent.gz"
    content = flent.written(run, WHEN)
    for damaged in (content[:40], content[:-9], content[:50] + b"abc" + content[53:]):
        file.write_bytes(damaged)
        with pytest.raises(ScenarioError, match="is no file of Flent's"):
            read(Asked(file))


@given(
    st.fixed_dictionaries(
        {"version": st.just(4)},
        optional={
            "x_values": JSON | st.lists(st.floats(0, 9), max_size=4),
            "results": JSON | st.dictionaries(st.sampled_from(["TCP upload", "Ping (ms) x"]), JSON),
        },
    )
)
def test_any_json_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: object
) -> None:
    with contextlib.suppress(ScenarioError):
        read(Asked(flents(tmp_path_factory.mktemp("any"), content)))


@pytest.mark.parametrize("record", [[], ["packets"]])
def test_a_trace_gives_back_what_a_link_has_delivered(record: list[str], tmp_path: Path) -> None:
    made = sojourn.run(f"record = {json.dumps(record)}\n{TWO_FLOWS}")
    text = mahimahi.written(made, "bottleneck")
    times = [int(line) for line in text.split()]
    assert times == sorted(times)
    sent = made.data.link.samples["sent_bytes"].sum()
    assert len(times) == pytest.approx(sent / 1514, abs=2)  # with framing
    (tmp_path / "link.trace").write_text(text)
    scenario = TWO_FLOWS.replace('rate = "8 Mbit/s"', 'trace = { file = "link.trace" }')
    (tmp_path / "a.toml").write_text(scenario)
    over = sojourn.run(tmp_path / "a.toml")
    both = [of.net["mean_agg_throughput_l4"][0] for of in (over, made)]
    assert both[0] == pytest.approx(both[1], rel=0.05)


def test_the_command_writes_both(run: sojourn.Result, called: Command, tmp_path: Path) -> None:
    run.save(tmp_path / "run")
    files = ("--flent", "a.flent.gz", "--mahimahi", "bottleneck", "a.trace")
    done = called("export", "run", *files)
    assert (done.returncode, done.stdout) == (0, "a.flent.gz\na.trace\n"), done.stderr
    assert len(read(Asked(tmp_path / "a.flent.gz")).result.flows) == 2
    for line, message in [
        (("run",), "--flent FILE or --mahimahi LINK FILE: neither given"),
        (("run", "--mahimahi", "botleneck", "x"), "--mahimahi: unknown link 'botleneck'"),
    ]:
        done = called("export", *line)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr

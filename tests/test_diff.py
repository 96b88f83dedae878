"""``sojourn diff``: the first packet at which two runs part."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import sojourn
from conftest import TWO_FLOWS
from sojourn.cli import cli
from sojourn.difference import difference, parting, side
from sojourn.errors import ScenarioError

LOSSY = TWO_FLOWS.replace("[[flows]]", 'loss = "0.5 %"\n[[flows]]', 1)
RECORD = 'record=["packets", "cc", "queue"]'
A = pl.DataFrame(
    {
        "time": [0.1, 0.1, 0.2, 0.2, 0.3, 0.4],
        "link": ["x", "y", "x", "x", "x", "y"],
        "flow": [0, 0, 0, 1, 0, 0],
        "index": [0, 0, 1, 0, 1, 2],
        "size": [60, 60, 1500, 60, 1500, 52],
        "event": ["enqueue", "enqueue", "enqueue", "enqueue", "deliver", "enqueue"],
        "reason": [None, None, None, None, None, "duplicate"],
    }
)


def parted(a: pl.DataFrame, b: pl.DataFrame, until: float = 1.0, tolerance: float = 0.0) -> object:
    """When and where, and the indices on both sides."""
    found = parting.first(a.lazy(), b.lazy(), until, tolerance)
    sides = found and [one and one["index"] for one in (found.a, found.b)]
    return found and (found.time, found.link, found.event, sides)


def changed(row: int, **values: object) -> pl.DataFrame:
    rows = A.to_dicts()
    rows[row] |= values
    return pl.DataFrame(rows, schema=A.schema)


@pytest.fixture(params=[1, 2, 1 << 18])
def _batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parting, "_ROWS", request.param)


@pytest.mark.usefixtures("_batches")
def test_any_field_of_an_event_tells_two_sequences_apart() -> None:
    assert parted(A, A) is None
    assert parted(A, changed(2, index=2)) == (0.2, "x", "enqueue", [1, 2])
    assert parted(changed(4, size=1499), A) == (0.3, "x", "deliver", [1, 1])
    assert parted(A, changed(5, reason=None)) == (0.4, "y", "enqueue", [2, 2])
    assert parted(A, changed(4, time=0.25)) == (0.25, "x", "deliver", [1, 1])
    assert parted(A, changed(4, time=0.25), tolerance=0.1) is None
    assert parted(A, changed(4, time=0.25), tolerance=0.01) == (0.25, "x", "deliver", [1, 1])
    # The earliest counts, wherever it stands.
    assert parted(A[[1, 5, 0, 2, 3, 4]], changed(2, index=2)) == (0.2, "x", "enqueue", [1, 2])
    both = pl.concat([changed(2, index=2)[:5], changed(5, index=9)[5:]])
    assert parted(A[[1, 5, 0, 2, 3, 4]], both) == (0.2, "x", "enqueue", [1, 2])


@pytest.mark.usefixtures("_batches")
def test_a_sequence_that_ends_parts_there_unless_the_run_does() -> None:
    assert parted(A, A[:5]) == (0.4, "y", "enqueue", [2, None])
    assert parted(A[:5], A) == (0.4, "y", "enqueue", [None, 2])
    assert parted(A, A[:5], until=0.35) is None
    assert parted(A, changed(4, time=0.9)) == (0.3, "x", "deliver", [1, 1])
    # Other flows and links may be told in another order.
    assert parted(A, A[[1, 5, 0, 3, 2, 4]]) is None
    # What is dropped here and delivered there.
    drop = changed(4, event="drop", reason="loss")
    assert parted(A, drop) == (0.3, "x", "drop", [None, 1])


def told(*arguments: str) -> str:
    """What the command prints of directories."""
    done = CliRunner().invoke(cli, ["diff", *arguments], catch_exceptions=False)
    return done.stdout or done.stderr


def test_two_seeds_part_at_the_first_loss_that_they_do_not_share(tmp_path: Path) -> None:
    places = [str(tmp_path / f"seed {seed}") for seed in (1, 2)]
    for seed, place in enumerate(places, start=1):
        sojourn.run(LOSSY, overrides=[RECORD], seed=seed).save(place)
    found = json.loads(told(*places, "--format", "json"))["first_difference"]
    rows = (pl.read_parquet(Path(place) / "packets.parquet") for place in places)
    losses = [frame.filter(pl.col("reason") == "loss").row(0, named=True) for frame in rows]
    loss = min(losses, key=lambda row: float(row["time"]))
    assert {"time", "flow", "index", "link", "event"} <= found.keys()
    assert [found[key] for key in found if key in loss] == [
        loss[key] for key in found if key in loss
    ]
    flow = f"flow.{loss['flow']}"
    known = {(one["of"], one["name"]): (one["a"], one["b"]) for one in found["known"]}
    counts = [count or 0 for count in known[f"{flow}.packets", "drop count"]]
    assert abs(counts[0] - counts[1]) == 1
    assert known[f"{flow}.cc", "cwnd"][0] == known[f"{flow}.cc", "cwnd"][1] >= 10
    assert known["link.bottleneck.queue", "packets"][0] is not None
    # What differs comes first.
    same = [one["a"] == one["b"] for one in found["known"]]
    assert same == sorted(same)
    text = told(*places)
    assert f"first difference at {loss['time']!r} s: flow {loss['flow']}" in text
    assert "drop count" in text
    assert "--record" not in text
    assert json.loads(told(places[0], places[0], "--format", "json")) == {"first_difference": None}
    assert told(places[0], places[0]) == "no packet differs until 3 s\n"


def test_a_shorter_run_of_the_same_is_no_other(tmp_path: Path) -> None:
    for name, duration in (("short", "1 s"), ("long", "1.5 s")):
        sojourn.run(LOSSY, overrides=[RECORD, f'duration="{duration}"']).save(tmp_path / name)
    sides = [side(tmp_path / name) for name in ("short", "long")]
    assert difference(sides[0], sides[1]) is None
    assert difference(sides[1], sides[0]) is None


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    sojourn.run(TWO_FLOWS, overrides=['duration="1 s"']).save(tmp_path)
    with pytest.raises(ScenarioError, match="packets: was not recorded; run with --record packets"):
        side(tmp_path)
    with pytest.raises(ScenarioError, match="nothing"):
        side(tmp_path / "nothing")
    assert "expected a time such as 10 us" in told("a", "b", "--tolerance", "3")

"""Sweeps whose results are on an object store: an S3 in this process."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from moto import server
from polars.testing import assert_frame_equal

import sojourn
from conftest import TWO_FLOWS
from sojourn import ScenarioError, SojournError
from sojourn.scenario import load
from sojourn.store import lease
from sojourn.store.batches import Batches
from sojourn.store.location import create, local, located, write
from sojourn.sweeps import run
from sojourn.sweeps.expand import plan

pytestmark = pytest.mark.concurrent
SWEEP = f"""{TWO_FLOWS}
[sweep]
replications = 3
[sweep.grid]
"flows.0.cca" = ["reno", "cubic"]
"""


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with pytest.MonkeyPatch.context() as patch:
        s3 = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        s3.start()
        host, port = s3.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        import s3fs

        s3fs.S3FileSystem().mkdir("results")
        yield "s3://results"
        s3.stop()


def stored(directory: Path) -> pl.DataFrame:
    rows = Batches(directory, pytest.fail).ask(lambda rows: rows.drop("wall_seconds").collect())
    assert rows is not None
    return rows.sort("point", "scope", "id")


def sweep(directory: Path) -> run.Summary:
    return run.sweep(plan(load(SWEEP)), directory, 2, progress=lambda *_: None, warn=pytest.fail)


def test_as_on_a_path(bucket: str, tmp_path: Path) -> None:
    made = sojourn.sweep(SWEEP, directory=f"{bucket}/grid")
    ours = sojourn.sweep(SWEEP, directory=tmp_path)
    assert stored(made.directory).equals(stored(tmp_path))
    assert_frame_equal(sojourn.open(f"{bucket}/grid").summary, ours.summary)
    assert sweep(made.directory).stored_before == 6
    assert len(pl.concat(made.batches())) == len(made.runs)


def test_a_bucket_that_is_not_there_is_told(bucket: str) -> None:
    with pytest.raises(ScenarioError, match="s3://none/grid: cannot be written"):
        sojourn.sweep(SWEEP, directory="s3://none/grid")


def test_only_one_creates(bucket: str) -> None:
    place = located(f"{bucket}/once")
    assert [create(place, b"1"), create(place, b"2"), place.read_bytes()] == [True, False, b"1"]


def test_who_was_taken_for_dead_writes_what_nobody_reads(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = located(f"{bucket}/fenced")
    batches = Batches(directory, pytest.fail)
    monkeypatch.setattr(lease, "LAPSE", 0.3)
    waited: list[Any] = []
    with lease.exclusive(directory, lambda: None):
        batches.append(pl.DataFrame({"key": ["first"]}))
        slow = lease.mark(directory)
        with lease.exclusive(directory, lambda: waited.append(1)):
            batches.append(pl.DataFrame({"key": ["second"]}))
            monkeypatch.setattr(lease, "mark", lambda _: slow)  # it has looked just before
            batches.append(pl.DataFrame({"key": ["late"]}))
            monkeypatch.undo()
            lease._own[str(directory)] = int(slow.rstrip("."))
            with pytest.raises(SojournError, match="taken this one for dead"):
                batches.append(pl.DataFrame({"key": ["later"]}))
    assert waited == [1]
    assert sorted(batches.read(["key"])["key"]) == ["first", "second"]


def test_threads_that_copy_an_object_at_once_each_find_it(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = located(f"{bucket}/at-once/object.parquet")
    write(place, b"content")
    both, write_here = threading.Barrier(2, timeout=60), Path.write_bytes

    def together(path: Path, content: bytes) -> int:
        written = write_here(path, content)
        both.wait()
        return written

    monkeypatch.setattr(Path, "write_bytes", together)
    with ThreadPoolExecutor(2) as pool:
        assert {copy.read_bytes() for copy in pool.map(local, [place] * 2)} == {b"content"}

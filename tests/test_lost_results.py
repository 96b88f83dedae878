"""Workers of a cluster that end with the results that they have."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from sojourn.executors.cluster import _Tasks


class Forgetful:
    """A client whose workers end, each with a result: one before it is fetched, one after."""

    status = "running"

    def __init__(self) -> None:
        self.sent: list[SimpleNamespace] = []

    def nthreads(self) -> dict[str, int]:
        return {"worker": 2}

    def submit(self, work: Any, name: str, items: list[int], *rest: Any, **keys: Any) -> Any:
        future = Result(status="finished" if items == [1] else "lost", items=items)
        self.sent.append(future)
        return future

    def gather(self, futures: list[Any]) -> list[tuple[list[int], float]]:
        for future in self.sent:
            future.status = "lost" if future.status == "finished" else "finished"
        return [(future.items, 100.0) for future in futures]


class Result(SimpleNamespace):
    __hash__ = object.__hash__

    def add_done_callback(self, told: Any) -> None:
        told(self)


def test_a_result_that_is_lost_with_its_worker_counts_once() -> None:
    client: Any = Forgetful()
    work: Any = None  # is done elsewhere
    tasks: Any = _Tasks(client, "work", [1, 2], work, 9)
    tasks._seconds = 100.0  # a task of each item
    told = tasks.run(patience=0.1)
    assert [done for done in told if done is not None] == [[1], [2]]

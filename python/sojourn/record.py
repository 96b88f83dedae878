"""What is recorded as it happens: batches of rows from the core, kept in Parquet files, and bytes
of files that it writes itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from sojourn.errors import ScenarioError
from sojourn.spool import Spool, keep_memory

#: What can be recorded, and in which table or file it is.
KINDS = {
    **{"cc": "state", "queue": "state", "packets": "packets"},
    **{"pcap": "capture", "qlog": "qlog"},
}
#: The files that are none of rows: one, or one of each flow, by its number.
FILES = {"capture": "packets.pcapng", "qlog": "qlog/*.sqlog"}
#: Keys of a scenario that say what is recorded, and make no other run of it.
OF_RECORDS = ("record", "pcap", "qlog")
_REAL, _WORD, _COUNT = pl.Float64(), pl.String(), pl.Int64()
#: What the headers of a captured packet tell.
HEADERS: dict[str, pl.DataType] = {
    **{"seq": _COUNT, "ack": _COUNT, "sack": _WORD, "flags": _WORD, "class": _COUNT},
}
#: The columns of the tables; times in seconds, sizes in bytes. Nobody asks for ``passages``: they
#: are of captures.
SCHEMAS: dict[str, dict[str, pl.DataType]] = {
    "state": {
        **{"time": _REAL, "component": _WORD, "name": _WORD},
        **{"value": _REAL, "text": _WORD},
    },
    "packets": {
        **{"time": _REAL, "link": _WORD, "flow": _COUNT, "index": _COUNT, "size": _COUNT},
        **{"event": _WORD, "reason": _WORD, "sojourn": _REAL},
    },
    "passages": {
        **{"time": _REAL, "link": _WORD, "flow": _COUNT, "index": _COUNT, "size": _COUNT},
        **{"event": _WORD, **HEADERS},
    },
}
#: Rows that are gathered in memory before they are written.
_ROWS = 500_000
#: What may wait to be written: the run stops until there is less.
_WAITING = 2

#: Takes a table's name, columns, and the words that numbers in its columns of words stand for; of a
#: file that is none of rows the next ``bytes``, and the ``flow`` whose it is if each has one.
Add = Callable[[str, dict[str, Any], list[str | None]], object]


T = TypeVar("T")


@dataclass(frozen=True)
class Record:
    """What was recorded of a run, by table."""

    tables: Mapping[str, pl.LazyFrame]
    #: Files that are none of rows, by their names in a directory of results.
    files: Mapping[str, Path] = field(default_factory=dict)
    #: Where temporary files are, which last as long as this.
    spool: Spool | None = None

    def scan(self, table: str) -> pl.LazyFrame:
        """The rows of a table, read when they are needed.

        Raises:
            ScenarioError: if nothing of it was recorded.

        """
        if table not in self.tables:
            kinds = ",".join(kind for kind, where in KINDS.items() if where == table)
            raise ScenarioError(
                f"{table}: was not recorded; run with --record {kinds}, or record = [...] in the "
                "scenario"
            )
        return self.tables[table]


class Recording:
    """Takes rows and bytes while a run goes on, which a thread writes beside it."""

    def __init__(self, kinds: Collection[str], directory: Path | None) -> None:
        self._spool = Spool(directory)
        self._thread = ThreadPoolExecutor(1, "sojourn-record")
        self._under_way: deque[Future[None]] = deque()
        names = sorted({KINDS[kind] for kind in kinds})
        if any(name in FILES for name in names):
            keep_memory()
        self._files: dict[str, Path] = {}
        self._waiting: dict[str, list[pl.DataFrame]] = {
            table: [pl.DataFrame(schema=SCHEMAS[table])] for table in names if table in SCHEMAS
        }

    def add(self, table: str, columns: dict[str, Any], words: list[str | None]) -> None:
        """Takes a batch."""
        if table in FILES:
            name = FILES[table].replace("*", str(columns.get("flow")))
            self._files[name] = self._spool.path(name)
            self._beside(self._spool.append, name, columns["bytes"])
            return
        meant = pl.Series(words, dtype=_WORD)
        series = [
            meant.gather(columns[name]).alias(name)
            if kind == _WORD
            else pl.Series(name, columns[name], dtype=kind, nan_to_null=kind == _REAL)
            for name, kind in SCHEMAS[table].items()
        ]
        waiting = self._waiting[table]
        waiting.append(pl.DataFrame(series))
        if sum(frame.height for frame in waiting) >= _ROWS:
            self._write(table)

    def finished(self) -> Record:
        """What was recorded, once all of it has come."""
        for table in self._waiting:
            self._write(table)
        while self._under_way:
            self._under_way.popleft().result()
        self._thread.shutdown()
        tables = {table: self._spool.scan(table) for table in self._waiting}
        return Record(tables, self._files, self._spool)

    def _write(self, table: str) -> None:
        if frames := self._waiting[table]:
            self._beside(self._spool.write, table, pl.concat(frames))
            frames.clear()

    def _beside(self, write: Callable[..., None], name: str, content: object) -> None:
        if len(self._under_way) >= _WAITING:
            self._under_way.popleft().result()
        self._under_way.append(self._thread.submit(write, name, content))


def recorded(
    canonical: Mapping[str, Any], spool: Path | None, run: Callable[[Add | None], T]
) -> tuple[T, Record | None]:
    """What ``run`` makes of a canonical scenario, and what the scenario asks to be recorded, below
    ``spool`` if given: ``run`` is told where that goes, or that nothing is wanted.
    """
    kinds = canonical.get("record", ())
    if not kinds:
        return run(None), None
    recording = Recording(kinds, spool)
    return run(recording.add), recording.finished()

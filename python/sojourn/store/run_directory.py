"""One run on disk: a manifest and Parquet tables, readable without Sojourn."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from sojourn import _internal
from sojourn.disk import reading, scan, write
from sojourn.errors import SojournError
from sojourn.measured import Measured
from sojourn.metrics import RunData
from sojourn.metrics.columns import Table
from sojourn.origin import Origin, told, who
from sojourn.programs import OUTPUT, WRITTEN, Programs, read_output
from sojourn.record import FILES, OF_RECORDS, SCHEMAS, Record
from sojourn.scenario import Document, Scenario
from sojourn.spool import LONG, OnDisk
from sojourn.store import manifest
from sojourn.store.difference import difference
from sojourn.store.files import Write, copy, write_together
from sojourn.store.layout import clear_derived, clear_tree, remove
from sojourn.store.location import is_remote
from sojourn.store.place import UNFINISHED, Tenant
from sojourn.transfers import numbered

KIND = "run"
#: The core's columns, which metrics and figures are computed from.
TABLES = ("flow_samples", "flows", "link_samples", "links")
#: ... and those of runs in which nodes decide themselves.
NODES = "node_samples"
#: ... and those of runs in which transfers arrive.
TRANSFERS, ARRIVALS = "transfers", "arrival_samples"


def tenant(scenario: Scenario, origin: Origin | None = None) -> Tenant:
    """What a directory of this scenario's run is told by; ``origin`` tells one that is not
    simulated.
    """
    here = who(origin or {})
    identity: manifest.Manifest = {
        "scenario": scenario.canonical,
        "document": _plain(scenario.document),
    }
    identity |= {"origin": here} if here else {}

    def differs(found: manifest.Manifest) -> str:
        theirs = who(found.get("origin", {}))
        if theirs != here:
            return f"{told(theirs)}, not {told(here)}"
        # A later version may fill in the defaults of the same document otherwise.
        if _unrecorded(found["document"]) == _unrecorded(identity["document"]):
            return ""
        return difference(_unrecorded(found["scenario"]), _unrecorded(identity["scenario"]))

    name = f"{scenario.name}-{here['backend']}" if here else scenario.name
    return Tenant(KIND, name, name, identity, differs, grows=False)


def save(result: Measured, directory: Path) -> None:
    """Writes a run: the core's tables, the metrics, the manifest; all of them or none. What was
    made from an earlier run goes.
    """
    tables = _tables_of(result.data)
    metrics = {f"metrics_{name}": frame for name, frame in result.complete().items()}
    result.data.let_go()
    content = {
        "engine": _internal.engine_build(),
        "scenario": result.scenario.canonical,
        "document": result.scenario.document,
        "network": result.data.network,
        "timing": result.timing,
        **({"origin": result.origin} if result.origin else {}),
        **_said(result.programs),
    }
    files: dict[str, Write] = {
        **{f"{name}.parquet": _writer(table) for name, table in tables.items()},
        **{f"{name}.parquet": partial(write, frame) for name, frame in metrics.items()},
        **{f"{name}.parquet": rows.sink_parquet for name, rows in result.record.tables.items()},
        **{name: partial(shutil.copyfile, path) for name, path in result.record.files.items()},
    }
    made: list[str] = []
    if result.programs is not None:
        made = result.programs.directories()
        files[OUTPUT] = result.programs.write_output
        written = result.programs.written()
        files |= {name: copy(path) for name, path in written.items()}
    if TRANSFERS in tables:
        files[f"{TRANSFERS}.parquet"] = OnDisk(result.scan_transfers()).write
    write_together(directory, {**files, manifest.FILE: manifest.writer(KIND, content)})
    others = {f"{name}.parquet" for name in (NODES, TRANSFERS, ARRIVALS, *SCHEMAS)}
    for name in {*others, OUTPUT, *_recorded(directory)} - files.keys():
        remove(directory / name, directory)
    clear_tree(directory / WRITTEN, {directory / name for name in files})
    for name in () if is_remote(directory) else made:  # an object store has files alone
        (directory / name).mkdir(parents=True, exist_ok=True)
    clear_derived(directory)


def _said(programs: Programs | None) -> manifest.Manifest:
    """What the manifest says of programs."""
    return {} if programs is None else {"hash": programs.hash, "programs": [*programs.programs]}


def _tables_of(data: RunData) -> dict[str, Table]:
    """The core's tables that are stored."""
    names = [*TABLES, *([NODES] if data.network.get("nodes") else [])]
    names += [name for name in (TRANSFERS, ARRIVALS) if name in data.tables]
    return {name: data.tables[name] for name in names}


def _writer(table: Table) -> Write:
    if isinstance(table, OnDisk):
        return table.write
    return partial(write, pl.DataFrame(dict(table)))


def _unrecorded(scenario: Document) -> Document:
    """Without what is recorded, which makes no other run of it."""
    return {name: value for name, value in scenario.items() if name not in OF_RECORDS}


def _plain(value: Document) -> Document:
    """As JSON gives it back."""
    return dict(json.loads(json.dumps(value)))


def load(directory: Path) -> Measured:
    """Reads a run back, its long tables column by column as they are needed; metrics are computed
    anew from them.
    """
    content = manifest.read(directory)
    if content["kind"] != KIND:
        raise SojournError(f"{directory}: holds a {content['kind']}, not a run")
    if content.get(UNFINISHED):
        raise SojournError(f"{directory}: its run has not finished; run it again")
    canonical = content["scenario"]
    names = [*TABLES, *([NODES] if content["network"].get("nodes") else [])]
    names += [ARRIVALS] if canonical.get("arrivals") else []
    paths = {name: directory / f"{name}.parquet" for name in [*names, TRANSFERS, *SCHEMAS]}
    tables = {name: _columns(paths[name], scan(paths[name])) for name in names}
    if canonical.get("arrivals"):
        rows = numbered(scan(paths[TRANSFERS]), canonical)
        tables[TRANSFERS] = _columns(paths[TRANSFERS], rows)
    data = RunData(canonical, tables, content["network"])
    written = {name: paths[name] for name in SCHEMAS if paths[name].exists()}
    files = _recorded(directory)
    record = Record({name: scan(path) for name, path in written.items()}, files)
    scenario = Scenario(content["document"], content["scenario"])
    origin, programs = content.get("origin"), _programs(directory, content)
    return Measured(scenario, data, content["timing"], record, origin, programs)


def _programs(directory: Path, content: Mapping[str, Any]) -> Programs | None:
    """What programs said and wrote in a run of any."""
    if "programs" not in content:
        return None
    output = read_output(directory / OUTPUT)
    return Programs(content["hash"], content["programs"], output, directory / WRITTEN)


def _recorded(directory: Path) -> dict[str, Path]:
    """The files in it that are none of rows."""
    paths = [path for pattern in FILES.values() for path in sorted(directory.glob(pattern))]
    return {path.relative_to(directory).as_posix(): path for path in paths}


def _columns(path: Path, rows: pl.LazyFrame) -> Table:
    """The columns of a file that is read as ``rows``."""
    with reading(path):
        long = OnDisk(rows)
        if long.height >= LONG:
            return long
        frame = rows.collect()
    return {column.name: column.to_numpy() for column in frame}

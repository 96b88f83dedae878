"""Goldens of the whole engine: whoever moves its code must not change a bit of what it computes.

`goldens.txt` has a line per case: its name, the hash of its canonical scenario (keys sorted, the
file as it is) and a digest of each table of its run, cut to a few seconds. The count of events, a
cost and no result, is left out. `goldens-texts.txt` has what is said of scenarios: the schema, the
catalogue and refusals. Where physics are changed on purpose, ``python tests/goldens.py`` writes
both anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from sojourn import ScenarioError, _internal, data, scenario, slotted
from sojourn.experiments import experiments
from sojourn.quantity import number
from sojourn_reproductions.gnat2021.multicast import webs
from sojourn_reproductions.gnat2021.slots.models import RUNS

ROOT = Path(__file__).resolve().parents[1]
RUNS_FILE = ROOT / "tests" / "goldens.txt"
TEXTS_FILE = ROOT / "tests" / "goldens-texts.txt"
#: The most that is simulated of a case, s.
MOST = 5.0
STACKS = ("linux-6", "linux-5.1", "linux-4.9", "ns3", "rfc")
#: Too large for every run of the tests; they are e with more flows, and arrivals as elsewhere.
LARGE = {f"experiments/speed/{name}.toml" for name in "gh"}
Document = dict[str, Any]
Case = tuple[str, Document]


def cases() -> Iterator[Case]:
    """Names and documents of all scenarios."""
    yield from files()
    yield from members()
    yield from stacks()
    ends = webs.links(webs.SMALL)
    keys = {"senders": 1, "rate": "1 Mbit/s", "seconds": 60, "tree": True}
    yield "a shared tree", webs.document("tree", webs.SMALL, ends, **keys)
    recorded = _catalogue("queue") | {"record": ["cc", "queue", "packets"]}
    yield "all that can be recorded", recorded


def files() -> Iterator[Case]:
    """Every scenario that comes with Sojourn, without its sweep, unless it is large."""
    for name in sorted({experiment["name"] for experiment in experiments()} - LARGE):
        document = scenario.read(data.path(name))
        if "topology" in document:
            yield name, document


def members() -> Iterator[Case]:
    """Every member of every kind at work; topologies, nodes and media are in files."""
    listed = json.loads(_internal.catalogue())
    for name in _names(listed, "ccas"):
        document = _catalogue("control")
        document["topology"]["bottleneck"]["loss"] = "0.05 %"
        document["flows"][0]["cca"] = name
        yield f"cca {name}", document
    for name in _names(listed, "queues"):
        document = _catalogue("queue")
        document["topology"]["bottleneck"]["queue"] = name
        yield f"queue {name}", document
    for name in _names(listed, "traffic"):
        document = _catalogue("control")
        document["flows"][0]["traffic"] = _TRAFFIC.get(name, name)
        yield f"traffic {name}", document
    for name in _names(listed, "transports"):
        document = _catalogue("control")
        document["topology"]["bottleneck"]["loss"] = "1 %"
        document["flows"][0] = {"transport": name, "rtt": "40 ms"} | _FLOW.get(name, {})
        yield f"transport {name}", document


#: Columns of ``flows`` that came after the digests, which they are no part of.
_LATER = {
    *(f"{delay}_p{percent}" for delay in ("arrival", "delivery") for percent in (50, 95, 99)),
    *("jitter", "expected_packets", "lost_packets", "loss_runs", "longest_loss_run"),
}
#: What a kind of traffic has no default for.
_TRAFFIC: dict[str, Document] = {
    "sized": {"kind": "sized", "size": "5 MB"},
    "cbr": {"kind": "cbr", "rate": "5 Mbit/s"},
}
_FLOW: dict[str, Document] = {
    "tcp": {"cca": "cubic"},
    "udp": {"traffic": {"kind": "cbr", "rate": "5 Mbit/s"}},
    "sliq": {"cca": ["copa", "cubic"], "mss": 1400},
}


def stacks() -> Iterator[Case]:
    """Every stack under loss and reordering."""
    for stack in STACKS:
        for name in ("reno", "cubic", "bbr"):
            document = _catalogue("control") | {"stack": stack}
            document["topology"]["bottleneck"] |= {
                "loss": "0.5 %",
                "reverse_loss": "1 %",
                "reorder": {"probability": "0.5 %", "delay": "5 ms"},
            }
            document["flows"][0] |= {"cca": name, "count": 2}
            yield f"{name} of {stack}", document


def _names(listed: Mapping[str, Any], kind: str) -> list[str]:
    return [entry["name"] for entry in listed[kind]]


def _catalogue(name: str) -> Document:
    return scenario.read(ROOT / "experiments" / "catalogue" / f"{name}.toml")


def cut(document: Document) -> Document:
    """No longer than :data:`MOST`, with all flows begun in its first half."""
    if number(document["duration"]) <= MOST:
        return document
    starts = [number(flow["start"]) for flow in document["flows"]]
    shrink = min(1.0, MOST / 2 / max(*starts, 1e-9))
    flows = [
        {key: value for key, value in flow.items() if key != "stop"}
        | {"start": f"{round(start * shrink * 1e9)} ns"}
        for flow, start in zip(document["flows"], starts, strict=True)
    ]
    return document | {"duration": f"{MOST} s", "warmup": "0 s", "flows": flows}


def line(case: Case) -> str:
    """What the file has of a case."""
    name, document = case
    whole = {key: value for key, value in document.items() if key != "sweep"}
    canonical = _canonical(whole)
    told = [name, f"canonical {_digest(json.dumps(canonical, sort_keys=True).encode())}"]
    recorded: dict[str, hashlib._Hash] = {}

    def record(table: str, columns: Mapping[str, Any], words: list[str | None]) -> None:
        into = recorded.setdefault(table, hashlib.sha256())
        into.update(_bytes(columns) + json.dumps(words).encode())

    try:
        outcome = _internal.run(json.dumps(_canonical(cut(canonical))), None, record, 1)
    except ScenarioError as error:  # of what only a kernel runs
        return "; ".join([*told, f"refused {error}"])
    network = outcome.pop("network")
    outcome["totals"].pop("events")
    outcome["flows"] = {n: column for n, column in outcome["flows"].items() if n not in _LATER}
    tables = {table: _digest(_bytes(columns)) for table, columns in outcome.items()}
    tables |= {f"recorded {table}": into.hexdigest()[:16] for table, into in recorded.items()}
    tables["network"] = _digest(network.encode())
    return "; ".join([*told, *(f"{table} {digest}" for table, digest in sorted(tables.items()))])


def _canonical(document: Document) -> Document:
    canonical: Document = json.loads(_internal.validate(json.dumps(document))[0])
    return canonical


def _bytes(columns: Mapping[str, Any]) -> bytes:
    """Names, kinds and values. Not-a-number has many forms and one meaning."""
    told = []
    for name, values in columns.items():
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array)
        told.append(f"{name} {array.dtype.str} {array.shape} ".encode() + array.tobytes())
    return b"".join(told)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def slotted_lines() -> Iterator[str]:
    """The models of the report that know slots and no packets."""
    for run in RUNS:
        outcome = slotted.run({**run.model, "seconds": min(MOST, run.model["seconds"])})
        yield f"slotted {run.name}; outcome {_digest(json.dumps(outcome).encode())}"


def lines() -> list[str]:
    """All of `goldens.txt`."""
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return [*threads.map(line, cases()), *slotted_lines()]


def texts() -> list[str]:
    """All of `goldens-texts.txt`."""
    told = [
        f"schema: {_digest(_schema().encode())}",
        f"catalogue: {_digest(_internal.catalogue(outside=True).encode())}",
    ]
    for base, path, value in REFUSED:
        document = scenario.read(data.path(f"experiments/{base}"))
        document.pop("sweep", None)
        scenario.set_path(document, path, value)
        try:
            _internal.run(json.dumps(cut(_canonical(document))), None, None, 1)
        except ScenarioError as error:
            told.append(f"{base}: {path} = {json.dumps(value)}: {error}")
        else:
            told.append(f"{base}: {path} = {json.dumps(value)}: accepted")
    return told


def _schema() -> str:
    """With its definitions in alphabetical order, which means nothing; that of keys is shown."""
    schema = json.loads(_internal.schema())
    return json.dumps(schema | {"$defs": dict(sorted(schema["$defs"].items()))})


_CONTROL, _OVERLAY = "catalogue/control.toml", "gnat2021/3-node-perf.toml"
_GROUP, _HOME = "gnat2021/6enclave-mcast-1grp.toml", "catalogue/home.toml"
_SLIQ = "speed/sliq.toml"
#: Of which file, which field becomes what.
REFUSED: list[tuple[str, str, Any]] = [
    (_CONTROL, "servces", {}),
    (_CONTROL, "services", {}),
    (_CONTROL, "services", [{"ports": "x"}]),
    (_CONTROL, "flows.0.strem", {}),
    (_CONTROL, "flows.0.colour", 1),
    (_CONTROL, "flows.0.stream", 3),
    (_CONTROL, "flows.0.stream", {}),
    (_CONTROL, "flows.0.stream", {"deadlin": 1}),
    (_CONTROL, "flows.0.stream", {"reliability": "x"}),
    (_CONTROL, "flows.0.service", {}),
    (_CONTROL, "flows.0.service", {"utility": "x"}),
    (_CONTROL, "flows.0.service", {"group": "x"}),
    (_CONTROL, "flows.0.port", "x"),
    (_CONTROL, "flows.0.port", 5),
    (_CONTROL, "flows.0.receivers", ["a"]),
    (_CONTROL, "flows.0.transport", "slick"),
    (_CONTROL, "flows.0.cca", ["reno", "cubic"]),
    (_CONTROL, "flows.0", ["x"]),
    (_CONTROL, "topology.bottleneck.colour", 1),
    (_SLIQ, "flows.0.stream", {"reliability": "adaptive"}),
    (_SLIQ, "flows.0.stream", {"deadlin": 1}),
    (_SLIQ, "flows.0.stream", {"probability": 2}),
    (_SLIQ, "flows.0.ecn", "classic"),
    (_OVERLAY, "flows.0.service", {"utility": "x"}),
    (_OVERLAY, "flows.0.service", {"priority": 0}),
    (_OVERLAY, "flows.0.service", {"group": "g"}),
    (_OVERLAY, "flows.0.service.colour", 1),
    (_OVERLAY, "flows.0.transport", "sliq"),
    (_OVERLAY, "flows.0.port", 99),
    (_OVERLAY, "services", [{"ports": "1-2", "priority": 0}]),
    (_OVERLAY, "services", [{"ports": "9-2"}]),
    (_OVERLAY, "topology.nodes.0.kind", "overly"),
    (_OVERLAY, "topology.nodes.0.colour", 1),
    (_OVERLAY, "topology.nodes.0", {"id": "x", "kind": "shared-tree"}),
    (_GROUP, "flows.0.receivers", []),
    (_GROUP, "flows.0.receivers", ["nowhere"]),
    (_GROUP, "flows.0.to", "nowhere"),
    (_GROUP, "flows.0.count", 2),
    (_GROUP, "flows.0.service", {}),
    (_HOME, "media.0.kind", "wify"),
    (_HOME, "media.0.colour", 1),
    (_HOME, "media.0.stations.ap.queueing", "x"),
    (_HOME, "topology.links.0.medium", "water"),
    (_HOME, "topology.links.0.rate", "1 Mbit/s"),
    (_HOME, "flows.0.access_category", "urgent"),
]


def main() -> None:
    """Writes both files anew."""
    RUNS_FILE.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
    TEXTS_FILE.write_text("".join(f"{text}\n" for text in texts()), encoding="utf-8")


if __name__ == "__main__":
    main()

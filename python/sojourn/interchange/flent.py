"""Flent's files (``.flent.gz``): gzip, in it JSON, version 4 of Flent 2.3; out and in.

A run is written as a test ``tcp_ndown``, whose plots Flent then draws: ``TCP download::N`` is the
throughput of flow N - 1, and what Flent calls a ping is the mean of the flows' smoothed RTTs.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

import numpy as np

from sojourn import _internal, regular_file
from sojourn.errors import ScenarioError
from sojourn.interchange.observed import Asked, Flow, Imported, made
from sojourn.interchange.series import Seen, tables
from sojourn.measured import Measured
from sojourn.metrics.columns import Values, mean
from sojourn.quantity import number

_VERSION, _MOST_VERSION = 4, 4
_NAME, _PING = "tcp_ndown", "Ping (ms) ICMP"
#: A series of a connection's throughput, not of several together.
_FLOW = re.compile(r"TCP (?:upload|download)(?!.* (?:avg|sum|fairness)$)")
#: Bytes of JSON at most, and of what it is packed into.
_MOST = 1 << 27

_Points = list[float | None]


def written(run: Measured, when: datetime) -> bytes:
    """A run as Flent reads it; ``when`` it was made."""
    content = json.dumps(_document(run, when.astimezone(UTC)), allow_nan=False)
    return gzip.compress(content.encode(), mtime=int(when.timestamp()))


def _document(run: Measured, when: datetime) -> dict[str, object]:
    view, start = run.data.flow, when.timestamp()
    times = view.samples.ends.tolist()
    throughput, ping = view.throughput, mean(1e3 * view.srtt.T)
    flows = {f"TCP download::{n + 1}": throughput[:, n] for n in range(view.count)}
    together = {
        "TCP download sum": np.nansum(throughput, axis=1),
        "TCP download avg": mean(throughput.T),
    }
    series = {**flows, **together, _PING: ping}
    window = view.samples["cwnd"]
    raw: dict[str, list[dict[str, float]]] = {
        name: _raw(
            [start + time for time in times],
            {"val": throughput[:, n], "tcp_rtt": 1e3 * view.srtt[:, n], "tcp_cwnd": window[:, n]},
        )
        for n, name in enumerate(flows)
    }
    raw[_PING] = _raw([start + time for time in times], {"val": ping})
    return {
        "version": _VERSION,
        "x_values": times,
        "results": {name: _points(values) for name, values in series.items()},
        "raw_values": raw,
        "metadata": _metadata(run, when, list(flows)),
    }


def _metadata(run: Measured, when: datetime, flows: Sequence[str]) -> dict[str, object]:
    canonical = run.scenario.canonical
    length = number(canonical["duration"])
    stamp = f"{when:%Y-%m-%dT%H:%M:%S.%f}Z"
    names = run.flows["cca"].to_list()
    meta = {
        name: {"UNITS": "Mbits/s", "CONG_CONTROL": control}
        for name, control in zip(flows, names, strict=True)
    }
    return {
        "NAME": _NAME,
        "TITLE": run.scenario.name,
        "NOTE": f"Sojourn {_internal.engine_build()}, seed {run.scenario.seed}",
        "TIME": stamp,
        "T0": stamp,
        "LENGTH": length,
        "TOTAL_LENGTH": length,
        "STEP_SIZE": number(canonical["sample_interval"]),
        "HOST": "receiver",
        "HOSTS": ["receiver"],
        "LOCAL_HOST": "sender",
        "TEST_PARAMETERS": {"download_streams": str(len(flows))},
        "DATA_FILENAME": f"{run.scenario.name}.flent.gz",
        "FLENT_VERSION": "2.3.0",
        "IP_VERSION": 4,
        **dict.fromkeys(("BATCH_NAME", "BATCH_TIME", "BATCH_TITLE", "BATCH_UUID")),
        **dict.fromkeys(("HTTP_GETTER_URLLIST", "HTTP_GETTER_DNS", "HTTP_GETTER_WORKERS")),
        "SERIES_META": {**meta, _PING: {"UNITS": "ms"}},
    }


def _points(values: Values) -> _Points:
    """Values as JSON has them."""
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _raw(times: Sequence[float], columns: Mapping[str, Values]) -> list[dict[str, float]]:
    """An entry for each time at which the first column has a value."""
    lists = {name: _points(values) for name, values in columns.items()}
    entries = []
    for place, time in enumerate(times):
        entry = {name: value for name, of in lists.items() if (value := of[place]) is not None}
        if "val" in entry:
            entries.append({"t": time, **entry})
    return entries


def read(asked: Asked) -> Imported:
    """The run in a file of Flent's: throughput of each TCP connection, and its RTTs, or the ping's.

    Raises:
        ScenarioError: if it is none, or has no connections.

    """
    document = _parsed(asked)
    times = _numbers(document.get("x_values"))
    results = document.get("results")
    if not isinstance(results, dict) or len(times) < 2 or not (np.diff(times) > 0).all():
        raise ScenarioError(f"{asked.path}: has no results over rising times, as Flent writes them")
    series = {name: _numbers(of) for name, of in results.items() if _FLOW.match(name)}
    series = {name: of for name, of in series.items() if len(of) == len(times)}
    if not series:
        names = ", ".join(map(str, results)) or "none"
        raise ScenarioError(f"{asked.path}: has no series of a TCP connection; it has: {names}")
    step = float(np.diff(times).min())
    ends = times - times[0] + step
    pings = [_numbers(of) for name, of in results.items() if name.startswith("Ping (ms)")]
    pings = [of for of in pings if len(of) == len(times)]
    ping = mean(np.array(pings)) if pings else np.full(len(times), np.nan)
    seen = [Seen(of * 1e6, ping / 1e3) for of in series.values()]
    flows = [Flow(name, one.least_rtt) for name, one in zip(series, seen, strict=True)]
    notes = ["RTTs are those of its ping, of all connections alike"] if pings else []
    return made(asked, flows, float(ends[-1]), tables(ends, seen), "", notes)


def _parsed(asked: Asked) -> dict[str, Any]:
    wrong = f"{asked.path}: is no file of Flent's"
    try:
        with regular_file.opened(asked.path, _MOST) as file, gzip.open(file) as packed:
            text = packed.read(_MOST + 1)
        if len(text) > _MOST:
            raise ValueError(f"it unpacks to more than {_MOST:,} bytes")
        document = json.loads(text)
    except OSError as error:
        raise ScenarioError(f"{wrong}: {error.strerror or error}") from None
    except (ValueError, RecursionError, EOFError, zlib.error) as error:
        raise ScenarioError(f"{wrong}: {error}") from None
    version = document.get("version") if isinstance(document, dict) else None
    if not isinstance(version, int) or not 1 <= version <= _MOST_VERSION:
        raise ScenarioError(f"{wrong} of version 1 to {_MOST_VERSION}")
    return cast(dict[str, Any], document)


def _numbers(given: object) -> Values:
    """A list of numbers and nulls; empty for anything else."""
    if not isinstance(given, list):
        return np.empty(0)
    known = (isinstance(value, int | float) for value in given)
    return np.array(
        [value if is_known else np.nan for value, is_known in zip(given, known, strict=True)],
        dtype=float,
    )

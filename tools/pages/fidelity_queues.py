"""Tables of the page of fidelity: queue disciplines in Linux's code and in Sojourn's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from sojourn.reproduction.statements import Row
from tools.pages import kept
from tools.pages.fidelity_virtual import SHOWN
from tools.pages.reproduction import markdown

#: The metrics of a sweep that measure what is shown.
_SWEPT = ("mean_throughput_l4", "mean_srtt_l4", "total_retransmissions_l4")


def disciplines(rows: Sequence[Row], swept: Sequence[kept.Row]) -> str:
    """Goodput, sRTT and retransmissions: all simulated, the kernel's TCP before Sojourn's
    disciplines, and before its own.
    """
    ours = {(row["experiment"], row["changes"], row["metric"]): row for row in rows}
    found = []
    for queue, cca, ecn in _points(swept):
        name = json.loads(queue)["name"]
        place = ("ecn" if ecn == "classic" else "aqm", _written(cca, name))
        at = {"topology.bottleneck.queue": queue, "flows.0.cca": cca, "flows.0.ecn": ecn}
        told = [[ours[*place, metric][side] for metric in SHOWN] for side in _SIDES]
        told.append([_mean(swept, metric=metric, **at) for metric in _SWEPT])
        label = f"{cca}, {name}{' with ECN' if ecn == 'classic' else ''}"
        found.append([label, *("; ".join(f"{value:.4g}" for value in of) for of in told)])
    return markdown(("flow, discipline", "sim", "kernel, our queue", "kernel, its queue"), found, 1)


_SIDES = ("measured", "published")


def _points(swept: Sequence[kept.Row]) -> Iterator[tuple[str, str, str]]:
    names = ("topology.bottleneck.queue", "flows.0.cca", "flows.0.ecn")
    yield from dict.fromkeys((row[names[0]], row[names[1]], row[names[2]]) for row in swept)


def _written(cca: str, queue: str) -> str:
    """As the table has what is set in ``aqm`` and ``ecn``."""
    at: Mapping[str, str] = {"flows.0.cca": cca, "topology.bottleneck.queue": queue}
    return json.dumps(at, sort_keys=True)


def prague(swept: Sequence[kept.Row]) -> str:
    """How Prague and Cubic share DualPI2, by round trip."""
    found = []
    for rtt in _values(swept, "flows.*.rtt"):
        shares = [_mean(swept, **{"flows.*.rtt": rtt, "id": flow}) for flow in ("0", "1")]
        found.append([rtt, *shares, shares[0] / shares[1]])
    return markdown(("RTT", "Prague, Mbit/s", "Cubic, Mbit/s", "ratio"), found, 1)


def codel(swept: Sequence[kept.Row]) -> str:
    """Delays and drops of CoDel, by the number of flows."""
    found = []
    for cca in _values(swept, "flows.0.cca"):
        for count in _values(swept, "flows.0.count"):
            of = {"flows.0.cca": cca, "flows.0.count": count}
            delays = [_mean(swept, metric=f"{p}_qdisc_delay_l2", **of) for p in ("p50", "p95")]
            drops = _mean(swept, metric="total_qdisc_drops_l2", **of)
            found.append([f"{count} {cca}", *delays, round(drops)])
    return markdown(("flows", "median delay, ms", "95th percentile, ms", "drops"), found, 1)


def _values(swept: Sequence[kept.Row], column: str) -> list[str]:
    return list(dict.fromkeys(row[column] for row in swept))


def _mean(swept: Sequence[kept.Row], **keys: str) -> float:
    return float(kept.one(swept, **keys)["mean"])

"""Tables of the page of fidelity: the simulator beside Linux 6.18, live."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import mean

from sojourn.experiments import experiments
from sojourn.oracles.linux612.goals import meets_goal
from sojourn.oracles.linux618.cells import FOLDER
from sojourn.oracles.linux618.goals import Verdict, cells_all, verdicts
from sojourn.oracles.linux618.kernel import KEYS, METRICS, SETUP, Spread
from sojourn.oracles.linux618.sheets import changes
from sojourn.reproduction.statements import Row
from tools.pages import kept
from tools.pages.reproduction import markdown

_PLACE = {name: place for place, name in enumerate(KEYS)}


def _of(verdict: Verdict, name: str) -> str:
    return verdict.key[_PLACE[name]]


def grid(rows: Sequence[Row]) -> str:
    """Greedy flows before a FIFO, a line per flow; what misses the first goal is in bold."""
    judged = [verdict for verdict in verdicts(rows) if not _of(verdict, "experiment")]
    heads = [f"{name} {side}" for name in METRICS for side in ("sim", "kernel")]
    found = [
        [*key[:5], key[6], *(cell for v in judged if v.key == key for cell in _pair(v))]
        for key in dict.fromkeys(verdict.key for verdict in judged)
    ]
    return markdown(("flows", "Mbit/s", "RTT ms", "buffer", "loss", "flow", *heads), found, 6)


def _pair(verdict: Verdict) -> tuple[str, str]:
    measured = f"{verdict.measured:.4g}"
    return measured if verdict.met else f"**{measured}**", spread(verdict.kernel)


def spread(kernel: Spread) -> str:
    """A mean, with the range where there is one."""
    known = f"{kernel.mean:.4g}"
    return f"{known} ({kernel.low:.4g}-{kernel.high:.4g})" if kernel.low < kernel.high else known


def by_experiment(rows: Sequence[Row]) -> str:
    """How many flows of each experiment meet the goals."""
    told = {entry["name"]: entry["summary"] for entry in experiments()}
    judged = verdicts(rows)
    found = []
    for name in dict.fromkeys(_of(verdict, "experiment") for verdict in judged):
        here = [verdict for verdict in judged if _of(verdict, "experiment") == name]
        about = told[f"{FOLDER}/{name}.toml"] if name else "Greedy flows before a FIFO, below."
        runs = {str(verdict.kernel.runs) for verdict in here}
        found.append([name or "grid", about, " or ".join(sorted(runs)), *_counts(here)])
    return markdown(("experiment", "", "runs of each", "flows", "first goal", "second"), found, 2)


def by_control(rows: Sequence[Row]) -> str:
    """How many flows of each control miss the second goal."""
    judged = verdicts(rows)
    found = []
    for cca in dict.fromkeys(_of(verdict, "cca") for verdict in judged):
        cells: list[str] = []
        for chaotic in (False, True):
            here = [v for v in judged if _of(v, "cca") == cca and v.chaotic == chaotic]
            met, flows = cells_all(here, lambda v: v.close)
            cells.append(f"{flows - met} of {flows}")
        found.append([cca, *cells])
    return markdown(("control", "single, without chance", "with chance or beside others"), found, 1)


def _counts(here: Sequence[Verdict]) -> Iterator[int]:
    goals: list[Callable[[Verdict], bool]] = [lambda v: v.met, lambda v: v.close]
    yield cells_all(here, goals[0])[1]
    for goal in goals:
        yield cells_all(here, goal)[0]


def far(rows: Sequence[Row]) -> str:
    """The values of single flows without chance that are off by more than the second goal allows
    to any.
    """
    found = [
        [
            _of(v, "experiment") or "grid",
            _cell(v),
            _of(v, "cca"),
            v.metric,
            f"{v.measured:.4g}",
            spread(v.kernel),
        ]
        for v in verdicts(rows)
        if v.far and not v.chaotic
    ]
    return markdown(("experiment", "cell", "cca", "metric", "sim", "kernel"), found, 4)


def _cell(verdict: Verdict) -> str:
    if _of(verdict, "experiment"):
        return changes(_of(verdict, "changes"))
    rate, rtt, buffer = (_of(verdict, name) for name in SETUP[1:4])
    return f"{rate} Mbit/s, {rtt} ms, {buffer} packets"


def three(rows: Sequence[Row], virtual: Sequence[kept.Row], **keys: str) -> str:
    """Mean sRTTs live, in virtual time and simulated, of the lossless cells with these keys."""
    found = [
        [*(row[name] for name in ("flows", "rate_mbit", "rtt_ms", "buffer_packets")), *sides]
        for row, *sides in _beside(rows, virtual)
        if row["metric"] == "mean_srtt" and all(row[key] == value for key, value in keys.items())
    ]
    return markdown(("flow", "Mbit/s", "RTT ms", "buffer", "live", "virtual time", "sim"), found, 4)


def within(rows: Sequence[Row], virtual: Sequence[kept.Row]) -> str:
    """How many of the lossless cells are within the narrow goals of each other."""
    found: dict[str, list[tuple[bool, bool]]] = {}
    for row, live, kernel, simulated in _beside(rows, virtual):
        pairs = ((live, kernel), (kernel, simulated))
        met = [
            meets_goal({"metric": row["metric"], "published": a, "measured": b}) for a, b in pairs
        ]
        found.setdefault(row["metric"], []).append((met[0], met[1]))
    told = [
        [metric, *(f"{sum(met[place] for met in of)} of {len(of)}" for place in (0, 1))]
        for metric, of in found.items()
    ]
    return markdown(("metric", "virtual time beside live", "sim beside virtual time"), told, 1)


def many(rows: Sequence[Row], swept: Sequence[kept.Row]) -> str:
    """Mean sRTT over the Reno flows that share a bottleneck: live, in virtual time, simulated."""
    found = []
    for count in dict.fromkeys(row["flows.0.count"] for row in swept):
        here = [row for row in rows if _is_of(row, "many-flows", ",".join(["reno"] * int(count)))]
        live, simulated = (mean(row[side] for row in here) for side in ("published", "measured"))
        virtual = kept.one(swept, scope="net", **{"flows.0.count": count})
        found.append([count, live, float(virtual["mean"]), simulated])
    return markdown(("Reno flows", "live", "virtual time", "sim"), found, 1)


def _is_of(row: Row, experiment: str, flows: str) -> bool:
    there = row["experiment"] == experiment and row["flows"] == flows
    return there and row["metric"] == "mean_srtt"


def _beside(
    rows: Iterable[Row], virtual: Sequence[kept.Row]
) -> Iterator[tuple[Row, float, float, float]]:
    """Rows of the comparison in virtual time: live, virtual, simulated."""
    simulated = {
        (*(row[name] for name in SETUP), row["metric"]): row["measured"]
        for row in rows
        if not row["experiment"]
    }
    for row in virtual:
        place = (*(row[name] for name in SETUP), row["metric"])
        yield row, float(row["live"]), float(row["virtual"]), simulated[place]

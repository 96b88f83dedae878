"""How a run and a sweep present themselves in an interpreter and in a notebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from sojourn.origin import elsewhere

if TYPE_CHECKING:
    import polars as pl

    from sojourn.measured import Measured
    from sojourn.sweeps.stored import StoredSweep

#: What is shown of each of a run's frames, if it is there.
_MAIN = {
    "flows": ("id", "cca", "label", "mean_throughput_l4", "mean_srtt_l4"),
    "links": ("id", "utilization_l1", "mean_qdisc_delay_l2", "total_qdisc_drops_l2"),
    "transfers": ("id", "count", "fct_p50", "fct_p99", "slowdown_p50", "slowdown_p99"),
    "net": ("mean_agg_throughput_l4", "jains_fairness_of_means_throughput_l4"),
}
#: More controls than this are not named.
_MOST = 4


def describe(result: Measured) -> str:
    """A run in a line."""
    canonical = result.scenario.canonical
    flows = result.data.flow.count
    counted = Counter(result.flows["cca"].to_list())
    named = [f"{count} {cca}" if count > 1 else cca for cca, count in counted.most_common(_MOST)]
    rest = ["..."] if len(counted) > _MOST else []
    who = f"{flows} flow{'s' if flows != 1 else ''} ({', '.join([*named, *rest])})"
    labels = [str(entry["label"]) for entry in canonical.get("arrivals") or []]
    told = [who] if flows or not labels else []
    told += [f"transfers ({', '.join(labels)})"] if labels else []
    return (
        f"{result.scenario.name!r}: {', '.join(told)}, {canonical['duration']}, "
        f"seed {canonical['seed']}{elsewhere(result.origin)}"
    )


def html(result: Measured) -> str:
    """A run's main metrics as HTML."""
    return "".join([f"<p>{escape(describe(result))}</p>", *_tables(result)])


def _tables(result: Measured) -> Iterator[str]:
    frames: dict[str, pl.DataFrame] = {
        "flows": result.flows,
        "links": result.links,
        "transfers": result.completions,
        "net": result.net,
    }
    for name, frame in frames.items():
        wanted = [column for column in _MAIN[name] if column in frame.columns]
        shown = frame.select(wanted if len(wanted) > 1 else frame.columns[:6])
        if shown.width and shown.height:
            yield f"<p><b>{name}</b></p>{shown._repr_html_()}"


def describe_sweep(sweep: StoredSweep) -> str:
    """A sweep in a line."""
    grid = ", ".join(f"{path} ({len(values)})" for path, values in sweep.grid.items())
    failed = f", {len(sweep.failures)} failed" if sweep.failures else ""
    over, on = grid or "no grid", elsewhere(sweep.origin)
    return f"{str(sweep.directory)!r}: {over}, {sweep.replications} replications{on}{failed}"

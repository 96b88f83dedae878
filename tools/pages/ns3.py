"""The page on ns-3: the scenarios of ``experiments/ns3`` in both simulators.

``python -m tools.pages.ns3`` runs them here, and writes ``ns3/tcp.csv`` and ``ns3.md`` in
``docs/explanation/``.
What ns-3 gives is stored (``reference/ns3/tcp.csv``); ``make compare-ns3`` runs it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence

from sojourn import data
from sojourn.result import run
from sojourn.scenario import Document, load
from sojourn.sweeps.expand import plan
from tools.pages import kept

#: Mbit/s, ms and packets, as they are printed.
QUANTITIES = {"goodput (Mbit/s)": ".2f", "RTT (ms)": ".1f", "drops": ".0f"}
#: What a run gives: goodput and RTT of each flow, and the queue's drops in a row of its own.
Run = Sequence[Sequence[float]]
Simulator = Callable[[Document, int], Run]
_STORED = "reference/ns3/tcp.csv"
_KEYS = ("scenario", "of", "quantity")
_SIDES = ("ns-3", "Sojourn")


def measured(simulate: Simulator) -> Iterator[kept.Measured]:
    """A row for each quantity of each scenario: mean, least and most of the replications, whose
    scenarios and numbers, from one, ``simulate`` gets.
    """
    for file in sorted(data.path("experiments/ns3").glob("*.toml")):
        planned = plan(load(file))
        scenarios = [planned.point(*place).canonical for place in planned.places()]
        runs = [simulate(scenario, number) for number, scenario in enumerate(scenarios, start=1)]
        controls = [flow["cca"]["kind"] for flow in scenarios[0]["flows"]]
        labels = [f"{place} {control}" for place, control in enumerate(controls)]
        for key, values in _quantities(runs, labels):
            about = dict(zip(_KEYS, (file.stem, *key), strict=True))
            mean = statistics.fmean(values)
            yield {**about, "mean": mean, "least": min(values), "most": max(values)}


def _quantities(
    runs: Sequence[Run], labels: Sequence[str]
) -> Iterator[tuple[tuple[str, str], list[float]]]:
    *flow, queue = QUANTITIES
    for place, label in enumerate([*labels, "queue"]):
        for index, quantity in enumerate([queue] if label == "queue" else flow):
            yield (label, quantity), [run[place][index] for run in runs]


def here(scenario: Document, _number: int) -> Run:
    """A run of ours."""
    result = run(dict(scenario))
    flows = result.flows.select("mean_throughput_l7", "mean_srtt_l4").rows()
    return [*flows, (float(result.links["total_qdisc_drops_l2"].sum()),)]


def store(rows: Sequence[kept.Measured]) -> None:
    """Writes what ns-3 gives."""
    kept.write(data.path(_STORED), rows)


def page() -> str:
    """The page of what is stored."""
    stored = kept.read(data.path(_STORED)), kept.rows("ns3", "tcp")
    sides = dict(zip(_SIDES, stored, strict=True))

    def value(side: str, scenario: str, of: str, quantity: str) -> str:
        """A mean of one side, as the table has it."""
        [name] = [name for name in QUANTITIES if name.startswith(quantity)]
        row = kept.one(sides[side], scenario=scenario, of=of, quantity=name)
        return format(float(row["mean"]), QUANTITIES[name])

    def apart(quantity: str, *scenarios: str) -> str:
        """The greatest difference of flows in these scenarios, in percent."""
        shares = (
            abs(_ratio(theirs, ours) - 1)
            for theirs, ours in zip(*stored, strict=True)
            if theirs["scenario"] in scenarios and theirs["quantity"].startswith(quantity)
        )
        return f"{100 * max(shares):.1f}"

    return kept.render(
        "ns3", stamp=kept.stamp("ns3"), table="\n".join(_table(sides)), value=value, apart=apart
    )


def _table(sides: Mapping[str, Sequence[kept.Row]]) -> Iterator[str]:
    yield f"| scenario | of | quantity | {' | '.join(sides)} | difference |"
    yield "| --- | --- | --- | ---: | ---: | ---: |"
    for theirs in sides["ns-3"]:
        keys = {key: theirs[key] for key in _KEYS}
        ours = kept.one(sides["Sojourn"], **keys)
        form = QUANTITIES[keys["quantity"]]
        cells = [*keys.values(), _shown(theirs, form), _shown(ours, form)]
        apart = f"{100 * (_ratio(theirs, ours) - 1):+.1f} %" if float(theirs["mean"]) else ""
        yield f"| {' | '.join([*cells, apart])} |"


def _ratio(theirs: kept.Row, ours: kept.Row) -> float:
    return float(ours["mean"]) / float(theirs["mean"])


def _shown(row: kept.Row, form: str) -> str:
    """A mean with its range."""
    mean, low, high = (format(float(row[name]), form) for name in ("mean", "least", "most"))
    return mean + (f" ({low} to {high})" if low != high else "")


def main() -> None:
    """Runs ours, and writes the table and the page."""
    kept.store("ns3", "python -m tools.pages.ns3", {"tcp": list(measured(here))})
    kept.put("ns3", page())


if __name__ == "__main__":
    main()

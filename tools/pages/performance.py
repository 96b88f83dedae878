"""The page on speed: what ``make bench`` stores of the workloads of ``experiments/speed``.

``python -m tools.pages`` writes ``docs/explanation/performance.md`` of that, without a run.
"""

from __future__ import annotations

from collections.abc import Iterator

from sojourn.experiments import experiments
from tools.pages import kept

#: The page, and its tables.
NAME, GOALS, WORKLOADS = "performance", "goals", "workloads"
#: What the command adds, measured apart.
ADDED = f"{NAME}/added"
#: Where a packet's instructions are, and what a few flows as those of e cost.
PROFILES, FEW = f"{NAME}/profiles", f"{NAME}/few"
#: The workloads whose profiles are beside each other.
TOGETHER = {
    "many": ("b", "e", "g", "h"),
    "one": ("b", "bbr", "fq-codel", "cake", "loss"),
    "wings": ("b", "sliq", "mesh", "wifi-20"),
}
#: A component with less of each packet has no row.
LEAST = 0.01
#: Of these pieces the one that is the run itself, those of figures, and those that no command which
#: draws any can be without.
CORE = "the core"
FIGURES = ("import of matplotlib", "figures: drawn, PNG and SVG")
FLOOR = ("Python itself", "import of NumPy", "import of Polars", "import of matplotlib")
#: Workloads that are not in ``experiments/speed``.
ELSEWHERE = {"mesh": "experiments/gnat2021/12enclave-concurrent-mixed.toml"}


def file(workload: str) -> str:
    """The name of a workload's scenario."""
    return ELSEWHERE.get(workload, f"experiments/speed/{workload}.toml")


def page() -> str:
    """The page of what is stored."""
    table = "\n".join(_workloads())
    return kept.render(
        NAME,
        stamp=kept.stamp(NAME),
        goals=goals(),
        workloads=table,
        added=added(),
        added_stamp=kept.stamp(ADDED),
        profiles={key: profiles(*names) for key, names in TOGETHER.items()},
        profiles_stamp=kept.stamp(PROFILES),
        few=few(),
    )


def goals() -> str:
    """What is measured beside its goal; what misses it is bold."""
    return "\n".join(_goals())


def _goals() -> Iterator[str]:
    yield "| what | measured | goal |"
    yield "| --- | ---: | ---: |"
    for row in kept.rows(NAME, GOALS):
        value = float(row["measured"])
        told = _quantity(value, row["unit"])
        if not row["goal"]:
            yield f"| {row['what']} | {told} | |"
            continue
        most = float(row["goal"])
        told = told if value <= most else f"**{told}**"
        yield f"| {row['what']} | {told} | {_quantity(most, row['unit'])} |"


def _quantity(value: float, unit: str) -> str:
    shown = f"{value:,.0f}" if value >= 20 else f"{value:.2f}"
    return f"{shown} {unit}".strip()


def _workloads() -> Iterator[str]:
    told = {entry["name"]: entry["summary"] for entry in experiments()}
    yield "| workload | what it is | packets/s | ns per packet | events per packet | memory, MB |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for row in kept.rows(NAME, WORKLOADS):
        name, ns = row["workload"], float(row["ns"])
        what = told[file(name)].partition(": workload")[0].rstrip(".")
        shown = f"{1e3 / ns:.1f} million", f"{ns:.0f}", f"{float(row['events']):.2f}"
        yield f"| {name} | {what} | {' | '.join(shown)} | {float(row['memory']):.1f} |"


def added() -> str:
    """The pieces of a run of the command, and what all but the core take together."""
    return "\n".join(_added())


def _added() -> Iterator[str]:
    rows = kept.rows(ADDED, kept.TABLE)
    workloads = [key for key in rows[0] if key != "piece"]
    yield f"| piece | {' | '.join(workloads)} |"
    yield f"| --- |{' ---: |' * len(workloads)}"
    for row in rows:
        yield _seconds(row["piece"], [float(row[workload]) for workload in workloads])
    names = [row["piece"] for row in rows if row["piece"] != CORE]
    for what, pieces in {
        f"all but {CORE}": names,
        f"all but {CORE} and the figures": [name for name in names if name not in FIGURES],
        "Python and the three libraries": FLOOR,
    }.items():
        of_these = [row for row in rows if row["piece"] in pieces]
        sums = [sum(float(row[workload]) for row in of_these) for workload in workloads]
        yield _seconds(what, sums)


def _seconds(what: str, values: list[float]) -> str:
    return f"| {what} | {' | '.join(f'{value:.3f}' for value in values)} |"


def profiles(*workloads: str) -> str:
    """Instructions of a packet by component, of these workloads, and misses of caches."""
    return "\n".join(_profiles(workloads))


def _profiles(workloads: tuple[str, ...]) -> Iterator[str]:
    found: dict[str, dict[str, float]] = {}
    seconds: dict[str, float] = {}
    for row in kept.rows(PROFILES, kept.TABLE):
        found.setdefault(row["what"], {})[row["workload"]] = float(row["per packet"])
        seconds[row["workload"]] = float(row["seconds"])
    rows = {what: [of.get(name, 0.0) for name in workloads] for what, of in found.items()}
    parts = {what: of for what, of in rows.items() if not what.startswith("misses")}
    whole = [sum(of) for of in zip(*parts.values(), strict=True)]
    yield f"| component | {' | '.join(f'{name}, {seconds[name]:g} s' for name in workloads)} |"
    yield f"| --- |{' ---: |' * len(workloads)}"
    for what, of in parts.items():
        # Functions of an overlay that another workload has in common with it are not worth a row.
        if any(value > LEAST * all_of_it for value, all_of_it in zip(of, whole, strict=True)):
            yield _per_packet(what, of)
    yield _per_packet("all", whole)
    base = sum(of.get("b", 0.0) for what, of in found.items() if what in parts)
    yield f"| all, to b's | {' | '.join(f'{value / base:.2f}' for value in whole)} |"
    for what in [what for what in rows if what not in parts]:
        yield _per_packet(what, rows[what])


def _per_packet(what: str, values: list[float]) -> str:
    return f"| {what} | {' | '.join(_count(value) for value in values)} |"


def _count(value: float) -> str:
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


def few() -> str:
    """The cost of a packet of ten flows as those of e, to that of b."""
    [row] = kept.rows(FEW, kept.TABLE)
    return f"{float(row['to b']):.2f}"

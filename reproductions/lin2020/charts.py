"""The figures of the wired sections, from the rows of the comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sojourn.figures.chart import Chart, Heat, Line, Panel, color_of, dash_of
from sojourn.reproduction.statements import Row
from sojourn_reproductions.lin2020.comparative import LOSSES, QUEUES, RTTS, SETTLING, place
from sojourn_reproductions.lin2020.values import Values


def _names(rows: Sequence[Row], table: str) -> list[str]:
    return list(dict.fromkeys(row["row"] for row in rows if row["table"] == table))


def _line(index: int, label: str, x: Sequence[float], y: Sequence[float]) -> Line:
    return Line(label, x, y, color_of(index), "line", dash_of(index))


def performance(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Figures 2 and 6: goodput over RTT of each control on each path, and of transfers."""
    made = {}
    value = Values(rows, "path")
    for table, label in (("figure-2", "Goodput (Mbit/s)"), ("figure-6", "Transfers (Mbit/s)")):
        names = _names(rows, table)
        if names:
            panels = [_by_control(value, table, path, names, label) for path in _PATHS]
            made[table] = Chart(f"{label} on real paths", "One mark per control.", panels)
    return made


_PATHS = ("LAN", "WAN-1", "WAN-2")


def _by_control(value: Values, table: str, path: str, names: Sequence[str], label: str) -> Panel:
    goodput = [value.drawn(table, name, f"{path} Goodput") for name in names]
    places = [float(index) for index in range(len(names))]
    line = Line("", places, goodput, color_of(0), "mark")
    ticks = [(float(index), name) for index, name in enumerate(names)]
    return Panel("", label, [line], title=path, ticks=ticks)


def cost(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Figures 15 to 17: volume as lines, retransmissions as maps."""
    made = {}
    value, losses = Values(rows, "printed"), [float(loss) for loss in LOSSES]
    if _names(rows, "figure-15c"):
        lines = [
            _line(
                i,
                f"{rtt} ms",
                losses,
                [value.drawn("figure-15c", f"RTT={rtt}ms", f"loss={p}%") for p in LOSSES],
            )
            for i, rtt in enumerate(RTTS)
        ]
        panel = Panel("Loss (%)", "BBR's volume over Cubic's (%)", lines, False, log_x=True)
        made["figure-15c"] = Chart("What BBR sends more than Cubic", "One line per RTT.", [panel])
    for table, label in (
        ("figure-15", "bytes on the wire per byte"),
        ("figure-16", "retransmissions per packet"),
        ("figure-17", "retransmissions per loss"),
    ):
        names = _names(rows, table)
        if names:
            panels = [_map(value, table, name, label) for name in names]
            made[table] = Chart(f"{label.capitalize()}, BBR and Cubic", "", panels)
    return made


def _map(value: Values, table: str, name: str, label: str) -> Panel:
    cells = np.array([[value.drawn(table, name, place(rtt, p)) for p in LOSSES] for rtt in RTTS])
    heat = Heat(LOSSES, [str(rtt) for rtt in RTTS], cells, label, log=table == "figure-16")
    return Panel("Loss (%)", f"{name}: RTT (ms)", [], heat=heat)


def settling(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Figure 19: convergence times."""
    names = _names(rows, "figure-19")
    if not names:
        return {}
    value = Values(rows, "printed")
    cells = [[value.drawn("figure-19", name, place(*at)) for at in SETTLING] for name in names]
    heat = Heat(
        [f"{rtt} ms, {loss} %" for rtt, loss in SETTLING], names, np.array(cells), "t_c (s)"
    )
    return {"figure-19": Chart("Convergence time", "", [Panel("RTT, loss", "", [], heat=heat)])}


def queues(rows: Sequence[Row]) -> Mapping[str, Chart]:
    """Figures 21 to 23: goodput, RTT and retransmissions over the size of the queue."""
    value, panels = Values(rows, "printed"), []
    sizes = [float(size) for size in QUEUES]
    for table, label in (
        ("figure-21", "Goodput (Mbit/s)"),
        ("figure-22", "RTT (ms)"),
        ("figure-23", "Retransmissions (segments/s)"),
    ):
        lines = [
            _line(i, name, sizes, [value.drawn(table, name, f"{q} packets") for q in QUEUES])
            for i, name in enumerate(_names(rows, table))
        ]
        if lines:
            panels.append(Panel("Queue (packets)", label, lines, log_x=True))
    title = "The size of the bottleneck's queue"
    return {"figures-21-23": Chart(title, "", panels)} if panels else {}

"""The SCE draft's one- and two-flow tests (2019), tables 1-111."""

from __future__ import annotations

from sojourn.reproduction.paper import Paper
from sojourn_reproductions.sce2019 import observations, show, summary
from sojourn_reproductions.sce2019.cells import cells
from sojourn_reproductions.sce2019.tables import KEYS, TABLES

SCE2019 = Paper(
    name="sce2019",
    title="SCE draft, one and two flows through Cake: published beside measured",
    keys=KEYS,
    labels=("flow", "bandwidth_mbit", "delay_ms"),
    tables=tuple(TABLES),
    choices=(
        'stack = "linux-5.1"; ECN and SCE echo for every flow; both ports shaped by Cake',
        "receivers of DCTCP run DCTCP; the others echo CE until the sender has answered (RFC 3168)",
        "30 to 300 s by bandwidth and delay, as in the authors' batch file",
        "both flows start together; throughput and smoothed RTT over the whole run",
        "no slow start at the beginning: hosts remember a threshold of 7 segments (TCP metrics)",
        "1 ms of latency besides netem's: inferred, the draft does not tell the testbed's own",
        "Reno-SCE version A, whose threshold follows SCE down; the code's SCE ramp, Cake's rtt "
        "100 ms, echo of SCE as at 016933be: chosen once, for the reasons in docs/sce2019.md",
        "tables 1-4 and 5-11 are derived from the runs of the others",
        "--quick: 1, 5, 10 Mbit/s and 0, 10, 80 ms",
    ),
    cells=cells,
    statements=(*observations.STATEMENTS, *summary.STATEMENTS),
    sheets=show.sheets,
    charts=show.charts,
)

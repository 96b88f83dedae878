"""What section 7 says in words, with criteria of ours; the card says since when each has stood."""

from __future__ import annotations

from statistics import median

from sojourn.reproduction.statements import Finding
from sojourn_reproductions.lin2020.section import INFERRED, PRINTED
from sojourn_reproductions.lin2020.values import Values, statement, told

RTTS = (10, 30, 60, 100, 200, 300)
LOSSES = ("0.01", "0.05", "0.1", "0.2", "0.4", "0.6", "0.8", "1", "3", "5")
#: RTTs and losses of which figure 19 shows convergence times.
SETTLING = ((30, "0.01"), (100, "0.01"), (200, "0.01"), (100, "0.1"))
QUEUES = (10, 20, 50, 100, 200, 500, 1000)
#: The controls of sections 7.3 and 7.4.
ALONE = ("CUBIC", "H-TCP", "BBR", "Hybla", "Veno", "Illinois", "Westwood+", "YeAH", "Vegas")
_LOW_LOSS = 0.6
_OFF, _ON = "UDP Flow Deactivated", "UDP Flow Activated"


def place(rtt: int, loss: str) -> str:
    """The column of a path."""
    return f"RTT={rtt}ms loss={loss}%"


def _more_on_wire(value: Values) -> Finding:
    excess = [value("figure-15c", f"RTT={r}ms", f"loss={p}%") for r in RTTS for p in LOSSES]
    above = sum(e > 0 for e in excess)
    return Finding(above >= 54, f"{above} of 60; {min(excess):.2f} to {max(excess):.2f} %")


def _low_losses(value: Values, rtt: int) -> list[float]:
    low = [p for p in LOSSES if float(p) <= _LOW_LOSS]
    return [value("figure-15c", f"RTT={rtt}ms", f"loss={p}%") for p in low]


def _more_on_long_paths(value: Values) -> Finding:
    near, far = median(_low_losses(value, 30)), median(_low_losses(value, 200))
    return Finding(far > near, f"median {near:.2f} % at 30 ms, {far:.2f} % at 200 ms")


def _peak_at_200(value: Values) -> Finding:
    excess = {p: value("figure-15c", "RTT=200ms", f"loss={p}%") for p in LOSSES}
    return Finding(max(excess, key=lambda p: excess[p]) == LOSSES[0], told(excess))


def _per_packet_over_rtt(value: Values) -> Finding:
    near, far = (value("figure-16", "BBR", place(rtt, "0.01")) for rtt in (100, 200))
    return Finding(far >= 10 * near, f"{near:.2e} at 100 ms, {far:.2e} at 200 ms")


def _cubic_over_rtt(value: Values) -> Finding:
    ratios = []
    for loss in LOSSES:
        over = [value("figure-16", "CUBIC", place(rtt, loss)) for rtt in RTTS]
        ratios.append(max(over) / min(over))
    found = median(ratios)
    return Finding(found <= 1.5, f"largest over smallest, median over losses: {found:.2f}")


def _bbr_settles(value: Values) -> Finding:
    times = [value("figure-19", "BBR", place(*at)) for at in SETTLING]
    return Finding(sum(t <= 31 for t in times) >= 3, ", ".join(f"{t:.1f} s" for t in times))


def _longer_with_rtt(value: Values) -> Finding:
    near, far = (
        value.column("figure-19", ("CUBIC", "Veno", "Westwood+"), place(rtt, "0.01"))
        for rtt in (30, 200)
    )
    holds = all(far[row] > near[row] for row in near)
    return Finding(holds, f"30 ms: {told(near)} s; 200 ms: {told(far)} s")


def _shorter_with_loss(value: Values) -> Finding:
    few, many = (
        value.column("figure-19", ("CUBIC", "Veno", "Westwood+"), place(100, loss))
        for loss in ("0.01", "0.1")
    )
    holds = all(many[row] < few[row] for row in few)
    return Finding(holds, f"0.01 %: {told(few)} s; 0.1 %: {told(many)} s")


def _full_alone(value: Values) -> Finding:
    goodput = value.column("19", ALONE, f"{_OFF} Goodput")
    return Finding(min(goodput.values()) >= 88, told(goodput))


def _short_queues(value: Values) -> Finding:
    rtt = value.column("19", ALONE, f"{_OFF} RTT")
    return Finding({*sorted(rtt, key=lambda row: rtt[row])[:2]} == {"BBR", "Vegas"}, told(rtt))


def _suffering(value: Values) -> Finding:
    goodput = value.column("19", ALONE, f"{_ON} Goodput")
    poor = sum(v < 75 for v in goodput.values())
    holds = poor >= 5 and min(goodput["CUBIC"], goodput["H-TCP"]) >= 80
    return Finding(holds, f"{poor} of 9 below 75 Mbit/s: {told(goodput)}")


def _bbr_retransmits(value: Values) -> Finding:
    off, on = (value("19", "BBR", f"{half} Retr.") for half in (_OFF, _ON))
    return Finding(on >= 10 * max(off, 0.1), f"{off:.2f} and {on:.2f} segments/s")


def _bbr_in_short_queues(value: Values) -> Finding:
    goodput = {f"{q}": value("figure-21", "BBR", f"{q} packets") for q in QUEUES if q >= 20}
    return Finding(min(goodput.values()) >= 90, f"{told(goodput)} Mbit/s")


def _others_need_queues(value: Values) -> Finding:
    others = [row for row in ALONE if row not in ("BBR", "Vegas")]
    short, enough, long = (
        value.column("figure-21", others, f"{q} packets") for q in (10, 100, 1000)
    )
    holds = all(short[r] < enough[r] and abs(long[r] - enough[r]) < 10 for r in others)
    return Finding(holds, f"10 packets: {told(short)}; 100: {told(enough)} Mbit/s")


def _control_of_rtt(value: Values) -> Finding:
    at = [value.column("figure-22", ALONE, f"{q} packets") for q in QUEUES]
    calm = {row: max(rtt[row] for rtt in at) for row in ("BBR", "Vegas")}
    others = min(rtt for row, rtt in at[-1].items() if row not in calm)
    holds = max(calm.values()) < 40 < others
    return Finding(
        holds, f"at most {told(calm)} ms; others at least {others:.0f} ms at 1000 packets"
    )


def _excessive(value: Values) -> Finding:
    again = {
        row: median(value("figure-23", row, f"{q} packets") for q in QUEUES if q < 100)
        for row in ALONE
    }
    most = {*sorted(again, key=lambda row: -again[row])[:2]}
    return Finding(most == {"BBR", "Illinois"}, f"{told(again)} segments/s")


OF_COST = (
    statement(
        "cost-more",
        "7.1",
        "BBR always puts more on the wire than Cubic",
        "figure 15c: above 0 in at least 54 of 60 paths",
        PRINTED,
        _more_on_wire,
    ),
    statement(
        "cost-long-paths",
        "7.1",
        "BBR sends more again on long paths of low loss",
        "figure 15c: median up to 0.6 % at 200 ms above that at 30 ms",
        PRINTED,
        _more_on_long_paths,
    ),
    statement(
        "cost-peak",
        "7.1",
        "At 200 ms BBR's excess is largest at the lowest loss",
        "figure 15c: largest at 0.01 %",
        PRINTED,
        _peak_at_200,
    ),
    statement(
        "cost-tenfold",
        "7.1",
        "BBR's retransmissions per packet rise tenfold from 100 to 200 ms at 0.01 %",
        "figure 16: at least 10 times",
        PRINTED,
        _per_packet_over_rtt,
    ),
    statement(
        "cost-cubic",
        "7.1",
        "RTT has almost no effect on Cubic's",
        "figure 16: largest over smallest of the RTTs, median over losses, at most 1.5",
        PRINTED,
        _cubic_over_rtt,
    ),
)
OF_SETTLING = (
    statement(
        "settling-bbr",
        "7.2",
        "BBR converges at the beginning in most cases",
        "figure 19: at most 31 s on 3 of 4 paths",
        PRINTED,
        _bbr_settles,
    ),
    statement(
        "settling-rtt",
        "7.2",
        "A longer RTT makes Cubic, Veno and Westwood+ converge later",
        "figure 19 at 0.01 %: all later at 200 ms than at 30 ms",
        PRINTED,
        _longer_with_rtt,
    ),
    statement(
        "settling-loss",
        "7.2",
        "More loss makes them converge sooner",
        "figure 19 at 100 ms: all sooner at 0.1 % than at 0.01 %",
        PRINTED,
        _shorter_with_loss,
    ),
)
OF_REVERSE = (
    statement(
        "reverse-alone",
        "7.3",
        "Without reverse traffic all fill the bottleneck",
        "table 19, inferred form: at least 88 Mbit/s",
        INFERRED,
        _full_alone,
    ),
    statement(
        "reverse-rtt",
        "7.3",
        "BBR and Vegas control the RTT best",
        "table 19, deactivated: the two lowest RTTs",
        INFERRED,
        _short_queues,
    ),
    statement(
        "reverse-suffering",
        "7.3",
        "A congested reverse path leaves Cubic and H-TCP full, and most others poor",
        "table 19, activated: these at least 80 Mbit/s, at least 5 of 9 below 75",
        INFERRED,
        _suffering,
    ),
    statement(
        "reverse-bbr",
        "7.3",
        "BBR's retransmissions rise greatly with it",
        "table 19: at least tenfold",
        INFERRED,
        _bbr_retransmits,
    ),
)
OF_QUEUES = (
    statement(
        "queue-bbr",
        "7.4",
        "BBR fills the bottleneck from 20 packets of queue on",
        "figure 21: at least 90 Mbit/s",
        PRINTED,
        _bbr_in_short_queues,
    ),
    statement(
        "queue-others",
        "7.4",
        "The others gain up to 100 packets, and vary little beyond",
        "figure 21, without Vegas: more at 100 than at 10, within 10 Mbit/s at 1000",
        PRINTED,
        _others_need_queues,
    ),
    statement(
        "queue-rtt",
        "7.4",
        "BBR and Vegas stay below 40 ms, the others exceed it as the queue grows",
        "figure 22: at all sizes; at 1000 packets",
        PRINTED,
        _control_of_rtt,
    ),
    statement(
        "queue-retransmissions",
        "7.4",
        "Below 100 packets BBR and Illinois retransmit most",
        "figure 23: the two highest medians",
        PRINTED,
        _excessive,
    ),
)

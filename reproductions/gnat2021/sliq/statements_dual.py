"""What sections 3.2.2 to 3.2.5 say of their plots: two controls in parallel as links change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from sojourn.reproduction.statements import Finding, Row, Statement
from sojourn_reproductions.gnat2021.sliq.changing import DUAL
from sojourn_reproductions.gnat2021.sliq.filled import FULL, filled
from sojourn_reproductions.gnat2021.sliq.measured import listed, value, values


def _little_variation(rows: Sequence[Row]) -> Finding:
    least = values(rows, DUAL, "least_percent", "3.2.3")
    return Finding(min(least.values()) >= 85, f"least second: {listed(least.values())} %")


def _with_loss(rows: Sequence[Row]) -> Finding:
    found = values(rows, DUAL, "filled_percent", "3.2.4")
    enough = all(share >= (75 if at == "40" else 90) for at, share in found.items())
    return Finding(enough, f"{listed(found.values())} %")


def _takes_over(rows: Sequence[Row]) -> Finding:
    share = values(rows, DUAL, "cubic_share_percent", "3.2.4")
    loss = max(share[at] for at in ("20", "30", "40", "50", "60"))
    none = share["0"]
    return Finding(loss < 20 and none > 50, f"Cubic's share: {none:.1f}, from 3 % on {loss:.1f} %")


def _recovers(rows: Sequence[Row]) -> Finding:
    found = values(rows, DUAL, "least_percent", "3.2.4")
    after = [found[at] for at in ("50", "60", "70", "80")]
    return Finding(min(after) >= 80, f"least second from 2 s on: {listed(after)} %")


def _cubic_little(rows: Sequence[Row]) -> Finding:
    share = values(rows, DUAL, "cubic_share_percent", "3.2.5").values()
    return Finding(max(share) < 15, f"{listed(share)} %")


def _after(time: int, column: str, rows: Sequence[Row]) -> float:
    return value(rows, DUAL, f"after_s={time}", column, "3.2.5")


def _first_dip(rows: Sequence[Row]) -> Finding:
    least = _after(20, "least_sent_mbit", rows)
    length = _after(20, "below_half_s", rows)
    return Finding(least <= 4 and length <= 2, f"{least:.2f} Mbit/s, {length:g} s below half")


def _second_dip(rows: Sequence[Row]) -> Finding:
    least = _after(40, "least_sent_mbit", rows)
    length = _after(40, "below_half_s", rows)
    return Finding(least <= 2 and 3 <= length <= 9, f"{least:.2f} Mbit/s, {length:g} s below half")


def _no_dip(rows: Sequence[Row]) -> Finding:
    least = [_after(time, "least_sent_mbit", rows) for time in (60, 80)]
    return Finding(min(least) >= 5, f"least sent: {listed(least)} Mbit/s")


STATEMENTS = (
    Statement(
        "dual-follows-speed",
        "3.2.2",
        "In parallel they track the rate quickly and accurately",
        FULL.format(95),
        partial(filled, DUAL, "3.2.2", 95, ["filled_percent"]),
    ),
    Statement(
        "dual-full-while-delay-changes",
        "3.2.3",
        "The receive rate stays at 10 Mbit/s with very little variation",
        "no second from 2 s after each change is below 85 %",
        _little_variation,
    ),
    Statement(
        "dual-withstands-loss",
        "3.2.4",
        "In parallel they use nearly all that the loss leaves; some trouble at 40 %",
        "received from 2 s after each change: 90 % of it, at 40 % loss 75 %",
        _with_loss,
    ),
    Statement(
        "copa-takes-over",
        "3.2.4",
        "Copa takes over from Cubic when packets are lost",
        "Cubic's share is above 50 % at first, below 20 % in all phases from 3 % on",
        _takes_over,
    ),
    Statement(
        "dual-recovers",
        "3.2.4",
        "They recover quickly when the loss gets smaller",
        "from 2 s after each such change no second is below 80 % of what passes",
        _recovers,
    ),
    Statement(
        "cubic-sends-little",
        "3.2.5",
        "At 10 % loss Cubic sends very little",
        "below 15 % of the packets in each phase",
        _cubic_little,
    ),
    Statement(
        "dips-at-10-ms",
        "3.2.5",
        "From 1 to 10 ms the rate dips momentarily to about 2 Mbit/s",
        "the least half second is at most 4 Mbit/s; below 5 Mbit/s for at most 2 s",
        _first_dip,
    ),
    Statement(
        "dips-at-100-ms",
        "3.2.5",
        "From 10 to 100 ms there are 6 s of about 1 Mbit/s",
        "the least half second is at most 2 Mbit/s; below 5 Mbit/s for 3 to 9 s",
        _second_dip,
    ),
    Statement(
        "no-dips-as-delay-shrinks",
        "3.2.5",
        "From 100 to 10 and 1 ms there are no big drops",
        "no half second of the next 10 s is below 5 Mbit/s",
        _no_dip,
    ),
)

"""What section 6 observes; the card says since when each criterion has stood, and which were
changed after results.

The paper's windows break Little's law (Cubic's 1393 KB over 23.2 ms are 480 Mbit/s, 124.7 are
printed), so that controls are compared with each other. BBR is judged as paced, which is what
observation 8 is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sojourn.reproduction.statements import Finding, Row, Statement

_BANDS = {"12": "2.4 GHz", "13": "5 GHz"}
_BBR = "BBR (fq)"


def _value(rows: Sequence[Row], table: str, row: str, column: str, kind: str = "measured") -> float:
    """What was measured, or published; a ``KeyError`` if it was not."""
    keys = {"table": table, "row": row, "column": column}
    for entry in rows:
        if all(entry[key] == value for key, value in keys.items()) and entry[kind] is not None:
            return float(entry[kind])
    raise KeyError(f"{kind} {table} {row} {column}")


def _ratio(
    column: str, tables: Sequence[str], least: float, most: float, rows: Sequence[Row]
) -> Finding:
    """BBR's value over Cubic's in each table."""

    def over(table: str, kind: str) -> float:
        return _value(rows, table, _BBR, column, kind) / _value(rows, table, "CUBIC", column, kind)

    found = {table: over(table, "measured") for table in tables}
    told = ", ".join(
        f"{_BANDS[table]}: {_beside(ratio, partial(over, table))}" for table, ratio in found.items()
    )
    return Finding(all(least <= ratio <= most for ratio in found.values()), told)


def _data_per_block(rows: Sequence[Row]) -> Finding:
    """What the ACKs of a block acknowledge, by goodput and blocks."""

    def of(row: str, kind: str) -> float:
        return _value(rows, "12", row, "Thp.", kind) / _value(rows, "12", row, "N_ACK_Block", kind)

    def over(kind: str) -> float:
        return of(_BBR, kind) / of("CUBIC", kind)

    ratio = over("measured")
    return Finding(0.15 <= ratio <= 0.35, f"2.4 GHz: {_beside(ratio, over)}")


def _beside(ratio: float, of: Callable[[str], float]) -> str:
    """A measured ratio with the published one, where there is one."""
    try:
        return f"{ratio:.2f} (printed {of('published'):.2f})"
    except KeyError:
        return f"{ratio:.2f}"


def _cubic_repeats_most(rows: Sequence[Row]) -> Finding:
    found = {
        row: _value(rows, "12", row, "Retr.")
        for row in ("CUBIC", "NewReno", "Westwood+", "Veno", _BBR)
    }
    rest = [rate for row, rate in found.items() if row != "CUBIC"]
    told = ", ".join(f"{row} {rate:.2f}" for row, rate in found.items())
    return Finding(found["CUBIC"] > max(rest), told)


def _cubic_is_unfriendly(rows: Sequence[Row]) -> Finding:
    found = {
        row: [_value(rows, "14", row, column) for column in ("Flow-1", "CUBIC", "Jain's Index")]
        for row in ("NewReno", _BBR, "Westwood+", "Veno")
    }
    told = ", ".join(
        f"{row} {own:.1f} and {cubic:.1f} Mbit/s ({index:.3f})"
        for row, (own, cubic, index) in found.items()
    )
    unfriendly = (index < 0.95 and cubic > own for own, cubic, index in found.values())
    return Finding(all(unfriendly), told)


def _faster_band(rows: Sequence[Row]) -> Finding:
    found = {
        row: _value(rows, "13", row, "Thp.") / _value(rows, "12", row, "Thp.")
        for row in ("CUBIC", "NewReno", "Westwood+", "Veno", _BBR)
    }
    told = ", ".join(f"{row} {ratio:.2f}" for row, ratio in found.items())
    return Finding(all(ratio >= 2 for ratio in found.values()), told)


def _converges_faster(rows: Sequence[Row]) -> Finding:
    def of(row: str) -> tuple[float, float]:
        return _value(rows, "18", row, "5GHz t_c"), _value(rows, "18", row, "2.4GHz t_c")

    found = {row: of(row) for row in ("NewReno", "Westwood+", "Veno")}
    told = ", ".join(f"{row} {fast:.1f} and {slow:.1f} s" for row, (fast, slow) in found.items())
    return Finding(all(fast < slow for fast, slow in found.values()), told)


def _slowest_transfers(rows: Sequence[Row]) -> Finding:
    found = {
        band: {
            row: _value(rows, "figure-12", row, f"{band}GHz")
            for row in (_BBR, "CUBIC", "NewReno", "Westwood+", "Veno")
        }
        for band in ("2.4", "5")
    }
    told = "; ".join(
        f"{band} GHz: " + ", ".join(f"{row} {rate:.1f}" for row, rate in of.items())
        for band, of in found.items()
    )
    return Finding(all(min(of, key=lambda row: of[row]) == _BBR for of in found.values()), told)


def _settles_simulated(rows: Sequence[Row]) -> Finding:
    found = {
        row: _value(rows, "figure-19-wifi", row, "5GHz")
        / _value(rows, "figure-19-wifi", row, "2.4GHz")
        for row in ("Westwood+", "Veno", "CUBIC")
    }
    told = ", ".join(f"{row} {ratio:.2f}" for row, ratio in found.items())
    faster = all(found[row] <= 0.937 for row in ("Westwood+", "Veno"))
    return Finding(faster and found["CUBIC"] > 1, told)


_BOTH = ("12", "13")
STATEMENTS = (
    Statement(
        "observation-8",
        "6.1",
        "BBR has at least 20 % less goodput than Cubic in both bands",
        "BBR's goodput over Cubic's is at most 0.8 in tables 12 and 13",
        partial(_ratio, "Thp.", _BOTH, 0.0, 0.8),
    ),
    Statement(
        "observation-8-blocks",
        "6.1",
        "the direction of transmission changes more often with BBR",
        "blocks of ACKs per second over Cubic's lie between 2 and 4 in table 12",
        partial(_ratio, "N_ACK_Block", ("12",), 2.0, 4.0),
    ),
    Statement(
        "observation-8-packets",
        "6.1",
        "a block has about a quarter of the packets with BBR",
        "packets per block over Cubic's lie between 0.15 and 0.35 in table 12",
        partial(_ratio, "P_ACK_Block", ("12",), 0.15, 0.35),
    ),
    Statement(
        "observation-8-data",
        "6.1",
        "the ACKs of a block acknowledge about a quarter of the data with BBR",
        "goodput over blocks, over Cubic's, lies between 0.15 and 0.35 in table 12",
        _data_per_block,
    ),
    Statement(
        "observation-8-intervals",
        "6.1",
        "data segments are about 3.5 times as far apart with BBR",
        "the interval over Cubic's is at least 2 in table 12",
        partial(_ratio, "Inter.", ("12",), 2.0, float("inf")),
    ),
    Statement(
        "low-rtt",
        "6.1",
        "BBR's RTT is far below Cubic's",
        "BBR's RTT over Cubic's is at most 0.5 in tables 12 and 13",
        partial(_ratio, "RTT", _BOTH, 0.0, 0.5),
    ),
    Statement(
        "bands",
        "6.1",
        "goodput at 5 GHz is at least twice that at 2.4 GHz",
        "for every control, table 13 over table 12 is at least 2",
        _faster_band,
    ),
    Statement(
        "observation-9",
        "6.1",
        "Cubic causes more retransmissions than the others",
        "Cubic's rate is the highest in table 12",
        _cubic_repeats_most,
    ),
    Statement(
        "observation-10",
        "6.3",
        "Cubic has poor friendliness at 2.4 GHz",
        "Jain's index is below 0.95 against each control in table 14, and Cubic has more",
        _cubic_is_unfriendly,
    ),
    Statement(
        "observation-11",
        "6.4",
        "NewReno, Westwood+ and Veno converge faster at 5 GHz",
        "their convergence times in table 18 are shorter at 5 GHz",
        _converges_faster,
    ),
    Statement(
        "transfers",
        "6.2",
        "BBR's median is the lowest in transfers of a large file",
        "BBR's median is below all others' in both bands of figure 12",
        _slowest_transfers,
    ),
    Statement(
        "settling-wifi",
        "7.2",
        "Westwood+ and Veno settle at least 6.3 % faster at 5 GHz, Cubic at 2.4 GHz",
        "t_c at 5 over 2.4 GHz in figure 19: at most 0.937 for the two, above 1 for Cubic",
        _settles_simulated,
    ),
)

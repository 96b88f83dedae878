"""The packets of a capture, as the core numbers them, in words."""

from __future__ import annotations

import polars as pl

from sojourn.record import SCHEMAS

#: The table.
PASSAGES = "passages"
_LINKS = ("senders", "receivers", "unknown")
_EVENTS = ("enqueue", "deliver")
#: TCP's, from the lowest bit on: FIN, SYN, RST, PSH, ACK, URG, ECE, CWR.
_FLAGS = "FSRPAUEC"
#: SACK blocks of a header at most.
_BLOCKS = 4


def passages(rows: pl.LazyFrame) -> pl.LazyFrame:
    """The table; numbers of bytes count from the first of their side in the capture."""
    words = {"link": _LINKS, "event": _EVENTS, "flags": tuple(map(_letters, range(256)))}
    told = [
        pl.col(name).replace_strict(dict(enumerate(of)), default=None, return_dtype=pl.String)
        for name, of in words.items()
    ]
    known = [pl.when(pl.col(name) >= 0).then(pl.col(name)).alias(name) for name in ("seq", "ack")]
    blocks = pl.concat_str([_block(number) for number in range(_BLOCKS)], ignore_nulls=True)
    sack = pl.when(pl.col("sack_0") >= 0).then(blocks).alias("sack")
    return rows.with_columns(*told, *known, sack).select(*SCHEMAS[PASSAGES])


def _letters(flags: int) -> str:
    return "".join(letter for bit, letter in enumerate(_FLAGS) if flags >> bit & 1)


def _block(number: int) -> pl.Expr:
    """A block of a header, such as ``2897-4345``; null where there is none."""
    begin, end = pl.col(f"sack_{2 * number}"), pl.col(f"sack_{2 * number + 1}")
    return pl.when(begin >= 0).then(pl.format(" {}-{}" if number else "{}-{}", begin, end))

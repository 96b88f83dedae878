"""Mahimahi's traces of what a link has delivered: a time in milliseconds for each packet of 1,500
bytes, or for as many bytes of smaller ones, with their framing.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from sojourn.errors import ScenarioError
from sojourn.measured import Measured
from sojourn.metrics.columns import Values, overhead_of
from sojourn.names import unknown

#: Bytes of an opportunity, without framing.
_PACKET = 1500


def written(run: Measured, link: str) -> str:
    """The opportunities that a link's traffic has used: from its packets where they were recorded,
    else spread over each sampling interval.

    Raises:
        ScenarioError: if there is no such link, or it has delivered less than a packet.

    """
    names = [of["id"] for of in run.data.network["links"]]
    if link not in names:
        raise ScenarioError(f"--mahimahi: {unknown('link', link, names)}")
    place = names.index(link)
    opportunity = _PACKET + overhead_of(run.data.network["links"][place])
    times, delivered = _delivered(run, link, place)
    last = float(delivered[-1]) if len(delivered) else np.nan
    if not last >= opportunity:
        raise ScenarioError(
            f"--mahimahi: link {link!r} has delivered less than a packet of {_PACKET:,} bytes, as "
            "far as is known"
        )
    # Half a byte less: not when the next one begins, where nothing was delivered in between.
    marks = np.arange(opportunity, last + 0.5, opportunity) - 0.5
    opportunities = np.ceil(1e3 * np.interp(marks, delivered, times) - 1e-6).astype(int)
    return "".join(f"{max(1, at)}\n" for at in opportunities.tolist())


def _delivered(run: Measured, link: str, place: int) -> tuple[Values, Values]:
    """Times in seconds, and the bytes that had been delivered by then, with their framing."""
    if "packets" in run.record.tables:
        of_link = (pl.col("link") == link) & (pl.col("event") == "deliver")
        rows = run.record.scan("packets").filter(of_link).select("time", "size").collect()
        times, sizes = (rows[name].to_numpy().astype(float) for name in ("time", "size"))
        # Each packet arrives at once.
        at = np.repeat(times, 2)
        sizes += overhead_of(run.data.network["links"][place])
        total = np.cumsum(sizes)
        return at, np.stack([total - sizes, total], axis=1).reshape(-1)
    samples = run.data.link.samples
    sent = np.concatenate([[0.0], np.cumsum(samples["sent_bytes"][:, place])])
    return np.concatenate([[0.0], samples.ends]), sent

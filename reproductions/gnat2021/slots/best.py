"""What the streams of a model can have at best."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from sojourn_reproductions.gnat2021.multicast.best import Best, Stream, best
from sojourn_reproductions.gnat2021.overlay.polytope import Arc
from sojourn_reproductions.gnat2021.slots.models import rate_at


def best_of(model: Mapping[str, Any], at: float) -> Best:
    """What they can have when links are as they are at a time, Mbit/s."""
    links = []
    for link in model["links"]:
        rate = rate_at(link, at)
        one, other = str(link["from"]), str(link["to"])
        links += [Arc((one, other), rate, 0.0), Arc((other, one), rate, 0.0)]
    sent = [
        Stream(
            str(stream["from"]),
            tuple(map(str, stream["to"])),
            stream.get("priority", 1.0),
            stream.get("ceiling", inf),
        )
        for stream in model["streams"]
    ]
    return best(links, sent)

"""Multicast over backpressure in slots of time: see docs/slotted.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sojourn import _internal


def run(model: Mapping[str, Any]) -> dict[str, Any]:
    """Simulates a model.

    Args:
        model: ``nodes``, how many; ``links``, each ``from``, ``to``, ``rate`` (Mbit/s) and
            ``changes``, pairs of a time in seconds and a rate; ``streams``, each ``from``, ``to``
            (a list), ``priority`` and ``ceiling`` (Mbit/s); ``seconds``; ``k`` (packets squared per
            second); ``queues``: ``backpressure``, ``zombies``, ``improved-zombies``,
            ``dual-gradient``, ``improved-dual-gradient``; ``signals``: ``each``, ``totals``;
            ``generation``, packets that are coded together, 0 without network coding.

    Returns:
        ``times``, the ends of S samples in seconds, and for each: ``admitted``, Mbit/s by stream;
        ``received``, a list of ``stream``, ``node``, ``rates`` (Mbit/s), ``delays`` (ms, None where
        nothing came), ``packets`` and ``useless`` in all; ``loads``, by direction of a link
        ``from``, ``to``, ``rates`` (Mbit/s), ``zombies``; ``queued``, packets by node and stream.
        Also ``admitted_packets``, ``under_way`` and ``signal_bytes``, the mean size of a message
        about queues.

    Raises:
        ScenarioError: the model is wrong; names the field.
    """
    return dict(json.loads(_internal.run_slotted(json.dumps(model))))

"""What adaptive error control would come to if it knew its path exactly (section 3.3.3).

As in the report: the properties of the path as they are, the decision and the plans as the program
makes them. Round trip and delay are those of an empty buffer, 10 ms each way and the millisecond
that a packet takes to be sent.
"""

from __future__ import annotations

from sojourn import _internal

#: The share to be delivered in time, and the link: bit/s, s one way, s per packet of 1,250 bytes.
_SHARE, _RATE, _DELAY, _PACKET = 0.995, 1e7, 0.01, 0.001


def efficiency(per: float, deadline_ms: float) -> float:
    """Usable messages of the packets received, %, at this packet error rate."""
    round_trip = 2 * _DELAY + _PACKET
    told = _internal.error_control(
        _SHARE, 1e-3 * deadline_ms, per, round_trip, _DELAY + _PACKET, _RATE
    )
    return 100 * told[3]

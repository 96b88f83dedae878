"""Closed forms of what a shared medium carries, for the page that holds the simulator against them.

Durations repeat the standard's equations (802.11-2016: 17.4.3, 19.4.3, 21.4.3), apart from the
core's code. Times in seconds, sizes in bytes, results in Mbit/s of payload.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

SLOT = 9e-6
_LEGACY_PREAMBLE = 20e-6
#: MAC header, FCS, LLC and SNAP: without and with QoS.
_FRAMING = {False: 24 + 4 + 8, True: 26 + 4 + 8}


@dataclass(frozen=True)
class Phy:
    """A standard at its fastest mode."""

    name: str
    #: Data bits of a symbol, its length, preamble, and what follows each frame.
    bits: int
    symbol: float
    preamble: float
    extension: float
    sifs: float
    encoders: int = 1

    @property
    def qos(self) -> bool:
        """Whether frames are aggregated and AIFS is of three slots."""
        return self.name in {"n", "ac"}

    @property
    def space(self) -> float:
        """DIFS, or AIFS of the usual category."""
        return self.sifs + (3 if self.qos else 2) * SLOT

    def data(self, size: int) -> float:
        """A data frame on the air."""
        symbols = math.ceil((16 + 8 * size + 6 * self.encoders) / self.bits)
        length = math.ceil(round(symbols * self.symbol / 4e-6, 6)) * 4e-6
        return self.preamble + length + self.extension

    def control(self, size: int, bits: int = 96) -> float:
        """A control frame, at 24 Mbit/s unless ``bits`` of a symbol say otherwise."""
        return _LEGACY_PREAMBLE + 4e-6 * math.ceil((22 + 8 * size) / bits) + self.extension

    def framed(self, packet: int, frames: int) -> int:
        """``frames`` packets of this size as one PSDU."""
        mpdu = packet + _FRAMING[self.qos]
        return mpdu if frames == 1 else frames * (4 * math.ceil((mpdu + 4) / 4))

    def answer(self, frames: int) -> float:
        """ACK or block ACK, and the space before it."""
        return self.sifs + self.control(14 if frames == 1 else 32)

    @property
    def extended(self) -> float:
        """What EIFS adds to DIFS."""
        return self.sifs + self.control(14, bits=24)


A = Phy("a", 216, 4e-6, 20e-6, 0.0, 16e-6)
G = Phy("g", 216, 4e-6, 20e-6, 6e-6, 10e-6)
N = Phy("n", 1080, 3.6e-6, 40e-6, 6e-6, 10e-6)
AC = Phy("ac", 3120, 3.6e-6, 44e-6, 0.0, 16e-6, 2)


def udp(phy: Phy, packet: int, payload: int, frames: int) -> float:
    """One station that always sends: a mean backoff of 7.5 slots before each frame."""
    exchange = phy.data(phy.framed(packet, frames)) + phy.answer(frames)
    return 8e-6 * frames * payload / (phy.space + 7.5 * SLOT + exchange)


def _solve(stations: int, tau_of: Callable[[float], float]) -> float:
    """The probability to transmit in a slot, which follows from that of a collision."""
    low, high = 0.0, 1.0
    for _ in range(100):
        tau = (low + high) / 2
        collides = 1 - (1 - tau) ** (stations - 1)
        wanted = tau_of(collides)
        low, high = (tau, high) if wanted > tau else (low, tau)
    return low


def bianchi(phy: Phy, packet: int, payload: int, stations: int, window: int = 16) -> float:
    """Saturation throughput (G. Bianchi, JSAC 2000): no limit of attempts, six doublings."""

    def tau_of(p: float) -> float:
        doublings = sum((2 * p) ** stage for stage in range(6))
        return 2 / (1 + window + p * window * doublings)

    tau = _solve(stations, tau_of)
    data = phy.data(phy.framed(packet, 1))
    some, success = _outcomes(stations, tau)
    time = (1 - some) * SLOT + success * (data + phy.answer(1) + phy.space)
    return 8e-6 * success * payload / (time + (some - success) * (data + phy.space))


def tinnirello(phy: Phy, packet: int, payload: int, stations: int, window: int = 16) -> float:
    """Saturation throughput by the standard's rules (I. Tinnirello, G. Bianchi, Y. Xiao, IEEE TVT
    2010): counters freeze while others send, so that only who has just sent can use the slot after
    its frame, with probability ``1 / window``; seven attempts; EIFS after collisions.
    """
    return _refined(phy, packet, payload, stations, window, alone=0)


def head_start(phy: Phy, packet: int, payload: int, stations: int, window: int = 16) -> float:
    """The same, where who took part in a collision waits for its ACK timeout instead of EIFS
    (10.22.2.4): 15 us less at 5 GHz, so that it has three slots to itself.
    """
    return _refined(phy, packet, payload, stations, window, alone=3)


def _refined(phy: Phy, packet: int, payload: int, stations: int, window: int, alone: int) -> float:
    """``alone``: slots after a collision that only its stations can use."""
    stages = [min(window * 2**stage, 1024) for stage in range(7)]

    def tau_of(p: float) -> float:
        weights = [p**stage for stage in range(7)]
        return sum(weights) / sum(w * size / 2 for w, size in zip(weights, stages, strict=True))

    tau = _solve(stations, tau_of)
    data = phy.data(phy.framed(packet, 1))
    some, success = _outcomes(stations, tau)
    again = 1 / (1 - 1 / window)
    exchange = data + phy.answer(1) + phy.space
    # A collision widens the window, the last one begins anew; its stations find one of their
    # slots drawn with the inverse of that.
    weights = [(1 - (1 - tau) ** (stations - 1)) ** stage for stage in range(7)]
    widened = zip(weights, [*stages[1:], window], strict=True)
    drawn = alone * sum(w / size for w, size in widened) / sum(weights)
    soon = drawn * (stations * tau - success)
    time = (1 - some) * SLOT + success * (again * exchange + SLOT) + soon * exchange
    bad = data + phy.extended + phy.space + SLOT
    return 8e-6 * (success * again + soon) * payload / (time + (some - success) * bad)


def tcp(phy: Phy, segment: int, payload: int, frames: int) -> float:
    """One TCP upload without losses.

    The access point contends with ACKs, one for two segments, as if both were saturated (Bianchi's
    model for two, whose slots EDCA counts alike); half of the frames carry data.
    """

    def tau_of(p: float) -> float:
        doublings = sum((2 * p) ** stage for stage in range(6))
        return 2 / (17 + p * 16 * doublings)

    tau = _solve(2, tau_of)
    some, success = _outcomes(2, tau)
    data = phy.data(phy.framed(segment, frames))
    acks = phy.data(phy.framed(52, max(1, frames // 2)))
    exchange = (data + acks) / 2 + phy.answer(frames) + phy.space
    collision = data + phy.extended + phy.space
    time = (1 - some) * SLOT + success * exchange + (some - success) * collision
    return 8e-6 * success / 2 * frames * payload / time


def _outcomes(stations: int, tau: float) -> tuple[float, float]:
    """Probabilities that someone sends in a slot, and that just one does."""
    return 1 - (1 - tau) ** stations, stations * tau * (1 - tau) ** (stations - 1)

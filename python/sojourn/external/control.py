"""What a congestion control written in Python derives from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from sojourn._internal import Ack, Decision, Event, Init, Lost, Sent

#: A slow-start threshold that no window reaches: no congestion seen yet.
INFINITE_SSTHRESH = math.inf


class Control:
    """A congestion control: it is told what happened and returns its decision.

    Loss detection, RTT, rate sampling, pacing and, unless it owns recovery, proportional rate
    reduction are the sender's. A subclass has ``on_ack``, ``on_congestion`` and ``decision``;
    callbacks that it leaves out cost nothing. Its parameters are the fields of a dataclass
    ``Params`` within it: of type ``bool``, ``int``, ``float``, ``str`` or ``Literal``, with
    defaults. What ``Params.__post_init__`` raises as ``ValueError`` refuses the scenario.

    ``ECN`` is the feedback that it needs, as a flow's ``ecn`` says it (``"classic"``, ``"l4s"``,
    ...): flows that do not say theirs then have it.

    A control sees what a real sender does. It must be deterministic: for random draws there is
    ``random.Random(init.seed)``.
    """

    #: As which people import it, and error messages and pickles name it.
    __module__ = "sojourn.cca"
    ECN: ClassVar[str] = "off"

    def __init__(self, params: object, init: Init) -> None:
        """For a new connection; ``params`` is a ``Params``, ``None`` if the class has none."""

    def on_ack(self, now: float, ack: Ack) -> None:
        """An ACK arrived and was processed."""
        raise NotImplementedError

    def on_congestion(self, now: float, event: Event) -> None:
        """Something else happened.

        On ``loss``, ``ecn``, and ``rto`` with ``reduce``, choose a new ``ssthresh``; on ``rto``,
        ``reduction_end`` and ``restart`` the window becomes ``event.cwnd`` (unless the control owns
        recovery).
        """
        raise NotImplementedError

    def decision(self) -> Decision:
        """The decision that holds now; asked for after every other callback."""
        raise NotImplementedError

    def on_established(self, now: float, rtt: float) -> None:
        """The connection is established; the handshake gave this RTT."""

    def on_sent(self, now: float, sent: Sent) -> None:
        """A segment was sent or retransmitted."""

    def on_packet_lost(self, now: float, lost: Lost) -> None:
        """A segment was marked lost; called before the ACK's ``on_ack``."""

    def next_timer(self) -> float | None:
        """When ``on_timer`` wants to be called next, if at all; asked for after every callback."""
        return None

    def on_timer(self, now: float) -> None:
        """The time asked for has come."""

    def save(self) -> None:
        """A reduction is about to be made: keep what ``undo`` needs."""

    def undo(self, now: float) -> None:
        """The reductions since ``save`` were made for nothing: take them back."""

    def observe(self) -> Mapping[str, float | str | None]:
        """Names and values of internal state worth recording (``record = ["cc"]``)."""
        return {}

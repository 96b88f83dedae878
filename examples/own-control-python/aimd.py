"""Additive increase, multiplicative decrease, in whole numbers and without undo.

In slow start every acknowledged segment adds one to the window. Beyond it acknowledged segments are
credit, of which a window's worth buys a segment. Congestion sets the threshold to half the window,
at least two segments, and takes the credit away.
"""

from sojourn.cca import INFINITE_SSTHRESH, Ack, Control, Decision, Event, Init


class Aimd(Control):
    def __init__(self, params: None, init: Init) -> None:
        self.cwnd = init.initial_window
        self.ssthresh = INFINITE_SSTHRESH
        self.credit = 0

    def on_ack(self, now: float, ack: Ack) -> None:
        if not (ack.may_grow and ack.cwnd_limited):
            return
        if self.cwnd < self.ssthresh:
            self.cwnd += ack.acked
            return
        self.credit += ack.acked
        if self.credit >= self.cwnd:
            self.credit -= self.cwnd
            self.cwnd += 1

    def on_congestion(self, now: float, event: Event) -> None:
        if event.kind in ("loss", "ecn") or event.reduce:
            self.ssthresh = max(self.cwnd // 2, 2)
            self.credit = 0
        if event.cwnd is not None:
            self.cwnd = event.cwnd
        if event.ssthresh is not None:
            self.ssthresh = event.ssthresh

    def decision(self) -> Decision:
        return Decision(self.cwnd, self.ssthresh)

    def observe(self) -> dict[str, float]:
        return {"credit": self.credit}

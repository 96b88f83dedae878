"""Why our controls and disciplines part from the kernel's where they do."""

from __future__ import annotations

from collections.abc import Mapping

UNEXPLAINED = "not explained"
#: What a reason begins with that is a fault of ours.
FAULT = "a fault of ours"

_CODEL = (
    "ours has times in nanoseconds, the kernel in units of 1.024 us; where signals follow each "
    "other closely, one falls to the next packet"
)
#: By kind and name; what is not here is not explained.
_REASONS: Mapping[tuple[str, str], str] = {
    ("control", "westwood"): (
        f"{FAULT}, not yet mended: it hears of an ACK after the end of the reduction that the ACK "
        "brings, and takes its RTT after the estimate; these sources, since a fix of 2025, both "
        "before. The window after a loss rests on an estimate that is an ACK older"
    ),
    ("control", "dctcp"): (
        f"{FAULT}, not yet mended: it hears of an ACK after the reduction that its echo begins, so "
        "that a cut at the end of a window is by the alpha of the window before"
    ),
    ("control", "htcp"): (
        "in open loop no window is apart by more than a segment; on a path with random loss one "
        "segment changes which packets are lost"
    ),
    ("control", "bbr"): (
        "ours has times in nanoseconds; the kernel has phases in microseconds and the age of the "
        "minimum RTT in ticks, so that a phase begins some ACKs later"
    ),
    ("queue", "fq_pie"): "ours draws from a stream of its own, not from the kernel's",
    ("queue", "red"): (
        "probabilities are real numbers in ours, 32-bit fractions in the kernel; the average of "
        "an idle queue decays exactly in ours, by the steps of tc's table in the kernel; and ours "
        "draws other random numbers"
    ),
    ("queue", "cake"): (
        "under a load that does not give way BLUE drops at random, and ours draws other random "
        "numbers"
    ),
    ("queue", "fq"): (
        "ours is fq before Linux 6.7, which has neither the fast path for a flow that is alone nor "
        "bands of priority"
    ),
    ("queue", "codel"): _CODEL,
    ("queue", "fq_codel"): _CODEL,
}


def explained(kind: str, name: str) -> str:
    """The reason, or that there is none yet."""
    return _REASONS.get((kind, name), UNEXPLAINED)

"""Why our controls and disciplines part from the kernel's where they do."""

from __future__ import annotations

from collections.abc import Mapping

UNEXPLAINED = "not explained"
#: By kind and name; what is not here is not explained.
_REASONS: Mapping[tuple[str, str], str] = {
    ("control", "bbr"): (
        "a phase that drains ends when what will be in flight at the next departure is little "
        "enough. Ours keeps that departure's time by itself, a segment at a time; the kernel reads "
        "the socket's, which moves by bursts. At the limit the phase ends an ACK sooner or later "
        "(read in both sources, not tried)"
    ),
    ("queue", "cake"): (
        "a flow's quantum is dithered by a byte at random in each of its turns, which decides "
        "whether a full packet uses it up. Ours has drawn three numbers for the keys of its hash "
        "from the stream before; so where two flows are backlogged without end, one of 300 turns "
        "comes a packet sooner or later (read in both sources, not tried)"
    ),
}


def explained(kind: str, name: str) -> str:
    """The reason, or that there is none yet."""
    return _REASONS.get((kind, name), UNEXPLAINED)

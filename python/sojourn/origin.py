"""What made a run, as its origin tells: in words, and whether it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

#: What the simulator's runs were made on.
SIMULATED = "in the simulator"
#: In the place of a backend, of what was observed elsewhere.
CAPTURE = "capture"
#: What is called otherwise than the backend is.
_CALLED = {
    "kernel": "on a kernel in virtual time",
    "live": "on a live kernel",
    "overlay": "on overlay nodes",
    CAPTURE: "elsewhere",
}


class ReleaseError(TypedDict):
    """Percentiles of how late packets were released, ms; ``None`` where none was."""

    p50: float | None
    p99: float | None
    p999: float | None


class Quality(TypedDict):
    """How far a run in real time can be trusted."""

    valid: bool
    #: Why not, with remedies.
    reasons: Sequence[str]
    release_error_ms: ReleaseError
    #: The longest time in which the emulation was busy or not scheduled.
    longest_gap_ms: float
    #: Packets lost in the devices.
    tun_drops: int
    #: Shares of all processors' time.
    cpu_idle: float | None
    cpu_steal: float | None
    kernel: str
    prioritised: bool
    #: Of a command: what its programs sent each other past the network.
    loopback_bytes: NotRequired[int]


class Origin(TypedDict, total=False):
    """What tells a run that was not simulated from others of the same scenario."""

    backend: str
    host: str
    #: Its version.
    kernel: str
    repetition: int
    hz: int
    #: The digest of the kernel's program.
    build: str
    #: Of what was observed elsewhere: its file's name, what tells its content, and where packets
    #: were captured.
    file: str
    digest: str
    vantage: str
    quality: Quality


def who(origin: Origin) -> Origin:
    """What tells who made a run, without how well it went."""
    made: Origin = {**origin}
    made.pop("quality", None)
    return made


def told(origin: Origin) -> str:
    """Whose a run is, to tell it from others."""
    if not origin:
        return "of the simulator"
    return f"of {origin['backend']} ({_details(who(origin))})"


def ran_on(origin: Origin) -> str:
    """What runs were made on, in a sentence."""
    if not origin:
        return SIMULATED
    made = who(origin)
    made.pop("repetition", None)  # which of several runs it was
    name = origin["backend"]
    return f"{_CALLED.get(name, f'on {name}')} ({_details(made)})"


def elsewhere(origin: Origin) -> str:
    """The same after a comma; of what was simulated nothing."""
    return f", {ran_on(origin)}" if origin else ""


def distrust(origin: Origin) -> list[str]:
    """Why the numbers of a run cannot be trusted, if they cannot."""
    reasons = origin["quality"]["reasons"] if "quality" in origin else ()
    return [f"the run is invalid: {reason}" for reason in reasons]


def _details(origin: Origin) -> str:
    """All but what the backend is called."""
    named = {("HZ" if name == "hz" else name): value for name, value in origin.items()}
    return ", ".join(f"{name} {value}" for name, value in named.items() if name != "backend")

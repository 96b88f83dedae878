"""What made a run, as its origin tells: in words, and whether it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What tells a run from those of other backends; empty of the simulator's.
Origin = Mapping[str, Any]
#: What the simulator's runs were made on.
SIMULATED = "in the simulator"
#: What is called otherwise than the backend is.
_CALLED = {"kernel": "a kernel in virtual time", "live": "a live kernel"}
#: What says how a run went, and which of several it was: nothing of who made it.
_OF_ONE_RUN = ("quality", "repetition")


def who(origin: Origin) -> dict[str, Any]:
    """What tells who made a run, without how well it went."""
    return {name: value for name, value in origin.items() if name != "quality"}


def told(origin: Origin) -> str:
    """Whose a run is, to tell it from others."""
    if not origin:
        return "of the simulator"
    return f"of {origin['backend']} ({_details(who(origin))})"


def ran_on(origin: Origin) -> str:
    """What runs were made on, in a sentence."""
    if not origin:
        return SIMULATED
    name = str(origin["backend"])
    of = {key: value for key, value in origin.items() if key not in _OF_ONE_RUN}
    return f"on {_CALLED.get(name, name)} ({_details(of)})"


def elsewhere(origin: Origin) -> str:
    """The same after a comma; of what was simulated nothing."""
    return f", {ran_on(origin)}" if origin else ""


def distrust(origin: Origin) -> list[str]:
    """Why the numbers of a run cannot be trusted, if they cannot."""
    reasons = origin.get("quality", {}).get("reasons", ())
    return [f"the run is invalid: {reason}" for reason in reasons]


def _details(origin: Origin) -> str:
    """All but what the backend is called."""
    named = {("HZ" if name == "hz" else name): origin[name] for name in origin}
    return ", ".join(f"{name} {value}" for name, value in named.items() if name != "backend")

"""What made a run, as its origin tells: in words, and whether it can be trusted."""

from __future__ import annotations

from sojourn.measured import Origin

#: What the simulator's runs were made on.
SIMULATED = "in the simulator"
#: What is called otherwise than the backend is.
_CALLED = {"kernel": "a kernel in virtual time", "live": "a live kernel"}


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
    return f"on {_CALLED.get(name, name)} ({_details(made)})"


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

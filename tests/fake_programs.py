"""Kernels in virtual time for tests of programs: what they run is run on this machine, one program
after the other, each for a virtual millisecond; their connections are the declared flows of a
simulation, none if all have the label "silent". A program that ends with status 99 goes on until
the run ends.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sojourn import _internal
from sojourn.kernel import cache
from sojourn.kernel.build import recipe

GOES_ON = 99
SCENARIO = """
name = "programs"
duration = "1 s"
topology = { kind = "dumbbell", bottleneck = { rate = "8 Mbit/s" } }
[[flows]]
cca = "reno"
rtt = "20 ms"
"""
PROGRAMS = """
[[programs]]
host = "receiver"
command = "echo ready >&2; exit 99"
[[programs]]
host = "sender"
command = ["sh", "-c", "echo 'of Grüße'"]
start = "10 ms"
wait = true
"""


def build(version: str = "6.12.117") -> None:
    """Has the cache a kernel that seems to have been built."""
    place = cache.root() / f"{version}-hz250"
    place.mkdir(parents=True)
    (place / cache.PROGRAM).write_bytes(b"linux")
    facts = {"version": version, "hz": 250, "recipe": recipe(250)}
    (place / cache.FACTS).write_text(json.dumps(facts), encoding="utf-8")


def install(patch: pytest.MonkeyPatch, directory: Path) -> None:
    """Has programs run here, and a cache of kernels in a directory of its own."""
    patch.setenv("XDG_CACHE_HOME", str(directory))
    patch.setattr(_internal, "run_programs", run_programs)
    build()


def prepared(patch: pytest.MonkeyPatch, directory: Path) -> Path:
    """The working directory from now on, with a scenario without programs and one that has some."""
    there = directory / "here"
    there.mkdir()
    patch.chdir(there)
    install(patch, directory / "cache")
    (there / "link.toml").write_text(SCENARIO, encoding="utf-8")
    (there / "both.toml").write_text(SCENARIO + PROGRAMS, encoding="utf-8")
    return there


def run_programs(
    scenario: str,
    kernel: str,
    init: list[str],
    place: str,
    watchdog: float,
    progress: Callable[[float], object] | None = None,
    record: Callable[..., object] | None = None,
    heard: Callable[[int, int, float, bytes], object] | None = None,
) -> dict[str, Any]:
    """A run as the engine's."""
    canonical = json.loads(scenario)
    programs, _ = canonical.pop("programs"), canonical.pop("date", None)
    output, ended = _executed(programs, json.loads(place))
    for one in output if heard else ():
        heard(*one)
    over = {number: at for number, _, at in ended}
    _shorten(canonical, [over.get(n) for n, program in enumerate(programs) if program["wait"]])
    made = _internal.run(_internal.validate(json.dumps(canonical))[0], progress, record, 1, None)
    silent = all(flow.get("label") == "silent" for flow in canonical["flows"])
    flows = range(0 if silent else sum(flow.get("count", 1) for flow in canonical["flows"]))
    made = _without_flows(made) if silent else made
    carried = {_flow(program["host"]) for program in programs}
    told = json.dumps([ended, [(*one[:3], one[3].hex()) for one in output], canonical["seed"]])
    return {
        **made,
        "labels": [(n, f"tcp {40000 + n}>5201" if n in carried else None) for n in flows],
        "connections": [(n, n) for n in flows],
        "hash": hashlib.blake2b(told.encode(), digest_size=16).hexdigest(),
        "output": output,
        "ended": ended,
        "unrouted": {("receiver", "flow-1.sender"): 3} if "flow-1" in scenario else {},
        "lacks": [],
        "killed": [],
        "left_out": 0,
        "started": [(n, start(program)) for n, program in enumerate(programs)],
        "cut": [],
        "uncopied": None,
    }


def _shorten(canonical: dict[str, Any], ends: list[float | None]) -> None:
    """Has a run end a little after the last of these ends, if all are known."""
    if ends and None not in ends:
        for flow in canonical["flows"]:
            flow.pop("stop", None)
        canonical |= {"duration": f"{max(filter(None, ends)) + 0.1:.3f} s", "warmup": "0 s"}


def _without_flows(made: dict[str, Any]) -> dict[str, Any]:
    """A run's tables in which nobody has sent anything."""
    network = {**json.loads(made["network"]), "paths": []}
    for table in ("flows", "flow_samples"):
        made[table] = {name: column[:0] for name, column in made[table].items()}
    return {**made, "network": json.dumps(network)}


def _flow(host: str) -> int:
    """The number of the flow at whose end a host is."""
    return int(host.partition(".")[0].removeprefix("flow-")) if "." in host else 0


def start(program: dict[str, Any]) -> float:
    """When a program starts, s."""
    return _internal.quantity(program["start"])[0]


def _executed(programs: list[dict[str, Any]], place: dict[str, Any]) -> tuple[list, list]:
    """Output and ends, in the order of time."""
    output, ended = [], []
    with tempfile.TemporaryDirectory() as elsewhere:
        for number, program in enumerate(programs):
            command = program["command"]
            words = ["/bin/sh", "-c", command] if isinstance(command, str) else command
            at = start(program) + 0.001
            done = subprocess.run(
                words,
                cwd=place["files"] or elsewhere,
                env=place["env"] | {"SOJOURN_HOST": program["host"]},
                capture_output=True,
                check=False,
            )
            said = ((1, done.stdout), (2, done.stderr))
            output += [(number, stream, at, text) for stream, text in said if text]
            ended += [(number, done.returncode, at)] if done.returncode != GOES_ON else []
    return sorted(output, key=lambda one: one[2]), sorted(ended, key=lambda one: one[2])

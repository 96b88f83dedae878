"""Instructions per data packet of a workload, by component, counted by callgrind (repeatable).

    python benches/profile.py experiments/speed/b.toml

``--on-links`` counts packets that links carried instead, as of overlays. Code of the standard
library counts for the function that it was inlined into.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The first prefix that a source file's path, or a function's module, begins with.
COMPONENTS = {
    "net/event": "event queue",
    "net": "event loop, hand-over of packets",
    "node": "event loop, hand-over of packets",
    "sim": "event loop, hand-over of packets",
    "edge": "links",
    "ring": "links",
    "queue": "queues",
    "gnat": "overlay",
    "sliq": "sender",
    "wifi": "links",
    "tcp/receiver": "receiver",
    "tcp/reassembly": "receiver",
    "tcp/autotune": "receiver",
    "tcp/echo": "receiver",
    "tcp": "sender",
    "recovery": "sender",
    "transport": "sender",
    "cc": "congestion control",
    "record": "recorders",
    "counters": "recorders",
}
#: Crates that are a component each.
WINGS = ("gnat", "sliq", "wifi")
NEUTRAL = ("packet", "units")
OTHER = "building the network, memory"
#: Where the program tells packets: of data that arrived, of any kind that links carried.
DATA, ON_LINKS = 0, -1


def binary(*, lines: bool = False) -> str:
    """Builds the benchmark of whole runs; where it is. With `lines`, code can be told by its file;
    without, what `make setup` has compiled is not compiled again.
    """
    command = ["cargo", "bench", "--no-run", "--message-format=json", "-p", "sojourn-catalogue"]
    command += ["--bench", "workloads"]
    told = {"CARGO_PROFILE_BENCH_DEBUG": "line-tables-only"} if lines else {}
    output = subprocess.run(
        command, cwd=ROOT, env=os.environ | told, check=True, stdout=subprocess.PIPE, text=True
    )
    messages = (json.loads(line) for line in output.stdout.splitlines())
    return next(m["executable"] for m in messages if m.get("executable"))


def component(file: str, function: str) -> str:
    """The component that a line of `file`, compiled into `function`, belongs to."""
    found = re.search(r"sojourn-(\w+)/src/(.*)", file)
    if not found or found[2].startswith(NEUTRAL):
        found = re.search(r"sojourn_(\w+)::([\w:]+)", function)
    crate, module = (found[1], found[2].replace("::", "/")) if found else ("", "")
    path = crate if crate in WINGS else module
    return next((name for start, name in COMPONENTS.items() if path.startswith(start)), OTHER)


def read(profile: str) -> Counter[str]:
    """Instructions by component, from a profile in callgrind's format."""
    names: dict[tuple[str, str], str] = {}

    def named(kind: str, text: str) -> str:
        number, _, name = text.partition(" ")
        return names.setdefault((kind, number), name)

    counts: Counter[str] = Counter()
    file = function = ""
    called = False
    for line in profile.splitlines():
        key, equals, rest = line.partition("=")
        if equals and key in {"fl", "fi", "fe"}:
            file = named("file", rest)
        elif equals and key in {"cfi", "cfl"}:
            named("file", rest)
        elif equals and key in {"fn", "cfn"}:
            name = named("function", rest)
            function = name if key == "fn" else function
        elif key == "calls":
            called = True
        elif re.match(r"[-+*\d]", line):
            # What follows a call is the callee's cost, which is counted there.
            if not called:
                counts[component(file, function)] += int(line.split()[1])
            called = False
    return counts


def profiled(program: str, workload: str, *options: str) -> tuple[str, list[float]]:
    """The profile of a run of `workload`, and what the program tells of it."""
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "profile"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *options]
        command += [program, workload]
        output = subprocess.run(command, check=True, capture_output=True, text=True)
        told = [float(number) for number in output.stdout.split()]
        return profile.read_text(encoding="utf-8"), told


def counted(program: str, workload: str, place: int = DATA) -> tuple[Counter[str], float]:
    """Instructions of a run of `workload` by component, and its packets, told in that `place`."""
    profile, told = profiled(program, workload)
    return read(profile), told[place]


def main(workload: str, *on_links: str) -> None:
    """Runs `workload` under callgrind and prints the table."""
    counts, packets = counted(binary(lines=True), workload, ON_LINKS if on_links else DATA)
    for name, count in counts.most_common():
        print(f"{name:34} {count / packets:7.0f} {count / counts.total():6.1%}")
    print(f"{'all':34} {counts.total() / packets:7.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:])

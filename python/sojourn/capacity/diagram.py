"""The paths within a deadline as a zero-suppressed decision diagram (graphillion).

Kawahara et al., "Frontier-based search for enumerating all constrained subgraphs with compressed
representation" (2017). The diagram is built in a process of its own, whose memory is limited: it
can outgrow any machine, and the library then ends the process.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from subprocess import PIPE, Popen, TimeoutExpired

from sojourn.capacity import frontier
from sojourn.capacity.network import Network

#: Diagrams take sums of latencies of 32 bits.
_LARGEST_LATENCY = 2**31 - 1
Pair = tuple[int, int]


@dataclass(frozen=True)
class Limits:
    """How large a diagram may become, and how many paths are listed."""

    #: Bytes of the process that builds it.
    memory: int = 2 << 30
    seconds: float = 10.0
    #: Paths of a pair of nodes.
    listed: int = 1000


@dataclass
class Paths:
    """How many paths join two nodes in time, and which."""

    count: int
    seconds: float
    #: Arcs of each, or ``None`` where there are more than were asked for.
    listed: list[tuple[int, ...]] | None


@dataclass
class Diagrams:
    """The paths of each pair of nodes, as far as their diagrams could be built."""

    paths: dict[Pair, Paths] = field(default_factory=dict)
    #: Why some are missing.
    failure: str = ""


def count_paths(
    network: Network, pairs: Sequence[Pair], deadline: float, limits: Limits
) -> Diagrams:
    """Counts the paths of each pair within a deadline; lists those of pairs with few."""
    if find_spec("graphillion") is None:
        return Diagrams(failure="graphillion, which counts paths, is not installed")
    if sum(arc.latency for arc in network.arcs) > _LARGEST_LATENCY:
        return Diagrams(failure="latencies are too fine for a diagram of the paths")
    jobs = [job_of(network, pair, deadline) for pair in pairs]
    limits = replace(limits, memory=_allowed(limits.memory))
    request = json.dumps({"memory": limits.memory, "listed": limits.listed, "jobs": jobs})
    lines, failure = _build(request, limits)
    done = Diagrams()
    for pair, job, line in zip(pairs, jobs, lines, strict=False):
        listed = None
        if (found := line["listed"]) is not None:
            listed = [_oriented(network, pair[0], [job["arcs"][e] for e in p]) for p in found]
        done.paths[pair] = Paths(line["count"], line["seconds"], listed)
    if len(lines) < len(jobs):
        done.failure = failure
    return done


def _allowed(memory: int) -> int:
    """As much of it as a process may take here: its limit is handed down, and cannot be raised."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    return memory if most == resource.RLIM_INFINITY else min(memory, most)


def _build(request: str, limits: Limits) -> tuple[list[frontier.Found], str]:
    """What the process printed before it was done or had to stop, and why it had to."""
    # One thread: the library's threads would mostly wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, frontier.__file__]
    overtime = False
    with Popen(
        command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, text=True
    ) as process:
        try:
            text, said = process.communicate(request, timeout=limits.seconds)
        except TimeoutExpired:
            overtime = True
            process.kill()
            text, said = process.communicate()
    found = [json.loads(line) for line in text.split("\n")[:-1]]
    if overtime:
        return found, f"the diagram of the paths does not fit in {limits.seconds:g} s"
    if "bad_alloc" in said or "MemoryError" in said:
        return found, f"the diagram of the paths does not fit in {limits.memory / 1e6:.0f} MB"
    last = said.rstrip().rpartition("\n")[2]
    return found, f"what counts paths ended with status {process.returncode}: {last}"


def job_of(network: Network, pair: Pair, deadline: float) -> frontier.Job:
    """What the process needs: edges on paths within the deadline, links beside others split."""
    source, target = pair
    ahead = network.latencies(source)
    left = network.latencies(target, backwards=True)
    edges: list[tuple[int, int, int]] = []
    arcs: list[int] = []
    seen: set[Pair] = set()
    middle = len(network.names)
    step = 2 if network.duplex else 1
    for index in range(0, len(network.arcs), step):
        around = network.arcs[index : index + step]
        if all(ahead[a.tail] + a.latency + left[a.head] > deadline for a in around):
            continue
        tail, head, latency = around[0].tail, around[0].head, around[0].latency
        if (tail, head) in seen:
            edges.append((tail, middle, latency))
            arcs.append(index)
            tail, latency, middle = middle, 0, middle + 1
        seen.update({(tail, head), (head, tail)} if network.duplex else {(tail, head)})
        edges.append((tail, head, latency))
        arcs.append(index)
    bound = min(deadline, sum(edge[2] for edge in edges))
    return {
        "source": source,
        "target": target,
        "directed": not network.duplex,
        "edges": edges,
        "arcs": arcs,
        "deadline": int(bound),
    }


def _oriented(network: Network, source: int, links: Iterable[int]) -> tuple[int, ...]:
    """The arcs of a path from the source, given the first arcs of its links in any order."""
    ahead = set(links)
    node, walked = source, []
    while ahead:
        arc = next(a for a in network.out[node] if network.link(a) in ahead)
        ahead.remove(network.link(arc))
        walked.append(arc)
        node = network.arcs[arc].head
    return tuple(walked)

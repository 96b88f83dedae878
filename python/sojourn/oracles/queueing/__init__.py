"""Queues that are exact, and closed forms of their means: what theory says of transfers.

No paper and no cells: a run's own arrivals and works are fed to an exact queue. Both have the same
draws then, and what is left is what the network does otherwise. A closed form is the mean over all
draws: it is worth comparing only where the run's interval is narrow.

Times have one unit of the caller's choice throughout, and works are times of service: bytes on the
wire by the link's rate. In integers (ns), the waits are exact.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class _Sharing:
    """A server that gives each of its jobs the same share.

    Its clock of virtual time goes by as much as each job is served. A job that arrives at virtual
    time v with work w leaves at v + w, whatever else arrives: a heap has them in order.
    """

    def __init__(self, jobs: int) -> None:
        self.departures = np.full(jobs, np.nan)
        self._present: list[tuple[float, int]] = []
        self._now = 0.0
        self._virtual = 0.0

    def advance(self, until: float) -> None:
        """Serves until then; jobs that are done leave."""
        while self._present:
            leaves, job = self._present[0]
            now = self._now + (leaves - self._virtual) * len(self._present)
            if now > until:
                self._virtual += (until - self._now) / len(self._present)
                break
            heappop(self._present)
            self._virtual, self._now = leaves, now
            self.departures[job] = now
        self._now = until

    def add(self, job: int, work: float) -> None:
        """A job arrives now. An idle server's clock begins anew, which keeps its digits."""
        if not self._present:
            self._virtual = 0.0
        heappush(self._present, (self._virtual + work, job))


def ps(arrivals: ArrayLike, works: ArrayLike) -> NDArray[np.float64]:
    """When each job leaves a processor-sharing queue: n jobs at a time are served at 1/n each.

    Args:
        arrivals: times of shape (n,) that do not fall.
        works: times of service that each job would take alone, of shape (n,).

    Returns:
        Departures of shape (n,), in the order of the arrivals.

    Raises:
        ValueError: if arrivals fall, works are negative, or the shapes differ.

    """
    times, services = _jobs(arrivals, works)
    server = _Sharing(len(times))
    for job, (time, work) in enumerate(zip(times.tolist(), services.tolist(), strict=True)):
        server.advance(time)
        server.add(job, work)
    server.advance(inf)
    return server.departures


def lindley(arrivals: ArrayLike, services: ArrayLike) -> NDArray[Any]:
    """How long each job waits for its service, first come first served (Lindley's recursion).

    W[0] = 0 and W[n+1] = max(0, W[n] + services[n] - (arrivals[n+1] - arrivals[n])): a random walk
    above its least value so far.

    Args:
        arrivals: times of shape (n,) that do not fall.
        services: times of service of shape (n,).

    Returns:
        Waits of shape (n,); exact integers if both are integers.

    Raises:
        ValueError: if arrivals fall, services are negative, or the shapes differ.

    """
    times, needed = _jobs(arrivals, services)
    walk = np.zeros_like(needed - times)
    np.cumsum(needed[:-1] - np.diff(times), out=walk[1:])
    return walk - np.minimum.accumulate(walk)


def pk_md1(rho: float) -> float:
    """Mean wait of M/D/1 by Pollaczek and Khinchine, in times of service: rho / (2 (1 - rho)).

    Raises:
        ValueError: unless ``rho`` is at least 0 and less than 1.

    """
    if not 0 <= rho < 1:
        raise ValueError(f"rho: {rho} given; allowed: 0 to less than 1")
    return rho / (2 * (1 - rho))


def mean_present(arrivals: ArrayLike, departures: ArrayLike, start: float, stop: float) -> float:
    """How many jobs are there on average from ``start`` to ``stop``; by Little's law, the rate of
    arrivals times the mean stay if the queue is empty at both.

    Args:
        arrivals: times of shape (n,).
        departures: times of the same jobs; NaN or infinity for those that stay.
        start: beginning of the time.
        stop: its end.

    """
    gone = np.asarray(departures, dtype=float)
    left = np.clip(np.where(np.isnan(gone), inf, gone), start, stop)
    stays = left - np.clip(np.asarray(arrivals, dtype=float), start, stop)
    return float(stays.sum() / (stop - start))


def _jobs(arrivals: ArrayLike, works: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    times, services = np.asarray(arrivals), np.asarray(works)
    if times.shape != services.shape or times.ndim != 1:
        raise ValueError(f"works: shape {services.shape} given; expected {times.shape}")
    if (np.diff(times) < 0).any():
        raise ValueError("arrivals: times that fall; sort them, and the works with them")
    if (services < 0).any():
        raise ValueError(f"works: {services.min()} given; allowed: 0 or more")
    return times, services

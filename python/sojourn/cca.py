"""Congestion controls written in Python.

A scenario names one by its file and its class, and gives it parameters::

    cca = { kind = "python", path = "mine.py", class = "Mine", beta = 0.7 }

A class of this kind derives from :class:`Control`. ``sojourn new cca NAME --language python``
writes one that runs. Times and spans are in seconds, rates in bits per second, windows in segments.
"""

from __future__ import annotations

from sojourn._internal import Ack, Decision, Event, Init, Lost, RateSample, Sent
from sojourn.conformance import conformance
from sojourn.external.control import INFINITE_SSTHRESH, Control

__all__ = [
    "INFINITE_SSTHRESH",
    "Ack",
    "Control",
    "Decision",
    "Event",
    "Init",
    "Lost",
    "RateSample",
    "Sent",
    "conformance",
]

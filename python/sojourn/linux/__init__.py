"""Congestion controls and queue disciplines that are sources of the Linux kernel, unchanged.

A source is compiled against the headers in ``kernel/``, which are ours, into a shared library that
the core drives. Compiling runs none of its code: that is for worker processes, as with everything
from outside (:mod:`sojourn.external`).
"""

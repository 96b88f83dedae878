"""Congestion controls that bring their own code: classes in Python, shared libraries.

Their code runs only in worker processes (:mod:`sojourn.executors.processes`): here is what a worker
does with it, and what the rest of the package may know without running it.
"""

"""A congestion control put through a suite of experiments, and judged against others.

A suite is data: which files, over which paths and numbers of flows, judged by what. Packages bring
it as an entry point of the group ``sojourn.suites``.
"""

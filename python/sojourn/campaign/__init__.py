"""Campaigns: cases that are planned, named by a key, done by an executor, stored as they end, and
not done again. Sweeps, reproductions, the conformance suite and the kernels' tables are campaigns.
"""

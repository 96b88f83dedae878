"""Kernels in virtual time: built from their sources, kept in a cache."""

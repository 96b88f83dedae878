"""Oracles of our own: closed forms, and tables that were measured on Linux's kernels."""

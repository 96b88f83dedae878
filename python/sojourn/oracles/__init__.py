"""Oracles of our own: closed forms, exact queues, and tables measured on Linux's kernels."""

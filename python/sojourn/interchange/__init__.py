"""Runs from files of other programs, and files for other programs from runs."""

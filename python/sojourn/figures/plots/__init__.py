"""Figures that a person asks for: values of a run or a sweep over chosen axes."""

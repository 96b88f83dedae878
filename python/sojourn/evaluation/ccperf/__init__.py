"""A congestion control put through a suite of experiments, and judged against others."""

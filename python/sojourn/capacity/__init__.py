"""What any scheme can carry within a deadline: latency-constrained network capacity.

The problem of section 2.3 of the GNAT report (Raytheon BBN, 2021): links have a capacity and a
fixed latency, and the same rate must reach every destination of a session over paths whose latency
does not exceed the deadline.
"""

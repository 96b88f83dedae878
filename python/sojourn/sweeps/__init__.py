"""Sweeps: grid x replications, run on all cores, stored as they go."""

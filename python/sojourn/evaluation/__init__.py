"""What is better, where, and how sure: runs, sweeps and folders of sweeps against each other."""

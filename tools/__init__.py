"""What only developers of Sojourn run: pages, tables that kernels give, renewals."""

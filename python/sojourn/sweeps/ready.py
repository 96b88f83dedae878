"""Imported by what local workers of a cluster are forked from: all that they need, once."""

import pandas  # noqa: F401  (Dask imports it in each worker)

import sojourn.sweeps.work  # noqa: F401
from sojourn.build import identity
from sojourn.executors import remote  # noqa: F401

identity()

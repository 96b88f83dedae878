"""What replications tell: intervals, comparisons of many pairs at once, how many runs it takes.

Everything rests on scipy and statsmodels; random draws within are fixed, so that the same values
give the same answer.
"""

from sojourn.statistics.intervals import Interval, mean_interval, quantile_interval
from sojourn.statistics.judge import Finding, Pair, Verdict, judge, replications_needed
from sojourn.statistics.stopping import Until

__all__ = [
    "Finding",
    "Interval",
    "Pair",
    "Until",
    "Verdict",
    "judge",
    "mean_interval",
    "quantile_interval",
    "replications_needed",
]

"""Every metric lies in the range that it declares, in runs of any kind."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import sojourn
from sojourn.metrics import metrics, values

CONTROLS = ("reno", "cubic", "bbr", "vegas", "ledbat", "copa")
LINKS = (
    "",
    "jitter = { spread = '1 ms' }",
    "jitter = { spread = '300 ms', reorder = true }",
    "loss = '2 %'",
    "duplicate = '1 %'",
)


def scenario(draw: random.Random) -> str:
    """Few flows over a slow link for a short time: where a packet is much."""
    text = f"""
        name = "any"
        duration = "{draw.choice([0.8, 1.5, 3])} s"
        seed = {draw.randrange(2**32)}
        {draw.choice(["", "warmup = '500 ms'"])}
        [topology]
        kind = "dumbbell"
        [topology.bottleneck]
        rate = "{draw.choice([0.1, 1, 10])} Mbit/s"
        queue = {{ kind = "{draw.choice(["fifo", "codel", "pie", "fq_codel"])}" }}
        {draw.choice(LINKS)}
    """
    for _ in range(draw.randint(1, 3)):
        start = draw.choice([0, 0.3])
        text += f"""
            [[flows]]
            cca = "{draw.choice(CONTROLS)}"
            rtt = "{draw.choice([1, 20, 150])} ms"
            start = "{start} s"
            {draw.choice(["", f"stop = '{start + 0.4} s'"])}
        """
    return text


def check(seed: int) -> None:
    text = scenario(random.Random(seed))
    run = sojourn.run(text)
    for metric in metrics():
        if metric.on_request:
            continue
        found = values(run.data, metric)
        known = found[~np.isnan(found)]
        slack = 1e-9 * (abs(metric.high) if math.isfinite(metric.high) else 1)
        outside = known[(known < metric.low - slack) | (known > metric.high + slack)]
        assert not len(outside), f"seed {seed}: {metric.scope} {metric.name}: {outside}: {text}"
    below = run.flows["mean_est_qdelay_l4"] + 1e3 * run.data.flow.base_rtt
    assert (below.drop_nulls().drop_nans() > 0).all()
    for table in ("flow_samples", "link_samples"):
        for name, column in run.data.tables[table].items():
            if name.endswith(("_bytes", "_count", "_sum")):
                assert np.nanmin(np.asarray(column, dtype=float)) >= 0, f"seed {seed}: {name}"


def test_random_runs_stay_in_range() -> None:
    for seed in range(25):
        check(seed)


@pytest.mark.long
def test_many_random_runs_stay_in_range() -> None:
    for seed in range(25, 2000):
        check(seed)


def test_ranges_are_declared() -> None:
    shares = {m.name for m in metrics() if m.high == 1}
    assert {"utilization_l1", "bottleneck_share_l4", "mean_jains_fairness_throughput_l4"} < shares
    assert all(m.low < m.high for m in metrics())

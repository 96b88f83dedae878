"""The playground's metrics are the package's: both come to what a stored file has.

`crates/sojourn-wasm/tests/summaries.json` has scenarios and the numbers of their runs. Here they
are computed by the package, and by the crate's own test (`summary/tests.rs`) in Rust, so that
neither needs the other's build. ``BLESS=1`` writes the numbers anew.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn
from sojourn.metrics import Scope, compute

FILE = Path(__file__).parents[1] / "crates/sojourn-wasm/tests/summaries.json"
METRICS: Mapping[Scope, tuple[str, ...]] = {
    "flow": (
        "mean_throughput_l4",
        "bottleneck_share_l4",
        "mean_srtt_l4",
        "p95_rtt_l4",
        "mean_cwnd_l4",
        "total_retransmissions_l4",
        "total_rtos_l4",
        "flow_completion_time_l4",
    ),
    "link": (
        "utilization_l1",
        "mean_qdisc_delay_l2",
        "p95_qdisc_delay_l2",
        "total_qdisc_drops_l2",
        "total_qdisc_marks_l2",
    ),
    "net": ("mean_agg_throughput_l4", "jains_fairness_of_means_throughput_l4"),
}
CASES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))


def summary(text: str) -> dict[Scope, dict[str, Any]]:
    """The metrics that the playground shows, as it writes them."""
    data = sojourn.run(text).data
    found: dict[Scope, dict[str, Any]] = {}
    for scope, names in METRICS.items():
        of_scope = {
            name: [float(value) if math.isfinite(value) else None for value in values]
            for name, values in compute(data, scope, names).items()
        }
        alone = scope == "net"
        found[scope] = {name: of_scope[name][0] if alone else of_scope[name] for name in names}
    return found


@pytest.mark.filterwarnings("ignore::sojourn.errors.ScenarioWarning")
def test_the_package_comes_to_the_stored_summaries() -> None:
    found = [summary("\n".join(case["scenario"])) for case in CASES]
    if os.environ.get("BLESS"):
        told = [{**case, "summary": metrics} for case, metrics in zip(CASES, found, strict=True)]
        FILE.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    stored = json.loads(FILE.read_text(encoding="utf-8"))
    for case, metrics in zip(stored, found, strict=True):
        for scope, of_scope in metrics.items():
            for name, values in of_scope.items():
                expected, computed = (
                    np.array(numbers, dtype=float)
                    for numbers in (case["summary"][scope][name], values)
                )
                assert computed == pytest.approx(expected, rel=1e-9, nan_ok=True), (
                    case["name"],
                    name,
                )

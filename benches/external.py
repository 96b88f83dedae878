"""How many ACKs per second of one core a control written in Python handles.

Run: ``.venv/bin/python benches/external.py``
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from sojourn.executors import processes
from sojourn.external import inside
from sojourn.scenario import load

AIMD = Path(__file__).parents[1] / "examples" / "own-control-python" / "aimd.py"


def measure(cca: object) -> float:
    """ACKs per second of one flow at 1 Gbit/s for a minute, with everything around them."""
    scenario = {
        "duration": "60 s",
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "1 Gbit/s"}},
        "flows": [{"cca": cca, "rtt": "40 ms"}],
    }
    text = json.dumps(load(scenario).canonical)
    began = time.perf_counter()
    columns = processes.call(inside.run, text, {})
    wall = time.perf_counter() - began
    return float(columns["flow_samples"]["acks_sent"].sum() / wall)


if __name__ == "__main__":
    for name, cca in {
        "reno, built in": "reno",
        "AIMD in Python": {"kind": "python", "path": str(AIMD), "class": "Aimd"},
    }.items():
        print(f"{name}: {measure(cca):,.0f} ACKs/s")

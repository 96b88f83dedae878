"""What a directory of an evaluation is told by."""

from __future__ import annotations

from sojourn.build import definitions, engine
from sojourn.evaluation.ccperf.run import Request
from sojourn.store.manifest import Manifest
from sojourn.store.place import Tenant

KIND = "evaluation"


def content(request: Request) -> Manifest:
    """The manifest of an evaluation's directory."""
    suites = {
        experiment.name: [[path, s.document] for path, s in experiment.cases(quick=request.quick)]
        for experiment in request.chosen()
    }
    return {
        "engine": engine(),
        "metrics": definitions(),
        "controls": list(request.controls),
        "against": list(request.against),
        "quick": request.quick,
        "suite": suites,
    }


def tenant(request: Request) -> Tenant:
    """The suite is the same in one directory; controls may come and go."""
    here = content(request)

    def differs(found: Manifest) -> str:
        return "" if found["suite"] == here["suite"] else "of other experiments"

    name = f"evaluation-{'-'.join(request.controls)}"
    short = name if len(name) < 60 else "evaluation"
    return Tenant(KIND, short, f"{short}-suite", here, differs)

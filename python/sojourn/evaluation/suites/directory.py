"""What a directory of an evaluation is told by."""

from __future__ import annotations

from sojourn.backends import backend
from sojourn.build import definitions, engine
from sojourn.evaluation.suites.run import Request
from sojourn.origin import told
from sojourn.store.manifest import Manifest
from sojourn.store.place import Tenant

KIND = "evaluation"


def content(request: Request) -> Manifest:
    """The manifest of an evaluation's directory."""
    suites = {
        experiment.name: [[path, s.document] for path, s in experiment.cases(quick=request.quick)]
        for experiment in request.chosen()
    }
    on = backend(request.backend)
    origin = on.key()
    return {
        "engine": engine(),
        "metrics": definitions(),
        "controls": list(request.controls),
        "against": list(request.against),
        "quick": request.quick,
        "suite": suites,
        **({"backend": on.name, "origin": origin} if origin else {}),
    }


def tenant(request: Request) -> Tenant:
    """The suite and the backend are the same in one directory; controls may come and go."""
    here = content(request)
    origin = here.get("origin", {})

    def differs(found: Manifest) -> str:
        theirs = found.get("origin", {})
        if theirs != origin:
            return f"{told(theirs)}, not {told(origin)}"
        return "" if found["suite"] == here["suite"] else "of other experiments"

    ran_on = [origin["backend"]] if origin else []
    name = "-".join(["evaluation", *request.controls, *ran_on])
    short = name if len(name) < 60 else "-".join(["evaluation", *ran_on])
    return Tenant(KIND, short, f"{short}-suite", here, differs)

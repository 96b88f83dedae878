"""What a directory of a sweep is told by."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import asdict

from sojourn.build import definitions, engine
from sojourn.origin import told
from sojourn.scenario import Document, Scenario
from sojourn.store.difference import difference
from sojourn.store.manifest import Manifest
from sojourn.store.place import Tenant
from sojourn.sweeps.axes import Labelled, labelled
from sojourn.sweeps.expand import Plan

KIND = "sweep"
#: What a scenario has that names none: a sweep of it is the one that names this.
DEFAULT_SEED = 1


def content(plan: Plan) -> Manifest:
    """The manifest of a sweep's directory."""
    labels = labelled(plan.grid)
    return {
        "engine": engine(),
        "metrics": definitions(plan.requested),
        "document": plan.document,
        "grid": dict(plan.grid),
        **({"labels": labels} if labels else {}),
        "replications": plan.replications,
        "until": asdict(plan.until) if plan.until else None,
        "start_jitter": plan.start_jitter,
        "shard": list(plan.shard),
        "sources": dict(plan.sources),
        **({"programs": [*map(list, plan.programs)]} if plan.programs else {}),
        **({"backend": plan.backend, "origin": dict(plan.origin)} if plan.origin else {}),
    }


def tenant(scenario: Scenario, plan: Plan) -> Tenant:
    """All but the grid and the replications is the same in one directory: these may grow. A part
    of a sweep, and one on another backend than the simulator, has a directory of its own unless
    told otherwise.
    """
    own = json.loads(json.dumps(content(plan)))
    here = _base(own)

    def differs(found: Manifest) -> str:
        if not is_on(found, plan):
            return f"{told(found.get('origin', {}))}, not {told(plan.origin or {})}"
        renamed = _renamed(found.get("labels", {}), own.get("labels", {}))
        if renamed:
            return f"{renamed} stands for another value there"
        edited = edits(found, plan.sources)
        if edited:
            return f"{', '.join(edited)} has been edited since"
        replaced = _replaced(found, own)
        if replaced:
            return f"{', '.join(replaced)} was another program then"
        return difference(_base(found), here)

    part, parts = plan.shard
    name = scenario.name if plan.origin is None else f"{scenario.name}-{plan.origin['backend']}"
    name = f"{name}-{part}-of-{parts}" if parts > 1 else name
    return Tenant(KIND, name, f"{name}-sweep", content(plan), differs)


def with_labels(found: Manifest, here: Manifest) -> Manifest:
    """The manifest with the labels that another one has too: of values that the grid has lost,
    whose runs are still there.
    """
    before, after = found.get("labels", {}), here.get("labels", {})
    every = {axis: before.get(axis, {}) | after.get(axis, {}) for axis in (*before, *after)}
    return {**here, "labels": every} if every else here


def with_programs(found: Manifest, here: Manifest) -> Manifest:
    """The manifest with the programs that another one has too, as of labels."""
    pairs = itertools.zip_longest(*(one.get("programs", ()) for one in (here, found)), fillvalue=())
    every = [[*mine, *(one for one in theirs if one not in mine)] for mine, theirs in pairs]
    return {**here, "programs": every} if every else here


def is_on(found: Manifest, plan: Plan) -> bool:
    """Whether the sweep of a manifest was run on the backend of a plan."""
    return dict(found.get("origin") or {}) == dict(plan.origin or {})


def edits(found: Manifest, sources: Mapping[str, str]) -> list[str]:
    """The files of code from outside that were others when the sweep of a manifest was run."""
    theirs = found.get("sources", {})
    return [path for path, digest in sources.items() if theirs.get(path, digest) != digest]


def _replaced(found: Manifest, here: Manifest) -> list[str]:
    """The files of programs that were others when the sweep of a manifest was run."""
    before, now = (
        {one["executable"]: one["digest"] for place in told for one in place if "digest" in one}
        for told in (found.get("programs", ()), here.get("programs", ()))
    )
    return [path for path, digest in now.items() if before.get(path, digest) != digest]


def _renamed(found: Labelled, here: Labelled) -> str:
    """A label that does not mean what it meant, with its axis; empty if there is none."""
    for axis, values in here.items():
        for label, value in values.items():
            if found.get(axis, {}).get(label, value) != value:
                return f"{label!r} of {axis}"
    return ""


def _base(found: Manifest) -> Document:
    sweep = {"start_jitter": found.get("start_jitter")}
    return {"seed": DEFAULT_SEED, **found["document"], "sweep": sweep}

"""The JSON schema of scenario files, by which editors check them."""

from __future__ import annotations

import json

from sojourn import _internal
from sojourn.json_types import Json

_RULE: Json = {
    "type": "object",
    "description": "As many as make the confidence interval of a metric's mean so narrow.",
    "properties": {
        "until": {"type": "string", "description": "Half its width as a share, such as 5 %."},
        "of": {"type": "string", "description": "The metric."},
        "min": {"type": "integer", "description": "Replications of the pilot."},
        "max": {"type": "integer", "description": "At most so many."},
    },
    "required": ["until", "of"],
    "additionalProperties": False,
}
_FILE: Json = {"type": "string", "description": "A file of such times, one per line."}
_TABLE: Json = {
    "type": "string",
    "description": "A file of comma-separated values, with such columns.",
}
#: The key of arrivals, by kind, in whose place there may be the path of a file.
_BY_PATH = {"file": "time", "empirical": "points"}
#: The core knows neither it nor the files of traces and arrivals, which the package reads.
_SWEEP: Json = {
    "type": "object",
    "description": "A grid of runs: sojourn sweep.",
    "properties": {
        "replications": {
            "description": "Runs of each point, with seeds that follow each other; or a rule.",
            "anyOf": [{"type": "integer", "minimum": 1}, _RULE],
        },
        "start_jitter": {"type": "string", "description": "How far starts move, at most."},
        "metrics": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Metrics that take further runs of each point.",
        },
        "grid": {
            "type": "object",
            "description": "Values of fields by their paths; a table's name is its label.",
            "additionalProperties": {"type": "array", "minItems": 1},
        },
        "cases": {
            "type": "array",
            "description": "Values of several fields that go together, by their paths.",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string", "description": "The case's label."}},
                "required": ["name"],
            },
        },
    },
    "additionalProperties": False,
}


def schema() -> dict[str, Json]:
    """JSON Schema (2020-12) of whole files: the core's, with all members of its catalogue and what
    brings its code along, the sweep and files.
    """
    made = json.loads(_internal.schema())
    made["properties"]["sweep"] = _SWEEP
    _allow_files(made)
    return made


def _allow_files(node: Json) -> None:
    """Lets a trace, arrivals and a distribution be in a file, wherever there may be one."""
    if isinstance(node, list):
        for child in node:
            _allow_files(child)
    if isinstance(node, dict):
        for child in node.values():
            _allow_files(child)
        keys = node.get("properties")
        if isinstance(keys, dict) and "opportunities" in keys:
            del node["required"]
            keys["file"] = _FILE
            node["anyOf"] = [{"required": [key]} for key in ("opportunities", "file")]
        kind = keys.get("kind") if isinstance(keys, dict) else None
        key = _BY_PATH.get(str(kind.get("const"))) if isinstance(kind, dict) else None
        if key is not None and isinstance(keys, dict) and key in keys:
            node["required"] = ["kind"]
            keys["path"] = _TABLE
            node["anyOf"] = [{"required": [key]}, {"required": ["path"]}]

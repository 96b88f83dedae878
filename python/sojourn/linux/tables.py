"""What a scenario says of a kernel source: ``kind = "linux"``, its file and how it is compiled."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from sojourn import _internal, literal
from sojourn.errors import refused
from sojourn.json_types import Fields
from sojourn.linux import compiler
from sojourn.linux.source import Source
from sojourn.names import unknown

_BOTH = ("kind", "source", "version", "hz", "observe", "digest", "abi")
#: Keys of a table that are not parameters of the module.
KEYS: Mapping[compiler.Shim, tuple[str, ...]] = {"control": _BOTH, "queue": (*_BOTH, "masquerade")}
_DEFAULTS: Mapping[str, object] = {"version": "6.1", "hz": 1000, "observe": []}
_MASQUERADES = ("none", "source", "destination")


def completed(table: Fields, shim: compiler.Shim) -> dict[str, object]:
    """The table with its defaults and the digest of what is compiled; compiles it.

    Raises:
        ScenarioError: naming the key, what was given and what is allowed.

    """
    made: Fields = {**_DEFAULTS, **table}
    _check(made)
    if shim == "queue":
        made = {"masquerade": "none", **made}
        _check_masquerade(made["masquerade"])
    source = Source(Path(made["source"]))
    try:
        files = source.files
    except OSError as error:
        raise refused(
            "source", f"{error.filename or source.path}: cannot be read: {error.strerror}"
        ) from None
    if made["observe"] and source.state is None:
        raise refused("observe", f"{files[0]} has no private state that could be recognised")
    digest = compiler.digest(source, _options(made, shim))
    if made.get("digest", digest) != digest:
        message = f"{source.path} has changed since the scenario was read; read the scenario again"
        raise refused("source", message)
    _library(made, shim)
    return {**made, "digest": digest}


def described(table: Fields) -> dict[str, object]:
    """The table with the module's parameters at their values; runs the module's code."""
    given = {key: value for key, value in table.items() if key not in KEYS["control"]}
    library = str(_library(table, "control"))
    told = json.loads(_internal.describe_library(json.dumps({"path": library, **given})))
    del told["path"]
    return {key: table[key] for key in KEYS["control"] if key in table} | told


def checked(table: Fields) -> dict[str, object]:
    """The table of a queue discipline, whose keys are attributes of its policy."""
    policy = Source(Path(table["source"])).policy
    names = list(policy[1]) if policy else []
    for key, value in table.items():
        if key in KEYS["queue"]:
            continue
        if key not in names:
            raise refused(key, unknown("attribute", key, names))
        if not _is_attribute(value):
            raise refused(
                key, f"{literal.given(value)} given; expected a number, or a list of bytes"
            )
    return dict(table)


def _is_attribute(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(byte, int) and 0 <= byte <= 255 for byte in value)
    return isinstance(value, (bool, int, float))


def loadable(text: str, shim: compiler.Shim) -> str:
    """The table, in JSON, as that of a shared library: one file for each set of parameters, which
    the module keeps in globals.
    """
    table = json.loads(text)
    given = {key: value for key, value in table.items() if key not in KEYS[shim]}
    kept = _library(table, shim)
    name = hashlib.blake2b(json.dumps(given, sort_keys=True).encode(), digest_size=8).hexdigest()
    own = kept.with_suffix(f".{name}.so")
    if not own.exists():
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as copy:
            shutil.copyfile(kept, copy.name)
            Path(copy.name).replace(own)
    return json.dumps({"path": str(own), **given})


def _library(table: Fields, shim: compiler.Shim) -> Path:
    source = Source(Path(table["source"]))
    return compiler.library(source, shim, _options(table, shim))


def _options(table: Fields, shim: compiler.Shim) -> tuple[str, ...]:
    return compiler.options(Source(Path(table["source"])), shim, table)


def _check_masquerade(given: object) -> None:
    if given not in _MASQUERADES:
        told = f"{literal.given(given)} given; expected none, source or destination"
        raise refused("masquerade", told)


def _check(table: Fields) -> None:
    source, version, hz, observed = (table.get(key) for key in _BOTH[1:5])
    if not isinstance(source, str):
        raise refused("source", "is missing; expected the file of a kernel module's source")
    if version not in compiler.VERSIONS:
        raise refused("version", unknown("version", str(version), compiler.VERSIONS))
    if type(hz) is not int or hz not in (100, 250, 300, 1000):
        raise refused("hz", f"{literal.given(hz)} given; expected 100, 250, 300 or 1000")
    if not isinstance(observed, list) or not all(isinstance(name, str) for name in observed):
        raise refused(
            "observe", f"{literal.given(observed)} given; expected names of fields in a list"
        )
    for name in observed:
        if not name.replace(".", "_").replace("[", "_").replace("]", "_").isidentifier():
            raise refused("observe", f"{literal.given(name)} is not the name of a field")

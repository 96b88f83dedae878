"""Scenarios: read from a file, text or mapping, changed with ``path=value``, validated."""

from __future__ import annotations

import copy
import itertools
import json
import warnings
from collections.abc import Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import _internal, arrival_files, literal, regular_file, traces
from sojourn.errors import ScenarioError, ScenarioWarning, refused
from sojourn.experiments import located
from sojourn.json_types import Fields, Json
from sojourn.located import settle
from sojourn.names import unknown

#: A path to a TOML file, TOML text (with a line break), or the same as a mapping.
Source = str | Path | Fields
#: A scenario, or a table of it, that can be changed: see :data:`sojourn.json_types.Fields`.
Document = dict[str, Any]
# Fields that may be written as a bare name or as a table with `kind`.
_NAMED = {"cca", "queue", "traffic", "topology", "process", "size"}
#: Of a key, and of a text: as long as the longest name of a file.
_LONGEST_KEY, _LONGEST_TEXT = 200, 4096


@dataclass(frozen=True)
class Scenario:
    """A validated scenario."""

    #: As it was written, overrides applied.
    document: Document
    #: The same with every default filled in and one spelling for everything.
    canonical: Document
    #: The file's sweep table, if it has one.
    sweep: Document | None = None

    @property
    def name(self) -> str:
        """Names the results."""
        return str(self.canonical["name"])

    @property
    def seed(self) -> int:
        """Seed of all random draws."""
        return int(self.canonical["seed"])


def read(source: Source) -> Document:
    """The document as written, not validated."""
    if isinstance(source, Mapping):
        _check_lengths(source, "")
        return copy.deepcopy(dict(source))
    text = str(source)
    if isinstance(source, Path) or "\n" not in text:
        path = located(Path(source))
        try:
            text = regular_file.text(path)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "is not text in UTF-8"
            name = literal.beginning(str(path), _LONGEST_TEXT)
            raise ScenarioError(f"{name}: cannot be read: {reason}") from None
        document = _parsed(text, str(path))
        traces.inline(document, path.parent)
        arrival_files.inline(document, path.parent)
        settle(document, path.parent)
        return document
    return _parsed(text, "the scenario's text")


def _parsed(text: str, name: str) -> Document:
    try:
        document = dict(json.loads(_internal.toml_to_json(text)))
        _check_lengths(document, "")
    except ScenarioError as error:
        large = "value was too large" in str(error)
        more = (
            f"; TOML has integers up to {2**63 - 1}: give a larger seed with --seed"
            if large
            else ""
        )
        raise ScenarioError(f"{name}: {error}{more}") from None
    return document


def _check_lengths(node: object, where: str) -> None:
    """Refuses keys and texts longer than any scenario needs, before messages quote them."""
    if isinstance(node, str) and len(node) > _LONGEST_TEXT:
        told = f"{literal.given(node)} given; allowed: at most {_LONGEST_TEXT:,} characters"
        raise refused(where, told)
    children: Iterable[tuple[object, object]] = ()
    if isinstance(node, Mapping):
        children = node.items()
    elif isinstance(node, list | tuple):
        children = enumerate(node)
    for key, child in children:
        if isinstance(key, str) and len(key) > _LONGEST_KEY:
            told = f"key {literal.given(key)} given; allowed: at most {_LONGEST_KEY} characters"
            raise refused(where, told)
        if not isinstance(child, int | float):  # of which a trace has many
            _check_lengths(child, f"{where}.{key}" if where else str(key))


def load(source: Source, overrides: Iterable[str] = (), seed: int | None = None) -> Scenario:
    """Reads, overrides (``path=value``, values in TOML) and validates a scenario."""
    document = read(source)
    for override in overrides:
        apply_override(document, override)
    if seed is not None:
        document["seed"] = seed
    return validated(document)


def validated(document: Document) -> Scenario:
    """Validates a document; its ``sweep`` table is set aside."""
    document = copy.deepcopy(dict(document))
    traces.inline(document, Path())
    arrival_files.inline(document, Path())
    settle(document, Path())
    sweep = document.pop("sweep", None)
    try:
        text = json.dumps(document)
        canonical, told = _internal.validate(text)
    except (TypeError, ValueError) as error:
        if isinstance(error, ScenarioError):
            raise
        raise ScenarioError(f"the scenario holds a value that TOML has not: {error}") from None
    for warning in told:
        warnings.warn(warning, ScenarioWarning, stacklevel=2)
    return Scenario(document, json.loads(canonical), sweep)


def entries(canonical: Fields) -> tuple[Sequence[Fields], list[int]]:
    """The entries of flows, and how many flows of the run each stands for."""
    flows: Sequence[Fields] = canonical["flows"]
    return flows, [flow.get("count", 1) for flow in flows]


def expanded_flows(canonical: Fields) -> list[Document]:
    """One entry per flow of the run: ``count`` is expanded."""
    each = zip(*entries(canonical), strict=True)
    return [{**flow, "count": 1} for flow, count in each for _ in range(count)]


def apply_override(document: Document, override: str) -> None:
    """Applies one ``path=value`` to a document."""
    path, equals, text = override.partition("=")
    if not equals or not path.strip():
        raise ScenarioError(
            f"--set {literal.beginning(override)}: expected path=value, such as "
            "topology.bottleneck.rate='\"10 Mbit/s\"'"
        )
    value = parse_value(path.strip(), text.strip())
    _check_lengths({path.strip(): value}, "")
    set_path(document, path.strip(), value)


def parse_value(path: str, text: str) -> Json:
    """A TOML value; words that no TOML value starts like are taken as a string, because a shell
    strips quotation marks.
    """
    try:
        return json.loads(_internal.toml_to_json(f"value = {text}"))["value"]
    except ScenarioError:
        if text.isascii() and text.isdecimal():  # more than TOML has, as of seeds
            return int(text)
        if text and text[0] not in "\"'[{" and "\n" not in text:
            return text
        field = literal.beginning(path)
        raise ScenarioError(f"{field}: {literal.given(text)} is not a TOML value") from None


def set_path(document: Document, path: str, value: object) -> None:
    """Sets the field at ``path`` (such as ``flows.0.cca``); the fields above it must exist or be
    tables with defaults. ``*`` in the place of an index stands for all of a list's entries.
    """
    parts = path.split(".")
    if "*" in parts:
        _set_all(document, parts, value)
        return
    last = parts[-1]
    node: object = document
    walked: list[str] = []
    for part, following in itertools.pairwise(parts):
        node = _child(node, part, following, walked)
        walked.append(part)
    if isinstance(node, MutableSequence):
        node[_index(node, last, walked)] = value
    elif isinstance(node, MutableMapping):
        node[last] = value
    else:
        raise ScenarioError(
            f"{path}: {'.'.join(walked)} is {literal.given(node)}, which has no fields"
        )


def _set_all(document: Document, parts: list[str], value: object) -> None:
    """Sets the field in every entry of the list before the first ``*``."""
    star = parts.index("*")
    items: object = document
    walked: list[str] = []
    for part, following in itertools.pairwise(parts[: star + 1]):
        items = _child(items, part, following, walked)
        walked.append(part)
    if not isinstance(items, MutableSequence):
        raise ScenarioError(f"{'.'.join(parts)}: {'.'.join(walked) or 'the file'} is no list")
    for index in range(len(items)):
        path = ".".join([*parts[:star], str(index), *parts[star + 1 :]])
        set_path(document, path, copy.deepcopy(value))


def _child(node: object, part: str, following: str, walked: list[str]) -> object:
    """The table or list at ``part`` of ``node``; a bare name becomes a table with ``kind``."""
    if isinstance(node, MutableSequence):
        return node[_index(node, part, walked)]
    if not isinstance(node, MutableMapping):
        raise ScenarioError(f"{'.'.join([*walked, part])}: {'.'.join(walked)} has no fields")
    if part not in node:
        if following.isdigit():
            lists = [key for key, value in node.items() if isinstance(value, list)]
            where = ".".join([*walked, part])
            raise ScenarioError(f"{where}: {unknown('list', part, lists)}")
        node[part] = {}
    if isinstance(node[part], str) and part in _NAMED:
        node[part] = {"kind": node[part]}
    return node[part]


def _index(items: MutableSequence[object], part: str, walked: list[str]) -> int:
    where = ".".join([*walked, part])
    if not part.isdigit() or int(part) >= len(items):
        last = len(items) - 1
        allowed = f"an index from 0 to {last}" if items else "nothing: the list is empty"
        raise ScenarioError(f"{where}: no such entry; allowed: {allowed}")
    return int(part)

"""Members that are put through the suite, as people write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sojourn.catalogue import CALLED, members
from sojourn.conformance.suite import kinds
from sojourn.errors import refused
from sojourn.external.written import is_file, of_file
from sojourn.json_types import Fields
from sojourn.names import control_name, either, nearest, unknown
from sojourn.scenario import load, parse_value


@dataclass(frozen=True)
class Subject:
    """A member of a kind, with its parameters."""

    kind: str
    name: str
    #: As a scenario has it; paths are absolute.
    table: Fields


def control(written: str | type | Fields) -> Subject:
    """A congestion control: a name, a class of this program, or a table.

    Raises:
        ScenarioError: if there is none like that.

    """
    if isinstance(written, str):
        return Subject("ccas", written, {"kind": written})
    flow = {"cca": written, "rtt": "40 ms"}
    topology = {"kind": "dumbbell", "bottleneck": {"rate": "20 Mbit/s"}}
    document = {"duration": "1 s", "topology": topology, "flows": [flow]}
    settled = load(document).canonical["flows"][0]
    return Subject("ccas", control_name(settled), settled["cca"])


def chosen(written: Iterable[str], kind: str | None = None) -> list[Subject]:
    """Every member that is named; without names all, of one kind if that is given.

    A member is a name of the catalogue, a table in TOML, the file of a control (``FILE.py``,
    ``FILE.py:CLASS``, ``FILE.so``), or a scenario, which stands for the controls of its flows.

    Raises:
        ScenarioError: if there is none of that name.

    """
    texts = list(dict.fromkeys(written))
    every = [(of, name) for of in kinds() if kind in (None, of) for name in _names(of)]
    if not texts:
        return [Subject(of, name, {"kind": name}) for of, name in every]
    return [found for text in texts for found in _written(text, every)]


def _names(kind: str) -> list[str]:
    return [member.name for member in members(kind)]


def _written(text: str, every: list[tuple[str, str]]) -> list[Subject]:
    if text.lstrip().startswith("{"):
        return [control(_table(text))]
    if is_file(text):
        return [control(of_file(text))]
    if Path(text).suffix == ".toml":
        flows = load(Path(text)).canonical["flows"]
        tables = [flow["cca"] for flow in flows if flow.get("cca")]
        return [control(table) for i, table in enumerate(tables) if table not in tables[:i]]
    named = [(of, name) for of, name in every if name == text.lower().replace("_", "-")]
    named = named or [(of, name) for of, name in every if name == text]
    if not named:
        raise refused("NAME", _stranger(text, every))
    return [Subject(of, name, {"kind": name}) for of, name in named]


def _stranger(text: str, every: list[tuple[str, str]]) -> str:
    """Says that nothing is called so, of the kind of what may be meant, or of any."""
    known = [name for _, name in every]
    near = nearest(text, known) or known
    kinds = dict.fromkeys(of for of, name in every if name in near)
    return unknown(either([CALLED[of][0] for of in kinds]), text, known, "sojourn list")


def _table(text: str) -> Fields:
    table = parse_value("NAME", text)
    if not isinstance(table, dict) or "kind" not in table:
        raise refused("NAME", f"{text} given; expected a table with a kind")
    return table

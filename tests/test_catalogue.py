"""The catalogue as documentation."""

from __future__ import annotations

import json

import pytest

from conftest import Command
from sojourn import _internal
from sojourn.catalogue import members, title
from sojourn.cli.catalogue import CORE_KINDS, KINDS, page
from sojourn.sweeps.expand import _KEYS


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page(kind: str) -> None:
    text = page(kind)
    assert text.startswith(f"# {title(kind)}\n")
    assert text.count("\n## ") >= 1


def test_kinds_are_called_by_their_words() -> None:
    assert [title(kind) for kind in ("ccas", "queues", "media", "metrics")] == [
        "Congestion controls", "Queue disciplines", "Shared media", "Metrics",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", CORE_KINDS)
def test_pages_tell_every_parameter(kind: str) -> None:
    text = page(kind)
    for member in json.loads(_internal.catalogue(True))[kind]:
        assert f"\n## {member['name']}\n" in text
        for parameter in member["parameters"]:
            assert f"| `{parameter['name']}` |" in text


def test_the_command_prints_pages(called: Command) -> None:
    printed = called("list", "ccas", "--format", "markdown").stdout
    assert "## cubic" in printed
    assert "fast_convergence" in printed


def test_queues_declare_whether_they_mark() -> None:
    declared = {member.name: member.declares for member in members("queues")}
    assert not declared["fifo"]["marks"]
    assert declared["codel"]["marks"]
    assert [name for name, says in declared.items() if says["reorders"]] == ["dualpi2"]


def test_what_brings_its_code_along_is_listed_and_in_the_schema(called: Command) -> None:
    outside = ["python", "library", "bpf", "linux", "cdg", "lp", "nv", "observed"]
    listed = json.loads(called("list", "ccas", "--format", "json").stdout)["ccas"]
    names = [entry["name"] for entry in listed]
    assert names[-8:] == outside
    assert not set(outside) & {member.name for member in members("ccas")}
    schema = json.loads(called("list", "--format", "schema").stdout)
    tables = {table.get("title"): table for table in schema["$defs"]["cca"]["oneOf"]}
    assert list(tables)[1:] == names
    assert tables["python"]["required"] == ["kind", "path", "class"]
    assert "additionalProperties" not in tables["python"]  # other keys are the class's own
    assert set(schema["properties"]["sweep"]["properties"]) == set(_KEYS)
    refused = called("list", "ccas", "--format", "schema")
    assert (refused.returncode, "leave ccas out" in refused.stderr) == (2, True)

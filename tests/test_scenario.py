"""Reading and overriding scenarios."""

from __future__ import annotations

import contextlib
import copy
import json
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError, _internal
from sojourn.errors import ScenarioWarning
from sojourn.quantity import number, split
from sojourn.scenario import apply_override, expanded_flows, load, parse_value, read, set_path

KEYS = st.text(alphabet="abcxyz_", min_size=1, max_size=5)
LEAVES = st.one_of(st.integers(-5, 5), st.booleans(), st.text(max_size=5))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.dictionaries(KEYS, inner, max_size=3), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=10,
)


def test_path_text_and_mapping_give_the_same_scenario(scenario_file: Path) -> None:
    from_text = load(TWO_FLOWS)
    assert load(scenario_file) == from_text
    assert load(str(scenario_file)) == from_text
    assert load(from_text.document).canonical == from_text.canonical


def test_canonical_form_reads_back_to_itself() -> None:
    canonical = load(TWO_FLOWS).canonical
    assert load(canonical).canonical == canonical


def test_seed_and_overrides_apply() -> None:
    overrides = [
        'topology.bottleneck.rate="2 Mbit/s"',
        "flows.1.cca=reno",
        "flows.0.count=3",
        "topology.bottleneck.queue.limit=7 packets",
    ]
    canonical = load(TWO_FLOWS, overrides, seed=9).canonical
    assert canonical["seed"] == 9
    assert canonical["topology"]["bottleneck"]["rate"] == "2 Mbit/s"
    assert canonical["topology"]["bottleneck"]["queue"]["limit"] == "7 packets"
    assert [flow["cca"]["kind"] for flow in expanded_flows(canonical)] == ["reno"] * 4


def test_parameter_of_a_bare_name() -> None:
    canonical = load(TWO_FLOWS, ["flows.1.cca.fast_convergence=false"]).canonical
    assert canonical["flows"][1]["cca"]["kind"] == "cubic"
    assert canonical["flows"][1]["cca"]["fast_convergence"] is False


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("flows.5.cca='reno'", ["flows.5", "0 to 1"]),
        ("flows.x.cca='reno'", ["flows.x"]),
        ("duration.y=1", ["duration", "no fields"]),
        ("nolist.0.x=1", ["nolist", "unknown list"]),
        ("flows.0.rtt=[1", ["flows.0.rtt", "not a TOML value"]),
        ("justaword", ["path=value"]),
        ("=3", ["path=value"]),
        ("topology.bottleneck.rat='1 Mbit/s'", ["rat"]),
    ],
)
def test_wrong_overrides_are_explained(override: str, told: list[str]) -> None:
    with pytest.raises(ScenarioError) as error:
        load(TWO_FLOWS, [override])
    for part in told:
        assert part in str(error.value)


@given(TREES)
def test_overrides_reach_every_leaf_of_any_document(tree: object) -> None:
    def leaves(node: object, path: list[str]) -> list[str]:
        if isinstance(node, dict):
            return [p for k, v in node.items() for p in leaves(v, [*path, k])]
        if isinstance(node, list):
            return [p for i, v in enumerate(node) for p in leaves(v, [*path, str(i)])]
        return [".".join(path)]

    document = {"root": tree}
    for path in leaves(tree, ["root"]):
        changed = copy.deepcopy(document)
        set_path(changed, path, "new")
        node: object = changed
        for part in path.split("."):
            node = node[int(part)] if isinstance(node, list) else node[part]  # type: ignore[index]
        assert node == "new"


@given(st.text(max_size=30))
def test_any_override_is_applied_or_refused(text: str) -> None:
    with contextlib.suppress(ScenarioError):
        apply_override(read(TWO_FLOWS), text)


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    with contextlib.suppress(ScenarioError):
        json.loads(_internal.toml_to_json(text))


@given(TREES)
def test_any_document_is_validated_or_refused(tree: object) -> None:
    with contextlib.suppress(ScenarioError):
        load({"name": "x", "duration": "1 s", "topology": tree, "flows": [tree]})


def test_a_file_that_is_no_toml_is_named_with_the_line(tmp_path: Path) -> None:
    path, text = tmp_path / "mine.toml", TWO_FLOWS.replace('"3 s"', "3 s")
    path.write_text(text)
    for source, name in ((path, path), (text, "the scenario's text")):
        with pytest.raises(ScenarioError) as refused:
            load(source)
        assert str(refused.value).startswith(f"{name}: not valid TOML, line 3, column 12: ")


def test_values_are_toml() -> None:
    assert parse_value("x", "3") == 3
    assert parse_value("x", '{ kind = "cubic" }') == {"kind": "cubic"}
    assert parse_value("x", "32 Mbit/s") == "32 Mbit/s"


def test_quantities() -> None:
    assert number("32 Mbit/s") == 32e6
    assert number("15 ms") == pytest.approx(0.015)
    assert number("0.1 %") == pytest.approx(1e-3)
    assert split("20 ms") == (20.0, "ms")
    assert split("1 Gbit/s") == (1000.0, "Mbit/s")
    assert split("0.5") == (0.5, "")
    assert split("reno")[0] != split("reno")[0]


def test_a_star_sets_every_entry_of_a_list() -> None:
    document = read(TWO_FLOWS)
    set_path(document, "flows.*.cca.beta_ecn", 0.8)
    assert [flow["cca"] for flow in document["flows"]] == [
        {"kind": "reno", "beta_ecn": 0.8},
        {"kind": "cubic", "beta_ecn": 0.8},
    ]
    set_path(document, "flows.*.drop", [1])
    first, second = document["flows"]
    assert first["drop"] == second["drop"]
    assert first["drop"] is not second["drop"]
    for path in ("topology.*.rate", "nothing.*.rtt", "*.rtt"):
        with pytest.raises(ScenarioError, match="is no list"):
            set_path(document, path, 1)
    with pytest.raises(ScenarioError, match="no such entry"):
        set_path(document, "flows.2.drop.*", 1)


NO_RTT = """
duration = "1 s"
topology = { kind = "dumbbell", bottleneck = { rate = "8 Mbit/s", queue = "codel" } }
flows = [{ cca = "reno" }]
"""


def test_a_round_trip_time_that_is_not_given_is_warned_of() -> None:
    with pytest.warns(ScenarioWarning, match=r"^flows.0.rtt: is not given, so it is 0 ms"):
        assert load(NO_RTT).canonical["flows"][0]["rtt"] == "0 s"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(NO_RTT, ["flows.0.rtt=0 ms"])


def test_a_buffer_in_bdp_needs_a_round_trip_time() -> None:
    with pytest.raises(ScenarioError, match=r"flows.0.rtt: is missing; .* 1 bdp, depends on it"):
        load(NO_RTT.replace(', queue = "codel"', ""))


def test_the_command_line_tells_the_warning(called: Command, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(NO_RTT)
    ran = called("run", "x.toml", "--no-figures")
    assert ran.returncode == 0
    assert ran.stderr.startswith(
        "sojourn: warning: flows.0.rtt: is not given, so it is 0 ms, which"
    )

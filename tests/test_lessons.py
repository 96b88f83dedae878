"""The lessons: what their pages and the playground say of their scenarios is so."""

from __future__ import annotations

import html
import json
import re
import subprocess
import tomllib
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

import polars as pl
import pytest

import sojourn
from conftest import ROOT
from sojourn.catalogue import members
from sojourn.figures.plots.spelling import spelled
from sojourn.scenario import Scenario
from tools.playground.lessons import PAGES, Lesson, lesson, names

FORM = ROOT / "docs" / "_playground" / "tests" / "form.mjs"
STATEMENTS = tomllib.loads((ROOT / "tests" / "lessons.toml").read_text())["statements"]
LESSONS = {name: lesson(name) for name in names()}
FILES = [(each, file) for each in LESSONS.values() for file in each.scenarios]

pytestmark = pytest.mark.needs("node")


def scenario(text: str) -> Scenario:
    return sojourn.load(tomllib.loads(text))


def tries(each: Lesson) -> list[str]:
    """How the lesson's links change its scenario."""
    return [html.unescape(q) for q in re.findall(r'href="#lesson=[\w-]+&amp;([^"]+)"', each.html)]


def written(*asked: tuple[dict[str, Any], dict[str, str]]) -> list[str | None]:
    """What the playground's form makes of scenarios and changes."""
    command = ["node", str(FORM)]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@cache
def made() -> dict[tuple[str, str], str]:
    """The text of each lesson's scenario, and of what its links make of it."""
    texts, asked = {}, {}
    for each in LESSONS.values():
        for query in ["", *tries(each)]:
            changes = dict(parse_qsl(query))
            texts[each.name, query] = each.scenarios[changes.pop("file", each.name)]
            if changes:
                asked[each.name, query] = (canonical(texts[each.name, query]), changes)
    for key, text in zip(asked, written(*asked.values()), strict=True):
        assert text is not None, f"{key}: the sliders do not show this lesson"
        texts[key] = text
    return texts


def canonical(text: str) -> dict[str, Any]:
    return scenario(text).canonical


@cache
def result(name: str, query: str) -> sojourn.Result:
    return sojourn.run(scenario(made()[name, query]))


def value(name: str, query: str, metric: str, of: int | str) -> float:
    run = result(name, query)
    table = run.links if isinstance(of, str) else run.flows
    (found,) = table.filter(table["id"] == of)[metric]
    return found


def test_every_page_is_listed() -> None:
    assert sorted(LESSONS) == sorted({page.stem for page in PAGES.glob("*.md")} - {"index"})


@pytest.mark.parametrize("name", LESSONS)
def test_every_lesson_asks_and_answers(name: str) -> None:
    text = LESSONS[name].html
    assert re.search(r"<strong>[^<]+\?</strong>", text)
    assert "<details><summary>Answer</summary>" in text
    assert set(re.findall(r'href="#lesson=([\w-]+)', text)) <= {name}


@cache
def forms() -> dict[str, str | None]:
    """What the form makes of each file."""
    texts = written(*((canonical(each.scenarios[file]), {}) for each, file in FILES))
    return dict(zip((file for _, file in FILES), texts, strict=True))


@pytest.mark.parametrize(("each", "file"), FILES, ids=[file for _, file in FILES])
def test_a_lessons_file_is_what_the_form_writes(each: Lesson, file: str) -> None:
    """But for those that have more than the sliders show: there they are off."""
    text, form = each.scenarios[file], forms()[file]
    shown = form is not None and canonical(form) == canonical(text)
    assert shown == (len(each.scenarios) == 1)
    assert not shown or form == text
    assert canonical(text)["name"] == file


def test_every_lesson_is_held_to_what_it_says() -> None:
    assert {told["lesson"] for told in STATEMENTS} | {"bbr-pulse"} == set(LESSONS)


@pytest.mark.parametrize("told", STATEMENTS, ids=lambda told: f"{told['lesson']}-{told['metric']}")
def test_a_lesson_says_what_is_so(told: dict[str, Any]) -> None:
    run, of = told.get("run", ""), told["id"]
    found = value(told["lesson"], run, told["metric"], of)
    if "over" in told or "over_id" in told:
        found /= value(
            told["lesson"], told.get("over", run), told["metric"], told.get("over_id", of)
        )
    assert told.get("above", float("-inf")) < found < told.get("below", float("inf"))


def test_bbr_looks_for_the_round_trip_time_every_ten_seconds() -> None:
    text = LESSONS["bbr-pulse"].scenarios["bbr-pulse"]
    state = sojourn.run(scenario(f'record = ["cc"]\n{text}')).state
    modes = state.filter(component="flow.0.cc", name="mode")
    begun = modes.filter(text="probe_rtt")["time"].to_list()
    ended = [modes.filter(pl.col("time") > time)["time"][0] for time in begun]
    assert len(begun) == 2
    assert begun[1] - begun[0] == pytest.approx(10, abs=1)
    assert [end - time for time, end in zip(begun, ended, strict=True)] == pytest.approx(
        [0.2, 0.2], abs=0.1
    )


def test_the_form_offers_what_the_catalogue_has() -> None:
    """Of queue disciplines all that simulate; of controls those that stand for themselves."""
    script = f"""
        import {{ CONTROLS, QUEUES }} from {json.dumps((FORM.parents[1] / "model.mjs").as_uri())};
        console.log(JSON.stringify([CONTROLS, QUEUES]));
    """
    command = ["node", "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    controls, queues = json.loads(done.stdout)
    assert set(queues) == {m.name for m in members("queues")} - {"linux", "kernel"}
    external = {"python", "library", "bpf", "linux", "cdg", "lp", "nv", "observed"}
    made_up = {"fixed-window", "fixed-rate"}
    experimental = {"reno-sce", "dctcp-sce", "cubic-sce"}
    all_controls = {m.name for m in members("ccas")}
    assert set(controls) == all_controls - external - made_up - experimental
    assert all(spelled(name) == text for name, text in (controls | queues).items())


def test_the_page_without_its_engine() -> None:
    command = ["node", "--test", *map(str, FORM.parent.glob("*.test.mjs"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

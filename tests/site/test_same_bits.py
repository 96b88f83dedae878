"""The page's engine gives the command line's bits: every column of many scenarios, and the metrics.

The scenarios are the lessons', those of `experiments/catalogue` that a page runs, and each control
beside Cubic over one of the queue disciplines.
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sojourn
from conftest import ROOT
from sojourn import _internal
from sojourn.catalogue import members
from sojourn.metrics import Scope, compute
from tools.playground.lessons import lesson, names

pytestmark = [
    pytest.mark.needs("node", "wasm"),
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::sojourn.errors.ScenarioWarning"),
]

PAIR = """duration = "4 s"
seed = {seed}

[topology]
kind = "dumbbell"
bottleneck = {{ rate = "{rate} Mbit/s", loss = "0.1 %", queue = {{ kind = "{queue}" }} }}

[[flows]]
cca = "{control}"
rtt = "40 ms"

[[flows]]
cca = "cubic"
rtt = "25 ms"
start = "700 ms"

[[flows]]
transport = "udp"
traffic = {{ kind = "poisson", rate = "1 Mbit/s" }}
rtt = "20 ms"
"""


def scenarios() -> Iterator[tuple[str, str]]:
    """Names and texts."""
    for name in names():
        yield from lesson(name).scenarios.items()
    for file in sorted((ROOT / "experiments/catalogue").glob("*.toml")):
        yield f"catalogue-{file.stem}", file.read_text(encoding="utf-8")
    queues = [member.name for member in members("queues")]
    for place, member in enumerate(members("ccas")):
        of_pair = {"control": member.name, "queue": queues[place % len(queues)]}
        yield (
            f"pair-{member.name}",
            PAIR.format(seed=place, rate=(5, 20, 50)[place % 3], **of_pair),
        )


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Path]]:
    """What node says at the end, and the scenarios' files, beside which it wrote results."""
    from tools.playground import build

    folder = tmp_path_factory.mktemp("bits")
    (folder / "sojourn.wasm").write_bytes(build.engine())
    files = [folder / f"{name}.toml" for name, _ in scenarios()]
    for file, (_, text) in zip(files, scenarios(), strict=True):
        file.write_text(text, encoding="utf-8")
    command = ["node", str(ROOT / "tests/site/blocks.mjs"), str(folder / "sojourn.wasm")]
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout), files


def block(file: Path) -> tuple[dict[str, Any], np.ndarray]:
    """The index of a block, and its values."""
    content = Path(f"{file}.block").read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), np.frombuffer(content, "<f8", offset=8 + length)


def bits(column: Any) -> list[int]:
    """The values' bits; NaNs, which have many, made one."""
    values = np.array(column, dtype=float)
    values[np.isnan(values)] = np.nan
    return values.view(np.int64).tolist()


def close(told: Any, values: Any) -> bool:
    """Whether metrics are the same but for the order of sums."""
    found = np.array(told, dtype=float)
    return np.allclose(found, np.asarray(values, dtype=float), rtol=1e-9, atol=0, equal_nan=True)


def test_columns_and_metrics_are_the_command_lines(ran: tuple[Any, list[Path]]) -> None:
    compared = 0
    for file in ran[1]:
        if not Path(f"{file}.block").exists():
            continue
        index, values = block(file)
        data = sojourn.run(file).data
        for name, table in data.tables.items():
            known = index["tables"][name]
            for column, expected in table.items():
                first = known["columns"][column]
                found = values[first : first + known["rows"]]
                assert bits(found) == bits(expected), (file.stem, name, column)
        for scope, told in index["summary"].items():
            which: Scope = scope
            for metric, expected in compute(data, which, tuple(told)).items():
                alone = [told[metric]] if scope == "net" else told[metric]
                assert close(alone, expected), (file.stem, metric)
        compared += 1
    assert compared >= 40


def test_a_lesson_is_never_refused_and_a_record_is(ran: tuple[Any, list[Path]]) -> None:
    refused = {
        file.stem: json.loads(told.read_text(encoding="utf-8"))
        for file in ran[1]
        if (told := Path(f"{file}.refused")).exists()
    }
    assert all(name.startswith("catalogue-") for name in refused), refused
    assert all(refusal["local"] for refusal in refused.values()), refused
    asked = tomllib.loads((ROOT / "experiments/catalogue/home.toml").read_text(encoding="utf-8"))
    assert asked["record"]
    assert refused["catalogue-home"]["field"] == "record"


def test_the_build_is_the_packages(ran: tuple[Any, list[Path]]) -> None:
    opened = json.loads(Path(f"{ran[1][0]}.opened").read_text(encoding="utf-8"))
    assert opened["build"] == _internal.engine_build()


def test_a_panic_has_a_message_and_a_fresh_instance_goes_on(ran: tuple[Any, list[Path]]) -> None:
    told, files = ran
    assert "sojourn_init was called twice" in told["message"]
    assert f"{told['end']:g} s" == sojourn.load(files[0]).canonical["duration"]

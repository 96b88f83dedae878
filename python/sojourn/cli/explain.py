"""``sojourn explain``."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.output import printed, say
from sojourn.cli.units import Location
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from sojourn.explain import Explanation
    from sojourn.json_types import Json
    from sojourn.measured import Measured
    from sojourn.store.manifest import Manifest

#: So many findings are told unless all are asked for.
_MOST = 8


@click.command("explain")
@click.argument("directory", type=Location(), metavar="DIR")
@click.option("--all", "every", is_flag=True, help="Tell every finding, not only the heaviest.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What is printed; json has every finding.",
)
def command(directory: Path, every: bool, output: str) -> None:
    """Say why the numbers of a run are so: what limited its flows, where packets were lost and
    waited, who starved, and when. DIR is what sojourn run has written; with --record there is more
    to tell.
    """
    from sojourn.explain import explain
    from sojourn.store import manifest, run_directory

    content = manifest.read(directory)
    if content["kind"] != run_directory.KIND:
        raise ScenarioError(_refusal(directory, content))
    run = run_directory.load(directory)
    made = explain(run)
    with printed():
        if output == "json":
            click.echo(json.dumps(made.to_json()))
        else:
            _tell(run, made, len(made.findings) if every else _MOST)


def _tell(run: Measured, made: Explanation, most: int) -> None:
    from sojourn.overview import sentence

    say(sentence(run))
    shown = made.heaviest(most)
    for finding in shown:
        say(f"  {finding.line()}")
    if not shown:
        say("  nothing stands out")
    if more := len(made.findings) - len(shown):
        say(f"and {more} lighter finding{'s' * (more > 1)}: --all")
    if made.unknown:
        say(f"more: {'; '.join(made.unknown)}")


def _refusal(directory: Path, content: Manifest) -> str:
    """Why this is not one run, and what to do."""
    from sojourn.store import backends_directory
    from sojourn.sweeps import directory as sweeps
    from sojourn.sweeps.axes import settings

    kind = content["kind"]
    if kind == backends_directory.KIND:
        return f"{directory}: holds runs on several backends; give the directory of one, below it"
    if kind != sweeps.KIND:
        return f"{directory}: holds a {kind}; give the directory of one run, as sojourn run writes"
    first = {axis: values[0] for axis, values in content["grid"].items()}
    fields = [f"{path}={_toml(value)}" for path, value in settings(first)]
    sets = " ".join(f"--set {shlex.quote(field)}" for field in fields)
    return (
        f"{directory}: holds a sweep, whose runs are not explained from its store; run the point "
        f"by itself and explain that: sojourn run FILE {sets} --out POINT (its first point)"
    ).replace("FILE  ", "FILE ")


def _toml(value: Json) -> str:
    """A value of a grid as ``--set`` takes it."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(key)} = {_toml(of)}' for key, of in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)

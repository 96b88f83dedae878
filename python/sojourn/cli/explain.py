"""``sojourn explain``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sojourn.cli.output import printed, say
from sojourn.cli.units import Location
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    from sojourn.explain import Explanation
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

    kind = content["kind"]
    if kind == backends_directory.KIND:
        return f"{directory}: holds runs on several backends; give the directory of one, below it"
    if kind != sweeps.KIND:
        return f"{directory}: holds a {kind}; give the directory of one run, as sojourn run writes"
    sets = " ".join(
        f"--set {path}='{json.dumps(values[0])}'" for path, values in content["grid"].items()
    )
    return (
        f"{directory}: holds a sweep, whose runs are not explained from its store; run the point "
        f"by itself and explain that: sojourn run FILE {sets} --out POINT (its first point)"
    ).replace("FILE  ", "FILE ")

"""``sojourn kernel run``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn.cli.names import recorded
from sojourn.cli.options import force_option, out_option, record_option, set_option
from sojourn.cli.output import printed, say, warn
from sojourn.cli.screen import Screen
from sojourn.cli.show_run import summarise
from sojourn.cli.source import document_of
from sojourn.errors import ScenarioError, SojournError, refused

if TYPE_CHECKING:
    from sojourn.backends.programs import Asked, Ran
    from sojourn.scenario import Document, Scenario

#: Where COMMAND runs, and when it starts: servers of the other programs are ready then.
_HOST, _START = "sender", "10 ms"
_ON = "expected HOST or HOST@TIME, such as receiver@0.5s"
#: Seconds that a program may compute at most, which is a year.
_LONGEST = 366 * 86400.0
#: The status of a run whose COMMAND went well and that cannot be stored.
_LOST = 1


def _seconds(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """Refuses what is no time to wait."""
    if value is not None and not 0 < value <= _LONGEST:
        raise click.BadParameter(f"{value:g} given; expected more than 0 and at most {_LONGEST:g}")
    return value


@dataclass(frozen=True)
class _Given:
    """The options, as they are given."""

    file: Path
    line: tuple[str, ...]
    others: tuple[tuple[str, str], ...]
    check: bool
    date: str | None
    watchdog: float | None
    version: str
    overrides: tuple[str, ...]
    seed: int | None
    record: tuple[str, ...]
    out: Path | None
    force: bool


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("line", nargs=-1, metavar="[-- COMMAND...]")
@click.option(
    "--on",
    "others",
    nargs=2,
    multiple=True,
    metavar="HOST[@TIME] 'COMMAND'",
    help="Run a shell's COMMAND on HOST (sender, receiver, flow-1.sender, a node) from TIME on, by "
    "default the beginning. May be repeated.",
)
@click.option("--check", is_flag=True, help="Run twice; name the first packet that differs.")
@click.option("--date", metavar="DATE", help="What the clock shows, such as 2026-11-26.")
@click.option(
    "--watchdog",
    type=float,
    callback=_seconds,
    metavar="SECONDS",
    help="End a program that computes for so long, in real time, without a system call.  "
    "[default: 60]",
)
@click.option("--kernel", "version", default="", metavar="VERSION", help="Such as 6.12.")
@set_option
@click.option("--seed", type=int, help="Seed of all random draws.")
@record_option
@out_option
@force_option
def command(**options: Any) -> None:  # the fields of _Given
    """Run COMMAND on the first flow's sender, and other programs on other hosts, in virtual time
    over the network of FILE. Ends with COMMAND's exit status, 124 if it has not ended at the end of
    FILE's duration. Metrics, output and files that programs wrote go to DIR.
    """
    from sojourn.backends.kernel import On

    given = _Given(**options)
    document = document_of(given.file, given.overrides + recorded("--record", given.record))
    with _named(document, given):
        scenario = _scenario(document, given)
        on = On(given.version)
        on.check(scenario.canonical)
    from sojourn.store import run_directory
    from sojourn.store.place import claimed

    tenant = run_directory.tenant(scenario, on.key())
    ran: Ran | None = None
    try:
        with claimed(tenant, given.out, warn, force=given.force) as claim:
            ran = _ran(scenario, on.asked(spool=claim.directory), given)
            run_directory.save(ran.result, claim.work)
    except Exception as error:  # COMMAND's status is not lost with the results
        if ran is None:
            raise
        warn(f"the results cannot be stored: {error}")
        _tell(scenario, ran, given)
        with suppress(Exception):  # whatever has kept it from being stored
            _show(ran)
        sys.exit(_status(scenario, ran, given) or _LOST)
    _tell(scenario, ran, given)
    _show(ran)
    say(f"results: {claim.directory}", err=True)
    assert ran.result.programs is not None
    say(f"hash {ran.result.programs.hash}", err=True)
    sys.exit(_status(scenario, ran, given))


def _number(scenario: Scenario, given: _Given) -> int | None:
    """That of COMMAND among the programs, the last one, if it is given."""
    return len(scenario.canonical["programs"]) - 1 if given.line else None


def _status(scenario: Scenario, ran: Ran, given: _Given) -> int:
    """COMMAND's own, or without any that of the programs that are waited for."""
    command = _number(scenario, given)
    return ran.status if command is None else ran.ends.of(command)


def _scenario(document: Document, given: _Given) -> Scenario:
    """The scenario of a file with the programs of the command line behind its own."""
    from sojourn.scenario import validated

    programs = [*document.get("programs", ()), *(_on(*other) for other in given.others)]
    if given.line:
        programs.append({"host": _HOST, "command": [*given.line], "start": _START, "wait": True})
    elif not any(isinstance(p, dict) and p.get("wait") for p in programs):
        raise click.UsageError(
            "no COMMAND, and no program of FILE has wait = true: give -- COMMAND..., which the run "
            "ends with"
        )
    document["programs"] = programs
    document |= {} if given.seed is None else {"seed": given.seed}
    document |= {} if given.date is None else {"date": given.date}
    if given.check:
        document["record"] = list(dict.fromkeys((*document.get("record", ()), "packets")))
    scenario = validated(document)
    if scenario.sweep is not None:
        whole = f"sojourn sweep {given.file} --backend kernel"
        warn(f"{given.file}: ignoring its [sweep] table; to run the whole grid: {whole}")
    return scenario


def _on(where: str, command: str) -> dict[str, object]:
    """What an option --on asks for."""
    from sojourn.quantity import number

    host, at, start = where.partition("@")
    if not host or (at and not (start.endswith("s") and number(start) >= 0)):
        raise ScenarioError(f"--on {where}: {_ON}")
    return {"host": host, "command": command, **({"start": start} if at else {})}


@contextmanager
def _named(document: Document, given: _Given) -> Iterator[None]:
    """Names programs in errors as the command line does."""
    own = len(document.get("programs", ()))
    try:
        yield
    except ScenarioError as error:
        first, _, rest = error.field.partition(".")
        place = rest.partition(".")[0]
        number = int(place) - own if first == "programs" and place.isdecimal() else -1
        if number < 0:
            raise
        options = [f"--on {where}" for where, _ in given.others]
        option = options[number] if number < len(options) else "COMMAND"
        raise refused(option, error.message) from None


def _ran(scenario: Scenario, asked: Asked, given: _Given) -> Ran:
    """The run, while which its programs are heard.

    Raises:
        SojournError: if a second one differs, where that is asked for.

    """
    from sojourn.backends.programs import run

    hosts: Sequence[str] = [program["host"] for program in scenario.canonical["programs"]]
    screen = Screen(hosts, _number(scenario, given))
    asked = replace(asked, watchdog=given.watchdog or asked.watchdog)
    try:
        ran = run(scenario, replace(asked, heard=screen.heard))
    finally:
        screen.end()
    if given.check:
        from sojourn.difference.checked import first_difference

        if differs := first_difference(ran.result, run(scenario, asked).result):
            raise SojournError(f"--check: two runs differ first in {differs}")
        say("--check: two runs are the same", err=True)
    return ran


def _tell(scenario: Scenario, ran: Ran, given: _Given) -> None:
    """What is to be known of the programs."""
    from sojourn.backends.ends import told

    for line in told(scenario.canonical, ran.ends, _number(scenario, given)):
        warn(line)
    for note in ran.result.data.notes.values():
        warn(f"warning: {note}")


def _show(ran: Ran) -> None:
    """The run at a glance: standard output is COMMAND's."""
    with redirect_stdout(sys.stderr), printed():
        summarise(ran.result)

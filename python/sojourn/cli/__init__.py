"""The command line. Commands are imported only when they are called: it must start fast."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from importlib import import_module
from typing import TextIO

import click
from click.shell_completion import CompletionItem

from sojourn import interruption
from sojourn.checkout import is_stale
from sojourn.cli.output import printed, refuse, warn
from sojourn.errors import ScenarioError, ScenarioWarning, SojournError
from sojourn.names import unknown

_SHOW_WARNING = warnings.showwarning
BAD_INPUT = 2
FAILURE = 1
#: Objects between searches for those that only refer to each other. Imports and figures make many
#: and leave few such: with Python's 700, searches are 4 % of a short run.
_MADE_BETWEEN = 50_000

#: Commands, each the function ``command`` of its module.
COMMANDS = {
    "run": ("sojourn.cli.run", "Run one scenario."),
    "live": ("sojourn.cli.live", "Run a program's traffic through a scenario's network."),
    "import": ("sojourn.cli.importing", "Make a run of what was measured elsewhere."),
    "export": ("sojourn.cli.exporting", "Write a run for Flent or Mahimahi."),
    "sweep": ("sojourn.cli.sweep", "Run a grid of scenarios."),
    "merge": ("sojourn.cli.merge", "Unite the parts of a sweep."),
    "reproduce": ("sojourn.cli.reproduce", "Run a published evaluation."),
    "evaluate": ("sojourn.cli.evaluate", "Put controls through CCPerf's experiments."),
    "conformance": ("sojourn.cli.conformance", "Hold controls, queues and others to the suite."),
    "fidelity": ("sojourn.cli.fidelity", "Say how often random scenarios do as Linux."),
    "explain": ("sojourn.cli.explain", "Say why the numbers of a run are so."),
    "plot": ("sojourn.cli.plot", "Draw a metric of a run or a sweep."),
    "report": ("sojourn.cli.report", "Write a static HTML report."),
    "compare": ("sojourn.cli.compare", "Say what is better, worse or the same, and how sure."),
    "diff": ("sojourn.cli.diff", "Say at which packet two runs part."),
    "gate": ("sojourn.cli.gate", "Pass or fail a new version against an old one."),
    "new": ("sojourn.cli.new", "Write the file of a new scenario, control, queue, ..."),
    "capacity": ("sojourn.cli.capacity", "What a network can carry within a deadline."),
    "kernel": (
        "sojourn.cli.kernel",
        "Build a kernel that runs in virtual time, and run programs in it.",
    ),
    "list": ("sojourn.cli.catalogue", "List what there is."),
    "completion": ("sojourn.cli.completion", "Print what completes commands in a shell."),
}


class LazyGroup(click.Group):
    """A group that imports a command when it is needed; help needs only the summaries."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of the data path."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Imports the command called ``name``."""
        if name not in COMMANDS:
            return None
        command = import_module(COMMANDS[name][0]).command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that the first argument names; suggests the nearest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(unknown("command", args[0], COMMANDS))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Completes commands without importing them, and options."""
        named = [
            CompletionItem(name, help=summary)
            for name, (_, summary) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


def _show_version(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from sojourn import _internal

        version, _, build = _internal.engine_build().rpartition("-")
        click.echo(f"sojourn {version} (build {build})")
        context.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and the engine's build, and exit.",
)
def cli() -> None:
    """Sojourn: a congestion-control laboratory."""
    if is_stale():
        warn("the engine is older than its Rust sources; to build it anew: make setup")


def main() -> None:
    """Runs the command line: 2 for bad input, 1 for failure, never a stack trace."""
    warnings.showwarning = _warn
    gc.set_threshold(_MADE_BETWEEN)
    interruption.listen()
    status = 0
    try:
        with printed():
            status = cli.main(prog_name=_program(), standalone_mode=False) or 0
    except click.ClickException as error:
        refuse(error)
        status = error.exit_code
    except (click.Abort, KeyboardInterrupt) as error:
        status = _interrupted(error)
    except ScenarioError as error:
        status = _complain(str(error), BAD_INPUT)
    except SojournError as error:
        status = _complain(str(error), FAILURE)
    except OSError as error:
        status = _complain(_of_disk(error), FAILURE)
    except BaseException as error:
        if interruption.came():
            sys.exit(_interrupted(error))
        if os.environ.get("SOJOURN_DEBUG") or not isinstance(error, Exception):
            raise
        message = f"internal error: {type(error).__name__}: {error}"
        status = _complain(f"{message} (SOJOURN_DEBUG=1 shows where)", FAILURE)
    sys.exit(status)


def _of_disk(error: OSError) -> str:
    from sojourn.disk import told  # with Polars, which takes long to import

    return told(error)


def _interrupted(error: BaseException) -> int:
    """Says so, and what whoever was interrupted says of it."""
    status = interruption.end()
    told = error.__cause__ if isinstance(error, click.Abort) else error
    said = told.args if isinstance(told, KeyboardInterrupt) else ()
    return _complain(": ".join(map(str, ("interrupted", *said))), status)


def _program() -> str:
    from sojourn import _internal

    return _internal.PROGRAM.name if _internal.PROGRAM else "sojourn"


def _warn(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Scenarios' warnings as errors are told, others as Python does."""
    if issubclass(category, ScenarioWarning):
        warn(f"warning: {message}")
    else:
        _SHOW_WARNING(message, category, filename, lineno, file, line)


def _complain(message: str, status: int) -> int:
    warn(message)
    return status

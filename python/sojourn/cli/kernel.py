"""``sojourn kernel``."""

from __future__ import annotations

import click

from sojourn.cli import kernel_run
from sojourn.cli.output import give
from sojourn.cli.progress import steps


@click.group("kernel")
def command() -> None:
    """Kernels in virtual time: for --backend kernel, and for any program."""


command.add_command(kernel_run.command)


@command.command("build")
@click.argument("source")
@click.option(
    "--hz",
    type=click.Choice(["100", "250", "300", "1000"]),
    default="250",
    show_default=True,
    help="Ticks per second of its clock; Debian's have 250.",
)
def build(source: str, hz: str) -> None:
    """Build the kernel of SOURCE: a package such as linux-source-6.12, or the path of a tree or a
    tarball. It takes some minutes, and goes on where it was interrupted.
    """
    from sojourn.kernel.build import build as make

    with steps() as tell:
        kernel = make(source, int(hz), tell)
    give(f"{kernel.program}  (sojourn run FILE --backend kernel:{kernel.version})")


@command.command("list")
def show() -> None:
    """List the kernels that are built."""
    from sojourn.kernel.cache import kernels

    for kernel in kernels():
        give(f"{kernel.name}  {kernel.program}")

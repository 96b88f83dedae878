"""``sojourn completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from sojourn.cli.names import Name
from sojourn.cli.output import give

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=Name("shell", SHELLS), metavar="bash|zsh|fish")
def command(shell: str) -> None:
    """Print what makes a shell complete commands, options, files and directories at the tab key.

    bash, in ~/.bashrc: eval "$(sojourn completion bash)"

    zsh, in ~/.zshrc: eval "$(sojourn completion zsh)"

    fish, once: sojourn completion fish > ~/.config/fish/completions/sojourn.fish
    """
    root = click.get_current_context().find_root()
    made = get_completion_class(shell)
    assert root.info_name
    assert made
    # The variable by which click is asked for what may follow.
    asked = f"_{root.info_name}_COMPLETE".replace("-", "_").replace(".", "_").upper()
    give(made(root.command, {}, root.info_name, asked).source())

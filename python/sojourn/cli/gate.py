"""``sojourn gate``."""

from __future__ import annotations

from pathlib import Path

import click

from sojourn.cli.output import printed, say, warn

WORSE = 1


@click.command("gate")
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    required=True,
    metavar="OLD",
    help="What NEW is compared with.",
)
@click.option(
    "--margins",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help='TOML: default = "2 %", and lines such as mean_srtt_l4 = "0.5 ms".',
)
@click.option("--strict", is_flag=True, help="Fail on different and unsure as well.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("results/gate"),
    show_default=True,
    metavar="DIR",
    help="Where gate.xml and gate.md go.",
)
def command(new: Path, baseline: Path, margins: Path | None, strict: bool, out: Path) -> int:
    """Pass (exit status 0) or fail (1) NEW against OLD: stores of the same sweep, or folders of the
    same sweeps. It fails where compare says worse, of key metrics or of others.
    """
    from sojourn.evaluation.gate import gate, save
    from sojourn.evaluation.margins import DEFAULT, Margins, read, relative
    from sojourn.store.place import check_writable

    chosen = read(margins) if margins else Margins(relative(DEFAULT, "--margins"))
    check_writable(out, f"--out {out}")
    made = gate(new, baseline, chosen, strict=strict)
    save(made, out)
    for note in made.comparison.notes:
        warn(note)
    with printed():
        say(made.sentence)
    say(f"results: {out}", err=True)
    return 0 if made.passed else WORSE

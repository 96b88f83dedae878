"""What the files of result directories are called, and how those of earlier results go."""

from __future__ import annotations

import os
from collections.abc import Container
from contextlib import suppress
from pathlib import Path

from sojourn.programs import OUTPUT, WRITTEN
from sojourn.store.location import is_remote

MANIFEST = "manifest.json"

#: What is made from results.
_DERIVED = (
    *("report.html", "pictures.json", "figures/*.png", "figures/*.svg", "figures/*.pdf"),
    *("tables/*.csv", "tables/*.md"),
)
OURS = (
    *_DERIVED,
    *("flow_samples.parquet", "flows.parquet", "link_samples.parquet", "links.parquet"),
    *("node_samples.parquet", "transfers.parquet", "arrival_samples.parquet"),
    *("state.parquet", "packets.parquet", "packets.pcapng", OUTPUT, f"kernel-*/{OUTPUT}"),
    *("qlog/*.sqlog", "sim-*/qlog/*.sqlog"),
    *("metrics_*.parquet", "summary.csv", "comparison.csv", "deadlines.csv", "capacity.json"),
    *("replay.csv", "replay.md"),
    *("cells.csv", "partings.csv", "worst/*.toml"),
    *("runs/*.parquet", "samples/*.parquet", "quarantine/*.parquet"),
    *("backends.csv", "sim-*/*.parquet", "live-*/*.parquet", "kernel-*/*.parquet"),
    *("sim-*/*.json", "live-*/*.json", "kernel-*/*.json"),
    *("sim-*/*.pcapng", "live-*/*.pcapng", "kernel-*/*.pcapng"),
    MANIFEST,
)
#: Directories of files that programs wrote.
TREES = (WRITTEN, f"kernel-*/{WRITTEN}")
#: Directories that have results of their own: a reproduction's first run, an evaluation's sweeps.
_INNER = ("example", "sweeps/*/*/*")


def has_results(directory: Path) -> bool:
    """Whether there is more than a manifest."""
    patterns = [*OURS, *TREES, *(f"{pattern}/{MANIFEST}" for pattern in _INNER)]
    return any(
        path.name != MANIFEST or path.parent != directory
        for pattern in patterns
        for path in directory.glob(pattern)
    )


def clear(directory: Path) -> None:
    """Removes the results in a directory, and nothing else."""
    for pattern in _INNER:
        for path in [path.parent for path in directory.glob(f"{pattern}/{MANIFEST}")]:
            clear(path)
    for tree in [tree for pattern in TREES for tree in directory.glob(pattern)]:
        clear_tree(tree)
    _remove(directory, OURS)


def clear_tree(tree: Path, kept: Container[Path] = ()) -> None:
    """Removes the files below a directory but for those ``kept``, and directories without any."""
    if is_remote(tree):
        for path in [path for path in tree.rglob("*") if path.is_file() and path not in kept]:
            path.unlink()
        return
    for name, _, files in os.walk(tree, topdown=False):
        for path in (Path(name) / file for file in files):
            if path not in kept:
                path.unlink()
        with suppress(OSError):  # something is kept in it
            Path(name).rmdir()


def clear_derived(directory: Path) -> None:
    """Removes what was made from earlier results: report, tables and figures."""
    _remove(directory, _DERIVED)


def _remove(directory: Path, patterns: tuple[str, ...]) -> None:
    for path in [path for pattern in patterns for path in directory.glob(pattern)]:
        remove(path, directory)


def remove(path: Path, directory: Path) -> None:
    """Removes a file of a directory of results, and what it was alone in below that."""
    path.unlink(missing_ok=True)
    if path.parent != directory:
        with suppress(OSError):  # something else is in it
            path.parent.rmdir()

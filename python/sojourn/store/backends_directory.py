"""Several runs of one scenario on disk: a directory each, beside the table of disagreements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from sojourn import csv_table
from sojourn.measured import Measured
from sojourn.origin import Origin, told
from sojourn.scenario import Scenario
from sojourn.store import manifest, run_directory
from sojourn.store.files import write_together
from sojourn.store.place import Tenant
from sojourn.store.rows import Row

KIND = "backends"
TABLE = "backends.csv"


#: Of each backend what tells each of its runs from others (``Backend.key``).
Origins = Mapping[str, Sequence[Origin | None]]


def tenant(scenario: Scenario, origins: Origins) -> Tenant:
    """What a directory of these runs is told by."""
    of_run = run_directory.tenant(scenario)
    counts = {name: len(runs) for name, runs in origins.items()}
    keys = {
        place_of(name, number): origin
        for name, runs in origins.items()
        for number, origin in enumerate(runs)
        if origin
    }
    identity = {**of_run.identity, "runs": counts, "origins": keys}

    def differs(found: manifest.Manifest) -> str:
        if found["runs"] != counts:
            return f"with runs {found['runs']}, not {counts}"
        for place, origin in keys.items():
            theirs = found.get("origins", {}).get(place, {})
            if theirs != origin:
                return f"{place} {told(theirs)}, not {told(origin)}"
        return of_run.differs(found)

    name = f"{scenario.name}-{'-'.join(map(plain, counts))}"
    return Tenant(KIND, name, name, identity, differs, grows=False)


def plain(backend: str) -> str:
    """Its name as one of a file."""
    return backend.replace(":", "-")


def place_of(backend: str, number: int) -> str:
    """The directory of one of the runs."""
    return f"{plain(backend)}-{number}"


def save_run(result: Measured, directory: Path, backend: str, number: int) -> None:
    """Writes one of the runs."""
    place = directory / place_of(backend, number)
    place.mkdir(exist_ok=True)
    run_directory.save(result, place)


def finish(who: Tenant, directory: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Writes the table, if there is one, and says that the directory is complete."""
    files = {manifest.FILE: manifest.writer(KIND, who.identity)}
    if rows:
        files[TABLE] = partial(_write_csv, columns, rows)
    write_together(directory, files)


def _write_csv(columns: Sequence[str], rows: Sequence[Row], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv_table.write(file, columns, rows)

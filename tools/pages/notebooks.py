"""The notebooks for teaching: ``python -m tools.pages.notebooks [NAME...]`` executes them anew and
stores their outputs, which the site shows as they are. It needs nbclient and ipykernel.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

from tools.pages import kept

#: Seconds that a cell may take.
_LONGEST = 300


def notebooks() -> list[Path]:
    """Their files."""
    return sorted((kept.docs() / "tutorial" / "notebooks").glob("*.ipynb"))


def executed(path: Path) -> Any:
    """A notebook with the outputs that its cells have now.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell fails.

    """
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as place:
        client = NotebookClient(
            notebook,
            resources={"metadata": {"path": place}},
            timeout=_LONGEST,
            record_timing=False,
            coalesce_streams=True,
        )
        client.execute()
    notebook.metadata = {
        "kernelspec": notebook.metadata["kernelspec"],
        "language_info": {"name": "python"},
    }
    return notebook


def texts(notebook: Any) -> Iterator[str]:
    """What its cells print."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream":
                yield "".join(output["text"])


def main(names: list[str]) -> None:
    """Executes all notebooks, or those named."""
    for path in notebooks():
        if not names or path.stem in names:
            nbformat.write(executed(path), path)


if __name__ == "__main__":
    main(sys.argv[1:])

"""The experiments that come with Sojourn."""

from __future__ import annotations

from pathlib import Path

from sojourn.errors import SojournError

ROOT = Path(__file__).resolve().parents[2]


def directory(name: str) -> Path:
    """A directory of the checkout: ``experiments`` or ``reference``.

    Raises:
        SojournError: if the package is not installed from a checkout.

    """
    path = ROOT / name
    if not path.is_dir():
        raise SojournError(f"{path} is missing: this command needs a checkout of Sojourn")
    return path


def experiments() -> list[dict[str, str]]:
    """Scenario files, each with the first line of its leading comment."""
    root = directory("experiments")
    files = sorted(root.glob("**/*.toml"))
    return [{"name": str(f.relative_to(ROOT)), "summary": _first_comment(f)} for f in files]


def _first_comment(path: Path) -> str:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""

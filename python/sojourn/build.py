"""What produced a result: the core's build and the definitions of the metrics."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from sojourn import _internal


@cache
def build() -> str:
    """Changes whenever a stored number could: with the core or with the metrics' sources."""
    digest = hashlib.blake2b(digest_size=4)
    for source in sorted((Path(__file__).parent / "metrics").glob("*.py")):
        digest.update(source.read_bytes())
    return f"{_internal.engine_build()}+metrics.{digest.hexdigest()}"

"""Whether the engine was built from the Rust sources beside the package; a wheel has none."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sojourn import _internal

CORE = Path(__file__).resolve().parents[2] / "crates" / "sojourn-core"


def is_stale(core: Path = CORE) -> bool:
    """Whether the sources of the core have changed since the engine was built."""
    if _internal.PROGRAM:  # which is older than its own sources or not
        return False
    return core.is_dir() and not _internal.engine_build().endswith(f"-{source_hash(core)}")


def source_hash(core: Path) -> str:
    """Names the sources as ``crates/sojourn-python/build.rs`` does."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted([core / "Cargo.toml", *(core / "src").glob("**/*.rs")]):
        for part in (path.relative_to(core).as_posix().encode(), path.read_bytes()):
            digest.update(len(part).to_bytes(8, "little"))
            digest.update(part)
    return digest.hexdigest()

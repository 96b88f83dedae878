"""What a case is stored under."""

from __future__ import annotations

import hashlib

from sojourn.build import code, engine
from sojourn.papers.paper import AnyCase, Computed, Sampled
from sojourn.sweeps.work import run_key


def key_of(case: AnyCase) -> str:
    """Identifies a case. A run of which all is kept has the key that it has in a sweep."""
    if isinstance(case, Computed):
        return _digest(case.name, case.text, engine(), code(case.by))
    key = run_key(case.canonical)
    keeps = case.keeps if isinstance(case, Sampled) else ()
    return _digest(key, *keeps) if keeps else key


def _digest(*told: str) -> str:
    return hashlib.blake2b("\n".join(told).encode(), digest_size=16).hexdigest()

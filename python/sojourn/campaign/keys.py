"""What a case is stored under."""

from __future__ import annotations

import hashlib
import json

from sojourn.backends import backend
from sojourn.build import code, engine
from sojourn.campaign.cases import AnyCase, Computed, Sampled
from sojourn.located import placeless
from sojourn.origin import Origin
from sojourn.record import OF_RECORDS
from sojourn.scenario import Document


def run_key(canonical: Document, origin: Origin | None = None) -> str:
    """Identifies a run: its scenario but for the name, what it records and where its files lie,
    seed included, and what simulates it; of another backend than the simulator also its ``origin``
    (``Backend.key``).
    """
    apart = {"name", *OF_RECORDS}
    told = {name: value for name, value in canonical.items() if name not in apart}
    text = json.dumps(placeless(told), sort_keys=True) + engine()
    text += json.dumps(dict(origin), sort_keys=True) if origin else ""
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def key_of(case: AnyCase) -> str:
    """Identifies a case. A run of which all is kept has the key that it has in a sweep."""
    if isinstance(case, Computed):
        text = json.dumps(placeless(case.given), sort_keys=True)
        return _digest(case.name, text, engine(), code(case.by))
    key = run_key(case.canonical, backend(case.backend).key())
    keeps = case.keeps if isinstance(case, Sampled) else ()
    return _digest(key, *keeps) if keeps else key


def _digest(*told: str) -> str:
    return hashlib.blake2b("\n".join(told).encode(), digest_size=16).hexdigest()

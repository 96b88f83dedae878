"""What directories of suites and of replays are told by: what is stored in them has keys that tell
whom it is of, so that any suite, or any replay, goes on in a directory of one.
"""

from __future__ import annotations

from sojourn.build import engine
from sojourn.store.manifest import Manifest
from sojourn.store.place import Tenant

SUITE, REPLAY = "conformance", "replay"


def tenant(kind: str) -> Tenant:
    """Of :data:`SUITE` or :data:`REPLAY`."""
    return Tenant(kind, kind, f"{kind}-runs", content(), lambda _found: "")


def content() -> Manifest:
    """The manifest of such a directory."""
    return {"engine": engine()}

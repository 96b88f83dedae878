"""The certificates by which a client reaches a cluster that somebody else has started."""

from __future__ import annotations

import ssl
from pathlib import Path

import dask
from distributed.security import Security

#: Of Dask's configuration: where a client's certificates are.
AREA = "distributed.comm.tls"
_NEEDED = ("ca-file", "client.cert")
_KEY = "client.key"


def defect() -> str:
    """Why a client cannot use those that Dask's configuration names; empty if it can."""
    for name in (*_NEEDED, _KEY):
        key = f"{AREA}.{name}"
        file = dask.config.get(key)
        if file is None and name in _NEEDED:
            variable = "DASK_" + key.upper().replace(".", "__").replace("-", "_")
            return f"{key} is not set: give a file in PEM, in ~/.config/dask or as {variable}"
        if file is None or "\n" in file:  # a certificate may be written out there
            continue
        try:
            Path(file).read_bytes()
        except OSError as error:
            return f"{key}: {file}: {error.strerror}"
    try:
        Security().get_connection_args("client")
    except ssl.SSLError as error:
        names = f"{', '.join(_NEEDED)} and {_KEY}"
        return f"{AREA}: {names} are no certificates in PEM with their key ({error})"
    return ""

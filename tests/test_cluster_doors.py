"""Who reaches a cluster: whoever has its certificates."""

from __future__ import annotations

import gc
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest
from distributed.security import Security

from conftest import TWO_FLOWS, Command
from sojourn import ScenarioError
from sojourn.executors import Executor, addresses

pytestmark = pytest.mark.concurrent
AREA = "distributed.comm.tls"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Certificates, as Dask's configuration names them, and another key."""
    place = tmp_path_factory.mktemp("certificates")
    ours, other = Security.temporary(), Security.temporary()
    made = {
        "ca-file": ours.tls_ca_file,
        "client.cert": ours.tls_client_cert,
        "client.key": ours.tls_client_key,
        "other.cert": other.tls_client_cert,
        "other.key": other.tls_client_key,
    }
    for name, text in made.items():
        (place / name).write_text(text)
    return {name: str(place / name) for name in made}


@pytest.fixture(scope="module")
def scheduler(files: Mapping[str, str]) -> Iterator[str]:
    """Where one listens that has them, HOST:PORT."""
    ca, cert, key = (files[name] for name in ("ca-file", "client.cert", "client.key"))
    security = Security(
        require_encryption=True,
        tls_ca_file=ca,
        **{f"tls_{role}_cert": cert for role in ("client", "scheduler", "worker")},
        **{f"tls_{role}_key": key for role in ("client", "scheduler", "worker")},
    )
    with distributed.LocalCluster(
        n_workers=1, processes=False, dashboard_address=None, security=security
    ) as cluster:
        yield cluster.scheduler_address.removeprefix("tls://")


def client_of(cluster: Executor) -> Any:
    return cluster._client  # type: ignore[attr-defined]


def refuse_strangers(cluster: Executor) -> None:
    place = client_of(cluster).scheduler.address.rpartition("/")[2]
    for scheme, stranger in (("tcp", Security()), ("tls", Security.temporary())):
        with pytest.raises(OSError, match=r"closed|certificate"):
            distributed.Client(f"{scheme}://{place}", security=stranger, timeout=10)
        gc.collect()


def shared_places(client: Any) -> list[str]:
    """Where Dask's servers have files in a directory of a known name among all temporary files,
    which others could have prepared.
    """
    workers = client.scheduler_info()["workers"].values()
    places = [client.cluster.scheduler.local_directory, *(w["local_directory"] for w in workers)]
    return [place for place in places if Path(place).parents[1] == Path(tempfile.gettempdir())]


def refusal(address: str) -> str:
    with pytest.raises(ScenarioError) as refused, addresses.connected(address, None):
        pass
    told = str(refused.value)
    # A client that did not start stops when it is collected, with a lock that another one's start
    # has: they would wait for ever if that collected it.
    del refused
    gc.collect()
    return told


def test_a_cluster_of_ours_knows_its_own_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in addresses._THREADS:  # which it sets for good
        monkeypatch.setenv(name, "1")
    with addresses.connected("local:1", None) as cluster:
        refuse_strangers(cluster)
        client = client_of(cluster)
        assert not shared_places(client)
        told = client.scheduler_info()
        [worker] = told["workers"].values()
        for server, path in ((told, "info/main/workers.html"), (worker, "metrics")):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{server['services']['dashboard']}/{path}")


def test_certificates_are_given_as_dask_takes_them(
    scheduler: str, files: Mapping[str, str], sojourn: Command, tmp_path: Path
) -> None:
    (tmp_path / "sweep.toml").write_text(TWO_FLOWS)
    command = ("sweep", "sweep.toml", "--out", "d", "--cluster", f"tls://{scheduler}")
    none = sojourn(*command)
    assert none.returncode == 2
    variable = "DASK_DISTRIBUTED__COMM__TLS__CA_FILE"
    assert f"{AREA}.ca-file is not set" in none.stderr
    assert variable in none.stderr
    given = {
        variable: files["ca-file"],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": files["client.cert"],
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": files["client.key"],
    }
    done = sojourn(*command, env=os.environ | given)
    assert done.returncode == 0, done.stderr
    assert "1 run now" in done.stderr


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"client.cert": ""}, f"{AREA}.client.cert is not set"),
        ({"client.key": "gone"}, f"{AREA}.client.key: gone: No such file or directory"),
        ({"client.key": "other.key"}, f"{AREA}: ca-file, client.cert and client.key are no"),
        ({"ca-file": "client.key"}, f"{AREA}: ca-file, client.cert and client.key are no"),
        ({"ca-file": "other.cert"}, f"that has certificates of {AREA}.ca-file"),
        ({"client.cert": "other.cert", "client.key": "other.key"}, "and takes that of client.cert"),
    ],
)
def test_wrong_certificates_are_explained(
    scheduler: str, files: Mapping[str, str], changed: Mapping[str, str], told: str
) -> None:
    names = {name: changed.get(name, name) for name in ("ca-file", "client.cert", "client.key")}
    given = {f"{AREA}.{name}": files.get(file, file) or None for name, file in names.items()}
    with dask.config.set(given):
        assert told in refusal(f"tls://{scheduler}")


def test_a_plain_address_of_a_scheduler_with_certificates_is_explained(scheduler: str) -> None:
    told = refusal(f"tcp://{scheduler}")
    assert "where it has certificates, ADDRESS begins with tls://" in told
    with dask.config.set({"distributed.comm.require-encryption": True}):
        assert "encryption required" in refusal(f"tcp://{scheduler}")


def test_an_address_where_nobody_listens_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_PATIENCE", 0.2)
    assert "no Dask scheduler answers there" in refusal("tcp://127.0.0.1:9")

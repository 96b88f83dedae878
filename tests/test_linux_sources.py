"""Sources of the kernel, unchanged: two of our own in its style, and two of Debian's if there."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sojourn as package
from capabilities import KERNEL_SOURCES
from conftest import ROOT, Command
from sojourn.conformance import beside, counterparts
from sojourn.errors import RunError, ScenarioError
from sojourn.linux import compiler
from sojourn.scenario import load, validated

KERNEL = ROOT / "tests" / "kernel"


def scenario(cca: Any, queue: Any = "fifo", seconds: int = 3, **flow: Any) -> dict[str, Any]:
    return {
        "duration": f"{seconds} s",
        "record": ["cc", "queue"],
        "topology": {"kind": "dumbbell", "bottleneck": {"rate": "20 Mbit/s", "queue": queue}},
        "flows": [{"cca": cca, "rtt": "40 ms", **flow}],
    }


def linux(source: str | Path, **keys: Any) -> dict[str, Any]:
    return {"kind": "linux", "source": str(KERNEL / source), **keys}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize("version", ["6.1", "6.12"])
def test_a_module_runs_with_its_parameters_and_shows_its_state(version: str) -> None:
    control = linux("tcp_sparing.c", version=version, observe=["acked", "states", "flags"])
    fine = package.run(scenario(control | {"ceiling": 80}))
    windows = fine.state.filter(pl.col("name") == "cwnd")["value"]
    assert 80 < windows.max() < 200
    acked = fine.state.filter(pl.col("name") == "acked")["value"].max()
    assert acked == pytest.approx(fine.series.flows["delivered_bytes"].sum() / 1448, rel=0.02)
    slow = package.run(scenario(control | {"ceiling": 10}))
    assert slow.flows["mean_cwnd_l4"][0] < fine.flows["mean_cwnd_l4"][0]


def test_parameters_of_two_flows_are_their_own() -> None:
    document = scenario(linux("tcp_sparing.c", ceiling=20))
    document["flows"].append({"cca": linux("tcp_sparing.c", ceiling=60), "rtt": "40 ms"})
    windows = package.run(document).state.filter(pl.col("name") == "ssthresh")
    first = windows.group_by("component").agg(pl.col("value").first()).sort("component")
    assert first["value"].to_list() == [20, 60]


def test_a_discipline_drops_marks_and_takes_its_attributes() -> None:
    queue = linux("sch_brief.c", limit=50, target=2000, observe=["signals"])
    for ecn, metric in (("off", "drops_aqm"), ("classic", "ce_marks")):
        result = package.run(scenario("cubic", queue, ecn=ecn))
        signals = result.state.filter(pl.col("name") == "signals")["value"].max()
        assert result.series.links[metric].sum() == signals > 0
    full = package.run(scenario("cubic", linux("sch_brief.c", limit=5, target=900_000)))
    assert full.series.links["drops_overflow"].sum() > 0


def test_a_nat_hides_a_host_that_connection_tracking_knows() -> None:
    names = ("source", "destination", "sender", "receiver")

    def seen(masquerade: str) -> list[float]:
        queue = linux("sch_brief.c", observe=list(names), masquerade=masquerade)
        state = package.run(scenario("reno", queue, seconds=1)).state
        return [state.filter(pl.col("name") == name)["value"].max() for name in names]

    router = 0x0AFFFFFF
    source, destination, sender, receiver = seen("source")
    assert (source, destination) == (router, receiver)
    assert seen("destination") == [sender, router, sender, receiver]
    assert len({router, sender, receiver}) == 3


@pytest.mark.parametrize(
    ("keys", "field", "told"),
    [
        ({"version": "5.4"}, "version", "6.1, 6.12"),
        ({"hz": 60}, "hz", "100, 250, 300 or 1000"),
        ({"observe": ["nothing"]}, "source", "has no member named 'nothing'"),
        ({"cieling": 3}, "cieling", "ceiling"),
        ({"masquerade": "source"}, "masquerade", "ceiling"),
        ({"source": "none.c"}, "source", "cannot be read"),
    ],
)
def test_bad_input_is_named(keys: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(ScenarioError, match=rf"flows\.0\.cca\.{field}: .*{told}"):
        load(scenario(linux("tcp_sparing.c") | keys))


@pytest.mark.parametrize(
    ("keys", "told"),
    [({"limits": 3}, r"limits: .*limit"), ({"masquerade": "both"}, "masquerade: .*destination")],
)
def test_bad_input_of_a_discipline_is_named(keys: dict[str, Any], told: str) -> None:
    with pytest.raises(ScenarioError, match=rf"queue\.{told}"):
        load(scenario("reno", linux("sch_brief.c", **keys)))


def test_a_source_that_does_not_compile_is_refused_with_line_and_helper(tmp_path: Path) -> None:
    text = (KERNEL / "tcp_sparing.c").read_text()
    broken = tmp_path / "tcp_broken.c"
    broken.write_text(text.replace("percent_scale = 100;", "percent_scale = tcp_frobnicate();"))
    line = text[: text.index("percent_scale = 100;")].count("\n") + 1
    told = rf"tcp_broken\.c:{line}:.*'tcp_frobnicate'; .* have no tcp_frobnicate"
    with pytest.raises(ScenarioError, match=told):
        load(scenario(linux(broken)))


def test_what_changes_while_it_is_compiled_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Path(shutil.copy(KERNEL / "tcp_sparing.c", tmp_path))
    compiled = compiler._compile

    def edited(*arguments: Any) -> Path:
        made = compiled(*arguments)
        source.write_text(source.read_text() + "/* edited */")
        return made

    monkeypatch.setattr(compiler, "_compile", edited)
    with pytest.raises(ScenarioError, match="has changed meanwhile"):
        load(scenario(linux(source)))
    assert not list(compiler.directory().glob("*.so"))


def test_no_compiler_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(ScenarioError, match="no C compiler: no-such-compiler"):
        load(scenario(linux("tcp_sparing.c")))


@pytest.mark.concurrent
def test_a_crash_ends_its_run_alone(tmp_path: Path) -> None:
    text = (KERNEL / "tcp_sparing.c").read_text()
    crashing = tmp_path / "tcp_crashing.c"
    crashing.write_text(text.replace("ca->marks +=", "BUG_ON(ca->acked > 100); ca->marks +="))
    with pytest.raises(
        RunError, match=r"control of flow 0: on_step has ended its process \(SIGABRT\)"
    ):
        package.run(scenario(linux(crashing)))


@pytest.mark.concurrent
def test_a_crash_of_a_discipline_names_signal_and_function(tmp_path: Path) -> None:
    text = (KERNEL / "sch_brief.c").read_text()
    crashing = tmp_path / "sch_crashing.c"
    crashing.write_text(text.replace("q->signals++;", "*(volatile u32 *)(long)q->signals = 1;"))
    told = r"at \d+\.\d+ s, queue discipline: dequeue has ended its process \(SIGSEGV\)"
    with pytest.raises(RunError, match=told) as failed:
        package.run(scenario("cubic", linux(crashing)))
    assert failed.value.failed_at > 0.05


def test_a_module_that_needs_ecn_serves_its_receiver() -> None:
    """Its receiver's instance echoes every mark once, as DCTCP's does."""

    def echoed(cca: Any, **flow: Any) -> tuple[int, int]:
        marking = {"kind": "codel", "ce_threshold": "1 ms", "ecn": True}
        # A mark every 32 ms: twice the time of the other tests for more than a hundred.
        series = package.run(scenario(cca, marking, 6, rtt="10 ms", **flow)).series
        return series.links["ce_marks"].sum(), series.flows["ece_acks"].sum()

    marks, mirrored = echoed(linux("tcp_mirroring.c"))
    assert mirrored == marks > 100
    assert (marks, mirrored) == echoed("reno", ecn="dctcp")
    marks, classic = echoed("reno", ecn="classic")
    assert classic > 1.5 * marks


@pytest.fixture(scope="module")
def debian(request: pytest.FixtureRequest) -> Path:
    """DCTCP, CoDel and Cake of Debian's package ``linux-source-6.1``, which pytest's cache keeps:
    the archive is a gigabyte to read.
    """
    stamp = f"{KERNEL_SOURCES.stat().st_size}-{KERNEL_SOURCES.stat().st_mtime_ns}"
    place = request.config.cache.mkdir(f"linux-source-6.1-{stamp}")
    wanted = (
        "net/ipv4/tcp_dctcp.c",
        "net/ipv4/tcp_dctcp.h",
        "net/sched/sch_codel.c",
        "include/net/tcp.h",
    )
    wanted += ("net/sched/sch_cake.c",)
    wanted += ("include/uapi/linux/pkt_sched.h", *(f"include/net/codel{x}.h" for x in _CODEL))
    left = {name for name in wanted if not (place / name).exists()}
    if left:
        _unpack(left, place)
    return place


def _unpack(left: set[str], place: Path) -> None:
    with tarfile.open(KERNEL_SOURCES) as archive:
        for member in archive:
            inside = member.name.partition("/")[2]
            if inside in left:
                (place / inside).parent.mkdir(parents=True, exist_ok=True)
                (place / inside).write_bytes(archive.extractfile(member).read())
                left.remove(inside)
            if not left:
                break


_CODEL = ("", "_impl", "_qdisc")


@pytest.mark.needs("kernel-sources")
def test_the_kernel_s_dctcp_and_codel_do_what_ours_do(
    debian: Path, sojourn: Command, tmp_path: Path
) -> None:
    out = tmp_path / "replay"
    done = sojourn(
        "conformance", "dctcp", "codel", "--against", debian, "--out", out, "--jobs", "2"
    )
    assert done.returncode == 0, done.stdout
    table = pl.read_csv(out / "replay.csv")
    assert table.columns[:6] == ["kind", "name", "scenario", "steps", "first_difference", "note"]
    compared = table.filter(pl.col("loop") == "open")
    assert compared.height == 7
    assert compared["steps"].min() > 1000
    assert table["first_difference"].null_count() == table.height, "none parts"
    stored = {path: path.read_bytes() for path in out.glob("r*/*.parquet")}
    (out / "replay.csv").rename(tmp_path / "before.csv")
    again = sojourn("conformance", "dctcp", "codel", "--against", debian, "--out", out)
    assert again.returncode == 0, again.stderr
    assert (out / "replay.csv").read_bytes() == (tmp_path / "before.csv").read_bytes()
    assert {path: path.read_bytes() for path in out.glob("r*/*.parquet")} == stored != {}


@pytest.mark.needs("kernel-sources")
@pytest.mark.parametrize("name", ["NAT", "NAT on the way in"])
def test_the_kernel_s_cake_finds_hosts_behind_a_nat_as_ours_does(debian: Path, name: str) -> None:
    place = ("topology", "bottleneck", "queue")

    def differences(ours: str, theirs: str) -> int:
        """Steps that differ, each in the mode of that name."""
        mode, other = (counterparts.modes("cake", "6.1")[one] for one in (ours, theirs))
        kernel = {"kind": "linux", "source": str(debian / "net/sched/sch_cake.c")}
        documents = (
            mode.path.scenario({"queue": queue}, mode.flows)
            for queue in ({"kind": "cake", **mode.ours}, {**kernel, **other.theirs})
        )
        mine, their = (validated(document).canonical for document in documents)
        return beside.opened(mine, their, place)[1]

    looked_up = f"{name}, looked up"
    assert differences(name, name) == differences(looked_up, looked_up) == 0
    assert differences(looked_up, name) > 100
    assert differences(name, looked_up) > 100

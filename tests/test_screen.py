"""What the command line prints, on a terminal and into a pipe."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import resource
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from conftest import Command
from sojourn.metrics import metrics
from sojourn.names import unknown

FLOWS = pytest.mark.parametrize("flows", [2, 20, 1000])


def on_a_terminal(
    *arguments: object, cwd: Path, columns: int = 80, status: int = 0, err: bool = False
) -> list[str]:
    """The lines that the command shows on a terminal of so many columns, as output or as errors."""
    screen, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [sys.executable, "-m", "sojourn", *map(str, arguments)]
    size = {"COLUMNS", "LINES"}
    environment = {name: value for name, value in os.environ.items() if name not in size}
    streams = {"stdin": terminal, "stdout": terminal, "stderr": terminal}
    streams["stdout" if err else "stderr"] = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=cwd, env=environment, **streams) as running:
        os.close(terminal)
        shown = b""
        try:
            while piece := os.read(screen, 65536):
                shown += piece
        except OSError:  # The other end is closed.
            pass
    os.close(screen)
    assert running.returncode == status
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).splitlines()


def many(flows: int) -> tuple[str, ...]:
    return ("--no-figures", "--set", f"flows.0.count={flows - 1}", "--set", "duration=1 s")


@FLOWS
def test_all_tables_fit_eighty_columns_and_break_no_name(scenario_file: Path, flows: int) -> None:
    lines = on_a_terminal("run", scenario_file, *many(flows), "--all", cwd=scenario_file.parent)
    assert max(map(len, lines)) <= 80
    words = set(" ".join(lines).split())
    missing = ("group", "transfer")  # of which the scenario has none
    shown = {m.name for m in metrics() if not m.on_request and m.scope not in missing}
    assert shown <= words


@FLOWS
def test_a_summary_has_about_ten_lines_that_fit(scenario_file: Path, flows: int) -> None:
    lines = on_a_terminal("run", scenario_file, *many(flows), cwd=scenario_file.parent)
    assert max(map(len, lines)) <= 80
    assert len([line for line in lines if line.strip()]) <= 18
    text = " ".join(lines)
    assert "share a bottleneck of 8 Mbit/s" in text
    assert "throughput" in text
    assert "Jain's index" in text
    assert "--all" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("plot", "{run}", "--y", "throughput", "--x", "cca"),
        ("list", "metricks"),
        ("run", "{file}", "--backend", "kernels"),
        ("run", "{file}", "--set", "flows.0.cca=renoo"),
        ("run", "{file}", "--out", "{run}", "--seed", "7"),
    ],
)
def test_a_message_breaks_between_words(
    called: Command, scenario_file: Path, arguments: tuple[str, ...]
) -> None:
    """Also what click says of a command line; a path that is longer than a line stays whole."""
    here = scenario_file.parent
    run = "-".join(["a", "path", *["that", "is", "long"] * 8])
    called("run", scenario_file, "--no-figures", "--out", run)
    filled = [argument.format(file=scenario_file, run=run) for argument in arguments]
    whole = called(*filled).stderr
    broken = on_a_terminal(*filled, cwd=here, status=2, err=True)
    assert any(len(line) > 80 for line in whole.splitlines())
    assert len(broken) > len(whole.splitlines())
    assert " ".join(broken).split() == whole.split()
    assert all(len(line) <= 80 or " " not in line for line in broken)


@pytest.mark.parametrize("kind", ["", "experiments", "ccas", "metrics"])
def test_a_list_breaks_no_word_and_loses_none(called: Command, tmp_path: Path, kind: str) -> None:
    chosen = [kind] if kind else []
    lines = on_a_terminal("list", *chosen, cwd=tmp_path)
    words = {word for word in called("list", *chosen).stdout.split() if word.strip("─")}
    assert words <= set(" ".join(lines).split())
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("command", ["new", "list", "plot", "run"])
def test_usage_breaks_no_word(tmp_path: Path, command: str) -> None:
    usage, *rest = on_a_terminal(command, "--help", cwd=tmp_path)
    assert usage.startswith("Usage: ")
    assert rest[0] == ""


def test_a_sweep_that_runs_nothing_tells_no_rate(called: Command, scenario_file: Path) -> None:
    with scenario_file.open("a") as file:
        file.write('[sweep.grid]\n"flows.0.cca" = ["reno", "vegas"]\n')
    assert " took 0:00:0" in called("sweep", scenario_file).stderr
    again = called("sweep", scenario_file).stderr
    assert "2 stored before" in again
    assert re.search(r"2/2 +took 0:00:0\d$", again, flags=re.MULTILINE)
    assert "runs/s" not in again


def test_one_flow_crosses_what_several_share(called: Command, scenario_file: Path) -> None:
    alone = ("--set", 'flows=[{ cca = "reno", rtt = "20 ms" }]', "--no-figures")
    first = called("run", scenario_file, *alone).stdout.splitlines()[0]
    assert first.startswith("1 reno flow (base RTT 20 ms) crosses a bottleneck of 8 Mbit/s and a")


def test_a_narrow_terminal_gets_the_columns_one_below_the_other(scenario_file: Path) -> None:
    shown = on_a_terminal(
        "run", scenario_file, *many(4), "--all", cwd=scenario_file.parent, columns=60
    )
    assert max(map(len, shown)) <= 60
    assert sum(line.startswith("mean_throughput_l4") for line in shown) > 1


def test_a_pipe_gets_lines_that_are_whole(called: Command, scenario_file: Path) -> None:
    flows = ("--set", "flows.0.count=20", "--set", "flows.1.count=20", "--no-figures")
    done = called("run", scenario_file, *flows, "--all")
    [row] = [row for row in done.stdout.splitlines() if row.startswith("mean_throughput_l4")]
    assert len(re.findall(r"\S+ \(\S+-\S+\)", row)) == 2
    first = called("run", scenario_file, *many(1000)).stdout.splitlines()[0]
    assert first.startswith("999 reno and 1 cubic flow (base RTT 20 ms) share")
    assert first.endswith("seed 1).")


def test_many_flows_are_shown_as_groups_with_the_extremes_by_name(
    called: Command, scenario_file: Path
) -> None:
    lines = called("run", scenario_file, *many(20)).stdout.splitlines()
    [reno] = [line for line in lines if line.startswith("reno ")]
    assert reno.split()[:2] == ["reno", "19"]
    assert re.search(r"\d\S* \(\S+-\S+\)", reno)
    assert sum(re.match(r"(most|least) throughput \(Mbit/s\), \d+ \w+: ", x) is not None
               for x in lines) == 2  # fmt: skip


def test_metrics_that_are_named_are_shown(called: Command, scenario_file: Path) -> None:
    done = called("run", scenario_file, "--no-figures", "--metrics", "mean_throughput_l4")
    assert done.returncode == 0, done.stderr
    names = re.findall(r"^\w+_l\d", done.stdout, flags=re.MULTILINE)
    assert names == ["mean_throughput_l4"]


def test_a_summary_warns(called: Command, scenario_file: Path) -> None:
    done = called("run", scenario_file, *many(1000))
    warnings = [
        line for line in done.stdout.splitlines() if line.startswith(("error:", "warning:"))
    ]
    assert 1 <= len(warnings) <= 4
    told = r"error: flows \d+, \d+, \d+, \d+ and \d+ more: delivered nothing"
    assert any(re.fullmatch(told, warning) for warning in warnings)


def test_every_flow_is_in_the_json(called: Command, scenario_file: Path) -> None:
    done = called("run", scenario_file, *many(1000), "--format", "json")
    assert done.stdout.count('"mean_throughput_l4"') == 1000


def test_a_thousand_flows_are_shown_and_drawn_in_a_moment(
    sojourn: Command, scenario_file: Path
) -> None:
    few, thousand = (
        seconds(sojourn, scenario_file, "--set", f"flows.0.count={n}", "--set", "duration=2 s")
        for n in (20, 1000)
    )
    # Drawing a line per flow took ten times as long as a few.
    assert thousand < few + 5


def seconds(sojourn: Command, *arguments: object) -> float:
    """What a run takes of a processor, however busy the machine is."""
    began = _of_children()
    assert sojourn("run", *arguments).returncode == 0
    return _of_children() - began


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_a_long_line_of_a_set_up_breaks_between_words(tmp_path: Path) -> None:
    cell = ("--where", "bandwidth_mbit=10", "--where", "delay_ms=0", "--out", "out")
    asked = ("sce2019", "--table", "99", "--quick", *cell)
    lines = on_a_terminal("reproduce", *asked, cwd=tmp_path)
    own = lines[lines.index("Set-up:") + 1 :]
    assert max(map(len, own)) <= 80
    # A line of the list stands in by two spaces, what follows of it by four.
    [begin] = [i for i, line in enumerate(own) if line.startswith("  grid: one flow")]
    assert own[begin + 1].startswith("    ")
    assert "(published)" in " ".join(own[begin : begin + 3])


@pytest.mark.parametrize(
    ("given", "first"),
    [
        ("throughput", "mean_throughput_l4"),
        ("througput", "mean_throughput_l4"),
        ("mean_throughput", "mean_throughput_l4"),
        ("mean_loss", "mean_loss_run_l4"),
        ("link_losses", "total_link_losses_l1"),
        ("utilisation", "utilization_l1"),
        ("MEAN-CWND-L4", "mean_cwnd_l4"),
    ],
)
def test_a_metric_is_suggested_by_what_is_meant(given: str, first: str) -> None:
    names = [metric.name for metric in metrics()]
    assert f"; did you mean '{first}'" in unknown("metric", given, names, "sojourn list metrics")


def test_a_few_names_are_suggested_or_the_one_that_a_slip_is_in() -> None:
    names = [metric.name for metric in metrics()]
    assert re.search(r"did you mean '\w+', '\w+' or '\w+'\? see", unknown("", "rtt", names, "x"))
    assert "did you mean 'mean_srtt_l4'? see" in unknown("", "mean_srt_l4", names, "x")
    assert unknown("figure", "xyz", ["ecdf"]) == "unknown figure 'xyz'; allowed: ecdf"

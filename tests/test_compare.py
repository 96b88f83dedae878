"""``sojourn compare``: runs, sweeps and folders of sweeps against each other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sojourn as package
from conftest import ROOT, TWO_FLOWS, Command
from sojourn import ScenarioError
from sojourn.evaluation.compare import Comparison, judged
from sojourn.evaluation.margins import Margin, Margins, read, relative
from sojourn.evaluation.side import Side
from sojourn.statistics.values import Values

COLUMNS = "point,scope,id,metric,a,b,difference,low,high,effect,p,verdict"
LOSSY = TWO_FLOWS.replace("[[flows]]", 'loss = "0.3 %"\n\n[[flows]]', 1)
SWEEP = f"""{LOSSY}
[sweep]
replications = 16
[sweep.grid]
"topology.bottleneck.rate" = ["4 Mbit/s", "8 Mbit/s"]
"""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Cubic, BBR with the same seeds, and Cubic with others, against Reno."""
    base = tmp_path_factory.mktemp("stores")
    other = ('flows.1.cca="bbr"',)
    package.sweep(SWEEP, directory=base / "old")
    package.sweep(SWEEP, directory=base / "new", overrides=other)
    package.sweep(SWEEP, directory=base / "again", overrides=("seed=2000",))
    return base


@pytest.fixture(scope="module")
def made(stores: Path) -> Comparison:
    """BBR against Cubic."""
    return package.compare(stores / "new", stores / "old")


def test_the_table_the_page_and_the_figure(called: Command, stores: Path, tmp_path: Path) -> None:
    done = called("compare", stores / "new", stores / "old", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("new against old: ")
    assert "Key metrics (difference ± 95 % confidence)" in done.stdout
    out = tmp_path / "out"
    assert (out / "report.html").stat().st_size < 8e6
    assert (out / "figures" / "forest.svg").exists()
    assert (out / "comparison.csv").read_text().startswith(COLUMNS)
    again = called("report", out)
    assert again.returncode == 0, again.stderr
    table = pl.read_csv(out / "comparison.csv")
    table.drop("family").write_csv(out / "comparison.csv")  # as before there were families
    assert called("report", out).returncode == 0


def test_formats(called: Command, stores: Path) -> None:
    ways = {
        way: called("compare", stores / "new", stores / "old", "--format", way)
        for way in ("json", "csv")
    }
    assert all(done.returncode == 0 for done in ways.values())
    rows = json.loads(ways["json"].stdout)
    assert ways["csv"].stdout.splitlines()[0].startswith(COLUMNS)
    assert len(ways["csv"].stdout.splitlines()) == len(rows) + 1
    assert {row["point"] for row in rows} == {"rate = 4 Mbit/s", "rate = 8 Mbit/s"}
    assert {row["verdict"] for row in rows} <= {"better", "worse", "same", "different", "unsure"}


def test_a_change_is_found_and_its_direction_told(made: Comparison) -> None:
    throughput = pl.col("metric") == "mean_throughput_l4"
    mine, other = (
        made.table.filter(throughput & (pl.col("scope") == "flow") & (pl.col("id") == flow))
        for flow in ("1", "0")
    )
    assert set(mine["verdict"]) == {"better"}
    assert set(other["verdict"]) == {"worse"}
    assert (mine["difference"] == mine["a"] - mine["b"]).all()
    assert (mine["low"] > 0).all()
    assert mine["paired"].all()
    assert (mine["n_a"] == 16).all()


def test_other_seeds_are_not_paired_and_change_nothing(stores: Path) -> None:
    made = package.compare(stores / "again", stores / "old")
    assert not made.table["paired"].any()
    assert len(made.of("better", "worse", "different")) == 0


def test_a_store_against_itself_is_the_same(stores: Path) -> None:
    made = package.compare(stores / "old", stores / "old")
    assert set(made.table["verdict"]) == {"same"}


def stored(name: str, replications: int = 10) -> Side:
    """Vegas or Cubic beside Cubic at 10 Mbit/s, 10 replications that were stored."""
    file = ROOT / "tests" / "beside_cubic" / f"{name}.csv"
    texts = dict.fromkeys(("point", "scope", "id"), pl.String)
    values = pl.read_csv(file, schema_overrides=texts, infer_schema_length=None).with_columns(
        pl.col(*texts).fill_null(""), pilot=pl.lit(None, pl.Boolean)
    )
    chosen = sorted(set(values["seed"]))[:replications]
    return Side(name, values.filter(pl.col("seed").is_in(chosen)))


def test_what_matters_is_not_lost_among_what_says_the_same() -> None:
    """0.72 against 5.0 Mbit/s in ten replications, among 120 rows."""
    made = judged(stored("vegas"), stored("cubic"), Margins(relative("2 %", "")))
    mine = made.table.row(
        by_predicate=(pl.col("metric") == "mean_throughput_l4") & (pl.col("id") == "1"), named=True
    )
    assert (mine["verdict"], mine["family"]) == ("worse", "key")
    assert mine["a"] == pytest.approx(0.72, abs=0.01)
    assert mine["b"] == pytest.approx(5.02, abs=0.01)
    # Two of 1,024 ways to change signs are as far apart, six comparisons can differ.
    assert mine["p"] == pytest.approx(2 / 2**10 * 6)
    assert len(made.table) == 120
    (note,) = made.notes
    assert note.startswith("warning: other metrics: with 10 replications")
    assert note.endswith("among 113 comparisons it takes 12")


def test_where_replications_are_too_few_for_key_metrics_it_says_how_many_it_takes() -> None:
    sides = [stored(name, replications=5) for name in ("vegas", "cubic")]
    made = judged(*sides, Margins(relative("2 %", "")))
    assert not len(made.of("better", "worse"))
    assert made.notes[0].startswith("warning: key metrics: with 5 replications")
    assert made.notes[0].endswith("among 7 comparisons it takes 8")
    enough = [stored(name, replications=8) for name in ("vegas", "cubic")]
    assert "worse" in set(judged(*enough, Margins(relative("2 %", ""))).family("key")["verdict"])


def test_permutations_are_as_many_as_the_own_family_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = []

    def p_values(a: Values, b: Values, level: float, *, paired: bool) -> Values:
        levels.append(level)
        return np.ones(len(a))

    monkeypatch.setattr("sojourn.statistics.difference.p_values", p_values)
    judged(stored("vegas"), stored("cubic"), Margins(relative("2 %", "")))
    assert max(levels) == pytest.approx(0.05 / 6)
    assert min(levels) < 0.05 / 80


def test_the_table_shows_key_metrics_and_on_demand_all(
    called: Command, stores: Path, made: Comparison
) -> None:
    sides = (stores / "new", stores / "old")
    short, whole = called("compare", *sides), called("compare", *sides, "--all")
    assert short.returncode == whole.returncode == 0
    for done, families in ((short, ["key"]), (whole, ["key", "other"])):
        shown = made.table.filter(pl.col("family").is_in(families))
        rows = [line for line in done.stdout.splitlines() if re.search(r"_l\d |^empty_s", line)]
        assert sum(not line.startswith("Next") for line in rows) == len(shown)
    assert "± " in short.stdout


def test_fewer_metrics_are_fewer_comparisons(called: Command, stores: Path) -> None:
    names = ("--metrics", "mean_throughput_l4", "--format", "json")
    done = called("compare", stores / "new", stores / "old", *names)
    assert len(json.loads(done.stdout)) == 4


def test_a_folder_of_sweeps(stores: Path) -> None:
    for side in ("A", "B"):
        for name in ("steady", "bursty"):
            package.sweep(SWEEP.replace("= 16", "= 2"), directory=stores / side / name)
    made = package.compare(stores / "A", stores / "B")
    assert made.table["point"].unique(maintain_order=True).to_list() == [
        f"{name} rate = {rate} Mbit/s" for name in ("bursty", "steady") for rate in (4, 8)
    ]


def test_runs_decide_nothing_by_themselves(called: Command, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(LOSSY)
    for seed in (1, 2):
        called("run", file, "--seed", seed, "--out", f"seed-{seed}", "--no-figures")
    done = called("compare", "seed-1", "seed-2", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["verdict"] for row in rows} == {"same", "unsure"}
    assert all(row["low"] is None and row["p"] is None for row in rows)
    assert all(row["difference"] == 0 for row in rows if row["verdict"] == "same")


def test_identical_replications_are_no_replications(tmp_path: Path) -> None:
    identical = f'{TWO_FLOWS}\n[sweep]\nreplications = 8\nstart_jitter = "0 s"\n'
    package.sweep(identical, directory=tmp_path / "one")
    package.sweep(identical, directory=tmp_path / "other", overrides=("flows.1.cca='bic'",))
    made = package.compare(tmp_path / "one", tmp_path / "other")
    identical, *too_few = made.notes
    assert identical.startswith("warning: of 8 replications only 1 differ, and count")
    for family, note in zip(("key", "other"), too_few, strict=True):
        assert note.startswith(f"warning: {family} metrics: with 1 replications of each side no")
    assert set(made.table["verdict"]) <= {"same", "unsure"}
    assert made.table["p"].null_count() == len(made.table)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("old", "missing"), "missing: not a result directory"),
        (("old", "empty"), "empty: holds no results"),
        (("old", "old", "--margin", "much"), "--margin: 'much' given; expected a share"),
        (("old", "old", "--metrics", "throughput"), "did you mean"),
    ],
)
def test_bad_input(called: Command, stores: Path, arguments: tuple[str, ...], told: str) -> None:
    (stores / "empty").mkdir(exist_ok=True)
    done = called("compare", *arguments, cwd=stores)
    assert done.returncode == 2
    assert told in done.stderr


def test_sides_without_a_common_point(stores: Path, tmp_path: Path) -> None:
    other = (
        SWEEP.replace("= 16", "= 2").replace("4 Mbit/s", "5 Mbit/s").replace("8 Mbit/s", "6 Mbit/s")
    )
    package.sweep(other, directory=tmp_path / "other")
    with pytest.raises(ScenarioError, match="no point in common"):
        package.compare(stores / "old", tmp_path / "other")


def test_margins(tmp_path: Path) -> None:
    file = tmp_path / "margins.toml"
    file.write_text('default = "1 %"\nmean_srtt_l4 = "0.5 ms"\ntotal_rtos_l4 = 2\n')
    assert read(file) == Margins(
        relative("1 %", ""),
        {"mean_srtt_l4": Margin(0.5, False), "total_rtos_l4": Margin(2, False)},
    )
    assert relative("2%", "").around(-50) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('mean_srt_l4 = "1 %"', "did you mean 'mean_srtt_l4'"),
        ('mean_srtt_l4 = "1 s"', "expected a share such as '2 %' or a quantity such as '0.5 ms'"),
        ("mean_srtt_l4 = 1", "mean_srtt_l4: 1 given"),
        ('default = "-1 %"', "default: '-1 %' given"),
        ("default = ", "margins.toml"),
    ],
)
def test_bad_margins(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "margins.toml"
    file.write_text(text)
    with pytest.raises(ScenarioError, match="--margins") as error:
        read(file)
    assert told in str(error.value)

"""`workprof memory bins --profile`: the library's bins and the page's, and every kept run of them asked for again."""

import re
import shlex

import pandas as pd
import pytest

from tests.pages.conftest import SAMPLE
from workprof.cli.main import app
from workprof.core.errors import NotEnoughData, WorkprofError
from workprof.core.records import to_json
from workprof.core.settings import from_environment
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import ProfileBinSettings, bins_of
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

ROWS = 600
OTHER = ProfileSettings(min_cluster_size=40, min_samples=40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A home with a part of the sample as 'jobs', the same without requests as 'bare', and two clusterings of it."""
    folder = tmp_path_factory.mktemp("profile_bins")
    whole = pd.read_parquet(SAMPLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as bench:
            bench.ingest([SAMPLE])
            jobs = bench.sample("pai_sample", "workload", ROWS, "jobs").hash
            for settings in (ProfileSettings(), OTHER):
                bench.profiles(jobs, settings)
            asked = [name for name in whole.columns if "mem" in name.lower() and "plan" in name.lower()]
            whole.drop(columns=asked).head(ROWS).to_parquet(folder / "bare.parquet")
            bench.ingest([folder / "bare.parquet"])
    return folder


@pytest.fixture
def home(folder, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(folder / "home"))
    monkeypatch.delenv("WORKPROF_READONLY", raising=False)


@pytest.fixture
def ask(home, capsys):
    def asked(*words):
        capsys.readouterr()
        app(args=[str(word) for word in words], standalone_mode=False)
        return capsys.readouterr().out

    return asked


def library(question):
    with Workbench(from_environment()) as bench:
        return question(bench)


def test_the_bins_are_those_of_the_rows_of_the_profile(home):
    asked = BinSettings(k=2, weight="count")
    with Workbench(from_environment()) as bench:
        found = bench.profile_bins("jobs", ProfileBinSettings(0, asked), fit=OTHER)
        fit = bench.profiles("jobs", OTHER)
        jobs = bench.rows("jobs", fit.row_ids[fit.labels == 0].tolist())
    by_hand = bins_of({"jobs": jobs}, asked)
    assert found.bins.edges_bytes == by_hand.edges_bytes
    assert to_json(found.bins.effect) == to_json(by_hand.effect)
    assert found.n_rows == len(jobs)


def test_another_clustering_is_another_answer(home):
    with Workbench(from_environment()) as bench:
        first = bench.profile_bins("jobs", ProfileBinSettings(0))
        second = bench.profile_bins("jobs", ProfileBinSettings(0), fit=OTHER)
        sizes = [bench.profiles("jobs", settings).cards for settings in (None, OTHER)]
    for found, cards in zip((first, second), sizes, strict=True):
        assert found.n_rows == next(card.size for card in cards if card.profile == 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("jobs", "--profile", 99), "there is no profile 99; this clustering has profiles 0 to"),
        (("jobs", "--profile", -1), "profile is -1; give a whole number of 0 or more"),
        (("jobs", "--profile", 0, "--task", "ps"), "either --task or --profile"),
        (("bare", "--profile", 0), "have a request"),
    ],
    ids=["unknown", "outliers", "both", "no requests"],
)
def test_what_cannot_be_asked_is_refused(ask, words, said):
    with pytest.raises(WorkprofError, match=re.escape(said)):
        ask("memory", "bins", *words)


KEPT = {
    "default": (ProfileBinSettings(0), None),
    "edges": (ProfileBinSettings(1, BinSettings(edges_bytes=(2e9, 5.5e9), step_bytes=5e8)), None),
    "other clustering": (ProfileBinSettings(0, BinSettings(k=2)), OTHER),
}


@pytest.mark.some(2)
@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("method", ["profile_bins", "profile_improvement"])
def test_a_kept_run_is_asked_for_again(home, name, method):
    settings, clustering = KEPT[name]
    with Workbench(from_environment()) as bench:
        for one in bench.stored_runs():
            if one.step == f"memory.{method}":
                bench.remove_run(one.run)
        getattr(bench, method)("jobs", settings, fit=clustering)
        run = next(one for one in bench.stored_runs() if one.step == f"memory.{method}")
        code, again = bench.run_in_python(run.run), bench.run_again(run.run)
        bench.remove_run(run.run)
    exec(compile(code, "snippet", "exec"), {})
    assert kept(run)
    library(lambda bench: bench.remove_run(run.run))
    words = shlex.split(again.shell)
    app(args=words[1:], standalone_mode=False)
    assert kept(run)


def kept(run):
    return library(lambda bench: any(one.key == run.key for one in bench.stored_runs()))


def test_a_table_too_small_for_profiles_says_so(home, tmp_path):
    small = pd.DataFrame(
        {"peak_memory_bytes": [1e9] * 9, "requested_memory_bytes": 2e9, "duration_s": 60.0, "cpu_usage_percent": 1.0}
    ).assign(task_name="sort")
    small.to_parquet(tmp_path / "small.parquet")
    with Workbench(from_environment()) as bench:
        report = bench.ingest([tmp_path / "small.parquet"])
        with pytest.raises(NotEnoughData, match="9 rows cannot hold two profiles"):
            bench.profile_bins(report.hash, ProfileBinSettings(0))
        bench.remove(report.hash)


def test_tables_for_people_have_the_names_of_profiles(ask):
    called = library(lambda bench: bench.profile_names("jobs"))
    text = ask("memory", "over-time", "jobs", "--by", "profile")
    (table,) = (block.splitlines()[1:] for block in text.split("\n\n") if block.startswith("Time bins"))
    found = {name for name in called for line in table[1:] if name in line}
    assert len(found) >= 2
    assert not re.search(r"profile \d|no profile|outside every|(?<!\()P\d", text)
    starts = {line.index(name) for line in table for name in called if name in line}
    assert len(starts) == 1  # the columns are aligned

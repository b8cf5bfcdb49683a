"""Datasets are never mistaken: no name reads as a hash, and where an older home has such a name, the hash wins."""

import re

import pytest

from workprof.core.errors import ColumnMissing, DatasetUnknown, SettingsError, WrongKind
from workprof.forecasts.durations import DurationSettings
from workprof.store.reports import IngestOptions
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

ONE = "job_name,duration_s\na,1\n"
OTHER = "job_name,duration_s\nb,2\nc,3\n"
LIKE_HASHES = ("deadbeef", "DEADBEEF12", "20240115", "0" * 32, "a" * 40)


@pytest.fixture
def two(store, write):
    """Two datasets: a of one row, b of two."""
    return tuple(
        store.ingest([write(name, text)], IngestOptions()) for name, text in (("a.csv", ONE), ("b.csv", OTHER))
    )


def call(store, hashed, name):
    """Give a dataset a name that this version would refuse, as an earlier one did not."""
    with store.writing(), store._database.transaction() as cursor:
        cursor.execute("UPDATE catalogue SET name = ? WHERE hash = ?", [name, hashed])


@pytest.mark.some(2)
@pytest.mark.parametrize("name", LIKE_HASHES)
def test_a_name_that_reads_as_a_hash_is_refused_wherever_one_is_given(store, two, write, name):
    path = write("c.csv", "job_name,duration_s\nd,4\n")
    for give in (
        lambda: store.rename("a", name),
        lambda: store.ingest([path], IngestOptions(name=name)),
        lambda: store.sample("b", "job_name", 1, name),
    ):
        with pytest.raises(SettingsError, match=rf"'{name}' cannot be used: .* beginning of a hash; .*'data-{name}'"):
            give()
    assert sorted(dataset.name for dataset in store.datasets()) == ["a", "b"]
    assert store.rename("a", f"data-{name}").name == f"data-{name}"


def test_other_names_stay_allowed(store, two):
    for name in ("deadbee", "deadbeef.12", "deadbeeg", "2024-01-15", "dead beef 12"):
        assert store.rename(two[0].hash, name).hash == two[0].hash
        assert store.dataset(name).hash == two[0].hash


@pytest.mark.some(2)
@pytest.mark.parametrize("file", ["deadbeef12.csv", "20240115.csv.gz", "(deadbeef12).csv", "a" * 40 + ".csv"])
def test_a_file_whose_stem_reads_as_a_hash_gets_another_name_and_that_is_said(store, write, file):
    stem = file.split(".")[0].strip("()")
    report = store.ingest([write(file, ONE)], IngestOptions(format="generic"))
    assert report.dataset == f"dataset-{stem}"
    (told,) = [check for check in report.checks if check.name == "name"]
    assert told.message == f"{stem!r} reads as the hash of a dataset, so this one was called {report.dataset!r}"
    again = store.ingest([write(file, OTHER)], IngestOptions(format="generic"))
    assert again.dataset == f"dataset-{stem}-2"
    named = store.ingest([write(file, "job_name,duration_s\nd,4\n")], IngestOptions(format="generic", name="own"))
    assert "name" not in {check.name for check in named.checks}


def test_a_whole_hash_wins_over_a_name(store, two):
    first, second = (report.hash for report in two)
    call(store, second, first)  # b is called by the hash of a
    for asked in (first, first.upper()):
        assert store.dataset(asked).hash == first
    assert store.preview(first)["job_name"].tolist() == ["a"]
    assert store.report(first).hash == first
    assert store.remove(first).hash == first
    assert [dataset.hash for dataset in store.datasets()] == [second]


def test_a_whole_hash_is_never_a_name_even_when_its_dataset_is_gone(store, two):
    first, second = (report.hash for report in two)
    call(store, second, first)
    store.remove(first)
    for act in (store.remove, store.dataset):
        with pytest.raises(
            DatasetUnknown, match=rf"no dataset has the hash '{first}'.* called so has the hash {second}"
        ):
            act(first)
    assert store.rename(second[:8], "b").name == "b"
    assert store.remove("b").hash == second


def test_too_short_a_hash_is_told_how_long_it_must_be(store, two):
    first = two[0].hash
    with pytest.raises(DatasetUnknown, match=rf"at least 8 characters of a hash, such as {first[:8]}"):
        store.dataset(first[:7])


def test_what_is_a_name_and_begins_another_hash_is_asked_back(store, two):
    first, second = (report.hash for report in two)
    call(store, second, first[:8])
    with pytest.raises(DatasetUnknown, match=rf"may be any of 2 datasets: (?=.*{first})(?=.*{second}).*whole hash"):
        store.remove(first[:8])
    assert store.dataset(first[:9]).hash == first
    assert store.rename(second, "b").hash == second
    assert store.dataset(first[:8]).hash == first


def test_a_name_of_an_older_home_is_opened_shown_renamed_and_removed(settings, store, two):
    second = two[1].hash
    call(store, second, "20240115")
    assert store.dataset("20240115").hash == second
    assert store.report("20240115").dataset == "20240115"
    assert len(store.preview("20240115")) == 2
    assert store.rename("20240115", "20240115").hash == second  # as it is
    assert store.rename("20240115", "january").hash == second
    call(store, second, "20240115")
    assert store.remove("20240115").hash == second


def test_summaries_of_a_dataset_are_its_own_whatever_others_are_called(settings, write):
    """The workbench works on by the hash that it found first."""
    with Workbench(settings) as workbench:
        first = workbench.ingest([write("a.csv", ONE)]).hash
        second = workbench.ingest([write("b.csv", OTHER)]).hash
        call(workbench._store, second, first)
        for hashed, jobs in ((first, ["a"]), (second, ["b", "c"])):
            assert workbench.preview(hashed)["job_name"].tolist() == jobs
            assert {one.rows for one in workbench.column_profiles(hashed)} == {len(jobs)}
        assert workbench.remove(first).hash == first
        assert workbench.preview(second)["job_name"].tolist() == ["b", "c"]


def test_a_whole_hash_is_no_file_for_those_who_observe(settings, write, tmp_path, monkeypatch):
    """The page names the dataset of finished jobs by its hash; a file may be called so where the server runs."""
    recording = "workload,run,t,cpu%\nw,r,1,2\nw,r,2,3\n"
    with Workbench(settings) as workbench:
        rows = "".join(f"j{i},{i * 0.5}\n" for i in range(50))
        jobs = workbench.ingest([write("a.csv", f"job_name,duration_s\n{rows}")]).hash
        counters = workbench.ingest([write("b.csv", recording)]).hash
        write(counters, "")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(WrongKind, match="dataset b holds counters"):
            workbench.observe(jobs, counters)


def test_a_dataset_without_a_column_that_a_question_reads_is_refused_in_words(settings, write):
    words = r"dataset a has no column user; it has job_name, duration_s; choose another dataset, or .* --map"
    with Workbench(settings) as workbench:
        jobs = workbench.ingest([write("a.csv", ONE)]).hash
        asked = DurationSettings(by="user")
        for ask in (workbench.observed_durations, workbench.observed_durations.start):
            with pytest.raises(ColumnMissing, match=words):
                ask(jobs, asked)
        assert re.search(words, workbench.observed_durations.cached(jobs, asked).refusal)
        assert workbench.observed_durations(jobs, DurationSettings(by="all")).n_rows == 1

"""What is kept in memory of a dataset follows every change: the catalogue, and the summaries of its columns."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pytest

from workprof import Workbench
from workprof.core.errors import DatasetUnknown
from workprof.core.records import to_json
from workprof.core.settings import Settings
from workprof.workbench.question_methods import Views


@pytest.fixture
def workbench(tmp_path):
    with Workbench(Settings(home=tmp_path / "home", data=tmp_path)) as opened:
        yield opened


def ingested(workbench, folder, name, most):
    path = folder / f"{name}.csv"
    pd.DataFrame({"task_name": ["a", "b", "c"], "duration_s": [1.0, 2.0, most]}).to_csv(path, index=False)
    return workbench.ingest([path])


def longest(workbench, dataset):
    return next(one for one in workbench.column_profiles(dataset) if one.column.name == "duration_s").maximum


@pytest.mark.slow
def test_a_new_name_a_removal_and_a_new_dataset_are_seen_at_once(workbench, tmp_path):
    first = ingested(workbench, tmp_path, "first", 3.0)
    assert workbench.dataset("first").hash == first.hash
    workbench.rename(first.hash, "renamed")
    assert workbench.dataset(first.hash).name == "renamed"
    with pytest.raises(DatasetUnknown):
        workbench.dataset("first")
    second = ingested(workbench, tmp_path, "second", 4.0)
    assert {one.hash for one in workbench.datasets()} == {first.hash, second.hash}
    workbench.remove(first.hash)
    assert [one.hash for one in workbench.datasets()] == [second.hash]
    with pytest.raises(DatasetUnknown):
        workbench.column_profiles("renamed")


@pytest.mark.slow
def test_some_columns_alone_are_told_as_among_all_of_them(workbench, tmp_path, monkeypatch):
    dataset, names = ingested(workbench, tmp_path, "first", 3.0).hash, ("duration_s", "user")
    alone = workbench.column_profiles(dataset, names)
    assert [one.column.name for one in alone] == ["duration_s"], "there is no user"
    every = {one.column.name: one for one in workbench.column_profiles(dataset)}
    assert to_json(alone[0]) == to_json(every["duration_s"])
    monkeypatch.setattr(workbench._store, "column_profiles", None)
    assert workbench.column_profiles(dataset, ("task_name",)) == (every["task_name"],), "read already"


def test_what_another_thread_loads_is_seen_by_this_one(workbench, tmp_path):
    assert workbench.datasets() == ()
    other = threading.Thread(target=ingested, args=(workbench, tmp_path, "other", 5.0))
    other.start()
    other.join()
    assert [one.name for one in workbench.datasets()] == ["other"]


@pytest.mark.slow
def test_the_summary_of_a_name_is_that_of_the_dataset_that_bears_it_now(workbench, tmp_path):
    first = ingested(workbench, tmp_path, "trace", 3.0)
    assert longest(workbench, "trace") == 3.0
    assert workbench.column_profiles("trace") is workbench.column_profiles(first.hash), "read once"
    workbench.rename(first.hash, "before")
    ingested(workbench, tmp_path, "trace", 9.0)
    assert [longest(workbench, name) for name in ("trace", "before")] == [9.0, 3.0]


def test_views_are_bounded_and_the_ones_asked_for_last_stay():
    views, read = Views(2), []

    def asked(dataset):
        return views.get((dataset, "columns"), lambda: read.append(dataset) or len(read))

    assert [asked(dataset) for dataset in ("a", "b", "a", "c", "a", "b")] == [1, 2, 1, 3, 1, 4]
    assert read == ["a", "b", "c", "b"]


def test_a_view_that_many_ask_for_at_once_is_read_once():
    views, read, all_there = Views(2), [], threading.Barrier(8)

    def reading():
        read.append(time.sleep(0.2))
        return len(read)

    def asked(_):
        all_there.wait(30)
        return views.get(("a", "columns"), reading)

    with ThreadPoolExecutor(8) as pool:
        assert [*pool.map(asked, range(8))] == [1] * 8

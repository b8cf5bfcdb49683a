"""The catalogue and what comes out: names, samples, exports, profiles, pages, notes, threads."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import patch

import duckdb
import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import ColumnMissing, DatasetUnknown, SettingsError
from workprof.core.roles import IMPORT
from workprof.core.settings import Settings
from workprof.store import documents
from workprof.store.checks import ENOUGH_BINS, round_bins
from workprof.store.frames import Drawn
from workprof.store.reports import FieldSource, IngestOptions, ProfileNote
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

WORKLOADS = ("bert", "ctr", "", "ctr")


@pytest.fixture(scope="module")
def jobs_home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("jobs")
    rows = "".join(
        f"j{i},{WORKLOADS[i % 4]},{'Failed' if i % 10 == 9 else 'Terminated'},{1000 + i},{i * 0.5}\n"
        for i in range(400)
    )
    (folder / "jobs.csv").write_text("job_name,workload,status,start_time_s,duration_s\n" + rows)
    with TraceStore(Settings(home=folder / "home", data=folder)) as store:
        store.ingest([folder / "jobs.csv"], IngestOptions())
    return folder / "home"


@pytest.fixture
def loaded(jobs_home, settings):
    shutil.copytree(jobs_home, settings.home)
    with TraceStore(settings) as opened:
        yield opened


def test_lookup_by_name_hash_and_nothing(loaded):
    dataset = loaded.dataset("jobs")
    assert loaded.dataset(dataset.hash[:8]) == dataset
    assert (dataset.rows, dataset.finished_rows, dataset.kind, dataset.mode) == (400, 360, "jobs", "corrected")
    for unknown in ("job", dataset.hash[:7]):
        with pytest.raises(DatasetUnknown, match="there are: jobs"):
            loaded.dataset(unknown)


def test_rename_and_remove(loaded, write, settings):
    loaded.ingest([write("b.csv", "job_name,duration_s\na,1\nb,x\n")], IngestOptions())
    assert loaded.rename("b", "other name").name == "other name"
    assert loaded.report("other name").dataset == "other name"
    with pytest.raises(SettingsError, match="already called"):
        loaded.rename("other name", "jobs")
    for odd in ("a/b", "a\n"):
        with pytest.raises(SettingsError, match="cannot be used"):
            loaded.rename("other name", odd)
    assert len(list((settings.home / "rejects").iterdir())) == 1
    assert loaded.remove("other name").name == "other name"
    assert [dataset.name for dataset in loaded.datasets()] == ["jobs"]
    assert list((settings.home / "rejects").iterdir()) == []


def test_a_sample_keeps_the_shares_and_is_the_same_again(loaded):
    report = loaded.sample("jobs", "workload", 100, "small", seed=3)
    assert {s.value: s.rows_out for s in report.strata} == {"bert": 28, "ctr": 44, "NULL": 28}
    first = loaded.frame("small", ["job_name", "workload"])
    assert len(first) == report.rows == 100
    assert loaded.sample("jobs", "workload", 100, "small", seed=3).hash == report.hash
    loaded.remove("small")
    loaded.sample("jobs", "workload", 100, "small", seed=3)
    assert loaded.frame("small", ["job_name"])["job_name"].tolist() == first["job_name"].tolist()
    other = loaded.sample("jobs", "workload", 100, "other", seed=4)
    assert other.hash != report.hash
    assert loaded.frame("other", ["job_name"])["job_name"].tolist() != first["job_name"].tolist()
    assert loaded.dataset("small").format == "generic"
    with pytest.raises(SettingsError, match="there already as 'small'"):
        loaded.sample("jobs", "workload", 100, "third", seed=3)
    with pytest.raises(ColumnMissing, match="it has job_name"):
        loaded.sample("jobs", "colour", 10, "none")


def test_an_export_comes_back_as_it_was(loaded, tmp_path):
    for suffix in ("csv", "parquet"):
        assert loaded.export("jobs", tmp_path / f"out.{suffix}") == 400
        again = loaded.ingest([tmp_path / f"out.{suffix}"], IngestOptions())
        names = [column.name for column in loaded.columns("jobs")]
        left, right = loaded.frame("jobs", names), loaded.frame(again.dataset, names)
        pd.testing.assert_frame_equal(left, right, check_categorical=False)
    with pytest.raises(SettingsError, match=r"\.parquet or \.csv or \.schema\.json"):
        loaded.export("jobs", tmp_path / "out.xlsx")
    with pytest.raises(SettingsError, match="there is no folder"):
        loaded.export("jobs", tmp_path / "none" / "out.csv")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_csv_exports_hold_no_formulas(store, write, tmp_path):
    store.ingest(
        [write("f.csv", 'job_name,duration_s,nice\n=1+1,1,-5\n"@x",2,0\n-y,3,1\nplain,4,-1\n')], IngestOptions()
    )
    store.export("f", tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[1:] == ["'=1+1,1.0,-5.0", "'@x,2.0,0.0", "'-y,3.0,1.0", "plain,4.0,-1.0"]


def test_preview_rows_and_resolve(loaded):
    page = loaded.preview("jobs", limit=5, offset=10)
    assert page["row_id"].tolist() == [10, 11, 12, 13, 14]
    assert page.columns[-1] == "finished"
    rows = loaded.rows("jobs", [30, 2, 30], ["duration_s"])
    assert rows["row_id"].tolist() == [30, 2, 30]
    assert rows["duration_s"].tolist() == [15.0, 1.0, 15.0]
    with pytest.raises(SettingsError, match="rows are 0 to 399"):
        loaded.rows("jobs", [400])
    assert loaded.resolve("jobs", ["duration_s", "duration_s"]) == ("duration_s",)
    with pytest.raises(ColumnMissing, match="no column 'cpu_usage'"):
        loaded.resolve("jobs", ["cpu_usage"])
    with pytest.raises(SettingsError, match="limit"):
        loaded.preview("jobs", limit=-1)


def test_frames_leave_out_unfinished_rows_and_keep_missing_texts_missing(loaded):
    frame = loaded.frame("jobs", ["workload", "duration_s"])
    assert len(frame) == 360
    assert (frame["row_id"] % 10 != 9).all()
    assert frame["row_id"].is_monotonic_increasing
    assert int(frame["workload"].isna().sum()) == 100
    assert frame["duration_s"].dtype == np.float64
    whole = loaded.frame("jobs", [], finished_only=False)
    assert len(whole) == 400
    assert whole.columns.tolist() == ["row_id", "finished"]
    assert whole.loc[whole["finished"], "row_id"].tolist() == frame["row_id"].tolist()


def test_drawn_rows_are_finished_have_a_number_and_are_the_same_again(loaded):
    every = loaded.frame("jobs", ["workload", "duration_s"])
    drawn = loaded.frame("jobs", ["workload", "duration_s"], drawn=Drawn(50, "duration_s"))
    assert len(drawn) == 50
    pd.testing.assert_frame_equal(
        drawn, loaded.frame("jobs", ["workload", "duration_s"], drawn=Drawn(50, "duration_s"))
    )
    kept = every[every["row_id"].isin(drawn["row_id"])].reset_index(drop=True)
    assert drawn["row_id"].tolist() == kept["row_id"].tolist()
    assert (drawn["duration_s"] == kept["duration_s"]).all()
    assert drawn["workload"].astype(object).equals(kept["workload"].astype(object))
    some = loaded.frame("jobs", ["duration_s"], drawn=Drawn(1_000, "duration_s"))
    assert some["row_id"].tolist() == every.loc[every["duration_s"] > 0, "row_id"].tolist()


def test_column_profiles_agree_with_pandas(loaded):
    frame = loaded.frame("jobs", ["workload", "duration_s"], finished_only=False)
    profiles = {profile.column.name: profile for profile in loaded.column_profiles("jobs")}
    duration = profiles["duration_s"]
    assert (duration.minimum, duration.maximum) == (0.0, 199.5)
    assert duration.median == pytest.approx(frame["duration_s"].median())
    assert duration.p95 == pytest.approx(frame["duration_s"].quantile(0.95))
    inside = frame["duration_s"].between(*frame["duration_s"].quantile([0.01, 0.99]))
    assert duration.histogram.sum() == inside.sum()
    assert profiles["workload"].top == (("ctr", 200), ("bert", 100))
    assert profiles["workload"].missing_share == 0.25


def test_time_coverage_counts_every_row_once(loaded, write):
    coverage = loaded.time_coverage("jobs", bins=7)
    assert coverage.rows.sum() == 400
    assert coverage.edges_s.shape == (8,)
    assert (coverage.edges_s[0], coverage.edges_s[-1]) == (1000, 1399)
    loaded.ingest([write("n.csv", "job_name,duration_s\na,1\n")], IngestOptions())
    assert loaded.time_coverage("n").without_time == 1
    loaded.ingest([write("one.csv", "job_name,duration_s,start_time_s\na,1,86400\n")], IngestOptions())
    assert loaded.time_coverage("one").rows.tolist() == [1]


def test_bins_of_time_are_of_round_width_where_their_number_is_not_given(loaded):
    coverage = loaded.time_coverage("jobs")
    assert coverage.rows.sum() == 400
    assert set(np.diff(coverage.edges_s)) == {5.0}
    assert (coverage.edges_s % 5 == 0).all()
    assert (coverage.edges_s[0], coverage.edges_s[-1]) == (1000, 1400)
    assert coverage.span_s == 399


@pytest.mark.parametrize(
    ("low", "high", "width"), [(0, 1, 1), (100, 4_317_600, 43_200), (1.7e9, 1.7e9 + 3600, 60), (0, 1e12, None)]
)
def test_round_bins_hold_every_moment(low, high, width):
    first, last, bins = round_bins(low, high)
    assert first <= low <= high <= last
    assert 1 <= bins <= ENOUGH_BINS
    assert (last - first) / bins == width or width is None


def test_notes_are_kept_per_clustering(loaded):
    loaded.set_note("key", ProfileNote(2, "short", "runs of 13 s"))
    loaded.set_note("key", ProfileNote(1, "long", ""))
    loaded.set_note("key", ProfileNote(2, "tiny", "changed"))
    assert loaded.notes("key") == (ProfileNote(1, "long", ""), ProfileNote(2, "tiny", "changed"))
    loaded.set_note("key", ProfileNote(1, "", ""))
    assert len(loaded.notes("key")) == 1
    assert loaded.notes("another") == ()


def test_notes_are_read_again_only_after_a_change_also_of_another_process(loaded, settings):
    loaded.set_note("key", ProfileNote(1, "long", ""))
    assert loaded.notes("key") == (ProfileNote(1, "long", ""),)
    with patch.object(documents, "notes", side_effect=AssertionError):
        assert loaded.notes("key") == (ProfileNote(1, "long", ""),)
    code = f"""if True:
        from pathlib import Path
        from workprof.core.settings import Settings
        from workprof.store.reports import ProfileNote
        from workprof.store.trace_store import TraceStore
        home = Path({str(settings.home)!r})
        with TraceStore(Settings(home=home, data=home)) as store:
            store.set_note("key", ProfileNote(1, "longer", ""))
    """
    subprocess.run([sys.executable, "-c", code], check=True)
    assert loaded.notes("key") == (ProfileNote(1, "longer", ""),)


def test_threads_never_see_each_others_rows(loaded):
    def ask(number: int) -> bool:
        low = number % 390
        frame = loaded.rows("jobs", list(range(low, low + 5)), ["duration_s"])
        return frame["row_id"].tolist() == list(range(low, low + 5)) and frame["duration_s"].tolist() == [
            0.5 * (low + at) for at in range(5)
        ]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(200)))


def test_of_many_rows_few_distinct_texts_are_counted_and_very_many_are_estimated(store, tmp_path):
    rows, groups = 2_300_000, 1_000
    path = tmp_path / "many.parquet"
    duckdb.sql(
        f"COPY (SELECT 'g' || i % {groups} AS \"group\", 'r' || i AS task_name, i % 70000 + 1.0 AS duration_s "
        f"FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)"
    )
    mapping = {name: FieldSource(name, "s" * (name == "duration_s")) for name in ("group", "task_name", "duration_s")}
    store.ingest([path], IngestOptions(name="many", format="generic", mapping=mapping))
    profiles = {profile.column.name: profile for profile in store.column_profiles("many")}
    assert profiles["group"].distinct == groups
    assert profiles["task_name"].distinct == pytest.approx(rows, rel=0.1)
    assert profiles["task_name"].distinct <= rows
    assert profiles["duration_s"].distinct == pytest.approx(70_000, rel=0.1)
    assert profiles["duration_s"].median == pytest.approx(35_000, rel=0.02)


def test_a_database_that_is_read_keeps_half_a_gigabyte_of_it_in_memory(loaded):
    with loaded._database.cursor() as cursor:
        ((limit,),) = cursor.execute("SELECT current_setting('memory_limit')").fetchall()
    assert limit == "512.0 MiB"
    with loaded._database.writing(IMPORT), loaded._database.cursor() as cursor:
        ((limit,),) = cursor.execute("SELECT current_setting('memory_limit')").fetchall()
    assert limit == "1.0 GiB"


def test_a_trace_of_a_hundred_columns_is_told_within_what_a_reader_keeps(store, write):
    names = [f"counter_{number}" for number in range(120)]
    lines = [",".join(str(row * number % 997) for number in range(120)) for row in range(1_500)]
    runs = [f"w,{row // 30 + 1},{row % 30},{line}" for row, line in enumerate(lines)]
    report = store.ingest(
        [write("wide.csv", "\n".join((",".join(("workload", "run", "t", *names)), *runs)) + "\n")], IngestOptions()
    )
    profiles = {one.column.name: one.distinct for one in store.column_profiles(report.hash)}
    assert {name: profiles[name] for name in names} == {
        name: len({row * number % 997 for row in range(1_500)}) for number, name in enumerate(names)
    }

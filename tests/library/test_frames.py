"""A frame is read as the file that it came from: format, units and checks, whatever call is made."""

import dataclasses
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import workprof as wp
from tests.command_line import run_here
from tests.formats.one_of_each import FILES
from tests.library.test_calls import numbers
from workprof.library.tables import _by_name, jobs_of
from workprof.store.in_memory import frame_of

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "pai_sample.parquet"

MEASURED = ("usage", "util", "mem", "read", "write", "count")
READS = {
    **dict.fromkeys(("csv", "gpu-pods", "borg", "helios", "azure"), pd.read_csv),
    "tsv": lambda given: pd.read_csv(given, sep="\t"),
    "jsonl": lambda given: pd.read_json(given, lines=True),
    "parquet": pd.read_parquet,
    "sacct": lambda given: pd.read_csv(given, sep="|"),
    "sacct.xlsx": pd.read_excel,
    "nextflow": lambda given: pd.read_csv(given, sep="\t"),
}


@pytest.mark.some(2)
@pytest.mark.parametrize("name", READS)
def test_a_frame_of_a_format_has_the_rows_of_its_file(name, tmp_path):
    dropped = FILES[name]
    path = tmp_path / dropped.name
    path.write_bytes(dropped.content)
    theirs, ours = jobs_of(path, {}), jobs_of(READS[name](io.BytesIO(dropped.content)), {})
    assert ours.format == theirs.format == dropped.format
    stem = ["workload", "run_name"] if name == "nextflow" else []  # the file's name tells it
    pd.testing.assert_frame_equal(ours.frame.drop(columns=stem), theirs.frame.drop(columns=stem))
    assert ours.notes == theirs.notes


def generic_table(n=300):
    random = np.random.default_rng(3)
    kind = random.integers(0, 3, n)
    return pd.DataFrame(
        {
            "Job": [f"j{at}" for at in range(n)],
            "Owner": random.choice(["ada", "bo"], n),
            "Elapsed (min)": np.round(random.gamma(2, 20, n) * (1 + kind), 2),
            "MaxRSS MiB": np.round((1 + 3 * kind) * random.uniform(800, 1000, n), 1),
            "colour": random.choice(["red", "blue"], n),
            "shelf": random.integers(0, 9, n),
        }
    )


def test_a_name_that_no_dataset_may_have_is_refused_and_writes_nothing(tmp_path):
    with (
        wp.Workbench(wp.Settings(tmp_path / "home", tmp_path)) as bench,
        pytest.raises(wp.WorkprofError, match="'a/b'"),
    ):
        bench.data.ingest(pd.DataFrame({"job": ["a"], "runtime_s": [1.0]}), wp.IngestOptions(name="a/b"))


def test_units_in_the_headings_of_a_generic_table_hold_for_its_frame(tmp_path):
    path = tmp_path / "runs.csv"
    generic_table().to_csv(path, index=False)
    ours, theirs = wp.durations(pd.read_csv(path)), wp.durations(path)
    assert numbers(ours) == numbers(theirs)
    assert ours.everything.points[-1] == pytest.approx(60 * generic_table()["Elapsed (min)"].max())
    asked = ["duration_s", "peak_memory_bytes"]
    assert numbers(wp.profile(pd.read_csv(path), asked)) == numbers(wp.profile(path, asked))
    assert numbers(wp.size_memory(pd.read_csv(path))) == numbers(wp.size_memory(path))


def test_columns_that_are_no_field_are_told():
    for found in (wp.durations(generic_table()), wp.size_memory(generic_table())):
        assert any("colour, shelf" in note for note in found.notes)
    named = wp.profile(generic_table(), ["duration_s", "shelf"])
    assert any("colour" in note and "shelf" not in note for note in named.notes)


def test_hardly_any_feature_among_numbers_of_no_field_is_an_error_in_words():
    table = generic_table().assign(cpu_usage_percent=50.0, reading=1.0)
    with pytest.raises(wp.WorkprofError, match="of no format that workprof knows, and 8 of the 10"):
        wp.profile(table)
    with pytest.raises(wp.WorkprofError, match="of no format"):
        wp.forecast(table, table.head(3))


def test_a_start_and_an_end_make_a_duration(tmp_path):
    start = 1.7e9 + 100.0 * np.arange(41)
    table = pd.DataFrame({"job_name": [f"j{at}" for at in range(41)], "task_name": "t", "start_time_s": start})
    table = table.assign(end_time_s=start + np.random.default_rng(1).permutation(41) * 10 + 108, status="Succeeded")
    path = tmp_path / "runs.csv"
    table.to_csv(path, index=False)
    for given in (path, table, pd.read_csv(path)):
        points = wp.durations(given).everything.points
        assert (len(points), points[20]) == (41, 308.0)


@pytest.fixture(scope="module")
def sample():
    return pd.read_parquet(SAMPLE).head(2_500)


@pytest.fixture(scope="module")
def sample_files(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sample")
    sample.to_parquet(folder / "pai.parquet")
    sample.to_csv(folder / "pai.csv", index=False)
    return folder / "pai.parquet", folder / "pai.csv"


@pytest.mark.soak
def test_profiles_of_the_sample_are_those_of_its_files(sample, sample_files):
    kept, written = sample_files
    theirs = wp.profile(kept)
    assert len(theirs.features) == 10
    assert numbers(wp.profile(sample)) == numbers(theirs)
    assert numbers(wp.profile(pd.read_csv(written))) == numbers(wp.profile(written))


@pytest.mark.soak
def test_a_fit_takes_the_frame_or_the_file_that_it_was_given_and_no_other(sample, sample_files):
    found = wp.profile(sample)
    theirs = found.to_hdbscan(sample)
    assert ((theirs.labels_ >= 0) == (found.labels >= 0)).all()
    assert np.array_equal(found.to_hdbscan(sample_files[0]).labels_, theirs.labels_)
    assert np.array_equal(found.to_hdbscan(str(sample_files[1])).labels_, theirs.labels_)
    with pytest.raises(wp.SettingsError, match="give the table that was clustered"):
        found.to_hdbscan(sample.iloc[::-1])
    with pytest.raises(wp.SettingsError, match="give the table that was clustered"):
        found.assigner(sample.head(1_500))


@pytest.mark.soak
def test_forecasts_of_a_frame_are_those_of_its_file(sample, sample_files):
    kept, _ = sample_files
    asked = wp.ForecasterSettings(split="random")
    asked = dataclasses.replace(
        asked, classifier=dataclasses.replace(asked.classifier, profiles=wp.ProfileSettings(min_cluster_size=60))
    )
    plan = ("plan_mem", "cap_mem_machine_spec")
    measured = [name for name in sample.columns if name not in plan and name.rpartition("_")[2] in MEASURED]
    new = sample.head(40)
    of_file, of_frame = (
        wp.forecast(kept, new, settings=asked),
        wp.forecast(sample, new.drop(columns=measured), settings=asked),
    )
    assert np.array_equal(of_frame.forecasts.profiles.probabilities, of_file.forecasts.profiles.probabilities)
    assert len(of_frame.to_frame()) == 40


def test_columns_add_to_what_a_format_tells(sample, sample_files):
    renamed = sample.assign(seconds_more=sample["end_time"] - sample["start_time"] + 7.0)
    plain, given = jobs_of(sample, {}), jobs_of(renamed, {}, {"duration_s": ("seconds_more", "s")})
    assert given.format == plain.format == "pai-sample"
    wanted = (sample["end_time"] - sample["start_time"] + 7.0).to_numpy(dtype=float)
    assert np.array_equal(given.frame["duration_s"].to_numpy(), wanted, equal_nan=True)
    others = [name for name in plain.frame.columns if name != "duration_s"]
    pd.testing.assert_frame_equal(given.frame[others], plain.frame[others])


def test_durations_by_profile_are_by_task_where_there_are_no_profiles(tmp_path):
    start = 100.0 * np.arange(40)
    table = pd.DataFrame(
        {"job_name": "j", "task_name": ["a", "b"] * 20, "start_time_s": start, "end_time_s": start + 9}
    )
    found = wp.durations(table, settings=wp.DurationSettings())
    assert [one.name for one in found.groups] == ["a", "b"]
    assert any("by task" in note for note in found.notes)
    overall = wp.durations(table.drop(columns="task_name"), settings=wp.DurationSettings())
    assert (overall.groups, overall.everything.points.tolist()) == ((), [9.0])
    table.to_csv(tmp_path / "runs.csv", index=False)
    assert run_here("ingest", tmp_path / "runs.csv", "--name", "runs", home=tmp_path / "home").status == 0
    told = run_here("durations", "runs", "--json", home=tmp_path / "home")
    assert (told.json["by"], [one["group"] for one in told.json["groups"]]) == ("task_name", ["a", "b"])
    assert "there are no profiles, so the durations are by task" in told.err


def test_texts_and_numbers_in_one_column_are_texts():
    table = pd.DataFrame({"job_name": [1, "2_3", 4], "duration_s": [1.0, 2.0, 3.0]}, dtype="object")
    assert jobs_of(table, {}).frame["job_name"].tolist() == ["1", "2_3", "4"]


def test_ids_that_were_made_fractions_are_refused_as_run_and_step_would_be_one(tmp_path):
    lines = (
        "JobID|JobName|State|Elapsed|ReqMem|MaxRSS\n7001|a|COMPLETED|00:10:00|4G|\n7001.0|s|COMPLETED|00:10:00||1G\n"
    )
    table = pd.read_csv(io.StringIO(lines), sep="|")
    table.to_parquet(tmp_path / "runs.parquet")
    for given in (table, tmp_path / "runs.parquet"):
        with pytest.raises(wp.WorkprofError, match=r"JobID .*dtype=\{'JobID': str\}"):
            wp.durations(given)
    whole = jobs_of(pd.read_csv(io.StringIO(lines), sep="|", dtype={"JobID": str}), {}).frame
    assert (whole["job_name"].tolist(), whole["peak_memory_bytes"].tolist()) == (["7001"], [2.0**30])


def test_an_index_with_a_name_is_a_column_as_in_a_file_that_it_is_saved_to(tmp_path):
    table = pd.DataFrame({"user": ["ann", "ann", "bob"], "task_name": "t", "duration_s": [1.0, 2.0, 30.0]})
    table.to_csv(tmp_path / "runs.csv", index=False)
    theirs = wp.durations(tmp_path / "runs.csv", by="user")
    assert [one.name for one in theirs.groups] == ["ann", "bob"]
    for given in (table.set_index("user"), table.set_index(["user", "task_name"])):
        before = given.copy()
        assert numbers(wp.durations(given, by="user")) == numbers(theirs)
        pd.testing.assert_frame_equal(given, before)
    assert numbers(wp.durations(table.set_index(pd.Index([7, 7, 7])), by="user")) == numbers(theirs)


def test_what_a_bare_number_is_taken_for_is_told():
    table = pd.DataFrame({"task": "t", "start": 1.7e9 + np.arange(50) * 100.0, "took_s": 60.0, "rss": 2.0, "ask": 8.0})
    named = {"task": "task", "duration": "took_s", "columns": {"start_time_s": "start"}}
    assert any(
        "rss and ask are read as GB" in one for one in wp.size_memory(table, peak="rss", request="ask", **named).notes
    )
    for peak, request in ((("rss", "GB"), ("ask", "GB")), ("rss_gb", "ask_gb")):
        given = table.rename(columns={"rss": "rss_gb", "ask": "ask_gb"}) if peak == "rss_gb" else table
        assert wp.size_memory(given, peak=peak, request=request, **named).notes == ()
    texts = table.assign(rss="2 GB", ask="8 GB")
    assert wp.size_memory(texts, peak="rss", request="ask", **named).notes == ()
    with pytest.raises(wp.NotEnoughData, match=r"more than any machine has.*rss.*read as GB; say \('rss', 'MiB'\)"):
        wp.size_memory(table.assign(rss=2e9), peak="rss", request=("ask", "GB"), **named)
    with pytest.raises(wp.SettingsError, match=r"request is 8000000000\.0 GB, more than any machine has"):
        wp.size_memory(table, peak="rss", request=8e9, **named)
    alone = wp.size_memory(table.drop(columns="ask"), peak=("rss", "GB"), **named)
    assert alone.notes == ("Nothing says what was requested: every run counts as requesting 2 GB, the most used.",)


def test_runs_that_did_not_finish_are_told():
    table = generic_table(120).assign(status=["done"] * 100 + ["failed"] * 20)
    named = ["duration_s", "peak_memory_bytes"]
    assert "20 of 120 runs did not finish and are left out." in wp.profile(table, named).notes
    with pytest.raises(wp.NotEnoughData, match="120 of 120 runs did not finish"):
        wp.profile(table.assign(status="failed"), named)
    with pytest.raises(wp.NotEnoughData, match="none of 120 runs finished"):
        wp.durations(table.assign(status="failed"))


def test_a_request_of_each_core_is_of_all_cpus_of_its_run():
    jobs = pd.DataFrame({"user": ["ann", "bob"], "requested_memory_bytes": ["4Gc", "8G"]})
    with pytest.raises(wp.TraceError, match="'4Gc' in row 0, which is of each core; give requested_cpu_percent, too"):
        jobs_of(jobs, {})
    read = jobs_of(jobs.assign(requested_cpu_percent=[300, 200]).set_axis([7, 7]), {}).frame
    assert read["requested_memory_bytes"].tolist() == [3 * 2**32, 2**33]


def test_times_of_arrow_are_those_of_pandas():
    """Its durations were read as nanoseconds, and its moments with a zone failed."""
    lengths = pd.Series(pd.to_timedelta([90.5, 120, 7], unit="s"), name="duration_s")
    moments = pd.Series(pd.date_range("2025", periods=3, tz="Europe/Berlin"), name="submit_time_s")
    frame = pd.DataFrame({"group": ["a", "b", "c"], "submit_time_s": moments, "duration_s": lengths})
    for column in ("submit_time_s", "duration_s"):
        given = frame[["group", column]]
        plain = _by_name(frame_of(given), {}, ()).frame[column]
        arrow = _by_name(frame_of(given.convert_dtypes(dtype_backend="pyarrow").set_axis([4, 4, 5])), {}, ()).frame
        assert arrow[column].tolist() == plain.tolist()
    arrow = lengths.convert_dtypes(dtype_backend="pyarrow")
    for given in (lengths, arrow, arrow.to_frame(), pd.DataFrame({"time": moments, "d": lengths}).convert_dtypes()):
        assert wp.change_points(given).to_frame()["mean"].tolist() == pytest.approx([72.5])
    values = np.random.default_rng(2).normal(size=(60, 2))
    took = pd.Series(pd.to_timedelta(np.arange(1.0, 61), unit="s"))
    wanted = wp.RuntimeRegressor().fit(values, took.dt.total_seconds()).predict(values)
    asked = wp.RuntimeRegressor().fit(values, took.convert_dtypes(dtype_backend="pyarrow")).predict(values)
    np.testing.assert_allclose(asked, wanted)
    with pytest.raises(ValueError, match="holds moments"):
        wp.ProfileClusterer().fit(frame.convert_dtypes(dtype_backend="pyarrow")[["submit_time_s", "duration_s"]])
    twice = pd.concat([frame[["group", "duration_s"]], frame[["group"]]], axis=1)
    with pytest.raises(ValueError, match="'group' is there more than once"):
        wp.ProfileClassifier().fit(twice, [0, 1, 1])

"""The library's calls: any table in, the workbench's numbers out, mistakes in words, no home folder."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import workprof as wp
from tests.nodes.planted_nodes import runs_of
from tests.pages.test_nodes_page import write
from workprof.core.errors import SettingsError
from workprof.core.records import pack
from workprof.core.settings import from_environment
from workprof.formats.fields import FIELDS
from workprof.library.tables import jobs_of
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.selection import oriented, select
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

N = 400
GIB = 1024**3


def jobs(n=N):
    """Return runs of three tasks whose use depends on the task, under the names of the fields."""
    random = np.random.default_rng(7)
    task = random.choice(["map", "reduce", "train"], n)
    level = pd.Series(task).map({"map": 1.0, "reduce": 4.0, "train": 12.0}).to_numpy()
    start = np.sort(random.uniform(0, 1e6, n))
    return pd.DataFrame(
        {
            "job_name": [f"job{row // 4}" for row in range(n)],
            "task_name": task,
            "user": random.choice(["ada", "bo", "cy"], n),
            "start_time_s": start,
            "duration_s": random.gamma(2, 300, n) * level,
            "requested_memory_bytes": 32e9,
            "peak_memory_bytes": level * 1e9 * random.uniform(0.8, 1.2, n),
            "cpu_usage_percent": level * 50 * random.uniform(0.8, 1.2, n),
        }
    )


def numbers(record):
    """Return every number of a record but the time that it took; NaN equals NaN."""
    packed = pack(record)
    document = {name: value for name, value in packed.document.items() if "seconds" not in name}
    arrays = {name: array.tobytes() for name, array in packed.arrays.items()}
    return json.dumps(document, sort_keys=True), arrays


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library")
    with Workbench(from_environment({"WORKPROF_HOME": str(folder / "home")})) as opened:
        yield opened


@pytest.fixture(scope="module")
def dataset(bench):
    return bench.ingest(jobs(), wp.IngestOptions(name="jobs")).hash


FIT = wp.ProfileSettings(features=("cpu_usage_percent", "peak_memory_bytes"), min_cluster_size=20)


def test_profiles_are_those_of_the_workbench(bench, dataset):
    found = wp.profile(jobs(), list(FIT.features), settings=FIT)
    assert found.scores.n_clusters == 3
    assert numbers(found) == numbers(bench.profiles(dataset, FIT))


def test_sizes_are_those_of_the_workbench(bench, dataset):
    ours, theirs = wp.size_memory(jobs()), bench.verdict(dataset)
    assert numbers(ours) == numbers(theirs)
    assert ours.memory.judged.saved > 0
    assert ours.reason.startswith("Smaller requests save")
    table = ours.to_frame()
    assert {"action", "request_gb", "size_gb", "kills_per_1000_low", "kills_per_1000_high", "why"} <= set(table.columns)
    assert table["saved_gb_h"].sum() == pytest.approx(ours.memory.judged.saved)


def test_a_fourfold_request_is_lowered():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"task": "etl", "rss": random.gamma(40, 0.05, 400), "s": random.uniform(60, 600, 400)})
    found = wp.size_memory(table, task="task", peak=("rss", "GB"), request=8.0, duration="s")
    (row,) = found.to_frame().to_dict("records")
    assert row["action"] == "lower"
    assert 2 < row["size_gb"] < 6
    assert found.memory.judged.saved_share > 0.5
    assert found.reason.startswith("Smaller requests save")
    asked = {"task": "task", "peak": ("rss", "GB"), "duration": "s"}
    for request in (np.int64(8), np.float32(8)):  # one number, of whatever kind
        assert wp.size_memory(table, request=request, **asked).reason == found.reason
    for wrong in (None, ["user=ann"]):
        with pytest.raises(SettingsError, match="decisions are no decisions"):
            wp.size_memory(table, request=8.0, decisions=wrong, **asked)


def test_durations_are_those_of_the_workbench(bench, dataset):
    asked = wp.DurationSettings(by="user")
    assert numbers(wp.durations(jobs(), by="user")) == numbers(bench.observed_durations(dataset, asked))


@pytest.mark.soak
def test_forecasts_are_those_of_the_workbench(bench):
    many = jobs(900)
    train, new = many.head(850), many.tail(50)[["job_name", "user", "task_name", "requested_memory_bytes"]]
    settings = dataclasses.replace(wp.ForecasterSettings(), split="random")
    settings = dataclasses.replace(settings, classifier=dataclasses.replace(settings.classifier, profiles=FIT))
    found = wp.forecast(train, new, settings=settings)
    entry = bench.ingest(train, wp.IngestOptions(name="train")).hash
    bench.forecaster(entry, settings)
    said = bench.loaded_forecaster(entry, settings).forecast(bench.new_jobs(entry, new.reset_index(drop=True)).jobs)
    assert np.array_equal(said.profiles.probabilities, found.forecasts.profiles.probabilities)
    for target, own in said.estimates.items():
        assert np.array_equal(own.quantiles, found.forecasts.estimates[target].quantiles)
    assert len(found.to_frame()) == len(new)
    assert found.figure().data


def test_a_ranking_of_values_is_that_of_the_runs_that_they_come_from(bench, tmp_path):
    runs = runs_of({"calm": 1.0, "small": 0.5}, n_runs=6)
    path = write(tmp_path / "runs.jsonl", runs)
    entry = bench.ingest(path).hash
    ranked = bench.node_ranking(entry)
    for given in (path, runs):
        assert numbers(wp.rank_nodes(given)) == numbers(ranked)
    parsed = parse_runs(bench.frames_of(bench.dataset(entry), None)()["jobs"])
    told = oriented(parsed, select(parsed, wp.RankSettings()).positions)
    lines = [
        {"node": told.node[row], "metric": name, "value": np.exp(told.logs[row, place]), "direction": "higher"}
        | {"aspect": told.aspects[place]}
        for row in range(len(told.node))
        for place, name in enumerate(told.metrics)
        if np.isfinite(told.logs[row, place])
    ]
    ours = wp.rank_nodes(pd.DataFrame(lines), aspect="aspect")
    assert [one.node for one in ours.nodes] == [one.node for one in ranked.nodes]
    assert set(ours.shares) == set(ranked.shares)
    assert ours.nodes[0].score / ours.nodes[1].score == pytest.approx(2, rel=0.15)


def used(found):
    """Return the GB·h that all runs used."""
    return found.memory.trace.booked - found.memory.trace.unused


def test_columns_and_units_come_by_argument(tmp_path):
    table = jobs()
    plain = wp.size_memory(table)
    renamed = pd.DataFrame(
        {
            "step": table["task_name"],
            "mem": table["peak_memory_bytes"] / 1e9,
            "asked_mb": table["requested_memory_bytes"] / 1e6,
            "took": pd.to_timedelta(table["duration_s"], unit="s"),
            "begun": table["start_time_s"],
        }
    )
    asked = {"task": "step", "peak": "mem", "request": "asked_mb", "duration": "took"}
    found = wp.size_memory(renamed, **asked, columns={"start_time_s": "begun"})
    assert found.memory.trace.booked == pytest.approx(plain.memory.trace.booked, rel=1e-6)
    sizes = wp.size_memory(renamed.assign(mem=renamed["mem"] * 1e9 / GIB), **(asked | {"peak": ("mem", "GiB")}))
    assert used(sizes) == pytest.approx(used(wp.size_memory(renamed, **asked)), rel=1e-6)
    texts = renamed.assign(mem=[f"{value * 1e9 / GIB:.6f} GiB" for value in renamed["mem"]])
    assert used(wp.size_memory(texts, **asked)) == pytest.approx(used(sizes), rel=1e-4)
    renamed.to_csv(tmp_path / "jobs.csv", index=False)
    read = wp.size_memory(tmp_path / "jobs.csv", **asked, columns={"start_time_s": "begun"})
    assert read.memory.judged.saved == pytest.approx(found.memory.judged.saved, rel=1e-4)


def test_a_length_of_time_is_no_end():
    table = pd.DataFrame(
        {"job": list("ab"), "start": pd.to_datetime(["2026-01-01"] * 2), "peak_memory_bytes": [1e9] * 2}
    )
    table["end"] = pd.to_timedelta([5, 6], unit="h")
    for call in (wp.durations, wp.size_memory):
        with pytest.raises(wp.TraceError, match="'end' holds lengths of time and no moments: name it 'duration'"):
            call(table)


def test_a_missing_request_is_allowed():
    table = jobs().drop(columns="requested_memory_bytes")
    found = wp.size_memory(table)
    told = wp.size_memory(table, request=table["peak_memory_bytes"].max() / 1e9)
    assert found.memory.trace.booked == pytest.approx(told.memory.trace.booked) != 0


class Columns:
    """A table of another library: it hands its columns over as Arrow, as Polars does, with texts as views."""

    def __init__(self, frame):
        self.table = pa.Table.from_pandas(frame, preserve_index=False)
        for place, field in enumerate(self.table.schema):
            if pa.types.is_large_string(field.type) or pa.types.is_string(field.type):
                self.table = self.table.set_column(place, field.name, self.table[field.name].cast(pa.string_view()))

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", ["arrow", "polars", "path", "text"])
def test_every_kind_of_table_gives_the_same(kind, tmp_path):
    path = tmp_path / "jobs.parquet"
    jobs().to_parquet(path)
    given = {
        "arrow": lambda: pa.Table.from_pandas(jobs()),
        "polars": lambda: Columns(jobs()),
        "path": lambda: path,
        "text": lambda: str(path),
    }[kind]()
    assert numbers(wp.durations(given, by="task_name")) == numbers(wp.durations(jobs(), by="task_name"))


def test_the_workbench_takes_every_kind_of_table(bench, tmp_path):
    path = tmp_path / "again.parquet"
    jobs(50).to_parquet(path)
    reports = [bench.ingest(given) for given in (path, str(path), [path], jobs(50), Columns(jobs(50)))]
    assert {one.rows for one in reports} == {50}


def test_change_points_of_one_series_and_of_several():
    random = np.random.default_rng(1)
    steps = np.r_[random.normal(0, 1, 80), random.normal(6, 1, 70)]
    found = wp.change_points(steps)
    assert found.changes == {"x0": [80]}
    assert found.to_frame().columns[0] == "sample"
    assert found.to_frame()["sample"].tolist() == [0, 80]
    both = np.column_stack([steps, steps[::-1]])
    by_moment, by_series = wp.change_points(both, time_axis=0), wp.change_points(both.T, time_axis=1)
    assert by_moment.changes == by_series.changes == {"x0": [80], "x1": [70]}
    assert wp.change_points(pd.DataFrame(both, columns=["cpu", "disk"])).changes == {"cpu": [80], "disk": [70]}
    assert wp.change_points(steps.tolist(), names=["load"]).changes == {"load": [80]}
    assert wp.change_points(pd.Series(steps, name="load")).changes == {"load": [80]}
    assert wp.change_points(pa.chunked_array([steps])).changes == {"x0": [80]}


def test_lower_is_better_and_values_without_a_ratio_are_counted():
    lines = [
        {"host": host, "what": what, "v": value * (1 + 0.01 * run), "better": better}
        for host, factor in (("a", 1.0), ("b", 2.0))
        for what, value, better in (("latency", 1 / factor, "lower"), ("rate", 100 * factor, "higher"))
        for run in range(4)
    ]
    lines.append({"host": "a", "what": "rate", "v": 0.0, "better": "higher"})
    asked = {"node": "host", "metric": "what", "value": "v", "direction": "better"}
    found = wp.rank_nodes(pd.DataFrame(lines), **asked)
    best, other = found.nodes
    assert (best.node, other.node) == ("b", "a")
    assert best.score / other.score == pytest.approx(2)
    assert found.left_out == {"without a value above 0": 1}
    heavy = wp.rank_nodes(pd.DataFrame(lines), **asked, weights={"rate": 1.0})
    assert heavy.shares == {"rate": 1.0}


@pytest.mark.parametrize("turned", [False, True])
def test_a_run_without_a_time_is_no_node_s_newest(turned):
    values, times = [100.0, 101, 102, 103, 104, 50], np.arange(6) * 3600.0
    table = pd.DataFrame({"node": ["a"] * 6 + ["b"] * 6, "metric": "m", "direction": "higher"})
    table = table.assign(value=[*values, *range(100, 106)], at=[*times[:-1], np.nan, *times])
    order = slice(None, None, -1 if turned else 1)
    part, none = wp.rank_nodes(table[order], started="at"), wp.rank_nodes(table[order])
    assert {one.degraded for one in (*part.nodes, *none.nodes)} == {None}
    assert any("1 of 12 values lack a time" in note for note in part.notes)
    assert any("no value has a time" in note for note in none.notes)
    dated = wp.rank_nodes(table.assign(at=[*times, *times])[order], started="at")
    assert [one.degraded is not None for one in sorted(dated.nodes, key=lambda one: one.node)] == [True, False]
    texts = [str(pd.Timestamp(1.7e9 + at, unit="s", tz="UTC")) for at in [*times, *times]]
    told = wp.rank_nodes(table.assign(at=texts)[order], started="at")
    assert [one.degraded for one in told.nodes] == [one.degraded for one in dated.nodes]
    with pytest.raises(wp.TraceError, match="'soon' in row 0"):
        wp.rank_nodes(table.assign(at="soon"), started="at")


@pytest.mark.parametrize("call", [wp.size_memory, wp.durations, wp.profile])
def test_a_row_of_a_table_is_no_table(call):
    with pytest.raises(wp.SettingsError, match="a Series is one column, not a table"):
        call(pd.Series({"user": "ann", "requested_memory_bytes": 5.0}))


RECORDS = {
    "profiles": lambda: wp.profile(jobs(), list(FIT.features), settings=FIT),
    "sizes": lambda: wp.size_memory(jobs()),
    "durations": lambda: wp.durations(jobs(), by="user"),
    "changes": lambda: wp.change_points(np.r_[np.zeros(50), np.ones(50)] + np.sin(np.arange(100)) / 100),
    "ranking": lambda: wp.rank_nodes(
        pd.DataFrame(
            [("a", "m", 1.0 + n / 9, "higher") for n in range(4)], columns=["node", "metric", "value", "direction"]
        )
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_shows_itself_in_few_words(name):
    record = RECORDS[name]()
    assert type(record).__name__ in repr(record)
    assert len(repr(record)) < 2000
    assert len(record.to_frame()) > 0
    assert record.figure().to_dict()["data"]
    assert "<table" in record._repr_html_()


MISTAKES = [
    (lambda: wp.profile(7), "int"),
    (lambda: wp.profile(pd.Series([1.0, 2.0])), "Series is one column"),
    (lambda: wp.rank_nodes(pa.chunked_array([[1.0]])), "one column"),
    (lambda: wp.profile(jobs(), "cpu_usage_percent"), "features is 'cpu_usage_percent'"),
    (lambda: wp.profile(jobs(), ["cpu_usage_precent"]), "cpu_usage_percent"),
    (lambda: wp.size_memory(jobs(), peak="memry"), "'memry'"),
    (lambda: wp.size_memory(jobs(), peak=3.0), "peak"),
    (lambda: wp.size_memory(jobs(), peak=("peak_memory_bytes", "s")), "'s'"),
    (lambda: wp.size_memory(jobs(), columns={"usr": "user"}), "'usr'"),
    (lambda: wp.size_memory(jobs().assign(peak_memory_bytes="lots")), "'lots'"),
    (lambda: wp.size_memory(jobs().head(0)), "no row"),
    (lambda: wp.size_memory(pd.concat({"of": jobs()}, axis=1)), "2 levels (of, job_name)"),
    (lambda: wp.size_memory(jobs(), settings=wp.ProfileSettings()), "give VerdictSettings"),
    (lambda: wp.durations("there/is/no.csv"), "no.csv"),
    (lambda: wp.durations(jobs(), by="team"), "'team'"),
    (lambda: wp.change_points(["a", "b"]), "no numbers"),
    (lambda: wp.change_points(np.zeros((5, 5))), "time_axis"),
    (lambda: wp.change_points(np.zeros((5, 5, 5)), time_axis=0), "3 dimensions"),
    (lambda: wp.change_points([]), "no sample"),
    (lambda: wp.rank_nodes(pd.DataFrame({"node": ["a"]})), "'metric'"),
    (
        lambda: wp.rank_nodes(pd.DataFrame({"node": ["a"], "metric": ["m"], "value": [1.0], "direction": ["more"]})),
        "'higher' or 'lower'",
    ),
    (lambda: wp.forecast(jobs().drop(columns=["cpu_usage_percent", "peak_memory_bytes"]), jobs()), "usable feature"),
]


@pytest.mark.parametrize(("call", "words"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_said_in_words(call, words):
    with pytest.raises(wp.WorkprofError) as caught:
        call()
    assert words in str(caught.value)


def test_no_home_is_made(monkeypatch, tmp_path):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    path = tmp_path / "jobs.csv"
    jobs(60).to_csv(path, index=False)
    assert wp.durations(path).n_rows == wp.durations(jobs(60)).n_rows == 60
    assert not (tmp_path / "home").exists()


def test_every_field_has_a_unit_by_argument():
    units = [field for field, about in FIELDS.items() if about.unit]
    assert {*units} <= {*jobs_of(jobs(30).assign(x=1.0), {}, dict.fromkeys(units, "x")).frame}


def test_settings_of_another_question_are_refused():
    table = pd.DataFrame({"duration_s": [1.0, 2.0], "cpu": [1.0, 2.0]})
    nodes = pd.DataFrame({"node": ["a"], "metric": "m", "value": 1.0, "direction": "higher"})
    calls = (
        lambda other: wp.profile(table, ["duration_s", "cpu"], settings=other),
        lambda other: wp.durations(table, settings=other),
        lambda other: wp.change_points([1.0, 2.0], settings=other),
        lambda other: wp.rank_nodes(nodes, settings=other),
        lambda other: wp.Forecaster(table, settings=other),
        lambda other: wp.size_memory(table, settings=other),
    )
    for call in calls:
        with pytest.raises(wp.SettingsError, match=r"settings is a dict; give [A-Z][A-Za-z]+Settings"):
            call({"seed": 1})


def test_lines_without_a_node_or_metric_are_left_out_and_counted():
    table = pd.DataFrame(
        {
            "node": ["a", "b"] * 3 + [None],
            "metric": "m",
            "value": [1.0, 2.0, 1.1, 2.1, 0.9, 1.9, 9.0],
            "direction": "up",
        }
    )
    found = wp.rank_nodes(table)
    assert [one.node for one in found.nodes] == ["b", "a"]
    assert found.left_out == {"without a node or metric": 1}
    pd.testing.assert_frame_equal(found.to_frame(), wp.rank_nodes(table.head(6)).to_frame())
    with pytest.raises(wp.NotEnoughData, match="no line has both"):
        wp.rank_nodes(table.assign(node=None))
    for weight in ("1", None, True):
        with pytest.raises(wp.SettingsError, match="the weight of m is"):
            wp.rank_nodes(table, weights={"m": weight})


def test_times_and_texts_of_a_table_are_no_series():
    steps = np.r_[np.zeros(60), np.full(60, 5.0)] + np.random.default_rng(0).normal(0, 0.1, 120)
    table = pd.DataFrame({"time_s": np.arange(120.0), "cpu": steps, "host": "n1"})
    found = wp.change_points(table)
    assert found.changes == {"cpu": [60]}
    assert found.notes == ("No series, as it holds times or texts: time_s, host.",)
    assert wp.change_points(table.set_index("time_s")[["cpu"]]).changes == {"cpu": [60]}
    lengths = pd.to_timedelta(pd.Series(steps), unit="s")
    for given in (wp.change_points(lengths), wp.change_points(pd.DataFrame({"cpu": lengths}))):
        assert [one.samples for one in given.stretches] == [60, 60]
        assert given.stretches[1].mean == pytest.approx(steps[60:].mean())
    for wrong in (steps + 1j, pd.Series(pd.date_range("2024-05-06", periods=9))):
        with pytest.raises(wp.SettingsError, match="give real numbers"):
            wp.change_points(wrong)
    with pytest.raises(wp.SettingsError, match="two series are named 'a'"):
        wp.change_points(np.c_[steps, steps], time_axis=0, names=["a", "a"])

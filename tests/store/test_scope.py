"""A scope: the runs that columns and a period narrow a dataset to, against pandas on the file."""

import contextlib
from datetime import UTC, datetime
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import ColumnMissing, DatasetUnknown, NoRows, SettingsError
from workprof.core.scope import Scope, bounds, earlier, narrowed, of_options, parsed, period_words, titled
from workprof.core.settings import from_environment
from workprof.memory.decisions import Decision
from workprof.store.reports import FieldSource, IngestOptions
from workprof.workbench import Workbench

N_ROWS = 4000
BEGIN_S = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
NAMES = {"task_name": "task", "user": "user", "status": "state"}
NUMBERS = {"start_time_s": ("start", "s"), "end_time_s": ("end", "s"), "peak_memory_bytes": ("used", "B")}


def trace():
    rng = np.random.default_rng(3)
    start = np.round(BEGIN_S + np.sort(rng.uniform(0, 90 * 86400, N_ROWS)))
    return pd.DataFrame(
        {
            "task": rng.choice(["train", "ps & co", "a=b?c"], N_ROWS),
            "user": rng.choice(["ann", "bob", "O'Neil", ""], N_ROWS, p=[0.5, 0.3, 0.1, 0.1]),
            "queue": rng.choice(["long", "short"], N_ROWS),
            "state": rng.choice(["COMPLETED", "FAILED"], N_ROWS, p=[0.9, 0.1]),
            "start": start,
            "end": start + 100,
            "used": rng.uniform(1e9, 9e9, N_ROWS).round(),
        }
    )


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scope")
    trace().to_csv(folder / "trace.csv", index=False)
    mapping = {field: FieldSource(column, "") for field, column in NAMES.items()}
    mapping |= {field: FieldSource(column, unit) for field, (column, unit) in NUMBERS.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            workbench.ingest([folder / "trace.csv"], IngestOptions(name="t", format="generic", mapping=mapping))
            yield workbench


def moments(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scope", "rows"),
    [
        ("user=ann", lambda t: t.user == "ann"),
        ("user=ann&user=bob&queue=long", lambda t: t.user.isin(["ann", "bob"]) & (t.queue == "long")),
        ("user=O%27Neil", lambda t: t.user == "O'Neil"),
        ("user=", lambda t: t.user == ""),
        (f"task_name={quote('a=b?c')}", lambda t: t.task == "a=b?c"),
        (f"task={quote('ps & co')}", lambda t: t.task == "ps & co"),
        ("period=2026-02", lambda t: t.start.between(moments("2026-02-01"), moments("2026-03-01"), "left")),
        ("period=2026-W06", lambda t: t.start.between(moments("2026-02-02"), moments("2026-02-09"), "left")),
        (
            "period=2026-01-30..2026-02-02",
            lambda t: t.start.between(moments("2026-01-30"), moments("2026-02-03"), "left"),
        ),
        ("period=2026-03-05..", lambda t: t.start >= moments("2026-03-05")),
        (
            "period=..2026-01-05T06:00&user=bob",
            lambda t: (t.start < moments("2026-01-05T06:00")) & (t.user == "bob"),
        ),
    ],
)
def test_the_runs_of_a_scope_are_those_that_pandas_finds(bench, scope, rows):
    wanted = trace()[rows]
    entry = bench.dataset(f"t?{scope}")
    found = bench.preview(f"t?{scope}", limit=N_ROWS)
    assert 0 < len(wanted) < N_ROWS
    assert (entry.rows, entry.finished_rows) == (len(wanted), int((wanted.state == "COMPLETED").sum()))
    assert found["row_id"].tolist() == list(range(len(wanted)))
    assert found["peak_memory_bytes"].tolist() == wanted.used.tolist()
    assert bench.preview(entry.hash, limit=N_ROWS).equals(found)
    at = len(wanted) // 2
    (row,) = bench.rows(entry.hash, [at], ["peak_memory_bytes"]).peak_memory_bytes
    assert row == wanted.used.iloc[at]
    report = bench.ingest_report(entry.hash)
    assert (report.dataset, report.rows, report.rejected) == (entry.name, len(wanted), 0)
    assert bench.counts(entry.hash).runs == len(wanted)


def test_equal_scopes_share_one_hash_whatever_their_order_and_names(bench):
    one = bench.dataset("t?user=bob&task=train&user=ann")
    other = bench.dataset("t?task_name=train&user=ann&user=bob")
    assert one == other
    assert one.hash == narrowed(bench.dataset("t").hash, Scope((("task_name", ("train",)), ("user", ("ann", "bob")))))
    assert str(parsed(one.name.partition("?")[2])) == one.name.partition("?")[2]
    assert narrowed(one.name, Scope()) == "t"
    assert bench.dataset("t?") == bench.dataset("t")


@pytest.mark.parametrize(
    ("scope", "error", "words"),
    [
        ("usr=ann", ColumnMissing, "no column 'usr'; narrow it by a column of texts.*did you mean 'user'"),
        ("peak_memory_bytes=1", ColumnMissing, "numbers in column 'peak_memory_bytes'"),
        ("user=anne", SettingsError, "no run of t has user 'anne'; there are O'Neil, ann, bob; did you mean 'ann'"),
        ("queue=", SettingsError, "no run of t has missing queue"),
        ("period=2027", NoRows, "no run of t is in the scope 2027; widen it"),
        ("period=22..50", SettingsError, "'22..50' cannot be read"),
        ("period=2026-02..2026-01", SettingsError, "ends before it begins"),
        ("period=2026-13", SettingsError, "cannot be read"),
        ("period=٢٠٢٦", SettingsError, "cannot be read"),
        ("period=2026-01-01T00:00%2B01:00", SettingsError, "names a zone"),
        ("period=2026&period=2027", SettingsError, "2 periods are given"),
        ("user", SettingsError, "NAME=VALUE"),
        ("user=" + "a" * 3000, SettingsError, "too long"),
    ],
)
def test_a_scope_that_cannot_be_is_refused_with_what_can(bench, scope, error, words):
    with pytest.raises(error, match=words):
        bench.dataset(f"t?{scope}")


@pytest.mark.slow
def test_only_a_whole_dataset_is_renamed_or_removed_and_its_scopes_go_with_it(bench, tmp_path):
    for change in (lambda: bench.rename("t?user=ann", "u"), lambda: bench.remove("t?user=ann")):
        with pytest.raises(SettingsError, match="part of dataset t"):
            change()
    with pytest.raises(DatasetUnknown):
        bench.dataset("u?user=ann")
    trace().head(300).assign(asked=10e9).to_csv(tmp_path / "few.csv", index=False)
    mapping = {"task_name": FieldSource("task"), "start_time_s": FieldSource("start", "s")}
    mapping |= {"end_time_s": FieldSource("end", "s"), "peak_memory_bytes": FieldSource("used", "B")}
    mapping["requested_memory_bytes"] = FieldSource("asked", "B")
    bench.ingest([tmp_path / "few.csv"], IngestOptions(name="few", format="generic", mapping=mapping))
    bench.over_time("few?queue=long")
    kept = [one.key for one in bench.runs() if "queue=long" in one.key]
    assert kept
    bench.remove("few")
    assert not [one.key for one in bench.runs() if one.key in kept]


def test_what_is_decided_about_a_row_holds_in_every_scope(bench):
    decision = Decision(
        "task_name=train", "declined", "a licence", "ann", "2026-11-27T00:00:00+00:00", "lower", "GB", 8, 4, 2
    )
    with contextlib.ExitStack() as stack:
        stack.callback(bench._store.save_decisions, "t", {decision.row_key: None})
        bench._store.save_decisions("t?user=ann", {decision.row_key: decision})
        assert bench._store.decisions("t", Decision)[0] == (decision,)
        assert bench._store.decisions("t?queue=long", Decision)[0] == (decision,)


def test_a_sample_of_a_scope_holds_its_rows_alone(bench):
    report = bench.sample("t?user=ann", by="task_name", rows=100, name="drawn")
    assert report.rows == 100
    assert set(bench.preview("drawn", limit=200)["user"]) == {"ann"}
    assert "rowid" not in {column.name for column in bench.columns("drawn")}
    bench.remove("drawn")


def test_a_clock_that_begins_at_zero_has_days():
    assert bounds("22..50", dates=False, utc_offset_s=0) == (22 * 86400, 50 * 86400)
    assert bounds("22", dates=False, utc_offset_s=0) == (22 * 86400, 23 * 86400)
    assert bounds("..1.5", dates=False, utc_offset_s=0) == (None, 1.5 * 86400)
    with pytest.raises(SettingsError, match="give its days, such as 22"):
        bounds("2026-01", dates=False, utc_offset_s=0)


def test_dates_are_of_the_zone_that_is_shown():
    low, high = bounds("2026-01-05", dates=True, utc_offset_s=8 * 3600)
    assert (low, high) == (moments("2026-01-04T16:00"), moments("2026-01-05T16:00"))
    assert bounds("2025-12", dates=True, utc_offset_s=0) == (moments("2025-12-01"), moments("2026-01-01"))


def test_options_of_a_command_narrow_further():
    assert of_options("t", ["user=ann", "user=bob"], "2026-01") == "t?user=ann&user=bob&period=2026-01"
    assert of_options("t?user=ann", ["queue=a b"], None) == "t?queue=a%20b&user=ann"
    for only, period in ((["user"], None), (["=ann"], None), (["period=1"], None)):
        with pytest.raises(SettingsError, match=r"--only|--period"):
            of_options("t", only, period)
    with pytest.raises(SettingsError, match="two periods"):
        of_options("t?period=2026-01", [], "2026-02")


def test_a_scope_in_words():
    assert parsed("user=ann&user=bob&period=2026-01").words == "user ann or bob, 2026-01"
    assert [titled(name) for name in ("t", "t?user=ann")] == ["t", "t: user ann"]
    assert parsed("task_name=&period=22..50").words == "task none, days 22 to 50"
    assert [period_words(one) for one in ("22", "..3", "2026-01-01..")] == [
        "day 22",
        "until day 3",
        "since 2026-01-01",
    ]


@pytest.mark.parametrize(
    ("period", "before"),
    [
        ("2026-03", "2026-02"),
        ("2026-01", "2025-12"),
        ("2026-W02", "2025-12-29..2026-01-04"),
        ("2026-01-10..2026-01-12", "2026-01-07..2026-01-09"),
        ("2026", "2025-01-01..2025-12-31"),
        ("30..38", "22..30"),
        ("30", "29..30"),
        ("30..", ""),
        ("2026-01-10T06:00..2026-01-12", ""),
    ],
)
def test_the_period_before_is_as_long_and_ends_where_it_begins(period, before):
    assert earlier(period) == before
    if before:
        dates = "-" in period or period == "2026"
        (low, high), (_, end) = (bounds(one, dates=dates, utc_offset_s=0) for one in (period, before))
        assert end == low < high

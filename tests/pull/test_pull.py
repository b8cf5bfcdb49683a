"""`workprof pull` from DuckDB and Parquet: the rows, counts and columns that an ingest of the same rows gives."""

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tests.command_line import run_here
from tests.pull.planted import mapping_file, parts, runs
from workprof.core.errors import SettingsError
from workprof.pull import expressions
from workprof.pull.engines import Address, without_password
from workprof.pull.expressions import Join

pytestmark = pytest.mark.slow


@pytest.fixture
def trace():
    return runs()


@pytest.fixture
def parquet(tmp_path, trace):
    """A folder of three Parquet parts."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(trace)), 3)):
        trace.iloc[part].to_parquet(folder / f"{number}.parquet", index=False)
    return folder


@pytest.fixture
def database(tmp_path, trace):
    """A DuckDB file with the runs, their usage in parts, and the requests."""
    path = tmp_path / "trace.duckdb"
    usage, requests = parts(trace)
    with duckdb.connect(path) as connection:
        for name, frame in (("runs", trace), ("usage", usage), ("requests", requests)):
            connection.register("rows", pa.Table.from_pandas(frame, preserve_index=False))
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
    return path


def pull(tmp_path, *options):
    done = run_here("pull", *options, "--json", home=tmp_path / "home")
    assert done.status == 0, done.err
    return done.json


def rows_of(tmp_path, dataset):
    file = tmp_path / f"{dataset}.parquet"
    assert run_here("export", dataset, "-o", file, home=tmp_path / "home").status == 0
    frame = pd.read_parquet(file).drop(columns=["row_id"], errors="ignore")
    return frame.sort_values("job_name", ignore_index=True)


def test_a_pull_of_all_rows_is_the_dataset_that_an_ingest_makes(tmp_path, trace, parquet, database):
    mapping, whole = mapping_file(tmp_path), tmp_path / "whole.parquet"
    trace.to_parquet(whole, index=False)
    done = run_here("ingest", whole, "--map", mapping, "--name", "ingested", "--json", home=tmp_path / "home")
    ingested = done.json
    from_parts = pull(tmp_path, "--from", parquet, "--as", "parts", "--map", mapping)
    from_table = pull(tmp_path, "--from", database, "--table", "runs", "--as", "table", "--map", mapping)
    expected = rows_of(tmp_path, "ingested")
    for report in (from_parts, from_table):
        came = report["ingest"]
        for key in ("rows", "rows_read", "rejected", "kind", "running", "jobs", "users", "mapping"):
            assert came[key] == ingested[key]
        own = [check for check in came["checks"] if check["name"] != "ends before start"]
        assert own == ingested["checks"]
        assert report["missing"]["user"] == int(trace["owner"].isna().sum())
        pd.testing.assert_frame_equal(rows_of(tmp_path, came["dataset"]), expected, check_dtype=False)


def test_the_sample_is_drawn_in_the_engine_by_shares_and_by_seed(tmp_path, trace, database):
    options = ("--from", database, "--table", "runs", "--map", mapping_file(tmp_path), "--sample", 90)
    first = pull(tmp_path, *options, "--as", "first")
    assert (first["rows_there"], first["runs_there"], first["ingest"]["rows"]) == (900, 900, 90)
    assert first["by"] == "app"
    there = trace["app"].value_counts()
    assert {one["value"]: one["rows_in"] for one in first["strata"]} == there.to_dict()
    for one in first["strata"]:
        assert abs(one["rows_out"] - one["rows_in"] / 10) < 1
    again = pull(tmp_path, *options, "--as", "again")
    assert again["ingest"]["already_loaded"]
    other = pull(tmp_path, *options, "--as", "other", "--seed", 1)
    names = [set(rows_of(tmp_path, one["ingest"]["dataset"])["job_name"]) for one in (first, other)]
    assert len(names[0] & names[1]) < 40
    whole = pull(tmp_path, *options[:-1], 5_000, "--as", "whole")
    assert whole["ingest"]["rows"] == 900


def test_rows_of_runs_are_joined_and_folded_in_the_engine_and_what_is_dropped_is_counted(tmp_path, trace, database):
    mapping = mapping_file(tmp_path)
    options = ("--from", database, "--table", "usage", "--join", "requests:job", "--run", "job", "--map", mapping)
    report = pull(tmp_path, *options, "--as", "folded")
    usage, requests = parts(trace)
    assert report["dropped"] == 7
    assert report["rows_there"] == len(usage)
    assert report["ingest"]["rows"] == report["runs_there"] == 900
    assert report["ingest"]["rows_read"] == len(usage)
    assert report["ingest"]["rejected"] == 7
    alone = usage["job"].isna() | ~usage["job"].isin(requests["job"])
    first, folded = report["ingest"]["joins"]
    assert first["step"] == f"requests on job ({alone.sum()} without a row there)"
    assert (folded["rows_in"], folded["rows_out"]) == (len(usage) - 7, 900)
    assert "rows without job were dropped" in str(report["ingest"]["checks"])
    came = rows_of(tmp_path, "folded").set_index("job_name")
    known = usage.dropna(subset=["job"])
    length = known["ended"] - known["began"]
    peaks = known.groupby("job")["rss"].max() * 1e6
    np.testing.assert_allclose(came["peak_memory_bytes"], peaks.loc[came.index])
    weighted = (known["cores"] * length).groupby(known["job"]).sum() / length.groupby(known["job"]).sum()
    valid = came.index.difference(["job-5"])
    np.testing.assert_allclose(came.loc[valid, "cpu_usage_percent"], weighted.loc[valid] * 100)
    planted = trace.set_index("job").loc[valid]
    np.testing.assert_allclose(came.loc[valid, "duration_s"], planted["ended"] - planted["began"])
    assert came.loc["job-899", "requested_memory_bytes"] != came.loc["job-899", "requested_memory_bytes"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--table", "nothing"), "no table 'nothing'; there are requests, runs, usage"),
        ((), "holds 3 tables; name one with --table"),
        (("--table", "runs", "--run", "jb"), "--run: there is no column 'jb'"),
        (("--table", "runs", "--join", "requests"), "write TABLE:COLUMN"),
        (("--table", "requests", "--join", "usage:job"), "several rows of usage have the same job"),
        (("--table", "runs", "--sample", "-4"), "--sample is -4"),
        (("--table", "runs", "--seed", "4"), "give --sample with them"),
        (("--table", "runs", "--sample", "9", "--by", "colour"), "--by colour: there is no such column"),
        (("--table", "runs", "--format", "pai-tables"), "load it with workprof ingest"),
    ],
)
def test_what_cannot_be_pulled_is_said(tmp_path, database, options, told):
    given = ("--map", mapping_file(tmp_path), *options)
    done = run_here("pull", "--from", database, "--as", "x", *given, home=tmp_path / "home")
    assert done.status == 2
    assert told in done.err
    assert run_here("datasets", "--json", home=tmp_path / "home").json == []


def test_numbers_that_are_texts_are_not_folded(tmp_path):
    rows = {"job": ["a", "a", "b"], "mem": ["4G", "4G", "8G"]}
    texts = {"max_rss": ["900M", "3500M", "9M"], "elapsed": ["100 s"] * 3}
    pd.DataFrame(rows | texts).to_parquet(tmp_path / "t.parquet")
    options = ("--from", tmp_path / "t.parquet", "--run", "job", "--as", "x")
    done = run_here("pull", *options, home=tmp_path / "home")
    assert done.status == 2
    assert "these columns hold texts: elapsed, max_rss;" in done.err
    pd.DataFrame({**rows, "max_rss_bytes": [9e8, 3.5e9, 9e6], "elapsed_s": [100] * 3}).to_parquet(
        tmp_path / "t.parquet"
    )
    assert "texts that differ" not in str(pull(tmp_path, *options))
    assert run_here("export", "x", "-o", tmp_path / "x.csv", home=tmp_path / "home").status == 0
    assert sorted(pd.read_csv(tmp_path / "x.csv")["duration_s"]) == [100, 200]


@pytest.mark.parametrize(
    ("length", "seconds"),
    [("INTERVAL '2 days 90 minutes 0.5 seconds'", 178_200.5), ("TIME '01:30:00.5'", 5400.5)],
)
def test_lengths_of_time_are_seconds_and_added_up(tmp_path, length, seconds):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        rows = f"SELECT i // 2 AS job_id, {length} AS duration, 'n' AS node FROM range(4) r(i)"
        connection.execute(f"CREATE TABLE t AS {rows}")
    for name, options, times in (("rows", (), 1), ("runs", ("--run", "job_id"), 2)):
        pull(tmp_path, "--from", path, "--as", name, *options)
        assert rows_of(tmp_path, name)["duration_s"].tolist() == [times * seconds] * (4 // times)


def test_a_run_whose_last_part_has_not_ended_goes_on(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as connection:
        end = "CASE WHEN i <> 3 THEN 100.0 * i + 60 END"
        rows = f"SELECT 'j' || i // 2 AS job_name, 100.0 * i AS start_time_s, {end} AS end_time_s FROM range(4) r(i)"
        connection.execute(f"CREATE TABLE t AS {rows}")
    pull(tmp_path, "--from", path, "--as", "runs", "--run", "job_name")
    found = rows_of(tmp_path, "runs").set_index("job_name")["end_time_s"].sort_index().tolist()
    np.testing.assert_array_equal(found, [160, np.nan])


@pytest.mark.parametrize("status", [("RUNNING", "SUCCEEDED"), ("COMPLETED", "FAILED"), (False, True)])
def test_a_run_ended_as_its_last_part_did(tmp_path, status):
    path = tmp_path / "t.duckdb"
    rows = [(f"j{at // 2}", 100.0 * at, 100.0 * at + 60, status[at % 2]) for at in range(4)]
    with duckdb.connect(path) as connection:
        kind = "BOOLEAN" if status[0] is False else "VARCHAR"
        connection.execute(f'CREATE TABLE t (job VARCHAR, start DOUBLE, "end" DOUBLE, success {kind})')
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows[::-1])
        connection.execute("ALTER TABLE t RENAME success TO state" if kind == "VARCHAR" else "SELECT 1")
    pull(tmp_path, "--from", path, "--as", "runs", "--run", "job")
    rows = rows_of(tmp_path, "runs")
    assert set(rows["status"]) == {"finished" if status[1] is True else status[1]}
    assert rows["job_name"].tolist() == ["j0", "j1"] and "task_name" not in rows  # though each stands in two rows


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("mysql://u:secret@h/d", "mysql:// is not known"),
        ("nowhere.duckdb", "there is no such file"),
        ("nowhere/*.parquet", "there is no Parquet file"),
        ("postgres://u:secret@127.0.0.1:9/d", "cannot be opened"),
    ],
)
def test_an_address_that_leads_nowhere_is_said_without_its_password(tmp_path, address, told):
    done = run_here("pull", "--from", address, "--as", "x", home=tmp_path / "home")
    assert done.status == 2
    assert told in done.err
    assert "secret" not in done.err


def test_an_extra_that_is_missing_names_its_command(tmp_path, database, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ibis", None)
    done = run_here("pull", "--from", database, "--as", "x", home=tmp_path / "home")
    assert done.status == 2
    assert "pip install 'workprof[pull]'" in done.err


def test_addresses():
    assert Address.parse("spark").url == "local[*]"
    assert Address.parse("spark:local[2]").url == "local[2]"
    assert Address.parse("spark://h:7077") == Address("spark", "spark://h:7077", "spark://h:7077")
    assert Address.parse("postgresql://u:p@h/d").shown == "postgresql://u:***@h/d"
    assert without_password("trino://u@h:8080/c/s") == "trino://u@h:8080/c/s"
    assert Address.parse("duckdb:///a/b").url == "/a/b"
    with pytest.raises(SettingsError, match="TABLE:COLUMN"):
        Join.parse(":job")


FIELDS = {"job_name": "job", "start_time_s": "began", "end_time_s": "ended", "peak_memory_bytes": "rss"}


@pytest.mark.parametrize(
    ("engine", "hashed", "parts_of_sql"),
    [
        ("trino", "LOWER(TO_HEX(MD5(TO_UTF8(", ('PARTITION BY "t2"."workprof_stratum"', "% ")),
        ("bigquery", "LOWER(to_hex(md5(", ("PARTITION BY `t2`.`workprof_stratum`", "MOD(")),
    ],
)
def test_the_sql_for_engines_that_are_not_here(engine, hashed, parts_of_sql):
    """Compiled only: neither engine runs in the tests."""
    table = ibis.table(
        {"job": "string", "app": "string", "began": "float64", "ended": "float64", "rss": "float64"}, "t"
    )
    sample = ibis.to_sql(expressions.sample(table, 100, "app", 0, engine), dialect=engine)
    for part in (hashed.lower(), *(one.lower() for one in parts_of_sql), "< 100", "row_number()"):
        assert part in " ".join(sample.lower().split()).replace("( ", "(")
    folded = ibis.to_sql(expressions.runs(table, ["job"], FIELDS), dialect=engine).upper()
    assert "MIN(" in folded
    assert "MAX(" in folded
    assert "GROUP BY" in folded
    assert "SUM(" in ibis.to_sql(expressions.quality(table, ["job"], FIELDS), dialect=engine).upper()

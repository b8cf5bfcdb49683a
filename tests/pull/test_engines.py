"""Postgres and Spark give the rows, counts and samples that DuckDB gives of the same tables."""

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from tests.command_line import run_here
from tests.pull.planted import mapping_file, parts, runs
from tests.pull.servers import fill, java, postgres

pytestmark = [pytest.mark.soak, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]

FOLDED = ("--join", "{requests}:job", "--run", "job")
QUESTIONS = {
    "all": ("--table", "{runs}"),
    "sample": ("--table", "{runs}", "--sample", "90", "--seed", "4"),
    "by user": ("--table", "{runs}", "--sample", "77", "--by", "user"),
    "folded": ("--table", "{usage}", *FOLDED),
    "folded sample": ("--table", "{usage}", *FOLDED, "--sample", "55", "--by", "workload"),
}


@pytest.fixture(scope="module")
def tables():
    trace = runs()
    usage, requests = parts(trace)
    return {"runs": trace, "usage": usage, "requests": requests}


@pytest.fixture(scope="module")
def places(tables, tmp_path_factory):
    """The tables in every engine: address and what a table is called there."""
    folder = tmp_path_factory.mktemp("engines")
    java()
    with duckdb.connect(folder / "trace.duckdb") as connection:
        for name, frame in tables.items():
            connection.register("rows", pa.Table.from_pandas(frame, preserve_index=False))
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
    files = {}
    for name, frame in tables.items():
        (folder / name).mkdir()
        files[name] = f"{folder / name}/"
        half = len(frame) // 2
        frame.iloc[:half].to_parquet(folder / name / "0.parquet", index=False)
        frame.iloc[half:].to_parquet(folder / name / "1.parquet", index=False)
    named = {name: name for name in tables}
    with postgres() as address:
        fill(address, tables)
        yield {
            "duckdb": (str(folder / "trace.duckdb"), named),
            "parquet": (files["runs"], files),
            "postgres": (address, named),
            "spark": ("spark:local[2]", files),
        }


def pulled(places, engine, question, folder):
    """Return the report and the rows of a pull into a home of its own."""
    address, names = places[engine]
    home, mapping = folder / engine, mapping_file(folder)
    options = [word.format(**names) for word in QUESTIONS[question]]
    done = run_here("pull", "--from", address, "--as", "x", "--map", mapping, *options, "--json", home=home)
    assert done.status == 0, done.err
    file = folder / f"{engine}.parquet"
    assert run_here("export", "x", "-o", file, home=home).status == 0
    frame = pd.read_parquet(file)
    frame = frame[sorted(set(frame) - {"row_id"})].sort_values("job_name", ignore_index=True)
    return done.json, frame


def plain(report):
    """Return what does not name the engine, its tables or the time."""
    came = report["ingest"]
    steps = [(step["rows_in"], step["rows_out"]) for step in came["joins"]]
    checks = [(check["name"], check["count"]) for check in came["checks"]]
    keys = ("rows", "rows_read", "rejected", "jobs", "users", "mapping", "running")
    kept = {key: came[key] for key in keys}
    own = {key: report[key] for key in ("rows_there", "dropped", "runs_there", "by", "strata", "missing")}
    return kept | own | {"steps": steps, "checks": checks}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("engine", ["parquet", "postgres", "spark"])
def test_the_engine_gives_what_duckdb_gives(places, engine, question, tmp_path):
    there, rows = pulled(places, engine, question, tmp_path)
    here, expected = pulled(places, "duckdb", question, tmp_path)
    assert there["engine"] == {"parquet": "duckdb", "spark": "pyspark"}.get(engine, engine)
    assert plain(there) == plain(here)
    pd.testing.assert_frame_equal(rows, expected, check_dtype=False, rtol=1e-12)

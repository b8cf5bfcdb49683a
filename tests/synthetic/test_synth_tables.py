from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import SettingsError
from workprof.synthetic.pai_tables import TABLE_COLUMNS, write_pai_tables
from workprof.synthetic.report import SynthReport

pytestmark = pytest.mark.slow

JOBS = 20_000
TEXT = {"job_name", "task_name", "inst_name", "worker_name", "inst_id", "user", "status", "machine", "gpu_name"} | {
    "gpu_type", "gpu_type_spec", "group", "workload",
}  # fmt: skip

LATEST = """
    SELECT * FROM pai_instance_table WHERE worker_name IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY worker_name ORDER BY status DESC, start_time DESC, end_time DESC) = 1
"""
CORRECTED = f"""
    SELECT i.job_name, i.task_name, i.worker_name, i.start_time, i.end_time, t.start_time AS task_start,
           t.end_time AS task_end, t.status AS task_status, t.plan_cpu, t.plan_mem, t.plan_gpu, g.workload,
           s.cpu_usage, s.gpu_wrk_util, s.avg_mem
    FROM ({LATEST}) i
    LEFT JOIN pai_task_table t ON i.job_name = t.job_name AND i.task_name = t.task_name
    LEFT JOIN pai_group_tag_table g ON i.inst_id = g.inst_id
    LEFT JOIN pai_machine_spec m ON i.machine = m.machine
    JOIN pai_sensor_table s ON i.worker_name = s.worker_name
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pai") / "tables"


@pytest.fixture(scope="module")
def report(folder: Path) -> SynthReport:
    return write_pai_tables(folder, JOBS, seed=4)


@pytest.fixture(scope="module")
def trace(folder: Path, report: SynthReport) -> Iterator[duckdb.DuckDBPyConnection]:
    """The six tables, read with the columns that their .header files name."""
    connection = duckdb.connect()
    for name in TABLE_COLUMNS:
        names = (folder / f"{name}.header").read_text().strip().split(",")
        types = {column: "VARCHAR" if column in TEXT else "DOUBLE" for column in names}
        rows = connection.read_csv(str(folder / f"{name}.csv"), header=False, columns=types)
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM rows")
        assert rows is not None
    yield connection
    connection.close()


def one(trace: duckdb.DuckDBPyConnection, query: str) -> tuple:
    rows = trace.execute(query).fetchall()
    assert len(rows) == 1
    return rows[0]


def test_files_and_counts(folder: Path, report: SynthReport, trace: duckdb.DuckDBPyConnection) -> None:
    csv = {f"{name}.csv" for name in TABLE_COLUMNS}
    assert {path.name for path in folder.iterdir()} == csv | {f"{name}.header" for name in TABLE_COLUMNS} | {
        "truth.parquet"
    }
    for name in csv:
        assert one(trace, f"SELECT count(*) FROM {name[:-4]}") == (report.tables[name],)
    assert report.rows == sum(report.tables.values())
    assert report.tables["pai_job_table.csv"] == JOBS
    assert report.tables["pai_machine_spec.csv"] == 1_897


@needs_shared_data
@pytest.mark.parametrize("name", TABLE_COLUMNS)
def test_headers_equal_the_public_ones(name: str, folder: Path, report: SynthReport) -> None:
    public = (FOLDER / "pai" / "headers" / f"{name}.header").read_text()
    assert public.strip().split(",") == list(TABLE_COLUMNS[name])
    assert (folder / f"{name}.header").read_text().strip() == public.strip()


def test_keys(trace: duckdb.DuckDBPyConnection) -> None:
    assert one(trace, "SELECT count(DISTINCT job_name), count(DISTINCT inst_id) FROM pai_job_table") == (JOBS, JOBS)
    tasks = "SELECT count(*) - count(DISTINCT (job_name, task_name)) FROM pai_task_table"
    assert one(trace, tasks) == (0,)
    for child, parent, keys in (
        ("pai_task_table", "pai_job_table", "job_name"),
        ("pai_instance_table", "pai_task_table", "job_name, task_name"),
        ("pai_instance_table", "pai_job_table", "job_name, inst_id"),
        ("pai_sensor_table", "pai_instance_table", "worker_name, job_name, task_name, inst_id, machine"),
        ("pai_group_tag_table", "pai_job_table", "inst_id, user"),
    ):
        orphans = f"SELECT count(*) FROM {child} ANTI JOIN {parent} USING ({keys})"
        assert one(trace, orphans) == (0,), child
    placed = "SELECT count(i.machine) FROM pai_instance_table i ANTI JOIN pai_machine_spec USING (machine)"
    assert one(trace, placed) == (0,)


def test_statuses_are_in_the_public_proportions(trace: duckdb.DuckDBPyConnection) -> None:
    rows = dict(trace.execute("SELECT status, count(*) FROM pai_job_table GROUP BY 1").fetchall())
    public = {"Terminated": 732_355, "Failed": 256_555, "Running": 62_928, "Waiting": 3_663}
    for status, count in public.items():
        share = count / 1_055_501
        assert rows[status] / JOBS == pytest.approx(share, abs=5 * np.sqrt(share / JOBS)), status


def test_times_show_the_status(trace: duckdb.DuckDBPyConnection) -> None:
    for table in ("pai_job_table", "pai_task_table", "pai_instance_table"):
        open_ended = f"SELECT bool_and((end_time IS NULL) = (status IN ('Running', 'Waiting'))) FROM {table}"
        assert one(trace, open_ended) == (True,), table
        assert one(trace, f"SELECT max(start_time) FROM {table} WHERE status = 'Waiting'") == (0.0,), table
        backwards = f"SELECT count(*) FROM {table} WHERE end_time < start_time AND status = 'Terminated'"
        assert one(trace, backwards) == (0,), table
    lost = "SELECT count(*) FROM pai_task_table WHERE start_time = 0 AND end_time = 0 AND status = 'Failed'"
    assert one(trace, lost)[0] > 0
    unplaced = "SELECT bool_and((worker_name IS NULL) = (status = 'Waiting')) FROM pai_instance_table"
    assert one(trace, unplaced) == (True,)


def test_sizes(trace: duckdb.DuckDBPyConnection, report: SynthReport) -> None:
    assert report.tables["pai_task_table.csv"] / JOBS == pytest.approx(1_261_050 / 1_055_501, abs=0.03)
    assert report.tables["pai_instance_table.csv"] / JOBS == pytest.approx(10, abs=1.5)
    shares = """
        SELECT sum(n) FILTER (n >= 2) / sum(n), sum(n) FILTER (n >= 50) / sum(n), sum(n) FILTER (n >= 100) / sum(n),
               sum(n) FILTER (n >= 400) / sum(n)
        FROM (SELECT count(*) AS n FROM pai_instance_table GROUP BY job_name, task_name)
    """
    published = np.array([0.85, 0.43, 0.25, 0.06])  # read off a figure
    assert np.abs(np.array(one(trace, shares), dtype=float) - published).max() < 0.10
    planned = """
        SELECT count(*) FROM pai_task_table JOIN (
            SELECT job_name, task_name, count(DISTINCT inst_name) AS n FROM pai_instance_table GROUP BY ALL
        ) USING (job_name, task_name)
        WHERE n != inst_num
    """
    assert one(trace, planned) == (0,)


def test_plans(trace: duckdb.DuckDBPyConnection) -> None:
    null_share = (
        "SELECT avg((plan_gpu IS NULL)::INT), bool_and((plan_gpu IS NULL) = (gpu_type IS NULL)) FROM pai_task_table"
    )
    share, together = one(trace, null_share)
    assert share == pytest.approx(0.178, abs=0.02)  # 223,965 of 1,261,050
    assert together
    assert one(trace, "SELECT count(plan_gpu) FROM pai_task_table WHERE task_name = 'ps'") == (0,)
    types = dict(trace.execute("SELECT gpu_type, count(*) FROM pai_task_table GROUP BY 1").fetchall())
    total = sum(types.values())
    assert types["MISC"] / total == pytest.approx(696_280 / 1_261_050, abs=0.04)
    assert types["T4"] / total == pytest.approx(226_923 / 1_261_050, abs=0.04)
    requests = """
        SELECT avg((plan_gpu < 25)::INT), avg((plan_gpu >= 25 AND plan_gpu < 50)::INT),
               avg((plan_gpu >= 50 AND plan_gpu < 100)::INT), avg((plan_gpu = 100)::INT), avg((plan_gpu > 100)::INT)
        FROM pai_task_table WHERE plan_gpu IS NOT NULL
    """
    published = np.array([0.15, 0.26, 0.13, 0.43, 0.03])  # read off a figure
    assert np.abs(np.array(one(trace, requests), dtype=float) - published).max() < 0.06


def test_a_tenth_of_the_jobs_is_tagged(trace: duckdb.DuckDBPyConnection) -> None:
    share, missing = one(trace, f"SELECT avg((workload IS NOT NULL)::INT), {JOBS} - count(*) FROM pai_group_tag_table")
    assert share == pytest.approx(0.097, abs=0.01)
    assert 0 < missing < 0.002 * JOBS
    tags = dict(trace.execute("SELECT workload, count(*) FROM pai_group_tag_table GROUP BY 1").fetchall())
    assert tags["bert"] / JOBS == pytest.approx(54_887 / 1_055_501, rel=0.2)
    assert tags["ctr"] / JOBS == pytest.approx(27_083 / 1_055_501, rel=0.2)


def test_corrected_join_gives_one_row_per_worker(trace: duckdb.DuckDBPyConnection, report: SynthReport) -> None:
    rows, workers = one(trace, f"SELECT count(*), count(DISTINCT worker_name) FROM ({CORRECTED})")
    assert rows == workers == report.tables["pai_sensor_table.csv"]
    rows, workers = one(trace, "SELECT count(worker_name), count(DISTINCT worker_name) FROM pai_instance_table")
    assert 0 < rows - workers < 0.02 * rows  # retries
    assert report.tables["pai_sensor_table.csv"] < workers  # gaps


def test_inst_id_join_fans_out(trace: duckdb.DuckDBPyConnection, report: SynthReport) -> None:
    fanned = one(trace, "SELECT count(*) FROM pai_instance_table JOIN pai_sensor_table USING (inst_id)")[0]
    assert fanned > 20 * report.tables["pai_instance_table.csv"]


def test_plans_exceed_usage_in_the_published_share_of_tasks(trace: duckdb.DuckDBPyConnection) -> None:
    shares = f"""
        SELECT avg(cpu::INT), avg(gpu::INT), avg(memory::INT) FROM (
            SELECT sum(plan_cpu) > sum(cpu_usage) AS cpu, sum(plan_gpu) > sum(gpu_wrk_util) AS gpu,
                   sum(plan_mem) > sum(avg_mem) AS memory
            FROM ({CORRECTED}) GROUP BY job_name, task_name)
    """
    assert np.abs(np.array(one(trace, shares)) - [0.845, 0.980, 0.959]).max() < 0.02


def test_runs_and_waits(trace: duckdb.DuckDBPyConnection) -> None:
    tasks = trace.execute(f"""
        SELECT avg(end_time - start_time) AS run, min(start_time) - min(task_start) AS wait,
               max(task_end) - min(task_start) AS completion
        FROM ({CORRECTED}) WHERE task_status = 'Terminated' GROUP BY job_name, task_name
    """).df()
    assert tasks["wait"].min() >= 0
    waits = (tasks["wait"] / tasks["completion"]).quantile([0.5, 0.75, 0.9]).to_numpy()
    assert np.abs(waits - [0.02, 0.10, 0.30]).max() < 0.06
    below = [(tasks["run"] < limit).mean() for limit in (100, 550, 1_000, 10_000, 100_000)]
    assert np.abs(np.array(below) - [0.27, 0.50, 0.60, 0.90, 0.995]).max() < 0.08


def test_truth_names_every_task(folder: Path, trace: duckdb.DuckDBPyConnection) -> None:
    truth = pq.read_table(folder / "truth.parquet").to_pandas()
    assert one(trace, "SELECT count(*) FROM pai_task_table") == (len(truth),)
    trace.register("truth", truth)
    assert one(trace, "SELECT count(*) FROM truth ANTI JOIN pai_task_table USING (job_name, task_name)") == (0,)
    assert set(truth["truth_profile"]) >= {-1, 0, 1, 8, 9, 12, 20}


def test_same_seed_same_files(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_pai_tables(tmp_path / name, 300, seed=seed)
    for file in (*(f"{name}.csv" for name in TABLE_COLUMNS), "truth.parquet"):
        first, again, other = ((tmp_path / name / file).read_bytes() for name in "abc")
        assert first == again, file
        assert first != other, file


def test_small_traces_and_progress(tmp_path: Path) -> None:
    told: list[float | None] = []
    report = write_pai_tables(tmp_path, 1, progress=lambda fraction, _: told.append(fraction))
    assert report.tables["pai_job_table.csv"] == 1
    assert told == [1.0]
    assert len(pd.read_csv(tmp_path / "pai_job_table.csv", header=None)) == 1


@pytest.mark.parametrize(("jobs", "seed"), [(0, 0), (-1, 0), (5, -2)])
def test_bad_settings_are_refused(tmp_path: Path, jobs: int, seed: int) -> None:
    with pytest.raises(SettingsError, match="give a whole number"):
        write_pai_tables(tmp_path / "tables", jobs, seed=seed)
    assert not list(tmp_path.iterdir())

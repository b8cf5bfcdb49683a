"""The raw PAI tables: joins against pandas, counts of every step, quirks of the files."""

import gzip
import tarfile

import numpy as np
import pyarrow as pa
import pytest

from tests.store import naive_tables
from workprof.core.errors import ColumnMissing, TraceError
from workprof.store.reports import IngestOptions
from workprof.synthetic.pai_tables import write_pai_tables

pytestmark = pytest.mark.slow

JOBS = 300
FIELDS = {
    "start_time_s": ("start_time", 1),
    "duration_s": ("duration", 1),
    "submit_time_s": ("task_start_time", 1),
    "requested_cpu_percent": ("task_plan_cpu", 1),
    "requested_memory_bytes": ("task_plan_mem", 1024**3),
    "requested_gpu_percent": ("task_plan_gpu", 1),
    "cpu_usage_percent": ("cpu_usage", 1),
    "peak_memory_bytes": ("max_mem", 1024**3),
    "write_count": ("write_count", 1),
}
TEXTS = {"user": "user", "group": "group", "workload": "workload", "node": "machine", "gpu_type": "task_gpu_type"}


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_pai_tables(folder, JOBS, 5)
    return folder


@pytest.fixture
def tables(original, tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    for path in original.glob("*.csv"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def compare(frame, naive, fields, texts):
    assert len(frame) == len(naive)
    for field, (column, scale) in fields.items():
        np.testing.assert_allclose(frame[field], naive[column].to_numpy(float) * scale, rtol=1e-12, err_msg=field)
    for field, column in texts.items():
        assert frame[field].astype(object).where(frame[field].notna(), None).tolist() == (
            naive[column].astype(object).where(naive[column].notna(), None).tolist()
        ), field


def test_corrected_instances_equal_pandas_in_the_order_of_the_file(store, tables):
    report = store.ingest([tables], IngestOptions())
    assert report.format == "pai-tables"
    naive = naive_tables.until_the_end(naive_tables.corrected(naive_tables.read(tables)))
    names = [*FIELDS, *TEXTS, "worker_name"]
    frame = store.frame(report.dataset, names, finished_only=False)
    repeated = naive_tables.read(tables)["pai_instance_table"]["worker_name"].duplicated(keep=False).sum()
    assert repeated > 0
    assert frame["worker_name"].tolist() == naive["worker_name"].tolist()
    compare(frame, naive, FIELDS, TEXTS)
    assert store.dataset(report.dataset).finished_rows == int((naive["status"] == "Terminated").sum())


@pytest.mark.some(2)
@pytest.mark.parametrize("table", ["pai_sensor_table", "pai_instance_table", "pai_task_table"])
@pytest.mark.parametrize("join", ["corrected", "faithful"])
def test_a_broken_quote_in_a_table_is_refused_by_line_or_its_loss_counted(store, tables, table, join):
    path = tables / f"{table}.csv"
    lines = path.read_text().splitlines()
    lines[3] = '"' + lines[3].replace(",", '",', 1)
    broken = len(lines) * 3 // 4
    lines[broken] = '"' + lines[broken]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(TraceError, match=rf"{table}\.csv: the quote that opens in line {broken + 1} "):
        store.ingest([tables], IngestOptions(join=join))
    report = store.ingest([tables], IngestOptions(join=join, accept_loss=True))
    assert 0 < report.lost < len(lines)
    told = [check for check in report.checks if check.name == "lost lines"]
    assert [(check.count, check.message.startswith(f"{table}.csv: ")) for check in told] == [(report.lost, True)]
    lines[3] = lines[3].replace('"', "")
    path.write_text("\n".join(lines) + "\n")
    plain = store.ingest([tables], IngestOptions(join=join))
    assert plain.lost == 0
    assert {check.name: check.count for check in plain.checks}["plain quotes"] == 1


def test_every_step_is_counted(store, tables):
    report = store.ingest([tables], IngestOptions())
    raw = naive_tables.read(tables)
    instance = raw["pai_instance_table"]
    workers = instance["worker_name"].nunique()
    assert (report.joins[0].rows_in, report.joins[0].rows_out) == (len(instance), workers)
    assert all(s.fan_out == 1 for s in report.joins[1:4])
    assert report.joins[-1].rows_out == report.rows
    found = {check.name: check.count for check in report.checks}
    assert "fan-out" not in found
    assert found.get("no worker name", 0) == int(instance["worker_name"].isna().sum())
    assert found["repeated workers"] == int(instance["worker_name"].notna().sum()) - workers
    assert found["no sensor"] == workers - report.rows
    assert report.rows_read == len(instance)


def test_the_last_row_of_the_file_wins_a_tie(store, tables):
    path = tables / "pai_instance_table.csv"
    sensor = (tables / "pai_sensor_table.csv").read_text().splitlines()[0].split(",")[2]
    lines = path.read_text().splitlines()
    cells = next(line for line in lines if sensor in line).split(",")
    first, second = [*cells], [*cells]
    first[2], second[2] = "first", "second"
    first[5] = second[5] = "Zombie"
    path.write_text("\n".join([*lines, ",".join(first), ",".join(second), ""]))
    report = store.ingest([tables], IngestOptions())
    frame = store.frame(report.dataset, ["worker_name", "inst_name"], finished_only=False)
    assert frame.loc[frame["worker_name"] == sensor, "inst_name"].tolist() == ["second"]
    naive = naive_tables.corrected(naive_tables.read(tables))
    assert sorted(frame["inst_name"]) == sorted(naive["inst_name"])


def test_tied_rows_come_in_the_order_of_the_file(store, tables):
    path = tables / "pai_instance_table.csv"
    path.write_text(path.read_text() * 2)
    report = store.ingest([tables], IngestOptions())
    frame = store.frame(report.dataset, ["worker_name"], finished_only=False)
    naive = naive_tables.corrected(naive_tables.read(tables))
    assert frame["worker_name"].tolist() == naive["worker_name"].tolist()


def test_an_instance_with_a_bad_time_is_counted_and_is_nobodys_last_one(store, tables):
    path = tables / "pai_instance_table.csv"
    before = store.ingest([tables], IngestOptions())
    cells = path.read_text().splitlines()[0].split(",")
    cells[5], cells[6] = "Zombie", "soon"
    nameless = [*cells[:3], "", *cells[4:]]
    with path.open("a") as stream:
        stream.write("\n".join([",".join(cells), ",".join(nameless), ""]))
    after = store.ingest([tables], IngestOptions())
    assert (after.rows, after.rejected, after.rows_read) == (before.rows, 2, before.rows_read + 2)
    counts = [{check.name: check.count for check in report.checks} for report in (before, after)]
    assert counts[1]["repeated workers"] == counts[0]["repeated workers"]
    assert counts[1]["no worker name"] == counts[0].get("no worker name", 0) + 1


def test_a_fan_out_of_the_corrected_join_is_told(store, tables):
    path = tables / "pai_machine_spec.csv"
    path.write_text(path.read_text() * 2)
    report = store.ingest([tables], IngestOptions())
    naive = naive_tables.corrected(naive_tables.read(tables))
    assert report.rows == len(naive)
    assert [check.name for check in report.checks].count("fan-out") == 1


def test_faithful_equals_the_published_join(store, tables):
    report = store.ingest([tables], IngestOptions(join="faithful"))
    naive, counts = naive_tables.faithful(naive_tables.read(tables))
    assert [step.rows_out for step in report.joins] == counts
    assert store.dataset(report.dataset).mode == "faithful"
    assert [check.name for check in report.checks].count("fan-out") == 2
    names = ["job_name", "task_name", "inst_name", "worker_name", "gpu_name", "cpu_usage_percent", "duration_s"]
    frame = store.frame(report.dataset, names, finished_only=False)
    ours = frame.drop(columns="row_id").astype(dict.fromkeys(names[:5], str))
    theirs = naive.rename(columns={"cpu_usage": "cpu_usage_percent", "duration": "duration_s"})[names]
    theirs = theirs.astype(dict.fromkeys(names[:5], str))
    left, right = (x.sort_values(names).reset_index(drop=True) for x in (ours, theirs))
    np.testing.assert_array_equal(left["worker_name"], right["worker_name"])
    np.testing.assert_allclose(left["cpu_usage_percent"], right["cpu_usage_percent"])
    np.testing.assert_allclose(left["duration_s"], right["duration_s"])


@pytest.mark.parametrize(("grain", "keys"), [("task", ["job_name", "task_name"]), ("job", ["job_name"])])
def test_grains_sum_up_the_instances(store, tables, grain, keys):
    report = store.ingest([tables], IngestOptions(aggregation=grain))
    naive = naive_tables.corrected(naive_tables.read(tables))
    groups = naive.groupby(keys)
    frame = store.frame(
        report.dataset, [*keys, "duration_s", "wait_s", *FIELDS, "instances", "status"], finished_only=False
    )
    frame = frame.astype(dict.fromkeys(keys, str)).set_index(keys).sort_index()
    assert len(frame) == groups.ngroups
    np.testing.assert_allclose(frame["cpu_usage_percent"], groups["cpu_usage"].sum(min_count=1))
    np.testing.assert_allclose(frame["requested_cpu_percent"], groups["task_plan_cpu"].sum(min_count=1))
    np.testing.assert_allclose(frame["instances"], groups.size())
    if grain == "task":
        ended = groups["duration"].mean().notna().to_numpy()
        np.testing.assert_allclose(frame["duration_s"][ended], groups["duration"].mean()[ended])
        running = frame["status"] == "Running"
        assert (running & ~ended).any()
        assert (frame["duration_s"].notna() == ended | running).all()
        wait = groups["start_time"].min() - groups["task_start_time"].min()
        np.testing.assert_allclose(frame["wait_s"], wait)


def test_packed_files_headers_and_tar_leavings_are_read_alike(store, tables):
    plain = store.ingest([tables], IngestOptions())
    expected = store.frame(plain.dataset, ["worker_name", "cpu_usage"], finished_only=False)
    task, sensor = tables / "pai_task_table.csv", tables / "pai_sensor_table.csv"
    tag, machine = tables / "pai_group_tag_table.csv", tables / "pai_machine_spec.csv"
    task.write_text(",".join(column.name for column in naive_tables.TABLES["pai_task_table"]) + "\n" + task.read_text())
    with pa.CompressedOutputStream(str(tables / "pai_sensor_table.csv.zst"), "zstd") as stream:
        stream.write(sensor.read_bytes())
    with tarfile.open(tables / "pai_group_tag_table.tar.gz", "w:gz") as archive:
        archive.add(tag, "pai_group_tag_table.csv")
    (tables / "pai_machine_spec.csv.gz").write_bytes(gzip.compress(machine.read_bytes()))
    for path in (sensor, tag, machine):
        path.unlink()
    again = store.ingest([tables], IngestOptions())
    assert not again.already_loaded and again.rejected == 0
    frame = store.frame(again.dataset, ["worker_name", "cpu_usage"], finished_only=False)
    assert frame["worker_name"].tolist() == expected["worker_name"].tolist()
    assert frame["cpu_usage_percent"].equals(expected["cpu_usage_percent"])


def test_a_table_that_pandas_took_from_a_tar_loses_only_its_first_row(store, tables):
    path = tables / "pai_task_table.csv"
    first, *rest = path.read_text().splitlines()
    cells = first.split(",")
    cells[0] = "pai_task_table.csv"
    path.write_text("\n".join([",".join(cells), *rest, "," * (len(cells) - 1), ""]))
    report = store.ingest([tables], IngestOptions())
    assert report.rejected == 2
    assert set(store.rejects(report.dataset)["column"]) == {"pai_task_table"}


def test_bad_rows_of_every_table_are_rejects(store, tables):
    for name, line in (("pai_instance_table", "a,b\n"), ("pai_sensor_table", ",".join(["x"] * 16) + "\n")):
        with (tables / f"{name}.csv").open("a") as stream:
            stream.write(line)
    report = store.ingest([tables], IngestOptions())
    assert report.rejected == 2
    tables_named = {column.split(".")[0] for column in store.rejects(report.dataset)["column"]}
    assert tables_named == {"pai_instance_table", "pai_sensor_table"}


def test_machine_metrics_are_taken_where_they_are(store, tables):
    workers = [line.split(",")[2] for line in (tables / "pai_sensor_table.csv").read_text().splitlines()]
    with (tables / "pai_machine_metric.csv").open("w") as stream:
        for worker in workers[:10]:
            stream.write(f"{worker},m,0,1,0.1,0.2,0.3,0.4,0.5,0.6,7,0.8\n")
    report = store.ingest([tables], IngestOptions())
    frame = store.frame(report.dataset, ["machine_num_worker"], finished_only=False)
    assert int(frame["machine_num_worker"].notna().sum()) == 10
    assert report.rows == len(workers)


def test_a_missing_or_wrong_table_is_named(store, tables):
    (tables / "pai_task_table.csv").rename(tables / "elsewhere.csv")
    with pytest.raises(TraceError, match=r"pai_task_table\.csv"):
        store.ingest([tables], IngestOptions())
    (tables / "pai_task_table.csv").write_text("a,b\n")
    with pytest.raises(TraceError, match="the first line has 2 fields, pai_task_table has 10"):
        store.ingest([tables], IngestOptions())
    with pytest.raises((TraceError, ColumnMissing)):
        store.ingest([tables / "elsewhere.csv"], IngestOptions())


def test_files_may_be_listed_and_the_result_is_the_same_every_time(store, tables):
    first = store.ingest([tables], IngestOptions())
    assert store.ingest(sorted(tables.glob("*.csv")), IngestOptions()).already_loaded
    frame = store.frame(first.dataset, ["worker_name"], finished_only=False)
    store.remove(first.dataset)
    again = store.ingest([tables], IngestOptions())
    assert again.hash == first.hash
    assert store.frame(again.dataset, ["worker_name"], finished_only=False).equals(frame)

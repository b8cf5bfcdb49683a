"""Files in: what becomes of the columns, of bad rows, of the same content again, of a cancelled load."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workprof.core.errors import Cancelled, ColumnMissing, NoRows, SettingsError, TraceError, UnitUnknown, WorkprofError
from workprof.core.units import GIB, MIB
from workprof.store.catalogue import TABLES
from workprof.store.reports import FieldSource, IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

HEADER = "job_name,duration_s,peak_memory_bytes\n"
GOOD = HEADER + "".join(f"j{i},{i},{i * 1000}\n" for i in range(100))
PAI_HEADER = (
    "job_name,inst_id,user,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type,group,"
    "workload,machine,cap_cpu_machine_spec,cpu_usage,gpu_wrk_util,avg_mem,max_mem,truth_profile\n"
)


def checks_of(report):
    return {check.name: check.count for check in report.checks}


def test_a_pai_sample_becomes_fields_with_units_and_findings(store, write):
    path = write(
        "pai.csv",
        PAI_HEADER
        + "j1,i,u,worker,2,Terminated,100,160,600,29.5,50,T4,g,bert,m,96,9700,10,1,2,3\n"
        + "j2,i,u,ps,1,Failed,0,160,600,29.5,,T4,g,bert,m,96,-1,10,1,2000,3\n"
        + "j3,i,u,ps,1,Terminated,200,160,600,29.5,,T4,g,,m,96,5,nan,1,2,3\n",
    )
    report = store.ingest([path], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected) == ("pai-sample", 3, 3, 0)
    found = checks_of(report)
    assert found["end before start"] == 1
    assert found["zero time stamp"] == 1
    assert found["out of bounds"] == 1
    assert found["no GPU request"] == 2
    assert found["not finished"] == 1
    assert found["not finite"] == 1
    assert found["cpu usage over capacity"] == 1
    assert found["memory over request"] == 1
    frame = store.frame("pai", ["cpu_usage", "max_mem", "duration", "requested_memory_bytes"], finished_only=False)
    assert list(frame.columns) == [
        "row_id", "cpu_usage_percent", "peak_memory_bytes", "duration_s", "requested_memory_bytes", "finished"
    ]  # fmt: skip
    assert frame["duration_s"].tolist()[0] == 60
    assert frame["duration_s"].isna().tolist() == [False, True, True]
    assert frame["peak_memory_bytes"].tolist()[0] == 2 * 1024**3
    assert frame["requested_memory_bytes"].tolist()[0] == 29.5 * 1024**3
    assert frame["row_id"].dtype == np.int64
    truth = {column.name: column.truth for column in store.columns("pai")}
    assert truth["truth_profile"] and not truth["cpu_usage_percent"]
    assert store.dataset("pai").finished_rows == 2
    assert len(store.frame("pai", ["job_name"])) == 2


def test_real_pai_sample_has_all_rows(store, shared):
    report = store.ingest([shared / "pai" / "pai_sample_dev.csv"], IngestOptions())
    assert (report.rows, report.rejected, report.format) == (686, 0, "pai-sample")
    frame = store.frame("pai_sample_dev", ["duration_s", "requested_gpu_percent", "task_name"])
    assert frame["duration_s"].median() == 433.5
    assert int(frame["requested_gpu_percent"].isna().sum()) == 200
    assert isinstance(frame["task_name"].dtype, pd.CategoricalDtype)


@pytest.mark.some(2)
@pytest.mark.parametrize(("name", "rows"), [("iwd", 1661), ("eager", 1576), ("methylseq", 1083), ("rnaseq", 1308)])
def test_real_nextflow_traces(store, shared, name, rows):
    report = store.ingest([shared / "nextflow" / f"trace_{name}.csv"], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("nextflow", rows, 0)
    columns = ["requested_memory_bytes", "duration_s", "rss", "workload"]
    frame = store.frame(report.dataset, columns, finished_only=False)
    requests_mib = frame["requested_memory_bytes"] / MIB
    assert (requests_mib % 1 == 0).all()
    assert set(requests_mib[requests_mib % 1024 != 0]) <= ({300, 500} if name == "iwd" else set())
    assert frame["duration_s"].between(0, 2e5).all()
    raw = pd.read_csv(shared / "nextflow" / f"trace_{name}.csv", na_values="-", low_memory=False)
    np.testing.assert_allclose(frame["duration_s"], raw["realtime"] / 1000)
    assert store.dataset(report.dataset).finished_rows == int((raw["status"] == "COMPLETED").sum())


def test_a_raw_nextflow_trace_with_human_units(store, write):
    path = write(
        "trace.tsv",
        "task_id\tnative_id\tname\tstatus\tsubmit\trealtime\t%cpu\tpeak_rss\tcustom\n"
        "1\t77\talign (a)\tCOMPLETED\t2024-05-26 19:54:50.296\t1h 3m 4s\t99.8%\t1.5 GB\tx\n"
        "2\t78\talign (b)\tCACHED\t2024-05-26 19:54:51.000\t35ms\t12%\t-\ty\n"
        "3\t79\talign (c)\tCOMPLETED\t2024-05-26 19:54:51.000\tsoon\t12%\t-\ty\n",
    )
    report = store.ingest([path], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("nextflow", 2, 1)
    frame = store.frame("trace", ["submit", "duration_s", "%cpu", "peak_rss", "custom"])
    assert frame["duration_s"].tolist() == [3784.0]  # what is cached did not run
    assert frame["peak_memory_bytes"].tolist()[0] == 1.5 * 1024**3
    assert frame["submit_time_s"].tolist()[0] == 1716753290.296
    reject = store.rejects("trace").iloc[0]
    assert (reject["line"], reject["column"], reject["text"]) == (4, "realtime", "soon")


SLURM_LIKE = (
    "JobID,Elapsed,ReqMem,MaxRSS,NCPUS,Submit\n"
    "1,08:23:08,4G,3500000K,2,2024-05-26T19:54:50\n"
    "2,1-02:03:04,16Gi,2.5 GB,4,2024-05-26T19:54:51\n"
    "3,never,64G,100M,4,2024-05-26T19:54:52\n"
    "4,x,y\n"
    "5,00:00:30,lots,1G,500m,2024-05-26T19:54:53\n"
    "6,00:01:00,1G,,1,2024-05-26T19:54:54\n"
)


def test_durations_sizes_and_cores_are_read_as_systems_write_them(store, write):
    """What cannot be read is told with its own line, also behind a line that is no row; a time rejects its row."""
    mapping = {
        "job_name": FieldSource("JobID"),
        "duration_s": FieldSource("Elapsed"),
        "requested_memory_bytes": FieldSource("ReqMem"),
        "peak_memory_bytes": FieldSource("MaxRSS"),
        "requested_cpu_percent": FieldSource("NCPUS", "cores"),
        "submit_time_s": FieldSource("Submit"),
    }
    report = store.ingest([write("dump.csv", SLURM_LIKE)], IngestOptions(format="generic", mapping=mapping))
    assert (report.rows, report.rejected, report.rows_read) == (4, 2, 6)
    frame = store.frame("dump", list(mapping))
    assert frame["duration_s"].tolist() == [30_188.0, 93_784.0, 30.0, 60.0]
    assert frame["requested_memory_bytes"].fillna(-1).tolist() == [4 * GIB, 16 * GIB, -1, GIB]
    assert frame["peak_memory_bytes"].tolist()[:2] == [3_500_000 * 1024, 2.5 * GIB]
    assert np.isnan(frame["peak_memory_bytes"].tolist()[3])
    assert frame["requested_cpu_percent"].tolist() == [200.0, 400.0, 50.0, 100.0]
    assert frame["submit_time_s"].tolist() == [1716753290.0, 1716753291.0, 1716753293.0, 1716753294.0]
    rejects = store.rejects("dump").sort_values("line")
    assert sorted(set(rejects["line"])) == [4, 5]
    assert (rejects["column"].tolist()[0], rejects["text"].tolist()[0]) == ("Elapsed", "never")
    (told,) = (check for check in report.checks if check.name == "bad cells")
    assert (told.count, "ReqMem: 'lots' in line 6" in told.message) == (1, True)


def test_a_guess_takes_texts_that_are_values(store, write):
    found = store.suggest(
        write("dump.csv", SLURM_LIKE.replace("never", "00:10:00").replace("lots", "2G")), IngestOptions()
    )
    assert found.mapping["duration_s"].column == "Elapsed"
    assert found.mapping["peak_memory_bytes"].column == "MaxRSS"
    assert found.mapping["submit_time_s"].column == "Submit"


def test_rejects_have_line_column_text_and_reason_and_a_safe_file(store, write):
    path = write("rag.csv", GOOD + 'a,1\nb,1,2,3\n"=cmd",x,y\nlast,1,2\n')
    report = store.ingest([path], IngestOptions())
    assert (report.rows, report.rejected, report.rows_read) == (101, 3, 104)
    rejects = store.rejects("rag")
    assert rejects["line"].tolist() == [102, 103, 104, 104]
    assert rejects["column"].tolist()[2:] == ["duration_s", "peak_memory_bytes"]
    assert rejects["text"].tolist()[2:] == ["x", "y"]
    assert "too few" in rejects["reason"][0]
    assert "too many" in rejects["reason"][1]
    assert len(pd.read_csv(report.rejects_file)) == 4


def test_the_same_content_is_already_loaded_whatever_its_name(store, write):
    first = store.ingest([write("one.csv", GOOD)], IngestOptions())
    again = store.ingest([write("two.csv", GOOD)], IngestOptions())
    assert again.already_loaded and again.hash == first.hash and again.dataset == "one"
    packed = write("one.csv.gz", gzip.compress(GOOD.encode()))
    for path in (write("one.csv", GOOD), packed):  # `make demo` names its samples, each time
        assert store.ingest([path], IngestOptions(name="one")).already_loaded
    with pytest.raises(SettingsError, match="already called"):
        store.ingest([write("two.csv.gz", gzip.compress(f"{GOOD}x,1,1\n".encode()))], IngestOptions(name="one"))
    other = store.ingest([write("two.csv", GOOD)], IngestOptions(duplicates="drop"))
    assert not other.already_loaded
    assert len(store.datasets()) == 2


def test_names_are_made_unique_or_refused(store, write):
    store.ingest([write("a.csv", GOOD)], IngestOptions())
    assert store.ingest([write("a.csv", GOOD + "x,1,1\n")], IngestOptions()).dataset == "a-2"
    with pytest.raises(SettingsError, match="already called"):
        store.ingest([write("b.csv", GOOD + "y,1,1\n")], IngestOptions(name="a"))
    with pytest.raises(SettingsError, match="cannot be used"):
        store.ingest([write("b.csv", GOOD + "y,1,1\n")], IngestOptions(name="../a"))


def test_duplicates_are_counted_or_dropped(store, write):
    path = write("d.csv", GOOD + "j5,5,5000\nj5,5,5000\n")
    assert checks_of(store.ingest([path], IngestOptions()))["duplicates"] == 2
    dropped = store.ingest([path], IngestOptions(duplicates="drop"))
    assert (dropped.rows_read, dropped.rows, checks_of(dropped)["duplicates"]) == (102, 100, 2)
    assert store.frame(dropped.dataset, ["duration_s"])["duration_s"].tolist() == list(range(100))


def test_a_generic_file_proposes_its_mapping_and_loads_with_it(store, write):
    path = write("g.csv", "Job ID,runtime_min,MaxRSS_MB,cores\na,2,100,4\n")
    proposal = store.suggest(path, IngestOptions())
    assert proposal.mapping["duration_s"] == FieldSource("runtime_min", "min")
    assert proposal.mapping["job_name"].column == "Job ID"
    assert proposal.mapping["peak_memory_bytes"] == FieldSource("MaxRSS_MB", "MB")
    report = store.ingest([path], IngestOptions(mapping=proposal.mapping))
    assert store.ingest([path], IngestOptions()).already_loaded  # the same mapping, found without it
    row = store.preview(report.dataset).iloc[0]
    assert (row["duration_s"], row["peak_memory_bytes"], row["requested_cpu_percent"]) == (120, 1e8, 400)


@pytest.mark.parametrize(
    ("mapping", "error", "message"),
    [
        ({"nonsense": FieldSource("a")}, SettingsError, "nonsense"),
        ({"job_name": FieldSource("zz")}, ColumnMissing, "columns found: a, b"),
        ({"job_name": FieldSource("a"), "duration_s": FieldSource("b", "GiB")}, UnitUnknown, "does not fit"),
        ({"job_name": FieldSource("a"), "duration_s": FieldSource("b", "parsec")}, UnitUnknown, "not known"),
    ],
)
def test_a_wrong_mapping_is_explained(store, write, mapping, error, message):
    with pytest.raises(error, match=message):
        store.ingest([write("g.csv", "a,b\nx,1\n")], IngestOptions(format="generic", mapping=mapping))


def test_jsonl_parquet_gz_zst_and_options_read_the_same_rows(store, write, tmp_path):
    rows = [{"job_name": f"j{i}", "duration_s": i + 0.5} for i in range(50)]
    text = "job_name,duration_s\n" + "".join(f"{r['job_name']},{r['duration_s']}\n" for r in rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "p.parquet")
    with pa.CompressedOutputStream(str(tmp_path / "z.csv.zst"), "zstd") as stream:
        stream.write(text.encode())
    german = text.replace(",", ";").replace(".", ",")
    cases = [
        (write("c.csv", text), {}),
        (write("j.jsonl", "".join(json.dumps(row) + "\n" for row in rows)), {}),
        (tmp_path / "p.parquet", {}),
        (write("g.csv.gz", gzip.compress(text.encode())), {}),
        (tmp_path / "z.csv.zst", {}),
        (write("u.csv", text.encode("utf-16")), {"encoding": "utf-16"}),
        (write("de.csv", german), {"decimal": ",", "delimiter": ";"}),
        (write("crlf.csv", text.replace("\n", "\r\n")), {}),
        (write("bom.csv", "\ufeff" + text), {}),
    ]
    for path, options in cases:
        report = store.ingest([path], IngestOptions(**options))
        frame = store.frame(report.dataset, ["job_name", "duration_s"])
        assert frame["duration_s"].tolist() == [row["duration_s"] for row in rows], path.name
        assert frame["job_name"].tolist() == [row["job_name"] for row in rows], path.name


def test_bad_json_lines_and_texts_in_parquet_numbers_are_rejects(store, write, tmp_path):
    lines = store.ingest([write("j.jsonl", '{"job_name":"a","duration_s":1}\n{oops\n[1]\n')], IngestOptions())
    assert (lines.rows, lines.rejected) == (1, 2)
    assert store.rejects("j")["line"].tolist() == [2, 3]
    pq.write_table(pa.table({"job_name": ["a", "b"], "duration_s": ["1.5", "x"]}), tmp_path / "p.parquet")
    table = store.ingest([tmp_path / "p.parquet"], IngestOptions())
    assert (table.rows, table.rejected) == (1, 1)
    assert store.rejects("p").iloc[0][["line", "column", "text"]].tolist() == [2, "duration_s", "x"]


def test_a_column_that_only_looked_numeric_is_kept_as_text(store, write):
    rows = "".join(f"j{i},1,{i}\n" for i in range(500)) + "j500,1,n/k\n"
    report = store.ingest([write("x.csv", "job_name,duration_s,extra\n" + rows)], IngestOptions())
    assert (report.rows, report.rejected) == (501, 0)
    assert not next(column for column in store.columns("x") if column.name == "extra").numeric


def test_time_stamps_as_text_become_epoch_seconds(store, write):
    path = write("t.csv", "job_name,start_time_s,end_time_s\na,2024-01-01T00:00:00Z,2024-01-01 00:01:00\n")
    store.ingest([path], IngestOptions())
    assert store.preview("t")[["start_time_s", "end_time_s"]].iloc[0].tolist() == [1704067200.0, 1704067260.0]


def test_awkward_column_names_are_kept_apart(store, write):
    store.ingest([write("n.csv", "job_name,duration_s,A,a,,finished,row_id\nx,1,2,3,4,5,6\n")], IngestOptions())
    names = [column.name for column in store.columns("n")]
    assert names == ["job_name", "duration_s", "A", "a_2", "column_5", "finished_2", "row_id_2"]


@pytest.mark.parametrize("at", ["spooling", "reading", "checking", "committing"])
def test_cancel_leaves_nothing(store, write, settings, at):
    def stop(_fraction, message):
        if message.startswith(at):
            raise Cancelled("stopped")

    rows = "job_name,start_time_s,end_time_s\n" + "a,1,20\n" * 900 + "b,7,\n" * 900 + "x,y,z\n"  # half of them run
    path = write("big.csv.gz", gzip.compress(rows.encode()))
    with pytest.raises(Cancelled):
        store.ingest([path], IngestOptions(format="generic"), stop)
    assert store.datasets() == ()
    with store._database.cursor() as cursor:
        assert {name for (name,) in cursor.execute("SELECT table_name FROM duckdb_tables()").fetchall()} == TABLES
    assert list((settings.home / "spool").iterdir()) == []
    assert list((settings.home / "rejects").iterdir()) == []
    assert store.ingest([path], IngestOptions(format="generic")).rows > 0


def test_progress_never_runs_backwards_by_much(store, write):
    seen = []
    store.ingest([write("p.csv", GOOD)], IngestOptions(), lambda fraction, message: seen.append((fraction, message)))
    assert seen[-1][0] == 1.0
    assert all(fraction is None or 0 <= fraction <= 1 for fraction, _ in seen)


def test_readonly_refuses_every_write(settings, write, tmp_path):
    with TraceStore(settings) as store:
        store.ingest([write("a.csv", GOOD)], IngestOptions())
    frozen = type(settings)(home=settings.home, data=settings.data, readonly=True)
    with TraceStore(frozen) as store:
        assert len(store.preview("a")) == 100
        for change in (
            lambda: store.ingest([tmp_path / "a.csv"], IngestOptions()),
            lambda: store.rename("a", "b"),
            lambda: store.remove("a"),
            lambda: store.sample("a", "job_name", 5, "s"),
        ):
            with pytest.raises(WorkprofError, match="WORKPROF_READONLY"):
                change()


def test_formats_that_are_not_known_are_named(store, write):
    with pytest.raises(SettingsError, match="pai-sample"):
        store.ingest([write("a.csv", GOOD)], IngestOptions(format="excel"))
    for chosen in ("generic", "auto"):
        with pytest.raises(TraceError, match=r"2 files .* one file.*for file in .*a\.csv .*b\.csv; do workprof ingest"):
            store.ingest([write("a.csv", GOOD), write("b.csv", GOOD)], IngestOptions(format=chosen))
    with pytest.raises(NoRows, match="no rows"):
        store.ingest([write("h.csv", HEADER)], IngestOptions())


def test_rows_stand_in_the_order_of_the_file(store, tmp_path):
    """In Parquet's row groups too, which several threads read."""
    names = [f"j{at}" for at in range(2_000)]
    table = pa.table({"job_name": names, "duration_s": ["5s"] * len(names), "status": ["done"] * len(names)})
    pq.write_table(table, tmp_path / "jobs.parquet", row_group_size=50)
    store.ingest([tmp_path / "jobs.parquet"], IngestOptions())
    assert store.frame("jobs", ["job_name"])["job_name"].tolist() == names


@pytest.mark.parametrize(("use", "told"), [("9{at}.5", 9), ("1{at}0.5", 0), ("1{at}.5", 0)])
def test_a_use_that_may_be_a_share_of_all_cores_is_told(store, write, use, told):
    rows = "".join(f"j{at},100,8,{use.format(at=at)}\n" for at in range(9)) + "one,100,1,99\n"
    report = store.ingest([write("c.csv", f"job,runtime_s,ncpus,cpu_percent\n{rows}")], IngestOptions())
    assert checks_of(report).get("share of all cores", 0) == told
    assert checks_of(report)["no status"] == 10
    text = "job,runtime_s,status\na,1,done\nb,2,failed\n"
    assert "no status" not in checks_of(store.ingest([write("s.csv", text)], IngestOptions()))


@pytest.mark.parametrize("used", ["0", "1"])
@pytest.mark.parametrize("kind", ["cpu", "gpu"])
def test_a_use_that_no_run_has_is_told(store, write, kind, used):
    head = f"task_name,duration_s,requested_{kind}_percent,{kind}_usage_percent\n"
    rows = "".join(f"t,{300 + at},400,0\n" for at in range(9)) + f"t,900,400,{used}\n"
    told = checks_of(store.ingest([write("n.csv", head + rows)], IngestOptions()))
    assert told.get(f"no {kind.upper()} used", 0) == (10 if used == "0" else 0)


def test_runs_of_the_future_are_told(store, write):
    text = "task_name,start_time_s,end_time_s\na,4000000000,4000000300\nb,1700000000,1700000300\n"
    told = store.ingest([write("f.csv", text)], IngestOptions())
    (check,) = (one for one in told.checks if one.name == "in the future")
    assert check.message.startswith("1 run ended in the future: see")
    own_clock = "task_name,start_time_s,end_time_s\na,100,400\nb,500,900\n"
    assert "in the future" not in checks_of(store.ingest([write("o.csv", own_clock)], IngestOptions()))


def test_a_start_before_its_submission_is_told(store, write):
    text = "job,submit,start,end\n" + "a,2026-01-01 12:00:00,2026-01-01 10:00:00,2026-01-01 11:00:00\n"
    text += "b,2026-01-01 12:00:00,2026-01-01 11:59:59,2026-01-01 13:00:00\n"
    assert checks_of(store.ingest([write("z.csv", text)], IngestOptions()))["start before submission"] == 1

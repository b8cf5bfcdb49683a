"""Nextflow traces as they are printed: default fields, any subset, failed attempts with their cause, exact totals."""

import csv
import datetime
import io
import json
import random

import numpy as np
import pandas as pd
import pytest

from workprof.core.causes import cause_of
from workprof.core.errors import ColumnMissing
from workprof.core.units import GB, GIB, HOUR_S, MIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

DEFAULT = [
    *("task_id", "hash", "native_id", "name", "status", "exit", "submit", "duration", "realtime"),
    *("%cpu", "peak_rss", "peak_vmem", "rchar", "wchar"),
]
PRINTED = "\t".join(DEFAULT) + (
    "\n4\tfb/cc864e\t58589\tNFCORE_RNASEQ:RNASEQ:ALIGN (sample 1)\tCOMPLETED\t0\t2025-05-25 12:13:14.094\t650ms\t224ms"
    "\t34.4%\t3.1 MB\t4.6 MB\t193.5 KB\t540 B"
    "\n5\t88/2b5695\t58627\tSIMPLE_QC (7)\tFAILED\t137\t2025-05-25 12:13:15.000\t1h 2m 3s\t1h"
    "\t99.8%\t1.5 GB\t2 GB\t0\t0"
    "\n6\t99/2b5695\t-\tREPORT\tABORTED\t-\t2025-05-25 12:13:16.000\t-\t-\t-\t-\t-\t-\t-"
    "\n7\t9a/2b5695\t58630\tSIMPLE_QC (a (b))\tCACHED\t0\t2025-05-25 12:13:17.000\t2d 3h\t1.2s\t-\t0\t0\t-\t-\n"
)
EPOCH = datetime.datetime(2025, 5, 25, 12, 13, 14, 94_000, tzinfo=datetime.UTC).timestamp()


def test_the_default_fields_as_printed(store, write):
    report = store.ingest([write("trace.txt", PRINTED)], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected, report.lost) == ("nextflow", 4, 4, 0, 0)
    names = ["job_name", "task_name", "tag", "status", "submit_time_s", "end_time_s", "duration_s", "rchar"]
    frame = store.frame("trace", [*names, "cpu_usage_percent", "peak_memory_bytes"], finished_only=False)
    assert frame["task_name"].tolist() == ["NFCORE_RNASEQ:RNASEQ:ALIGN", "SIMPLE_QC", "REPORT", "SIMPLE_QC"]
    assert frame["tag"].astype(object).fillna("none").tolist() == ["sample 1", "none", "none", "a (b)"]
    assert frame["status"].tolist() == ["COMPLETED", "killed (FAILED, exit 137)", "ABORTED", "CACHED"]
    np.testing.assert_array_equal(frame["duration_s"], [0.224, 3600, np.nan, np.nan])
    np.testing.assert_allclose(frame["end_time_s"][:2], [EPOCH + 0.65, EPOCH + 0.906 + 3723])
    assert frame["end_time_s"][2:].isna().all()
    np.testing.assert_allclose(frame["peak_memory_bytes"], [3.1 * MIB, 1.5 * GIB, np.nan, 0])
    np.testing.assert_allclose(frame["rchar"][:2], [193.5 * 1024, 0])
    np.testing.assert_allclose(frame["cpu_usage_percent"], [34.4, 99.8, np.nan, np.nan])
    assert store.dataset("trace").finished_rows == 1
    assert {check.name: check.count for check in report.checks}["call cache"] == 1


def test_fields_as_seqera_platform_spells_them(store, write):
    tasks = [
        {"taskId": 1, "hash": "ab/cdef12", "name": "ALIGN (s1)", "process": "ALIGN", "status": "COMPLETED", "exit": 0}
        | {"cpus": 4, "memory": 8 * GIB, "pcpu": 350.5, "rss": 3e9, "peakRss": 4e9, "realtime": 1_795_000}
        | {"duration": 1_860_000, "readBytes": 1000, "nativeId": 123}
    ]
    report = store.ingest([write("tasks.json", json.dumps(tasks))], IngestOptions())
    names = ["peak_memory_bytes", "cpu_usage_percent", "read_bytes", "duration_s"]
    assert report.format == "nextflow"
    np.testing.assert_array_equal(store.frame("tasks", names)[names].to_numpy(float), [[4e9, 350.5, 1000, 1795]])


FULL = "name,attempt,status,exit,error_action,cpus,time,memory,submit,start,complete,realtime,peak_rss\n"
ATTEMPTS = FULL + (
    "A (1),1,FAILED,137,RETRY,2,3600000,1073741824,1000,2000,62000,60000,1073741824\n"
    "A (1),2,COMPLETED,0,-,2,3600000,2147483648,63000,64000,124000,60000,1500000000\n"
    "B (1),1,FAILED,137,RETRY,2,3600000,1073741824,1000,2000,62000,60000,500000\n"
    "C (1),1,FAILED,140,RETRY,2,60000,1073741824,1000,2000,62000,60000,500000\n"
    "D (1),1,ABORTED,143,-,2,3600000,1073741824,1000,2000,62000,60000,-\n"
    "E (1),1,FAILED,1,IGNORE,2,3600000,1073741824,1000,2000,62000,60000,500000\n"
    "F (1),1,ABORTED,-,-,2,3600000,1073741824,1000,-,-,-,-\n"
)


def test_attempts_are_rows_with_a_cause(store, write):
    report = store.ingest([write("attempts.csv", ATTEMPTS)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("nextflow", 7, 0)
    checks = {check.name: check.count for check in report.checks}
    assert (checks["attempts"], checks["not finished"]) == (1, 6)
    frame = store.frame("attempts", ["status", "attempt", "error_action"], finished_only=False)
    told = [
        "COMPLETED",
        "out of memory (FAILED, exit 137)",
        "killed (FAILED, exit 137)",
        "timed out (FAILED, exit 140)",
    ]
    told += ["killed (ABORTED, exit 143)", "FAILED", "ABORTED"]
    assert sorted(frame["status"]) == sorted(told)
    causes = [cause_of(status) for status in told[1:]]
    assert causes == ["out of memory", "killed", "timed out", "killed", "failed", "killed"]
    assert frame["error_action"].tolist().count("RETRY") == 3
    runs = store.frame("attempts", ["status", "attempt"])
    assert (runs["status"].tolist(), runs["attempt"].tolist()) == (["COMPLETED"], [2])


@pytest.mark.parametrize(
    "header",
    [
        "name,status,exit,realtime,memory,peak_rss",
        "realtime;%cpu;process",
        "process\ttag\tstatus\trealtime\twchar",
        "hash|name|realtime",
        "exit,complete,start,status,name",
    ],
)
def test_a_subset_of_the_fields_in_any_order(store, write, header):
    delimiter = next(each for each in ",;\t|" if each in header)
    cells = {"name": "A (x)", "process": "A", "tag": "x", "status": "COMPLETED", "exit": "0", "hash": "1a/2b3c4d"}
    cells |= {"realtime": "90000", "start": "1000000", "complete": "1090000", "memory": "1048576", "peak_rss": "-"}
    line = delimiter.join(cells.get(name, "7") for name in header.split(delimiter))
    report = store.ingest([write("few.csv", f"{header}\n{line}\n")], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("nextflow", 1, 0)
    frame = store.frame("few", ["task_name", "duration_s"])
    assert (frame["task_name"][0], frame["duration_s"][0]) == ("A", 90.0)


@pytest.mark.parametrize(("times", "last"), [(("3m", "4s"), 4), (("180000", "180"), 180)])
def test_a_run_time_that_says_its_unit_is_not_read_in_another(store, write, times, last):
    """Tasks of a cloud wait for their image between `start` and the run: that is no other unit."""
    usual = "A ({}),1,COMPLETED,0,-,2,3600000,1073741824,1000,2000,242000,{},{}\n".format
    text = FULL + "".join(usual(at, times[0], 5 * MIB) for at in range(9)) + usual(9, times[1], 0)
    store.ingest([write("cloud.csv", text)], IngestOptions())
    frame = store.frame("cloud", ["duration_s", "peak_memory_bytes"])
    np.testing.assert_array_equal(frame["duration_s"], [180] * 9 + [last])


def test_a_peak_of_zero_in_a_run_that_used_cores_is_not_known(store, write):
    head, *rows = (line + name for line, name in zip(ATTEMPTS.splitlines(), (",%cpu", *[",150"] * 7), strict=True))
    text = "\n".join((head, *rows)).replace(",1500000000,", ",0,") + "\n"
    checks = {check.name: check.count for check in store.ingest([write("zero.csv", text)], IngestOptions()).checks}
    assert checks["use of zero"] == 1
    assert store.frame("zero", ["peak_memory_bytes"])["peak_memory_bytes"].isna().all()


def test_other_tables_with_a_realtime_stay_what_they_are(store, write):
    report = store.ingest([write("mine.csv", "job_name,realtime,duration_s\na,50715,50\n")], IngestOptions())
    assert report.format == "generic"


def test_a_trace_without_any_run_time_is_refused(store, write):
    with pytest.raises(ColumnMissing, match="duration_s"):
        store.ingest(
            [write("t.csv", "name,status,exit,native_id\na,COMPLETED,0,1\n")], IngestOptions(format="nextflow")
        )


def spelled(milliseconds):
    """Return a duration as Nextflow prints it, rounded as there."""
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    seconds = milliseconds // 1000
    if seconds < 60:
        return f"{milliseconds / 1000:.1f}".removesuffix(".0") + "s"
    parts = ((seconds // 86_400, "d"), (seconds // 3600 % 24, "h"), (seconds // 60 % 60, "m"), (seconds % 60, "s"))
    return " ".join(f"{amount}{unit}" for amount, unit in parts if amount)


@pytest.mark.parametrize("raw", [True, False])
def test_thousands_of_attempts_add_up(store, write, raw):
    """GB·h requested and used of the runs, beside sums made while the trace was written."""
    draw, runs, attempts, requested, used = random.Random(5), 0, 0, 0.0, 0.0
    stream = io.StringIO()
    out = csv.writer(stream, delimiter="\t", lineterminator="\n")
    fields = [*DEFAULT, "cpus", "memory", "attempt"]
    draw.shuffle(fields)
    out.writerow(fields)
    for task in range(4000):
        for attempt in range(1, draw.choice((1, 1, 1, 2, 3)) + 1):
            last = attempt > 1 or draw.random() < 0.8
            gib, milliseconds = (
                draw.randint(1, 64) * attempt,
                draw.choice((draw.randint(1, 60_000), draw.randint(1, 2 * 10**8))),
            )
            peak = draw.randint(1, gib * 1024) * MIB
            seconds = milliseconds / 1000 if raw or milliseconds < 1000 else milliseconds // 100 / 10
            if not raw and milliseconds >= 60_000:
                seconds = milliseconds // 1000
            said = spelled(milliseconds // 100 * 100 if 1000 <= milliseconds < 60_000 else milliseconds)
            row = {
                "task_id": task + 1, "hash": f"{task % 256:02x}/{task:06x}", "native_id": draw.randint(1, 10**6),
                "name": f"P{task % 17} (s{task})", "status": "COMPLETED" if last else "FAILED",
                "exit": 0 if last else 137,
                "submit": 1716753290296 + task if raw else "2024-05-26 19:54:50.296",
                "duration": milliseconds + 5000 if raw else spelled(milliseconds + 5000),
                "realtime": milliseconds if raw else said, "%cpu": 99.8 if raw else "99.8%",
                "peak_rss": peak if raw else f"{peak // MIB} MB", "peak_vmem": "-", "rchar": "0", "wchar": "-",
                "cpus": 2,
                "memory": gib * GIB if raw else f"{gib} GB", "attempt": attempt,
            }  # fmt: skip
            out.writerow([row[field] for field in fields])
            attempts += attempt > 1
            if last:
                runs += 1
                requested += gib * GIB * seconds / GB / HOUR_S
                used += peak * seconds / GB / HOUR_S
    report = store.ingest([write("many.tsv", stream.getvalue())], IngestOptions())
    assert (report.format, report.rejected, store.dataset("many").finished_rows) == ("nextflow", 0, runs)
    assert {check.name: check.count for check in report.checks}["attempts"] == attempts
    frame = store.frame("many", ["duration_s", "requested_memory_bytes", "peak_memory_bytes"])
    hours = frame["duration_s"] / HOUR_S / GB
    assert (hours * frame["requested_memory_bytes"]).sum() == pytest.approx(requested, rel=1e-3)
    assert (hours * frame["peak_memory_bytes"]).sum() == pytest.approx(used, rel=1e-3)


@pytest.mark.parametrize(("column", "wrong"), [("peak_rss", "5 parsecs"), ("%cpu", "much"), ("submit", "tomorrow")])
def test_a_cell_that_times_no_run_is_missing_where_it_is_none(store, write, column, wrong):
    lines = PRINTED.splitlines()
    cells = lines[2].split("\t")
    cells[DEFAULT.index(column)] = wrong
    lines[2] = "\t".join(cells)
    report = store.ingest([write("bad.tsv", "\n".join(lines))], IngestOptions())
    assert (report.rows, report.rejected) == (4, 0)
    (told,) = (check for check in report.checks if check.name == "bad cells")
    assert f"{column}: {wrong!r} in line 3" in told.message


@pytest.mark.parametrize(("column", "wrong"), [("realtime", "soon")])
def test_what_is_no_value_is_a_reject_with_its_line(store, write, column, wrong):
    lines = PRINTED.splitlines()
    cells = lines[2].split("\t")
    cells[DEFAULT.index(column)] = wrong
    lines[2] = "\t".join(cells)
    report = store.ingest([write("bad.tsv", "\n".join(lines))], IngestOptions())
    assert (report.rows, report.rejected) == (3, 1)
    reject = store.rejects("bad").iloc[0]
    assert (reject["line"], reject["column"], reject["text"]) == (3, column, wrong)


def test_a_line_that_is_cut_off_is_a_reject(store, write):
    report = store.ingest([write("cut.tsv", PRINTED[: PRINTED.index("1h 2m 3s") + 4])], IngestOptions())
    assert (report.rows, report.rejected) == (1, 1)
    assert store.rejects("cut").iloc[0]["line"] == 3


def test_a_trace_that_was_kept_as_parquet(store, write, tmp_path):
    """As pandas writes it: a column with a '-' in it is text there, times are time stamps."""
    frame = pd.read_csv(io.StringIO(ATTEMPTS))
    frame["exit"] = frame["exit"].astype(str)
    frame["tag"] = range(7)
    frame["submit"] = pd.to_datetime(frame["submit"], unit="ms", utc=True)
    frame.drop(columns=["start", "complete"]).replace("-", None).astype(
        {"realtime": float, "peak_rss": float}
    ).to_parquet(tmp_path / "trace.parquet")
    report = store.ingest([tmp_path / "trace.parquet"], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("nextflow", 7, 0)
    told = store.frame("trace", ["status", "tag"], finished_only=False)
    assert (told["status"][0], told["tag"].tolist()) == ("out of memory (FAILED, exit 137)", [*range(7)])

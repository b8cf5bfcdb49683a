"""Grid Engine's accounting: the file and what qacct prints, memory per slot, how jobs end, parts of parallel jobs."""

import gzip
import json

import numpy as np
import pytest

from tests.formats.sge_files import accounting, qacct, sums
from workprof.core.errors import TraceError
from workprof.core.units import GIB, KIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

NAMES = ["job_name", "status", "duration_s", "requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent"]


@pytest.mark.some(2)
@pytest.mark.parametrize("kind", ["file", "file in ms", "qacct", "new qacct"])
def test_a_month(store, write, kind):
    text = accounting(2000, millis=kind == "file in ms")
    told = qacct(text, new=kind == "new qacct") if "qacct" in kind else text
    report = store.ingest([write("accounting.gz", gzip.compress(told.encode()))], IngestOptions())
    assert (report.format, report.rejected, report.lost) == ("sge", 0, 0)
    frame = store.frame(
        report.dataset, [*NAMES, "time_limit_s", "submit_time_s", "cpu_usage_percent"], finished_only=False
    )
    done = frame[frame["status"] == "completed"]
    got = (len(frame), len(done), *((done[name] * done["duration_s"] / 3600).sum() / 1e9 for name in NAMES[3:5]))
    wanted = sums(text)
    assert got[:2] == wanted[:2]
    np.testing.assert_allclose(got[2:], wanted[2:], rtol=1e-5)
    assert set(frame["time_limit_s"]) == {86_400}
    assert frame["submit_time_s"][0] == 1_700_000_020
    assert frame["job_name"].tolist()[:3] == ["1.1", "2.2", "3"]
    np.testing.assert_allclose(frame["cpu_usage_percent"], frame["requested_cpu_percent"] / 2)
    assert store.dataset(report.dataset).finished_rows == len(done)


RULE = "=" * 62
SMALL = f"""\
{RULE}
qname        all.q
hostname     n1
group        users
owner        ann
project      NONE
jobname      align
jobnumber    7
taskid       undefined
qsub_time    Tue May 28 10:00:00 2024
start_time   Tue May 28 10:00:10 2024
end_time     Tue May 28 10:30:10 2024
granted_pe   mpi
slots        4
failed       37  : qmaster enforced h_rt, h_cpu, or h_vmem limit
exit_status  137                  (Killed)
ru_wallclock 1800s
ru_maxrss    2048KB
cpu          3600.000s
maxvmem      8.5G
category     -l h_vmem=2G,h_rt=01:00:00 -pe mpi 4
{RULE}
qname        all.q
owner        bob
jobname      old
jobnumber    8
taskid       3
qsub_time    Tue May 28 10:00:00 2024
start_time   -/-
end_time     -/-
slots        1
failed       1   : before job
exit_status  0
ru_wallclock 0
maxvmem      0.000
ru_maxrss    1024
"""


def test_how_jobs_end(store, write):
    report = store.ingest([write("qacct.txt", SMALL)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("sge", 2, 0)
    frame = store.frame("qacct", [*NAMES, "time_limit_s", "start_time_s", "user", "group"], finished_only=False)
    assert frame["job_name"].tolist() == ["7", "8.3"]
    assert frame["status"].tolist() == ["out of memory (failed 37)", "failed (failed 1)"]
    np.testing.assert_array_equal(frame["requested_memory_bytes"] / GIB, [8, np.nan])
    np.testing.assert_array_equal(frame["peak_memory_bytes"] / KIB, [8.5 * KIB**2, 1024])
    np.testing.assert_array_equal(frame["start_time_s"], [1_716_890_410, np.nan])
    assert frame["time_limit_s"][0] == 3600
    assert frame["group"][0] == "users"
    timed = SMALL.replace("8.5G", "1G").replace("failed       37 ", "failed       100 ").replace("1800s", "3600s")
    store.ingest([write("timed.txt", timed)], IngestOptions())
    assert store.frame("timed", ["status"], finished_only=False)["status"][0] == "timed out (failed 100)"
    store.ingest([write("killed.txt", timed.replace("3600s", "60s"))], IngestOptions())
    assert store.frame("killed", ["status"], finished_only=False)["status"][0] == "killed (failed 100)"


def test_parts_of_a_parallel_job_fold_into_it(store, write):
    lines = accounting(3).splitlines(keepends=True)
    store.ingest([write("alone", "".join(lines))], IngestOptions())
    names = [*NAMES, "cpu_usage_percent"]
    alone = store.frame("alone", names, finished_only=False)
    part = lines[-1].split(":")
    part[41], part[42] = "1.n2", "1e12"
    later = [*part]
    later[8:11] = (str(int(part[10]) + shift) for shift in (0, 0, 60))
    parts = (":".join(each) for each in (part, [*part[:41], "2.n3", *part[42:]], later))
    report = store.ingest([write("accounting", "".join([*lines, *parts]))], IngestOptions())
    assert (report.rows, report.rejected) == (3, 0)
    whole = store.frame("accounting", names, finished_only=False)
    ran, before = whole["peak_memory_bytes"].argmax(), alone["peak_memory_bytes"]
    assert whole["peak_memory_bytes"][ran] == pytest.approx(
        2e12 + before[ran]
    )  # parts at once add up, later ones do not
    assert whole["cpu_usage_percent"][ran] == pytest.approx(4 * alone["cpu_usage_percent"][ran])


def test_what_is_no_record_is_a_reject(store, write):
    lines = accounting(30).splitlines(keepends=True)
    broken = [*lines, "all.q:n1:cut off\n", lines[-1].replace(":31:", ":x:")[:40] + "\n"]
    report = store.ingest([write("accounting", "".join(broken))], IngestOptions())
    assert (report.rows, report.rejected) == (30, 2)
    assert store.rejects("accounting")["line"].tolist() == [len(lines) + 1, len(lines) + 2]
    report = store.ingest([write("q.txt", SMALL + RULE + "\nqname  all.q\nowner x\n")], IngestOptions())
    assert (report.rows, report.rejected) == (2, 1)
    bad = SMALL.replace("8.5G", "lots")
    report = store.ingest([write("bad.txt", bad)], IngestOptions())
    assert (report.rejected, [check.count for check in report.checks if check.name == "bad cells"]) == (0, [1])


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("kind", "cut", "rejected"),
    [("file", 80, 1), ("file", 11, 1), ("file", 2, 0), ("qacct", 80, 1), ("qacct", 50, 1), ("qacct", 15, 0)],
)
def test_a_last_record_that_is_cut_is_a_reject_or_told(store, write, kind, cut, rejected):
    """A file that is still written: without its last fields a record's memory is not known."""
    text = accounting(3) if kind == "file" else qacct(accounting(3)).partition("Total")[0]
    report = store.ingest([write("cut", text[:-cut])], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("sge", 3 - rejected, rejected)
    unended = [check.level for check in report.checks if check.name == "no line end"]
    assert unended == ["warning"] * (1 - rejected)


def test_a_table_between_colons_is_not_taken(store, write):
    text = "".join("a:b:c:1:2\n" for _ in range(5))
    with pytest.raises(TraceError):
        store.ingest([write("passwd.txt", text)], IngestOptions())


def test_lines_of_json_are_the_accounting_of_gridware(store, write):
    """Open Cluster Scheduler 9 writes accounting.jsonl, with moments in microseconds."""
    job = {"job_number": 7, "task_number": 0, "start_time": 1_714_521_600_500_000, "end_time": 1_714_521_660_500_000}
    job |= {"owner": "ann", "group": "lab", "qname": "all.q", "hostname": "n1", "slots": 4, "job_name": "a: b"}
    job |= {"submission_time": 1_714_521_595_000_000, "category": "-l h_vmem=4G", "failed": 0, "exit_status": 0}
    job |= {"ru_wallclock": 60, "ru_maxrss": 900, "cpu": 120.0, "maxvmem": 0.0, "maxrss": 2_000_000.0}
    lines = [job, job | {"task_number": 3, "failed": 100, "exit_status": 137, "maxvmem": 16.0 * GIB}]
    text = "\n".join(map(json.dumps, lines)) + '\n{"job_number": 8,\n'
    report = store.ingest([write("accounting.jsonl", text)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("sge", 2, 1)
    names = [*NAMES, "task_name", "start_time_s", "cpu_usage_percent"]
    rows = store.frame(report.dataset, names, finished_only=False)[names].values.tolist()
    assert rows[0] == ["7", "completed", 60, 16 * GIB, 2e6, 400, "a: b", 1_714_521_600.5, 200]
    assert rows[1][:5] == ["7.3", "out of memory (failed 100)", 60, 16 * GIB, 16 * GIB]

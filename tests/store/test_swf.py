"""Logs in Standard Workload Format: times, memory of all processors, parts of a job, what is no such log."""

import gzip

import numpy as np
import pytest

from tests.formats.swf_files import START, log, sums
from workprof.core.errors import TraceError
from workprof.core.units import KIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

NAMES = ["job_name", "status", "submit_time_s", "start_time_s", "end_time_s", "duration_s", "time_limit_s"]
NAMES += ["requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent", "cpu_usage_percent"]
SMALL = """\
;       Version: 2.2
;       UnixStartTime: 1000
  1   10   5  100   4  50.5  200   4  600  300 1 3 1 7 2 -1 -1 -1
  2   11  -1   -1  -1  -1     -1   8   -1   -1 5 3 1 7 2  1 -1 -1
  3   12   0   60   2  -1    100  -1  600   -1 0 4 1 -1 0 1  1 30
  4   20   0   90   1  -1    100   1  600  100 1 4 1 8 2 1 -1 -1
  4   20   0   30   1  -1    900   1  600  100 2 4 1 8 2 1 -1 -1
  4   60   0   60   1  -1    300   1  600  100 3 4 1 8 2 1 -1 -1
  5   70   0   10   1  -1    300   1  600  100 4 4 1 8 2 1 -1 -1
"""


def test_a_small_log(store, write):
    report = store.ingest([write("log.swf", SMALL)], IngestOptions())
    assert (report.format, report.rows, report.rejected, report.lost) == ("swf", 5, 0, 0)
    checks = {check.name: check.count for check in report.checks}
    assert (checks["steps"], checks["steps without a job"], checks["memory is an average"]) == (2, 1, 6)
    frame = store.frame("log", NAMES, finished_only=False)
    assert frame["job_name"].tolist() == ["1", "2", "3", "4", "5"]
    assert frame["status"].tolist()[:4] == ["completed", "cancelled", "failed", "completed"]
    np.testing.assert_array_equal(frame["submit_time_s"], [1010, 1011, 1012, 1020, 1070])
    np.testing.assert_array_equal(frame["start_time_s"], [1015, np.nan, 1012, 1020, 1070])
    np.testing.assert_array_equal(frame["end_time_s"], [1115, np.nan, 1072, 1110, 1080])
    np.testing.assert_array_equal(frame["time_limit_s"], [600, np.nan, 600, 600, 600])
    np.testing.assert_array_equal(frame["requested_memory_bytes"] / KIB, [1200, np.nan, np.nan, 100, 100])
    np.testing.assert_array_equal(frame["peak_memory_bytes"] / KIB, [800, np.nan, 200, 900, 300])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [400, 800, 200, 100, 100])
    assert frame["cpu_usage_percent"][0] == pytest.approx(202)
    assert store.dataset("log").finished_rows == 2
    ids = ["task_name", "user", "group", "workload", "partition"]
    assert store.frame("log", ids, finished_only=False).iloc[0][ids].fillna("").tolist() == ["7", "3", "1", "2", ""]


def test_a_log_of_a_year(store, write):
    text = log(5000)
    report = store.ingest([write("CTC-2.1.swf.gz", gzip.compress(text.encode()))], IngestOptions())
    assert (report.format, report.rejected, report.lost) == ("swf", 0, 0)
    frame = store.frame(report.dataset, NAMES, finished_only=False)
    done = frame[frame["status"] == "completed"]
    hours = done["duration_s"] / 3600
    got = (len(frame), len(done), *((done[name] * hours).sum() / 1e9 for name in NAMES[7:9]))
    wanted = sums(text)
    assert got[:2] == wanted[:2]
    np.testing.assert_allclose(got[2:], wanted[2:], rtol=1e-9)
    assert frame["submit_time_s"].min() >= START and min(wanted) > 0


def test_without_comments_and_under_another_name(store, write):
    text = "".join(line + "\n" for line in log(50).splitlines() if line and line[0] != ";")
    assert store.ingest([write("log.txt", text)], IngestOptions()).format == "swf"
    shuffled = "".join(sorted(text.splitlines(keepends=True), reverse=True))
    assert store.detect([write("other.txt", shuffled)]) == "generic"
    assert store.detect([write("other.swf", shuffled)]) == "swf"


def test_a_line_that_is_no_job_is_a_reject(store, write):
    numbers = "6 80 0 {} 1 -1 300 1 600 {} 1 4 1 8 2 1 -1 -1"
    lines = ("6 1 2 3", "6 " * 19, numbers.format(10, "lots"), numbers.format("inf", 1))
    report = store.ingest([write("log.swf", SMALL + "\n".join(lines) + "\n")], IngestOptions(format="swf"))
    assert (report.rows, report.rejected) == (5, 4)
    assert store.rejects("log")["line"].tolist() == [10, 11, 12, 13]


def test_a_log_without_jobs_is_refused(store, write):
    with pytest.raises(TraceError):
        store.ingest([write("log.swf", "; Version: 2.2\n; UnixStartTime: 5\n")], IngestOptions())
    with pytest.raises(TraceError, match="rejected"):
        store.ingest([write("log.swf", "1 2 3\n")], IngestOptions(format="swf"))


def test_a_line_that_never_ends_is_refused(store, write):
    with pytest.raises(TraceError, match="line 10 never ends"):
        store.ingest([write("log.swf", SMALL + "7 " * (9 << 20))], IngestOptions())

"""Slurm accounting as `sacct -P` prints it: steps fold into jobs, units and states are right, nothing is lost."""

from __future__ import annotations

import numpy as np
import pytest

from workprof.core.errors import ColumnMissing
from workprof.core.units import GIB, KIB, MIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

RAW = """\
JobID|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|ReqMem|MaxRSS|TotalCPU|ReqCPUS|NNodes|ReqTRES|ExitCode
101|align|ann|lab|short|COMPLETED|2024-05-26T10:00:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00|16G||03:00:00|4|1|cpu=4,mem=16G,node=1|0:0
101.batch|batch||lab||COMPLETED|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00||3500000K|02:59:00|4|1||0:0
101.extern|extern||lab||COMPLETED|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00||1000K|00:00:00|4|1||0:0
101.0|srun||lab||COMPLETED|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00||5G|00:01:00|4|1||0:0
102_3|train|bob|lab|gpu|OUT_OF_MEMORY|2024-05-26T10:00:00|2024-05-26T10:05:00|2024-05-27T10:05:01|1-00:00:01|4Gc||12:00:00|8|1|cpu=8,gres/gpu:a100=2,mem=32G|0:125
102_3.batch|batch||lab||OUT_OF_MEMORY|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-27T10:05:01|1-00:00:01||33000000K|12:00:00|8|1||0:125
103|mpi|ann|lab|long|COMPLETED|2024-05-26T10:00:00|2024-05-26T11:00:00|2024-05-26T11:30:00|00:30:00|8Gn||10:00:00|64|2|cpu=64,mem=16G|0:0
103.0|mpi||lab||COMPLETED|2024-05-26T11:00:00|2024-05-26T11:00:00|2024-05-26T11:30:00|00:30:00||900M|10:00:00|64|2||0:0
104|gone|bob|lab|short|CANCELLED by 1001|2024-05-26T10:00:00|Unknown|Unknown|00:00:00|2G||00:00:00|1|1||0:0
105|long|bob|lab|long|RUNNING|2024-05-26T10:00:00|2024-05-26T10:10:00|Unknown|3-02:00:00|0||00:00.000|2|1||0:0
105.batch|batch||lab||RUNNING|2024-05-26T10:10:00|2024-05-26T10:10:00|Unknown|3-02:00:00||2.5G|00:00:10|2|1||0:0
106.batch|batch||lab||COMPLETED|2024-05-26T10:10:00|2024-05-26T10:10:00|2024-05-26T10:20:00|00:10:00||1G|00:10:00|2|1||0:0
106.extern|extern||lab||COMPLETED|2024-05-26T10:10:00|2024-05-26T10:10:00|2024-05-26T10:20:00|00:10:00||2M|00:00:00|2|1||0:0
"""


def test_a_dump_as_it_is_printed(store, write):
    report = store.ingest([write("sacct.txt", RAW)], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected, report.lost) == ("slurm", 13, 6, 0, 0)
    checks = {check.name: check.count for check in report.checks}
    assert checks["steps"] == 7
    assert checks["steps without a job"] == 1
    names = ["job_name", "task_name", "user", "status", "duration_s", "requested_memory_bytes", "peak_memory_bytes"]
    names += ["requested_cpu_percent", "requested_gpu_percent", "cpu_usage_percent", "submit_time_s", "end_time_s"]
    frame = store.frame("sacct", names, finished_only=False)
    assert frame["job_name"].tolist() == ["101", "102_3", "103", "104", "105", "106"]
    assert frame["task_name"].tolist()[:3] == ["align", "train", "mpi"]
    assert frame["status"].tolist()[1:5] == ["OUT_OF_MEMORY", "COMPLETED", "CANCELLED", "RUNNING"]
    np.testing.assert_array_equal(frame["duration_s"], [7200, 86_401, 1800, 0, 266_400, 600])
    asked = frame["requested_memory_bytes"].to_numpy() / GIB
    np.testing.assert_array_equal(asked, [16, 32, 16, 2, np.nan, np.nan])
    peak = frame["peak_memory_bytes"].to_numpy()
    np.testing.assert_array_equal(peak, [5 * GIB, 33e6 * KIB, 900 * MIB, np.nan, 2.5 * GIB, GIB])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [400, 800, 6400, 100, 200, 200])
    np.testing.assert_array_equal(frame["requested_gpu_percent"], [np.nan, 200, np.nan, np.nan, np.nan, np.nan])
    np.testing.assert_allclose(frame["cpu_usage_percent"][:3], [150, 100 * 43_200 / 86_401, 2000])
    assert frame["submit_time_s"][0] == 1716717600.0
    assert np.isnan(frame["end_time_s"][3]) and np.isnan(frame["end_time_s"][4])
    assert store.dataset("sacct").finished_rows == 3


def test_a_merged_dump_with_few_columns(store, write):
    """One line a job (`sacct -X` joined with its peak), in another order, without states of steps."""
    lines = "State|MaxRSS|ElapsedRaw|JobID|ReqMem|AllocCPUS\nCOMPLETED|1048576K|60|7|2Gc|3\nTIMEOUT||3600|8|1500M|1\n"
    report = store.ingest([write("merged.csv", lines)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("slurm", 2, 0)
    frame = store.frame("merged", ["duration_s", "requested_memory_bytes", "peak_memory_bytes"], finished_only=False)
    assert frame["duration_s"].tolist() == [60, 3600]
    assert frame["requested_memory_bytes"].tolist() == [6 * GIB, 1500 * MIB]
    assert frame["peak_memory_bytes"][0] == GIB


def with_cell(line, column, value):
    """RAW with another cell."""
    lines = RAW.splitlines()
    cells = lines[line - 1].split("|")
    cells[RAW.split("\n", 1)[0].split("|").index(column)] = value
    lines[line - 1] = "|".join(cells)
    return "\n".join(lines) + "\n"


def test_a_time_that_is_none_is_a_reject_with_its_line(store, write):
    report = store.ingest([write("bad.txt", with_cell(8, "Elapsed", "12 parsecs"))], IngestOptions())
    assert (report.rejected, report.rows_read) == (1, 13)
    reject = store.rejects("bad").iloc[0]
    assert (reject["line"], reject["column"], reject["text"]) == (8, "Elapsed", "12 parsecs")


@pytest.mark.parametrize(
    ("wrong", "column"),
    [("lots", "ReqMem"), ("5Q", "MaxRSS"), ("some", "TotalCPU"), ("x", "Submit"), ("0.00K", "NNodes")],
)
def test_another_cell_that_is_none_is_missing_and_told(store, write, wrong, column):
    good = store.ingest([write("good.txt", RAW)], IngestOptions())
    report = store.ingest([write("bad.txt", with_cell(8, column, wrong))], IngestOptions())
    assert (report.rows, report.rejected) == (good.rows, 0)
    (told,) = (check for check in report.checks if check.name == "bad cells")
    assert (told.level, told.count) == ("warning", 1)
    assert f"{column}: {wrong!r} in line 8" in told.message


def test_counts_with_a_suffix_leave_the_jobs_whole(store, write):
    """NordicHPC/slurm2sql, tests/test-data1.csv: ReqNodes 0.00K under --units=K."""
    text = (
        "JobID|State|Elapsed|ReqNodes|NNodes|ReqCPUS|ReqMem|MaxRSS\n"
        "7|COMPLETED|01:00:00|0.00K|1|4|8G|\n7.batch|COMPLETED|01:00:00|0.00K|1|4|8G|3145728K\n"
    )
    report = store.ingest([write("k.txt", text)], IngestOptions())
    assert (report.rows, report.rejected) == (1, 0)
    (told,) = (check for check in report.checks if check.name == "bad cells")
    assert (told.count, "ReqNodes: '0.00K' in line 2 and 1 more" in told.message) == (2, True)
    fields = ["requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent"]
    assert store.frame("k", fields)[fields].to_numpy().tolist() == [[8 * GIB, 3 * GIB, 400.0]]


def test_without_any_time_it_is_refused(store, write):
    with pytest.raises(ColumnMissing, match="duration_s"):
        store.ingest([write("no.txt", "JobID|State|ReqMem\n1|COMPLETED|4G\n")], IngestOptions())

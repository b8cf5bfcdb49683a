"""HTCondor's history in JSON: units, states and times of jobs."""

import json

import numpy as np
import pandas as pd
import pytest

from workprof.core.units import GIB, MIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

FIELDS = ["job_name", "task_name", "duration_s", "requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent"]


def job(number, **more):
    """A completed job as condor_history writes it (HTCondor's manual)."""
    begun = {"ClusterId": 500, "ProcId": number, "Owner": "ann", "Cmd": "/home/u/run.sh", "JobStatus": 4, "ExitCode": 0}
    begun |= {"QDate": 1_700_000_000, "JobStartDate": 1_700_000_100, "JobCurrentStartDate": 1_700_000_100}
    begun |= {"CompletionDate": 1_700_003_700, "EnteredCurrentStatus": 1_700_003_700, "RemoteWallClockTime": 3600.0}
    begun |= {"RemoteUserCpu": 3000.0, "RemoteSysCpu": 600.0, "RequestCpus": 2, "RequestMemory": 4096, "JobUniverse": 5}
    return begun | {"MemoryUsage": 1024, "ResidentSetSize": 1_000_000, "NumJobStarts": 1} | more


JOBS = [
    job(0),
    job(1, JobStatus=3, CompletionDate=0),
    job(2, MemoryUsage=0),
    job(3, ExitCode=1),
    job(4, JobStatus=5, HoldReasonCode=34, CompletionDate=0),
    job(5, JobStatus=2, CompletionDate=0, RemoteWallClockTime=0.0),
    job(6, JobStatus=1, JobStartDate=0, JobCurrentStartDate=0, CompletionDate=0, RemoteWallClockTime=0),
    job(7, NumJobStarts=2, RemoteWallClockTime=9000.0),
    job(8, RemoteUserCpu=0.0, RemoteSysCpu=0.0, RequestMemory="/Expr(2 * x)/"),
]


TABLE = pd.DataFrame(JOBS)


@pytest.mark.parametrize(
    ("text", "file", "form"),
    [
        (json.dumps(JOBS, indent=1), "history.json", "condor"),
        ("\n".join(map(json.dumps, JOBS)), "history.json", "condor"),
        (TABLE.to_csv(index=False), "history.csv", "condor-table"),
        (TABLE[TABLE.columns[::-1]].to_csv(index=False, sep="\t", na_rep="undefined"), "history.tsv", "condor-table"),
    ],
)
def test_units_states_and_times(store, write, text, file, form):
    report = store.ingest([write(file, text)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == (form, 9, 0)
    assert [dataset.finished_rows for dataset in store.datasets()] == [4]
    frame = store.frame("history", [*FIELDS, "status", "cpu_usage_percent"], finished_only=False)
    assert frame[FIELDS].iloc[0].tolist() == ["500.0", "run.sh", 3600, 4 * GIB, GIB, 200]
    assert frame["duration_s"][5] == 3600  # it runs, and its pool tells none
    words = [
        "completed",
        "removed",
        "completed",
        "failed (exit 1)",
        "out of memory (held)",
        "running",
        "pending (idle)",
    ]
    assert frame["status"].tolist() == [*words, "completed", "completed"]
    assert frame["peak_memory_bytes"][2] == 1_000_000 * 1024
    assert frame["duration_s"][7] == 3600
    assert np.isnan(frame["duration_s"][6])
    np.testing.assert_array_equal(frame["cpu_usage_percent"].iloc[[0, 8]], [100, np.nan])
    checks = {check.name: check.count for check in report.checks}
    assert (checks["bad cells"], checks["CPU time of zero"], checks["never started"]) == (1, 1, 1)
    assert frame["requested_memory_bytes"][1] == MIB * 4096

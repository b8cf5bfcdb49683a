"""Cromwell's metadata: attempts, shards, sub workflows, what runs still, exact totals, what is broken."""

import datetime
import gzip
import io
import json
import random
import tracemalloc

import numpy as np
import pytest

from workprof.core.causes import cause_of
from workprof.core.errors import TraceError
from workprof.core.units import GB, GIB, HOUR_S
from workprof.formats.cromwell import DEPTH, FORMAT
from workprof.formats.declare import Given, Read
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

ROOT = "9617fcc1-b903-449c-9245-c0438074d3ea"


def attempt(status="Done", minutes=10.0, memory="8 GB", **more):
    begin = datetime.datetime(2020, 9, 11, 22, 30, tzinfo=datetime.UTC)
    end = begin + datetime.timedelta(minutes=minutes)
    event = {
        "description": "RunningJob",
        "startTime": "2020-09-11T22:31:00.000Z",
        "endTime": "2020-09-11T22:35:30.000Z",
    }
    call = {
        "attempt": 1,
        "backend": "PAPIv2",
        "callCaching": {"hit": False, "effectiveCallCachingMode": "CallCachingOff"},
        "callRoot": f"/executions/main/{ROOT}/call-align",
        "commandLine": "bwa mem",
        "end": end.isoformat().replace("+00:00", "Z"),
        "executionEvents": [{"description": "Pending"}, event],
        "executionStatus": status,
        "inputs": {"f": "a.fq"},
        "returnCode": 0,
        "runtimeAttributes": {"memory": memory, "cpu": "4", "docker": "bwa:1", "preemptible": "3", "maxRetries": "2"},
        "shardIndex": -1,
        "start": begin.isoformat().replace("+00:00", "Z"),
    }
    return {key: value for key, value in (call | more).items() if value is not None}


OOM = [{"message": "Job failed", "causedBy": [{"message": "contained one of the `memory-retry-error-keys`: [Killed]"}]}]
INNER = {"workflowName": "inner", "calls": {"inner.sort": [attempt(minutes=5, memory="3.5 GiB")]}}
DOCUMENT = {
    "workflowName": "main",
    "workflowProcessingEvents": [],
    "submittedFiles": {"workflow": "task {}"},
    "calls": {
        "main.align": [
            attempt("RetryableFailure", shardIndex=0, returnCode=137, failures=OOM, retryableFailure=True),
            attempt(minutes=20, shardIndex=0, attempt=2, memory="16 GB"),
            attempt("RetryableFailure", shardIndex=1, backendStatus="Preempted", returnCode=None),
            attempt("Failed", shardIndex=1, attempt=2, returnCode=137),
            attempt("Failed", shardIndex=2, returnCode=1),
            attempt("Aborted", shardIndex=3, returnCode=None),
        ],
        "main.inner": [{"executionStatus": "Done", "subWorkflowMetadata": INNER, "shardIndex": -1, "attempt": 1}],
        "main.other": [{"executionStatus": "Done", "subWorkflowId": "x", "start": "2020-09-11T22:30:00Z"}],
        "main.slow": [attempt("Running", end=None, returnCode=None, executionEvents=[])],
        "main.wait": [attempt("QueuedInCromwell", start=None, end=None, runtimeAttributes=None, executionEvents=None)],
        "main.cached": [attempt(minutes=0.1, callCaching={"hit": True})],
    },
    "id": ROOT,
    "status": "Running",
}


def test_attempts_shards_and_sub_workflows(store, write):
    report = store.ingest([write("metadata.json", json.dumps(DOCUMENT, indent=2))], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected) == ("cromwell", 10, 10, 0)
    checks = {check.name: check.count for check in report.checks}
    assert [checks[name] for name in ("sub workflows", "sub workflows elsewhere", "call cache", "attempts")] == [
        1,
        1,
        1,
        2,
    ]
    columns = ["job_name", "task_name", "workload", "run_name", "status", "start_time_s", "end_time_s", "duration_s"]
    columns += ["requested_memory_bytes", "requested_cpu_percent", "attempt", "running_s", "docker"]
    frame = store.frame("metadata", columns, finished_only=False)
    assert frame["job_name"].tolist() == [
        *("main.align[0]", "main.align[0]", "main.align[1]", "main.align[1]", "main.align[2]", "main.align[3]"),
        *("main.inner[0]/inner.sort", "main.slow", "main.wait", "main.cached"),
    ]
    assert set(frame["workload"]) == {"main"} and set(frame["run_name"]) == {ROOT}
    told = frame["status"].astype(object).tolist()
    assert told[:7] == [
        "out of memory (RetryableFailure)",
        "Done",
        "preempted (RetryableFailure)",
        "killed (Failed, return code 137)",
        "Failed",
        "Aborted",
        "Done",
    ]
    causes = [cause_of(told[at]) for at in (0, 2, 3, 4, 5, 7, 8)]
    assert causes == ["out of memory", "killed", "killed", "failed", "killed", "running", "waiting"]
    assert cause_of("RetryableFailure") == "failed"
    assert frame["task_name"].tolist()[6] == "inner.sort"
    np.testing.assert_array_equal(frame["duration_s"][:7], [600, 1200, 600, 600, 600, 600, 300])
    asked = frame["requested_memory_bytes"].to_numpy()
    np.testing.assert_array_equal(asked, [8e9, 16e9, 8e9, 8e9, 8e9, 8e9, 3.5 * GIB, 8e9, np.nan, 8e9])
    assert frame["requested_cpu_percent"][0] == 400
    assert (frame["running_s"][0], frame["docker"][0]) == (270, "bwa:1")
    assert np.isnan(frame["end_time_s"][7]) or frame["end_time_s"][7] >= frame["start_time_s"][7]
    assert store.dataset("metadata").finished_rows == 2
    assert told[-1] == "cached (Done)"  # broadinstitute/cromwell#4141: nothing ran, its times are those of a look-up
    assert np.isnan(frame["duration_s"].tolist()[-1])


def test_several_documents_are_one_dataset(store, write, tmp_path):
    (tmp_path / "runs").mkdir()
    write("runs/a.json", json.dumps(DOCUMENT))
    (tmp_path / "runs" / "b.json.gz").write_bytes(gzip.compress(json.dumps([INNER, INNER]).encode()))
    report = store.ingest([tmp_path / "runs"], IngestOptions())
    assert (report.format, report.rows) == ("cromwell", 12)


@pytest.mark.soak
def test_thousands_of_shards_add_up_in_bounded_memory(store, write):
    draw, requested, runs, seconds = random.Random(7), 0.0, 0, 0.0
    calls = {f"big.task{at}": [] for at in range(8)}
    for shard in range(4000):
        tries = draw.choice((1, 1, 2))
        for number in range(1, tries + 1):
            gigabytes, minutes = draw.randint(1, 64), round(draw.uniform(0.1, 900), 3)
            status = "Done" if number == tries else "RetryableFailure"
            one = attempt(status, minutes, f"{gigabytes} GB", shardIndex=shard, attempt=number, commandLine="x" * 3000)
            calls[f"big.task{shard % 8}"].append(one)
            if status == "Done":
                runs += 1
                seconds += minutes * 60
                requested += gigabytes * minutes * 60 / HOUR_S
    wrapped = {
        "calls": {"outer.big": [{"subWorkflowMetadata": {"calls": calls, "id": "x"}, "executionStatus": "Done"}]}
    }
    content = json.dumps(wrapped, indent=1)
    assert len(content) > 15_000_000
    tracemalloc.start()
    try:
        rows = sum(
            isinstance(row, Read) for row in FORMAT.reader.read([Given("big.json", io.BytesIO(content.encode()))])
        )
        held = tracemalloc.get_traced_memory()[1] - len(content)  # the bytes of the file itself are traced too
    finally:
        tracemalloc.stop()
    assert held < 12_000_000
    report = store.ingest([write("big.json", content)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("cromwell", rows, 0)
    assert store.dataset("big").finished_rows == runs
    frame = store.frame("big", ["duration_s", "requested_memory_bytes"])
    assert (frame["duration_s"] * frame["requested_memory_bytes"]).sum() / GB / HOUR_S == pytest.approx(
        requested, rel=1e-3
    )
    assert frame["duration_s"].sum() == pytest.approx(seconds, rel=1e-3)


def test_what_is_no_attempt_is_a_reject_with_its_line(store, write):
    calls = {"w.a": [attempt(memory="8 parsecs"), "text", attempt()], "w.b": {"no": "list"}}
    content = json.dumps({"workflowName": "w", "calls": calls}, indent=1)
    report = store.ingest([write("bad.json", content)], IngestOptions())
    assert (report.rows, report.rejected) == (2, 2)
    lines = content.splitlines()
    told = {row["text"]: row["line"] for row in store.rejects("bad").fillna("").to_dict("records")}
    assert told['"text"'] == next(at for at, line in enumerate(lines, start=1) if '"text"' in line)
    (cells,) = (check for check in report.checks if check.name == "bad cells")
    first = next(at for at, line in enumerate(lines, start=1) if line == "   {")
    assert f"memory: '8 parsecs' in line {first}" in cells.message
    assert any('"list"' in text for text in told)


def nested(depth):
    document = INNER
    for _ in range(depth):
        document = {"calls": {"w.sub": [{"executionStatus": "Done", "subWorkflowMetadata": document}]}}
    return json.dumps(document)


def test_sub_workflows_are_read_to_a_depth(store, write):
    assert store.ingest([write("deep.json", nested(DEPTH))], IngestOptions()).rows == 1
    with pytest.raises(TraceError, match=f"nested more than {DEPTH} deep"):
        store.ingest([write("deeper.json", nested(DEPTH + 1))], IngestOptions())


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (json.dumps(DOCUMENT)[:-200], "breaks off|cut off"),
        ('{"calls": {"w.a": [{"executionStatus": "Done", "x": ' + "[" * 200_000, "nested too deeply|breaks off"),
        ('{"calls": {"w.a": [{"executionStatus" "Done"}]}}', "is expected"),
        ('{"calls": {}, "executionStatus": "Done"}', "no rows"),
    ],
)
def test_broken_documents_are_refused(store, write, content, reason):
    with pytest.raises(TraceError, match=reason):
        store.ingest([write("broken.json", content)], IngestOptions())
    assert store.datasets() == ()


def test_odd_values_of_known_keys_end_no_row(store, write):
    odd = attempt(
        runtimeAttributes={"memory": "1 GB", "time": "$(walltime)", "cpu": 2},
        callCaching=[], failures="no", executionEvents=[7, {"description": "RunningJob", "startTime": 5}],
        callRoot=5, shardIndex="x", jobId={"a": 1},
    )  # fmt: skip
    repeated = json.dumps({"calls": {"w.a": [odd]}}).replace('"attempt": 1', '"attempt": 9, "attempt": 1')
    report = store.ingest([write("odd.json", repeated)], IngestOptions())
    assert (report.rows, report.rejected) == (1, 0)
    assert {check.name for check in report.checks} >= {"repeated keys"}
    assert store.frame("odd", ["requested_cpu_percent"])["requested_cpu_percent"].tolist() == [200]

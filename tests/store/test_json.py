"""JSON files: one object a line or one array, the same rows, and rejects with the line of the JSON text."""

import gzip
import json
import random

import pytest

from workprof.core.causes import was_killed_for_memory
from workprof.core.errors import ColumnMissing, TraceError, WorkprofError
from workprof.core.units import GIB, MIB
from workprof.formats.json_documents import CHUNK_BYTES
from workprof.store.json_rows import json_rows
from workprof.store.reports import FieldSource, IngestOptions

pytestmark = pytest.mark.slow

ROWS = [{"job_name": f"j{i} ü", "duration_s": i + 0.5, "tags": {"a": [i]}, "flag": i % 2 == 0} for i in range(50)]
WRITTEN = {
    "lines": "".join(json.dumps(row) + "\n" for row in ROWS),
    "compact": json.dumps(ROWS, separators=(",", ":")),
    "pretty": json.dumps(ROWS, indent=2, ensure_ascii=False),
    "windows": "\ufeff" + json.dumps(ROWS, indent=1, ensure_ascii=False).replace("\n", "\r\n") + "\r\n",
    "objects": "\n".join(json.dumps(row, indent=2) for row in ROWS),
    "document": json.dumps({"meta": {"made": [1, 2]}, "total": 50, "jobs": ROWS, "errors": []}),
    "pretty document": json.dumps({"data": ROWS, "next": None}, indent=1),
    "one a line": "[\n" + ",\n".join(json.dumps(row) for row in ROWS) + "\n]\n",
}


@pytest.mark.some(4)
@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("packed", [False, True])
def test_lines_and_arrays_give_the_same_rows(store, write, name, packed):
    content = WRITTEN[name].encode()
    path = write("j.json.gz" if packed else "j.json", gzip.compress(content) if packed else content)
    assert store.detect([path]) == "generic"
    report = store.ingest([path], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (50, 50, 0)
    frame = store.frame("j", ["job_name", "duration_s", "tags.a", "flag"])
    assert frame["job_name"].tolist() == [row["job_name"] for row in ROWS]
    assert frame["duration_s"].tolist() == [row["duration_s"] for row in ROWS]
    assert [json.loads(tags) for tags in frame["tags.a"]] == [row["tags"]["a"] for row in ROWS]


def test_an_array_is_proposed_a_mapping(store, write):
    path = write("j.json", json.dumps([{"id": "a", "runtime_ms": 1500}, {"id": "b", "runtime_ms": 20, "cores": 2}]))
    proposal = store.suggest(path, IngestOptions())
    assert proposal.columns == ("id", "runtime_ms", "cores")
    assert proposal.sample["runtime_ms"] == ("1500", "20")
    assert store.ingest([path], IngestOptions(mapping=proposal.mapping)).rows == 2
    assert store.frame("j", ["duration_s"])["duration_s"].tolist() == [1.5, 0.02]


def test_rejects_of_an_array_name_the_line_where_the_element_begins(store, write):
    text = (
        '[\n  {"job_name": "a",\n   "duration_s": 1},\n  7, "text",\n  {"job_name": "b\\nb",\n   "duration_s": 2},\n'
        '  {"job_name": "c", "duration_s": "soon"},\n  null,\n  {"job_name": "d", "duration_s": 4}\n]\n'
    )
    report = store.ingest([write("j.json", text)], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (7, 3, 4)
    found = store.rejects("j")
    assert found["line"].tolist() == [4, 4, 7, 8]
    assert sorted(found["text"]) == ['"text"', "7", "null", "soon"]
    assert store.frame("j", ["job_name"])["job_name"].tolist() == ["a", "b\nb", "d"]


def test_rejects_of_lines_name_their_line_after_breaks_blanks_and_bad_lines(store, write):
    lines = [
        '{"job_name": "a\\nb\\r", "duration_s": 1}',
        "",
        "{oops",
        '{"job_name": "c", "duration_s": "x"}',
        '{"job_name": "d", "duration_s": 1, "note": "' + "n" * 600_000 + '"}',
        "[1]",
        '{"job_name": "e", "duration_s": "y"}',
        '{"job_name": "f", "duration_s": 2}',
    ]
    report = store.ingest([write("j.jsonl", "\n".join(lines))], IngestOptions())
    assert (report.rows, report.rejected) == (2, 5)
    assert store.rejects("j")["line"].tolist() == [3, 4, 5, 6, 7]
    assert store.frame("j", ["job_name"])["job_name"].tolist() == ["a\nb\r", "f"]


HITS = [
    {"_index": "jobs", "_id": f"x{i}", "_score": 1.0, "sort": [i], "_source": {"job_name": f"j{i}", "duration_s": i}}
    for i in range(1, 4)
]
ANSWERS = {
    "answer of Elasticsearch": json.dumps({"took": 5, "hits": {"total": {"value": 3}, "hits": HITS}}, indent=1),
    "hits a line": "\n".join(map(json.dumps, HITS)),
    "wrapped": json.dumps({"ok": True, "data": {"page": 1, "jobs": [hit["_source"] for hit in HITS]}}),
}


@pytest.mark.parametrize("shape", ANSWERS)
def test_rows_inside_an_answer_are_found(store, write, shape):
    report = store.ingest([write("answer.json", ANSWERS[shape])], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("generic", 3, 0)
    frame = store.frame("answer", ["job_name", "duration_s"])[["job_name", "duration_s"]]
    assert frame.to_numpy().tolist() == [["j1", 1.0], ["j2", 2.0], ["j3", 3.0]]


@pytest.mark.parametrize(
    "place",
    ["container.reason", "statusReason", "errorMessage", "status_message", "diagnostics", "error_type", "none"],
)
def test_a_reason_beside_the_status_tells_kills_for_memory(store, write, place):
    """AWS Batch's jobs fail; why stands in a text beside it."""
    rows = [
        {"jobName": f"j{i}", "duration_s": i, "status": word} for i, word in enumerate(["FAILED"] * 3 + ["SUCCEEDED"])
    ]
    for row, why in zip(
        rows, ["OutOfMemoryError: Container killed due to memory usage", "Host terminated"], strict=False
    ):
        row.update({"container": {"reason": why}} if "." in place else {place: why})
    report = store.ingest([write("jobs.json", json.dumps({"jobs": rows}))], IngestOptions())
    names = ["status", *(["out_of_memory_kills"] if place != "none" else [])]
    jobs = store.frame("jobs", names, finished_only=False)
    assert was_killed_for_memory(jobs.assign(finished=jobs["status"] == "SUCCEEDED")).tolist() == [
        place != "none", False, False, False
    ]  # fmt: skip
    assert ("killed for memory" in {each.name for each in report.checks}) == (place != "none")


@pytest.mark.parametrize(
    ("name", "errors", "told"),
    [
        ("error", [None, "OOM: killed", None, None], 1),
        ("error_result.reason", ["", "resourcesExceeded", "", "None"], 1),
        ("exception", ["", "ValueError", "", "KeyError"], 2),
        ("error_log", [f"/logs/{at}" for at in range(4)], 0),  # a file, whatever stands in it
        ("errors", ["e"] * 4, 0),
    ],
)
def test_errors_of_runs_that_count_as_finished_are_told(store, write, name, errors, told):
    rows = [{"job": f"j{at}", "runtime_s": 60 + at, "state": "DONE", name: error} for at, error in enumerate(errors)]
    report = store.ingest([write("e.json", json.dumps(rows))], IngestOptions())
    assert {check.name: check.count for check in report.checks}.get("errors of finished runs", 0) == told


def test_members_of_what_only_holds_others_are_fields(store, write):
    """`argo list -o json`; a uid of each run is no user."""
    rows = [
        {
            "metadata": {"name": f"wf-{i}", "uid": f"u{i}"},
            "status": {
                "phase": "Succeeded",
                "startedAt": f"2026-05-01T0{i}:00:00Z",
                "finishedAt": f"2026-05-01T0{i}:30:00Z",
            },
        }
        for i in range(3)
    ]
    assert store.ingest([write("argo.json", json.dumps(rows, indent=1))], IngestOptions()).rows == 3
    frame = store.frame("argo", ["job_name", "status", "duration_s"])
    assert frame.iloc[0].tolist()[1:] == ["wf-0", "Succeeded", 1800]
    with pytest.raises(ColumnMissing):
        store.frame("argo", ["user"])


def test_a_task_of_azure_batch_has_its_times_and_no_cores(store, write):
    rows = [
        {
            "id": f"t{i}",
            "requiredSlots": 1,
            "executionInfo": {"startTime": "2026-05-01T00:00:00Z", "endTime": "2026-05-01T00:30:00Z", "result": ended},
        }
        for i, ended in enumerate(["success", "failure"])
    ]
    report = store.ingest([write("azure.json", json.dumps(rows))], IngestOptions())
    assert {*report.mapping} == {"job_name", "status", "start_time_s", "end_time_s"}
    assert store.frame("azure", ["duration_s"])["duration_s"].tolist() == [1800]


def test_members_of_times_and_resources_are_read_below_their_objects(store, write):
    """A step of EMR has its moments in `Status.Timeline`; a job has its request in `resources`, or its `requests`."""
    moments = {"StartDateTime": "2026-05-01T00:00:00+00:00", "EndDateTime": "2026-05-01T00:30:00+00:00"}
    steps = [{"Id": f"s-{i}", "Name": "etl", "Status": {"State": "COMPLETED", "Timeline": moments}} for i in range(2)]
    store.ingest([write("emr.json", json.dumps({"Steps": steps}))], IngestOptions())
    assert store.frame("emr", ["status", "duration_s"]).iloc[0, 1:].tolist() == ["COMPLETED", 1800]
    sizes = {"requests": {"memory": "2Gi", "cpu": "500m"}, "limits": {"memory": "4Gi"}, "usage": {"memory": "1Gi"}}
    names = ["requested_memory_bytes", "requested_cpu_percent", "peak_memory_bytes"]
    for resources, wanted in ((sizes, [2 * GIB, 50, GIB]), ({"mem": "4 GB", "cpus": 2}, [4 * GIB, 200])):
        jobs = [{"id": f"a{i}", "name": "fit", "duration": "60s", "resources": resources} for i in range(2)]
        name = f"of_{len(wanted)}"
        store.ingest([write(f"{name}.json", json.dumps(jobs))], IngestOptions())
        assert store.frame(name, names[: len(wanted)]).iloc[0, 1:].tolist() == wanted


ENDS = {"start_time": "2026-05-01T00:00:00Z", "end_time": "2026-05-01T00:30:00Z"}


@pytest.mark.parametrize(
    ("row", "fields"),
    [
        (
            {"runId": 0, "displayName": "train", "createdBy": {"userName": "ann"}, **ENDS},
            {"task_name": "displayName", "user": "createdBy.userName", "run_name": "runId"},
        ),
        ({"job_id": 0, "user_email": "ann@x.org", **ENDS}, {"job_name": "job_id", "user": "user_email"}),
        (
            {"id": 0, "pipeline": {"name": "ci"}, "creator": {"name": "ann"}, **ENDS},
            {"job_name": "id", "user": "creator.name", "workload": "pipeline.name"},
        ),
        (
            {"id": 0, "name": "bwa", "launchedBy": "ann", "startedRunning": 17e11, "stoppedRunning": 1700000600000},
            {"user": "launchedBy", "start_time_s": "startedRunning", "end_time_s": "stoppedRunning"},
        ),
        (
            {"JobID": 0, "StartExecTime": "2026-05-01 10:00:00", "EndExecTime": "2026-05-01 11:00:00"},
            {"job_name": "JobID", "start_time_s": "StartExecTime", "end_time_s": "EndExecTime"},
        ),
        (
            {"id": {"name": 0, "domain": "d"}, "closure": {"startedAt": "2026-05-01T00:00:00Z", "duration": "600.5s"}},
            {"job_name": "id.name", "start_time_s": "closure.startedAt", "duration_s": "closure.duration"},
        ),
        (
            {"App ID": 0, "App Name": "etl", "Started": "2026/05/01 10:00:00", "Completed": "2026/05/01 10:10:00"},
            {"job_name": "App ID", "task_name": "App Name", "start_time_s": "Started", "end_time_s": "Completed"},
        ),
        (
            {"run_id": 0, "tags": {"mlflow.user": "ann", "mlflow.runName": "fit"}, **ENDS},
            {"job_name": "run_id", "task_name": "tags.mlflow.runName", "user": "tags.mlflow.user"},
        ),
        (
            {"task_id": 0, "name": "f", "job_id": "01", "func_or_class_name": "f", **ENDS},
            {"job_name": "task_id", "task_name": "name", "workload": "job_id"},
        ),
        (
            {"TrainingJobName": 0, "TrainingStartTime": 1.7e9, "TrainingEndTime": 1700000600.0},
            {"job_name": "TrainingJobName", "start_time_s": "TrainingStartTime", "end_time_s": "TrainingEndTime"},
        ),
        (
            {"result": {"jobid": 0, "user": "ann", "elapsed_s": 600, "req_mem_gb": 4}, "preview": False},
            {"user": "result.user", "duration_s": "result.elapsed_s", "requested_memory_bytes": "result.req_mem_gb"},
        ),
        (
            {"Job ID": 0, "Memory Req'd": "4gb", "Time Req'd": "01:00:00", "Elap Time": "00:10:00"},
            {"requested_memory_bytes": "Memory Req'd", "time_limit_s": "Time Req'd", "duration_s": "Elap Time"},
        ),
        (
            {"queryId": 0, "queryStats": {"elapsedTime": "10.00m", "peakTotalMemoryReservation": "2.5GB"}},
            {"duration_s": "queryStats.elapsedTime", "peak_memory_bytes": "queryStats.peakTotalMemoryReservation"},
        ),
        (
            {
                "Local Job ID": 0,
                "Job Name": "sim",
                "Wall Time": 3600,
                "Cores": 24,
            },
            {"job_name": "Local Job ID", "task_name": "Job Name", "requested_cpu_percent": "Cores"},
        ),
        (
            {"Job Id": 0, "qtime": 1.7e9, "stime": "Tue Nov 14 22:13:20 2023", "resources_used.walltime": "00:10:00"},
            {"submit_time_s": "qtime", "start_time_s": "stime", "duration_s": "resources_used.walltime"},
        ),
        (
            {"id": 0, "name": "bwa", "resources": {"ram_gb": 8, "cpu_cores": 4}, "logs": [{"start_time": "x"}, ENDS]},
            {
                "start_time_s": "logs.start_time",
                "end_time_s": "logs.end_time",
                "requested_memory_bytes": "resources.ram_gb",
            },
        ),
        (
            {"jobnumber": 0, "qsub_time": "2026-05-01 00:00:00", **ENDS},
            {"job_name": "jobnumber", "submit_time_s": "qsub_time"},
        ),
        (
            {"pandaid": 0, "jobname": "a", "jobstatus": "finished", "maxrss": 9500000, "produsername": "ann"},
            {"user": "produsername", "status": "jobstatus", "peak_memory_bytes": "maxrss"},
        ),
    ],
    ids=lambda row: next(iter(row)) if isinstance(row, dict) else "",
)
def test_exports_of_tools_load_by_their_own_names(store, write, row, fields):
    """AzureML, BigQuery, Buildkite, DNAnexus, DIRAC, Flyte, Spark, MLflow, Ray, SageMaker, Splunk, Torque, Trino ..."""

    def numbered(one, at):
        return {
            key: numbered(value, at) if isinstance(value, dict) else f"x{at}" if value == 0 else value
            for key, value in one.items()
        }

    rows = [numbered(row, at) | ({} if "maxrss" not in row else ENDS) for at in range(4)]
    report = store.ingest([write("export.json", json.dumps(rows))], IngestOptions())
    assert {field: report.mapping[field]["from"] for field in fields} == fields


def test_jobs_of_slurm_without_their_document_are_its_jobs(store, write):
    """Slurm's REST service writes a number as an object; a page of it may hold the jobs alone."""
    at = {"set": True, "infinite": False, "number": 1714557600}
    job = {
        "job_id": 7,
        "name": "a",
        "job_state": ["COMPLETED"],
        "start_time": at,
        "end_time": at | {"number": 1714558200},
    }
    report = store.ingest([write("jobs.json", json.dumps([job], indent=1))], IngestOptions())
    assert (report.format, report.rows) == ("slurm-json", 1)
    assert store.frame("jobs", ["duration_s"])["duration_s"].tolist() == [600]


def test_an_identifier_of_every_run_is_no_node(store, write):
    """GitHub's `node_id` is of the job; of a column of nodes several runs have one."""
    rows = [{"id": i, "name": "test", "node_id": f"MDg6Q2hlY2tSdW4{i}=", "duration": "60s"} for i in range(3)]
    assert "node" not in store.ingest([write("g.json", json.dumps(rows))], IngestOptions()).mapping
    shared = [row | {"node_id": "5f1c7e0a9b3d4e6f8a7b"} for row in rows]
    assert "node" in store.ingest([write("h.json", json.dumps(shared))], IngestOptions()).mapping


def test_a_list_in_a_member_of_one_record_is_no_table(store, write):
    one = {"job_name": "a", "duration_s": 3, "container": {"environment": [{"name": "A", "value": "1"}]}}
    assert store.ingest([write("one.json", json.dumps(one, indent=1))], IngestOptions()).rows == 1


def test_runs_without_an_end_say_that_a_column_may_be_named(store, write):
    """GitHub's runs of a workflow have no end but `updated_at`."""
    run = {"id": 7, "name": "CI", "conclusion": "success", "updated_at": "2026-05-01T00:20:00Z"}
    run |= {"run_started_at": "2026-05-01T00:01:00Z"}
    text = json.dumps({"total_count": 1, "workflow_runs": [run]})
    with pytest.raises(ColumnMissing, match=r"say with --map FILE\.json which column it is"):
        store.ingest([write("runs.json", text)], IngestOptions())
    mapping = {"job_name": FieldSource("id"), "start_time_s": FieldSource("run_started_at", "s")}
    mapping["end_time_s"] = FieldSource("updated_at", "s")
    store.ingest([write("runs.json", text)], IngestOptions(format="generic", mapping=mapping))
    assert store.frame("runs", ["duration_s"])["duration_s"].tolist() == [19 * 60]


def test_an_array_on_one_long_line_is_read_in_pieces(tmp_path):
    rng = random.Random(2)
    rows = [{"job_name": f"j{i}", "duration_s": i, "note": "ä" * rng.randint(0, 4000)} for i in range(1500)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    assert path.stat().st_size > 4 * CHUNK_BYTES
    found = list(json_rows(path, "long.json"))
    assert [row.row for row in found] == rows
    assert {row.line for row in found} == {1}
    assert [json.loads(row.text) for row in found] == rows


def test_an_array_longer_than_any_line_may_be_is_loaded(store, write):
    rows = [{"job_name": f"j{i}", "duration_s": i, "note": "x" * 100} for i in range(20_000)]
    report = store.ingest([write("long.json", json.dumps(rows))], IngestOptions())
    assert (report.rows, report.rejected) == (20_000, 0)
    assert store.frame("long", ["duration_s"])["duration_s"].tolist() == list(range(20_000))


GOOD = '[{"job_name": "a", "duration_s": 1},\n'
BROKEN = {
    "cut off": (GOOD + '{"job_name": "b", "dura', "line 2"),
    "no end": (GOOD + '{"job_name": "b", "duration_s": 2}', "cut off"),
    "no comma": (GOOD + '{"job_name": "b"} {"job_name": "c"}]', "',' is expected"),
    "trailing comma": (GOOD + "]", "line 2"),
    "more after it": (GOOD[:-2] + "]\n{}", "more after the end"),
    "too deep": (GOOD + "[" * 100_000, "line 2"),
    "endless": (GOOD + '{"job_name": "' + "x" * 3 * CHUNK_BYTES, "never ends"),
    "empty": ("[]", "no JSON object"),
    "scalars": ("[{}, 1, 2]", "no JSON object"),
}


def test_a_broken_array_is_refused_whole_with_the_place(store, write):
    for name, (content, words) in BROKEN.items():
        with pytest.raises(TraceError, match=words):
            store.ingest([write("b.json", content)], IngestOptions(format="generic"))
        assert store.datasets() == (), name


@pytest.mark.parametrize("around", ["{rows}", '{{"version": 3, "tasks": {rows}}}', '{{"tasks": {rows}, "took": 2}}'])
def test_rows_under_their_ids_are_rows_and_what_is_none_is_rejected(store, write, around):
    rows = '{"t-1": {"duration_s": 1, "user": "a"}, "t-2": {"duration_s": 2, "user": "b"}}'
    whole = around.format(rows=rows)
    assert store.ingest([write("whole.json", whole)], IngestOptions()).rows == 2
    assert store.frame("whole", ["job_name"])["job_name"].tolist() == ["t-1", "t-2"]
    unlike = around.format(rows='{"a": {"duration_s": 1}, "b": {"user": 2}}')
    with pytest.raises(TraceError, match="fields are missing"):  # a document of unlike members is no table
        store.ingest([write("unlike.json", unlike)], IngestOptions())
    many = ", ".join(f'"t-{i}": {{"duration_s": {i}, "user": "a"}}' for i in range(300))
    late = store.ingest([write("late.json", around.format(rows=f'{{{many},\n "bad": 7}}'))], IngestOptions())
    assert (late.rows, late.rejected) == (300, 1)


@pytest.mark.parametrize("member", [{"priority": [0, 1, 0]}, {"job_id": ["0", "1", "2"]}, {"id": [7, 8, 0]}])
def test_the_key_of_a_row_is_kept_though_a_member_of_some_rows_equals_it(store, write, member):
    ((name, said),) = member.items()
    rows = {str(at): {"task_name": "align", "duration_s": 60, name: each} for at, each in enumerate(said)}
    store.ingest([write("k.json", json.dumps(rows))], IngestOptions())
    column = "key" if name == "id" else "job_name"
    assert [float(each) for each in store.frame("k", [column])[column]] == [0, 1, 2]


def test_lists_and_objects_of_a_row_name_nothing(store, write):
    rows = [
        {"id": f"b{at}", "jobs": [{"id": "j"}], "pipeline": {}, "node": "[12] a", "elapsed": "60s"} for at in range(3)
    ]
    mapping = store.ingest([write("builds.json", json.dumps(rows))], IngestOptions()).mapping
    taken = {field: one["from"] for field, one in mapping.items()}
    assert taken == {"job_name": "id", "node": "node", "duration_s": "elapsed"}


def test_a_broken_array_says_how_to_keep_the_good_rows(store, write):
    with pytest.raises(WorkprofError, match="one object per line"):
        store.ingest([write("b.json", GOOD)], IngestOptions())


def test_a_document_tells_which_list_is_read_and_rejects_by_line(store, write):
    good, bad = '{"job_name": "a", "duration_s": 1}', '{"job_name": "b", "duration_s": "soon"}'
    text = f'{{"count": 3,\n "jobs": [\n  {good},\n  7,\n  {bad}\n ]}}'
    report = store.ingest([write("j.json", text)], IngestOptions())
    assert (report.rows, report.rejected) == (1, 2)
    assert store.rejects("j")["line"].tolist() == [4, 5]
    (told,) = (check for check in report.checks if check.name == "list")
    assert told.message == "the rows are the list under 'jobs'; the document's other parts are not read"


JOBS = [{"job_id": at, "start_time": f"2026-01-01T0{at}:00:00Z", "end_time": "2026-01-01T09:00:00Z"} for at in range(3)]
FILES = [{"name": f"f{at}", "duration": 400.5 + at} for at in range(3)]


@pytest.mark.parametrize(
    ("document", "path", "level"),
    [
        ({"files": FILES, "jobs": JOBS}, "jobs", "info"),
        ({"jobs": JOBS, "nodes": [{"name": "n", "runtime_s": 7}]}, "jobs", "info"),  # the look ends with the list
        ({"status": 200, "result": {"files": FILES, "jobs": JOBS}}, "result.jobs", "info"),
        ({"warnings": [{"code": 1}], "data": {"jobs": JOBS}}, "data.jobs", "info"),
        ({"result": {"files": FILES}, "status": 200}, "result.files", "warning"),
        ({"align": JOBS, "total": 9, "sort": JOBS[:1]}, "align", "warning"),  # rows by their task
    ],
)
def test_of_several_lists_the_one_of_rows_is_read_and_another_one_is_told(store, write, document, path, level):
    report = store.ingest([write("d.json", json.dumps(document))], IngestOptions())
    (told,) = (check for check in report.checks if check.name == "list")
    assert (report.rows, told.level) == (3, level)
    assert f"the list under {path!r}" in told.message
    assert ("the list 'sort' has rows like these" in told.message) == ("sort" in document)


T = 1_790_000_000_000
ROW = {"job_name": "a", "duration_s": 1, "parts": [{"b": 1}]}


@pytest.mark.parametrize(
    "document",
    [
        {"apps": {"app": [ROW, ROW | {"job_name": "b"}]}},
        {"tasks": [{"task": ROW}, {"task": ROW | {"job_name": "b"}}], "total": 2},
        {"data": {"total": 2, "jobs": {"edges": 1}, "all": [{"node": ROW}, {"node": ROW | {"job_name": "b"}}]}},
        [{"job": ROW}, {"job": ROW | {"job_name": "b"}}],
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_rows_within_a_document_of_one_member_or_within_objects_of_one_key_are_rows(store, write, document, indent):
    store.ingest([write("d.json", json.dumps(document, indent=indent))], IngestOptions())
    frame = store.frame("d", ["job_name", "duration_s", "parts"])
    assert frame.iloc[:, 1:].values.tolist() == [[name, 1.0, '[{"b": 1}]'] for name in "ab"]


def test_a_later_object_with_more_than_the_row_keeps_its_row(store, write):
    rows = [
        {"job": {"id": at, "name": "a", "runtime_s": 300}} | ({"note": "x"} if at == 250 else {}) for at in range(300)
    ]
    assert store.ingest([write("l.jsonl", "\n".join(map(json.dumps, rows)))], IngestOptions()).rows == 300
    frame = store.frame("l", ["job_name", "duration_s", "note"])
    assert frame.iloc[250, 1:].tolist() == ["250", 300.0, "x"]


def test_objects_with_lists_stay_rows_where_there_are_several(store, write):
    rows = [{"job": ROW}, {"job": ROW | {"job_name": "b"}}, {"job": ROW | {"job_name": "c"}, "c": 1}]
    for number, (begin, indent) in enumerate((("", 1), ("", None), ("\n", 1))):
        text = begin + "\n".join(json.dumps(row, indent=indent) for row in rows)
        store.ingest([write(f"o{number}.json", text)], IngestOptions())
        assert store.frame(f"o{number}", ["job_name"])["job_name"].tolist() == ["a", "b", "c"]


def test_what_a_container_of_aws_batch_requires_is_requested(store, write):
    each = [{"type": "VCPU", "value": "0.5"}, {"type": "MEMORY", "value": "2048"}]
    containers = [{"resourceRequirements": each}, {"resourceRequirements": [], "memory": 512, "vcpus": 2}, {}]
    containers += [{"memory": 256, "vcpus": 1}]  # of an older answer
    rows = [
        {"jobId": f"j{at}", "jobName": "a", "startedAt": T, "stoppedAt": T + 6e4, "container": container}
        for at, container in enumerate(containers)
    ]
    store.ingest([write("aws.json", json.dumps({"jobs": rows}))], IngestOptions())
    frame = store.frame("aws", ["requested_memory_bytes", "requested_cpu_percent"])
    assert frame.iloc[:2, 1:].values.tolist() == [[2048 * MIB, 50.0], [512 * MIB, 200.0]]
    assert frame.iloc[3, 1:].tolist() == [256 * MIB, 100.0]
    assert frame.iloc[2, 1:].isna().all()


def test_attempts_of_aws_batch_that_were_killed_for_memory_count(store, write):
    killed = {"container": {"reason": "OutOfMemoryError: Container killed due to memory usage"}}
    jobs = [("SUCCEEDED", [killed, killed, {"container": {}}]), ("FAILED", [killed]), ("FAILED", []), ("SUCCEEDED", [])]
    rows = [
        {"jobId": f"j{at}", "startedAt": T, "stoppedAt": T + 6e4, "status": status, "attempts": attempts}
        | {"container": {"memory": 256, "vcpus": 1} | (killed["container"] if status == "FAILED" else {})}
        for at, (status, attempts) in enumerate(jobs)
    ]
    store.ingest([write("aws.json", json.dumps({"jobs": rows}))], IngestOptions())
    frame = store.frame("aws", ["out_of_memory_kills"], finished_only=False)
    assert frame["out_of_memory_kills"].tolist() == [2, 1, 1, 0]


def test_a_user_is_a_name_before_a_number(store, write):
    user = {"id": 7, "name": "Ann B", "username": "ann"}
    rows = [{"name": f"j{at}", "duration": 400.5, "user": user} for at in range(9)]
    assert store.ingest([write("g.json", json.dumps(rows))], IngestOptions()).mapping["user"] == {
        "from": "user.username"
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"jobs": [{"job_name": "a", "duration_s": 1}, {"job', "breaks off"),
        ('{"jobs": [{"job_name": "a", "duration_s": 1}]} and more', "breaks off"),
        ('{\n"job_name": "a",\n"duration_s": 1\n}\n{\n"job_name', "breaks off"),
        ('{"jobs": [' + '{"a":' * 100_000, "breaks off|format is not clear"),
        ('{"a": ' * 100_000, "breaks off|format is not clear"),
    ],
)
def test_broken_documents_are_refused(store, write, text, told):
    with pytest.raises(TraceError, match=told):
        store.ingest([write("j.json", text)], IngestOptions())
    assert store.datasets() == ()


def test_objects_in_objects_become_columns_one_level_deep(store, write):
    rows = [
        {"job_name": "a", "duration_s": 1, "extra": {"mem": "2 GB", "tags": {"cpu": 1}}, "b.c": 1, "b": {"c": 2}},
        {"job_name": "b", "duration_s": 2, "extra": None, "b": 3},
    ]
    path = write("j.jsonl", "\n".join(map(json.dumps, rows)))
    assert store.suggest(path, IngestOptions()).columns[2:] == (
        "extra.mem",
        "extra.tags",
        "b.c",
        "b",
        "extra",
    )
    store.ingest([path], IngestOptions())
    frame = store.frame("j", ["extra.mem", "extra.tags", "b.c", "b"])
    assert frame.iloc[0, 1:].tolist() == ["2 GB", '{"cpu": 1}', 1, '{"c": 2}']


def test_objects_of_many_keys_stay_whole(store, write):
    rows = [{"job_name": f"j{at}", "duration_s": at, "extra": {f"key{at}": 1}} for at in range(2100)]
    assert store.ingest([write("j.jsonl", "\n".join(map(json.dumps, rows)))], IngestOptions()).rows == 2100
    assert store.frame("j", ["extra"])["extra"].iloc[7] == '{"key7": 1}'

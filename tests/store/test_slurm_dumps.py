"""Dumps of Slurm as people have them: delimiters, the screen, JSON, merged lines, requeues; sums as pandas has them."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pytest

from tests.formats.slurm_files import FIELDS, as_json, month, printed, screen, sums, sums_of
from workprof.core.errors import TraceError
from workprof.core.units import GIB, KIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

COLUMNS = ["job_name", "status", "duration_s", "requested_memory_bytes", "peak_memory_bytes"]
MONTH = month(2000)


def loaded(store, path, options=None):
    """Return the report and the runs of a file that is loaded without a setting."""
    report = store.ingest([path], options or IngestOptions())
    assert (report.rejected, report.lost) == (0, 0)
    return report, store.frame(report.dataset, COLUMNS, finished_only=False)


TIMES = {"submit_time_s", "start_time_s", "end_time_s"}


def names_of(store, report):
    """Return the names of a dataset's columns."""
    return [column.name for column in store.columns(report.dataset)]


def near(got, wanted):
    """Check jobs exactly, sums to 0.1 %."""
    assert got[:2] == wanted[:2]
    np.testing.assert_allclose(got[2:], wanted[2:], rtol=1e-3)
    assert min(wanted) > 0


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("delimiter", "trailing", "name"),
    [
        ("|", False, "slurm"),
        ("|", True, "slurm"),
        (";", False, "slurm"),
        ("\t", False, "slurm"),
        ("^", False, "slurm-print"),
        ("@@", True, "slurm-print"),
    ],
)
def test_a_month_with_any_delimiter(store, write, delimiter, trailing, name):
    text = printed(MONTH, delimiter=delimiter, trailing=trailing)
    report, frame = loaded(store, write("sacct.txt.gz", gzip.compress(text.encode())))
    assert report.format == name
    near(sums_of(frame), sums(printed(MONTH)))


def test_requests_per_node_and_per_core(store, write):
    text = printed(month(1000, 1, old=True))
    near(sums_of(loaded(store, write("sacct.txt", text))[1]), sums(text))


def test_commas_inside_lists_without_quotes(store, write):
    """`--delimiter=,` quotes nothing: resources, node lists and arrays are put together again."""
    lines = [line | {"JobName": "x"} for line in MONTH[:500]] + [MONTH[0] | {"JobID": "9_[1,4-7]", "JobName": "x"}]
    report, frame = loaded(store, write("sacct.csv", printed(lines, delimiter=",")))
    assert report.format == "slurm-print"
    near(sums_of(frame), sums(printed(lines)))
    assert frame["job_name"].iloc[-1] == "9_[1,4-7]"


def test_the_screen(store, write):
    widths = {"JobID": 14, "JobName": 10, "User": 9, "Partition": 10, "State": 10, "Start": 19, "Elapsed": 12}
    widths |= {"ReqMem": 10, "MaxRSS": 12, "ReqCPUS": 8, "NNodes": 6}
    report, frame = loaded(store, write("screen.txt", screen(MONTH, widths)))
    assert report.format == "slurm-print"
    near(sums_of(frame), sums(printed(MONTH)))
    assert set(frame["status"]) == {"COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED", "NODE_FAIL"}
    checks = {check.name: check.count for check in report.checks}
    cut = sum(len(line.get("JobName", "")) > 10 or len(line["State"]) > 10 for line in MONTH)
    assert checks["values cut off"] == cut > 0


def test_sacct_quotes_nothing(store, write):
    """A quote in a job's name is a character as any other, wherever it stands."""
    names = ['"a" b', '"a', 'a"', '""', '"a" "b"']
    lines = [line | {"JobName": names[at % 5]} if at % 7 == 0 else line for at, line in enumerate(MONTH[:300])]
    _, frame = loaded(store, write("quotes.txt", printed(lines)))
    near(sums_of(frame), sums(printed(lines)))
    tasks = store.frame("quotes", ["task_name"], finished_only=False)["task_name"].tolist()
    assert tasks == [line["JobName"] for line in lines if "." not in line["JobID"]]


def test_headings_with_widths_in_lower_case_and_with_the_raw_id(store, write):
    lines = MONTH[:300]
    wanted = sums(printed(lines))
    wide = [f"{field}%30" if field in ("JobName", "JobID") else field for field in FIELDS]
    near(sums_of(loaded(store, write("wide.txt", printed(lines, wide)))[1]), wanted)
    text = printed(lines)
    low = text.replace(text.split("\n", 1)[0], text.split("\n", 1)[0].lower(), 1)
    near(sums_of(loaded(store, write("low.txt", low))[1]), wanted)
    raw = printed(lines, [field for field in FIELDS if field not in ("JobID", "State")])
    report = store.ingest([write("raw.txt", raw)], IngestOptions())
    assert (report.format, report.rows, store.dataset("raw").finished_rows) == ("slurm", wanted[0], wanted[0])


@pytest.mark.parametrize(
    "heading, known",
    [
        ("JobID,JobName,State,Elapsed,MaxMemGB,ReqMemGB", "generic"),
        ("JobID,JobName,State,WallTime,MaxMemGB,ReqMemGB", "generic"),
        ("JobID,JobName,State,Elapsed,MaxRSS,ReqMemGB", "slurm"),
        ("JobID,JobName,State,Elapsed,Account,User", "slurm"),
    ],
)
def test_a_job_id_and_a_state_beside_columns_that_sacct_has_not_are_anybodys(store, write, heading, known):
    rows = "".join(f"\n{at},a,COMPLETED,01:00:00,{2 + at / 7:.2f},8" for at in range(30))
    assert store.ingest([write("m.csv", heading + rows)], IngestOptions()).format == known
    if known == "generic":
        assert store.frame("m", ["peak_memory_bytes"])["peak_memory_bytes"].iloc[0] == 2e9


@pytest.mark.soak
def test_merged_by_pandas(store, write, tmp_path):
    """One line a job, its largest MaxRSS joined, an index column, floats, missing values as pandas writes them."""
    lines = month(1000, 3)
    table = pd.read_csv(io.StringIO(printed(lines)), sep="|", dtype=str, keep_default_na=False, quoting=3)
    table["job"] = table["JobID"].str.split(".").str[0]
    peaks = table.assign(k=table["MaxRSS"].str.endswith("K")).query("k").groupby("job")["MaxRSS"].last()
    jobs = table[~table["JobID"].str.contains(".", regex=False)].drop_duplicates("JobID", keep="last").copy()
    jobs["MaxRSS"] = jobs["JobID"].map(peaks)
    wanted = sums(jobs.fillna("").to_csv(sep="|", index=False, quoting=3, escapechar="\\"))
    jobs["NTasks"] = np.nan
    jobs["ReqCPUS"] = jobs["ReqCPUS"].astype(float)
    jobs = jobs.drop(columns=["job"])
    jobs.to_csv(tmp_path / "merged.csv")
    near(sums_of(loaded(store, tmp_path / "merged.csv")[1]), wanted)
    jobs["Elapsed"] = pd.to_timedelta(jobs["Elapsed"].str.replace("-", " days "))
    jobs.to_csv(tmp_path / "timedelta.csv", na_rep="NaN")
    near(sums_of(loaded(store, tmp_path / "timedelta.csv")[1]), wanted)
    jobs = jobs.drop(columns=["Elapsed"]).rename(columns=str.lower)
    jobs.to_parquet(tmp_path / "low.parquet")
    near(sums_of(loaded(store, tmp_path / "low.parquet")[1]), wanted)


@pytest.mark.parametrize("old", [False, True])
def test_json(store, write, old):
    lines = month(600, 4)
    report, frame = loaded(store, write("sacct.json", as_json(lines, old=old)))
    assert report.format == "slurm-json"
    near(sums_of(frame), sums(printed(lines)))
    names = ["user", "group", "workload", "requested_gpu_percent", "gpu_type", "time_limit_s", "cpu_usage_percent"]
    more = store.frame("sacct", names, finished_only=False)
    assert (more["requested_gpu_percent"] == 200).all() and (more["gpu_type"] == "a100").all()
    limits = {"1-00:00:00": 86_400.0, "04:00:00": 14_400.0}
    own = [line for line in lines if "." not in line["JobID"]]
    assert [limits.get(line["Timelimit"]) for line in own] == more["time_limit_s"].replace({np.nan: None}).tolist()
    assert more["user"].tolist() == [line["User"] for line in own]
    assert frame["job_name"].tolist() == [line["JobID"] for line in own]


def flat(jobs):
    return pd.json_normalize(jobs).to_json(orient="records")


@pytest.mark.parametrize(
    "many", [json.dumps, lambda jobs: "\n".join(map(json.dumps, jobs)), flat], ids=["list", "lines", "flat"]
)
@pytest.mark.parametrize("old", [False, True])
def test_jobs_without_their_document(store, write, many, old):
    """`jq .jobs` and `jq -c '.jobs[]'`."""
    document = as_json(month(60, 4), old=old)
    _, wanted = loaded(store, write("whole.json", document))
    report, frame = loaded(store, write("jobs.json", many(json.loads(document)["jobs"])))
    assert report.format == "slurm-json"
    pd.testing.assert_frame_equal(frame, wanted)


def test_bytes_that_are_no_utf_8_are_told_with_the_option_that_reads_them(store, write):
    text = as_json(month(60, 4)).replace('"name": "', '"name": "ö', 2).encode("latin-1")
    report, _ = loaded(store, write("old.json", text))
    assert [check.name for check in report.checks if "latin-1" in check.message] == ["not UTF-8"]
    report, _ = loaded(store, write("new.json", text), IngestOptions(encoding="latin-1"))
    assert "not UTF-8" not in {check.name for check in report.checks}
    assert store.frame("new", ["task_name"], finished_only=False)["task_name"].str.startswith("ö").any()


SQUEUE = {
    "jobs": [
        {
            "job_id": 7,
            "name": "long",
            "user_name": "ann",
            "job_state": ["RUNNING"],
            "submit_time": {"set": True, "infinite": False, "number": 1000},
            "start_time": {"set": True, "infinite": False, "number": 1100},
            "end_time": {"set": True, "infinite": False, "number": 99_999},
            "time_limit": {"set": True, "infinite": False, "number": 60},
            "cpus": {"set": True, "infinite": False, "number": 4},
            "node_count": {"set": True, "infinite": False, "number": 2},
            "memory_per_node": {"set": True, "infinite": False, "number": 2048},
            "memory_per_cpu": {"set": False, "infinite": False, "number": 0},
        },
        {
            "job_id": 8,
            "array_job_id": {"set": True, "infinite": False, "number": 6},
            "array_task_string": "4-7",
            "job_state": "PENDING",
            "submit_time": 1200,
            "start_time": 5000,
            "memory_per_cpu": 1024,
            "cpus": 2,
        },
        {"job_id": 9, "job_state": ["COMPLETED"], "start_time": 100, "end_time": 400, "tres_req_str": "cpu=1,mem=3G"},
    ]
}


PER_CORE = 1 << 63
STRANGE = [  # (memory in MiB, cores) as `required` says them, then bytes of a node and percent
    (PER_CORE + 2048, 4, 4 * GIB, 400),
    (str(PER_CORE + 2048), 4, 4 * GIB, 400),
    ({"set": True, "infinite": False, "number": PER_CORE + 2048}, 4, 4 * GIB, 400),
    (PER_CORE, 4, np.nan, 400),
    (PER_CORE + 4294967294, 4, np.nan, 400),
    (4096, 4, 4 * GIB, 400),
]
BEYOND = [(-65_536, 4, 400), (1e33, 4, 400), (1 << 62, 4, 400), (4096, -4, np.nan), (4096, 1e308, np.nan)]


def of_required(cases):
    """Return jobs of two nodes each, as v0.0.37 writes them without `tres`."""
    return json.dumps({
        "jobs": [
            {
                "job_id": at, "job_state": "COMPLETED", "allocation_nodes": 2, "derived_exit_code": 0,
                "time": {"start": 100, "end": 700, "elapsed": 600}, "required": {"CPUs": cores, "memory": memory},
            }
            for at, (memory, cores, *_) in enumerate(cases, 1)
        ]
    })  # fmt: skip


def test_the_bit_of_a_request_of_each_core_is_no_part_of_it(store, write):
    report = store.ingest([write("flags.json", of_required(STRANGE))], IngestOptions())
    frame = store.frame("flags", ["requested_memory_bytes", "requested_cpu_percent"])
    np.testing.assert_array_equal(frame["requested_memory_bytes"], [memory for *_, memory, _ in STRANGE])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [cores for *_, cores in STRANGE])
    assert (report.rows, report.rejected) == (len(STRANGE), 0)
    assert not [check for check in report.checks if check.name in ("out of bounds", "bad cells")]


def test_requests_of_json_that_no_machine_has_are_missing_and_counted(store, write):
    report = store.ingest([write("beyond.json", of_required(BEYOND))], IngestOptions())
    assert (report.rows, report.rejected) == (len(BEYOND), 0)
    frame = store.frame("beyond", ["requested_memory_bytes", "requested_cpu_percent"])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [cores for *_, cores in BEYOND])
    assert frame["requested_memory_bytes"][:3].isna().all()
    checks = {check.name: check.count for check in report.checks}
    assert checks["out of bounds"] + checks["not finite"] == len(BEYOND)


def test_jobs_of_squeue(store, write):
    """An expected end is no end, an expected start no start."""
    report = store.ingest([write("queue.json", json.dumps(SQUEUE))], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("slurm-json", 3, 0)
    names = ["job_name", "start_time_s", "requested_memory_bytes", "requested_cpu_percent", "time_limit_s"]
    frame = store.frame("queue", [*names, "status"], finished_only=False)
    assert frame["job_name"].tolist() == ["7", "6_[4-7]", "9"]
    np.testing.assert_array_equal(frame["start_time_s"], [1100, np.nan, 100])
    np.testing.assert_array_equal(frame["requested_memory_bytes"] / GIB, [2, 2, 3])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [400, 200, 100])
    assert frame["time_limit_s"][0] == 3600


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("per", "percent"),
    [
        ({"tres_per_node": "gres/gpu:a100:2"}, 600),
        ({"tres_per_node": "gres:gpu:1,gres:craynetwork:1"}, 300),
        ({"tres_per_job": "gres/gpu:2"}, 200),
        ({"tres_per_node": ""}, np.nan),
    ],
)
def test_gpus_of_squeue_that_no_list_of_resources_names(store, write, per, percent):
    job = {"job_state": ["COMPLETED"], "start_time": 100, "end_time": 400, "node_count": 3, "tres_req_str": "mem=3G"}
    text = json.dumps({"jobs": [job | per | {"job_id": 1}, job | {"job_id": 2, "tres_req_str": "gres/gpu=1"}]})
    store.ingest([write("queue.json", text)], IngestOptions())
    gpus = store.frame("queue", ["requested_gpu_percent"], finished_only=False)["requested_gpu_percent"]
    np.testing.assert_array_equal(gpus, [percent, 100])


REQUEUED = """\
JobID|State|Start|End|Elapsed|ReqMem|MaxRSS
5|NODE_FAIL|2024-05-26T10:00:00|2024-05-26T11:00:00|01:00:00|4G|
5.batch|CANCELLED|2024-05-26T10:00:00|2024-05-26T11:00:00|01:00:00||1G
5|COMPLETED|2024-05-26T12:00:00|2024-05-26T14:00:00|02:00:00|4G|
5.batch|COMPLETED|2024-05-26T12:00:00|2024-05-26T14:00:00|02:00:00||2G
5.0|COMPLETED|2024-05-26T12:30:00|2024-05-26T14:00:00|01:30:00||3G
"""


@pytest.mark.some(2)
@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (0, 2, 1, 3, 4)])
def test_every_attempt_is_a_run_with_its_own_steps(store, write, order):
    head, *rows = REQUEUED.splitlines()
    _, frame = loaded(store, write("again.txt", "\n".join([head, *(rows[at] for at in order)]) + "\n"))
    told = sorted(zip(frame["status"], frame["duration_s"], frame["peak_memory_bytes"] / GIB, strict=True))
    assert told == [("COMPLETED", 7200, 3), ("NODE_FAIL", 3600, 1)]


def test_attempts_without_their_starts_go_by_their_order(store, write):
    text = "\n".join("|".join(line.split("|")[:2] + line.split("|")[4:]) for line in REQUEUED.splitlines()) + "\n"
    _, frame = loaded(store, write("again.txt", text))
    assert (frame["peak_memory_bytes"] / GIB).tolist() == [1, 3]


def test_resources_stand_in_for_what_has_no_column(store, write):
    text = (
        "JobID|State|Elapsed|AllocTRES|TRESUsageInMax|TRESUsageInAve|TRESUsageOutTot\n"
        "1|COMPLETED|01:00:00|billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16384M|||\n"
        "1.batch|COMPLETED|01:00:00|cpu=4|cpu=00:00:12,gres/gpumem=10G,gres/gpuutil=99,mem=2000K|gres/gpuutil=60,mem=1M|"
        "fs/disk=77\n"
    )
    report = store.ingest([write("t.txt", text)], IngestOptions())
    frame = store.preview(report.dataset).iloc[0]
    assert frame["requested_memory_bytes"] == 16 * GIB
    assert (frame["requested_cpu_percent"], frame["requested_gpu_percent"], frame["gpu_type"]) == (400, 200, "a100")
    assert frame["peak_memory_bytes"] == 2000 * KIB
    assert (frame["peak_gpu_memory_bytes"], frame["gpu_usage_percent"], frame["write_bytes"]) == (10 * GIB, 60, 77)


def test_fields_that_no_run_fills_are_not_there(store, write):
    report = store.ingest(
        [write("t.txt", "JobID|State|Elapsed|ReqTRES\n1|COMPLETED|01:00:00|cpu=4\n")], IngestOptions()
    )
    assert "requested_gpu_percent" not in names_of(store, report)
    screened = store.ingest(
        [write("s.txt", screen(MONTH[:9], {"JobID": 14, "State": 10, "Elapsed": 12}))], IngestOptions()
    )
    assert (
        set(names_of(store, screened))
        <= {"job_name", "task_name", "status", "duration_s", "out_of_memory_kills"} | TIMES
    )


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "header",
    [
        "jobid,state,elapsed,mem",
        "JobId,state,duration_s",
        "id,State,MaxRSS,ReqMem",
        "job_id,state,max_rss,req_mem,elapsed",
    ],
)
def test_what_is_not_sacct_is_not_taken(store, write, header):
    text = header + "\n" + ",".join(["1", "x", "3", "4", "5"][: header.count(",") + 1]) + "\n"
    try:
        report = store.ingest([write("t.csv", text)], IngestOptions())
    except TraceError as error:
        assert "slurm" not in str(error)
    else:
        assert report.format == "generic"


def test_the_default_of_sacct_has_no_times_and_says_so(store, write):
    text = "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode\n1,a,short,lab,1,COMPLETED,0:0\n"
    with pytest.raises(TraceError, match="duration_s"):
        store.ingest([write("default.csv", text)], IngestOptions())
    widths = {"JobID": 12, "JobName": 10, "Partition": 10, "Account": 10, "AllocCPUS": 10, "State": 10, "ExitCode": 8}
    with pytest.raises(TraceError, match="how long a job ran"):
        store.ingest([write("default.txt", screen(MONTH[:9], widths))], IngestOptions())


def test_lines_that_are_no_jobs_of_a_screen_are_rejects(store, write):
    widths = {"JobID": 14, "State": 10, "Elapsed": 12, "MaxRSS": 12}
    text = screen([*MONTH[:4], MONTH[0] | {"Elapsed": "lots"}], widths)
    head = "\n".join(text.splitlines()[:2])
    report = store.ingest([write("s.txt", text + head + "\n" + "sacct: error: slurmdbd went away\n")], IngestOptions())
    assert report.rejected == 2
    assert {check.name: check.count for check in report.checks}["repeated headings"] == 2
    assert store.rejects("s")["line"].tolist() == [7, 10]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"jobs": [{"job_id": 1, "job_state": "RUNNING"}, {"job', "breaks off"),
        ('{"jobs": [{"job_id": 1, "allocation_nodes": ' + "[" * 50_000, "breaks off"),
        ('{"jobs": [7, "x", null, {"name": "no id"}], "meta": {"slurm": 1}}', "rejected"),
    ],
)
def test_json_that_is_none_is_refused(store, write, text, said):
    with pytest.raises(TraceError, match=said):
        store.ingest([write("bad.json", text)], IngestOptions())


def test_hostile_jobs_are_rejects_or_rows(store, write):
    jobs = [
        {"job_id": 1, "derived_exit_code": 3, "time": {"elapsed": 60}, "state": {"current": []}, "steps": 5},
        {"job_id": 10**400, "time": {"elapsed": 60}, "name": "a,b\r\n\"c\"|'d'; DROP TABLE x"},
        {"job_id": 3, "time": {"elapsed": 10**400}},
        {"job_id": 4, "time": "soon", "tres": {"requested": [7, {"type": 3}]}, "required": [], "steps": [None]},
        {"job_id": True},
    ]
    report = store.ingest([write("h.json", json.dumps({"jobs": jobs}, indent=1))], IngestOptions())
    assert (report.rows, report.rejected) == (3, 3)
    told = store.rejects("h").sort_values("line")
    assert told["reason"].tolist()[0:1] and report.rows + report.rejected == 6


CUT = """\
       JobID    JobName     ReqMem     MaxRSS  ReqCPUS    UserCPU  Timelimit    Elapsed      State
------------ ---------- ---------- ---------- -------- ---------- ---------- ---------- ----------
15715316_97+    mcorrex    16000Mn                   2   00:26:00   00:30:00   00:26:34  COMPLETED
15715316_97+      batch    16000Mn      3532K        2  00:05.079              00:26:34  COMPLETED
15715316_97+     extern    16000Mn          0        2   00:00:00              00:26:34  COMPLETED
15715316_97+    correct    16000Mn  10045358K        2   00:25:50              00:26:30  COMPLETED
15715316_97+    mcorrex    16000Mn                   2   00:20:00   00:30:00   00:20:34  COMPLETED
15715316_97+      batch    16000Mn      3532K        2  00:05.079              00:20:34  COMPLETED
15715316_98+    mcorrex    16000Mn                   2   00:20:00   00:30:00   00:20:34  COMPLETED
15715316_98+    correct    16000Mn   9045358K        2   00:19:50              00:20:30  COMPLETED
"""


def test_ids_that_were_cut_off_are_seen_as_cut(store, write):
    """nauhpc/jobstats#4: elements of an array whose steps have the same cut id."""
    report, frame = loaded(store, write("screen.txt", CUT))
    assert frame["job_name"].tolist() == ["15715316_97+", "15715316_97+ #2", "15715316_98+"]
    assert frame["peak_memory_bytes"].tolist() == [10045358 * 1024, 3532 * 1024, 9045358 * 1024]
    assert set(frame["requested_memory_bytes"]) == {16000 * 1024**2}
    assert {check.name: check.count for check in report.checks}["cut keys"] == 8


def test_ids_that_were_cut_off_and_tell_no_steps_are_refused(store, write):
    at = CUT.index("Timelimit") - 2
    text = "".join(line[:at] + line[at + 11 :] + "\n" for line in CUT.splitlines())
    with pytest.raises(TraceError, match=r"line 6 was cut to fit .* sacct -P"):
        store.ingest([write("screen.txt", text)], IngestOptions())


BROKEN = """\
JobID|JobName|State|Elapsed|ReqCPUS|ReqMem|MaxRSS|SubmitLine|Timelimit|Start|End
8001|sim|COMPLETED|00:10:00|1|2G||sbatch sim.sh|01:00:00|2024-05-01T10:00:00|2024-05-01T10:10:00
8001.batch|batch|COMPLETED|00:10:00|1||1048576K|||2024-05-01T10:00:00|2024-05-01T10:10:00
8002|bash|COMPLETED|00:20:00|1|4G||srun --pty bash -c echo hello &&

echo bye|01:00:00|2024-05-01T10:00:00|2024-05-01T10:20:00
8002.0|bash|COMPLETED|00:20:00|1||2097152K|srun --pty bash -c echo hello |
echo bye||2024-05-01T10:00:00|2024-05-01T10:20:00
8003|odd|name|COMPLETED|00:10:00|1|2G||sbatch a|b|01:00:00|2024-05-01T11:00:00|2024-05-01T11:10:00
8004|sim|COMPLETED|00:10
"""


def test_records_that_a_free_text_took_apart_are_put_together(store, write):
    """troycomi/reportseff#63: line breaks in SubmitLine; a delimiter in a name or a command."""
    report = store.ingest([write("s.txt", BROKEN)], IngestOptions())
    fields = ["job_name", "task_name", "duration_s", "requested_memory_bytes", "peak_memory_bytes", "SubmitLine"]
    rows = store.frame("s", fields, finished_only=False)[fields].fillna(-1).to_numpy().tolist()
    assert rows == [
        ["8001", "sim", 600, 2 * GIB, GIB, "sbatch sim.sh"],
        ["8002", "bash", 1200, 4 * GIB, 2 * GIB, "srun --pty bash -c echo hello &&\necho bye"],
        ["8003", "odd|name", 600, 2 * GIB, -1, "sbatch a|b"],
    ]
    checks = {check.name: check.count for check in report.checks}
    assert (checks["broken records"], checks["delimiters in texts"], report.rejected) == (2, 1, 1)
    reject = store.rejects("s").iloc[0]
    assert (reject["line"], reject["text"]) == (10, "8004|sim|COMPLETED|00:10")
    assert "--delimiter" in reject["reason"]


def test_a_last_column_may_go_on_in_further_lines(store, write):
    text = "JobID|State|Elapsed|Comment\n1|COMPLETED|00:10:00|a\nb\nc\n2|COMPLETED|00:20:00|\n"
    report = store.ingest([write("s.txt", text)], IngestOptions())
    assert (report.rows, report.rejected) == (2, 0)
    assert store.frame("s", ["Comment"])["Comment"].tolist()[0] == "a\nb\nc"


def test_a_delimiter_that_may_stand_in_two_columns_rejects_its_line(store, write):
    rows = ["1|a|b|c|COMPLETED|00:10:00", "2|a|b|COMPLETED|00:10:00", "3|x\ny|b|COMPLETED|00:10:00"]
    text = "\n".join(["JobID|JobName|WorkDir|State|Elapsed", *rows]) + "\n"
    report = store.ingest([write("s.txt", text)], IngestOptions())
    assert (report.rows, report.rejected) == (2, 1)
    assert store.rejects("s")["line"].tolist() == [2]


def test_json_tells_the_use_of_a_node(store, write):
    """The JSON of troycomi/reportseff#41: eight tasks on a node, and over two; without the sum a lower bound."""

    def job(number, nodes, sums):
        used = {"max": [{"type": "mem", "name": "", "count": 1_000}]} | sums
        step = {"time": {"elapsed": 60}, "nodes": {"count": nodes}, "tasks": {"count": 8}, "state": ["COMPLETED"]}
        step |= {"step": {"id": f"{number}.0", "name": "x"}, "tres": {"requested": used}}
        asked = {"requested": [{"type": "mem", "name": "", "count": 16_000}, {"type": "cpu", "name": "", "count": 8}]}
        time = {"elapsed": 60, "start": 1_700_000_000, "end": 1_700_000_060}
        begun = {"job_id": number, "state": {"current": ["COMPLETED"]}, "allocation_nodes": nodes, "tres": asked}
        return begun | {"time": time, "steps": [step], "derived_exit_code": {}}

    total = {"total": [{"type": "mem", "name": "", "count": 7_600}]}
    document = json.dumps({"meta": {}, "jobs": [job(1, 1, total), job(2, 2, total), job(3, 1, {})]})
    store.ingest([write("s.json", document)], IngestOptions())
    fields = ["requested_memory_bytes", "peak_memory_bytes", "peak_memory_is_lower_bound"]
    rows = store.frame("s", fields)[fields].to_numpy().tolist()
    assert rows == [[16_000 * 1024**2, 7_600, 0], [8_000 * 1024**2, 3_800, 0], [16_000 * 1024**2, 1_000, 1]]


@pytest.mark.some(1)
@pytest.mark.parametrize("delimiter", ["|", ",", ";"])
def test_ids_cut_on_a_screen_are_cut_in_a_table_of_it(store, write, delimiter):
    rows = ["JobID|JobName|ReqMem|MaxRSS|Elapsed|State|ReqCPUS"]
    for job, peak in (("157+", "3532K"), ("158+", "4532K")):
        rows.append(f"{job}|mc|16000M||00:26:34|COMPLETED|2")
        rows += [
            f"{job}|{step}|16000M|{used}|00:26:34|COMPLETED|2" for step, used in (("batch", peak), ("extern", "0"))
        ]
    report = store.ingest([write("s.txt", "\n".join(rows).replace("|", delimiter) + "\n")], IngestOptions())
    frame = store.frame("s", ["job_name", "task_name", "peak_memory_bytes"], finished_only=False)
    assert (report.rows, {check.name: check.count for check in report.checks}["cut keys"]) == (2, 6)
    assert frame["job_name"].tolist() == ["157+", "158+"] and set(frame["task_name"]) == {"mc"}
    assert frame["peak_memory_bytes"].tolist() == [3532 * 1024, 4532 * 1024]


def test_commas_in_a_name_are_no_lists(store, write):
    head, end = "JobID,JobName,State,Elapsed,MaxRSS\n", "COMPLETED,00:10:00,1G\n"
    report = store.ingest([write("c.csv", f"{head}1,a,{end}2,a,b,c,{end}")], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("slurm", 2, 0)
    assert store.frame("c", ["task_name"])["task_name"].tolist() == ["a", "a,b,c"]


@pytest.mark.parametrize("name", ["TRESUsageInTot", "AllocTRES", "ReqGRES", "ExitCode", "NodeList", "nodes_", "tasks_"])
def test_a_frame_with_an_empty_column_of_numbers_loads(store, tmp_path, name):
    """pandas makes a column of floats of one that no line fills, and of a request in MiB whole numbers."""
    heads = ["JobID", "State", "Elapsed", "ReqMem", "MaxRSS", "AllocCPUS"]
    jobs = pd.DataFrame([["7", "COMPLETED", "01:00:00", 8192, "2G", 4]] * 3, columns=heads)
    jobs.assign(ReqTRES=np.nan, **{name: "n" if name.endswith("_") else np.nan}).to_parquet(tmp_path / "jobs.parquet")
    report, _ = loaded(store, tmp_path / "jobs.parquet")
    frame = store.frame(report.dataset, ["requested_memory_bytes", "peak_memory_bytes"])
    assert (report.format, frame.iloc[0].tolist()[1:]) == ("slurm", [8 * GIB, 2 * GIB])

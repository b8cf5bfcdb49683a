"""Accounting logs of PBS and Torque, and qstat's JSON: runs, attempts, running and waiting jobs, sizes, exit codes."""

import gzip
import json

import numpy as np
import pytest

from tests.formats.pbs_files import log, qstat, sums
from workprof.core.errors import TraceError
from workprof.core.units import GIB, KIB
from workprof.formats.pbs import attributes, size
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

NAMES = ["job_name", "status", "duration_s", "requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent"]
OWN = "user=ann group=users jobname=align queue=long ctime=100 qtime=100 etime=100"
SMALL = f"""\
05/28/2024 10:00:00;L;license;floating license hour:3 day:3 month:3 max:99
05/28/2024 10:00:00;Q;1.srv;queue=long
05/28/2024 10:00:10;S;1.srv;{OWN} start=1000 exec_host=n1/0*4 Resource_List.mem=16gb Resource_List.ncpus=4
05/28/2024 10:30:00;E;1.srv;{OWN} account="lab one" start=1000 exec_host=n1/0*4+n2/1*4 Resource_List.mem=16gb \
Resource_List.ncpus=4 Resource_List.walltime=01:00:00 end=2800 Exit_status=0 resources_used.mem=8388608kb \
resources_used.cput=01:00:00 resources_used.walltime=00:30:00 run_count=1
05/28/2024 10:31:00;S;2.srv;{OWN} start=1000 Resource_List.mem=4gb
05/28/2024 10:32:00;R;2.srv;{OWN} start=1000 end=1060 Exit_status=-11 resources_used.mem=1gb resources_used.walltime=60
05/28/2024 10:33:00;S;2.srv;{OWN} start=1120 Resource_List.mem=4gb
05/28/2024 10:34:00;E;2.srv;{OWN} start=1120 end=1180 Exit_status=137 Resource_List.mem=4gb resources_used.mem=4gb \
resources_used.walltime=60
05/28/2024 10:35:00;S;3.srv;{OWN} start=1240 Resource_List.select=2:ncpus=8:mem=3gb+1:ncpus=1:mem=512mb:ngpus=2
05/28/2024 10:36:00;Q;4.srv;queue=long
05/28/2024 10:37:00;Q;5.srv;queue=long
05/28/2024 10:38:00;D;5.srv;requestor=ann@login
05/28/2024 10:39:00;E;6.srv;{OWN} start=1000 end=4600 Exit_status=271 Resource_List.nodes=2:ppn=8:gpus=1 \
Resource_List.pmem=1gb Resource_List.walltime=01:00:00 resources_used.mem=2gb resources_used.walltime=01:00:00
05/28/2024 10:40:00;S;7.srv;{OWN} start=1000 Resource_List.mem=1gb
05/28/2024 10:41:00;D;7.srv;requestor=ann@login
05/28/2024 10:41:05;E;7.srv;{OWN} start=1000 end=1030 Exit_status=271 Resource_List.mem=1gb resources_used.mem=2mb \
resources_used.walltime=00:00:30
05/28/2024 10:42:00;E;8[].srv;{OWN} start=1000 end=1030 Exit_status=0
"""


def test_a_small_log(store, write):
    report = store.ingest([write("20240528", SMALL)], IngestOptions())
    assert (report.format, report.rows, report.rejected, report.lost) == ("pbs", 8, 0, 0)
    checks = {check.name: check.count for check in report.checks}
    assert (checks["other records"], checks["arrays"]) == (1, 1)
    frame = store.frame(report.dataset, [*NAMES, "requested_gpu_percent"], finished_only=False).set_index("job_name")
    told = list(zip(frame.index, frame["status"], strict=True))
    assert told == [
        ("1.srv", "completed"),
        ("2.srv", "rerun"),
        ("2.srv", "out of memory (exit 137)"),
        ("6.srv", "timed out (exit 271)"),
        ("7.srv", "deleted (exit 271)"),
        ("3.srv", "running"),
        ("4.srv", "queued"),
        ("5.srv", "deleted"),
    ]
    assert frame["duration_s"].iloc[:5].tolist() == [1800, 60, 60, 3600, 30]
    np.testing.assert_array_equal(frame["requested_memory_bytes"] / GIB, [16, 4, 4, 16, 1, 6.5, np.nan, np.nan])
    np.testing.assert_array_equal(frame["peak_memory_bytes"].iloc[:4] / GIB, [8, 1, 4, 2])
    np.testing.assert_array_equal(frame["requested_cpu_percent"].iloc[[0, 3, 5]], [400, 1600, 1700])
    np.testing.assert_array_equal(frame["requested_gpu_percent"].iloc[[0, 3, 5]], [np.nan, 200, 200])
    more = ["time_limit_s", "cpu_usage_percent", "group", "node", "user", "task_name", "workload"]
    first = store.frame(report.dataset, more, finished_only=False).iloc[0]
    assert first[more].tolist() == [3600, 200, "lab one", "n1+n2", "ann", "align", "long"]


@pytest.mark.parametrize(("ahead", "known"), [("10", True), ("00", True), ("10", False)])
def test_moments_of_records_are_in_the_servers_zone(store, write, ahead, known):
    """Started at 09:00 UTC, run again after 30 minutes, started again 5 minutes later, deleted after 20."""
    text = "01/05/2026 {at}:{};S;1.s;user=ann start={}\n01/05/2026 {at}:30:00;R;1.s;\n".replace("{at}", ahead)
    text = text.format("00:01" if known else "17:01", 1767603600)
    again = f"01/05/2026 {ahead}:{'35:00' if known else '45:00'};S;1.s;user=ann start={1767603600 + 2100}\n"
    report = store.ingest(
        [write("log", text + again + f"01/05/2026 {ahead}:55:00;D;1.s;requestor=ann\n")], IngestOptions()
    )
    frame = store.frame(report.dataset, ["end_time_s"], finished_only=False)
    if known:
        assert frame["end_time_s"].tolist() == [1767603600 + 1800, 1767603600 + 3300]
    else:
        assert (report.rows, "local moments" in {check.name for check in report.checks}) == (2, True)
        assert "end_time_s" not in store.columns(report.dataset) or frame["end_time_s"].isna().all()


@pytest.mark.some(1)
@pytest.mark.parametrize("torque", [False, True])
def test_a_year(store, write, torque):
    text = log(3000, torque=torque)
    for name, content in (("log.gz", gzip.compress(text.encode())), ("qstat.json", qstat(text).encode())):
        report = store.ingest([write(name, content)], IngestOptions())
        assert (report.format, report.rejected) == ("pbs" if name == "log.gz" else "pbs-json", 0)
        frame = store.frame(report.dataset, NAMES, finished_only=False)
        done = frame[frame["status"] == "completed"]
        got = (len(frame), len(done), *((done[name] * done["duration_s"] / 3600).sum() / 1e9 for name in NAMES[3:5]))
        wanted = sums(text)
        assert got[:2] == wanted[:2]
        np.testing.assert_allclose(got[2:], wanted[2:], rtol=1e-9)
        assert set(frame["requested_cpu_percent"]) == {100, 400, 1600}
        assert store.dataset(report.dataset).finished_rows == len(done)


def test_a_folder_of_days(store, tmp_path):
    """A job that started on one day and ended on the next is one run."""
    (tmp_path / "accounting").mkdir()
    lines = SMALL.splitlines(keepends=True)
    for day, part in (("20240528", lines[:3]), ("20240529", lines[3:])):
        (tmp_path / "accounting" / day).write_text("".join(part))
    report = store.ingest([tmp_path / "accounting"], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("pbs", 8, 0)


def test_states_of_qstat(store, write):
    jobs = {
        "1.s": {"Job_Name": "a", "Job_Owner": "ann@x", "job_state": "R", "stime": "Wed May  8 10:00:00 2024"},
        "2.s": {"Job_Name": "b", "Job_Owner": "bob@x", "job_state": "Q", "qtime": "Wed May  8 10:00:00 2024"},
        "3.s": {"Job_Name": "c", "job_state": "F", "Exit_status": 271, "Job_Owner": "ann@x"},
        "4[].s": {"Job_Name": "d", "job_state": "B"},
        "5.s": 7,
    }
    jobs["1.s"]["Resource_List"] = {"mem": "2gb", "ncpus": 2, "walltime": "02:00:00"}
    jobs["1.s"]["resources_used"] = {"mem": "10mb", "walltime": "00:10:00", "cput": "00:00:30"}
    report = store.ingest([write("q.json", json.dumps({"pbs_version": "1", "Jobs": jobs}))], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("pbs-json", 3, 1)
    frame = store.frame("q", [*NAMES, "user", "start_time_s"], finished_only=False)
    assert frame["status"].tolist() == ["running", "queued", "deleted"]
    assert frame["user"].tolist() == ["ann", "bob", "ann"]
    assert frame["start_time_s"][0] == 1_715_162_400
    assert frame["requested_memory_bytes"][0] == 2 * GIB


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *[
            ("16gb", 16 * GIB),
            ("123kb", 123 * KIB),
            ("4mw", 32 * KIB**2),
            ("1.5GB", 1.5 * GIB),
            ("77b", 77),
            ("77", 77),
        ],
        *[("", None), ("lots", None), ("gb", None), ("-1gb", None), ("1 gb x", None)],
    ],
)
def test_sizes(text, told):
    assert size(text) == told


def test_attributes_hold_blanks_quotes_and_equal_signs():
    text = 'user=ann jobname=my job account="a b" Resource_List.select=1:ncpus=2+1:mem=1gb x='
    assert attributes(text) == {
        "user": "ann",
        "jobname": "my job",
        "account": "a b",
        "Resource_List.select": "1:ncpus=2+1:mem=1gb",
        "x": "",
    }


def test_what_is_no_record_is_a_reject(store, write):
    broken = SMALL + "05/28/2024 10:42:00;E\nnonsense\n" + SMALL.splitlines()[3].replace("start=", "start=x") + "\n"
    report = store.ingest([write("log", broken)], IngestOptions())
    assert (report.rows, report.rejected) == (8, 3)
    lines = len(SMALL.splitlines())
    assert sorted(store.rejects("log")["line"]) == [lines + 1, lines + 2, lines + 3]


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("record", "left", "rejected"),
    [
        ("05/28/2024 10:50:00;E;9.srv;{own} start=1000 end=2000 Exit_status=0 resources_used.mem=1gb res", 8, 1),
        ("05/28/2024 10:50:00;R;9.srv;{own} start=1000 end=2000 Exit_status=-11 Resource_List.mem=1gb Res", 8, 1),
        ("05/28/2024 10:50:00;S;9.srv;{own} star", 8, 1),
        ("05/28/2024 10:50:00;Q;9.srv;queue=lo", 9, 0),
        ("05/28/2024 10:50:00;E;9.srv;{own} start=1000 end=2000 Exit_status=0 resources_used.walltime=00:1", 9, 0),
    ],
)
def test_a_last_line_that_is_cut_is_a_reject_or_told(store, write, record, left, rejected):
    record = record.format(own=OWN)
    whole = store.ingest([write("whole", SMALL + record + "\n")], IngestOptions())
    assert whole.rejected == 0
    assert "no line end" not in {check.name for check in whole.checks}
    report = store.ingest([write("log", SMALL + record)], IngestOptions())
    assert (report.rows, report.rejected) == (left, rejected)
    unended = [check.level for check in report.checks if check.name == "no line end"]
    assert unended == ["warning"] * (1 - rejected)
    told = [(row.line, row.reason[:29]) for row in store.rejects("log").itertuples()] if rejected else []
    assert told == [(len(SMALL.splitlines()) + 1, "the last line has no line end")] * rejected


def test_a_document_that_is_cut_off_is_refused(store, write):
    with pytest.raises(TraceError, match="breaks off"):
        store.ingest([write("q.json", qstat(log(5))[:-40])], IngestOptions())


def test_other_logs_are_not_taken(store, write):
    lines = "05/28/2024 10:00:00;0008;PBS_Server;Job;1.srv;Job Queued\n" * 3
    assert store.detect([write("server_log", lines)]) != "pbs"


def test_json_that_qstat_writes_wrongly_is_mended(store, write):
    """openpbs/openpbs#1255 (leading zeros), its pull request 2049 and argonne-lcf/balsam#324 (escapes)."""
    job = """"53.head": {"Job_Name": "a \\'b\\'", "Job_Owner": "u1@head", "job_state": "F",
    "stime": "Mon Nov 13 10:05:00 2023", "obittime": "Mon Nov 13 11:05:00 2023", "Exit_status": 0, "project": 007,
    "resources_used": {"cput": "00:50:00", "mem": "2097152kb", "walltime": "01:00:00", "ncpus": 01},
    "Resource_List": {"mem": "4gb", "ncpus": 1}, "Variable_List": {"foo": 005, "ARGS": "a\\,b: 012,"}}"""
    report = store.ingest([write("q.json", '{"pbs_version": "20.0.1", "Jobs": {' + job + "}}")], IngestOptions())
    alone = store.ingest([write("alone.json", "{" + job + "}")], IngestOptions())  # jq .Jobs
    assert store.frame("alone", ["job_name"])["job_name"].tolist() == ["53.head"] and alone.format == "pbs-json"
    assert (report.format, report.rows, report.rejected) == ("pbs-json", 1, 0)
    fields = ["task_name", "duration_s", "peak_memory_bytes", "project"]
    assert store.frame("q", fields)[fields].to_numpy().tolist() == [["a 'b'", 3600, 2 * GIB, "007"]]
    assert {check.name: check.count for check in report.checks}["mended JSON"] == 6

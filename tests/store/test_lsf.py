"""LSF's JSON: sizes with words, requirements, reasons of ends, moments with and without a year; sums as in pandas."""

import json
import random
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import TraceError
from workprof.core.units import GIB, MIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

NAMES = ["job_name", "status", "duration_s", "requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent"]


def document(records):
    """Return records as bjobs writes them."""
    return json.dumps({"COMMAND": "bjobs", "JOBS": len(records), "RECORDS": records}, indent=2)


def moment(at, mark=""):
    return datetime.fromtimestamp(at, UTC).strftime("%b %e %H:%M:%S %Y") + mark


def week(jobs, seed=0):
    """Return records of ended jobs."""
    draw, records = random.Random(seed), []
    for number in range(jobs):
        start, ran = 1_700_000_000 + 60 * number, draw.randint(1, 200_000)
        records.append(
            {
                "JOBID": str(number),
                "JOBINDEX": str(number % 3),
                "STAT": draw.choice(["DONE"] * 6 + ["EXIT"]),
                "JOB_NAME": "align",
                "USER": "ann",
                "QUEUE": "long",
                "SUBMIT_TIME": moment(start - 60),
                "START_TIME": moment(start),
                "FINISH_TIME": moment(start + ran, " L"),
                "RUN_TIME": f"{ran} second(s)",
                "CPU_USED": f"{ran * 2}.0 second(s)",
                "MAX_MEM": draw.choice([f"{draw.randint(1, 90)}.5 Gbytes", f"{draw.randint(1, 900)} Mbytes"]),
                "SLOTS": "4",
                "RUNTIMELIMIT": "600.0 min",
                "EFFECTIVE_RESREQ": f"select[type == any] rusage[mem={draw.choice([4000, 64000])}.00] span[hosts=1]",
                "EXIT_CODE": "",
                "EXIT_REASON": "-",
            }
        )
    return records


def test_a_week(store, write):
    records = week(2000)
    report = store.ingest([write("bjobs.json", document(records))], IngestOptions())
    assert (report.format, report.rejected, report.lost) == ("lsf", 0, 0)
    frame = store.frame("bjobs", [*NAMES, "time_limit_s", "start_time_s", "cpu_usage_percent"], finished_only=False)
    table = pd.DataFrame(records)
    done = table["STAT"] == "DONE"
    hours = table["RUN_TIME"].str.split().str[0].astype(float) / 3600
    asked = table["EFFECTIVE_RESREQ"].str.extract(r"mem=([\d.]+)")[0].astype(float) * MIB
    sizes = table["MAX_MEM"].str.split(expand=True)
    used = sizes[0].astype(float) * sizes[1].map({"Gbytes": GIB, "Mbytes": MIB})
    wanted = (len(table), done.sum(), (asked * hours)[done].sum(), (used * hours)[done].sum())
    ended = frame[frame["status"] == "DONE"]
    got = (len(frame), len(ended), *((ended[name] * ended["duration_s"] / 3600).sum() for name in NAMES[3:5]))
    np.testing.assert_allclose(got, wanted, rtol=1e-9)
    assert store.dataset("bjobs").finished_rows == done.sum()
    assert set(frame["time_limit_s"]) == {36_000} and set(frame["requested_cpu_percent"]) == {400}
    assert frame["start_time_s"][0] == 1_700_000_000
    np.testing.assert_allclose(frame["cpu_usage_percent"], 200)
    assert frame["job_name"].tolist()[:3] == ["0", "1[1]", "2[2]"]


@pytest.mark.parametrize("delimiter", [",", ";", "^", "|"])
def test_a_list_with_a_delimiter_has_the_records(store, write, delimiter):
    records = week(50, seed=3)
    table = pd.DataFrame(records).to_csv(index=False, sep=delimiter)
    frames = []
    for name, content in (("document.json", document(records)), ("list.csv", table)):
        assert store.ingest([write(name, content)], IngestOptions()).format == "lsf"
        frames.append(store.frame(name.partition(".")[0], NAMES, finished_only=False))
    pd.testing.assert_frame_equal(*frames)
    further = "".join(f"{delimiter.join(cells)}\n" for cells in (["99", "DONE"], ['"open', "DONE"], ["x" * 200_000]))
    headings, rows = table.split("\n", 1)
    report = store.ingest([write("cut.csv", f"{headings}\n{further}{rows}")], IngestOptions())
    assert (report.rows, report.rejected) == (50, 3)


SMALL = [
    {"JOBID": "1", "STAT": "EXIT", "EXIT_REASON": "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit"},
    {"JOBID": "2", "STAT": "EXIT", "EXIT_REASON": "TERM_RUNLIMIT: job killed", "RUNTIMELIMIT": "00:10:00"},
    {"JOBID": "3", "STAT": "EXIT", "EXIT_REASON": "TERM_OWNER: x", "RES_REQ": "rusage[mem=2G/host]"},
    {"JOBID": "4", "STAT": "EXIT", "EXIT_CODE": "139", "MEMLIMIT": "2 G"},
    {"JOBID": "5", "STAT": "RUN", "FINISH_TIME": "Dec 28 20:56:00 2023 E", "START_TIME": "Dec  8 19:56:00 2023"},
    {"JOBID": "6", "STAT": "PEND", "RUN_TIME": "00:00:00", "RES_REQ": "rusage[tmp=1:mem=2G/task]", "SLOTS": "3"},
]


def test_how_jobs_end_and_what_they_ask_for(store, write):
    base = {"RUN_TIME": "00:01:00", "MAX_MEM": "1 Mbytes", "EXEC_HOST": "4*n1:n2:n2"}
    report = store.ingest([write("s.json", document([base | record for record in SMALL]))], IngestOptions())
    assert (report.rows, report.rejected) == (6, 0)
    frame = store.frame("s", [*NAMES, "time_limit_s", "start_time_s", "node"], finished_only=False)
    assert frame["status"].tolist() == [
        "out of memory (EXIT, TERM_MEMLIMIT)",
        "timed out (EXIT, TERM_RUNLIMIT)",
        "killed (EXIT, TERM_OWNER)",
        "failed (EXIT 139)",
        "running (RUN)",
        "pending (PEND)",
    ]
    np.testing.assert_array_equal(frame["requested_memory_bytes"] / GIB, [np.nan, np.nan, 4, 2, np.nan, 6])
    np.testing.assert_array_equal(frame["time_limit_s"], [np.nan, 600, *[np.nan] * 4])
    assert frame["start_time_s"][4] == 1_702_065_360
    assert set(frame["node"]) == {"n1+n2"}


@pytest.mark.parametrize("many", [json.dumps, lambda jobs: "\n".join(map(json.dumps, jobs))], ids=["list", "lines"])
def test_records_without_their_document(store, write, many):
    report = store.ingest([write("alone.json", many(week(9)))], IngestOptions())
    store.ingest([write("whole.json", document(week(9)))], IngestOptions())
    assert report.format == "lsf"
    names = [*NAMES, "time_limit_s"]
    pd.testing.assert_frame_equal(store.frame("alone", names), store.frame("whole", names))


def test_moments_without_a_year_are_not_known_and_said_so(store, write):
    records = [
        {"JOBID": "1", "STAT": "DONE", "START_TIME": "Dec 28 19:56", "RUN_TIME": "00:00:10", "MAX_MEM": "5 Mbytes"}
    ]
    report = store.ingest([write("s.json", document(records))], IngestOptions())
    assert {check.name: check.count for check in report.checks}["no year"] == 1
    frame = store.frame("s", ["duration_s", "start_time_s"])
    assert frame["duration_s"].tolist() == [10] and np.isnan(frame["start_time_s"][0])


def test_what_is_no_job_is_a_reject(store, write):
    records = [
        *week(3),
        {"JOBID": "9", "ERROR": "Job <9> is not found"},
        7,
        {"STAT": "DONE"},
        week(1)[0] | {"RUN_TIME": "x"},
    ]
    report = store.ingest([write("s.json", document(records))], IngestOptions())
    assert (report.rows, report.rejected) == (3, 4)
    assert "Job <9> is not found" in store.rejects("s")["reason"].tolist()


@pytest.mark.parametrize("cut", [30, 200])
def test_a_document_that_is_cut_off_is_refused(store, write, cut):
    with pytest.raises(TraceError, match="breaks off"):
        store.ingest([write("s.json", document(week(3))[:-cut])], IngestOptions())


def test_the_elements_of_an_array_are_runs_of_one_task(store, write):
    records = [each | {"JOB_NAME": f"align[{at + 1}]"} for at, each in enumerate(week(3))] + week(1)
    store.ingest([write("a.json", document(records))], IngestOptions())
    assert store.frame("a", ["task_name"], finished_only=False)["task_name"].tolist() == ["align"] * 4

"""One fault in a small accounting of PBS, Grid Engine, SWF or Borg: the run is right or its value missing, and told."""

from datetime import UTC, datetime

import numpy as np
import pytest

from tests.store.conftest import alone
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

FIRST, RUNS, AT = 1_790_000_000, 12, 5
LATE = FIRST + 36 * 365 * 86_400
NAN = np.nan
SOUND = {"duration_s": 3900, "requested_memory_bytes": 16 * GIB, "peak_memory_bytes": 4 * GIB, "cpu_usage_percent": 200}
NO_CPU, NO_PEAK = {"cpu_usage_percent": NAN}, {"peak_memory_bytes": NAN}
BAD, BOUNDS, ZERO, DURATION = "bad cells", "out of bounds", "use of zero", "duration of zero"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    with alone(Settings(home=folder / "home", data=folder, memory_limit_bytes=GIB)) as opened:
        yield opened


def hours(seconds):
    return f"{seconds // 3600:02}:{seconds % 3600 // 60:02}:{seconds % 60:02}"


def pbs(at, over):
    start, ran = FIRST + 1000 * at, 3600 + 60 * at
    told = {
        "jobname": "sort", "start": start, "exec_host": "n1/0*4", "Resource_List.mem": "16gb",
        "Resource_List.ncpus": 4, "end": start + ran, "Exit_status": 0, "resources_used.cput": hours(2 * ran),
        "resources_used.mem": f"{4 * 2**20}kb", "resources_used.walltime": hours(ran),
    }  # fmt: skip
    moment = datetime.fromtimestamp(start + ran, UTC).strftime("%m/%d/%Y %H:%M:%S")
    return f"{moment};E;{at}.srv;" + " ".join(f"{key}={value}" for key, value in (told | over).items())


def sge(at, over):
    start, ran = FIRST + 1000 * at, 3600 + 60 * at
    told = {
        "qname": "all.q", "hostname": "n1", "group": "users", "owner": "ann", "jobname": "sort.sh", "jobnumber": at,
        "account": "sge", "priority": 0, "qsub_time": start, "start_time": start, "end_time": start + ran, "failed": 0,
        "exit_status": 0, "ru_wallclock": ran, "ru_utime": 1.5, "ru_stime": 0.5, "ru_maxrss": 0,
        "others": ":".join("0" * 14), "project": "lab", "department": "d", "granted_pe": "smp", "slots": 4, "taskid": 0,
        "cpu": 2.0 * ran, "mem": 1.0, "io": 0.0, "category": "-l h_vmem=4G,h_rt=86400 -pe smp 4", "iow": 0.0,
        "pe_taskid": "NONE", "maxvmem": 4.0 * GIB, "arid": 0, "ar_submission_time": 0,
    }  # fmt: skip
    return ":".join(map(str, (told | over).values()))


def swf(at, over):
    told = {
        "job": at + 1, "submit": 1000 * at, "wait": 0, "run": 3600 + 60 * at, "procs": 4, "cpu": (3600 + 60 * at) / 2,
        "mem": 2**20, "rprocs": 4, "rtime": 86_400, "rmem": 4 * 2**20, "status": 1, "user": 3, "group": 1, "exe": 7,
        "queue": 1, "part": 1, "prec": -1, "think": -1,
    }  # fmt: skip
    return " ".join(map(str, (told | over).values()))


def borg(at, over):
    start, ran = 600 + 3600 * at, 3600 + 60 * at
    told = {
        "start_time": start * 10**6, "end_time": (start + ran) * 10**6, "collection_id": 330_000 + at,
        "instance_index": 0, "machine_id": 9, "request_cpus": 0.05, "request_memory": 16 * GIB / 1e12,
        "average_usage_cpus": 0.02, "average_usage_memory": 0.001, "maximum_usage_memory": 4 * GIB / 1e12,
        "event": "FINISH",
    }  # fmt: skip
    names = ",".join(told) + "\n" if not at else ""
    return names + ",".join(map(str, (told | over).values()))


MADE = {"pbs": (pbs, ""), "sge": (sge, "# Version: 8.1.9\n"), "borg": (borg, "")}
MADE["swf"] = swf, f"; Version: 2.2\n; UnixStartTime: {FIRST}\n"


def written(write, kind, over, ends="\n"):
    line_of, head = MADE[kind]
    text = head + "\n".join(line_of(at, over if at == AT else {}) for at in range(RUNS)) + "\n"
    return write(f"one.{kind}" if kind != "borg" else "one.csv", text.replace("\n", ends))


def run_of(store, report):
    frame = store.frame(report.dataset, [*SOUND], finished_only=False)[[*SOUND]]
    others = frame.drop(index=AT)[list(SOUND)[1:]]
    assert (others.to_numpy() == list(SOUND.values())[1:]).all()
    return frame.loc[AT].to_dict()


@pytest.mark.some(5)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("kind", MADE)
def test_without_a_fault_all_is_right(store, write, kind, ends):
    report = store.ingest([written(write, kind, {}, ends)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == (kind, RUNS, 0)
    assert {check.name for check in report.checks if check.level == "warning"} <= {"memory is an average"}
    assert run_of(store, report) == SOUND


@pytest.mark.some(7)
@pytest.mark.parametrize(
    ("kind", "over", "differs", "check"),
    [
        ("pbs", {"resources_used.mem": "0kb"}, NO_PEAK, ZERO),
        ("pbs", {"resources_used.mem": f"{2**63}kb"}, NO_PEAK, BOUNDS),
        ("pbs", {"resources_used.mem": "-4gb"}, NO_PEAK, BOUNDS),
        ("pbs", {"resources_used.mem": "8eb"}, NO_PEAK, BOUNDS),
        ("pbs", {"resources_used.cput": "00:00:00"}, NO_CPU, ZERO),
        ("pbs", {"resources_used.walltime": "00:00:00"}, NO_CPU, DURATION),
        ("pbs", {"resources_used.walltime": 3_900_000}, {}, "duration and times"),
        ("pbs", {"Resource_List.mem": "infinity"}, {"requested_memory_bytes": NAN}, BAD),
        ("pbs", {"Resource_List.ncpus": "1e308"}, {}, BOUNDS),
        ("pbs", {"Resource_List.ncpus": -4}, {}, BOUNDS),
        ("pbs", {"Resource_List.ncpus": "some"}, {}, BAD),
        ("pbs", {"start": 0}, {}, "zero time stamp"),
        ("pbs", {"start": 17_900}, {}, BOUNDS),
        ("pbs", {"end": LATE}, {}, "beyond the trace"),
        ("pbs", {"end": (FIRST + 8900) * 1000}, {}, "units disagree"),
        ("sge", {"maxvmem": 0}, NO_PEAK, ZERO),
        ("sge", {"maxvmem": -1}, NO_PEAK, BOUNDS),
        ("sge", {"maxvmem": 1.8e19}, NO_PEAK, BOUNDS),
        ("sge", {"maxvmem": "nan"}, NO_PEAK, BAD),
        ("sge", {"cpu": 0}, NO_CPU, ZERO),
        ("sge", {"cpu": 1e308}, NO_CPU, BOUNDS),
        ("sge", {"ru_wallclock": 0}, NO_CPU, DURATION),
        ("sge", {"ru_wallclock": 3_900_000}, {}, "duration and times"),
        ("sge", {"slots": 0}, {"requested_memory_bytes": NAN}, "slots of zero"),
        ("sge", {"slots": -1}, {"requested_memory_bytes": NAN}, BOUNDS),
        ("sge", {"slots": "x"}, {"requested_memory_bytes": NAN}, BAD),
        ("sge", {"category": "-l h_vmem=lots"}, {"requested_memory_bytes": NAN}, BAD),
        ("sge", {"category": "-l h_vmem=-4G"}, {"requested_memory_bytes": NAN}, BOUNDS),
        ("sge", {"category": "-l h_vmem=1e30G"}, {"requested_memory_bytes": NAN}, BOUNDS),
        ("sge", {"end_time": LATE}, {}, "beyond the trace"),
        ("sge", {"end_time": (FIRST + 8900) * 10**6}, {}, "units disagree"),
        ("swf", {"mem": 0}, NO_PEAK, ZERO),
        ("swf", {"mem": 2**63}, NO_PEAK, BOUNDS),
        ("swf", {"mem": -5}, NO_PEAK, "negative values"),
        ("swf", {"mem": 4 * GIB}, NO_PEAK, "a unit away"),
        ("swf", {"cpu": 0}, NO_CPU, ZERO),
        ("swf", {"wait": -50}, {}, "negative values"),
        ("swf", {"run": 1e12}, {"duration_s": NAN} | NO_CPU, BOUNDS),
        ("swf", {"run": -1}, {"duration_s": NAN} | NO_CPU, "no duration"),
        ("swf", {"submit": LATE - FIRST}, {}, "beyond the trace"),
        ("borg", {"maximum_usage_memory": 2}, NO_PEAK, BOUNDS),
        ("borg", {"maximum_usage_memory": 4 * GIB}, NO_PEAK, BOUNDS),
        ("borg", {"maximum_usage_memory": 0}, NO_PEAK, ZERO),
        ("borg", {"maximum_usage_memory": "Infinity"}, NO_PEAK, "not finite"),
        ("borg", {"maximum_usage_memory": "x"}, NO_PEAK, BAD),
        ("borg", {"average_usage_cpus": 50}, NO_CPU, BOUNDS),
        ("borg", {"request_memory": 1e308}, {"requested_memory_bytes": NAN}, BOUNDS),
        ("borg", {"end_time": 2**63 - 1}, {"duration_s": NAN}, "no duration"),
        ("borg", {"end_time": LATE * 10**6}, {"duration_s": NAN}, "beyond the trace"),
        ("borg", {"end_time": (600 + 3600 * AT + 3900) * 1000}, {"duration_s": NAN}, "end before start"),
        ("borg", {"end_time": (600 + 3600 * AT + 3900) * 10**9}, {"duration_s": 22_480_881_400}, "beyond the trace"),
    ],
)
def test_a_fault_is_told_and_changes_nothing_else(store, write, kind, over, differs, check):
    report = store.ingest([written(write, kind, over)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == (kind, RUNS, 0)
    found = next(each for each in report.checks if each.name == check)
    assert (found.level, found.count) == ("warning", 1)
    run = run_of(store, report)
    assert {name for name, value in run.items() if np.isnan(value)} == {
        name for name, value in differs.items() if np.isnan(value)
    }
    for name in {name for name in run if not np.isnan(run[name])} - differs.keys():
        assert run[name] == SOUND[name], name


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("kind", "over"),
    [
        *(("pbs", {"resources_used.walltime": told}) for told in ("-1:00:00", "1e400")),
        *(("sge", {"end_time": told}) for told in ("x", -1)),
        *(("swf", {"mem": told}) for told in ("nan", "inf", "x")),
        ("borg", {"start_time": "x"}),
    ],
)
def test_a_line_whose_times_are_none_is_rejected(store, write, kind, over):
    report = store.ingest([written(write, kind, over)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == (kind, RUNS - 1, 1)


@pytest.mark.parametrize("over", [{"category": "-l h_vmem=4G,h_rt=24:00:00 -pe smp 4"}, {"jobname": "a:b:c"}])
def test_colons_within_a_line_of_grid_engine_move_no_number(store, write, over):
    report = store.ingest([written(write, "sge", over)], IngestOptions())
    assert (report.rows, report.rejected) == (RUNS, 0)
    assert run_of(store, report) == SOUND
    names = ["job_name", "task_name", "time_limit_s"]
    assert store.frame(report.dataset, names)[names].loc[AT].tolist() == [
        str(AT),
        over.get("jobname", "sort.sh"),
        86_400,
    ]


def test_a_status_that_the_format_does_not_know_is_no_success(store, write):
    report = store.ingest([written(write, "swf", {"status": 9})], IngestOptions())
    frame = store.frame(report.dataset, ["status"], finished_only=False)
    assert (report.format, frame["status"][AT], len(store.frame(report.dataset, ["status"]))) == (
        "swf",
        "unknown (9)",
        11,
    )


@pytest.mark.parametrize("window", [{"end": LATE}, {"end": 2**63 / 1e6}, {"start": 0}])
def test_a_window_that_is_too_long_is_told_and_no_run_lasts_as_long(store, write, window):
    lines = []
    for at in range(4 * RUNS):
        told = {"start": 600 + 300 * (at % 4)} | (window if at == 4 * AT + 1 else {})
        told = {"end": 900 + 300 * (at % 4)} | told
        lines.append(
            f"{told['start'] * 10**6:.0f},{told['end'] * 10**6:.0f},{3_418_309 + at // 4},0,41,0.001,0.05,0.07,0.001,"
            "0.002,0.06,0,0.0003,0.02,0,2.9,0.008,1,0,0.001"
        )
    report = store.ingest([write("part-00000-of-00500.csv", "\n".join(lines) + "\n")], IngestOptions())
    assert (report.format, report.rows) == ("borg-2011-usage", RUNS)
    assert [check.count for check in report.checks if check.name == "long windows"] == [1]
    names = ["duration_s", "peak_memory_bytes", "mean_memory_bytes"]
    assert np.allclose(store.frame(report.dataset, names, finished_only=False)[names], [1200, 6e10, 5e10])

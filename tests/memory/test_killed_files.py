"""Kills for memory in files as tools write them: the plan never lowers what killed a run."""

import json

import pytest

from tests.command_line import run_here
from workprof.core.units import GIB, MIB

pytestmark = pytest.mark.slow

T0 = 1_714_557_600
COLUMNS = ("JobID", "JobName", "State", "ExitCode", "Elapsed", "ReqMem", "MaxRSS", "Submit", "Start", "End")


def sacct(killed, columns, n=80):
    """Jobs of two tasks that use 2 of 8 GiB, the last three of `sort` ended as `killed` says: line of job, of step."""
    lines = ["|".join(columns)]
    for at in range(2 * n):
        task, job = ("sort", "scan")[at % 2], 4000 + at
        bad = task == "sort" and at >= 2 * (n - 3)
        day, hour = 1 + at // 24, at % 24
        times = {"Submit": f"2026-05-{day:02}T{hour:02}:00:00", "Start": f"2026-05-{day:02}T{hour:02}:01:00"}
        times |= {"End": f"2026-05-{day:02}T{hour:02}:31:00", "Elapsed": "00:30:00"}
        own, step = killed if bad else (("COMPLETED", "0:0"), ("COMPLETED", "0:0", "2G"))
        run = {"JobID": f"{job}", "JobName": task, "State": own[0], "ExitCode": own[1], "ReqMem": "8G", "MaxRSS": ""}
        of_step = {"JobID": f"{job}.batch", "JobName": "batch", "State": step[0], "ExitCode": step[1]}
        for row in (run | times, of_step | {"ReqMem": "", "MaxRSS": step[2]} | times):
            lines.append("|".join(row[column] for column in columns))
    return "\n".join(lines) + "\n"


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "killed",
    [
        (("OUT_OF_MEMORY", "0:125"), ("OUT_OF_MEMORY", "0:125", "7900M")),
        (("OUT_OF_MEMORY", "0:125"), ("OUT_OF_MEMORY", "0:125", "")),
        (("FAILED", "9:0"), ("CANCELLED", "0:9", "9000M")),
    ],
    ids=["by the kernel", "before it was measured", "by accounting"],
)
@pytest.mark.parametrize("columns", [COLUMNS, (*COLUMNS[:2], *reversed(COLUMNS[2:]))], ids=["order", "other order"])
def test_a_text_of_sacct_with_kills_lowers_their_task_in_nothing(tmp_path, killed, columns):
    rows = memory_rows(tmp_path, sacct(killed, columns))
    assert rows["sort"]["size_gb"] * 1e9 >= 8 * GIB and rows["sort"]["action"] != "lower"
    assert 2 * GIB <= rows["scan"]["size_gb"] * 1e9 < 8 * GIB


@pytest.mark.parametrize("phase", [True, False])
def test_pods_that_were_killed_for_memory_are_lowered_in_nothing(tmp_path, phase):
    rows = memory_rows(tmp_path, pods(phase))
    assert rows["api"]["size_gb"] * 1e9 >= GIB and rows["api"]["action"] != "lower"
    assert 300 * MIB <= rows["web"]["size_gb"] * 1e9 <= 450 * MIB


def pods(phase):
    """Twelve pods of two services that use 300 MiB of 1 GiB for an hour; one of `api` was killed for memory."""
    told = []
    for at in range(24):
        service = ("api", "web")[at % 2]
        labels = {"namespace": "shop", "pod": f"{service}-5d8c7b9f4b-{'bcdfghjklmnp'[at // 2]}x7k2", "container": "app"}
        limit = {**labels, "resource": "memory"}
        told += [
            ("container_memory_working_set_bytes", labels, [300 * MIB] * 61),
            ("kube_pod_container_resource_requests", limit, [GIB] * 61),
            ("kube_pod_container_resource_limits", limit, [GIB] * 61),
        ]
        if phase:
            told.append(("kube_pod_status_phase", {**labels, "phase": "Running"}, [1] * 61))
        if at == 6:
            last = {**labels, "reason": "OOMKilled"}
            told.append(("kube_pod_container_status_last_terminated_reason", last, [0] * 30 + [1] * 31))
            told.append(("kube_pod_container_status_restarts_total", labels, [0] * 30 + [1] * 31))
    result = [
        {"metric": {"__name__": name, **labels}, "values": [[T0 + 60 * at, str(one)] for at, one in enumerate(values)]}
        for name, labels, values in told
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def memory_rows(folder, text):
    path = folder / ("trace.json" if text.startswith("{") else "trace.txt")
    path.write_text(text)
    loaded = run_here("ingest", path, "--json", home=folder / "home")
    assert loaded.status == 0, loaded.err
    planned = run_here("memory", "plan", "trace", "--json", home=folder / "home")
    assert planned.status == 0, planned.err
    return {row["task_name"]: row for row in planned.json["rows"] if row["resource"] == "memory"}

"""Public tables without a header, and the logs of two GPU clusters: told apart, in the right units, nothing lost."""

import base64
import gzip
import json

import numpy as np
import pandas as pd
import pytest

from tests.hostile_texts import TEXTS
from workprof.core.causes import OUT_OF_MEMORY, was_killed_for_memory
from workprof.core.errors import TraceError, WorkprofError
from workprof.memory.usage import evidence_of, with_killed
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

HOUR_S = 3600


def plain(frame, path):
    frame.to_csv(path, header=False, index=False)
    return path


def azure(n=3000, *, buckets=False):
    """Return a VM table as it is published."""
    rng = np.random.default_rng(3)
    created = rng.integers(0, 8000, n) * 300
    deleted = np.minimum(created + (rng.lognormal(9, 2, n) // 300 + 1).astype(np.int64) * 300, 2_591_700)
    cores, memory = (["2", "8", "24", ">24"], ["4", "32", "64", ">64"]) if buckets else ([1, 2, 16], [0.75, 3.5, 112.0])
    most = rng.uniform(0, 100, n).round(6)
    return pd.DataFrame(
        {
            "vm": [base64.b64encode(rng.bytes(48)).decode() for _ in range(n)],
            "subscription": [base64.b64encode(bytes([one]) * 48).decode() for one in rng.integers(0, 99, n)],
            "deployment": [base64.b64encode(bytes([one]) * 48).decode() for one in rng.integers(0, 255, n)],
            "created": created,
            "deleted": deleted,
            "max": most,
            "avg": (most * 0.3).round(6),
            "p95": (most * 0.8).round(6),
            "category": rng.choice(["Interactive", "Delay-insensitive", "Unknown"], n),
            "cores": rng.choice(cores, n),
            "memory": rng.choice(memory, n),
        }
    )


@pytest.mark.parametrize("buckets", [False, True])
def test_a_vm_table_of_azure(store, tmp_path, buckets):
    table = azure(buckets=buckets)
    path = plain(table, tmp_path / "vmtable.csv")
    packed = tmp_path / "vmtable.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    report = store.ingest([packed], IngestOptions())
    alive = (table["deleted"] == 2_591_700).to_numpy()
    assert (report.format, report.rows, report.rejected, report.running) == ("azure", 3000, 0, alive.sum())
    assert alive.sum() > 1
    hours = (table["deleted"] - table["created"])[~alive] / HOUR_S
    gb = table["memory"].replace(">64", "70").astype(float)[~alive]
    cores = table["cores"].replace(">24", "30").astype(float)[~alive]
    frame = store.frame(
        "vmtable", ["duration_s", "requested_memory_bytes", "requested_cpu_percent", "cpu_usage_percent", "user"]
    )
    assert len(frame) == (~alive).sum()
    assert frame["user"].nunique() == table["subscription"][~alive].nunique()
    own = frame["duration_s"] / HOUR_S
    assert (frame["requested_memory_bytes"] / 1e9 * own).sum() == pytest.approx((gb * hours).sum())
    assert (frame["requested_cpu_percent"] / 100 * own).sum() == pytest.approx((cores * hours).sum())
    assert (frame["cpu_usage_percent"] * own).sum() == pytest.approx((table["avg"][~alive] * cores * hours).sum())
    going = store.frame("vmtable", ["duration_s", "status"], finished_only=False)
    going = going[going["status"] == "running"]
    np.testing.assert_array_equal(going["duration_s"], 2_591_700 - table["created"][alive])
    assert store.ingest([path], IngestOptions()).already_loaded


def test_a_vm_table_with_a_header(store, tmp_path):
    names = "vmid,subscriptionid,deploymentid,vmcreated,vmdeleted,maxcpu,avgcpu,p95maxcpu,vmcategory,vmcorecountbucket"
    table = azure(200).set_axis([*names.split(","), "vmmemorybucket"], axis=1)
    table.to_csv(tmp_path / "vms.csv", index=False)
    report = store.ingest([tmp_path / "vms.csv"], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("azure-named", 200, 0)
    older = table.rename(columns={"vmcorecountbucket": "vmcorecount", "vmmemorybucket": "vmmemory"})
    older.to_csv(tmp_path / "older.csv", index=False)
    store.ingest([tmp_path / "older.csv"], IngestOptions())
    names = ["requested_memory_bytes", "requested_cpu_percent", "cpu_usage_percent"]
    old, new = (store.frame(name, names)[names] for name in ("older", "vms"))
    pd.testing.assert_frame_equal(old, new)


def test_times_of_the_packing_trace_are_days(store, tmp_path):
    path = tmp_path / "vm.csv"
    rows = ("0,7,2,1,0.25,1.5,0.125,0.5", "1,7,2,0,-7157.2,2,0.125,0.5", "2,8,3,0,1,,0.5,0.25")
    path.write_text("\n".join(["vmId,tenantId,vmTypeId,priority,starttime,endtime,core,memory", *rows]))
    report = store.ingest([path], IngestOptions(name="vm"))
    assert (report.format, report.rows, report.rejected, report.running) == ("azure-packing", 3, 0, 1)
    frame = store.frame("vm", ["start_time_s", "end_time_s", "duration_s"], finished_only=False)
    np.testing.assert_allclose(frame["start_time_s"], [21_600, np.nan, 86_400])
    np.testing.assert_allclose(frame["end_time_s"], [129_600, 172_800, np.nan])
    np.testing.assert_allclose(frame["duration_s"], [108_000, np.nan, 86_400])
    sizes = store.frame("vm", ["requested_memory_bytes"], finished_only=False)["requested_memory_bytes"]
    assert (sizes / sizes[0]).tolist() == [1, 1, 0.5]


def test_one_vm_that_ends_last_has_ended(store, tmp_path):
    table = azure(50)
    table["deleted"] = table["created"] + np.arange(1, 51) * 300
    table.loc[7, "deleted"] = 2_000_000_000
    report = store.ingest([plain(table, tmp_path / "v.csv")], IngestOptions())
    assert (report.rows, report.running) == (50, 0)


def test_a_broken_row_among_the_first_is_a_reject(store, tmp_path):
    table = azure(100).astype(object)
    table.loc[3, "created"], table.loc[7, "deleted"] = "never", ""
    report = store.ingest([plain(table.assign(vm=range(100)), tmp_path / "v.csv")], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("azure", 99, 1)
    assert store.rejects("v")["line"].tolist() == [4]
    assert store.frame("v", ["status"], finished_only=False)["status"].tolist()[6] == "running"


def batch_tasks(n=3000):
    rng = np.random.default_rng(4)
    start = rng.integers(80_000, 600_000, n)
    state = rng.choice(["Terminated", "Failed", "Running", "Waiting"], n, p=[0.8, 0.1, 0.05, 0.05])
    end = np.where(np.isin(state, ["Running", "Waiting"]), 0, start + rng.integers(1, 9000, n))
    return pd.DataFrame(
        {
            "task": np.where(rng.random(n) < 0.5, "M1", "task_Nzg3ODAwNDgzMTAwNTc2NTQ2Mw=="),
            "instances": rng.integers(1, 500, n),
            "job": [f"j_{one}" for one in rng.integers(0, n // 2, n)],
            "type": rng.integers(1, 13, n),
            "status": state,
            "start": np.where(state == "Waiting", 0, start),
            "end": end,
            "cpu": rng.choice([50.0, 100.0, np.nan], n),
            "memory": rng.uniform(0.1, 5, n).round(2),
        }
    )


def test_tasks_of_alibaba(store, tmp_path):
    table = batch_tasks()
    report = store.ingest([plain(table, tmp_path / "batch_task.csv")], IngestOptions())
    count = table["status"].value_counts()
    assert (report.format, report.rows, report.rejected) == ("alibaba-tasks", 3000, 0)
    assert (report.running, report.never_started) == (count["Running"], count["Waiting"])
    done = table[table["status"] == "Terminated"]
    frame = store.frame("batch_task", ["job_name", "duration_s", "requested_memory_bytes", "requested_cpu_percent"])
    assert (len(frame), frame["job_name"].nunique()) == (len(done), done["job"].nunique())
    wanted = (done["memory"] / 100 * (done["end"] - done["start"])).sum() / HOUR_S
    got = (frame["requested_memory_bytes"] * frame["duration_s"]).sum() / HOUR_S / 1e12
    assert got == pytest.approx(wanted)
    assert [(one.resource, one.whole_machine) for one in report.machine_shares] == [("memory", 1000.0)]
    np.testing.assert_array_equal(frame["requested_cpu_percent"], done["cpu"])


def test_instances_of_alibaba_with_and_without_a_header(store, tmp_path):
    rng = np.random.default_rng(5)
    n = 3000
    start, mean = rng.integers(80_000, 600_000, n), rng.uniform(0, 2, n).round(3)
    mean[:20] = -1
    table = pd.DataFrame(
        {
            "instance_name": [f"ins_{at}" for at in range(n)], "task_name": "M1", "job_name": "j_1", "task_type": 1,
            "status": "Terminated", "start_time": start, "end_time": start + rng.integers(0, 9000, n),
            "machine_id": "m_9", "seq_no": 1, "total_seq_no": 1, "cpu_avg": rng.integers(1, 99, n), "cpu_max": 100,
            "mem_avg": mean, "mem_max": np.where(mean < 0, 101, mean * 2),
        }
    )  # fmt: skip
    report = store.ingest([plain(table, tmp_path / "batch_instance.csv")], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("alibaba-instances", n, 0)
    frame = store.frame("batch_instance", ["duration_s", "mean_memory_bytes", "peak_memory_bytes", "cpu_usage_percent"])
    seconds = (table["end_time"] - table["start_time"])[20:]
    got = (frame["peak_memory_bytes"] * frame["duration_s"]).sum() / 1e12
    assert got == pytest.approx((table["mem_max"][20:] / 100 * seconds).sum())
    assert frame["mean_memory_bytes"].isna().sum() == frame["peak_memory_bytes"].isna().sum() == 20
    table.to_csv(tmp_path / "named.csv", index=False)
    assert store.ingest([tmp_path / "named.csv"], IngestOptions()).format == "alibaba-instances-named"
    again = store.frame("named", ["peak_memory_bytes"])["peak_memory_bytes"]
    np.testing.assert_array_equal(again, frame["peak_memory_bytes"])


def builds(n=240):
    rng = np.random.default_rng(11)
    profile = rng.choice(["linuxx86_64-gcc-debug", "linuxaarch64-gcc-release"], n)
    moment = pd.Timestamp("2025-04-30 00:36:24.798") + pd.to_timedelta(np.cumsum(rng.integers(1, 4000, n)), unit="s")
    return pd.DataFrame(
        {
            "atom_id": [f"{at:040x}" for at in range(n)],
            "time": [f"{one:%Y-%m-%d %H:%M:%S}.798000" for one in moment],
            "location": rng.choice(["location_0", "location_1"], n),
            "memory_fail_count": np.where(rng.random(n) < 0.1, rng.integers(1, 10**8, n), 0),
            "branch": rng.choice(["main", "release"], n),
            "buildProfile": profile,
            "jobs": 500,
            "localJobs": 36,
            "makeType": "opt",
            "targets": rng.choice(["all,dist", "barrier_hex"], n),
            "component": "component_0",
            "ts_phase": "building",
            "ts_status": rng.choice(["ok", "unstable", "failed"], n, p=[0.7, 0.2, 0.1]),
            "cgroup": "/doit/atom/x",
            "max_rss": rng.integers(10**9, 10**11, n),
            "max_cache": rng.integers(10**9, 10**11, n),
            "memreq": rng.choice([156_672, 328_704], n),
        }
    )


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_builds_of_a_ci_system(store, tmp_path, order):
    table = builds().assign(reviewer="r-1")
    table.iloc[:, order].to_csv(tmp_path / "b.csv", sep=";", index=False)
    report = store.ingest([tmp_path / "b.csv"], IngestOptions())
    assert (report.format, report.rows, report.rejected, report.lost) == ("sap-build", 240, 0, 0)
    ran_out = table["memory_fail_count"] > 0
    told = {check.name: check.count for check in report.checks}
    wanted = {"no run times": 240, "start or end": 240, "memory ran out": ran_out.sum()}
    assert wanted.items() <= told.items()
    frame = store.frame("b", [one.name for one in store.columns("b")], finished_only=False)
    np.testing.assert_array_equal(frame["requested_memory_bytes"], table["memreq"] * 2.0**20)
    np.testing.assert_array_equal(frame["peak_memory_bytes"], table["max_rss"])
    seconds = (pd.to_datetime(table["time"]) - pd.Timestamp(0)).dt.total_seconds()
    np.testing.assert_allclose(frame["start_time_s"], seconds, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(frame["finished"], table["ts_status"] != "failed")
    np.testing.assert_array_equal(was_killed_for_memory(frame), ran_out)
    assert frame["task_name"].tolist() == (table["buildProfile"] + " " + table["targets"]).tolist()
    kept = ["memory_fail_count", "buildProfile", "targets", "jobs", "localJobs", "makeType", "ts_phase", "cgroup"]
    for name in (*kept, "max_cache", "reviewer"):
        assert frame[name].tolist() == table[name].tolist(), name
    fields = {"job_name": "atom_id", "cluster": "location", "group": "branch", "workload": "component"}
    for field, column in (fields | {"status": "ts_status"}).items():
        assert frame[field].tolist() == table[column].tolist(), field


def test_builds_that_met_their_limit_are_kills_of_a_sizing(store, tmp_path):
    table = builds()
    table.drop(columns=["targets", "ts_status"]).to_csv(tmp_path / "b.csv", sep=";", index=False)
    assert (
        store.ingest([tmp_path / "b.csv"], IngestOptions(format="build-data")).format == "sap-build"
    )  # as it was called
    frame = store.frame("b", [one.name for one in store.columns("b")], finished_only=False)
    assert frame["task_name"].tolist() == table["buildProfile"].tolist()
    ran_out = (table["memory_fail_count"] > 0).to_numpy()
    (evidence,) = evidence_of(frame, "peak_rss")
    assert (evidence.cause, evidence.n_runs, evidence.n_bounds) == (OUT_OF_MEMORY, ran_out.sum(), ran_out.sum())
    known = with_killed(frame, "peak_rss")
    limits = known["peak_memory_bytes"].to_numpy()[-ran_out.sum() :]
    assert (limits > (table["memreq"] * 2.0**20)[ran_out].to_numpy()).all()
    assert evidence.requested_gb_h == pytest.approx((table["memreq"] * 2.0**20)[ran_out].sum() / 1e9)


def test_a_log_of_helios(store, tmp_path):
    rng = np.random.default_rng(6)
    n = 2000
    submit = pd.Timestamp("2020-06-09 18:41:01") + pd.to_timedelta(rng.integers(0, 9_000_000, n), unit="s")
    start = submit + pd.to_timedelta(rng.integers(0, 9000, n), unit="s")
    seconds = rng.integers(0, 700_000, n)
    table = pd.DataFrame(
        {
            "job_id": np.arange(1_425_511, 1_425_511 + n), "user": "uXBbc", "vc": rng.choice(["vcJkd", "vchbv"], n),
            "gpu_num": rng.integers(0, 9, n), "cpu_num": rng.integers(1, 33, n), "node_num": 1,
            "state": rng.choice(["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"], n),
            "submit_time": submit, "start_time": start, "end_time": start + pd.to_timedelta(seconds, unit="s"),
            "duration": seconds, "queue": (start - submit).total_seconds().astype(int),
        }
    )  # fmt: skip
    table.to_csv(tmp_path / "cluster_log.csv", index=False)
    report = store.ingest([tmp_path / "cluster_log.csv"], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("helios", n, 0)
    done = table[table["state"] == "COMPLETED"]
    names = ["duration_s", "requested_gpu_percent", "requested_cpu_percent", "start_time_s", "submit_time_s"]
    frame = store.frame("cluster_log", names)
    np.testing.assert_array_equal(frame["duration_s"], done["duration"])
    np.testing.assert_array_equal(frame["requested_gpu_percent"], 100 * done["gpu_num"])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], 100 * done["cpu_num"])
    np.testing.assert_array_equal(frame["start_time_s"] - frame["submit_time_s"], done["queue"])
    assert frame["start_time_s"].iloc[0] == done["start_time"].iloc[0].timestamp()


def attempt(start, end, *machines):
    detail = [{"ip": f"m{at}", "gpus": [f"gpu{one}" for one in range(count)]} for at, count in enumerate(machines)]
    return {"start_time": start, "end_time": end, "detail": detail}


def job(name, status, *attempts):
    about = {"vc": "ee9e8c", "user": "ce2f4c", "submitted_time": "2017-10-07 01:00:00"}
    return {"status": status, "jobid": name, "attempts": list(attempts)} | about


LOG = [
    job("a1", "Pass", attempt("2017-10-07 01:10:00", "2017-10-07 01:20:00", 8),
        attempt("2017-10-07 02:00:00", "2017-10-07 05:00:00", 8, 4)),
    job("a2", "Killed", attempt("2017-10-07 01:10:00", "2017-10-07 03:10:00", 1)),
    job("a3", "Killed"),
    job("a4", "Pass", attempt("2017-10-07 04:00:00", None, 2)),
    job("a5", "Failed", attempt("None", "2017-10-07 03:10:00", 1)),
]  # fmt: skip


@pytest.mark.parametrize("indent", [None, 4])
def test_a_log_of_philly(store, write, indent):
    report = store.ingest([write("cluster_job_log", json.dumps(LOG, indent=indent))], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("philly", 6, 0)
    assert (report.running, report.never_started) == (1, 1)
    found = {check.name: check.count for check in report.checks}
    assert (found["attempts"], found["jobs without attempts"]) == (1, 1)
    names = ["job_name", "attempt", "status", "duration_s", "requested_gpu_percent", "node", "submit_time_s"]
    frame = store.frame("cluster_job_log", names, finished_only=False)
    assert frame["job_name"].tolist() == ["a1", "a1", "a2", "a3", "a4", "a5"]
    assert frame["status"].tolist() == ["Failed", "Pass", "Killed", "Killed", "running", "Failed"]
    assert frame["finished"].tolist() == [False, True, False, False, False, False]
    np.testing.assert_array_equal(frame["duration_s"], [600, 10_800, 7200, np.nan, 3600, np.nan])
    np.testing.assert_array_equal(frame["requested_gpu_percent"], [800, 1200, 100, np.nan, 200, 100])
    assert frame["node"].tolist()[:3] == ["m0", "m0,m1", "m0"]
    assert frame["submit_time_s"][0] == 1_507_338_000


def test_jobs_that_are_none_are_rejects_and_a_log_that_is_cut_off_is_refused(store, write):
    odd = [*LOG, "no job", {**LOG[0], "attempts": "none"}, {**LOG[0], "attempts": [1]}, {**LOG[1], "detail": 7}]
    text = "[\n" + ",\n".join(json.dumps(one) for one in odd) + "\n]\n"
    report = store.ingest([write("odd.json", text)], IngestOptions(name="odd"))
    assert (report.rows, report.rejected) == (7, 3)
    assert store.rejects("odd")["line"].tolist() == [7, 8, 9]
    with pytest.raises(TraceError, match="breaks off"):
        store.ingest([write("cut.json", text[:-40])], IngestOptions())
    with pytest.raises(TraceError, match="breaks off"):
        store.ingest([write("deep.json", json.dumps(LOG)[:-1] + "," + "[" * 100_000)], IngestOptions())


def test_hostile_names_load_as_they_are(store, tmp_path, write):
    texts = [text for text in TEXTS if "\r" not in text]
    jobs = [{**LOG[1], "jobid": text, "user": text} for text in texts]
    assert store.ingest([write("log", json.dumps(jobs))], IngestOptions(name="log")).rows == len(texts)
    table = batch_tasks(len(texts)).assign(task=texts)
    report = store.ingest([plain(table, tmp_path / "t.csv")], IngestOptions(format="alibaba-tasks", name="tasks"))
    assert report.rows + report.rejected == len(texts)


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ("a,b,c,1,2,3,1,2,Interactive,4,eight\n" * 3, "generic"),
        ("a,b,c,9,2,3,1,2,Interactive,4,8\n" * 3, "generic"),
        ("a,b,c,1,2,3,1,2,Batch,4,8\n" * 3, "generic"),
        ("M1,1,j_1,1,Terminated,1,2,100,0.5,x\n" * 3, "generic"),
        ("M1,1,j_1,1,Terminated,1,2,100,500\n" * 3, "generic"),
        ("M1,1,j_1,1,COMPLETE,1,2,100,0.5\n" * 3, "generic"),
        ("job_id,user,state\n1,u,COMPLETED\n", "generic"),
        ('{"status": "Pass", "vc": "a", "jobid": "b"}\n', "generic"),
    ],
)
def test_others_tables_stay_what_they_are(store, write, lines, kind):
    assert store.detect([write("other.csv", lines)]) == kind


@pytest.mark.some(3)
@pytest.mark.parametrize("make", [lambda: azure(60), lambda: batch_tasks(60)])
@pytest.mark.parametrize("wrong", ["x" * 100, "9" * 400, "1e999", "'; DROP TABLE catalogue; --", "\x00"])
def test_what_is_no_time_is_a_reject_with_its_line(store, write, tmp_path, make, wrong):
    table = make().astype(object)
    lines = plain(table, tmp_path / "sound.csv").read_text().splitlines()
    kind = store.detect([tmp_path / "sound.csv"])
    cells = lines[40].split(",")
    cells[4 if kind == "azure" else 5] = wrong
    lines[40] = ",".join(cells)
    try:
        report = store.ingest([write("bad.csv", "\n".join(lines) + "\n")], IngestOptions(format=kind, name="bad"))
    except WorkprofError:
        assert "\x00" in wrong
        return
    rejected = store.rejects("bad")
    assert report.rows + report.rejected == 60
    assert wrong == "1e999" or rejected["line"].tolist() == [41]


@pytest.mark.soak
@pytest.mark.slow
def test_a_long_table_keeps_the_order_of_its_rows(store, tmp_path):
    table = pd.concat([azure(3000)] * 100, ignore_index=True)
    table["vm"] = [f"vm-{at}" for at in range(len(table))]
    report = store.ingest([plain(table, tmp_path / "long.csv")], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("azure", 300_000, 0)
    frame = store.frame("long", ["job_name"], finished_only=False)
    assert frame["job_name"].tolist() == table["vm"].tolist()

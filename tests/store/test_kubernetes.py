"""Pods as kubectl prints them: one run per pod, requests as the scheduler counts them, states, all shapes of a list."""

import copy
import gzip
import io
import json
import random
from datetime import UTC, datetime

import numpy as np
import pytest

from tests.hostile_texts import TEXTS
from workprof.core.causes import cause_of
from workprof.core.errors import TraceError
from workprof.core.units import GIB, MIB
from workprof.formats import kubernetes, kubernetes_objects, kubernetes_rows
from workprof.formats.declare import Given, Read, Remark
from workprof.formats.kubernetes_rows import made_of
from workprof.formats.pod_tasks import Ends, work_of
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

PRINTED = """\
{
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "creationTimestamp": "2024-05-26T10:00:00Z",
                "generateName": "align-28612345-",
                "labels": {"app": "align", "example.com/team": "genomics", "user": "ann"},
                "name": "align-28612345-x7k2p",
                "namespace": "lab",
                "ownerReferences": [
                    {"apiVersion": "batch/v1", "controller": true, "kind": "Job", "name": "align-28612345", "uid": "j"}
                ],
                "uid": "0001"
            },
            "spec": {
                "activeDeadlineSeconds": 86400,
                "containers": [
                    {"name": "main", "resources": {"limits": {"memory": "16Gi"},
                                                   "requests": {"cpu": "500m", "memory": "8Gi"}}},
                    {"name": "log", "resources": {"limits": {"cpu": "250m", "memory": "512Mi"}}}
                ],
                "initContainers": [{"name": "fetch", "resources": {"requests": {"cpu": "2", "memory": "1G"}}}],
                "nodeName": "node-7",
                "restartPolicy": "Never"
            },
            "status": {
                "containerStatuses": [
                    {"name": "main", "restartCount": 0, "state": {"terminated": {"exitCode": 0, "reason": "Completed",
                     "startedAt": "2024-05-26T10:02:10Z", "finishedAt": "2024-05-26T12:02:00Z"}}, "lastState": {}},
                    {"name": "log", "restartCount": 0, "state": {"terminated": {"exitCode": 0, "reason": "Completed",
                     "startedAt": "2024-05-26T10:02:10Z", "finishedAt": "2024-05-26T12:02:30Z"}}, "lastState": {}}
                ],
                "phase": "Succeeded",
                "qosClass": "Burstable",
                "startTime": "2024-05-26T10:02:00Z"
            }
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "creationTimestamp": "2024-05-26T10:00:00Z",
                "labels": {"hub.jupyter.org/username": "bob"},
                "name": "train-0",
                "namespace": "ml",
                "ownerReferences": [{"kind": "StatefulSet", "name": "train", "controller": true}],
                "uid": "0002"
            },
            "spec": {
                "containers": [{"name": "c", "resources": {"limits": {"memory": "1500M", "nvidia.com/gpu": "2"},
                                                           "requests": {"memory": "1500M", "nvidia.com/gpu": "2"}}}],
                "nodeSelector": {"nvidia.com/gpu.product": "A100"}
            },
            "status": {
                "containerStatuses": [{"name": "c", "restartCount": 0, "lastState": {}, "state": {"terminated":
                    {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2024-05-26T10:00:05Z",
                     "finishedAt": "2024-05-26T10:10:00Z"}}}],
                "phase": "Failed",
                "startTime": "2024-05-26T10:00:00Z"
            }
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "creationTimestamp": "2024-05-20T00:00:00Z",
                "labels": {"pod-template-hash": "5d4f8c9b7c"},
                "name": "web-5d4f8c9b7c-abcde",
                "namespace": "web",
                "ownerReferences": [{"kind": "ReplicaSet", "name": "web-5d4f8c9b7c", "controller": true}],
                "uid": "0003"
            },
            "spec": {
                "containers": [{"name": "c", "resources": {"requests": {"cpu": "0.1", "memory": "2e9"}}}],
                "initContainers": [{"name": "mesh", "restartPolicy": "Always",
                                    "resources": {"requests": {"cpu": "100m", "memory": "100Mi"}}}]
            },
            "status": {
                "containerStatuses": [{"name": "c", "restartCount": 3,
                    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled",
                                  "startedAt": "2024-05-25T00:00:00Z", "finishedAt": "2024-05-25T10:00:00Z"}},
                    "state": {"running": {"startedAt": "2024-05-25T10:00:20Z"}}}],
                "phase": "Running",
                "startTime": "2024-05-20T00:00:02Z"
            }
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"creationTimestamp": "2024-05-26T10:00:00Z", "name": "gone", "namespace": "lab", "uid": "4"},
            "spec": {"containers": [{"name": "c", "resources": {}}]},
            "status": {
                "conditions": [{"lastTransitionTime": "2024-05-26T10:30:00Z", "status": "True",
                                "type": "DisruptionTarget"}],
                "message": "The node was low on resource: memory.", "phase": "Failed", "reason": "Evicted",
                "startTime": "2024-05-26T10:00:01Z"
            }
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"creationTimestamp": "2024-05-26T10:00:00Z", "name": "waits", "namespace": "lab", "uid": "5"},
            "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "4", "memory": "64Gi"}}}],
                     "overhead": {"cpu": "250m", "memory": "120Mi"}},
            "status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
                       "phase": "Pending"}
        }
    ],
    "kind": "List",
    "metadata": {"resourceVersion": ""}
}
"""


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_a_list_as_kubectl_prints_it(store, write):
    report = store.ingest([write("pods.json", PRINTED)], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected) == ("kubernetes", 7, 7, 0)
    names = ["job_name", "task_name", "user", "group", "workload", "namespace", "container", "node", "gpu_type"]
    names += ["status", "submit_time_s", "start_time_s", "end_time_s", "duration_s", "requested_cpu_percent"]
    names += ["requested_memory_bytes", "requested_gpu_percent", "time_limit_s", "memory_limit", "restarts"]
    names += ["out_of_memory_kills", "owner_kind", "reason", "pod_memory_request", "init_container"]
    frame = store.frame("pods", names, finished_only=False)
    align, web = "align-28612345-x7k2p", "web-5d4f8c9b7c-abcde"
    assert frame["job_name"].tolist() == [align, align, "train-0", web, web, "gone", "waits"]
    assert frame["container"].tolist() == ["main", "log", "c", "c", "mesh", "c", "c"]
    assert frame["task_name"].tolist() == ["align/main", "align/log", "train", "web/c", "web/mesh", "gone", "waits"]
    assert frame["init_container"].isna().tolist() == [True, True, True, True, False, True, True]
    assert frame["owner_kind"].tolist()[1:5] == ["CronJob", "StatefulSet", "Deployment", "Deployment"]
    assert frame["workload"].tolist() == ["align", "align", "train", "web", "web", "gone", "waits"]
    assert frame["namespace"].tolist() == ["lab", "lab", "ml", "web", "web", "lab", "lab"]
    states = ["Succeeded", "Succeeded", "OOMKilled", "Running", "Running", "Evicted", "Pending"]
    assert frame["status"].tolist() == states
    assert (frame["user"][0], frame["user"][2], frame["group"][0]) == ("ann", "bob", "genomics")
    assert (frame["node"][0], frame["gpu_type"][2], frame["reason"][2]) == ("node-7", "A100", "OOMKilled")
    np.testing.assert_array_equal(
        frame["duration_s"], [7230, 7230, 600, 561_748, 561_748, 1799, np.nan]
    )  # the pod of the web runs to the last moment
    np.testing.assert_array_equal(frame["start_time_s"][1:3], [at("2024-05-26T10:02:00Z"), at("2024-05-26T10:00:00Z")])
    assert np.isnan(frame["start_time_s"][6]) and np.isnan(frame["end_time_s"][3])
    asked = [8 * GIB, 512 * MIB, 1.5e9, 2e9, 100 * MIB, np.nan, 64 * GIB + 120 * MIB]
    np.testing.assert_array_equal(frame["requested_memory_bytes"], asked)
    whole = [8 * GIB + 512 * MIB] * 2 + [1.5e9] + [2e9 + 100 * MIB] * 2 + [np.nan, 64 * GIB + 120 * MIB]
    np.testing.assert_array_equal(frame["pod_memory_request"], whole)
    np.testing.assert_allclose(frame["requested_cpu_percent"], [50, 25, np.nan, 10, 10, np.nan, 425])
    np.testing.assert_array_equal(frame["requested_gpu_percent"], [np.nan, np.nan, 200, *[np.nan] * 4])
    assert (frame["time_limit_s"][0], frame["memory_limit"][0], frame["memory_limit"][1]) == (
        86_400,
        16 * GIB,
        512 * MIB,
    )
    assert frame["restarts"].tolist() == [0, 0, 0, 3, 0, 0, 0]
    assert frame["out_of_memory_kills"].tolist() == [0, 0, 1, 1, 0, 0, 0]
    checks = {check.name: check.count for check in report.checks}
    assert (checks["killed for memory"], checks["restarts"], checks["several containers"]) == (2, 1, 2)
    assert store.dataset("pods").finished_rows == 2


PODS = json.loads(PRINTED)["items"]
BARE = [{key: value for key, value in pod.items() if key not in ("kind", "apiVersion")} for pod in PODS]
SHAPES = {
    "list": json.dumps({"apiVersion": "v1", "items": PODS, "kind": "List", "metadata": {"resourceVersion": ""}}),
    "raw": json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": BARE}),
    "array": json.dumps(PODS, indent=1),
    "lines": "".join(json.dumps(pod) + "\n" for pod in PODS),
    "documents": "\n".join(json.dumps(pod, indent=4) for pod in PODS),
    "two lists": "".join(json.dumps({"kind": "List", "items": part}) + "\n" for part in (PODS[:2], PODS[2:])),
    "watched": "".join(json.dumps({"type": "ADDED", "object": pod}) + "\n" for pod in PODS),
    "windows": "\ufeff" + PRINTED.replace("\n", "\r\n"),
}


@pytest.mark.some(5)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("packed", [False, True])
def test_every_shape_of_a_list_gives_the_same_rows(store, write, shape, packed):
    first = store.ingest([write("first.json", PRINTED)], IngestOptions())
    content = SHAPES[shape].encode()
    path = write("again.json.gz" if packed else "again.json", gzip.compress(content) if packed else content)
    report = store.ingest([path], IngestOptions(name="again"))
    assert (report.format, report.rows, report.rejected) == ("kubernetes", 7, 0)
    names = ["job_name", "status", "duration_s", "requested_memory_bytes", "requested_cpu_percent", "user"]
    same = store.frame(report.dataset, names, finished_only=False)
    assert same.equals(store.frame(first.dataset, names, finished_only=False))


@pytest.mark.parametrize("turn", [1, -1])
def test_one_pod_and_the_latest_telling_of_a_pod_that_is_told_of_twice(store, write, turn):
    running, ended = copy.deepcopy(PODS[0]), PODS[0]
    running["status"] = {"phase": "Running", "startTime": "2024-05-26T10:02:00Z"}
    one = store.ingest([write("one.json", json.dumps(ended, indent=4))], IngestOptions())
    assert (one.format, one.rows) == ("kubernetes", 2)
    lists = [json.dumps({"kind": "List", "items": [pod, PODS[1]]}) for pod in (running, ended)[::turn]]
    paths = [write(f"at-{number}.json", text) for number, text in enumerate(lists)]
    report = store.ingest(paths, IngestOptions(name="both"))
    assert (report.rows, {check.name: check.count for check in report.checks}["told again"]) == (3, 2)
    frame = store.frame("both", ["job_name", "status", "duration_s"], finished_only=False)
    assert frame["status"].tolist() == ["Succeeded", "Succeeded", "OOMKilled"]
    assert frame["duration_s"].tolist() == [7230, 7230, 600]


def test_many_pods_do_not_all_wait_for_a_later_telling():
    lines = "".join(json.dumps(pod) + "\n" for pod in (*PODS[:3], PODS[0], PODS[0]))
    found = list(kubernetes.read([Given("pods.json", io.BytesIO(lines.encode()))], most_held=2))
    assert [item.line for item in found if isinstance(item, Read)] == [1, 1, 2, 3, 3, 4, 4, 5, 5]
    told = {item.name: item.count for item in found if isinstance(item, Remark)}
    assert told["told again late"] == 2


def running(name, namespace="lab", hour=10, **more):
    started = f"2024-05-26T{hour}:00:00Z"
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": name, "creationTimestamp": started},
        "spec": {"containers": [{"name": "c", "resources": {}}]},
        "status": {"phase": "Running", "startTime": started, "containerStatuses": [
            {"name": "c", "state": {"running": {"startedAt": started}}}]},
        **more,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("first", "then", "until"),
    [
        ([running("web"), running("gone")], [running("web"), running("new", hour=15)], "2024-05-26T10:00:00Z"),
        ([running("web"), running("gone"), running("last", hour=12)], [running("web")] * 2, None),  # not later
        ([running("gone")], [running("new", hour=15)], None),  # lists of other pods, for all that is known
        ([running("web"), running("gone", "own")], [running("web"), running("new", hour=15)], None),
        ([running("web"), running("gone", "own")], [running("web"), running("new", "b", 15)], "2024-05-26T10:00:00Z"),
    ],
)
def test_a_pod_that_is_in_no_later_list_ran_until_the_last_one_that_has_it(first, then, until):
    files = [
        Given(f"{at}.json", io.BytesIO(json.dumps({"kind": "List", "items": pods}).encode()))
        for at, pods in enumerate((first, then))
    ]
    found = list(kubernetes.read(files))
    seen = {each.cells[kubernetes.COLUMNS.index("pod")]: each.cells[-1] for each in found if isinstance(each, Read)}
    told = [each.count for each in found if isinstance(each, Remark) and each.name == "in no later list"]
    assert (seen["gone"], told) == ((at(until), [1]) if until else (None, []))
    assert seen["web" if "web" in seen else "new"] is None


def test_pods_of_one_name_in_two_namespaces_are_two_jobs_and_other_objects_are_told(store, write):
    first, second = copy.deepcopy(PODS[1]), copy.deepcopy(PODS[1])
    second["metadata"] |= {"namespace": "other", "uid": "9"}
    service = {"kind": "Service", "metadata": {"name": "s"}, "spec": {}}
    text = json.dumps({"kind": "List", "items": [service, first, second]})
    report = store.ingest([write("all.json", text)], IngestOptions())
    assert store.frame("all", ["job_name"], finished_only=False)["job_name"].tolist() == ["train-0", "other/train-0"]
    checks = {check.name: check.count for check in report.checks}
    assert (checks["other objects"], checks["names of several namespaces"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "number"),
    {
        "16Gi": 16 * GIB,
        "1500M": 1.5e9,
        "2e9": 2e9,
        "100Mi": 100 * MIB,
        "0.5": 0.5,
        "500m": 0.5,
        "128974848000m": 128974848.0,
        "1E": 1e18,
        "12E2": 1200.0,
        "3k": 3000.0,
        "250000000n": 0.25,
        "1.5Gi": 1.5 * GIB,
    }.items(),
)
def test_quantities(text, number):
    assert kubernetes_objects.quantity(text) == pytest.approx(number, rel=1e-12)


@pytest.mark.parametrize("text", ["", "Gi", "16 GB", "1,5Gi", "-1", "1e400", "16gi", "0x10", "9" * 100, "nan", "٣"])
def test_no_quantities(text):
    assert np.isnan(kubernetes_objects.quantity(text))


@pytest.mark.parametrize(
    ("kind", "name", "task"),
    [
        ("Job", "align", "align"),
        ("Job", "backup-28612345", "backup"),
        ("Job", "backup-1606000000", "backup"),
        ("Job", "train-x7k2p", "train"),
        ("Job", "train-model", "train-model"),
        ("Job", "step-24567", "step-24567"),
        ("ReplicaSet", "web-5d4f8c9b7c", "web"),
        ("DaemonSet", "node-xprtr", "node-xprtr"),
        ("Workflow", "sweep-4xz7q", "sweep"),
    ],
)
def test_the_task_is_the_owner_without_its_random_end(kind, name, task):
    metadata = {"name": "p", "ownerReferences": [{"kind": kind, "name": name, "controller": True}]}
    assert work_of("p", made_of(metadata), {}, Ends([name])).workload == task


def generated(rng: random.Random, number: int) -> tuple[dict, dict]:
    """Return a pod, and what is true of it, reckoned with plain integers."""
    start = 1_700_000_000 + rng.randrange(10**6)
    duration, phase = rng.randrange(1, 10**5), rng.choice(["Succeeded", "Succeeded", "Failed", "Running"])
    mib = [rng.choice([None, rng.randrange(1, 2000)]) for _ in range(rng.randrange(1, 4))]
    inits = [rng.randrange(1, 5000) for _ in range(rng.randrange(3))]

    def container(amount, place):
        return {"name": f"c{place}", "resources": {} if amount is None else {"requests": {"memory": f"{amount}Mi"}}}

    def time(seconds):
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    ended = {
        "exitCode": 0 if phase == "Succeeded" else 1,
        "startedAt": time(start),
        "finishedAt": time(start + duration),
    }
    state = {"running": {"startedAt": time(start)}} if phase == "Running" else {"terminated": ended}
    pod = {
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number}",
            "namespace": f"ns-{number % 7}",
            "uid": f"u{number}",
            "creationTimestamp": time(start - 60),
            "annotations": {"note": "x" * rng.randrange(2000)},
        },
        "spec": {
            "containers": [container(each, place) for place, each in enumerate(mib)],
            "initContainers": [container(each, place + 5) for place, each in enumerate(inits)],
        },
        "status": {"phase": phase, "startTime": time(start), "containerStatuses": [{"name": "c0", "state": state}]},
    }
    aside = max([sum(each or 0 for each in mib), *inits])
    return pod, {
        "rows": len(mib),
        "bytes": sum(each or 0 for each in mib) * 2**20,
        "aside": aside * 2**20,
        "seconds": duration,
        "finished": phase == "Succeeded",
    }


def test_thousands_of_pods_are_reckoned_as_an_independent_sum_does(store, write):
    rng = random.Random(7)
    pods, truths = zip(*(generated(rng, number) for number in range(5000)), strict=True)
    text = json.dumps({"apiVersion": "v1", "items": list(pods), "kind": "List"}, indent=4)
    report = store.ingest([write("cluster.json", text)], IngestOptions())
    assert (report.rows, report.rejected) == (sum(truth["rows"] for truth in truths), 0)
    names = ["job_name", "duration_s", "requested_memory_bytes", "pod_memory_request"]
    frame = store.frame("cluster", names)
    finished = [truth for truth in truths if truth["finished"]]
    assert (len(frame), frame["job_name"].nunique()) == (sum(each["rows"] for each in finished), len(finished))

    def gb_hours(frame, column):
        return (frame[column] * frame["duration_s"]).sum() / 1e9 / 3600

    for rows, column, name in (
        (frame, "requested_memory_bytes", "bytes"),
        (frame.drop_duplicates("job_name"), "pod_memory_request", "aside"),
    ):
        truth = sum(each[name] * each["seconds"] for each in finished) / 1e9 / 3600
        assert gb_hours(rows, column) == pytest.approx(truth, rel=1e-9)
    assert store.dataset("cluster").finished_rows == len(frame)


@pytest.mark.parametrize(("reason", "cause"), [("Shutdown", "killed"), ("NodeLost", "failed"), ("Evicted", "killed")])
def test_why_a_pod_failed_is_known_to_the_methods(reason, cause):
    assert reason in kubernetes_rows.CAUSES
    assert cause_of(reason) == cause


def changed(place: tuple, value: object) -> dict:
    pod = copy.deepcopy(PODS[1])
    inner = pod
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return pod


@pytest.mark.parametrize(
    ("reason", "state"),
    [("PreemptionByScheduler", "Preempted"), ("DeletionByTaintManager", "Evicted"), ("SomethingNew", "Failed")],
)
def test_a_condition_says_why_a_pod_was_ended_from_outside(reason, state):
    pod = changed(("status", "conditions"), [{"type": "DisruptionTarget", "status": "True", "reason": reason}])
    pod["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] = "Error"
    ((cells, *_),) = kubernetes_rows.pod_of(1, pod).rows
    assert cells[kubernetes_rows.COLUMNS.index("status")] == state


@pytest.mark.parametrize(("pending", "before"), [("True", ""), ("False", ""), ("", "Infeasible"), ("", "InProgress")])
def test_while_a_resize_is_pending_a_container_has_what_its_status_says(store, write, pending, before):
    pod = copy.deepcopy(PODS[2])
    wanted = {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"memory": "8Gi", "nvidia.com/gpu": "1"}}
    pod["spec"]["containers"][0]["resources"] = wanted
    pod["status"]["containerStatuses"][0]["resources"] = {"requests": {"memory": "1Gi"}, "limits": {"memory": "2Gi"}}
    pod["status"]["conditions"] = [{"type": "PodResizePending", "status": pending, "reason": "Deferred"}]
    pod["status"]["resize"] = before
    waits = pending == "True" or before == "Infeasible"
    report = store.ingest([write("pods.json", json.dumps(pod))], IngestOptions())
    named = ["requested_memory_bytes", "memory_limit", "requested_gpu_percent"]
    first = store.frame("pods", named, finished_only=False).loc[0, named].tolist()
    assert first == ([GIB, 2 * GIB, 100] if waits else [4 * GIB, 8 * GIB, 100])
    assert ("resize pending" in {check.name for check in report.checks}) == waits


@pytest.mark.parametrize(
    ("now", "status", "over"),
    [
        ({"waiting": {"reason": "CrashLoopBackOff"}}, "OOMKilled", True),
        ({"running": {"startedAt": "2024-05-26T10:20:00Z"}}, "Running", False),
        ({"terminated": {"exitCode": 0, "finishedAt": "2024-05-26T10:30:00Z"}}, "Succeeded", True),
    ],
)
def test_an_init_container_that_was_killed_has_not_succeeded(now, status, over):
    pod = copy.deepcopy(PODS[4])
    pod["spec"]["initContainers"] = [{"name": "fetch", "resources": {"limits": {"memory": "64Mi"}}}]
    last = {"reason": "OOMKilled", "exitCode": 137, "finishedAt": "2024-05-26T10:10:00Z"}
    pod["status"]["initContainerStatuses"] = [{"name": "fetch", "state": now, "lastState": {"terminated": last}}]
    cells = kubernetes_rows.pod_of(1, pod).rows[1][0]
    named = dict(zip(kubernetes_rows.COLUMNS, cells, strict=True))
    assert (named["status"], named["end"] is not None, named["oom_kills"]) == (status, over, 1)


def test_marks_in_a_stream_are_no_pods(store, write):
    mark = {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {}, "spec": {"containers": None}}}
    events = [{"type": "ADDED", "object": PODS[0]}, mark]
    report = store.ingest([write("pods.json", "\n".join(map(json.dumps, events)))], IngestOptions())
    assert store.frame("pods", ["job_name"], finished_only=False)["job_name"].nunique() == 1
    assert (report.rejected, report.rows) == (0, 2)


def test_a_group_of_workers_is_no_team():
    pod = changed(("metadata", "labels"), {"ray.io/group": "small-gpu", "ray.io/cluster": "c"})
    (cells, *_) = kubernetes_rows.pod_of(1, pod).rows[0]
    assert not cells[kubernetes_rows.COLUMNS.index("team")]


def test_accelerators_that_are_no_gpus_are_told(store, write):
    pods = [copy.deepcopy(PODS[4]) | {"metadata": {"name": f"p{place}", "uid": f"u{place}"}} for place in range(3)]
    for pod, name in zip(pods, ("gpu.intel.com/i915", "google.com/tpu", "vendor.com/gpumem"), strict=True):
        pod["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "1", "hugepages-2Mi": "4Mi", name: "4"}}
    pods[2]["spec"]["resourceClaims"] = [{"name": "gpu"}]
    report = store.ingest([write("pods.json", json.dumps(pods + pods))], IngestOptions())
    gpus = store.frame("pods", ["requested_gpu_percent"], finished_only=False)["requested_gpu_percent"]
    assert gpus.fillna(0).tolist() == [400, 0, 0]
    told = {check.name: check for check in report.checks}["other resources"]
    assert told.count == 3 and "google.com/tpu (1), resourceClaims (1), vendor.com/gpumem (1)" in told.message


ASKED = ("spec", "containers", 0, "resources", "requests")
NO_PODS = [
    (7, ""),
    (["a"], ""),
    ({"metadata": {"name": "x"}}, ""),
    (changed(("metadata",), "x"), "metadata"),
    (changed(("metadata", "name"), {"a": 1}), "name"),
    (changed(("metadata", "creationTimestamp"), "soon"), "creationTimestamp"),
    (changed(("status", "startTime"), "99999-01-01T00:00:00Z"), "startTime"),
    (changed(("spec", "containers"), {"c": {}}), "containers"),
    (changed((*ASKED, "memory"), "lots"), "memory"),
    (changed((*ASKED, "memory"), True), "memory"),
    (changed((*ASKED, "nvidia.com/gpu"), [2]), "nvidia.com/gpu"),
    (changed(("status", "containerStatuses", 0, "restartCount"), "many"), "restartCount"),
    (changed(("status", "containerStatuses", 0, "state"), "x"), "state"),
]


def test_what_is_no_pod_is_a_reject_with_its_line(store, write):
    pods = ",\n".join(json.dumps(pod) for pod in (PODS[0], *(pod for pod, _ in NO_PODS), PODS[2]))
    report = store.ingest([write("bad.json", f'{{"kind": "List", "items": [\n{pods}\n]}}')], IngestOptions())
    assert (report.rows, report.rejected, report.rows_read) == (4, len(NO_PODS), 4 + len(NO_PODS))
    rejects = store.rejects("bad")
    assert rejects["line"].tolist() == list(range(3, 3 + len(NO_PODS)))
    assert rejects["column"].fillna("").tolist() == [column for _, column in NO_PODS]


def test_a_broken_line_among_pods_a_line_is_a_reject(store, write):
    text = SHAPES["lines"].splitlines()
    text[2] = text[2][:200]
    report = store.ingest([write("lines.json", "\n".join(text))], IngestOptions())
    assert (report.rows, report.rejected) == (5, 1)
    assert store.rejects("lines")["line"].tolist() == [3]


@pytest.mark.parametrize(
    "text",
    [
        PRINTED[:-200],
        PRINTED[: len(PRINTED) // 2],
        PRINTED.replace('"kind": "Pod",', '"kind" "Pod",', 2),
        PRINTED + "}",
        PRINTED.replace('"qosClass": "Burstable"', '"qosClass": ' + "[" * 200_000 + "]" * 200_000),
    ],
)
def test_what_is_cut_off_broken_or_nested_without_end_is_refused(store, write, text):
    with pytest.raises(TraceError, match="line"):
        store.ingest([write("cut.json", text)], IngestOptions(format="kubernetes"))
    assert store.datasets() == ()


@pytest.mark.parametrize(
    "text", ['{"apiVersion": "v1", "items": [], "kind": "List"}', '{"kind": "PodList", "items": []}']
)
def test_a_list_without_pods_says_how_to_list_them(store, write, text):
    with pytest.raises(TraceError, match="kubectl get pods -A -o json"):
        store.ingest([write("none.json", text)], IngestOptions())


def test_hostile_names_and_repeated_keys_change_nothing(store, write):
    pods = []
    for number, name in enumerate(TEXTS):
        pod = copy.deepcopy(PODS[0])
        del pod["spec"]["containers"][1]
        pod["metadata"] |= {"name": name, "uid": str(number), "namespace": name, "labels": {"user": name, name: name}}
        pods.append(pod)
    text = json.dumps({"kind": "List", "items": pods}).replace('"restartPolicy": "Never"', '"nodeName": "n2"', 1)
    report = store.ingest([write("names.json", text)], IngestOptions())
    assert (report.rows, report.rejected) == (len(TEXTS), 0)
    frame = store.frame("names", ["job_name", "user", "node"])
    assert frame["job_name"].tolist() == list(TEXTS)
    assert frame["user"].tolist() == list(TEXTS)
    assert frame["node"][0] == "n2"
    assert {check.name: check.count for check in report.checks}["repeated keys"] == 1


@pytest.mark.parametrize(
    "text",
    [
        '{"job_name": "a", "duration_s": 1}\n',
        '[{"id": "a", "spec": {"containers": 3}, "runtime_ms": 1500}]',
        json.dumps(
            {"kind": "List", "items": [{"kind": "Deployment", "spec": {"template": {"spec": {"containers": []}}}}]}
        ),
        json.dumps({"kind": "NodeList", "items": []}),
        "name,containers\na,1\n",
        '{"a":' * 50_000,
    ],
)
def test_other_peoples_files_are_not_taken(text):
    assert not kubernetes.recognises(text, "x.json")


def test_parts_of_gpus_count_and_a_part_of_a_byte_is_no_request(store, write):
    pods = [copy.deepcopy(PODS[0]) for _ in range(3)]
    asked = (
        {"nvidia.com/mig-1g.5gb": "1", "amd.com/gpu": "2"},
        {"memory": "512m"},
        {"nvidia.com/gpu": 2, "a": 1, "b": 1},
    )
    pods[2]["spec"]["nodeSelector"] = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-3g.20gb"}
    for pod, requests in zip(pods, asked, strict=True):
        pod["spec"]["containers"] = [{"name": "c", "resources": {"requests": requests}}]
        pod["metadata"] |= {"name": f"p{len(requests)}", "uid": f"u{len(requests)}"}
    report = store.ingest([write("parts.json", json.dumps({"kind": "List", "items": pods}))], IngestOptions())
    frame = store.frame("parts", ["requested_gpu_percent", *report_columns(store)], finished_only=False)
    np.testing.assert_allclose(frame["requested_gpu_percent"], [200 + 100 / 7, np.nan, 600 / 7])
    assert "requested_memory_bytes" not in frame or frame["requested_memory_bytes"].isna().all()
    assert {check.name: check.count for check in report.checks}["out of bounds"] == 1


def report_columns(store):
    return [column.name for column in store.columns("parts") if column.name == "requested_memory_bytes"]


def job(name, end="", state="Complete", reason="", **spec):
    status = {"startTime": "2024-05-26T10:00:00Z", **({} if end else {"active": 1})}
    if end:
        status["conditions"] = [{"type": state, "status": "True", "reason": reason, "lastTransitionTime": end}]
    container = {"name": "main", "resources": {"requests": {"cpu": "500m"}, "limits": {"memory": "2Gi"}}}
    return {
        "kind": "Job",
        "metadata": {"name": name, "namespace": "lab", "uid": name, "creationTimestamp": "2024-05-26T09:59:00Z"},
        "spec": {"template": {"metadata": {"labels": {"user": "ann"}}, "spec": {"containers": [container]}}, **spec},
        "status": status,
    }


JOBS = [
    job("align-28612345", "2024-05-26T11:00:00Z"),
    job("align-28612346", "2024-05-26T12:00:00Z", parallelism=4, completions=10),
    job("fit", "2024-05-26T10:20:00Z", "Failed", "DeadlineExceeded", parallelism=8, completions=2),
    job("on", parallelism=3),
]


@pytest.mark.parametrize("written", ["List", "JobList", "lines"])
def test_jobs_without_pods_are_runs_with_their_parallelism(store, write, written):
    jobs = copy.deepcopy(JOBS)
    for each in jobs if written == "JobList" else ():  # the API's own lists name no kind in their items
        del each["kind"]
    text = "\n".join(map(json.dumps, jobs)) if written == "lines" else json.dumps({"kind": written, "items": jobs})
    report = store.ingest([write("jobs.json", text)], IngestOptions())
    names = ["job_name", "task_name", "status", "requested_memory_bytes", "requested_cpu_percent", "instances", "user"]
    frame = store.frame(report.hash, [*names, "start_time_s", "end_time_s", "duration_s"], finished_only=False)
    assert (report.format, report.rows, report.rejected, report.running) == ("kubernetes", 4, 0, 1)
    assert frame["task_name"].tolist() == ["align", "align", "fit", "on"]
    assert frame["status"].tolist() == ["Succeeded", "Succeeded", "DeadlineExceeded", "Running"]
    assert frame["instances"].tolist() == [1, 4, 2, 3]
    assert frame["duration_s"].tolist()[:3] == [3600, 7200, 1200]
    assert (frame["requested_memory_bytes"] == 2 * GIB).all() and (frame["requested_cpu_percent"] == 50).all()
    assert (frame["user"] == "ann").all()
    (told,) = (check for check in report.checks if check.name == "Jobs without pods")
    assert told.count == 4 and "kubectl get pods" in told.message


def test_jobs_beside_their_pods_are_no_runs_and_broken_ones_are_refused(store, write):
    pod = json.loads(PRINTED)["items"][0]
    report = store.ingest([write("both.json", json.dumps({"kind": "List", "items": [*JOBS, pod]}))], IngestOptions())
    assert "Jobs without pods" not in {check.name for check in report.checks}
    (told,) = (check for check in report.checks if check.name == "other objects")
    assert (told.count, "Job (4)" in told.message) == (4, True)
    broken = [*JOBS, job("bad", parallelism="many"), {**job("worse"), "status": 7}]
    report = store.ingest([write("broken.json", json.dumps({"kind": "List", "items": broken}))], IngestOptions())
    assert (report.rows, report.rejected) == (4, 2)

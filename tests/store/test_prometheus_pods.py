"""Exports of Prometheus and Grafana about pods: one run per pod, containers summed once, units and times read right."""

import gzip
import json
import random
from functools import partial

import numpy as np
import pytest

from tests.hostile_texts import TEXTS
from workprof.core.errors import TraceError
from workprof.core.units import GIB, MIB
from workprof.formats import pod_names, prometheus_pods
from workprof.formats.pod_tasks import Ends
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

T0 = 1_714_557_600
"""2024-05-01 10:00:00 UTC."""

WORKING_SET = "container_memory_working_set_bytes"
REQUESTS = "kube_pod_container_resource_requests"


def series(points, **labels):
    labels = {"__name__" if key == "name_" else key: value for key, value in labels.items()}
    return {"metric": labels, "values": [[T0 + at, f"{value}"] for at, value in points]}


def answer(*result, kind="matrix"):
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": list(result)}})


def app(points, pod="a", container="app", **labels):
    return series(points, name_=WORKING_SET, namespace="lab", pod=pod, container=container, **labels)


def cells(frame, place=0):
    return frame.iloc[place].to_dict()


FIELDS = [
    "job_name",
    "workload",
    "namespace",
    "container",
    "task_name",
    "status",
    "start_time_s",
    "end_time_s",
    "duration_s",
]
USED = [
    "mean_memory_bytes",
    "peak_memory_bytes",
    "requested_memory_bytes",
    "requested_cpu_percent",
    "cpu_usage_percent",
]


def loaded(store, *paths, name="pods", **options):
    report = store.ingest(list(paths), IngestOptions(name=name, **options))
    assert report.format == "prometheus-pods"
    there = {column.name for column in store.columns(name)}
    return report, store.frame(name, [each for each in FIELDS + USED if each in there], finished_only=False)


def test_containers_are_summed_once_at_each_time(store, write):
    text = answer(
        app([(0, 100), (60, 300), (120, 200)], id="/kubepods/pod1/c1"),
        app([(0, 10), (60, 20)], container="sidecar"),
        app([(0, 5), (60, 5), (120, 5)], container="POD"),
        series([(0, 120), (60, 330), (120, 210)], name_=WORKING_SET, namespace="lab", pod="a", id="/kubepods/pod1"),
        app([(60, 50), (120, "NaN")], pod="b"),
        series([(0, 7)], name_=WORKING_SET, namespace="lab", pod="total-only", id="/kubepods/pod2"),
        series([(0, 1e9)], name_=WORKING_SET, id="/"),
    )
    report, frame = loaded(store, write("mem.json", text))
    assert (report.rows, report.rejected) == (4, 0)
    assert frame["job_name"].tolist() == ["a", "a", "b", "total-only"]
    assert frame["container"].tolist()[:3] == ["app", "sidecar", "app"]
    assert frame["task_name"].tolist() == ["a/app", "a/sidecar", "b", "total-only"]
    assert frame["peak_memory_bytes"].tolist() == [300, 20, 50, 7]
    assert frame["mean_memory_bytes"].tolist() == [200, 15, 50, 7]
    assert frame["start_time_s"].tolist() == [T0, T0, T0 + 60, T0]
    assert frame["duration_s"].tolist() == [120, 120, 0, 0]
    checks = {check.name: check.count for check in report.checks}
    assert checks["other series"] == 1
    assert checks["until the end of the export"] == 1
    assert checks["several containers"] == 1


def test_an_idle_gpu_is_no_run_of_its_exporter(store, write):
    scraped = {"namespace": "gpu-operator", "container": "exporter"}
    gpu = partial(series, [(0, 50), (60, 50)], name_="DCGM_FI_DEV_GPU_UTIL", **scraped)
    idle = partial(series, [(0, 0), (60, 0)], name_="DCGM_FI_DEV_GPU_UTIL", **scraped)
    text = answer(
        gpu(pod="dcgm-exporter-a", exported_namespace="ml", exported_pod="bert", gpu="0", modelName="A100"),
        idle(pod="dcgm-exporter-a", gpu="1"),
        idle(pod="dcgm-exporter-b", gpu="0", exported_pod=""),
        series([(0, GIB), (60, GIB)], name_=WORKING_SET, pod="dcgm-exporter-b", **scraped),
    )
    report = store.ingest([write("dcgm.json", text)], IngestOptions(name="dcgm"))
    names = ["job_name", "gpu_type", "gpu_usage_percent"]
    frame = store.frame("dcgm", names, finished_only=False)[names].set_index("job_name")
    assert frame.loc["bert"].tolist() == ["A100", 50]
    assert np.isnan(frame.loc["dcgm-exporter-b", "gpu_usage_percent"])
    assert {check.name: check.count for check in report.checks}["other series"] == 2


def test_several_files_are_joined_by_namespace_and_pod(store, write):
    cpu = partial(series, name_="container_cpu_usage_seconds_total", namespace="lab", pod="a")
    asked = partial(series, name_=REQUESTS, namespace="lab", pod="a", container="app")
    exported = partial(series, name_=REQUESTS, namespace="lab", exported_pod="a", resource="memory", unit="byte")
    scraped = {"pod": "kube-state-metrics-0"}
    paths = [
        write("mem.json", answer(app([(0, 2 * GIB), (600, 4 * GIB)]), app([(0, GIB), (600, GIB)], container="b"))),
        write(
            "cpu.json",
            answer(
                cpu([(0, 100), (300, 400), (600, 50)], container="app", cpu="total"),
                cpu([(0, 0), (600, 150)], container="b", cpu="total"),
                cpu([(0, 9), (600, 900)]),
            ),
        ),
        write(
            "requests.json",
            answer(
                exported([(0, 6 * GIB), (600, 6 * GIB)], exported_container="app", **scraped),
                exported([(0, 2 * GIB)], exported_container="b"),
                asked([(0, 0.5)], resource="cpu", unit="core"),
                asked([(0, 1)], resource="nvidia_com_gpu", unit="integer"),
                asked([(0, 5)], resource="ephemeral_storage", unit="byte"),
                kind="matrix",
            ),
        ),
    ]
    report, frame = loaded(store, *paths)
    assert (report.rows, report.rejected) == (2, 0)
    assert frame["container"].tolist() == ["app", "b"]
    run = cells(frame)
    assert (run["job_name"], run["namespace"], run["duration_s"]) == ("a", "lab", 600)
    assert frame["peak_memory_bytes"].tolist() == [4 * GIB, GIB]
    assert frame["mean_memory_bytes"].tolist() == [3 * GIB, GIB]
    assert frame["requested_memory_bytes"].tolist() == [6 * GIB, 2 * GIB]
    assert run["requested_cpu_percent"] == 50
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(100 * 350 / 600), pytest.approx(25)]
    assert store.frame("pods", ["requested_gpu_percent"])["requested_gpu_percent"].tolist()[0] == 100


def of_clusters(pod, first, then, created=None, labels=({}, {})):
    told = [app([(at, 1e8) for at in times], pod, cluster=cluster, **more)
            for cluster, times, more in zip("ab", (first, then), labels, strict=True)]  # fmt: skip
    for cluster, at, times in zip("ab", created or (), (first, then), strict=False):
        point = [(times[0], T0 + at)]
        told.append(series(point, name_="kube_pod_created", namespace="lab", pod=pod, cluster=cluster))
    return answer(*told)


@pytest.mark.parametrize(("amounts", "told"), [((GIB, 4 * GIB), 1), ((GIB, GIB), 0), ((0, GIB), 0)])
def test_requests_that_change_while_a_pod_runs_are_told(store, write, amounts, told):
    asked = {"name_": REQUESTS, "namespace": "lab", "pod": "a", "container": "app", "resource": "memory"}
    text = answer(app([(0, 5e8), (60, 6e8)]), series(zip((0, 60), amounts, strict=True), **asked))
    report, frame = loaded(store, write("r.json", text))
    assert [check.count for check in report.checks if check.name == "resized"] == [1] * told
    assert frame["requested_memory_bytes"][0] == max(amounts)


BEFORE, AFTER = range(0, 600, 60), range(600, 1200, 60)
UID = "0a1b2c3d-1111-2222-3333-44445555666{}"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (of_clusters("web-0", BEFORE, AFTER, labels=({"uid": UID.format(6)},) * 2), 1),
        (of_clusters("web-0", BEFORE, BEFORE, labels=({"uid": UID.format(6)},) * 2), 1),
        (of_clusters("web-0", BEFORE, AFTER, labels=({"uid": UID.format(6)}, {"uid": UID.format(7)})), 2),
        (of_clusters("web-0", BEFORE, AFTER, (-9, -9)), 1),
        (of_clusters("web-0", BEFORE, AFTER, (-9, 590)), 2),
        (of_clusters("web-0", BEFORE, AFTER), 2),
        (of_clusters("web-7c9f8b6d5d-x2v4q", BEFORE, AFTER), 1),
        (of_clusters("web-7c9f8b6d5d-x2v4q", BEFORE, BEFORE), 2),
    ],
)
def test_a_pod_is_one_run_where_the_name_of_its_cluster_changes(store, write, text, rows):
    report, frame = loaded(store, write("p.json", text))
    assert (report.rows, frame["task_name"].nunique()) == (rows, rows)
    renamed = [check.message for check in report.checks if check.name == "clusters renamed"]
    assert len(renamed) == (rows == 1)
    assert not renamed or "('a' is 'b')" in renamed[0]


def test_phases_and_times_of_the_pods_own_count(store, write):
    def own(metric, value, pod, **more):
        return series([(0, value), (600, value)], name_=metric, namespace="lab", pod=pod, **more)

    text = answer(
        app([(60, 1), (120, 1)], pod="done-x7k2p"),
        app([(60, 1), (600, 1)], pod="web-5d4f8c9b7c-x7k2p"),
        app([(60, 1), (120, 1)], pod="killed-0"),
        app([(60, 1), (120, 1)], pod="gone"),
        own("kube_pod_status_phase", 1, "done-x7k2p", phase="Succeeded"),
        own("kube_pod_status_phase", 0, "done-x7k2p", phase="Running"),
        own("kube_pod_start_time", T0 + 30, "done-x7k2p"),
        own("kube_pod_completion_time", T0 + 130, "done-x7k2p"),
        own("kube_pod_created", T0 + 10, "done-x7k2p"),
        own("kube_pod_owner", 1, "done-x7k2p", owner_kind="Job", owner_name="nightly-28612345"),
        own("kube_pod_status_phase", 1, "web-5d4f8c9b7c-x7k2p", phase="Running"),
        own("kube_pod_status_phase", 1, "killed-0", phase="Failed"),
        own("kube_pod_container_status_terminated_reason", 1, "killed-0", reason="OOMKilled", container="app"),
        series([(60, 1), (120, 1)], name_="kube_pod_status_phase", namespace="lab", pod="gone", phase="Running"),
        own("kube_pod_status_phase", 1, "waits", phase="Pending"),
    )
    report, frame = loaded(store, write("all.json", text))
    assert report.rows == 5
    assert frame["status"].tolist()[:3] == ["Succeeded", "Running", "OOMKilled"]
    assert frame["task_name"].tolist() == ["nightly", "web", "killed", "gone", "waits"]
    assert frame["duration_s"].tolist()[0] == 100
    assert np.isnan(frame["end_time_s"][1])
    assert frame["duration_s"].tolist()[2:4] == [60, 60]
    assert np.isnan(frame["start_time_s"][4]) and np.isnan(frame["duration_s"][4])
    assert store.frame("pods", ["submit_time_s"], finished_only=False)["submit_time_s"][0] == T0 + 10
    assert sorted(store.frame("pods", ["job_name"])["job_name"]) == ["done-x7k2p", "gone"]


@pytest.mark.parametrize(
    "text",
    [
        answer(series([(0, 1e8), (60, 3e8)], namespace="lab", pod="a")),
        answer(series([(0, 1e8), (60, 3e8)], pod_name="a", namespace="lab", container_name="x", name_=WORKING_SET)),
        json.dumps([series([(0, 1e8), (60, 3e8)], namespace="lab", pod="a", name_="container_memory_rss")], indent=2),
        answer({"metric": {"__name__": WORKING_SET, "pod": "a", "namespace": "lab"},
                "values": [[T0 * 1000, "1e8"], [T0 * 1000 + 60_000, "3e8"]]}),
        json.dumps({"metric": {"__name__": WORKING_SET, "pod": "a", "namespace": "lab"}, "values": [1e8, 3e8],
                    "timestamps": [T0 * 1000, T0 * 1000 + 60_000]}) + "\n",
    ],
)  # fmt: skip
def test_other_shapes_of_json(store, write, text):
    _, frame = loaded(store, write("m.json.gz", gzip.compress(text.encode())))
    run = cells(frame)
    assert (run["job_name"], run["namespace"], run["start_time_s"], run["duration_s"]) == ("a", "lab", T0, 60)
    assert (run["peak_memory_bytes"], run["mean_memory_bytes"]) == (3e8, 2e8)


@pytest.mark.parametrize("warned", [{"warnings": ["No StoreAPIs matched"]}, {"isPartial": True}, {"warnings": []}])
def test_an_answer_that_lacks_series_is_told(store, write, warned):
    text = json.dumps({**json.loads(answer(app([(0, 1e8), (60, 3e8)]))), **warned})
    report, _ = loaded(store, write("m.json", text))
    told = [check.message for check in report.checks if check.name == "partial answer"]
    assert len(told) == any(warned.values())
    assert all("may lack series" in message for message in told)


def test_one_moment_gives_requests_and_a_pod_without_a_namespace_joins_its_namesake(store, write):
    moment = {"metric": {"pod": "a", "resource": "memory"}, "value": [T0, str(4 * GIB)]}
    paths = [write("mem.json", answer(app([(0, GIB), (60, 2 * GIB)]))), write("r.json", answer(moment, kind="vector"))]
    report, frame = loaded(store, *paths)
    assert report.rows == 1
    assert cells(frame)["requested_memory_bytes"] == 4 * GIB


NUMBERS = ((1610612736, ""), (536870912, 2147483648), ("", 1073741824))


def wide(header, rows=NUMBERS, delimiter=",", nothing="", scale=1000):
    """Return a table of a line per time: `rows` of cells, '' = no value."""
    lines = [delimiter.join(header)]
    for at, row in enumerate(rows):
        told = (str(cell) if cell != "" else nothing for cell in row)
        lines.append(delimiter.join([str((T0 + 60 * at) * scale), *told]))
    return "\n".join(lines) + "\n"


MIBS = ((1536, ""), (512, 2048), ("", 1024))
METRIC = '"container_memory_working_set_bytes{{namespace=""x"", pod=""{}"", container=""c""}}"'
GRAFANA = {
    "names": (wide(("Time", "pod-a", "pod-b"), (("1.5 GiB", ""), ("512 MiB", "2 GiB"), ("undefined", "1 GiB"))), None),
    "labels": (wide(('"Time"', '"{pod=""pod-a""}"', '"{pod=""pod-b""}"')), None),
    "metric": (wide(('"Time"', METRIC.format("pod-a"), METRIC.format("pod-b")), nothing="null", scale=1), "x"),
    "old wide": ("sep=;\n" + wide(('"Time"', '"pod-a"', '"pod-b"'), delimiter=";", nothing="null"), None),
    "old long": (
        'sep=;\n"Series";"Time";"Value"\n"pod-a";"2024-05-01T10:00:00+00:00";1610612736\n'
        '"pod-a";"2024-05-01T10:01:00+00:00";536870912\n"pod-b";"2024-05-01T10:01:00+00:00";2147483648\n'
        '"pod-b";"2024-05-01T10:02:00.000Z";1073741824\n',
        None,
    ),
    "long": (
        "Time,namespace,pod,Value\n2024-05-01 10:00:00,x,pod-a,1610612736\n2024-05-01 10:01:00,x,pod-a,536870912\n"
        "2024-05-01 10:01:00,x,pod-b,2147483648\n2024-05-01 10:02:00,x,pod-b,1073741824\n",
        "x",
    ),
    "decimal comma": (
        "Time;pod-a;pod-b\n2024-05-01 10:00:00;1,5 GiB;\n2024-05-01 10:01:00;0,5 GiB;2,0 GiB\n"
        "2024-05-01 10:02:00;;1 GiB\n",
        None,
    ),
    "kubernetes": (wide(("Time", "pod-a", "pod-b"), (("1536Mi", ""), ("512Mi", "2Gi"), ("", "1Gi"))), None),
    "unit in the header": (wide(("Time", "pod-a (MiB)", "pod-b (MiB)"), MIBS), None),
    "legend": (wide(("Time", "x/pod-a", "x/pod-b")).replace("\n", "\r\n"), "x"),
}


@pytest.mark.some(3)
@pytest.mark.parametrize("name", GRAFANA)
def test_exports_of_grafana_give_the_same_runs(store, write, name):
    text, namespace = GRAFANA[name]
    packed = name.startswith("old")
    path = write("g.csv.gz" if packed else "g.csv", gzip.compress(text.encode()) if packed else text)
    report, frame = loaded(store, path)
    assert (report.rows, report.rejected) == (2, 0)
    assert frame["job_name"].tolist() == ["pod-a", "pod-b"]
    assert frame["peak_memory_bytes"].tolist() == [1.5 * GIB, 2 * GIB]
    assert frame["mean_memory_bytes"].tolist() == [GIB, 1.5 * GIB]
    assert frame["start_time_s"].tolist() == [T0, T0 + 60]
    assert frame["duration_s"].tolist() == [60, 60]
    assert namespace is None or frame["namespace"].tolist() == [namespace] * 2


def test_times_with_slashes_are_read_as_the_whole_export_tells_or_refused(store, write):
    text = "Time,pod-a\n01/02/2026 10:00:00,1 GiB\n13/02/2026 10:00:00,2 GiB\n"
    _, frame = loaded(store, write("g.csv", text))
    assert frame[["start_time_s", "duration_s"]].to_numpy().tolist() == [[1769940000, 12 * 86_400]]
    with pytest.raises(TraceError, match="may begin with the day or with the month"):
        store.ingest([write("h.csv", text.replace("13/", "12/"))], IngestOptions(format="prometheus-pods"))


@pytest.mark.parametrize(
    ("file", "days", "start"),
    [
        ("pods-data-2024-05-01 10_30_00.csv", ("05/01/2024",), T0),
        ("pods-data-2024-05-01.csv", ("01/05/2024",), T0),
        ("pods.csv", ("05/01/2024", "05/02/2024"), T0),
        ("pods.csv", ("01/05/24", "02/05/24"), T0),
        ("pods.csv", ("05/05/2024",), T0 + 4 * 86_400),
        ("pods-data-2024-05-07.csv", ("05/01/2024",), None),
    ],
)
def test_days_near_one_another_or_the_files_name_tell_which_number_is_the_month(store, write, file, days, start):
    rows = "".join(f"{day} {hour}:00:00,1 GiB\n" for day in days for hour in (10, 11, 12))
    path = write(file, f"Time,pod-a\n{rows}")
    if start is None:
        with pytest.raises(TraceError, match="may begin with the day or with the month"):
            store.ingest([path], IngestOptions(format="prometheus-pods"))
        return
    _, frame = loaded(store, path)
    assert frame["start_time_s"][0] == start
    assert frame["duration_s"].sum() == pytest.approx(7200 + 86_400 * (len(days) - 1))


def test_requests_in_the_same_table_are_joined_and_other_columns_are_told(store, write):
    text = (
        'Time,"container_memory_working_set_bytes{pod=""pod-1"", namespace=""x""}",'
        '"kube_pod_container_resource_requests{pod=""pod-1"", namespace=""x"", resource=""memory""}",'
        '"kube_pod_container_resource_limits{pod=""pod-1"", namespace=""x"", resource=""memory""}",'
        '"up{job=""kubelet""}"\n'
        f"{T0},100,1000,2000,1\n{T0 + 60},300,1000,2000,1\n"
    )
    report, frame = loaded(store, write("t.csv", text))
    assert cells(frame)["requested_memory_bytes"] == 1000
    assert store.frame("pods", ["memory_limit"])["memory_limit"].tolist() == [2000]
    assert {check.name: check.count for check in report.checks}["other series"] == 1
    legend = f"Time,pod-1,pod-1 requests,quota - requests\n{T0},100 MiB,1 GiB,4 GiB\n{T0 + 60},300 MiB,1 GiB,4 GiB\n"
    _, frame = loaded(store, write("legend.csv", legend), name="legend")
    assert (len(frame), cells(frame)["requested_memory_bytes"], cells(frame)["peak_memory_bytes"]) == (
        1,
        GIB,
        300 * MIB,
    )


SAID = {
    "ends": f"Time,pod-1,pod-1-requests\n{T0},1 GiB,4 GiB\n{T0 + 60},2 GiB,4 GiB\n",
    "long": f"Time,pod,memory (MiB),memory_request (MiB)\n{T0},pod-1,1024,4096\n{T0 + 60},pod-1,2048,4096\n",
    "rules": (
        'Time,"ns_pod:memory_usage:max{pod=""pod-1""}","ns_pod:memory_requests:sum{pod=""pod-1""}"\n'
        f"{T0},{GIB},{4 * GIB}\n{T0 + 60},{2 * GIB},{4 * GIB}\n"
    ),
    "json": answer(
        series([(0, GIB), (60, 2 * GIB)], name_="ns_pod:memory_usage:max", pod="pod-1"),
        series([(0, 4 * GIB)], name_="container_spec_memory_limit_bytes", pod="pod-1", container="app"),
        series([(0, 9e9)], name_="container_memory_cache", pod="pod-1", container="app"),
    ),
}


def test_lines_of_several_resources_are_told_apart(store, write):
    lines = [f"{T0},pod-1,cpu,0.5", f"{T0},pod-1,memory,{GIB}", f"{T0 + 60},pod-1,memory,{GIB}", f"{T0},pod-2,cpu,2"]
    _, frame = loaded(store, write("r.csv", "\n".join(["Time,pod,resource,requests", *lines])))
    assert frame["requested_cpu_percent"].tolist() == [50, 200]
    assert frame["requested_memory_bytes"][0] == GIB


@pytest.mark.parametrize("name", SAID)
def test_words_of_names_tell_requests_from_use(store, write, name):
    report, frame = loaded(store, write("said.csv", SAID[name]))
    assert (report.rows, report.rejected) == (1, 0)
    run = cells(frame)
    assert (run["peak_memory_bytes"], run["mean_memory_bytes"]) == (2 * GIB, 1.5 * GIB)
    assert run["requested_memory_bytes"] == 4 * GIB


@pytest.mark.parametrize(
    "text",
    [
        f"Time,pod-1,pod-1\n{T0},1 GiB,9 GiB\n{T0 + 60},2 GiB,9 GiB\n",
        f"Time,pod,Value #A,Value #B\n{T0},pod-1,{GIB},{9 * GIB}\n{T0 + 60},pod-1,{2 * GIB},{9 * GIB}\n",
    ],
)
def test_of_columns_that_nothing_tells_apart_the_first_counts_and_the_others_are_told(store, write, text):
    report, frame = loaded(store, write("two.csv", text))
    assert cells(frame)["peak_memory_bytes"] == 2 * GIB
    assert {check.name: check.count for check in report.checks}["other series"] == 1


def test_hostile_names_stay_names(store, write):
    text = answer(*(app([(0, 1), (60, 2)], pod=name, container=name, **{name: name}) for name in TEXTS))
    report, frame = loaded(store, write("names.json", text), format="prometheus-pods")
    assert (report.rows, report.rejected) == (len(TEXTS), 0)
    assert frame["job_name"].tolist() == list(TEXTS)


def test_what_numbers_without_a_unit_are_taken_for_is_said(store, write):
    def of(text, file, name):
        report, frame = loaded(store, write(file, text), name=name)
        return cells(frame), [check.message for check in report.checks if check.name == "quantity"]

    large = f"Time,pod-1\n{T0},100000000\n{T0 + 60},300000000\n"
    run, told = of(large, "panel.csv", "large")
    assert run["peak_memory_bytes"] == 3e8 and "bytes of memory" in told[0]
    small = f"Time,pod-1\n{T0},0.5\n{T0 + 60},1.5\n"
    run, told = of(small, "panel2.csv", "small")
    assert run["cpu_usage_percent"] == 100 and "cores" in told[0]
    run, told = of(small + "\n", "Memory Usage-data-2024-05-01 10_00_00.csv", "hinted")
    assert run["peak_memory_bytes"] == 1.5 * GIB and "GiB" in told[0]
    run, told = of(f"Time,pod-1\n{T0},50.0%\n{T0 + 60},100%\n", "panel3.csv", "percent")
    assert run["cpu_usage_percent"] == 75 and "percent" in told[0]


def test_limits_stand_for_requests_where_none_is_exported(store, write):
    limit = series([(0, 5 * GIB)], name_="kube_pod_container_resource_limits", namespace="lab", pod="a",
                   container="app", resource="memory")  # fmt: skip
    report, frame = loaded(store, write("m.json", answer(app([(0, GIB), (60, GIB)]), limit)))
    assert cells(frame)["requested_memory_bytes"] == 5 * GIB
    assert {check.name: check.count for check in report.checks}["limits for requests"] == 1


@pytest.mark.soak
@pytest.mark.parametrize("shape", ["json", "csv"])
def test_thousands_of_pods_are_reckoned_as_an_independent_sum_does(store, write, shape):
    rng = random.Random(5)
    step, steps, pods = 60, 120, 2000
    truth_asked, truth_used, rows = 0.0, 0.0, 0
    results, requests, columns, table = [], [], [], {}
    for number in range(pods):
        first = rng.randrange(steps - 2)
        last = rng.randrange(first + 1, steps)
        pod, asked = f"job-{number}-x7k2p", rng.randrange(1, 2**36)
        values = [[rng.randrange(1, 2**35) for _ in range(first, last + 1)] for _ in range(rng.choice([1, 1, 2]))]
        summed = [sum(at) for at in zip(*values, strict=True)]
        seconds = (last - first) * step
        truth_asked += asked * seconds
        truth_used += (sum(map(max, values)) if shape == "json" else max(summed)) * seconds
        rows += len(values) if shape == "json" else 1
        labels = {"namespace": f"ns-{number % 3}", "pod": pod}
        for place, own in enumerate(values):
            points = [((first + at) * step, value) for at, value in enumerate(own)]
            results.append(series(points, name_=WORKING_SET, container=f"c{place}", **labels))
        request = series([(0, asked)], name_=REQUESTS, container="c0", resource="memory", **labels)
        requests.append(request)
        columns.append(pod)
        table |= {(number, first + at): value for at, value in enumerate(summed)}
    rng.shuffle(results)
    if shape == "json":
        paths = [write("mem.json", answer(*results)), write("requests.json", answer(*requests))]
    else:
        lines = [",".join(["Time", *columns])]
        for at in range(steps):
            cells_ = (str(table.get((number, at), "")) for number in range(pods))
            lines.append(",".join([str((T0 + at * step) * 1000), *cells_]))
        paths = [write("mem.csv", "\n".join(lines))]
        long = [
            "Time,pod,resource,Value",
            *(f"{T0},{one['metric']['pod']},memory,{one['values'][0][1]}" for one in requests),
        ]
        paths.append(write("requests.csv", "\n".join(long)))
    report, frame = loaded(store, *paths)
    assert (report.rows, report.rejected, frame["job_name"].nunique()) == (rows, 0, pods)
    assert store.dataset("pods").finished_rows == rows
    hours = 1e9 * 3600
    asked, used = frame["requested_memory_bytes"], frame["peak_memory_bytes"]
    assert (asked * frame["duration_s"]).sum() / hours == pytest.approx(truth_asked / hours, rel=1e-9)
    assert (used * frame["duration_s"]).sum() / hours == pytest.approx(truth_used / hours, rel=1e-9)
    assert frame["task_name"].nunique() == rows


def test_what_is_no_series_or_no_value_is_a_reject_with_its_line(store, write):
    lines = [
        '{"status": "success", "data": {"resultType": "matrix", "result": [',
        json.dumps(app([(0, 1), (60, 2)])) + ",",
        '{"metric": "a", "values": []},',
        '{"metric": {"pod": "b", "__name__": "container_memory_rss"}, "values": [[1, "lots"]]},',
        '{"metric": {"pod": "c", "__name__": "container_memory_rss"}, "values": 7}',
        "]}}",
    ]
    report, _ = loaded(store, write("bad.json", "\n".join(lines)), format="prometheus-pods")
    assert (report.rows, report.rejected) == (1, 3)
    assert store.rejects("pods")["line"].tolist() == [3, 4, 5]
    text = f"Time,pod-1,pod-2\n{T0},1 GiB,what\nsoon,1 GiB,1 GiB\n{T0 + 60},1 GiB\n{T0 + 120},5 bananas,2 GiB\n"
    report, _ = loaded(store, write("bad.csv", text), name="csv")
    assert (report.rows, report.rejected) == (2, 4)
    assert store.rejects("csv")["line"].tolist() == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (answer(app([(0, 1)]))[:-3], "cut off|breaks off"),
        (json.dumps({"status": "error", "errorType": "bad_data", "error": "parse error"}), "parse error"),
        (answer(kind="scalar"), "scalar"),
        (answer(series([(0, 1)], name_="up", instance="a")), "no series names a pod"),
        ('{"data": {"result": ' + "[" * 100_000, "nested"),
        ("Time\n1\n", "no column of times|no series"),
        ("a,b\n1,2\n", "no column of times"),
        ("Time,quota - requests\n1,2\n", "no series names a pod"),
    ],
)
def test_what_says_nothing_of_pods_is_refused(store, write, text, match):
    with pytest.raises(TraceError, match=match):
        store.ingest([write("no.json", text)], IngestOptions(format="prometheus-pods"))
    assert store.datasets() == ()


NODES = [
    answer(series([(0, 1)], name_="node_memory_MemAvailable_bytes", instance="n1:9100", job="node")),
    answer(series([(0, 1)], name_="node_load1", instance="n1", pod="node-exporter-x7k2p", namespace="monitoring")),
    answer(series([(0, 1)], cpu="0", mode="user", instance="n1", pod="node-exporter-x7k2p")),
    answer(),
    json.dumps({"status": "error", "error": "x"}),
]
TABLES = [
    "time,cpu-user,mem-used\n0,1,2\n",
    "Time,cpu_user,memory\n2024-05-01 10:00:00,1,2\n",
    "Time,job-duration,host-load\n1,2,3\n",
    "job_name,start,end\npod-1,1,2\n",
    "pod,start_time,end_time\npod-1,1,2\n",
    "timestamp,pod,duration\n1,pod-1,5\n",
    '"Series";"Time";"Value"\n"cpu user";"2024-05-01T10:00:00Z";1\n',
    'Time,"node_load1{instance=""a""}"\n1,2\n',
    "workload,run,t,cpu\na,1,0,5\n",
    "Time,web-frontend,db\n1,2,3\n",
    "",
]


@pytest.mark.parametrize("text", NODES + TABLES)
def test_counters_of_nodes_and_other_tables_are_not_taken(text):
    assert not prometheus_pods.recognises(text, "export.csv")


def test_a_doubtful_wide_table_loads_when_the_format_is_named(store, write):
    _, frame = loaded(
        store, write("w.csv", f"Time,frontend,db\n{T0},1e9,2e9\n{T0 + 60},2e9,2e9\n"), format="prometheus-pods"
    )
    assert frame["job_name"].tolist() == ["frontend", "db"]
    assert frame["peak_memory_bytes"].tolist() == [2e9, 2e9]


@pytest.mark.parametrize(
    ("pod", "task"),
    [
        ("web-5d4f8c9b7c-abcde", "web-5d4f8c9b7c-abcde"),
        ("web-5d4f8c9b7c-x7k2p", "web"),
        ("backup-28612345-x7k2p", "backup"),
        ("train-x7k2p", "train"),
        ("db-0", "db"),
        ("plain", "plain"),
    ],
)
def test_the_task_of_a_pods_name(pod, task):
    assert Ends([pod]).of_pod(pod).workload == task


@pytest.mark.parametrize(
    ("text", "number", "quantity"),
    [
        ("16Gi", 16 * GIB, "bytes"),
        ("1.50 GB", 1.5e9, "bytes"),
        ("1,5 GiB", 1.5 * GIB, "bytes"),
        ("0 B", 0, "bytes"),
        ("85.3%", 85.3, "percent"),
        ("500m", 0.5, "cores"),
        ("2 cores", 2, "cores"),
        ("3", 3, ""),
        ("1.07 Bil", 1.07e9, ""),
    ],
)
def test_values_with_units(text, number, quantity):
    assert pod_names.value_of(text) == (pytest.approx(number), quantity)


@pytest.mark.parametrize(
    "text",
    [
        str(T0),
        f"{T0}000",
        f"{T0}000000",
        f"{T0}.0",
        "2024-05-01T10:00:00Z",
        "2024-05-01 10:00:00",
        "2024-05-01T12:00:00+02:00",
        "2024-05-01 10:00:00.000",
        "01.05.2024 10:00:00",
        "5/1/2024, 10:00:00.123 AM",
        "Wed May 01 2024 12:00:00 GMT+0200 (Central European Summer Time)",
    ],
)
def test_times_as_exports_write_them(text):
    assert pod_names.moment_of(text) == T0

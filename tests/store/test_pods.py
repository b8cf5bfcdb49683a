"""Whose runs pods are and what they used: identity, series of one thing, containers, services, kills for memory.

Each case is made after a public report, which its comment names.
"""

import json

import numpy as np
import pandas as pd
import pytest
import yaml

from workprof.answers.verdict import notes
from workprof.answers.verdict_exports import sizes_kubernetes
from workprof.core.errors import TraceError
from workprof.core.service_windows import service_windows
from workprof.core.units import GIB, MIB
from workprof.formats.pod_tasks import Ends, Made, TaskNames, words_of, work_of
from workprof.formats.pod_windows import length_of
from workprof.memory.exports import Origin
from workprof.memory.ledger import ledger_of
from workprof.memory.ledger_settings import READS, LedgerSettings
from workprof.memory.verdict import VerdictSettings, verdict_of
from workprof.store import catalogue
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

T0 = 1_714_557_600
WORKING_SET, CPU_SECONDS = "container_memory_working_set_bytes", "container_cpu_usage_seconds_total"
REQUESTS = "kube_pod_container_resource_requests"
WEB = "web-5d8c7b9f4b-x7k2p"


def points(values, step=60, start=0):
    return [[T0 + start + at * step, str(value)] for at, value in enumerate(values)]


def series(name, values, pod=WEB, namespace="shop", step=60, start=0, **labels):
    metric = {"__name__": name, "namespace": namespace, "pod": pod, **labels}
    return {"metric": {key: value for key, value in metric.items() if value}, "values": points(values, step, start)}


def answer(*result):
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": list(result)}})


@pytest.fixture
def load(store, write):
    def loaded(text, file="export.json"):
        name = f"pods{len(store.datasets())}"
        report = store.ingest([write(file, text)], IngestOptions(name=name))
        frame = store.frame(name, [column.name for column in store.columns(name)], finished_only=False)
        return report, frame, {check.name: check for check in report.checks}

    return loaded


def memory(values=(300 * MIB, 300 * MIB, 300 * MIB), **more):
    return series(WORKING_SET, values, **{"container": "app", **more})


def cpu(seconds, **labels):
    return series(CPU_SECONDS, seconds, **{"container": "app", **labels})


HALF = range(100, 1901, 30)


def test_two_endpoints_of_one_kubelet_tell_of_the_same_cpu(load):
    # prometheus-community/helm-charts#3175
    _, frame, _ = load(
        answer(
            cpu(HALF, metrics_path="/metrics/cadvisor", cpu="total", id="/kubepods/poda/c1"),
            cpu(HALF, metrics_path="/metrics/resource"),
        )
    )
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(50.0)]


def test_cores_add_up_and_their_total_is_not_added(load):
    # google/cadvisor#3853
    cores = [cpu([50 + at * rise for at in range(61)], cpu=f"cpu0{core}") for core, rise in enumerate((30, 24, 18, 12))]
    _, frame, _ = load(answer(*cores))
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(140.0)]
    _, frame, _ = load(answer(*cores, cpu([200 + at * 84 for at in range(61)], cpu="total")))
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(140.0)]


@pytest.mark.parametrize(
    ("parts", "share"),
    [
        # a restart: control groups one after another
        ([(range(0, 900, 30), 0, "/poda/c1"), (range(0, 900, 30), 1800, "/poda/c2")], (870 + 870) / 3540),
        # nested control groups: the inner one is in the outer one
        ([(range(0, 1830, 30), 0, "/poda/c1"), (range(0, 610, 10), 0, "/poda/c1/x")], 0.5),
        # replicas of Prometheus that sample at other moments
        ([(range(0, 1830, 30), 0, ""), (range(0, 1830, 30), 30, "")], 1815 / 3630),
        # a replica that took over: what only one of them covers is added
        ([(range(0, 930, 30), 0, ""), (range(900, 1830, 30), 1800, "")], 0.5),
        # a counter that began again
        ([([*range(0, 930, 30), *range(30, 930, 30)], 0, "")], 0.5),
    ],
)
def test_growth_of_one_thing_counts_once_and_what_is_apart_in_time_adds_up(load, parts, share):
    told = [cpu(values, start=start, id=group, replica=str(at)) for at, (values, start, group) in enumerate(parts)]
    _, frame, _ = load(answer(*told))
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(100 * share)]


def test_a_pod_made_anew_under_its_name_is_two_runs(load):
    # kubernetes/kube-state-metrics#1259
    def told(uid, start, request, used):
        common = {"pod": "pg-0", "namespace": "db", "start": start}
        group = {"container": "pg", "id": f"/kubepods/burstable/pod{uid}/c1", **common}
        return [
            series(WORKING_SET, [used] * 60, **group),
            series(CPU_SECONDS, range(0, 1800, 30), **group),
            series("kube_pod_start_time", [T0 + start] * 60, uid=uid, **common),
            series(REQUESTS, [request] * 60, uid=uid, container="pg", resource="memory", **common),
            series("kube_pod_status_phase", [1] * 60, uid=uid, phase="Running", **common),
        ]

    both = [*told("u1", 0, GIB, 300 * MIB), *told("u2", 43_200, GIB // 2, 500 * MIB)]
    without = [
        {**one, "metric": {key: value for key, value in one["metric"].items() if key not in ("uid", "id")}}
        for one in both
    ]
    for text in (answer(*both), answer(*without)):
        report, frame, _ = load(text)
        assert report.rows == 2
        assert frame["job_name"].tolist() == ["pg-0", "pg-0"] and frame["task_name"].tolist() == ["pg", "pg"]
        assert frame["start_time_s"].tolist() == [T0, T0 + 43_200]
        assert frame["duration_s"].tolist() == [3540, 3540]
        assert frame["cpu_usage_percent"].tolist() == [pytest.approx(50), pytest.approx(50)]
        assert frame["requested_memory_bytes"].tolist() == [GIB, GIB // 2]
        assert frame["peak_memory_bytes"].tolist() == [300 * MIB, 500 * MIB]


def test_a_static_pods_control_group_has_another_uid_and_is_the_same_run(load):
    report, frame, _ = load(
        answer(
            memory(pod="etcd-n1", id="/kubepods/burstable/podhash/c1"),
            series("kube_pod_start_time", [T0] * 3, pod="etcd-n1", uid="mirror"),
            series(REQUESTS, [GIB] * 3, pod="etcd-n1", uid="mirror", container="app", resource="memory"),
        )
    )
    assert report.rows == 1
    assert (frame["requested_memory_bytes"][0], frame["peak_memory_bytes"][0]) == (GIB, 300 * MIB)


def test_a_static_pod_after_a_reboot_is_another_run_of_the_same_task(load):
    # its control group bears the hash of its manifest, whatever uid the mirror of it has
    common = {"pod": "etcd-n1", "namespace": "kube-system"}
    told = []
    for uid, start in (("m1", 0), ("m2", 7200)):
        told += [
            series("kube_pod_owner", [1] * 60, start=start, owner_kind="Node", owner_name="n1", uid=uid, **common),
            memory([100 * MIB + start] * 60, start=start, id="/kubepods/burstable/podhash/c1", **common),
            series("kube_pod_created", [T0 + start] * 60, start=start, uid=uid, **common),
        ]
    report, frame, _ = load(answer(*told))
    assert report.rows == 2
    assert frame["task_name"].tolist() == ["etcd", "etcd"]
    assert frame["uid"].tolist() == ["m1", "m2"]
    assert frame["peak_memory_bytes"].tolist() == [100 * MIB, 100 * MIB + 7200]


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (("1,288,490,188", "314,572,800"), (1288490188, 314572800)),  # grafana/grafana#4252
        (("1.288.490.188", "314.572.800"), (1288490188, 314572800)),
        (("1 288 490 188", "314 572 800"), (1288490188, 314572800)),
        (("1\u202f288\u202f490\u202f188", "314\u202f572\u202f800"), (1288490188, 314572800)),
        (("1'288'490'188", "314'572'800"), (1288490188, 314572800)),
        (("1,288,490.5", "314,572.25"), (1288490.5, 314572.25)),
        (("1.288.490,5", "314.572,25"), (1288490.5, 314572.25)),
        (("1,288,490", "314,572"), (1288490, 314572)),
        (("1.288.490", "314.572"), (1288490, 314572)),
        (("0,512 GiB", "1,5 GiB"), (0.512 * GIB, 1.5 * GIB)),
    ],
)
def test_separators_of_thousands_in_tables(load, cells, numbers):
    text = "\n".join(['"Time","web-1","api-2"', *(f'"{T0 + at}","{cells[0]}","{cells[1]}"' for at in (0, 60))])
    report, frame, _ = load(text, "Memory-data-2024-05-01.csv")
    assert report.rejected == 0
    assert frame["peak_memory_bytes"].tolist() == [pytest.approx(each, rel=1e-9) for each in numbers]


@pytest.mark.parametrize(
    ("time", "sign", "cells"),
    [("1.5.2024, 10:0{}:00", ";", ("4,800", "1,172")), ("5/1/2024, 10:0{}:00\u202fAM", ",", ("4.800", "1.172"))],
)
def test_a_table_in_the_locale_of_a_browser(load, time, sign, cells):
    lines = [sign.join((f'"{time.format(at)}"', *cells)) for at in (0, 1)]
    report, frame, checks = load("\n".join([f"Time{sign}web-1{sign}api-2", *lines]), "CPU-data-2024-05-01.csv")
    assert (report.rejected, "thousands separators" in checks) == (0, False)
    assert frame["start_time_s"].tolist() == [T0, T0]
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(480), pytest.approx(117.2)]


def test_a_table_of_which_no_time_can_be_read_says_which(load):
    with pytest.raises(TraceError, match=r"line 2 has no time \('at ten'\)"):
        load('Time,web-1,api-2\nat ten,"3,288,490","1,288,490"', "Memory-data-2024-05-01.csv")


def test_of_a_time_that_repeats_the_larger_value_counts_and_is_told(load):
    lines = ['"Time","web-1"', *(f"2024-10-27 02:{minute:02}:00,{value} MiB" for minute, value in ((0, 5), (30, 9)))]
    lines += [f"2024-10-27 02:{minute:02}:00,{value} MiB" for minute, value in ((0, 7), (30, 3))]
    _, frame, checks = load("\n".join(lines), "memory.csv")
    assert frame["peak_memory_bytes"].tolist() == [9 * MIB] and frame["mean_memory_bytes"].tolist() == [8 * MIB]
    assert (checks["repeated times"].count, checks["repeated times"].level) == (2, "warning")


@pytest.mark.some(2)
@pytest.mark.parametrize("step", [15, 30, 60, 300])
def test_a_sum_that_counts_a_restarted_container_twice_is_mended(load, step):
    # kubernetes/kubernetes#128538
    twice = max(1, 300 // step)
    flat = [300 * MIB] * 20
    values = [*flat, *[600 * MIB] * twice, *flat]
    grows = [*flat, *[(300 + 40 + 5 * at) * MIB for at in range(twice)], *[(40 + 5 * twice) * MIB] * 20]
    spike = [*flat, *[900 * MIB] * twice, *flat]
    told = [series("", values, pod="web-1", step=step), series("", grows, pod="web-2", step=step)]
    _, frame, checks = load(answer(*told, series("", spike, pod="web-3", step=step)), "memory.json")
    assert frame["peak_memory_bytes"].tolist()[::2] == [300 * MIB, 900 * MIB]
    assert frame["peak_memory_bytes"][1] == 300 * MIB or step == 300
    assert checks["counted twice"].level == "warning"


def test_noise_is_never_taken_for_a_restart(load):
    rng = np.random.default_rng(3)
    told = [series("", rng.integers(1, 2**35, 200), pod=f"web-{at}") for at in range(200)]
    _, frame, checks = load(answer(*told), "memory.json")
    assert "counted twice" not in checks
    assert frame["peak_memory_bytes"].tolist() == [max(float(value) for _, value in one["values"]) for one in told]


def test_containers_are_rows_of_their_own(load):
    # FairwindsOps/goldilocks#472
    told = []
    for place, pod in enumerate(("cart-0", "cart-1")):
        common = {"pod": pod, "start": 1800 * place}
        for container, used, asked in (("cart", 800, 2048), ("istio-proxy", 60, 128), ("log", 10, 32)):
            told.append(memory([used * MIB] * 31, container=container, **common))
            told.append(series(REQUESTS, [asked * MIB] * 31, container=container, resource="memory", **common))
        told.append(series("kube_pod_owner", [1] * 31, owner_kind="StatefulSet", owner_name="cart", **common))
        told.append(memory([870 * MIB] * 31, container="", **common))
        told.append(
            series(
                "kube_pod_init_container_resource_requests", [GIB] * 31, container="fill", resource="memory", **common
            )
        )
    report, frame, checks = load(answer(*told))
    assert report.rows == 6
    assert frame["task_name"].tolist()[:3] == ["cart/cart", "cart/istio-proxy", "cart/log"]
    assert frame["container"].tolist()[:3] == ["cart", "istio-proxy", "log"]
    assert frame["peak_memory_bytes"].tolist()[:3] == [800 * MIB, 60 * MIB, 10 * MIB]
    assert frame["requested_memory_bytes"].tolist()[:3] == [2 * GIB, 128 * MIB, 32 * MIB]
    assert {*frame["owner_kind"]} == {"StatefulSet"} and {*frame["workload"]} == {"cart"}
    assert {*frame["namespace"]} == {"shop"}
    assert checks["several containers"].count == 2
    assert {*frame["pod_memory_request"]} == {(2048 + 128 + 32) * MIB}


def test_a_container_that_runs_before_the_others_is_apart(load):
    told = [
        memory(),
        memory([2 * GIB], container="fill"),
        series(REQUESTS, [GIB] * 3, container="app", resource="memory"),
        series("kube_pod_init_container_resource_requests", [4 * GIB] * 3, container="fill", resource="memory"),
    ]
    report, frame, _ = load(answer(*told))
    assert report.rows == 2
    assert frame["task_name"].tolist() == ["web", "web/fill"]
    assert frame["requested_memory_bytes"].tolist() == [GIB, 4 * GIB]
    assert frame["peak_memory_bytes"].tolist() == [300 * MIB, 2 * GIB]
    assert frame["pod_memory_request"].tolist() == [4 * GIB, 4 * GIB]


INIT = "kube_pod_init_container"


@pytest.mark.parametrize(
    ("told", "tasks", "listed"),
    [
        (series(f"{INIT}_info", [1] * 3, container="fill"), ["web", "web/fill"], [False, True]),
        (series(f"{INIT}_status_terminated", [1] * 3, container="fill"), ["web", "web/fill"], [False, True]),
        (
            series(f"{INIT}_info", [1] * 3, container="fill", restart_policy="Always"),
            ["web/app", "web/fill"],
            [False, True],
        ),
        (series("kube_pod_container_info", [1] * 3, container="fill"), ["web/app", "web/fill"], [False, False]),
    ],
    ids=["info", "status", "sidecar", "container"],
)
def test_any_series_of_init_containers_tells_that_a_container_is_one(load, told, tasks, listed):
    # kubernetes/kube-state-metrics#2240: a sidecar is listed among them and runs beside the others
    _, frame, _ = load(answer(memory(), memory([2 * GIB], container="fill"), told))
    assert frame["task_name"].tolist() == tasks
    assert frame.reindex(columns=["init_container"])["init_container"].eq("yes").tolist() == listed


def test_an_init_container_killed_for_memory_that_no_scrape_saw_is_a_row(load):
    told = [
        memory(),
        series(f"{INIT}_resource_limits", [GIB] * 3, container="fill", resource="memory"),
        series(f"{INIT}_status_last_terminated_reason", [1] * 3, container="fill", reason="OOMKilled"),
    ]
    _, frame, _ = load(answer(*told))
    fill = frame[frame["container"] == "fill"].iloc[0]
    assert (fill["task_name"], fill["init_container"], fill["out_of_memory_kills"]) == ("web/fill", "yes", 1)
    assert fill["memory_limit"] == GIB and frame["out_of_memory_kills"].tolist() == [0, 1]


def init_and_app(at):
    pod, start = f"cart-{at}", 1800 * at
    common = {"pod": pod, "start": start}
    yield series(WORKING_SET, [(300 + at) * MIB] * 20, container="app", **common)
    yield series(REQUESTS, [4 * GIB] * 20, container="app", resource="memory", **common)
    yield series(WORKING_SET, [(100 + at) * MIB] * 3, container="fill", **common)
    yield series(f"{INIT}_resource_requests", [2 * GIB] * 20, container="fill", resource="memory", **common)
    yield series("kube_pod_owner", [1] * 20, owner_kind="StatefulSet", owner_name="cart", **common)


def test_sizes_of_init_containers_are_exported_as_theirs(load, store):
    told = [one for at in range(60) for one in init_and_app(at)]
    _, frame, _ = load(answer(*told))
    assert (frame["init_container"] == "yes").sum() == 60
    found = verdict_of({"jobs": frame}, VerdictSettings())
    documents = yaml.safe_load_all(sizes_kubernetes(found, Origin("cart", "abc123", "0.6")))
    (patch,) = [one for one in documents if one]
    spec = patch["spec"]["template"]["spec"]
    assert [one["name"] for one in spec["containers"]] == ["app"]
    assert [one["name"] for one in spec["initContainers"]] == ["fill"]


def test_use_told_of_the_whole_pod_is_one_row_with_the_sum_of_the_requests(load):
    told = [series("", [300 * MIB] * 3, container="")]
    told += [series(REQUESTS, [GIB] * 3, container=one, resource="memory") for one in ("app", "proxy")]
    report, frame, _ = load(answer(*told), "memory.json")
    assert report.rows == 1
    assert (frame["requested_memory_bytes"][0], frame["peak_memory_bytes"][0]) == (2 * GIB, 300 * MIB)


def services(phase, n_killed=0):
    told = []
    for at in range(12):
        pod = f"web-5d8c7b9f4b-{'bcdfghjklmnp'[at]}x2dz"
        told.append(memory([(300 + (at + minute) % 40) * MIB for minute in range(61)], pod=pod))
        told.append(series(REQUESTS, [GIB] * 61, pod=pod, container="app", resource="memory"))
        if phase:
            told.append(series("kube_pod_status_phase", [1] * 61, pod=pod, phase="Running"))
        if at < n_killed:
            reason = "kube_pod_container_status_last_terminated_reason"
            told.append(killed(reason, [0] * 30 + [1] * 31, pod=pod, reason="OOMKilled"))
    return answer(*told)


@pytest.mark.parametrize("phase", [True, False])
def test_services_that_run_on_have_windows_and_hours(load, store, phase):
    # robusta-dev/krr#385
    report, frame, _ = load(services(phase))
    assert report.rows == 12
    assert {*frame["task_name"]} == {"web"} and {*frame["status"]} == {"Running"}
    assert {*frame["duration_s"]} == {3600} and frame["end_time_s"].isna().all()
    windows = service_windows(frame)
    assert len(windows.row) == 12 * 12 and {*windows.length_s} == {300.0}
    assert windows.peak_memory_bytes.max() == 339 * MIB
    np.testing.assert_array_equal(windows.end_s - windows.start_s, 300)
    for row, largest in frame["peak_memory_bytes"].items():
        assert windows.peak_memory_bytes[windows.row == row].max() == largest
    names = [name for name in READS if name in frame]
    jobs = store.frame("pods0", [*names, "duration_s"], finished_only=False)
    assert ledger_of({"jobs": jobs}, LedgerSettings(), lambda *_: None).totals.hours == pytest.approx(12.0)
    (note,) = [one for one in notes(verdict_of({"jobs": jobs}, VerdictSettings())) if "windows" in one]
    assert note.startswith("144 runs are windows of 12 services. None was seen for more than 1 h")
    assert note.endswith("The plan adds up what each window never used, the ledger what each whole run did.")


def test_windows_of_cpu_and_without_samples(load):
    told = [
        memory([100 * MIB] * 5, pod="db-0"),
        memory([200 * MIB] * 31, pod="db-0", start=1800),
        cpu([at * 30 for at in range(61)], pod="db-0"),
        series("kube_pod_owner", [1] * 61, pod="db-0", owner_kind="StatefulSet", owner_name="db"),
    ]
    _, frame, _ = load(answer(*told))
    windows = service_windows(frame)
    assert len(windows.row) == 12
    assert windows.peak_memory_bytes[0] == 100 * MIB and np.isnan(windows.peak_memory_bytes[1:6]).all()
    assert (windows.peak_memory_bytes[6:] == 200 * MIB).all()
    np.testing.assert_allclose(windows.cpu_usage_percent, 50.0)


def test_windows_follow_from_their_run_alone_and_last_as_long(load):
    """Refreshes read a run beside others than one import does."""
    short = memory([200 * MIB] * 64, pod=WEB)
    long = memory([100 * MIB] * 2000, pod="db-0", step=900)
    owner = [("ReplicaSet", "web-5d8c7b9f4b", WEB), ("StatefulSet", "db", "db-0")]
    owners = [series("kube_pod_owner", [1] * 3, pod=pod, owner_kind=kind, owner_name=name) for kind, name, pod in owner]
    _, alone, _ = load(answer(short, owners[0]))
    _, both, _ = load(answer(short, long, *owners))
    assert both["windows"][both["workload"] == "web"].item() == alone["windows"].item()
    assert service_windows(alone).length_s.sum() == pytest.approx(alone["duration_s"].item()) == 63 * 60


@pytest.mark.parametrize("span", [600, 1800, 3600, 86_400, 7 * 86_400, 30 * 86_400])
@pytest.mark.parametrize("step", [15, 30, 60])
def test_a_run_has_six_to_two_hundred_windows(span, step):
    assert 6 <= span / length_of(span, step) <= 200
    assert length_of(span, step) >= step


def test_a_table_without_windows_has_none_and_a_text_that_is_none_is_passed_over(load):
    _, frame, _ = load(services(phase=True))
    assert not len(service_windows(frame.drop(columns="windows")).row)
    frame["windows"] = [None, "", "{}", "[1]", '{"start_s": 1, "length_s": 0}', *frame["windows"][5:]]
    assert {*service_windows(frame).row} == {*range(5, 12)}


def test_a_job_that_runs_on_has_windows_and_one_that_ended_has_none(load):
    told = []
    for pod, phase in (("etl-x7k2p", "Running"), ("etl-b9dql", "Succeeded")):
        told.append(memory([MIB] * 61, pod=pod))
        told.append(series("kube_pod_owner", [1] * 61, pod=pod, owner_kind="Job", owner_name="etl"))
        told.append(series("kube_pod_status_phase", [1] * 61, pod=pod, phase=phase))
    _, frame, _ = load(answer(*told))
    assert frame["windows"].notna().tolist() == [True, False]
    assert frame["task_name"].tolist() == ["etl", "etl"]


def owned(pod, kind, name, used=MIB, **more):
    of_owner = {"owner_kind": kind, "owner_name": name, **more}
    return [memory([used] * 20, pod=pod, **more), series("kube_pod_owner", [1] * 20, pod=pod, **of_owner)]


def test_steps_of_a_workflow_are_tasks(load):
    # argoproj/argo-workflows#1319
    told = []
    for run in ("train-x7k2p", "train-b9dql"):
        told += owned(f"{run}-prepare-1012302378", "Workflow", run) + owned(f"{run}-fit-1846534257", "Workflow", run)
    _, frame, _ = load(answer(*told))
    assert frame["task_name"].tolist() == ["prepare", "fit"] * 2
    assert {*frame["workload"]} == {"train"} and {*frame["run_name"]} == {"train-x7k2p", "train-b9dql"}


def test_labels_of_an_engine_tell_the_tasks_of_pods(load):
    # GeoscienceAustralia/dea-airflow#841
    told = []
    for task in ("extract", "load"):
        for end in ("yidv3wwr", "5bdbxq3t"):
            pod = f"etl-{task}-{end}"
            told.append(memory(pod=pod, container="base"))
            told.append(series("kube_pod_labels", [1] * 3, pod=pod, label_dag_id="etl", label_task_id=task))
    report, frame, _ = load(answer(*told))
    assert (report.format, report.rows) == ("prometheus-pods", 4)
    assert frame["task_name"].tolist() == ["extract", "extract", "load", "load"]


@pytest.mark.parametrize(
    ("gap", "told", "rows", "apart"), [(7200, "", 1, 1), (1200, "", 1, 0), (7200, "created", 2, 0)]
)
def test_a_gap_in_a_pod_of_which_no_creation_is_told_is_named(load, gap, told, rows, apart):
    firsts = (0, 1140 + gap)
    use, created = memory([3e8] * 20, pod="db-0"), series("kube_pod_created", [T0] * 20, "db-0")
    for one, values in ((use, [5e8] * 20), (created, [T0 + firsts[1]] * 20)):
        one["values"] += points(values, start=firsts[1])
    report, _, checks = load(answer(use, *([created] if told else [])))
    assert (report.rows, checks["seen apart"].count if "seen apart" in checks else 0) == (rows, apart)


def test_tasks_of_two_groups_of_airflow_are_two(load):
    told = []
    for at, task in enumerate(("us.extract", "eu.extract", "join")):
        pod = f"etl-{task.replace('.', '-')}-yidv3ww{at}"
        told.append(memory(pod=pod, container="base"))
        told.append(series("kube_pod_labels", [1] * 3, pod=pod, label_dag_id="etl", label_task_id=task))
    _, frame, _ = load(answer(*told))
    assert frame["task_name"].tolist() == ["us.extract", "eu.extract", "join"]


def test_a_file_is_of_pods_where_any_metric_of_it_is(load):
    nodes = [{"metric": {"__name__": "node_load1", "instance": f"n{at}"}, "values": points([1, 2])} for at in range(9)]
    report, _, checks = load(answer(*nodes, memory()))
    assert (report.format, report.rows, checks["other series"].count) == ("prometheus-pods", 1, 9)


def test_one_workload_in_two_namespaces_or_clusters_is_two_tasks(load):
    places = (("x7k2p", "shop", "a"), ("b9dql", "test", "a"), ("c4v8w", "shop", "b"))
    told = [
        memory(pod=f"web-5d8c7b9f4b-{end}", namespace=namespace, cluster=cluster) for end, namespace, cluster in places
    ]
    told.append(memory(pod="api-7f9d8c6b5d-b9dql", namespace="shop", cluster="a"))
    told += owned("same-0", "StatefulSet", "same", namespace="shop", cluster="a")
    told += owned("same-0", "StatefulSet", "same", namespace="shop", cluster="b")
    report, frame, _ = load(answer(*told))
    assert report.rows == 6
    assert frame["task_name"].tolist() == ["a/shop/web", "test/web", "b/shop/web", "api", "a/shop/same", "b/shop/same"]
    assert frame["cluster"].tolist() == ["a", "a", "b", "a", "a", "b"]
    assert frame["namespace"].tolist() == ["shop", "test", "shop", "shop", "shop", "shop"]


def test_owners_of_owners_are_what_people_made(load):
    told = owned("web-x7k2p", "ReplicaSet", "web-special") + owned("etl-1-x7k2p", "Job", "etl-1")
    told.append({"metric": {"__name__": "kube_replicaset_owner", "namespace": "shop", "replicaset": "web-special",
                            "owner_kind": "Deployment", "owner_name": "web"}, "values": points([1])})  # fmt: skip
    told.append({"metric": {"__name__": "kube_job_owner", "namespace": "shop", "job_name": "etl-1",
                            "owner_kind": "CronJob", "owner_name": "etl"}, "values": points([1])})  # fmt: skip
    _, frame, _ = load(answer(*told))
    assert frame["owner_kind"].tolist() == ["Deployment", "CronJob"]
    assert frame["task_name"].tolist() == ["web", "etl"]


def killed(name, values, **labels):
    return series(name, values, container="app", **labels)


@pytest.mark.parametrize(
    ("told", "kills"),
    [
        ([killed("kube_pod_container_status_last_terminated_reason", [1] * 3, reason="OOMKilled")], 1),
        ([killed("kube_pod_container_status_last_terminated_reason", [1] * 3, reason="Error")], 0),
        (
            [
                killed("kube_pod_container_status_last_terminated_reason", [0, 1, 1], reason="OOMKilled"),
                killed("kube_pod_container_status_restarts_total", [0, 1, 2]),
            ],
            2,
        ),
        (
            [
                killed("kube_pod_container_status_last_terminated_reason", [1, 1, 1], reason="OOMKilled"),
                killed("kube_pod_container_status_restarts_total", [7, 7, 7]),
            ],
            1,
        ),
        ([killed("container_oom_events_total", [0, 0, 2])], 2),
        ([killed("kube_pod_container_status_terminated_reason", [0, 1, 0], reason="OOMKilled")], 1),
        ([killed("kube_pod_container_status_restarts_total", [0, 1, 2])], None),
    ],
)
def test_kills_for_memory_are_counted(load, told, kills):
    _, frame, checks = load(answer(memory(), memory(container="proxy"), *told))
    column = "out_of_memory_kills"
    assert ("killed for memory" in checks) == bool(kills)
    if kills is None:
        assert column not in frame or frame[column].isna().all()
    else:
        assert frame[column].tolist() == [kills, 0]


@pytest.mark.parametrize("with_phase", [True, False])
@pytest.mark.parametrize(("reason", "held", "status"), [("Evicted", 1, "Evicted"), ("NodeLost", 0, ""), ("New", 1, "")])
def test_the_reason_of_a_pod_that_failed_is_its_status(load, reason, held, status, with_phase):
    # metrics of kube-state-metrics: a series for every reason, 1 for the one that holds
    told = [memory(), memory(pod="other-x7k2p", start=600)]
    told += [series("kube_pod_status_reason", [0, held], start=180, reason=reason)]
    told += [series("kube_pod_status_phase", [1, 1], start=180, phase="Failed")] * with_phase
    _, frame, checks = load(answer(*told))
    assert str(frame["status"][0] if "status" in frame else "").replace("nan", "") == (status or "Failed" * with_phase)
    assert "other series" not in checks


def test_pods_that_no_sample_saw_are_told(load):
    told = [memory(), memory([MIB], pod="once-x7k2p")]
    told += [series("kube_pod_status_phase", [1] * 3, pod=f"short-{at}", phase="Succeeded") for at in range(4)]
    _, frame, checks = load(answer(*told))
    assert (checks["unseen"].count, checks["unseen"].level) == (4, "warning")
    assert checks["seen once"].count == 1
    assert frame["peak_memory_bytes"].notna().sum() == 2


PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")


def phases(pod, told):
    """Return the phase metric of a pod whose phases are the letters of `told`: '-' nothing, P, R, S or F."""
    return [
        series(
            "kube_pod_status_phase",
            [int(letter == phase[0]) for letter in told.strip("-")],
            pod=pod,
            start=60 * (len(told) - len(told.lstrip("-"))),
            phase=phase,
        )
        for phase in PHASES
    ]


@pytest.mark.parametrize(
    ("told", "started", "want"),
    [
        ("-----SSSSSSSSSS", None, (np.nan, 300, np.nan)),
        ("---PRRSSSSSSSSS", None, (240, 360, 120)),
        ("-----FFFFFFFFFF", 280, (280, 300, 20)),
        ("SSSSSSSSSSSSSSS", -86_400, (-86_400, np.nan, np.nan)),
    ],
)
def test_a_pod_that_no_scrape_saw_ended_when_it_was_first_told_to_be_over(load, told, started, want):
    rows = phases("short-abcde", told)
    if started is not None:
        rows.append(series("kube_pod_start_time", [T0 + started], pod="short-abcde", start=300))
    report, frame, checks = load(answer(memory([300 * MIB] * 15), *rows))
    found = frame[frame["job_name"] == "short-abcde"].iloc[0]
    assert (report.rows, checks["unseen"].count) == (2, 1)
    wanted = [want[0] + T0, want[1] + T0, want[2]]
    np.testing.assert_array_equal(found[["start_time_s", "end_time_s", "duration_s"]].astype(float), wanted)


NAMED = "backup-mssql"


@pytest.mark.parametrize(
    ("pod", "made", "labels", "task"),
    [
        # open-telemetry/opentelemetry-collector-contrib#13214
        ("backup-mssql-x7k2p", Made("Job", "backup-mssql"), {}, ("backup-mssql", "")),
        ("backup-mssql", Made(), {}, ("backup-mssql", "")),
        ("backup-mssql-x7k2p", Made(), {}, ("backup-mssql", "")),
        ("backup-28612345-x7k2p", Made("Job", "backup-28612345"), {}, ("backup", "")),
        # nextflow-io/nextflow#687
        ("nf-657d6b5ed2c06b727209cf5634bc72dc", Made(), {"nextflow.io/app": "nextflow", "nextflow.io/processName": "QC",
                                                         "nextflow.io/taskName": "QC_1"}, ("nextflow", "QC")),
        ("nf-657d6b5ed2c06b727209cf5634bc72dc", Made("Job", "nf-657d6b5ed2c06b727209cf5634bc72dc"),
         {"nextflow_io_app": "nextflow", "nextflow_io_process_name": "QC"}, ("nextflow", "QC")),
        ("nf-657d6b5ed2c06b727209cf5634bc72dc", Made(), {}, ("nf", "")),
        ("p", Made("Workflow", "train-x7k2p"), {"workflows.argoproj.io/node-name": "train-x7k2p[1].fit(2:x)"},
         ("train", "fit")),
        ("train-x7k2p-fit-1012302378", Made(), {}, ("train", "fit")),
        # a CronWorkflow's and a schedule's names end in their time, of s or ns
        ("etl-1714557600-load-1012302378", Made("Workflow", "etl-1714557600"), {}, ("etl", "load")),
        ("etl-1714557600-load-1012302378", Made(), {}, ("etl", "load")),
        ("pi-f0a1-exec-1", Made("Pod", "pi-1714557600123456789-driver"),
         {"spark-role": "executor", "sparkoperator.k8s.io/app-name": "pi-1714557600123456789"}, ("pi", "executor")),
        # kubeflow/pipelines, docs/contributing/anatomy.md
        ("m-x7k2p-system-container-impl-1012302378", Made("Workflow", "m-x7k2p"),
         {"workflows.argoproj.io/node-name": "m-x7k2p.root.train.executor"}, ("m", "train")),
        ("nf-657d6b5ed2c06b727209cf5634bc72dc-x7k2p", Made("Job", "nf-657d6b5ed2c06b727209cf5634bc72dc"),
         {"app": "nextflow", "processName": "QC", "runName": "mad_x"}, ("nextflow", "QC")),
        ("pi-8f3a-exec-1", Made("Pod", "pi-driver"), {"spark-role": "executor", "spark-app-name": "pi"},
         ("pi", "executor")),
        ("net-worker-0", Made("PyTorchJob", "net"), {}, ("net", "worker")),
        ("net-worker-0", Made("PyTorchJob", "net"), {"training.kubeflow.org/job-name": "net",
                                                    "training.kubeflow.org/replica-type": "worker"}, ("net", "worker")),
        ("r-x7k2p", Made("TaskRun", "r"), {"tekton.dev/pipeline": "build", "tekton.dev/pipelineTask": "lint"},
         ("build", "lint")),
        ("x-y", Made(), {"example.com/workflow-name": "etl", "example.com/step-name": "load"}, ("etl", "load")),
        ("pg-0", Made(), {"app.kubernetes.io/name": "pg", "app.kubernetes.io/instance": "shop",
                          "app.kubernetes.io/component": "primary"}, ("shop-pg", "primary")),
        ("web-5d4f8c9b7c-bcdfg", Made("ReplicaSet", "web-5d4f8c9b7c"), {"app": "shop"}, ("web", "")),
        ("web-bcdfg", Made("ReplicaSet", "web"), {}, ("web", "")),
        ("web-5d4f8c9b7c-bcdfg", Made(), {"app": "shop"}, ("web", "")),
        ("site-3-x7k2p", Made("ReplicationController", "site-3"), {}, ("site", "")),
        ("runner-t1zx-project-42-concurrent-0-x7k2p9qw", Made(), {}, ("runner-t1zx-project-42", "")),
        ("runner-t1zx-project-42-concurrent-0", Made(), {"job.runner.gitlab.com/name": "test: [3.11]",
                                                         "project.runner.gitlab.com/id": "42"}, ("42", "test: [3.11]")),
        ("f-taskmanager-1-1", Made("Deployment", "f"), {"app": "f", "component": "taskmanager"}, ("f", "taskmanager")),
        ("f-5d4f8c9b7c-bcdfg", Made("ReplicaSet", "f-5d4f8c9b7c"), {"app": "f", "component": "jobmanager"}, ("f", "")),
    ],
)  # fmt: skip
def test_the_work_of_a_pod(pod, made, labels, task):
    work = work_of(pod, made, labels, Ends([pod, made.name]))
    assert (work.workload, work.step) == task


def test_letters_are_a_random_end_where_others_of_the_name_say_so():
    ends = Ends(
        ["train-bcdfg", "train-x7k2p", "backup-mssql", "backup-pgsql", "etl-yidv3wwr", "etl-5bdbxq3t", "x-h264enc"]
    )
    assert [ends.without(name) for name in ("train-bcdfg", "train-x7k2p")] == ["train", "train"]
    assert [ends.without(name) for name in ("backup-mssql", "backup-pgsql")] == ["backup-mssql", "backup-pgsql"]
    assert [ends.without(name) for name in ("etl-yidv3wwr", "x-h264enc")] == ["etl", "x-h264enc"]


def test_a_task_that_comes_later_never_takes_a_name():
    names = TaskNames()
    names.name({("", "a", "web", "", ""): False})
    names.name(
        {("", "b", "web", "", ""): False, ("", "b", "etl", "load", ""): True, ("", "b", "elt", "load", ""): True}
    )
    assert list(names.given.values()) == ["web", "etl/load", "elt/load", "b/web"]
    assert len({*names.given.values()}) == 4


def test_words_of_labels():
    assert words_of("nextflow.io/processName") == words_of("nextflow_io_process_name")
    assert words_of("app.kubernetes.io/name") == ("app", "kubernetes", "io", "name")


def pod(name, namespace="ns", uid="", containers=("main",), **more):
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": uid or f"u-{namespace}-{name}", "creationTimestamp":
                     "2024-05-01T09:59:50Z", **more},
        "spec": {"containers": [{"name": one, "resources": {"requests": {"memory": f"{2 + at}Gi"}}}
                                for at, one in enumerate(containers)]},
        "status": {"phase": "Succeeded", "startTime": "2024-05-01T10:00:00Z", "containerStatuses": [
            {"name": one, "restartCount": 1, "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
             if at else {}, "state": {"terminated": {"exitCode": 0, "finishedAt": "2024-05-01T10:10:00Z"}}}
            for at, one in enumerate(containers)]},
    }  # fmt: skip


def test_pods_of_engines_in_a_list_of_kubectl(load):
    # nextflow-io/nextflow#1162, open-telemetry/opentelemetry-collector-contrib#47431
    pods = [pod(f"nf-{at}bc2f9", labels={"nextflow.io/processName": name, "nextflow.io/runName": "happy"})
            for at, name in enumerate(["ALIGN", "ALIGN", "QC"])]  # fmt: skip
    pods += [
        pod(f"{job}-x7k2p", ownerReferences=[{"kind": "Job", "name": job}]) for job in ("backup-mssql", "backup-pgsql")
    ]
    _, frame, _ = load(json.dumps({"kind": "List", "items": pods}))
    assert frame["task_name"].tolist() == ["ALIGN", "ALIGN", "QC", "backup-mssql", "backup-pgsql"]
    assert frame["run_name"].tolist()[:3] == ["happy"] * 3


def test_containers_and_kills_in_a_list_of_kubectl(load):
    owner = [{"kind": "ReplicaSet", "name": "web-5d8c7b9f4b"}]
    one = pod(WEB, containers=("app", "proxy"), ownerReferences=owner, labels={"pod-template-hash": "5d8c7b9f4b"})
    other = pod("web-5d8c7b9f4b-b9dql", namespace="test", ownerReferences=owner)
    report, frame, checks = load(json.dumps({"kind": "List", "items": [one, other]}))
    assert report.rows == 3
    assert frame["task_name"].tolist() == ["ns/web/app", "ns/web/proxy", "test/web"] or frame["task_name"].tolist() == [
        "web/app",
        "web/proxy",
        "web",
    ]
    assert frame["owner_kind"].tolist() == ["Deployment"] * 3
    assert frame["requested_memory_bytes"].tolist() == [2 * GIB, 3 * GIB, 2 * GIB]
    assert frame["out_of_memory_kills"].tolist() == [0, 1, 0]
    assert checks["several containers"].count == 1


def test_pods_of_a_release_before_keep_their_rows_and_say_how_to_know_them_better(load, store):
    report, _, _ = load(json.dumps({"kind": "List", "items": [pod("web-1"), pod("web-2")]}))
    assert "read again" not in {check.name for check in store.report(report.hash).checks}
    with store.writing(), store._database.transaction() as cursor:
        (columns,) = catalogue.one(cursor, "SELECT columns FROM catalogue WHERE hash = ?", [report.hash])
        old = columns.replace('"source": "workload"', '"source": "namespace"')
        assert old != columns
        cursor.execute("UPDATE catalogue SET columns = ? WHERE hash = ?", [old, report.hash])
    (check,) = [check for check in store.report(report.hash).checks if check.name == "read again"]
    assert (check.count, check.level) == (2, "info") and "load export.json again" in check.message


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "legends",
    [
        ("cart-0 cart", "cart-0 istio-proxy"),
        ("shop/cart-0/cart", "shop/cart-0/istio-proxy"),
        ("cart-0 (cart)", "cart-0 (istio-proxy)"),
        ('{pod="cart-0", container="cart"}', '{pod="cart-0", container="istio-proxy"}'),
    ],
)
def test_a_legend_that_names_the_container(load, legends):
    head = ",".join('"{}"'.format(one.replace('"', '""')) for one in ("Time", *legends))
    text = "\n".join([head, *(f"{T0 + at},800 MiB,60 MiB" for at in (0, 60))])
    report, frame, _ = load(text, "Memory-data-2024-05-01.csv")
    assert report.format == "prometheus-pods"
    assert frame["task_name"].tolist() == ["cart/cart", "cart/istio-proxy"]
    assert frame["peak_memory_bytes"].tolist() == [800 * MIB, 60 * MIB]


IN_2062 = 2_903_472_000


@pytest.mark.some(2)
@pytest.mark.parametrize("name", ["kube_pod_completion_time", "kube_pod_created", "kube_pod_start_time"])
def test_running_pods_count_to_the_last_sample_of_the_export(load, name):
    """A moment in a value may be a clock's gone wrong; the time of the last sample is the export's own."""
    told = []
    for at in range(30):
        pod, n = f"batch-{at}", 61 if at < 20 else 31
        told.append(memory([(100 + at) * MIB] * n, pod=pod))
        told.append(series("kube_pod_status_phase", [1] * n, pod=pod, phase="Running" if at < 20 else "Succeeded"))
    told.append(series(name, [IN_2062] * 31, pod="batch-29"))
    _, frame, _ = load(answer(*told))
    running = frame[frame["status"] == "Running"]
    assert len(running) == 20
    assert {*running["duration_s"]} == {3600} and running["end_time_s"].isna().all()
    ended = frame[(frame["status"] == "Succeeded") & (frame["job_name"] != "batch-29")]
    assert {*ended["duration_s"]} == {1800} and {*ended["end_time_s"]} == {T0 + 1800}


def test_the_last_sample_of_one_pod_alone_is_that_of_the_export(load):
    told = [memory([100 * MIB] * n, pod=f"p-{n}") for n in (11, 31, 61)]
    told += [series("kube_pod_status_phase", [1] * n, pod=f"p-{n}", phase="Running") for n in (11, 31, 61)]
    _, frame, _ = load(answer(*told))
    frame = frame.set_index("job_name")
    np.testing.assert_array_equal(frame["end_time_s"], [T0 + 600, T0 + 1800, np.nan])
    assert frame["duration_s"].tolist() == [600, 1800, 3600]


def test_gpus_of_several_kinds_are_summed_and_told_twice_count_once(load):
    told = [series(REQUESTS, [n] * 3, container="app", resource=f"{kind}", job=job)
            for kind, n in (("nvidia_com_gpu", 1), ("amd_com_gpu", 2), ("nvidia_com_mig_1g_5gb", 1), ("memory", GIB),
                            ("gpu_intel_com_i915", 1), ("google_com_tpu", 4))
            for job in ("a", "b")]  # fmt: skip
    _, frame, checks = load(answer(memory(), *told))
    assert frame["requested_gpu_percent"].tolist() == [pytest.approx(400 + 100 / 7)]
    assert "kube_pod_container_resource_requests of google_com_tpu (2)" in checks["other series"].message
    assert frame["requested_memory_bytes"].tolist() == [GIB]


def test_totals_without_a_name_are_no_cores(load):
    # sum by (namespace, pod, container) (container_cpu_usage_seconds_total)
    totals = [series("", [1000 * n + 30 * at for at in range(11)], f"web-{n}", container="app") for n in (1, 3)]
    _, frame, checks = load(answer(*totals), file="cpu.json")
    assert frame["cpu_usage_percent"].tolist() == [50, 50]
    assert "seconds of CPU" in checks["quantity"].message
    rates = [series("", [0.5 + 0.1 * (-1) ** at for at in range(11)], "web-1", container="app")]
    _, frame, checks = load(answer(*rates), file="cpu.json")
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(50, abs=1)]
    assert checks["quantity"].level == "info" and "cores" in checks["quantity"].message
    _, _, checks = load(answer(series("", [25, 26, 24], "web-1")), file="cpu.json")  # percent, or thousandths?
    assert checks["quantity"].level == "warning"


def test_rates_that_keep_the_name_of_their_total_are_cores(load):
    _, frame, checks = load(answer(cpu([0.5 + 0.1 * (-1) ** at for at in range(21)])))
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(50, abs=1)]
    assert "taken for cores" in checks["quantity"].message
    restarted = [*range(0, 300, 30), *range(0, 300, 30), *range(0, 300, 30)]
    _, frame, checks = load(answer(cpu(restarted)))
    assert frame["cpu_usage_percent"].tolist() == [pytest.approx(50, abs=5)]
    assert "quantity" not in checks


def test_a_total_goes_on_in_the_next_file(store, write):
    paths = [write(f"{at}.json", answer(cpu([30 * (11 * at + n) for n in range(11)], start=660 * at))) for at in (1, 0)]
    store.ingest(paths, IngestOptions(name="pods"))
    assert store.frame("pods", ["cpu_usage_percent"], finished_only=False)["cpu_usage_percent"].tolist() == [50]


@pytest.mark.parametrize(
    ("labels", "metrics"),
    [
        (
            {"k8s_namespace_name": "shop", "k8s_pod_name": WEB, "k8s_container_name": "app"},
            {
                "container_memory_working_set": 300 * MIB,
                "container_cpu_usage": 0.25,
                "k8s_container_memory_request_bytes": GIB,
                "k8s_container_cpu_request": 1,
                "k8s_container_memory_request_utilization": 0.29,
            },
        ),
        (
            {"kube_namespace": "shop", "pod_name": WEB, "kube_container_name": "app"},
            {
                "kubernetes.memory.working_set": 300 * MIB,
                "kubernetes.cpu.usage.total": 250e6,
                "kubernetes.memory.requests": GIB,
                "kubernetes.cpu.requests": 1,
                "kubernetes.memory.usage_pct": 29,
            },
        ),
        (
            {"namespace": "shop", "pod_name": WEB, "container_name": "app"},
            {
                "kubernetes_pod_container_memory_working_set_bytes": 300 * MIB,
                "kubernetes_pod_container_cpu_usage_nanocores": 250e6,
                "kubernetes_pod_container_resource_requests_memory_bytes": GIB,
                "kubernetes_pod_container_cpu_request_millicores": 1000,
                "pod_memory_utilization": 29,
            },
        ),
    ],
)
def test_pods_as_other_collectors_tell_of_them(load, labels, metrics):
    told = [{"metric": {"__name__": name, **labels}, "values": points([at] * 3)} for name, at in metrics.items()]
    _, frame, checks = load(answer(*told))
    fields = ["namespace", "job_name", "container", "peak_memory_bytes", "requested_memory_bytes"]
    assert frame[fields].to_numpy().tolist() == [["shop", WEB, "app", 300 * MIB, GIB]]
    assert frame[["cpu_usage_percent", "requested_cpu_percent"]].to_numpy().tolist() == [[25, 100]]
    assert checks["other series"].count == 1


def test_a_metric_that_nobody_documents_is_told_or_left_out(load):
    jvm = [
        series("jvm_memory_used_bytes", [at * MIB] * 3, container="app", id=name) for name, at in (("a", 1), ("b", 3))
    ]
    app = series("app_memory_bytes", [2 * MIB] * 3, "api-0", container="app", instance="a")
    _, frame, checks = load(answer(memory(), *jvm, app))
    assert dict(zip(frame["job_name"], frame["peak_memory_bytes"], strict=True)) == {WEB: 300 * MIB, "api-0": 2 * MIB}
    assert "jvm_memory_used_bytes (several of a container) (2)" in checks["other series"].message
    assert checks["quantity"].level == "warning" and "app_memory_bytes" in checks["quantity"].message


def test_two_queries_without_names_in_one_file_are_told_apart_by_size(load):
    cores = [series("", [0.3, 0.4, 0.3], pod) for pod in (WEB, "web-1")]
    bytes_ = [series("", [at] * 3, pod) for pod, at in ((WEB, 300 * MIB), ("web-1", 40_960), ("web-2", 0))]
    _, frame, _ = load("\n".join([answer(*cores), answer(*bytes_)]), file="data.json")
    assert frame["cpu_usage_percent"].dropna().round(6).tolist() == [pytest.approx(100 / 3)] * 2
    assert frame["peak_memory_bytes"].tolist()[:2] == [300 * MIB, 40_960]
    _, frame, checks = load(answer(series("", [GIB] * 3, resource="memory"), memory()), file="data.json")
    assert frame["requested_memory_bytes"].tolist() == [GIB]
    assert "taken for requests" in checks["quantity"].message


def test_shares_are_no_amounts_and_units_in_names_count(load):
    table = "Time,pod,{}\n" + "".join(f"2024-05-01 10:0{at}:00,{WEB},{{}}\n" for at in range(3))
    header = "memory_usage_mib,cpu_usage_millicores,memory_percent,cpu_utilization"
    _, frame, checks = load(table.format(header, *["300,250,29,0.2", "310,250,30,0.3", "300,250,29,0.2"]), file="t.csv")
    assert frame[["peak_memory_bytes", "cpu_usage_percent"]].to_numpy().tolist() == [[310 * MIB, 25]]
    assert "memory as a share" in checks["other series"].message and "cpu_utilization" in checks["other series"].message
    _, frame, _ = load(table.format("container_memory_working_set_bytes (MiB)", *"345"), file="t.csv")
    assert frame["peak_memory_bytes"].tolist() == [5 * MIB]
    with pytest.raises(TraceError, match="as a share"):
        load(
            f'"Time","{WEB}"\n2024-05-01 10:00:00,29.3%\n',
            file="Memory Utilisation (from requests)-data-2024-05-01.csv",
        )


def test_files_that_say_nothing_alone_stand_among_others(store, write, load):
    owners = {"__name__": "kube_replicaset_owner", "namespace": "shop", "replicaset": "web-5d8c7b9f4b"}
    owners |= {"owner_kind": "Rollout", "owner_name": "web"}
    made = series("kube_pod_owner", [1], owner_kind="ReplicaSet", owner_name="web-5d8c7b9f4b")
    texts = [answer(memory(), made), answer({"metric": owners, "values": points([1])}), answer()]
    paths = [write(f"{place}.json", text) for place, text in enumerate(texts)]
    report = store.ingest(paths, IngestOptions(name="pods"))
    assert store.frame("pods", ["owner_kind"], finished_only=False)["owner_kind"].tolist() == ["Rollout"]
    assert "2.json" in {check.name: check for check in report.checks}["empty answers"].message
    with pytest.raises(TraceError, match="owners alone"):
        load(texts[1])
    nodes = [{"metric": {"__name__": "node_load1", "instance": "n1"}, "values": points([1])}]
    with pytest.raises(TraceError, match=r"load.json is not of the format prometheus-pods, as 0.json is"):
        store.ingest([paths[0], write("load.json", answer(*nodes))], IngestOptions(name="mixed"))


def test_labels_and_files_tell_what_series_without_a_name_are(store, write):
    joined = {"owner_kind": "StatefulSet", "owner_name": "db", "label_app": "db"}  # group_left(owner_kind, owner_name)
    labels = {"container": "app", "pod": "db-0"}
    texts = {
        "m": answer(series("", [300 * MIB] * 3, **labels, **joined), series("", [GIB] * 3, "api-1")),
        "owners": answer(series("", [1] * 3, "api-1", owner_kind="StatefulSet", owner_name="api")),
        "killed": answer(series("", [1] * 3, **labels, reason="OOMKilled")),
        "restarts": answer(series("", [2, 2, 3], **labels)),
        "start_time": answer(series("", [T0 - 60] * 3, "db-0"), series("", [T0 - 30] * 3, "api-1")),
        "completion": answer(series("", [T0 + 900] * 3, "api-1")),
    }
    report = store.ingest([write(f"{name}.json", text) for name, text in texts.items()], IngestOptions(name="pods"))
    names = ["workload", "owner_kind", "peak_memory_bytes", "restarts", "out_of_memory_kills", "end_time_s"]
    frame = store.frame("pods", ["job_name", *names], finished_only=False).set_index("job_name")
    assert frame.loc["db-0", names[:5]].tolist() == ["db", "StatefulSet", 300 * MIB, 3, 2]
    assert frame.loc["api-1", ["workload", "owner_kind", "peak_memory_bytes"]].tolist() == ["api", "StatefulSet", GIB]
    assert frame.loc["api-1", "end_time_s"] == T0 + 900
    assert "cpu_usage_percent" not in frame
    told = {check.message.split(":")[0] for check in report.checks if check.name == "quantity"}
    assert {"restarts.json", "start_time.json", "completion.json"} <= told


def test_series_of_one_container_that_disagree_are_told(load):
    two = [memory([at * MIB] * 5, prometheus=f"mon/{name}") for name, at in (("eu", 300), ("us", 500))]
    _, frame, checks = load(answer(*two))
    assert frame["peak_memory_bytes"].tolist() == [500 * MIB]
    assert checks["series disagree"].count == 1 and "labels prometheus;" in checks["series disagree"].message
    alike = [memory([at * MIB] * 5, endpoint=name) for name, at in (("a", 300), ("b", 310))]
    after = [memory([at * MIB] * 5, id=name, start=start) for name, at, start in (("c", 100, 0), ("d", 500, 240))]
    for told in (alike, after):
        assert "series disagree" not in load(answer(*told))[2]


def test_labels_of_what_a_use_was_joined_with_are_no_phase(load):
    _, frame, _ = load(answer(series("", [300 * MIB] * 3, phase="Running")))
    assert frame["peak_memory_bytes"].tolist() == [300 * MIB]
    own = {f"container_label_io_kubernetes_{name}": value for name, value in
           (("pod_name", WEB), ("pod_namespace", "shop"), ("container_name", "app"))}  # fmt: skip
    _, frame, _ = load(answer({"metric": {"__name__": WORKING_SET, "id": "/x", **own}, "values": points([MIB] * 3)}))
    assert frame[["namespace", "job_name", "container"]].to_numpy().tolist() == [["shop", WEB, "app"]]


def test_numbers_beside_a_total_do_not_cut_it_up(load):
    rows = "".join(f"{T0 + 60 * at},{WEB},{1000 + 30 * at},{at}\n" for at in range(11))
    _, frame, checks = load(f"Time,pod,{CPU_SECONDS},requests_served\n{rows}", file="t.csv")
    assert frame["cpu_usage_percent"].tolist() == [50]
    assert "requests_served" in checks["other series"].message
    cores = "".join(
        f"{T0 + 60 * at},{WEB},{core},{1000 + 30 * at}\n" for at in range(11) for core in ("cpu00", "cpu01")
    )
    report, frame, _ = load(f"Time,pod,cpu,{CPU_SECONDS}\n{cores}", file="t.csv")
    assert (report.rejected, frame["cpu_usage_percent"].tolist()) == (0, [100])


def test_labels_of_what_was_scraped_are_not_those_of_the_pod(load):
    scraped = {"pod": "scheduler-n1", "namespace": "kube-system", "node": "n1", "container": "kube-scheduler"}
    of_pod = {"exported_pod": WEB, "exported_namespace": "shop"}
    whole = series("kube_pod_resource_request", [GIB] * 3, **scraped, **of_pod, resource="memory", unit="bytes")
    info = series("kube_pod_info", [1] * 3, **scraped, **of_pod, exported_node="n7")
    _, frame, _ = load(answer(memory(), whole, info))
    assert frame[["container", "node", "requested_memory_bytes"]].to_numpy().tolist() == [["app", "n7", GIB]]


@pytest.mark.parametrize("limit", [0, 2**63 - 4096])
def test_cadvisors_words_for_no_limit_are_none(load, limit):
    _, frame, checks = load(answer(memory(), series("container_spec_memory_limit_bytes", [limit] * 3, container="app")))
    assert frame.get("requested_memory_bytes", pd.Series()).dropna().empty
    assert not {"limits for requests", "out of bounds"} & checks.keys()


def test_requests_whose_resource_only_their_unit_tells(load):
    told = [series(REQUESTS, [n] * 3, container="app", unit=of) for of, n in (("byte", GIB), ("core", 2))]
    _, frame, _ = load(answer(memory(), *told))
    assert frame[["requested_memory_bytes", "requested_cpu_percent"]].to_numpy().tolist() == [[GIB, 200]]


def test_a_share_of_a_gpus_memory_is_no_amount(load):
    told = [series(f"DCGM_FI_DEV_{name}", [at] * 3) for name, at in (("FB_USED_PERCENT", 0.8), ("GPU_UTIL", 60))]
    _, frame, checks = load(answer(memory(), *told))
    assert frame.get("peak_gpu_memory_bytes", pd.Series()).dropna().empty
    assert frame["gpu_usage_percent"].tolist() == [60]
    assert "DCGM_FI_DEV_FB_USED_PERCENT" in checks["other series"].message


def test_a_slice_of_a_gpu_counts_as_its_share(load):
    # NVIDIA/dcgm-exporter#216: of a slice GPU_UTIL is 0 or missing; its slices bear the UUID of their GPU
    parts = [{"UUID": "GPU-1", "GPU_I_ID": str(at), "GPU_I_PROFILE": of} for at, of in ((1, "3g.20gb"), (2, "1g.5gb"))]
    values = {"DCGM_FI_DEV_GPU_UTIL": 0, "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 0.5, "DCGM_FI_DEV_FB_USED": 1024}
    told = [series(name, [at] * 3, container="app", **part) for name, at in values.items() for part in parts]
    asked = [f"nvidia_com_mig_{of}" for of in ("3g_20gb", "1g_5gb")]
    told += [series(REQUESTS, [1] * 3, container="app", resource=of) for of in asked]
    told += [series("DCGM_FI_DEV_GPU_UTIL", [40] * 3, "whole-1", container="app", UUID="GPU-2")]
    told += [series(REQUESTS, [1] * 3, "a30-1", container="app", resource="nvidia_com_mig_2g_12gb")]
    told += [series("DCGM_FI_PROF_GR_ENGINE_ACTIVE", [0.5] * 3, "single-1", container="app", **parts[0])]
    told += [series(REQUESTS, [2] * 3, "single-1", container="app", resource="nvidia_com_gpu")]
    _, frame, _ = load(answer(memory(), *told))
    frame = frame.set_index("job_name")
    asked = {WEB: 400 / 7, "whole-1": np.nan, "a30-1": 50, "single-1": 600 / 7}
    used = {WEB: 200 / 7, "whole-1": 40, "a30-1": np.nan, "single-1": 150 / 7}
    for name, known in (("requested_gpu_percent", asked), ("gpu_usage_percent", used)):
        assert frame[name].to_dict() == pytest.approx(known, nan_ok=True)
    assert frame.loc[WEB, "peak_gpu_memory_bytes"] == 2 * GIB

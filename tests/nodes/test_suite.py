"""The suite: a plan that a seed decides, tools that are really run and read back, nothing left behind."""

import json
import os
import sys

import numpy as np
import psutil
import pytest

from workprof.core.errors import SettingsError, WorkprofError
from workprof.formats.benchmarks import read_benchmarks
from workprof.nodes.metrics import ASPECT_OF, BENCHMARKS, METRICS
from workprof.nodes.parsed_runs import parameters_of, parse_runs
from workprof.nodes.parsers import ParsedOutput
from workprof.nodes.processes import (
    HostWatch,
    Snapshot,
    await_children,
    await_listening,
    background,
    free_port,
    host_summary,
    run_tool,
    snapshot,
)
from workprof.nodes.suite import (
    PACKAGES,
    PlannedRun,
    SuiteSettings,
    missing_tools,
    plan_suite,
    require_tools,
    run_suite,
    tools_of,
    version_of,
)

pytestmark = pytest.mark.slow

HOST_MEASURES = {
    "cpu_busy_pct",
    "memory_used_kib",
    "disk_read_bytes_per_s",
    "disk_write_bytes_per_s",
    "disk_io_util_pct",
    "net_in_bytes_per_s",
}


def settings(**changed):
    return SuiteSettings(**{"node": "here", "seconds_per_benchmark": 1} | changed)


def measured(tmp_path, asked):
    """Run a suite and read its lines back as an ingest does."""
    path = tmp_path / "runs.jsonl"
    disk = tmp_path / "disk"
    disk.mkdir()
    lines = list(run_suite(plan_suite(asked), asked, disk))
    path.write_text("".join(json.dumps(line.to_json(), allow_nan=False) + "\n" for line in lines))
    assert list(disk.iterdir()) == []
    found = read_benchmarks(path)
    assert found.rejected == ()
    return lines, parse_runs(found.frame)


def test_the_tools_are_installed():
    """The other tests run them; where one is missing this says which package it is in."""
    assert missing_tools(PACKAGES) == (), "apt-get install " + " ".join(PACKAGES.values())


def test_a_plan_is_decided_by_its_seed():
    one, same, other = (plan_suite(settings(repeat=10, stress_share=0.2, seed=seed)) for seed in (7, 7, 8))
    assert one == same
    assert one != other
    for benchmark in BENCHMARKS:
        runs = [run for run in one.runs if run.benchmark == benchmark]
        assert len(runs) == 10
        assert sum(bool(run.stress) for run in runs) == 2
        assert len({run.argv for run in runs}) == 1  # a stressed run is the same run
    assert [run.benchmark for run in one.runs] != sorted(run.benchmark for run in one.runs)
    assert one.within_budget == len(one.runs)
    assert one.expected_s == pytest.approx(sum(run.expected_s for run in one.runs))


def test_a_stress_is_on_the_resource_of_its_benchmark():
    flags = {"cpu": "--cpu", "memory": "--vm", "disk": "--hdd", "network": "--sock"}
    for run in plan_suite(settings(stress_share=0.9)).runs:
        assert run.stress[:2] == ("stress-ng", flags[ASPECT_OF[run.benchmark]])


def test_commands_are_scaled_in_time_and_name_no_place():
    for seconds in (1, 2, 30):
        for run in plan_suite(settings(seconds_per_benchmark=seconds)).runs:
            text = parameters_of(run.benchmark, run.argv, ParsedOutput(), "")
            assert not {"port", "127.0.0.1", "."} & set(text.lower().split()), text
            assert not any(word.startswith("/") for word in run.argv)
            assert run.expected_s >= seconds
            assert any(str(seconds) in word for word in run.argv) or run.benchmark == "network-qperf"


@pytest.mark.parametrize(("budget_s", "within"), [(0.5, 0), (10, 4), (1e9, 18)])
def test_a_budget_says_how_many_runs_fit(budget_s, within):
    plan = plan_suite(settings(repeat=3, budget_s=budget_s))
    ends = np.cumsum([run.expected_s for run in plan.runs])
    assert plan.within_budget == int((ends <= budget_s).sum())
    assert abs(plan.within_budget - within) <= 2
    assert plan.expected_s <= budget_s


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"node": " "}, "no name"),
        (
            {"seconds_per_benchmark": 0},
            "seconds_per_benchmark is 0; give a whole number of seconds between 1 and 600",
        ),
        ({"repeat": 0}, "repeat is 0"),
        ({"stress_share": 1.0}, "stress_share is 1.0"),
        ({"budget_s": float("nan")}, "budget_s is nan"),
        ({"threads": 0}, "threads is 0"),
        ({"benchmarks": ("gpu-burn",)}, "benchmarks is 'gpu-burn'; choose from cpu-sysbench"),
        ({"benchmarks": ()}, "benchmarks is empty"),
    ],
)
def test_settings_out_of_bounds(changed, said):
    with pytest.raises(SettingsError, match=said):
        settings(**changed)


def test_missing_tools_are_named_with_their_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    plan = plan_suite(settings(benchmarks=("disk-fio", "network-qperf"), stress_share=0.9))
    assert tools_of(plan.runs) == ("fio", "qperf", "stress-ng")
    with pytest.raises(SettingsError, match=r"not installed: fio, qperf, stress-ng; .* apt-get install fio qperf"):
        require_tools(tools_of(plan.runs))
    with pytest.raises(SettingsError, match="not installed"):
        next(run_suite(plan, settings(), tmp_path))
    assert version_of("fio") == ""


@pytest.mark.parametrize("tool", sorted(PACKAGES))
def test_versions(tool):
    name, version = version_of(tool).split(" ")
    assert name == tool
    assert all(part.isdigit() for part in version.split("."))


def test_a_disk_that_is_no_folder(tmp_path):
    asked = settings(benchmarks=("disk-ioping",))
    with pytest.raises(SettingsError, match="is no folder"):
        next(run_suite(plan_suite(asked), asked, tmp_path / "absent"))


def moment(at_s, busy_s, disk_busy_s=0.0, received=0.0):
    return Snapshot(at_s, busy_s, 4 * at_s, 1000 + at_s, 10 * at_s, 20 * at_s, disk_busy_s, received)


def test_host_figures_of_known_snapshots():
    found = host_summary([moment(0, 0), moment(1, 4, 0.5, 100), moment(4, 4, 0.5, 400)])
    assert found["cpu_busy_pct_mean"] == 25
    assert found["cpu_busy_pct_max"] == 100
    assert found["disk_io_util_pct_mean"] == 12.5
    assert found["disk_io_util_pct_max"] == 50
    assert found["disk_read_bytes_per_s_mean"] == found["disk_read_bytes_per_s_max"] == 10
    assert found["net_in_bytes_per_s_mean"] == 100
    assert found["memory_used_kib_max"] == 1004


def test_shares_stay_between_none_and_all_where_counters_go_back():
    found = host_summary([moment(0, 0), moment(1, 5), moment(2, 4), moment(2, 6), moment(3, 6)])
    assert (found["cpu_busy_pct_mean"], found["cpu_busy_pct_max"]) == (pytest.approx(100 / 3), 100)


def test_host_figures_leave_out_what_is_not_told():
    unknown = float("nan")
    found = host_summary([Snapshot(at, at, at, 5.0, unknown, unknown, unknown, at) for at in (0.0, 1.0)])
    assert set(found) == {
        f"{name}_{kind}" for name in ("cpu_busy_pct", "memory_used_kib") for kind in ("mean", "max")
    } | {
        "net_in_bytes_per_s_mean",
        "net_in_bytes_per_s_max",
    }


def test_a_watch_tells_every_measure_of_this_machine():
    with HostWatch() as watch:
        while snapshot().total_s == watch._snapshots[0].total_s:
            pass
    found = watch.summary()
    assert {name.rsplit("_", 1)[0] for name in found} <= HOST_MEASURES
    assert {"cpu_busy_pct_mean", "memory_used_kib_max", "net_in_bytes_per_s_mean"} <= set(found)
    assert 0 <= found["cpu_busy_pct_mean"] <= 100
    assert found["cpu_busy_pct_mean"] <= found["cpu_busy_pct_max"] + 1e-9


def test_a_tool_that_takes_too_long_is_ended_with_what_it_started(tmp_path):
    found = run_tool(("sh", "-c", "sleep 300 & echo $! > child; echo begun; wait"), tmp_path, 1.0)
    assert (found.rc, found.stdout, found.stderr) == (124, "", "ended after 1 s")
    assert found.finished > found.started
    child = int((tmp_path / "child").read_text())
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE


def test_a_tool_that_fails_keeps_its_words(tmp_path):
    found = run_tool(("sh", "-c", "echo out; echo because >&2; exit 3"), tmp_path, 60)
    assert (found.rc, found.stdout, found.stderr) == (3, "out\n", "because\n")


def test_what_ends_or_does_not_come_is_told(tmp_path):
    with background(("sh", "-c", "exit 4"), tmp_path) as process, pytest.raises(WorkprofError, match="status 4"):
        await_listening(process, free_port())
    with background(("sh", "-c", "exit 0"), tmp_path) as process, pytest.raises(WorkprofError, match="its workers"):
        await_children(process)


def test_a_server_is_ready_when_it_listens(tmp_path):
    port = free_port()
    code = f"import socket; s = socket.create_server(('127.0.0.1', {port})); s.accept(); s.accept()"
    with background((sys.executable, "-c", code), tmp_path) as process:
        await_listening(process, port)
        assert process.poll() is None
    assert process.poll() is not None


def test_a_run_whose_server_does_not_start_is_a_failed_run(tmp_path):
    plan = plan_suite(settings(benchmarks=("network-iperf3",)))
    broken = PlannedRun("network-iperf3", plan.runs[0].argv, ("iperf3", "--no-such-option", "PORT"), (), 1.0)
    (line,) = run_suite(type(plan)((broken,), 1, 1.0), settings(), tmp_path)
    assert line.rc == 126
    assert "iperf3 ended with status" in line.stderr
    assert line.stdout == ""


def test_a_run_whose_stress_ends_early_is_not_called_stressed(tmp_path):
    (run,) = plan_suite(settings(benchmarks=("disk-ioping",), stress_share=0.9)).runs
    short = PlannedRun(run.benchmark, run.argv, (), ("stress-ng", "--cpu", "1", "--cpu-ops", "1"), 1.0)
    (line,) = run_suite(type(plan_suite(settings()))((short,), 1, 1.0), settings(), tmp_path)
    assert line.stressed is None or line.rc == 126  # too short to be seen at all
    assert line.stressed is not False


def test_a_run_under_stress_is_read_back(tmp_path):
    lines, runs = measured(tmp_path, settings(benchmarks=("network-iperf3",), stress_share=0.9, note="by hand"))
    assert runs.problems == ()
    assert runs.stressed.tolist() == [1]
    assert runs.node.tolist() == ["here"]
    assert {name.rsplit("_", 1)[0] for name in runs.host_names} <= HOST_MEASURES
    (line,) = lines
    assert line.provenance["stress"][0] == "stress-ng"
    assert line.provenance["note"] == "by hand"
    assert line.provenance["cores"] == os.cpu_count()
    assert line.started < line.finished


def test_leaving_early_ends_the_run_that_is_under_way(tmp_path):
    asked = settings(benchmarks=("disk-ioping",), repeat=3)
    before = set(psutil.Process().children(recursive=True))
    lines = run_suite(plan_suite(asked), asked, tmp_path)
    next(lines)
    lines.close()
    assert list(tmp_path.iterdir()) == []
    assert set(psutil.Process().children(recursive=True)) <= before


def test_a_budget_ends_the_suite_before_a_run_that_does_not_fit(tmp_path):
    asked = settings(benchmarks=("disk-ioping",), repeat=50, budget_s=2.9)
    assert 1 <= len(list(run_suite(plan_suite(asked), asked, tmp_path))) <= 2


@pytest.mark.soak
@pytest.mark.slow
def test_all_six_are_read_back_with_and_without_stress(tmp_path):
    _, runs = measured(tmp_path, settings(repeat=2, stress_share=0.5, seed=3))
    assert runs.problems == ()
    assert sorted(runs.benchmark.tolist()) == sorted(BENCHMARKS * 2)
    for benchmark in BENCHMARKS:
        mine = runs.benchmark == benchmark
        assert sorted(runs.stressed[mine].tolist()) == [0, 1]
        assert len({text for text, own in zip(runs.parameters, mine, strict=True) if own}) == 1
        assert "unknown" not in "".join(runs.parameters)
        for metric in METRICS.values():
            if metric.scored and metric.benchmark == benchmark:
                assert (runs.column(metric.name)[mine] > 0).all(), metric.name

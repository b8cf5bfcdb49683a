"""perf stat -I -x,: counts per interval become rates; scopes, multiplexing, the last interval, locales."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.formats.telemetry_files import checks, imported
from workprof.core.errors import NoRows
from workprof.formats.telemetry import sniffed

THREE = """
    # started on Sat Nov 21 02:21:23 2026

         1.000000000,840,,context-switches,2002905746,100.00,419.391,/sec
         1.000000000,<not supported>,,cycles,0,100.00,,
         1.000000000,2002.83,msec,task-clock,2002834293,100.00,2.003,CPUs utilized
         3.000000000,1000,,context-switches,2002905746,40.00,419.391,/sec
         3.000000000,<not supported>,,cycles,0,100.00,,
         3.000000000,<not counted>,msec,task-clock,0,100.00,,
         3.020000000,7,,context-switches,2002905746,100.00,419.391,/sec
    """


def test_counts_become_rates_of_their_interval(tmp_path):
    found = imported(tmp_path, "perf.csv", THREE)
    assert list(found.frame.columns[4:]) == ["perf.context-switches/s", "perf.task-clock/s"]
    assert found.frame["t"].tolist() == [1, 3]
    assert found.frame["run"].tolist() == ["perf", "perf"]
    assert found.frame["perf.context-switches/s"].tolist() == [840, 500]
    assert found.frame["perf.task-clock/s"].iloc[0] == 2002.83
    assert np.isnan(found.frame["perf.task-clock/s"].iloc[1])
    assert checks(found) == {"multiplexed": 1, "short_intervals": 1, "runs": 1, "empty_columns": 1, "empty_cells": 1}


@pytest.mark.parametrize(
    ("scopes", "summed"),
    [(("CPU0", "CPU1"), 2), (("S0-D0-C0,2", "S0-D0-C1,2"), 2), (("S0,2", "S1,2"), 2), (("N0,4",), 1)],
    ids=["-A", "--per-core", "--per-socket", "--per-node"],
)
def test_counts_of_single_processors_are_added_up(tmp_path, scopes, summed):
    lines = [f"     {t}.000000000,{scope},10,,sched:sched_wakeup,1,100.00,," for t in (1, 2) for scope in scopes]
    found = imported(tmp_path, "perf.csv", "\n".join(lines))
    assert found.frame["perf.sched:sched_wakeup/s"].tolist() == [10.0 * summed] * 2
    assert checks(found)["scopes_summed"] == 2 * summed


@pytest.mark.parametrize("decimal", [".", ","])
def test_counts_of_single_threads_are_added_up(tmp_path, decimal):
    """`--per-thread`; the file was taken for a table of jobs."""
    threads = ("python-1234", "Web Content-77", "kworker/0:1-9")
    lines = [
        f"     {t}.000000000,{name},1.5,msec,task-clock,1001314455,100.00,1.0,CPUs utilized"
        for t in (1, 2)
        for name in threads
    ]
    text = "\n".join(lines).replace(".", decimal)
    assert sniffed(text) == "perf-stat"
    found = imported(tmp_path, "perf.csv", text)
    assert found.frame["perf.task-clock/s"].tolist() == [4.5, 4.5]
    assert checks(found)["scopes_summed"] == 6


def test_metrics_without_names_are_no_counts(tmp_path):
    """`--metric-only`: the third number was taken for the name of the first."""
    with pytest.raises(NoRows, match="no line of perf stat -I -x, with a count"):
        imported(tmp_path, "perf.csv", "     1.000269405,1.25,2.50,0.80,\n     2.000269405,1.26,2.51,0.81,\n")


@pytest.mark.parametrize("cgroup", ["system.slice/b.service", "1000"])
def test_each_cgroup_is_a_run_of_its_own(tmp_path, cgroup):
    told = {"a": 10, cgroup: 20}
    lines = [f"{t}.000000000,{n},,cycles,{name},999,50.00,," for t in (1, 2) for name, n in told.items()]
    found = imported(tmp_path, "perf.csv", "\n".join(lines))
    assert found.frame["run"].tolist() == ["perf-a", "perf-a", f"perf-{cgroup}", f"perf-{cgroup}"]
    assert found.frame["perf.cycles/s"].tolist() == [10, 10, 20, 20]
    assert checks(found)["multiplexed"] == 4
    lines = [
        json.dumps({"interval": t, "counter-value": "10", "event": "cycles", "cgroup": name})
        for t in (1, 2)
        for name in told
    ]
    assert set(imported(tmp_path, "perf.json", "\n".join(lines)).frame["run"]) == {"perf-a", f"perf-{cgroup}"}


def test_an_event_in_two_groups_is_counted_once(tmp_path):
    """`-e '{cycles,instructions},{cycles,branches}'` prints cycles twice, each time an estimate of the same count."""
    told = (("cycles", "100"), ("instructions", "50"), ("cycles", "110"), ("branches", "5"))
    lines = [f"{t}.000000000,{n},,{name},999,50.00,," for t in (1, 2) for name, n in told]
    found = imported(tmp_path, "perf.csv", "\n".join(lines))
    assert found.frame["perf.cycles/s"].tolist() == [105, 105]
    assert checks(found)["repeated_events"] == 2
    lines = [f"1.000000000,CPU{cpu},{n},,cycles,999,50.00,," for cpu in (0, 1) for n in ("100", "<not counted>")]
    found = imported(tmp_path, "perf.csv", "\n".join(lines))
    assert found.frame["perf.cycles/s"].tolist() == [200]
    assert checks(found)["multiplexed"] == 2
    lines = [
        json.dumps({"interval": 1, "cpu": str(cpu), "counter-value": n, "event": "cycles"})
        for cpu in (0, 1)
        for n in ("100", "110")
    ]
    assert imported(tmp_path, "perf.json", "\n".join(lines)).frame["perf.cycles/s"].tolist() == [210]


def test_names_of_events_are_kept_whole(tmp_path):
    lines = [
        "     1.000000000,10,,cycles:u,1,100.00,,",
        "     1.000000000,20,,cpu/event=0x3c,umask=0x0/,1,50.00,,",
        "     1.000000000,30,,uncore_imc/cas_count_read/,1,100.00,,",
    ]
    found = imported(tmp_path, "perf.csv", "\n".join(lines))
    assert found.frame.iloc[0, 4:].to_dict() == {
        "perf.cycles:u/s": 10,
        "perf.cpu/event=0x3c,umask=0x0//s": 20,
        "perf.uncore_imc/cas_count_read//s": 30,
    }
    assert checks(found)["multiplexed"] == 1


def test_a_time_that_falls_starts_another_run(tmp_path):
    lines = [f"     {t}.000000000,{n},,faults,1,100.00,," for t, n in ((1, 5), (2, 6), (1, 7), (2, 8))]
    found = imported(tmp_path, "perf.csv", "\n".join(lines))
    assert found.frame["run"].tolist() == ["perf", "perf", "perf-2", "perf-2"]
    assert found.frame["perf.faults/s"].tolist() == [5, 6, 7, 8]


def test_another_first_line_starts_another_run(tmp_path):
    """`--append`: where the second recording began later than the first ended, they were one."""
    lines = [
        "# started on Thu May  2 10:04:18 2024",
        "     1.000000000,5,,faults,1,100.00,,",
        "# started on Thu May  2 10:05:18 2024",
        "     1.250000000,10,,faults,1,100.00,,",
        "     2.250000000,7,,faults,1,100.00,,",
    ]
    found = imported(tmp_path, "perf.csv", "\n".join(lines))
    assert found.frame["run"].tolist() == ["perf", "perf-2", "perf-2"]
    assert found.frame["perf.faults/s"].tolist() == [5, 8, 7]


def test_variances_are_no_cgroups(tmp_path):
    lines = [f"     {t}.000000000,10,,cycles,0.{t}0%,999,100.00,," for t in (1, 2)]
    assert imported(tmp_path, "perf.csv", "\n".join(lines)).frame["run"].tolist() == ["perf", "perf"]


def test_words_of_the_program_may_stand_first(tmp_path):
    found = imported(tmp_path, "perf.csv", "hello, world\n     1.000000000,5,,faults,1,100.00,,\n")
    assert ([one.line for one in found.rejected], found.frame["perf.faults/s"].tolist()) == ([1], [5])


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_decimal_commas_are_read_with_any_separator(tmp_path, separator):
    """gz/autoperf#1, apache/mesos, pull request 391."""
    lines = [
        ["     1,000000000", "312998922", "", "instructions", "1000000000", "100,00", "1,2", "insn per cycle"],
        ["     1,000000000", "1001,31", "msec", "task-clock", "1000000000", "100,00", "0,99", "CPUs utilized"],
        ["     2,000000000", "312998923", "", "instructions", "1000000000", "100,00", "1,2", "insn per cycle"],
        ["     2,000000000", "<not counted>", "msec", "task-clock", "0", "0,00", "", ""],
    ]
    text = "# started on Thu May  2 10:04:18 2019\n\n" + "".join(separator.join(line) + "\n" for line in lines)
    assert sniffed(text) == "perf-stat"
    found = imported(tmp_path, "perf.csv", text)
    assert found.frame["perf.instructions/s"].tolist() == [312998922, 312998923]
    assert found.frame["perf.task-clock/s"].tolist()[0] == 1001.31


def test_a_warning_of_perf_may_stand_first(tmp_path):
    text = THREE.replace("2026\n", "2026\n    Warning: some events are not counted\n", 1)
    found = imported(tmp_path, "perf.csv", text)
    assert ([one.line for one in found.rejected], len(found.frame)) == ([2], 2)


def test_other_lines_are_set_aside(tmp_path):
    found = imported(
        tmp_path, "perf.csv", f"{THREE}\n    event syntax error: 'x'\n    4.0\n    5.0,many,,faults,1,100.00,,\n"
    )
    assert [one.line for one in found.rejected] == [11, 12, 13]
    with pytest.raises(NoRows, match="no line of perf stat"):
        imported(tmp_path, "perf.csv", "nothing of perf\n", "perf-stat")


def json_line(at, value, event, **more):
    told = {"interval": at, **more, "counter-value": value, "unit": "", "event": event, "event-runtime": 1}
    return json.dumps(told | {"pcnt-running": more.pop("share", 100.0), "metric-value": 0.0, "metric-unit": "(null)"})


def test_lines_of_json_are_those_of_text(tmp_path):
    """The same counts as `THREE`, as `perf stat -j` writes them."""
    lines = ["# started on Sat Nov 21 02:21:23 2026", ""]
    for line in THREE.split("\n")[3:-1]:
        at, value, unit, event, _, percent, *_ = line.strip().split(",")
        lines.append(json_line(float(at), value, event, unit=unit).replace("100.0", percent))
    told, found = imported(tmp_path, "perf.csv", THREE), imported(tmp_path, "perf.json", "\n".join(lines))
    pd.testing.assert_frame_equal(found.frame, told.frame)
    assert checks(found) == checks(told)


@pytest.mark.parametrize("scope", [{"cpu": ("0", "1")}, {"socket": ("S0", "S1"), "aggregate-number": (2, 2)}])
def test_counts_of_single_processors_in_json_are_added_up(tmp_path, scope):
    lines = [
        json_line(t, "10.000000", "cycles", **{key: values[place] for key, values in scope.items()})
        for t in (1.0, 2.0)
        for place in (0, 1)
    ]
    found = imported(tmp_path, "perf.json", "\n".join(lines))
    assert found.frame["perf.cycles/s"].tolist() == [20.0, 20.0]
    assert checks(found)["scopes_summed"] == 4


def test_a_line_of_json_without_a_count_is_rejected_with_its_number(tmp_path):
    lines = [
        json_line(1.0, "10", "cycles"),
        '{"interval" : 1.0, "metric-value" : "0.5", "metric-unit" : "insn per cycle"}',
        '{"interval" : 2.0, "counter-value" : "1',
        json_line(2.0, "ten", "cycles"),
        json_line(2.0, "20", "cycles"),
    ]
    found = imported(tmp_path, "perf.json", "\n".join(lines))
    assert [one.line for one in found.rejected] == [2, 3, 4]
    assert {one.reason for one in found.rejected} == {"no line of perf stat -I -j with a count"}
    comma = '{"interval" : 1.0, "counter-value" : "5", "event" : "cycles", "pcnt-running" : 100,00}'
    with pytest.raises(NoRows, match="LC_ALL=C"):
        imported(tmp_path, "perf.json", comma)
    assert found.frame["perf.cycles/s"].tolist() == [10, 20]

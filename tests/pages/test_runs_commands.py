"""What the pages keep: Runs has a command for each, or tells why not; and that command finds the page's own result."""

import shlex
import shutil

import pytest
import streamlit as st

from tests.pages import whole_home
from tests.pages.conftest import problems
from workprof.cli.main import app as command_line
from workprof.core.records import to_json
from workprof.core.settings import from_environment
from workprof.workbench import Workbench
from workprof.workbench.declared import STORED

TASK = "HEAVY"
OF_OTHER_SETTINGS = {
    "phases_run": whole_home.RUN,
    "phases_from": "4",
    "phases_to": "20",
    "phases_log": "false",
    "phases_phases": "joint",
}
LOOKS = {
    "durations by user": ("durations", "jobs", {"durations_by": "user"}),
    "durations by profile": ("durations", "jobs", {"durations_by": "profile", "durations_target": "cpu_usage_percent"}),
    "a fact": ("memory", "tasks", {"memory_tab": "Tasks", "memory_task": TASK, "memory_facts_open": "true"}),
    "bins": (
        "memory",
        "tasks",
        {"memory_tab": "Bins", "memory_task": TASK, "memory_k": "2", "memory_curve_open": "true"},
    ),
    "why": (
        "memory",
        "tasks",
        {
            "memory_tab": "Policies",
            "memory_task": TASK,
            "memory_policies": list(whole_home.POLICIES),
            "memory_why_open": "true",
        },
    ),
    "a verdict": ("memory", "tasks", {"memory_tab": "Plan", "memory_times": "0.7"}),
    "a timeline": ("phases", "phases", {"phases_tab": "Timeline", "phases_run": whole_home.RUN}),
    "a timeline of other settings": ("phases", "phases", {"phases_tab": "Timeline", **OF_OTHER_SETTINGS}),
}
EXPECTED = {
    "durations by user": "profiles.durations",
    "durations by profile": "profiles.durations",
    "a fact": "memory.fact",
    "bins": "memory.improvement",
    "why": "memory.why",
    "a verdict": "memory.verdict",
    "a timeline": "phases.timeline",
    "a timeline of other settings": "phases.timeline",
}


@pytest.mark.some(1)
@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_the_command_of_what_a_page_keeps_finds_the_same_record(home, app, tmp_path_factory, look):
    shutil.rmtree(home, ignore_errors=True)
    hashes = whole_home.make(home.parent, tmp_path_factory)
    page, dataset, parameters = LOOKS[look]
    before = _keys()
    test = app(page, ds=getattr(hashes, dataset), **parameters)
    assert problems(test) == []
    st.cache_resource.clear()
    kept = [run for run in _runs() if run.key not in before]
    assert EXPECTED[look] in {run.step for run in kept}
    for run in kept:
        with Workbench(from_environment()) as bench:
            again = bench.run_again(run.run)
            shown = _record(bench, run)
            if not again.shell:
                assert again.why_no_shell == STORED[run.step].no_command
                continue
            bench.remove_run(run.run)
        command_line(args=shlex.split(again.shell)[1:], standalone_mode=False)
        with Workbench(from_environment()) as bench:
            assert _record(bench, run) == shown


def _runs():
    with Workbench(from_environment()) as bench:
        return bench.stored_runs()


def _keys():
    return {run.key for run in _runs()}


def _record(bench, run):
    """Return a kept result as plain numbers and texts, without the seconds that it took."""
    found = bench._cache.get(run.key, STORED[run.step].result)
    assert found is not None
    return _untimed(to_json(found))


def _untimed(value):
    if isinstance(value, dict):
        return {name: _untimed(item) for name, item in value.items() if not name.endswith("seconds")}
    return [_untimed(item) for item in value] if isinstance(value, list) else value

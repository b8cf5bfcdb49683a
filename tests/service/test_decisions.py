"""What a person decides is followed by the sizes that the service gives, without a restart."""

import time

import pytest

from tests.memory.test_verdict import jobs
from workprof import Workbench, from_environment
from workprof.memory.decisions import ACCEPTED, NEVER
from workprof.service.app import size_of
from workprof.service.state import CATALOGUE_S, NotReady, State


@pytest.fixture
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    with Workbench(from_environment()) as workbench:
        workbench.ingest(jobs(3).drop(columns="finished"))
        found = State(workbench)
        yield found
        found.close()


def sizes(state):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            return state.sizes()
        except NotReady:
            time.sleep(0.05)
    raise AssertionError("no sizes within a minute")


def test_a_decision_is_followed_and_told(state):
    first = sizes(state)
    row = first.verdict.memory.rows[0]
    asked = dict(row.key) | {"requested_memory_bytes": row.request * 1e9}
    before = size_of(asked, first)
    assert (before["action"], before["size_gb"], before["decision"]) == ("lower", row.size, None)
    (one,) = state.workbench.decide(first.dataset, _key(first), NEVER, note="peak soon", by="ann")
    time.sleep(2 * CATALOGUE_S)
    left_out = size_of(asked, sizes(state))
    assert (left_out["action"], left_out["size_gb"], left_out["next_gb"]) == ("keep", row.request, [])
    assert (left_out["decision"]["state"], left_out["decision"]["by"]) == (NEVER, "ann")
    assert left_out["why"].startswith(f"never touch by ann on {one.at[:10]} (peak soon)")
    state.workbench.decide(first.dataset, _key(first), ACCEPTED)
    time.sleep(2 * CATALOGUE_S)
    accepted = size_of(asked, sizes(state))
    assert accepted["decision"]["state"] == ACCEPTED
    assert {name: accepted[name] for name in ("action", "size_gb", "why")} == {
        name: before[name] for name in ("action", "size_gb", "why")
    }


def test_a_job_beyond_the_scope_that_was_judged_gets_no_row_of_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path / "home"))
    table = jobs(3).drop(columns="finished")
    with Workbench(from_environment()) as workbench:
        workbench.ingest(table.assign(workload=["long", "short"] * (len(table) // 2)))
        state = State(workbench, f"{workbench.datasets()[0].name}?workload=short")
        try:
            sized = sizes(state)
        finally:
            state.close()
    row = sized.verdict.memory.rows[0]
    asked = dict(row.key) | {"requested_memory_bytes": row.request * 1e9}
    assert size_of(asked, sized) == size_of(asked | {"workload": "short"}, sized)
    beyond = size_of(asked | {"workload": "long"}, sized)
    assert (size_of(asked, sized)["action"], beyond["action"], beyond["size_gb"]) == ("lower", "keep", row.request)
    assert beyond["why"] == "only runs of workload short were judged"


def test_a_dataset_is_called_as_it_is_now(state):
    before = sizes(state)
    state.workbench.assessment(f"{before.dataset}?task_name={before.verdict.memory.rows[0].key['task_name']}")
    state.workbench.rename(before.dataset, "renamed")
    time.sleep(2 * CATALOGUE_S)
    assert sizes(state).learned.dataset == "renamed"
    names = {run.dataset.partition("?")[0] for run in state.workbench.stored_runs()}
    assert names == {"renamed"}


def _key(sized):
    row = sized.verdict.memory.rows[0]
    return ",".join(f"{name}={value}" for name, value in row.key.items())


def test_a_kept_result_is_loaded_before_it_is_asked_for(state):
    kept = sizes(state).learned
    again = State(state.workbench)
    try:
        until = time.monotonic() + 60
        while not again._held._made and time.monotonic() < until:
            time.sleep(0.02)
        assert again.sizes().learned == kept  # the first to ask does not wait
        assert [what for what, _ in again._held._made] == ["sizes"]  # no forecaster was kept: none is trained
    finally:
        again.close()

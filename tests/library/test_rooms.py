"""The rooms of the workbench: every question has a name in one, and asks there what the flat method asks."""

import pytest

import workprof as wp
from tests.library.test_calls import jobs
from workprof.workbench import Workbench, rooms
from workprof.workbench.declared import DECLARED
from workprof.workbench.question_methods import Bound

KINDS = {
    **{"profiles": rooms.Profiles, "forecasts": rooms.Forecasts, "memory": rooms.Memory, "nodes": rooms.Nodes},
    **{"phases": rooms.Phases, "data": rooms.Data, "results": rooms.Results},
}
ELSEWHERE = {
    "memory.tables": "`bench.memory.train` has them, too",
    "profiles.held_out": "what the evaluation keeps of its runs",
    "profiles.feedback_model": "`bench.forecasts.feedback` reads it",
    "phases.live_library": "`Following` of a recording makes it",
    "profiles.sweep": "is computed group by group, by a method",
}


@pytest.fixture
def bench(tmp_path):
    with Workbench(wp.from_environment({"WORKPROF_HOME": str(tmp_path / "home")})) as opened:
        yield opened


def asked(kind):
    return [one.declared.question.name for one in vars(kind).values() if isinstance(one, rooms.asks)]


def test_every_question_has_a_name_in_a_room_or_a_reason():
    named = [name for kind in KINDS.values() for name in asked(kind)]
    assert len(named) == len(set(named))
    assert set(DECLARED) - set(named) == set(ELSEWHERE)


def test_a_listing_tells_a_story(bench):
    listed = dir(bench)
    assert set(rooms.ROOMS) == set(KINDS) < set(listed)
    assert len(listed) < 20
    assert {"plan", "ledger", "decide"} <= set(dir(bench.memory))
    assert {"fit", "membership", "cached", "start"} <= set(dir(bench.profiles))
    for name, kind in KINDS.items():
        assert kind.__doc__
        assert isinstance(getattr(bench, name), kind)
        assert all(hasattr(getattr(bench, name), one) for one in dir(getattr(bench, name)))


@pytest.mark.slow
def test_a_room_asks_what_the_flat_method_asks(bench):
    dataset = bench.data.ingest(jobs(), wp.IngestOptions(name="jobs")).hash
    plan = bench.memory.plan(dataset)
    assert bench.verdict.cached(dataset).result is not None
    assert bench.memory.plan.key(dataset) == bench.verdict.key(dataset)
    assert plan.reason == bench.verdict(dataset).reason
    settings = wp.ProfileSettings(features=("cpu_usage_percent", "peak_memory_bytes"), min_cluster_size=20)
    fit = bench.profiles.fit(dataset, settings)
    assert bench.profiles(dataset, settings).labels.tolist() == fit.labels.tolist()
    assert isinstance(bench.profiles.fit, Bound)
    assert [one.name for one in bench.data.list()] == [one.name for one in bench.datasets()] == ["jobs"]
    assert [one.key for one in bench.results.list()] == [one.key for one in bench.stored_runs()]
    assert "ingest" in repr(bench.data)

"""What is held from moment to moment, against counts by the minute and by every event; caps, growth, bursts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_memory as given
from tests.memory.traces import trace
from tests.shared_data import needs_shared_data
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.core.settings import from_environment
from workprof.memory.load import (
    CAPACITY,
    CAPPED,
    HALF,
    PLANNED,
    REQUESTED,
    Clock,
    attempts_of,
    bursts_of,
    clock_of,
    levels_of,
    load_of,
    runs_without_room,
)
from workprof.memory.plan import PlanSettings, ViolationSettings, plan_of
from workprof.memory.rollup import Rollup, RollupSettings, rollup_of
from workprof.memory.usage import runs_of
from workprof.workbench import Workbench

GB = 1e9
HOUR = 3600.0
BARE = {"headroom": 0.0, "step_bytes": 0.0, "floor_bytes": float(2**20)}


def tried_by_hand(start, seconds, first, failures, cap):
    """Return (run, from, to, amount) of every attempt, one by one."""
    found = []
    for run, at in enumerate(start):
        for attempt in range(failures[run] + 1):
            begin = at + attempt * seconds[run]
            found.append((run, begin, begin + seconds[run], min(first[run] * (attempt + 1), cap)))
    return found


def held_at(attempts, now):
    return sum(amount for _, begin, end, amount in attempts if begin <= now < end)


def waiting_by_hand(attempts, limit):
    """Return the runs whose attempt finds no room; of equal starts the earlier in the list comes first."""
    waiting = set()
    for place, (run, begin, _, amount) in enumerate(attempts):
        others = [one for at, one in enumerate(attempts) if one[1] < begin or (one[1] == begin and at < place)]
        if held_at(others, begin) + amount > limit:
            waiting.add(run)
    return len(waiting)


def drawn(seed, *, minutes):
    """Return attempts, and the same by hand; on whole minutes, or not."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    start = rng.integers(0, 60, n) * 60.0 if minutes else np.round(rng.uniform(0, 3600, n), 1)
    seconds = rng.integers(1, 20, n) * 60.0 if minutes else rng.choice([1.0, 7.5, 600.0, 60.25], n)
    first = rng.integers(1, 9, n) * 2.0**28
    failures = rng.choice([0, 0, 0, 1, 3], n)
    cap = float(rng.choice([2.0**31, 1e15]))
    clock = Clock(start, seconds, 1.0)
    return attempts_of(clock, first, failures, cap), tried_by_hand(start, seconds, first, failures, cap)


@pytest.fixture(params=range(40))
def case(request):
    return drawn(request.param, minutes=request.param % 2 == 0)


def test_every_level_equals_adding_up_what_runs_at_every_event(case):
    attempts, by_hand = case
    levels = levels_of(attempts)
    events = sorted({moment for _, begin, end, _ in by_hand for moment in (begin, end)})
    assert levels.moments_s.tolist() == events
    assert levels.held.tolist() == [held_at(by_hand, now) for now in events]
    assert levels.peak == max(held_at(by_hand, now) for now in events)
    assert levels.held[-1] == 0


@pytest.mark.parametrize("seed", range(20))
def test_every_level_equals_counting_minute_by_minute(seed):
    attempts, by_hand = drawn(seed, minutes=True)
    minutes = np.arange(0, max(end for _, _, end, _ in by_hand) + 60, 60.0)
    counted = np.array([held_at(by_hand, now) for now in minutes])
    levels = levels_of(attempts)
    assert levels.peak == counted.max()
    for limit in (0.0, 2.0**30, counted.max() / 2, counted.max()):
        assert levels.seconds_above(limit) == 60.0 * (counted > limit).sum()


def test_runs_without_room_equal_looking_at_every_start(case):
    attempts, by_hand = case
    peak = levels_of(attempts).peak
    for limit in (0.0, 2.0**29, peak / 2, np.nextafter(peak, 0), peak):
        assert runs_without_room(attempts, limit) == waiting_by_hand(by_hand, limit)
    assert runs_without_room(attempts, peak) == 0


def test_what_ends_makes_room_for_what_starts_then():
    clock = Clock(np.array([0.0, 60.0, np.nan]), np.array([60.0, 60.0, 60.0]), 1.0)
    attempts = attempts_of(clock, np.array([2.0, 3.0, 100.0]))
    assert levels_of(attempts).peak == 3.0  # the run without a start is nowhere
    assert runs_without_room(attempts, 3.0) == 0


def test_a_course_of_very_many_moments_keeps_every_peak():
    rng = np.random.default_rng(5)
    clock = Clock(rng.uniform(0, 1e6, 4000), rng.exponential(900, 4000), 1.0)
    attempts = attempts_of(clock, rng.integers(1, 100, 4000) * 1e9)
    (course,) = load_of({REQUESTED: attempts}, 80 * GB, 1.0, 0).courses
    levels = levels_of(attempts)
    assert not course.exact
    assert len(course.moments_s) < 2000 < len(levels.moments_s)
    assert course.held_gb.max() == course.peak_gb == levels.peak / GB
    assert levels.held[np.searchsorted(levels.moments_s, course.peak_s)] == levels.peak
    drawn = course.held_gb[np.searchsorted(course.moments_s, levels.moments_s, side="right") - 1]
    assert (drawn >= levels.held / GB).all()  # a part shows the most of its time


def history(n=120, seed=0):
    rng = np.random.default_rng(seed)
    task = rng.choice(["a", "b", "c"], n)
    start = rng.integers(0, 40, n) * 900.0
    seconds = rng.integers(1, 9, n) * 900.0
    return pd.DataFrame(
        {
            "task_name": task,
            "peak_memory_bytes": rng.integers(1, 64, n) * 2.0**28,
            "requested_memory_bytes": 16 * 2.0**30,
            "requested_cpu_percent": 200.0,
            "start_time_s": start,
            "end_time_s": start + seconds,
            "duration_s": seconds,
        }
    )


def test_the_area_under_a_course_is_what_is_charged():
    """Failed attempts are held for as long, and with as much, as they are charged."""
    settings = RollupSettings(plan=PlanSettings("percentile", percentile=0.5, **BARE), measure="peak")
    found = rollup_of({"jobs": history()}, settings)
    assert found.total.n_failures > 20
    for name, charged in ((REQUESTED, found.total.memory_gb_h.before), (PLANNED, found.total.memory_gb_h.after)):
        assert found.load.course(name).mean_gb * found.load.span_hours == pytest.approx(charged, rel=1e-12)
    assert found.total.memory_gb.after == pytest.approx(found.load.course(PLANNED).peak_gb, rel=1e-12)
    assert found.total.cores.before == pytest.approx(2 * found.load.course(REQUESTED).peak_gb * GB / (16 * 2**30))
    again = unpack(Rollup, pack(found))
    assert again.load.course(PLANNED).above == found.load.course(PLANNED).above


def test_half_of_today_and_what_there_is():
    jobs = history()
    found = rollup_of({"jobs": jobs}, RollupSettings(capacity_bytes=200 * GB)).load
    assert (found.today_gb, found.capacity_gb) == (found.course(REQUESTED).peak_gb, 200.0)
    for course in found.courses:
        half, there = course.above
        assert (half.limit, half.limit_gb, there.limit) == (HALF, found.today_gb / 2, CAPACITY)
        assert there.short_gb == pytest.approx(max(0.0, course.peak_gb - 200))
        assert (there.n_waiting == 0) == (there.short_gb == 0) == (there.hours == 0)
    assert [one.limit for one in rollup_of({"jobs": jobs}, RollupSettings()).load.courses[0].above] == [HALF]


def test_growth_is_more_of_the_same_runs_at_the_same_times():
    jobs = history()
    twice = pd.concat([jobs, jobs], ignore_index=True)
    grown = rollup_of({"jobs": jobs}, RollupSettings(growth=2.0, capacity_bytes=300 * GB))
    real = rollup_of({"jobs": twice}, RollupSettings(capacity_bytes=300 * GB))
    for name in ("memory_gb", "cores", "memory_gb_h"):
        assert getattr(grown.total, name).after == pytest.approx(getattr(real.total, name).after)
    assert grown.total.money.saved == pytest.approx(real.total.money.saved)
    for one, other in zip(grown.load.courses, real.load.courses, strict=True):
        assert one.peak_gb == pytest.approx(other.peak_gb)
        assert one.above[1].hours == pytest.approx(other.above[1].hours)
    assert grown.load.today_gb == pytest.approx(real.load.today_gb / 2)  # today is as it is
    assert "2 times the load" in " ".join(grown.notes)


def test_what_can_never_run_is_counted_and_in_no_row():
    jobs = history()
    cap = 8 * 2.0**30
    above = jobs["peak_memory_bytes"] > cap
    found = rollup_of({"jobs": jobs}, RollupSettings(plan=PlanSettings(cap_bytes=cap, **BARE)))
    never, hours = found.plan.never, jobs["duration_s"] / HOUR
    assert (never.cap_gb, never.n_runs, never.n_all) == (cap / GB, int(above.sum()), len(jobs))
    assert never.used_gb_h == pytest.approx((jobs["peak_memory_bytes"] / GB * hours)[above].sum())
    assert never.requested_gb_h == pytest.approx((jobs["requested_memory_bytes"] / GB * hours)[above].sum())
    assert never.largest_gb == jobs["peak_memory_bytes"].max() / GB
    worst = jobs.loc[jobs["peak_memory_bytes"].idxmax(), "task_name"]
    assert jobs.loc[jobs["task_name"] == never.worst_task, "peak_memory_bytes"].max() / GB == never.largest_gb
    assert sum(one.n_runs for one in never.tasks) == never.n_runs
    assert worst in {one.task for one in never.tasks}
    assert found.total.n_runs == len(jobs) - never.n_runs
    assert found.left_out["above the cap"] == never.n_runs
    assert max(one.size_bytes for one in found.plan.tasks) <= cap
    asked = (jobs["requested_memory_bytes"] / GB * hours)[~above].sum()
    assert found.total.memory_gb_h.before == pytest.approx(asked)


def test_the_cap_cuts_the_baseline_only_where_it_says_so():
    jobs, cap = history(), 8 * 2.0**30
    found = rollup_of({"jobs": jobs}, RollupSettings(plan=PlanSettings(cap_bytes=cap, **BARE))).load
    free = rollup_of({"jobs": jobs}, RollupSettings(plan=PlanSettings(**BARE))).load
    assert [one.name for one in found.courses] == [REQUESTED, CAPPED, PLANNED]
    assert [one.name for one in free.courses] == [REQUESTED, PLANNED]
    assert found.course(REQUESTED).peak_gb == free.course(REQUESTED).peak_gb == found.today_gb
    fitting = jobs[jobs["peak_memory_bytes"] <= cap]
    by_hand = [(0, one.start_time_s, one.end_time_s, cap) for one in fitting.itertuples()]  # all ask for more
    peak = max(held_at(by_hand, begin) for _, begin, _, _ in by_hand)
    assert found.course(CAPPED).peak_gb == peak / GB
    assert found.course(CAPPED).n_runs == len(fitting) < found.course(REQUESTED).n_runs == len(jobs)


@pytest.mark.parametrize("rule", ["max_seen", "percentile", "least_waste", "class_sizes"])
def test_no_size_is_above_the_cap(rule):
    cap = 3.3 * GB
    plan = plan_of({"jobs": history()}, PlanSettings(rule, cap_bytes=cap, sizes_bytes={"a": 9 * GB}))
    assert max(one.size_bytes for one in plan.tasks) <= cap
    assert plan.never.n_runs > 0
    assert plan_of({"jobs": history()}, PlanSettings(rule)).never.n_runs == 0


def test_a_size_rests_on_the_runs_that_fit_the_cap():
    jobs = history().assign(peak_memory_bytes=[1 * GB] * 100 + [20 * GB] * 20, task_name=["a"] * 119 + ["b"])
    bare = PlanSettings(cap_bytes=8 * GB, least_runs=1, **BARE)
    some, none = plan_of({"jobs": jobs}, bare).tasks
    assert (some.size_bytes, some.n, some.largest_bytes, some.risk.n_failed) == (1 * GB, 100, 1 * GB, 0)
    assert (none.size_bytes, none.n, none.risk.n_tested) == (8 * GB, 1, 0)


def test_a_cap_that_nothing_fits_and_one_below_the_smallest_size_are_refused():
    with pytest.raises(NotEnoughData, match=r"none of 120 runs fits the cap of 0\.2 GB"):
        rollup_of({"jobs": history()}, RollupSettings(plan=PlanSettings(cap_bytes=0.2 * GB)))
    with pytest.raises(SettingsError, match="at least the floor"):
        PlanSettings(cap_bytes=1e6)


def test_tasks_that_keep_their_requests_hold_what_they_hold_now():
    jobs = history().assign(requested_memory_bytes=np.random.default_rng(1).integers(1, 20, 120) * 2.0**30)
    assert (jobs["peak_memory_bytes"] > jobs["requested_memory_bytes"]).any()
    asked = PlanSettings("recommended", sizes_bytes={"a": 32 * 2.0**30})
    kept = rollup_of({"jobs": jobs}, RollupSettings(plan=replace(asked, sizes_bytes={})))
    now, planned = kept.load.courses
    assert kept.total.n_failures == 0
    assert kept.total.memory_gb_h.after == pytest.approx(kept.total.memory_gb_h.before)
    assert planned.held_gb.tolist() == now.held_gb.tolist()
    some = rollup_of({"jobs": jobs}, RollupSettings(plan=asked))
    assert {task.task: task.rule for task in some.plan.tasks} == {"a": "recommended", "b": "kept", "c": "kept"}
    hours = (jobs["duration_s"] / HOUR)[jobs["task_name"] == "a"].sum()
    (row,) = (row for row in some.rows if row.name == "a")
    assert row.memory_gb_h.after == pytest.approx(32 * 2.0**30 / GB * hours)
    assert all(one.memory_gb_h.after == pytest.approx(one.memory_gb_h.before) for one in some.rows if one.name != "a")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recommended")
    given.jobs().to_parquet(folder / "runs.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as opened:
            opened.ingest([folder / "runs.parquet"])
            yield opened


def test_a_recommendation_is_the_plan_behind_a_what_if(bench):
    found = bench.recommendation("runs")
    sizes = {one.key: one.size_bytes for one in found.sizes if not one.kept}
    assert sizes
    plan = bench.plan("runs", PlanSettings("recommended"))
    assert {one.task: one.size_bytes for one in plan.tasks if one.rule == "recommended"} == sizes
    assert {one.task for one in plan.tasks if one.rule == "kept"} == {one.key for one in found.sizes if one.kept}
    rolled = bench.rollup("runs", RollupSettings(plan=PlanSettings("recommended")))
    assert rolled.plan.tasks == plan.tasks
    again = bench.rollup("runs", rolled.settings)  # a scenario's link has the sizes that were computed
    assert again.total == rolled.total
    own = next(iter(sizes))
    mine = bench.plan("runs", PlanSettings("recommended", sizes_bytes={own: 1e12}))
    assert {one.task: one.size_bytes for one in mine.tasks}[own] == 1e12
    capped = bench.plan("runs", PlanSettings("recommended", cap_bytes=1e9))
    assert max(one.size_bytes for one in capped.tasks) == 1e9
    assert bench.violations("runs", ViolationSettings(PlanSettings("recommended"))).n_runs == len(given.jobs())


def days(n_days=12, burst_day=5):
    """Return a job an hour of each of two tasks, and twenty at once of one of them on one day."""
    usual = pd.DataFrame({"start_time_s": np.arange(n_days * 24) * HOUR})
    both = pd.concat([usual.assign(task_name="steady"), usual.assign(task_name="bursty")])
    more = pd.DataFrame({"start_time_s": [burst_day * 24 * HOUR + 60.0] * 100, "task_name": "bursty"})
    jobs = pd.concat([both, more], ignore_index=True)
    return jobs.assign(peak_memory_bytes=1 * GB, requested_memory_bytes=2 * GB, duration_s=HOUR)


def test_bursts_are_named_and_left_out_where_asked():
    jobs = days()
    kept, without = (rollup_of({"jobs": jobs}, RollupSettings(leave_out_bursts=one)) for one in (False, True))
    (burst,) = kept.bursts
    assert (burst.task, burst.day_s, burst.n_runs) == ("bursty", 5 * 24 * HOUR, 124)
    assert burst.gb_h == pytest.approx(248)
    assert burst.share == pytest.approx(248 / (2 * len(jobs)))
    assert without.bursts == kept.bursts
    assert (kept.total.n_runs, without.total.n_runs) == (len(jobs), len(jobs) - 124)
    assert without.left_out["in a burst"] == 124
    assert "in a burst" not in kept.left_out
    assert without.load.today_gb < kept.load.today_gb


def test_a_trace_of_a_day_has_no_bursts():
    hours = np.full(50, 1.0)
    found, inside = bursts_of(np.arange(50) % 2, ("a", "b"), np.linspace(0, 80_000, 50), hours)
    assert found == ()
    assert not inside.any()
    assert bursts_of(np.zeros(2, dtype=int), ("a",), np.array([np.nan, np.nan]), np.ones(2))[0] == ()


def test_a_run_is_held_from_its_start_to_its_end():
    jobs = pd.DataFrame(
        {
            "peak_memory_bytes": GB,
            "duration_s": [10.0, 10.0, 10.0, 0.0],
            "submit_time_s": [0.0, 0.0, 5.0, np.nan],
            "start_time_s": [100.0, np.nan, np.nan, np.nan],
            "end_time_s": [130.0, 130.0, np.nan, np.nan],
        }
    )
    clock = clock_of(jobs, runs_of(jobs))
    assert clock.start_s.tolist()[:3] == [100.0, 120.0, 5.0]
    assert np.isnan(clock.start_s[3])
    assert clock.seconds.tolist() == [30.0, 10.0, 10.0, 1.0]  # a run of no time is held for a tick of the clock
    assert clock.span_hours == pytest.approx(125 / 3600)


def test_without_a_clock_there_is_no_course():
    jobs = history().drop(columns=["start_time_s", "end_time_s"])
    assert rollup_of({"jobs": jobs}, RollupSettings()).load is None


@needs_shared_data
@pytest.mark.parametrize("name", ["iwd", "rnaseq"])
def test_the_peak_of_a_published_trace_equals_adding_up_at_every_start(name):
    jobs = trace(name)
    found = rollup_of({"jobs": jobs}, RollupSettings(plan=PlanSettings("percentile")))
    ran = jobs[(jobs["peak_memory_bytes"] > 0) & (jobs["requested_memory_bytes"] > 0)]
    start = ran["start_time_s"].to_numpy()
    end = start + np.fmax(ran["end_time_s"] - start, np.maximum(ran["duration_s"], 1.0)).to_numpy()
    asked = ran["requested_memory_bytes"].to_numpy()
    assert found.load.today_gb == max(asked[(start <= now) & (now < end)].sum() for now in start) / GB

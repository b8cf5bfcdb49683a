"""Sizes by what is known of a run at submission: what they cost, that no future is known, that none are cheaper."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from tests.memory.naive_sites import quantile_of_like_runs, requests_enforced
from tests.memory.traces import NAMES, pai, trace
from tests.shared_data import needs_shared_data
from workprof.answers.policies import sized_from_words
from workprof.core.records import pack, unpack
from workprof.memory.charges import charge_setting, foreseen_kills
from workprof.memory.conditional import CHANCES, Outlook, cheapest_chains
from workprof.memory.frontier import settings_at_submission
from workprof.memory.orders import finished_order, submit_order
from workprof.memory.policies import Conditional
from workprof.memory.replay import ReplayResult, replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings
from workprof.memory.usage import runs_of

RETRY = RetrySettings()
OURS = ReplaySettings(policies=("workprof", "workprof_task", "preset"))


def ordered_of(jobs):
    runs = runs_of(jobs)
    return finished_order(runs, np.zeros(len(runs)), 10)


def frontier_of(jobs):
    return [(one.wasted_gb_h, one.failures) for one in replay({"jobs": jobs}, OURS).frontier]


def least_waste(frontier, kills):
    return min(wasted for wasted, failures in frontier if failures <= kills)


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize(
    ("level", "margin", "by_task", "by_user"),
    [
        (0.80, 1.05, (10_482, 145), (7_208, 158)),
        (0.95, 1.05, (7_835, 54), (5_471, 78)),
        (1.00, 1.10, (18_694, 19), (8_110, 34)),
    ],
)
def test_the_rule_of_sites_costs_what_it_is_known_to(level, margin, by_task, by_user):
    for expected, alone in ((by_task, False), (by_user, True)):
        wasted, kills = quantile_of_like_runs(pai(), level, margin, by_user=alone)
        assert (round(wasted), kills) == expected


@needs_shared_data
def test_requests_enforced_cost_what_they_are_known_to():
    wasted, kills = requests_enforced(pai())
    assert (round(wasted), kills, len(pai())) == (7_978, 408, 686)


@needs_shared_data
@pytest.mark.slow
def test_the_frontier_wastes_a_quarter_less_than_the_rule_of_sites_at_its_kills():
    frontier = frontier_of(pai())
    for level, margin in ((0.95, 1.05), (1.0, 1.1)):
        wasted, kills = quantile_of_like_runs(pai(), level, margin, by_user=True)
        assert least_waste(frontier, kills) <= 0.75 * wasted
    assert sum(20 <= failures <= 100 for _, failures in frontier) >= 6


@needs_shared_data
@pytest.mark.slow
def test_it_does_so_on_random_halves_of_the_jobs_too():
    """Half of the jobs leave half of the history: the two are told apart by their geometric mean and by most halves."""
    ratios = []
    for seed in range(8):
        names = pai()["job_name"].unique()
        half = np.random.default_rng(seed).choice(names, len(names) // 2, replace=False)
        jobs = pai()[pai()["job_name"].isin(half)].reset_index(drop=True)
        frontier = frontier_of(jobs)
        for level, margin in ((0.95, 1.05), (1.0, 1.1)):
            wasted, kills = quantile_of_like_runs(jobs, level, margin, by_user=True)
            ratios.append(least_waste(frontier, kills) / wasted)
    assert np.exp(np.mean(np.log(ratios))) <= 0.75
    assert np.mean(np.array(ratios) <= 0.92) >= 0.75


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", NAMES)
def test_workflows_waste_less_than_they_request_and_no_more_than_by_the_task_alone(name):
    found = replay({"jobs": trace(name)}, OURS)
    wasted = {policy: one.wasted_gb_h for policy, one in found.policies.items()}
    assert wasted["workprof"] < 0.6 * wasted["preset"]
    assert min(one.wasted_gb_h for one in found.frontier) <= wasted["workprof_task"]


@needs_shared_data
@pytest.mark.parametrize("price", [0.05, 0.3, 1.0, 3.0])
def test_the_chance_of_a_kill_holds_forward_in_time(price):
    """As many first attempts are killed as the sizes say at the start of the runs, within 3 standard deviations."""
    ordered, sizing = ordered_of(pai()), dataclasses.replace(OURS.sizing, price_runs=price)
    found = foreseen_kills(ordered, sizing, RETRY)
    assert (found.n_runs, found.rows.sum()) == (681, 681)
    assert abs(found.killed - found.stated) <= 3 * np.sqrt(found.stated * (1 - found.stated / found.n_runs))
    assert found.error < 0.05
    assert foreseen_kills(ordered, dataclasses.replace(sizing, by_labels=False), RETRY) is None


def test_the_record_says_how_many_kills_were_foreseen():
    found = replay({"jobs": made()}, OURS)
    assert found.foreseen.n_runs == len(made()) - found.policies["workprof"].n_sized_from["request"]
    assert found.foreseen.killed <= found.policies["workprof"].failures
    assert f"{found.foreseen.killed:,} were" in sized_from_words(found)
    assert unpack(ReplayResult, pack(found)).foreseen.stated == found.foreseen.stated
    assert replay({"jobs": made()}, ReplaySettings(policies=("krr",), prices_runs=())).foreseen is None


def made(n=240, seed=5):
    """Two users whose runs of one task differ four times, one of whom asks for much; runs overlap."""
    rng = np.random.default_rng(seed)
    user = rng.integers(0, 2, n)
    start = np.sort(rng.uniform(0, 1e5, n))
    seconds = rng.lognormal(6, 1, n)
    return pd.DataFrame(
        {
            "task_name": np.where(rng.uniform(size=n) < 0.7, "a", "b"),
            "user": np.array(["ann", "ben"])[user],
            "start_time_s": start,
            "end_time_s": start + seconds,
            "duration_s": seconds,
            "requested_memory_bytes": 16e9,
            "peak_memory_bytes": np.where(user == 1, 8e9, 2e9) * rng.lognormal(0, 0.1, n),
        }
    )


def test_a_label_that_tells_runs_apart_is_learned():
    found = replay({"jobs": made()}, OURS)
    assert found.policies["workprof"].wasted_gb_h < 0.5 * found.policies["workprof_task"].wasted_gb_h
    assert found.policies["workprof"].n_sized_from["request"] == found.n_tasks


def first_sizes(jobs, price_runs=0.05):
    ordered = ordered_of(jobs)
    (charges,) = charge_setting(dataclasses.replace(OURS.sizing, price_runs=price_runs), [ordered], RETRY)
    sizes = np.empty(len(jobs))
    sizes[charges.rows] = charges.first_bytes
    return sizes


def test_nothing_that_had_not_ended_is_known():
    """Uses of runs that end after a moment are replaced: sizes of the runs started by then stay."""
    jobs = made()
    moment = jobs["start_time_s"].iloc[150]
    later = jobs["end_time_s"] > moment
    changed = jobs.assign(peak_memory_bytes=np.where(later, 3.7 * jobs["peak_memory_bytes"], jobs["peak_memory_bytes"]))
    started = jobs["start_time_s"] <= moment
    assert later.sum() > 50
    np.testing.assert_array_equal(first_sizes(jobs)[started], first_sizes(changed)[started])
    assert (first_sizes(jobs)[~started] != first_sizes(changed)[~started]).any()


def test_the_order_of_rows_and_the_names_of_labels_change_nothing():
    jobs = made()
    renamed = jobs.assign(user=jobs["user"].map({"ann": "zoe", "ben": "abe"}))
    shuffled = jobs.sample(frac=1, random_state=3)
    np.testing.assert_allclose(first_sizes(renamed), first_sizes(jobs), rtol=1e-12)
    np.testing.assert_allclose(first_sizes(shuffled), first_sizes(jobs)[shuffled.index], rtol=1e-12)


def test_a_table_without_times_is_sized_task_by_task():
    jobs = made().drop(columns=["start_time_s", "end_time_s"])
    sizes = first_sizes(jobs, 0.0)  # a price is in mean runs of all tasks
    assert np.isfinite(sizes).all()
    alone = first_sizes(jobs[jobs["task_name"] == "a"].reset_index(drop=True), 0.0)
    np.testing.assert_allclose(sizes[jobs["task_name"] == "a"], alone, rtol=1e-12)


def cost_of(chain, sizes, price, time_to_failure):
    """Return the expected cost of a chain of sizes by simulation over the intervals between the sizes of an outlook."""
    chances = CHANCES[np.searchsorted(sizes, chain)]
    reached = np.append(1.0, chances[:-1])
    cost = (chain * (reached - chances * (1 - time_to_failure)) + price * chances).sum()
    return cost + chances[-1] * 2 * chain[-1]


@pytest.mark.parametrize("time_to_failure", [1.0, 0.3])
@pytest.mark.parametrize("price", [1e9, *(pytest.param(price, marks=pytest.mark.slow) for price in (0.0, 1e11))])
def test_no_chain_of_sizes_is_cheaper(price, time_to_failure):
    """Against 3,000 random chains that end at the largest size, on random outlooks."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        sizes = np.sort(rng.lognormal(22, 0.8, len(CHANCES)))
        outlook = Outlook(sizes[None], np.ones(1), np.ones(1, np.int64), np.zeros(1))
        chain, chance = cheapest_chains(outlook, price, time_to_failure)
        found = chain[0][np.isfinite(chain[0])]
        assert (np.diff(found) > 0).all()
        assert chance[0] == CHANCES[np.flatnonzero(sizes == found[0])[0]]
        best = np.inf
        for _ in range(3_000):
            some = np.flatnonzero(rng.uniform(size=len(sizes)) < rng.uniform(0.02, 0.3))
            chain = np.append(sizes[some[some < len(sizes) - 1]], sizes[-1])
            best = min(best, cost_of(chain, sizes, price, time_to_failure))
        if found[-1] == sizes[-1]:
            assert cost_of(found, sizes, price, time_to_failure) <= best * (1 + 1e-12)


def test_a_dearer_kill_never_lowers_a_size():
    ordered = ordered_of(made())
    sizes = [
        np.concatenate(
            [Conditional(price, ordered.outlooks).sizes(runs, RETRY).first_bytes for runs in ordered.sequences]
        )
        for price in (0.0, 0.3, 3.0, 30.0)
    ]
    assert (np.diff(sizes, axis=0) >= 0).all()


def test_prices_of_the_frontier_lie_between_those_asked_for():
    found = settings_at_submission((1.0, 8.0, 0.0))
    assert [one.price_runs for one in found if one.by_labels] == [0.0, 1.0, 2.0, 4.0, 8.0]
    assert [one.price_runs for one in found if not one.by_labels] == [0.0, 1.0, 8.0]


def test_the_task_alone_is_a_setting():
    found = replay(
        {"jobs": made()}, dataclasses.replace(OURS, sizing=dataclasses.replace(OURS.sizing, by_labels=False))
    )
    ours, alone = found.policies["workprof"], found.policies["workprof_task"]
    assert (ours.wasted_gb_h, ours.failures) == (alone.wasted_gb_h, alone.failures)


@pytest.mark.parametrize("order", [finished_order, submit_order])
def test_a_run_killed_for_memory_is_known_to_other_tasks_from_its_end_on(order):
    """Its limit changes the sizes of another task's runs only after the kill."""
    table = pd.DataFrame({"task_name": "a", "submit_time_s": np.arange(40) * 3600.0, "peak_memory_bytes": 2e9})
    late = table.iloc[[5, 12, 25, 30]].assign(task_name="b", submit_time_s=lambda one: one["submit_time_s"] + 60)
    killed = table.iloc[[20]]
    sizes = []
    for limit in (16e9, 60e9):
        every = pd.concat([table, late, killed.assign(peak_memory_bytes=limit)], ignore_index=True)
        runs = runs_of(every.assign(duration_s=600.0, requested_memory_bytes=16e9))
        ordered = order(runs, np.zeros(len(runs)), 10, len(runs) - 1, 1)
        sizes.append(ordered.outlooks["b"].sizes_bytes)
    np.testing.assert_array_equal(sizes[0][:2], sizes[1][:2])
    assert (sizes[0][2:] != sizes[1][2:]).any(axis=1).all()


def test_the_note_on_long_tasks_names_the_policy_that_looks_at_the_latest_alone():
    result = replay({"jobs": made(600)}, ReplaySettings(policies=("workprof",), prices_runs=()))
    assert result.notes[-1].endswith(" runs: its latest 400 alone count for workprof, task alone")

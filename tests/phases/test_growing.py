"""Sizes that grow over a run: steps are the best there are, the replay equals a plain loop, planted steps are found."""

import itertools

import numpy as np
import pandas as pd
import pytest

from workprof.answers.growing import growing_answer
from workprof.charts.phases.methods import growing_chart
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.phases.growing import Growing, GrowingSettings, Plan, envelope_of, growing_of, plan_of, replayed, steps_of


def area_of(envelope, starts):
    ends = [*starts[1:], len(envelope)]
    return sum((end - start) * envelope[end - 1] for start, end in zip(starts, ends, strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_no_other_steps_have_less_area(seed):
    rng = np.random.default_rng(seed)
    envelope = np.maximum.accumulate(rng.choice([1.0, 2.0, 3.5, 8.0, 9.0], 9) * rng.uniform(0.5, 1))
    for k in (1, 2, 3, 4):
        found = steps_of(envelope, k).tolist()
        others = ([0, *more] for n in range(k) for more in itertools.combinations(range(1, len(envelope)), n))
        assert len(found) <= k
        assert area_of(envelope, found) == pytest.approx(min(area_of(envelope, one) for one in others))


def slow_replay(held, starts, sizes):
    """Return charge and kills, step by step."""
    charged, kills, flat = 0.0, 0, None
    while True:
        for step, use in enumerate(held):
            size = flat if flat is not None else [s for at, s in zip(starts, sizes, strict=True) if at <= step][-1]
            charged += size
            if use > size:
                kills += 1
                larger = [one for one in sizes if one > size]
                flat = min(larger) if larger else 2 * size
                break
        else:
            return charged, kills


@pytest.mark.parametrize("seed", range(20))
def test_a_replay_equals_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    held = rng.lognormal(0, 1, 30)
    starts = np.array([0, *sorted(rng.choice(np.arange(1, 25), 2, replace=False))])
    plan = Plan(starts, np.sort(rng.lognormal(0, 1, 3)))
    charged, kills = slow_replay(held, starts.tolist(), plan.sizes.tolist())
    found = replayed(held, plan)
    assert found == (pytest.approx(charged), kills)


def test_a_run_that_ended_keeps_its_most_and_sizes_rise_earlier():
    runs = [np.array([1.0, 3.0, 2.0]), np.array([2.0, 1.0, 1.0, 1.0, 5.0])]
    np.testing.assert_array_equal(envelope_of(runs), [2, 3, 3, 3, 5])
    plan = plan_of(runs, 2, 0.1, 0.5)
    assert plan.starts.tolist() == [0, 2]
    np.testing.assert_allclose(plan.sizes, [3.3, 5.5])
    assert plan_of(runs, 1, 0.0, 0.5).sizes.tolist() == [5]


def planted(n_runs=6, length=100, step=60, low=100.0, high=1000.0):
    """Return recordings of one workload that hold ten times as much from a step on, and of another that is flat."""
    rng, rows = np.random.default_rng(1), []
    for run in range(n_runs):
        t = np.arange(length) + 1.0
        rising = np.where(t > step, high, low) * rng.uniform(0.98, 1.0, length)
        for workload, held in (("late", rising), ("flat", np.full(length, 500.0))):
            rows.append(pd.DataFrame({"workload": workload, "run": str(run), "t": t, "proc.rss_mb": held}))
    return pd.concat(rows, ignore_index=True)


def test_planted_steps_are_found_and_save_what_they_can():
    found = growing_of({"samples": planted()}, GrowingSettings(segments=2))
    flat, late = found.rows
    assert (found.counter, flat.workload, late.workload) == ("proc.rss_mb", "flat", "late")
    assert late.starts_s.tolist() == [0, 54]  # a tenth earlier than in the known runs
    np.testing.assert_allclose(late.sizes, [110, 1100], rtol=0.02)
    assert (late.kills, late.flat_kills, late.n_judged) == (0, 0, 4)
    assert late.saved_share == pytest.approx(0.54 * 0.9, abs=0.01)
    assert (flat.starts_s.tolist(), flat.saved_share) == ([0], 0)
    assert late.flat_charged > late.charged > late.used
    assert unpack(Growing, pack(found)).rows[1].sizes.tolist() == late.sizes.tolist()


def test_one_segment_is_one_size():
    found = growing_of({"samples": planted()}, GrowingSettings(segments=1))
    assert [row.saved_share for row in found.rows] == [0, 0]
    assert found.saved_share == 0


def test_no_later_run_changes_the_charge_of_an_earlier_one():
    few, more = (growing_of({"samples": planted(n)}, GrowingSettings()) for n in (4, 6))
    changed = planted(6)
    late = changed["run"].isin(["4", "5"])
    changed.loc[late, "proc.rss_mb"] *= 7
    other = growing_of({"samples": changed}, GrowingSettings())
    assert other.rows[1].charged > more.rows[1].charged > few.rows[1].charged
    again = growing_of({"samples": changed[~late]}, GrowingSettings())
    assert [row.charged for row in again.rows] == [row.charged for row in few.rows]


@pytest.mark.parametrize("name", ["rep-{}", "{}", "2026-{}/a"])
def test_runs_are_in_the_order_of_the_numbers_in_their_names(name):
    grown = planted(12)
    grown["proc.rss_mb"] *= 1.5 ** grown["run"].astype(int)  # each run holds more than all before it
    found = growing_of({"samples": grown.assign(run=[name.format(run) for run in grown["run"]])}, GrowingSettings())
    assert [row.flat_kills for row in found.rows] == [10, 10]


def test_digits_that_are_no_number_name_a_run():
    samples = planted()
    told = growing_of({"samples": samples.assign(run=samples["run"].replace("2", "²"))}, GrowingSettings())
    assert [row.n_runs for row in told.rows] == [
        row.n_runs for row in growing_of({"samples": samples}, GrowingSettings()).rows
    ]


def test_what_cannot_be_sized_is_refused_in_words():
    with pytest.raises(NotEnoughData, match="no workload has 3 runs"):
        growing_of({"samples": planted(2)}, GrowingSettings())
    with pytest.raises(SettingsError, match="name the counter of memory"):
        growing_of({"samples": planted().rename(columns={"proc.rss_mb": "cpu%"})}, GrowingSettings())


def test_the_answer_says_saving_and_kills():
    found = growing_of({"samples": planted()}, GrowingSettings())
    told = growing_answer(found)
    assert found.saved_share == pytest.approx(0.324, abs=0.005)
    assert told.sentence.startswith(f"Sizes that grow hold {100 * found.saved_share:.1f} % less than one size.")
    assert [row.workload for row in told.table().rows] == ["late", "flat"]
    assert growing_chart(found, "late").figure.data

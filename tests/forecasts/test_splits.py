"""Splits: every row once, nothing of a job or group on both sides, nothing of the future in training."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.forecasts.encoder import SUBMIT_FIELDS, usable_fields
from workprof.forecasts.history import read_cells
from workprof.forecasts.splits import FORWARD_ORIGINS, SPLITS, _balanced, forward_folds, holdout, make_folds, units_of


def jobs_of(n=200, seed=0):
    draw = np.random.default_rng(seed)
    start = np.sort(draw.uniform(0, 1e6, n))
    return pd.DataFrame(
        {
            "job_name": [f"j{i // 2}" for i in range(n)],
            "group": [f"g{i % 23}" if i % 5 else None for i in range(n)],
            "start_time_s": start,
            "duration_s": draw.lognormal(6, 2, n),
        }
    )


@pytest.mark.parametrize("split", ["random", "by_job", "by_group"])
def test_every_row_is_tested_once(split):
    folds = make_folds(jobs_of(), split)
    assert np.array_equal(np.sort(np.concatenate([fold.test for fold in folds])), np.arange(200))
    assert all(len(np.intersect1d(fold.train, fold.test)) == 0 for fold in folds)
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 10


@pytest.mark.parametrize(("split", "column"), [("by_job", "job_name"), ("by_group", "group")])
def test_nothing_stands_on_both_sides(split, column):
    jobs = jobs_of()
    for fold in make_folds(jobs, split):
        train, test = (set(jobs[column].iloc[rows].dropna()) for rows in (fold.train, fold.test))
        assert not train & test


def test_time_never_runs_backwards():
    jobs = jobs_of()
    (fold,) = make_folds(jobs, "by_time")
    ended = (jobs["start_time_s"] + jobs["duration_s"]).iloc[fold.train].max()
    assert ended <= jobs["start_time_s"].iloc[fold.test].min()
    assert len(fold.test) == 60


@pytest.mark.parametrize("took", [None, 0.0])
def test_what_takes_no_time_is_not_trained_on_where_it_is_tested(took):
    jobs = jobs_of().drop(columns="duration_s").assign(start_time_s=np.repeat(np.arange(20.0) * 86_400, 10))
    jobs = jobs if took is None else jobs.assign(duration_s=took)
    for fold in (*make_folds(jobs, "by_time"), *forward_folds(jobs)):
        assert not np.intersect1d(fold.train, fold.test).size
        assert jobs["start_time_s"].iloc[fold.train].max() < jobs["start_time_s"].iloc[fold.test].min()


def test_the_last_part_is_one_of_runs_whenever_they_came():
    jobs = jobs_of().assign(start_time_s=np.where(np.arange(200) < 20, np.arange(200) * 1e6, 2e7 + np.arange(200)))
    jobs = jobs.assign(duration_s=0.5)
    (fold,) = make_folds(jobs, "by_time")
    assert len(fold.test) == 60
    span = jobs["start_time_s"].iloc[fold.test].agg(["min", "max"]).diff().iloc[1]
    assert span < 0.001 * np.ptp(jobs["start_time_s"])  # no share of the time
    assert SPLITS["by_time"] == "one of the 30 % of runs that were submitted last"


def test_forward_folds_test_every_later_row_once_with_what_had_ended_before():
    jobs = jobs_of()
    folds = forward_folds(jobs)
    start, ended = jobs["start_time_s"], jobs["start_time_s"] + jobs["duration_s"]
    assert len(folds) == len(FORWARD_ORIGINS)
    for fold in folds:
        assert ended.iloc[fold.train].max() <= start.iloc[fold.test].min()
    assert np.concatenate([fold.test for fold in folds]).tolist() == list(range(80, 200))
    late = jobs.assign(duration_s=np.where(np.arange(200) < 100, 1e9, 1.0))  # nothing ends before the middle
    assert [len(fold.test) for fold in forward_folds(late)] == [40, 40]
    with pytest.raises(NotEnoughData, match="of 200 jobs fewer than 10 had ended before the last 30 %"):
        forward_folds(jobs.assign(duration_s=1e9))


def test_what_waits_when_the_test_begins_is_not_trained_on():
    """Each row waits longer than a third of the trace: of those submitted before the cut, a third has ended."""
    n = 200
    submitted = np.arange(n) * 60.0
    jobs = pd.DataFrame({"submit_time_s": submitted, "start_time_s": submitted + 6_000.0, "duration_s": 30.0})
    (fold,) = make_folds(jobs, "by_time")
    assert (fold.train.tolist(), fold.test.tolist()) == (list(range(40)), list(range(140, n)))


def test_rows_without_a_submission_count_by_their_start():
    jobs = jobs_of()
    mixed = jobs.assign(submit_time_s=jobs["start_time_s"].where(np.arange(200) % 3 == 0))
    for whole, part in zip(forward_folds(jobs), forward_folds(mixed), strict=True):
        assert (whole.train.tolist(), whole.test.tolist()) == (part.train.tolist(), part.test.tolist())
    assert np.array_equal(read_cells(mixed, ("group",)).times, read_cells(jobs, ("group",)).times)


def test_a_seed_is_another_draw_and_the_same_seed_the_same():
    first, again, other = (make_folds(jobs_of(), "by_job", seed=seed)[0].test for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_holdout_is_about_the_share():
    fold = holdout(jobs_of(2000), "by_job", 0.2)
    assert 330 < len(fold.test) < 470
    assert len(fold.test) + len(fold.train) == 2000


def test_the_largest_unit_is_not_always_held_out():
    jobs = jobs_of(400).assign(job_name=["big"] * 200 + [f"j{i}" for i in range(200)])
    held = [0 in holdout(jobs, "by_job", 0.25, seed).test for seed in range(200)]
    assert 0.15 < sum(held) / 200 < 0.35


def test_bad_input_is_told():
    with pytest.raises(SettingsError, match="split is 'weekly'"):
        make_folds(jobs_of(), "weekly")
    with pytest.raises(ColumnMissing, match="needs the column group"):
        make_folds(jobs_of().drop(columns="group"), "by_group")
    with pytest.raises(ColumnMissing, match="submit_time_s, start_time_s"):
        make_folds(jobs_of().drop(columns="start_time_s"), "by_time")
    with pytest.raises(NotEnoughData, match="10 jobs are too few"):
        make_folds(jobs_of(10), "random")
    with pytest.raises(NotEnoughData, match="1 different"):
        make_folds(jobs_of().assign(job_name="same"), "by_job")


def test_fields_known_at_submission():
    jobs = jobs_of()
    assert usable_fields(jobs, (), "corrected") == ("job_name", "group")
    with pytest.raises(SettingsError, match="duration_s is not known at submission"):
        usable_fields(jobs, ("duration_s",), "corrected")
    with pytest.raises(ColumnMissing, match="no column user"):
        usable_fields(jobs, ("user",), "corrected")
    with pytest.raises(ColumnMissing, match="none of"):
        usable_fields(jobs[["duration_s"]], (), "corrected")
    assert SUBMIT_FIELDS[-1] == "instances"


@pytest.mark.parametrize("n_folds", [3, 5])
def test_folds_are_those_of_scikit_learn(n_folds):
    jobs = jobs_of(2_000)
    units = units_of(jobs, "by_group")
    shuffled = np.random.default_rng(4).permutation(int(units.max()) + 1)[units]
    wanted = GroupKFold(n_folds).split(shuffled, groups=shuffled)
    for fold, (train, test) in zip(make_folds(jobs, "by_group", n_folds, 4), wanted, strict=True):
        assert np.array_equal(fold.train, train)
        assert np.array_equal(fold.test, test)


@pytest.mark.parametrize(("n_units", "largest"), [(1, 2), (17, 2), (50, 9)])
def test_balanced_folds_are_those_of_a_plain_loop(n_units, largest):
    sizes = np.random.default_rng(n_units).integers(1, largest, n_units)
    rows, wanted = [0, 0, 0], [-1] * n_units
    for unit in sorted(range(n_units), key=lambda unit: (sizes[unit], unit), reverse=True):
        wanted[unit] = rows.index(min(rows))
        rows[wanted[unit]] += sizes[unit]
    assert _balanced(sizes, 3).tolist() == wanted

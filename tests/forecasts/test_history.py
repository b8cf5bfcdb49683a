"""History cells: equal to the slow version, and to the published-style table on the real development sample."""

import numpy as np
import pandas as pd
import pytest

from tests.forecasts import naive_estimates
from tests.shared_data import PAI_SAMPLE, needs_shared_data
from workprof.forecasts.encoder import SUBMIT_FIELDS, as_stored
from workprof.forecasts.errors import summarise_errors
from workprof.forecasts.history import (
    LEVELS,
    Cells,
    Past,
    backoff_medians,
    encode,
    learn_vocabulary,
    read_cells,
    recent_quantiles,
    take_cells,
)
from workprof.forecasts.splits import units_of
from workprof.forecasts.window import window_quantiles

pytestmark = pytest.mark.slow


def jobs_of(n=160, seed=0):
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "job_name": [f"j{i // 2}" for i in range(n)],
            "task_name": draw.choice(["ps", "worker"], n),
            "user": draw.choice(["a", "b", None], n),
            "group": draw.choice([f"g{i}" for i in range(40)], n),
            "workload": draw.choice(["x", "y", "z"], n),
            "requested_cpu_percent": draw.choice([100.0, 600.0], n),
            "requested_memory_bytes": draw.choice([2.0**30, 2.0**31], n),
            "requested_gpu_percent": draw.choice([np.nan, 50.0], n),
            "instances": draw.choice([1.0, 10.0], n),
            "start_time_s": draw.uniform(0, 3e6, n),
            "duration_s": draw.lognormal(6, 2, n),
        }
    )


def test_backoff_equals_the_slow_version():
    jobs = jobs_of()
    cells = read_cells(jobs, SUBMIT_FIELDS)
    train, test = np.arange(0, 120), np.arange(120, 160)
    target = jobs["duration_s"].to_numpy()
    found = backoff_medians(Past(take_cells(cells, train), target[train], train), take_cells(cells, test))
    rows = jobs.to_dict("records")
    slow = [naive_estimates.backoff_median(rows[i], [rows[j] for j in train], "duration_s") for i in test]
    assert found == pytest.approx(slow)


@pytest.mark.parametrize("bandwidth_s", [86_400.0, 5 * 86_400.0, np.inf])
@pytest.mark.parametrize("level", [0.25, 0.5, 0.95])
def test_recent_quantiles_equal_the_slow_version(bandwidth_s, level):
    jobs = jobs_of(seed=3)
    cells, units = read_cells(jobs, SUBMIT_FIELDS), units_of(jobs, "by_job")
    target = jobs["duration_s"].to_numpy()
    [found] = recent_quantiles(Past(cells, target, units), cells, units, np.array([level]), bandwidth_s)
    rows = jobs.to_dict("records")
    slow = [naive_estimates.recent_quantile(row, rows, "duration_s", level, bandwidth_s) for row in rows]
    assert np.mean(np.isclose(found.quantiles[:, 0], slow)) > 0.99  # two weights may add up to a level but for rounding
    assert found.level.max() <= len(LEVELS)


def test_quantiles_of_several_bandwidths_are_those_of_each():
    jobs = jobs_of(seed=4)
    cells, levels = read_cells(jobs, SUBMIT_FIELDS), np.array([0.25, 0.75])
    past = Past(cells, jobs["duration_s"].to_numpy(), np.arange(len(jobs)))
    both = recent_quantiles(past, cells, past.units, levels, 3_600.0, np.inf)
    for found, bandwidth_s in zip(both, (3_600.0, np.inf), strict=True):
        [alone] = recent_quantiles(past, cells, past.units, levels, bandwidth_s)
        assert np.array_equal(found.quantiles, alone.quantiles)
        assert np.array_equal(found.level, alone.level)
    assert not np.array_equal(both[0].quantiles, both[1].quantiles)


def test_categories_are_read_as_the_texts_that_they_are():
    """Whatever their order, and with some that no row has; 0 and -0, which are two texts, stay apart."""
    texts = jobs_of(seed=5).assign(requested_cpu_percent=np.tile([0.0, -0.0, np.nan, 600.0], 40))
    named = ("user", "task_name", "group", "workload", "job_name")
    coded = texts.assign(**{n: pd.Categorical(texts[n], ["none", *texts[n].dropna().unique()[::-1]]) for n in named})
    cells, targets = read_cells(texts, SUBMIT_FIELDS), np.log(texts["duration_s"].to_numpy())
    assert np.array_equal(read_cells(coded, SUBMIT_FIELDS).keys, cells.keys)
    assert len(np.unique(read_cells(texts, ("workload", "requested_cpu_percent")).keys[0])) == 12
    known = learn_vocabulary(texts, targets, SUBMIT_FIELDS)
    means = texts.assign(target=targets).groupby("workload")["target"].mean().sort_values()
    assert known.texts["workload"] == tuple(means.index)
    assert learn_vocabulary(coded, targets, SUBMIT_FIELDS) == known
    numbers = encode(texts, known, cells.times)
    assert np.array_equal(encode(coded, known, cells.times), numbers, equal_nan=True)
    assert np.array_equal(numbers[:, -1], [known.texts["workload"].index(one) for one in texts["workload"]])


def test_a_window_holds_the_64_nearest_in_time():
    n = 300
    jobs = pd.DataFrame({"workload": "x", "task_name": "t", "start_time_s": np.arange(n) * 100.0})
    cells = read_cells(jobs, ("workload", "task_name"))
    asked = Cells(cells.keys[:, :1], np.array([15_000.0]), cells.fewest)
    [found] = recent_quantiles(
        Past(cells, np.arange(n, dtype=float), np.arange(n)), asked, np.array([-1]), np.array([0.01, 0.5, 0.99]), np.inf
    )
    assert found.count[0] == 64
    assert found.quantiles[0] == pytest.approx([118, 149, 181], abs=1.01)


def test_a_stored_history_needs_no_loop_of_its_own():
    cells = read_cells(jobs_of(), SUBMIT_FIELDS)
    past = Past(cells, np.ones(160), np.arange(160))
    asked = take_cells(cells, np.arange(2)), np.full(2, -1), np.array([0.5]), np.inf
    recent_quantiles(past, *asked)
    compiled = len(window_quantiles.signatures)
    cells.fewest.setflags(write=False)  # as what is read back from the cache
    recent_quantiles(past, *asked)
    assert len(window_quantiles.signatures) == compiled


def test_fields_that_a_table_lacks_leave_their_levels():
    jobs = jobs_of()[["task_name", "duration_s"]]
    assert read_cells(jobs, ("task_name",)).keys.shape == (1, 160)


def test_without_groups_the_first_level_is_the_plan_s():
    cells = read_cells(jobs_of(), tuple(name for name in SUBMIT_FIELDS if name != "group"))
    assert cells.fewest.tolist() == [2, 2, 2]


def test_numbers_name_the_same_cell_whatever_their_type():
    jobs = jobs_of().assign(user=np.arange(160) % 7, requested_memory_bytes=np.arange(160) % 5 * 1e9)
    stored = read_cells(jobs.assign(user=jobs.user.astype(str)), SUBMIT_FIELDS).keys
    for user, memory in (("int64", "int64"), ("float64", "object"), ("object", "Int64"), ("Int64", "float32")):
        given = jobs.astype({"user": user, "requested_memory_bytes": memory})
        assert np.array_equal(read_cells(given, SUBMIT_FIELDS).keys, stored)
        pd.testing.assert_frame_equal(as_stored(given), as_stored(jobs))
    texts = jobs.assign(requested_memory_bytes=[f"{one:.0f}" for one in jobs.requested_memory_bytes])
    assert np.array_equal(read_cells(texts, SUBMIT_FIELDS).keys, read_cells(jobs, SUBMIT_FIELDS).keys)
    missing = jobs.assign(user=jobs.user.where(jobs.user > 0), instances=pd.array([1, None] * 80, dtype="Int64"))
    told = missing.assign(user=[None if one == 0 else str(one) for one in jobs.user], instances=[1.0, np.nan] * 80)
    assert np.array_equal(read_cells(missing, SUBMIT_FIELDS).keys, read_cells(told, SUBMIT_FIELDS).keys)


@pytest.mark.parametrize("kind", ["int64", "float64", "object", "Int64", "category"])
def test_numbers_are_names_to_trees_too(kind):
    """Whatever a library's table holds them as: the trees know the users that the store would tell them of."""
    jobs = jobs_of().assign(user=np.arange(160) % 7, group=np.arange(160) % 11)
    texts, given = jobs.astype({"user": str, "group": str}), jobs.astype({"user": kind, "group": kind})
    targets, times = np.log(jobs["duration_s"].to_numpy()), np.zeros(160)
    known = learn_vocabulary(texts, targets, SUBMIT_FIELDS)
    assert learn_vocabulary(given, targets, SUBMIT_FIELDS) == known
    told = encode(texts, known, times)
    assert np.array_equal(encode(given, known, times), told, equal_nan=True)
    assert np.isfinite(told[:, -4:]).all()
    assert np.array_equal(read_cells(given, SUBMIT_FIELDS).keys, read_cells(texts, SUBMIT_FIELDS).keys)


def test_new_jobs_without_a_time_count_as_the_latest():
    jobs = jobs_of()
    known = read_cells(jobs, SUBMIT_FIELDS)
    asked = read_cells(jobs.drop(columns="start_time_s"), SUBMIT_FIELDS, known)
    assert set(asked.times) == {jobs["start_time_s"].max()}
    assert np.array_equal(asked.keys, known.keys)


UWT = ("user", "workload", "task_name")
PLAN = ("requested_cpu_percent", "requested_memory_bytes", "requested_gpu_percent", "instances")


@needs_shared_data
@pytest.mark.parametrize(
    ("fields", "row"),
    [
        ((), (0.016, 0.052, 0.653, 0.902, 4.00, 33.4, 2485)),
        (("workload", "task_name"), (0.162, 0.270, 0.792, 0.675, 2.15, 13.7, 2328)),
        (UWT, (0.155, 0.273, 0.762, 0.657, 2.12, 11.0, 2299)),
        (("group", *UWT), (0.184, 0.337, 0.792, 0.554, 1.88, 10.8, 2215)),
        (("group", *UWT, *PLAN), (0.200, 0.402, 0.822, 0.360, 1.46, 5.9, 2012)),
    ],
)
def test_leave_one_job_out_on_the_development_sample(fields, row):
    """Medians with back-off: the rows of a table that was computed apart from this code."""
    jobs = pd.read_csv(PAI_SAMPLE).rename(
        columns=dict(zip(("plan_cpu", "plan_mem", "plan_gpu", "inst_num"), PLAN, strict=True))
    )
    true = (jobs["end_time"] - jobs["start_time"]).to_numpy(dtype=float)
    predicted = np.empty(len(jobs))
    cells = read_cells(jobs, fields)
    units = units_of(jobs, "by_job")
    for unit in np.unique(units):
        own, others = np.flatnonzero(units == unit), np.flatnonzero(units != unit)
        past = Past(take_cells(cells, others), true[others], units[others])
        predicted[own] = backoff_medians(past, take_cells(cells, own))
    found = summarise_errors("back-off", predicted, true)
    measured = (
        found.share_within_5pct,
        found.share_within_20pct,
        found.share_within_100pct,
        found.ratio_error.p50,
        found.factor_error.p50,
        found.factor_error.p90,
        found.mae,
    )
    assert measured == pytest.approx(row, rel=0.01, abs=0.0006)

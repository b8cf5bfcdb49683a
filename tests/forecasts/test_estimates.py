"""Estimates: known truth, coverage that holds, the same answers after being kept, honest use of rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xgboost

from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.records import pack, unpack
from workprof.forecasts import candidates, choice
from workprof.forecasts.candidates import (
    LEVELS,
    MEDIAN,
    POINTS,
    CandidateQuantiles,
    boost,
    boost_plain,
    forest_quantiles,
    grow_forest,
    shared_jobs,
)
from workprof.forecasts.choice import (
    BESIDE,
    COMBINED,
    CONSTANT,
    ERROR_LEVELS,
    MIXTURES,
    RULES,
    SIMPLE,
    SOURCES,
    TRIED,
    Rule,
    choose,
    combined_point,
    is_bounded,
    point_of,
    quantiles_of_sorted,
)
from workprof.forecasts.errors import ratio_error
from workprof.forecasts.estimate_evaluation import ESTIMATORS, FLAWS, per_profile
from workprof.forecasts.estimates import (
    EstimateModel,
    EstimateSettings,
    Happened,
    LogScale,
    estimate,
    fit_scale,
    known_jobs,
    load_estimator,
    nearest_past_jobs,
    train_estimator,
    what_happened,
)
from workprof.forecasts.intervals import (
    Calibration,
    Followed,
    Strata,
    Validated,
    calibrate,
    following_margins,
    interval,
    learn_shifts,
    quantiles_within,
)
from workprof.forecasts.served import _Estimator

pytestmark = pytest.mark.slow

SIGMA = {"narrow": 0.05, "wide": 1.0}


def planted_jobs(n=600, seed=0):
    """Jobs whose log duration is the workload's level and the user's spread; group and time say nothing."""
    draw = np.random.default_rng(seed)
    workload, user = draw.integers(0, 4, n), draw.choice(list(SIGMA), n)
    noise = draw.normal(0, [SIGMA[one] for one in user])
    return pd.DataFrame(
        {
            "job_name": [f"job{i}" for i in range(n)],
            "task_name": "worker",
            "user": user,
            "group": draw.integers(0, n, n).astype(str),
            "workload": [f"w{i}" for i in workload],
            "requested_cpu_percent": 100.0 * (1 + workload),
            "start_time_s": np.sort(draw.uniform(0, 3e6, n)),
            "duration_s": np.exp(4 + 1.5 * workload + noise),
        }
    )


@pytest.fixture(scope="module")
def trained():
    return train_estimator(known_jobs(planted_jobs(), "duration_s"), EstimateSettings())


def test_planted_levels_are_found(trained):
    fresh = planted_jobs(400, seed=1)
    found = estimate(trained, fresh)
    level = np.exp(4 + 1.5 * fresh["workload"].str[1:].astype(int).to_numpy())
    narrow = (fresh["user"] == "narrow").to_numpy()
    assert np.median(np.maximum(found.point / level, level / found.point)[narrow]) < 1.03
    widths = found.high / found.low
    assert np.median(widths[~narrow]) > 10
    assert np.median(widths[narrow]) < np.median(widths[~narrow]) / 2


def test_the_interval_covers_new_jobs(trained):
    fresh = planted_jobs(2000, seed=2)
    found = estimate(trained, fresh)
    inside = (found.low <= fresh["duration_s"]) & (fresh["duration_s"] <= found.high)
    assert 0.86 < inside.mean() < 0.95


def test_ends_point_and_quantiles_are_in_order(trained):
    found = estimate(trained, planted_jobs(200, seed=3))
    assert (np.diff(found.quantiles, axis=1) >= 0).all()
    assert (found.low <= found.quantiles[:, 1]).all() and (found.quantiles[:, 1] <= found.point).all()
    assert (found.point <= found.quantiles[:, 5]).all() and (found.quantiles[:, 5] <= found.high).all()
    assert found.calibrated and found.bounded


def test_a_job_that_is_like_none_rests_on_no_similar_past_job(trained):
    """It is estimated from all past jobs together, which are not similar ones."""
    known = planted_jobs(1, seed=3)
    strange = known.assign(user="x", group="x", workload="x", task_name="x", requested_cpu_percent=7.0)
    assert estimate(trained, known).count[0] > 0
    assert estimate(trained, strange).count[0] == 0


def test_a_kept_model_says_the_same(trained):
    kept = unpack(EstimateModel, pack(trained.model))
    fresh = planted_jobs(100, seed=4)
    first, again = estimate(trained, fresh), estimate(load_estimator(kept), fresh)
    assert np.array_equal(first.point, again.point)
    assert np.array_equal(first.high, again.high)


def test_the_same_seed_is_the_same_model():
    jobs = planted_jobs(200)
    first, again = (train_estimator(known_jobs(jobs, "duration_s"), EstimateSettings(seed=3)).model for _ in range(2))
    assert first.combination == again.combination
    assert np.array_equal(first.candidates.forest.kept, again.candidates.forest.kept)


def test_what_a_run_needed_is_a_lower_bound_where_it_was_cut_short_or_its_memory_is_one():
    run = pd.DataFrame({"duration_s": [60.0], "peak_memory_bytes": [1e9], "cpu_usage_percent": [np.nan]})
    ended = run.assign(finished=True, peak_memory_is_lower_bound=1.0)
    assert what_happened(ended) == {"duration_s": Happened(60.0), "peak_memory_bytes": Happened(1e9, at_least=True)}
    assert all(one.at_least for one in what_happened(run.assign(finished=False)).values())


def test_nearest_past_jobs_share_the_workload(trained):
    job = planted_jobs(1, seed=5)
    found = nearest_past_jobs(trained, job)
    past = planted_jobs().iloc[found.positions]
    assert set(past["workload"]) == set(job["workload"])
    assert 0 < found.shares.sum() <= 1
    assert (np.diff(found.shares) <= 0).all()


def test_unseen_values_and_missing_plans_get_an_answer(trained):
    strange = planted_jobs(3).assign(user="nobody", group="none", workload=None, requested_cpu_percent=np.nan)
    found = estimate(trained, strange)
    assert np.isfinite(found.high).all()
    assert (found.high / found.low > 20).all()  # nothing is known, and the interval says so


@pytest.mark.filterwarnings("error")
def test_a_request_beyond_single_precision_is_as_none(trained):
    jobs = planted_jobs(3).drop(columns="duration_s")
    asked, unknown = jobs.assign(requested_cpu_percent=[1e300, -1e39, 4e38]), jobs.assign(requested_cpu_percent=np.nan)
    wanted, served = estimate(trained, unknown), _Estimator(trained)
    given = [{name: value for name, value in row.items() if value == value} for row in asked.to_dict("records")]  # noqa: PLR0124
    for found in (estimate(trained, asked), served.estimate(given, served.keys(given))):
        assert found.point == pytest.approx(wanted.point, rel=1e-6)
        assert found.high == pytest.approx(wanted.high, rel=1e-6)


def test_zeros_and_missing_targets():
    jobs = planted_jobs(200)
    jobs.loc[::4, "duration_s"] = 0.0
    jobs.loc[1, "duration_s"] = np.nan
    model = train_estimator(known_jobs(jobs, "duration_s"), EstimateSettings()).model
    assert model.n_left_out == 1
    assert any("1 rows without a usable target" in note for note in model.notes)


def test_the_scale_comes_back():
    scale = fit_scale(np.array([0.0, 1.0, 10.0, 100.0]))
    values = np.array([0.0, 1.0, 50.0])
    assert scale.from_log(scale.to_log(values)) == pytest.approx(values)
    with pytest.raises(NotEnoughData, match="zero in every past job"):
        fit_scale(np.zeros(3))


def test_bad_input_is_told():
    jobs = planted_jobs(100)
    with pytest.raises(ColumnMissing, match="no column peak_memory_bytes"):
        known_jobs(jobs, "peak_memory_bytes")
    with pytest.raises(NotEnoughData, match="39 jobs with a known duration_s"):
        known_jobs(jobs.head(39), "duration_s")
    with pytest.raises(ColumnMissing, match="needs the column group"):
        train_estimator(known_jobs(jobs.drop(columns="group"), "duration_s"), EstimateSettings(split="by_group"))


def test_forest_quantiles_are_those_of_the_leaves():
    """One split, two leaves: the quantiles of a row are those of its leaf's jobs."""
    draw = np.random.default_rng(0)
    side = np.repeat([0.0, 1.0], 300)
    values = np.where(side > 0, draw.normal(10, 1, 600), draw.normal(0, 1, 600))
    forest, trees = grow_forest(side[:, None], values, seed=0)
    found = forest_quantiles(forest, trees, np.array([[0.0], [1.0]]), np.array([0.1, 0.5, 0.9]))
    wanted = [np.quantile(values[side == at], [0.1, 0.5, 0.9]) for at in (0, 1)]
    assert found == pytest.approx(np.array(wanted), abs=0.35)


def test_forest_quantiles_are_linear_ones_of_the_jobs_that_leaves_keep():
    """Leaves keep unequal numbers of jobs; all rows are read at once and get what each would get alone."""
    draw = np.random.default_rng(1)
    design, values = draw.integers(0, 9, (400, 2)).astype(float), draw.normal(0, 1, 400)
    forest, trees = grow_forest(design, values, seed=0)
    forest = replace(forest, kept=np.where(draw.random(forest.kept.shape) < 0.2, -1, forest.kept))
    shared = shared_jobs(forest, trees, design)
    assert len(np.unique((shared >= 0).sum(axis=1))) > 1
    wanted = [np.quantile(values[row[row >= 0]], LEVELS) for row in shared]
    assert forest_quantiles(forest, trees, design, LEVELS) == pytest.approx(np.array(wanted), abs=1e-12)


def answers_of(quantiles, points, level):
    return CandidateQuantiles(quantiles, points, level, level)


def validated_by(points, true, quantiles=None):
    """Return validation rows, ten of each unit, of which these single predictors say these points."""
    rows, nothing = np.arange(len(true)), np.zeros(len(true), dtype=np.int64)
    quantiles = points[:3, :, None] + np.zeros(7) if quantiles is None else quantiles
    return Validated(
        answers_of(quantiles, points, nothing), true, rows, rows // 10, np.zeros((4, len(true)), np.uint64)
    )


def unlike(true, seed=0):
    return true + np.random.default_rng(seed).normal(0, 3, (len(POINTS), len(true)))


def test_the_quantiles_are_of_the_smallest_loss():
    draw = np.random.default_rng(0)
    true = draw.normal(0, 1, 400)
    good, bad = true[:, None] + np.zeros((400, 7)), draw.normal(0, 3, (400, 7))
    found = choose(validated_by(unlike(true), true, np.stack([bad, good, bad])), 4, np.exp)
    assert found.weights == (0.0, 1.0, 0.0)
    assert all(sum(weights) == pytest.approx(1) for weights in MIXTURES)
    alone = [rule.base for rule in RULES if rule.base == rule.centre and rule.base < len(POINTS)]
    assert alone[: len(POINTS)] == list(range(len(POINTS)))  # each way alone is among what is tried


def test_rows_that_two_folds_share_are_judged_once(monkeypatch):
    true = np.random.default_rng(6).normal(0, 1, 400)
    validated, judged, best = validated_by(unlike(true), true), [], choice._best_rules
    monkeypatch.setattr(choice, "_best_rules", lambda *errors: judged.append(1) or best(*errors))
    first, second = choose(validated, 4, np.exp), choose(validated, 4, np.expm1)
    n_judged = len(judged)
    assert choose(validated_by(unlike(true), true), 4, np.expm1) == second
    assert len(judged) == 2 * n_judged
    assert (first.rules, first.weights) == (second.rules, second.weights)
    assert first.trials != second.trials  # errors are in the unit of the fold's own scale


def test_trees_are_those_of_xgboosts_own_training_and_bytes_only_where_they_are_stored(monkeypatch):
    draw = np.random.default_rng(7)
    design, values = draw.normal(size=(300, 12)), draw.normal(size=300)
    kept, _ = grow_forest(design, values, 3)
    assert not len(grow_forest(design, values, 3, stored=False)[0].model)
    monkeypatch.setattr(candidates, "_grown", xgboost.train)
    assert np.array_equal(grow_forest(design, values, 3)[0].model, kept.model)
    assert np.array_equal(grow_forest(design, values, 3)[0].kept, kept.kept)
    by_xgboost = [boost(design, values, LEVELS, 3), *boost_plain(design, values, 3)]
    monkeypatch.undo()
    ours = [boost(design, values, LEVELS, 3), *boost_plain(design, values, 3)]
    assert all(a.save_raw("json") == b.save_raw("json") for a, b in zip(ours, by_xgboost, strict=True))


@pytest.mark.parametrize("right", POINTS)
def test_the_predictor_that_is_right_gives_the_best_guess(right):
    """However bad the others are: a simple rule or what learned; the answer tells all of them, the best first."""
    true = np.random.default_rng(1).normal(0, 1, 400)
    points = unlike(true)
    points[POINTS.index(right)] = true + 0.01
    validated = validated_by(points, true)
    found = choose(validated, 4, np.exp)
    assert found.chosen == right
    assert point_of(validated.predicted, found, 4).tolist() == points[POINTS.index(right)].tolist()
    assert {one.name for one in found.trials} == {*TRIED} - {CONSTANT}
    assert [one.over_best for one in found.trials] == sorted(one.over_best for one in found.trials)
    assert found.trials[0].over_best == pytest.approx(1)
    assert found.trials[0].under_predicted_share == 0


def test_a_trial_is_the_mean_of_three_errors_over_the_best_single_ones():
    true = np.random.default_rng(2).normal(0, 1, 500)
    points = unlike(true)
    found = choose(validated_by(points, true), 4, np.exp)
    at = {
        name: [np.quantile(np.abs(np.exp(points[i]) - np.exp(true)) / np.exp(true), level) for level in (0.5, 0.8, 0.9)]
        for i, name in enumerate(POINTS)
    }
    best = np.min(list(at.values()), axis=0)
    for one in found.trials:
        if one.name != COMBINED:
            assert one.over_best == pytest.approx(np.mean(at[one.name] / best))
            assert one.ratio_error.p80 == pytest.approx(at[one.name][1])


def test_among_equals_the_simple_rule_is_chosen():
    true = np.random.default_rng(3).normal(0, 1, 300)
    points = np.tile(true + np.random.default_rng(4).normal(0, 0.3, 300), (len(POINTS), 1))
    assert choose(validated_by(points, true), 4, np.exp).chosen == SIMPLE[0]


@pytest.mark.parametrize(("n_units", "spread"), [(8, 0.9), (60, 0.3)])
def test_forward_in_time_a_winner_shares_the_guess_unless_it_is_clearly_better(n_units, spread):
    """Eight jobs decide nothing; by job, where the tested rows are like the validated ones, the winner has all."""
    draw = np.random.default_rng(11)
    true = draw.normal(0, 1, 10 * n_units)
    points = unlike(true)
    points[POINTS.index("backoff_medians")] = true + np.repeat(draw.normal(0, 1, n_units), 10)
    points[POINTS.index("forest")] = true + spread * np.repeat(draw.normal(0, 1, n_units), 10)
    validated = validated_by(points, true)
    winner, found = choose(validated, 4, np.exp), choose(validated, 4, np.exp, forward=True)
    assert winner.chosen not in SIMPLE
    shared = f"{winner.chosen}{BESIDE}backoff_medians"
    assert found.chosen == (shared if n_units == 8 else winner.chosen)
    parts = [point_of(validated.predicted, winner, 4), points[POINTS.index("backoff_medians")]]
    mean = np.mean(parts[: 1 + (n_units == 8)], axis=0)
    assert point_of(validated.predicted, found, 4) == pytest.approx(mean)
    assert ("halfway to backoff medians" in found.text) == (n_units == 8)


def test_a_combination_wins_where_history_is_right_or_far_off_and_trees_are_never_far_off():
    draw = np.random.default_rng(5)
    true = draw.normal(0, 1, 600)
    points = true + draw.normal(0, 0.5, (len(POINTS), 600))
    points[POINTS.index("recent")] = true + np.where(draw.random(600) < 0.3, draw.normal(0, 5, 600), 0.02)
    validated = validated_by(points, true)
    found = choose(validated, 4, np.exp)
    assert found.chosen == COMBINED
    guess = point_of(validated.predicted, found, 4)
    assert guess.tolist() == combined_point(validated.predicted, found.rules, 4).tolist()


def test_a_combination_is_judged_by_rows_that_did_not_choose_its_rules():
    """Of points that are all noise some rule looks good on any rows; on other rows it does not."""
    true = np.random.default_rng(6).normal(0, 1, 60)
    validated = validated_by(unlike(true, 7), true)
    found = choose(validated, 4, np.exp)
    seen = ratio_error(np.exp(combined_point(validated.predicted, found.rules, 4)), np.exp(true))
    told = next(one for one in found.trials if one.name == COMBINED).ratio_error
    assert told.p50 > np.quantile(seen, 0.5)


def test_without_parts_no_combination_is_tried():
    true = np.random.default_rng(8).normal(0, 1, 50)
    validated = replace(validated_by(unlike(true), true), units=np.zeros(50, dtype=np.int64))
    assert {one.name for one in choose(validated, 4, np.exp).trials} == set(POINTS)


def test_errors_over_zero_and_infinite_ones_leave_a_choice():
    """Half of the runs truly need nothing: any other guess of them is infinitely far off."""
    true = np.repeat([-50.0, 0.0], 100)
    points = np.zeros((len(POINTS), 200))
    points[POINTS.index("forest")] = true
    back = LogScale(np.exp(-50.0)).from_log
    found = choose(validated_by(points, true), 4, back)
    assert found.chosen == "forest"
    assert np.isfinite([one.over_best for one in found.trials]).all()


@pytest.mark.parametrize("forward", [False, True])
def test_where_most_runs_need_nothing_that_is_the_best_guess(forward):
    draw = np.random.default_rng(12)
    true = np.where(draw.random(400) < 0.6, -50.0, draw.normal(0, 1, 400))
    validated, back = validated_by(unlike(true), true), LogScale(np.exp(-50.0)).from_log
    found = choose(validated, 4, back, forward=forward)
    assert (found.chosen, found.middle) == (CONSTANT, -50.0)
    assert back(point_of(validated.predicted, found, 4)).tolist() == [0.0] * 400
    assert found.trials[0].ratio_error.p90 < np.inf


def test_forward_in_time_the_guess_is_not_shared_where_that_is_worse_than_the_simple_rule():
    """Between a run that needs nothing and one that does lies a value that is infinitely far off the first."""
    draw, rows = np.random.default_rng(13), np.arange(400)
    true = np.where(rows % 10 < 3, -50.0, draw.normal(0, 1, 400))
    points = unlike(true)
    for name, spread, wrong in (("backoff_medians", 0.51, 0), ("forest", 0.5, 1)):
        missed = (rows % 10 == wrong) & (rows % 50 < 40)
        points[POINTS.index(name)] = np.where(missed, 0.0, true + spread * (true > -50) * draw.normal(0, 1, 400))
    found = choose(validated_by(points, true), 4, LogScale(np.exp(-50.0)).from_log, forward=True)
    assert found.chosen == "backoff_medians"
    shared = next(one for one in found.trials if BESIDE in one.name)
    assert (shared.ratio_error.p90, found.trials[0].ratio_error.p90 < np.inf) == (np.inf, True)


def test_the_point_is_the_mean_of_its_rules_and_the_median_of_all_jobs_without_history():
    draw = np.random.default_rng(2)
    points, level = draw.normal(0, 1, (len(POINTS), 50)), np.repeat([0, 4], 25)
    quantiles = draw.normal(0, 1, (3, 50, 7))
    forest = SOURCES.index("forest")
    rules = (Rule(0, forest, 0.25, 0.5), Rule(3, 3, 0.0, 0.0), Rule(0, forest, np.inf, -0.1))
    found = combined_point(answers_of(quantiles, points, level), rules, 4)
    for row in range(25):
        recent, centre = points[0, row], points[forest, row]
        bounded = min(max(recent, centre - 0.25), centre + 0.5)
        assert found[row] == pytest.approx((bounded + points[3, row] + min(recent, centre - 0.1)) / 3)
    assert found[25:].tolist() == pytest.approx(quantiles[0, 25:, MEDIAN].tolist())


@pytest.mark.parametrize("nominal", [0.8, 0.9])
def test_calibration_covers_in_every_stratum(nominal):
    """Quantiles that are far too narrow in one stratum and too wide in the other come out right in both."""
    draw = np.random.default_rng(0)
    level = np.repeat([0, 1], 4000)
    true = draw.normal(0, np.where(level == 0, 3.0, 0.1))
    low, high = np.full(8000, -1.0), np.full(8000, 1.0)
    half = np.arange(8000) % 2 == 0
    rows = np.arange(4000)
    calibration = calibrate(low[half], high[half], true[half], Strata(level[half], 2, NO_CELLS), rows, nominal)
    ends = interval(low[~half], high[~half], level[~half], calibration)
    inside = (ends[0] <= true[~half]) & (true[~half] <= ends[1])
    assert [inside[level[~half] == at].mean() for at in (0, 1)] == pytest.approx([nominal] * 2, abs=0.03)


def test_as_many_runs_lie_below_a_quantile_as_it_says():
    """Of two strata, one far too narrow and one too wide; a quantile never passes the interval or the median."""
    draw, rows = np.random.default_rng(0), np.arange(6000)
    level, half = np.repeat([0, 1], 6000), np.arange(12_000) % 2 == 0
    true = draw.normal(0, np.where(level == 0, 3.0, 0.1))
    quantiles = np.tile(np.array([-1.6, -1.3, -0.7, 0.0, 0.7, 1.3, 1.6]), (12_000, 1))
    strata = Strata(level[half], 2, NO_CELLS)
    plain = calibrate(quantiles[half, 0], quantiles[half, -1], true[half], strata, rows, 0.9)
    moved = replace(plain, shifts=learn_shifts(quantiles[half], true[half], strata, rows))
    ends = interval(quantiles[~half, 0], quantiles[~half, -1], level[~half], plain)
    found, trained = (quantiles_within(quantiles[~half], *ends, level[~half], one) for one in (moved, plain))
    below = [(true[~half][level[~half] == at, None] <= found[level[~half] == at]).mean(axis=0) for at in (0, 1)]
    assert below == [pytest.approx(LEVELS, abs=0.03)] * 2
    assert (found[:, MEDIAN] == 0).all() and (np.diff(found, axis=1) >= 0).all()
    for one in (found, trained):
        assert (one >= ends[0][:, None]).all() and (one <= ends[1][:, None]).all()
    wide = quantiles_within(quantiles[~half], *ends, level[~half], replace(moved, nominal=0.5))
    assert (wide[:, :2] <= ends[0][:, None]).all() and (wide[:, -2:] >= ends[1][:, None]).all()


@pytest.mark.parametrize(("off", "bounded"), [(0.0, True), (0.3, True), (3.0, False)])
def test_a_best_guess_leaves_its_p10_and_p90_only_where_that_is_clearly_better(off, bounded):
    """Guesses of 40 jobs that are nearly exact, and quantiles that lie so far above them."""
    draw = np.random.default_rng(0)
    true = draw.normal(0, 1, 400)
    point = true + draw.normal(0, 0.5, 400)
    quantiles = true[:, None] + off + np.array([-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6])
    assert is_bounded(point, quantiles, validated_by(unlike(true), true), np.exp) == bounded


def test_forward_in_time_quantiles_are_as_trained_and_told_so():
    jobs = planted_jobs(200)
    model = train_estimator(known_jobs(jobs, "duration_s"), EstimateSettings(split="by_time"))
    assert model.model.calibration.shifts is None
    assert not estimate(model, jobs.head(1)).calibrated


@pytest.mark.parametrize(("jobs", "promised"), [(5, 5 / 6), (8, 8 / 9), (98, 98 / 99), (99, 0.99), (200, 0.99)])
def test_few_jobs_promise_what_they_cover(jobs, promised):
    found = []
    for seed in range(100):
        units = np.repeat(np.arange(jobs), 3)
        true, zero = np.random.default_rng(seed).normal(0, 1, jobs + 100), np.zeros(len(units))
        strata = Strata(np.zeros(len(units), dtype=np.int64), 1, NO_CELLS)
        calibration = calibrate(zero, zero, true[units], strata, units, 0.99)
        found.append((np.abs(true[jobs:]) <= calibration.margins[0]).mean())
        assert calibration.covers(np.zeros(2, dtype=np.int64)).tolist() == pytest.approx([promised] * 2)
    assert np.mean(found) == pytest.approx(promised, abs=0.04)


def test_a_new_job_is_covered_on_average_however_few_and_unequal_the_past_ones():
    """Rows of a job share their error: with 40 jobs of very unequal sizes the published rank covers too little."""
    found, plain = [], []
    for seed in range(400):
        draw = np.random.default_rng(seed)
        sizes = np.ceil(draw.lognormal(1, 1.2, 80)).astype(int)
        units = np.repeat(np.arange(80), sizes)
        true = np.repeat(draw.normal(0, 1, 80), sizes)
        past, zero = units < 40, np.zeros(len(units))
        level = np.zeros(int(past.sum()), dtype=np.int64)
        ends = [
            calibrate(zero[past], zero[past], true[past], Strata(level, 1, NO_CELLS), counted, 0.8).margins[0]
            for counted in (units[past], np.arange(int(past.sum())))
        ]
        for covered, margin in zip((found, plain), ends, strict=True):
            covered.append((np.abs(true[~past]) <= margin).mean())
    assert np.mean(found) == pytest.approx(0.8, abs=0.02)
    assert np.mean(plain) < 0.785


NO_CELLS = np.zeros((0, 1), dtype=np.uint64)


def test_margins_follow_what_has_ended_and_nothing_else():
    """After a change the fixed margin covers half, the following one nine in ten; what runs later moves no margin."""
    draw = np.random.default_rng(0)
    past, later = np.sort(np.abs(draw.normal(0, 1, 500))), np.abs(draw.normal(0, 2.5, 3000))
    started = np.arange(3000.0)
    calibration = Calibration(
        0.9,
        np.zeros(1),
        np.zeros(1, dtype=np.int64),
        draw.permutation(past),
        np.zeros((0, 500), np.uint64),
        np.ones(500),
    )
    runs = Followed(later, started, started + 20, np.arange(3000), np.zeros((0, 3000), np.uint64))
    margins = following_margins(calibration, runs)
    assert (later <= np.quantile(past, 0.9)).mean() < 0.6
    assert (later <= margins).mean() == pytest.approx(0.9, abs=0.03)
    other = later.copy()
    other[1000:] = 9.0
    again = following_margins(calibration, replace(runs, scores=other))
    assert np.array_equal(margins[:1020], again[:1020])
    assert margins[1500] < again[1500]


def test_runs_of_no_length_that_begin_with_others_are_predicted_before_they_are_learned_from():
    draw, n = np.random.default_rng(0), 1200
    started = np.repeat(np.arange(60.0), n // 60)
    ended = started + np.where(draw.random(n) < 0.5, 0, draw.integers(1, 5, n))
    keys, scores = np.zeros((1, n), np.uint64), draw.normal(0.5, 1, n)
    past = Calibration(0.9, np.zeros(1), np.zeros(1, np.int64), draw.normal(0, 1, 300), keys[:, :300], np.ones(300))
    margins = following_margins(past, Followed(scores, started, ended, np.arange(n), keys))
    assert (scores <= margins).mean() == pytest.approx(0.9, abs=0.02)
    turned = Followed(scores[::-1], started[::-1], ended[::-1], np.arange(n), keys)
    assert (scores[::-1] <= following_margins(past, turned)).mean() == pytest.approx(0.9, abs=0.02)


def test_margins_follow_the_runs_of_their_own_cell():
    """Half of the runs spread ten times as far: one margin for all covers one half always and the other too seldom."""
    draw, n = np.random.default_rng(1), 4000
    keys = draw.integers(0, 2, n).astype(np.uint64)[None]
    scores, started = np.abs(draw.normal(0, 1, n)) * np.where(keys[0] == 0, 1.0, 10.0), np.arange(float(n))
    calibration = Calibration(0.9, np.zeros(1), np.zeros(1, dtype=np.int64), scores[:500], keys[:, :500], np.ones(500))
    inside = {}
    for name, cells in (("own", keys), ("one", keys * np.uint64(0))):
        runs = Followed(scores[500:], started[500:], started[500:] + 20, np.arange(n - 500), cells[:, 500:])
        kept = scores[500:] <= following_margins(replace(calibration, keys=cells[:, :500]), runs)
        inside[name] = [kept[keys[0, 500:] == cell].mean() for cell in (0, 1)]
    assert inside["own"] == pytest.approx([0.9, 0.9], abs=0.03)
    assert inside["one"][0] > 0.97
    assert inside["one"][1] < 0.85


def test_published_estimators_and_their_flaws():
    assert set(ESTIMATORS) == set(FLAWS)
    spike = np.array([13.0] * 95 + [72_848.0] * 5)
    labels = np.zeros(100, dtype=np.int64)
    found = {name: per_profile(name, spike, labels, np.array([0, 7]))[0] for name in ESTIMATORS}
    assert found["mean"] == pytest.approx(spike.mean())
    assert found["iqr"] == 0.0  # a width, not a level
    assert found["skew_adaptive"] == found["q05"] == 13.0
    assert per_profile("median", spike, labels, np.array([7]))[0] == 13.0  # an unknown profile gets the whole


def test_log_scale_keeps_order():
    scale = LogScale(0.5)
    assert (np.diff(scale.to_log(np.array([0.0, 1.0, 2.0]))) > 0).all()


@pytest.mark.parametrize("n_values", [1, 2, 37, 2000])
def test_quantiles_of_sorted_values_are_numpys_to_the_last_bit(n_values):
    values = np.sort(np.exp(np.random.default_rng(n_values).normal(0, 3, (50, n_values))), axis=1)
    levels = ERROR_LEVELS.ravel()
    assert np.array_equal(quantiles_of_sorted(values, levels), np.quantile(values, levels, axis=1))

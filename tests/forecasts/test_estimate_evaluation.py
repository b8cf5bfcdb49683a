"""The evaluation: bars on the real development sample and the synthetic trace, both modes, honest splits."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.forecasts.test_estimates import planted_jobs
from tests.shared_data import PAI_SAMPLE, needs_shared_data
from workprof.answers.estimates import (
    baseline_sentence,
    choice_words,
    interval_sentence,
    interval_table,
    label,
    so_far_words,
)
from workprof.core.errors import NotEnoughData
from workprof.core.progress import hearing
from workprof.core.records import pack, unpack
from workprof.core.settings import from_environment
from workprof.forecasts import estimates, intervals
from workprof.forecasts.choice import CONSTANT, SIMPLE, TRIED
from workprof.forecasts.encoder import usable_fields
from workprof.forecasts.errors import ratio_quantiles
from workprof.forecasts.estimate_evaluation import (
    BASELINES,
    EstimateEvaluation,
    _by_profile,
    evaluate_estimates,
    evaluate_fold,
    group_of,
    training_pairs,
    validate_pair,
    validated_for,
)
from workprof.forecasts.estimates import EstimateSettings, known_jobs
from workprof.forecasts.splits import N_FOLDS, make_folds
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.synthetic.pai import write_pai_sample

pytestmark = pytest.mark.slow

WANTED = ["duration_s", "peak_memory_bytes", "start_time_s", "job_name", "user", "task_name", "group", "workload"]
WANTED += ["requested_cpu_percent", "requested_memory_bytes", "requested_gpu_percent", "instances"]


def jobs_of(path, home):
    store = TraceStore(from_environment().at(home))
    try:
        return store.frame(store.ingest([path], IngestOptions()).dataset, WANTED)
    finally:
        store.close()


@pytest.fixture(scope="module")
def planted():
    jobs = planted_jobs(160)
    labels = jobs["workload"].str[1:].astype(int)
    return evaluate_estimates({"jobs": jobs.assign(profile=labels)}, EstimateSettings(n_folds=2))


def test_every_predictor_is_tested_on_every_row(planted):
    assert planted.n_test == 160
    assert planted.n_train == 80
    assert set(planted.predictors) == {
        *BASELINES,
        "profile_mean",
        "profile_median",
        "recent",
        "forest",
        "boosted",
        "boosted_slow",
        "combined",
        "chosen",
    }
    assert planted.best == "chosen"
    assert len(planted.choices) == 2


def test_the_answer_names_the_predictor_of_each_split_and_why(planted):
    assert sum(planted.chosen.values()) == 2
    assert set(planted.over_best) == {*TRIED} - {CONSTANT}
    assert list(planted.over_best.values()) == sorted(planted.over_best.values())
    words = choice_words(planted)
    for name, n in planted.chosen.items():
        assert f"{label(name)} ({n} of 2 folds)" in words
    assert f"{planted.over_best[next(iter(planted.chosen))]:.2f} times those of the best single predictor" in words


def test_a_shared_guess_is_told_as_such(planted):
    found = replace(
        planted, chosen={"forest+recent": 1}, over_best={"forest": 1.0, "forest+recent": 1.1, "recent": 1.2}
    )
    words = choice_words(found)
    assert "chosen: " not in words
    assert "halfway between forest and recent history. Of both, forest is better than recent history by less" in words
    assert "halfway between forest and recent history" in words
    assert "1.10 times those of the best single predictor; recent history: 1.20 times" in words


def test_each_fold_has_the_point_of_what_it_chose(monkeypatch):
    """The choice rests on validation rows, so what it says of the tested rows is that predictor's and no other's.

    It is so before it is kept between p10 and p90.
    """
    monkeypatch.setattr(estimates, "is_bounded", lambda *_: False)
    jobs = planted_jobs(200)
    for at in range(2):
        result = one_fold(jobs, EstimateSettings(n_folds=5), at)
        assert np.array_equal(result.predictions["chosen"], result.predictions[result.combination.chosen])


def test_a_simple_rule_is_the_default_where_nothing_beats_it():
    """Each group always needs the same; names of jobs, plans and times say nothing of it."""
    draw = np.random.default_rng(0)
    jobs = planted_jobs(300)
    group = draw.integers(0, 30, 300)
    jobs = jobs.assign(group=group.astype(str), duration_s=np.exp(draw.normal(6, 2, 30))[group])
    found = evaluate_estimates({"jobs": jobs}, EstimateSettings(n_folds=2))
    assert set(found.chosen) <= set(SIMPLE)
    assert "Nothing that learns beats this simple rule." in choice_words(found)
    assert found.predictors["chosen"].ratio_error.p50 == pytest.approx(0, abs=1e-9)


def test_knowing_the_metadata_helps(planted):
    errors = {name: found.ratio_error.p50 for name, found in planted.predictors.items()}
    assert errors["combined"] < errors["global_median"] / 2
    assert errors["profile_median"] < errors["global_median"]
    assert planted.interval.median_width_factor < planted.interval.global_width_factor / 2


def test_new_users_are_told_apart(planted):
    """Nobody is new by chance among two users; those of the later jobs are, where they come with names of their own."""
    assert (planted.interval.n_new_users, planted.interval.new_users_coverage) == (0, None)
    jobs = planted_jobs(300)
    late = jobs["start_time_s"].rank() > 240
    jobs.loc[late, "user"] = "late"
    found = evaluate_estimates({"jobs": jobs}, EstimateSettings(split="by_time")).interval
    assert found.n_new_users == 60
    assert 0 < found.new_users_coverage <= 1
    assert found.new_users_width_factor > 1
    assert "60 runs of users that training did not see" in interval_sentence(replace(planted, interval=found))
    assert found.fixed_width_factor > 1  # by time the interval follows the runs that ended; both are shown
    table = interval_table({"by_job": planted, "by_time": replace(planted, interval=found)}).frame()
    assert table["runs"].tolist() == ["all", "all", "new users", "all, interval as trained"]


@pytest.mark.parametrize("kind", ["object", "category"])
def test_runs_of_nobody_get_the_median_of_all(kind):
    jobs = planted_jobs(200).assign(user=lambda t: t["user"].where(np.arange(len(t)) % 7 > 0).astype(kind))
    known = known_jobs(jobs, "duration_s")
    fold = make_folds(known.jobs, "by_job", 2)[0]
    past, test = known.jobs.iloc[fold.train], known.jobs.iloc[fold.test]
    told = evaluate_fold(known, fold, EstimateSettings()).predictions["user_median"]
    medians = past["duration_s"].groupby(past["user"].astype(object)).median()
    for user, own in zip(test["user"], told, strict=True):
        assert own == pytest.approx(medians.get(user, past["duration_s"].median()))


def test_errors_by_profile_are_of_the_best_and_worst_first(planted):
    medians = [one.quantiles[2] for one in planted.by_profile]
    assert medians == sorted(medians, reverse=True)
    assert sum(one.n_rows for one in planted.by_profile) == 160


def test_errors_of_a_profile_are_quantiles_as_those_of_a_predictor_are():
    jobs, errors = pd.DataFrame({"profile": [3.0, 3.0, 3.0, 3.0]}), np.array([0.1, 0.2, 0.4, np.inf])
    (one,) = _by_profile(jobs, np.arange(4), errors)
    of_all = ratio_quantiles(1 + errors, np.ones(4))
    assert one.quantiles[2] == pytest.approx(of_all.p50) == 0.3
    assert one.quantiles[-1] == np.inf


def test_it_can_be_kept(planted):
    assert unpack(EstimateEvaluation, pack(planted)).predictors["combined"].mae == planted.predictors["combined"].mae


def test_faithful_mode_has_the_published_estimators_and_no_interval():
    jobs = planted_jobs(160)
    labelled = jobs.assign(profile=jobs["workload"].str[1:].astype(int))
    found = evaluate_estimates({"jobs": labelled}, EstimateSettings(mode="faithful", n_folds=2))
    assert list(found.predictors) == [f"profile_{name}" for name in ("mean", "median", "q05", "iqr", "skew_adaptive")]
    assert found.interval is None
    assert found.predictors["profile_q05"].under_predicted_share > 0.8
    with pytest.raises(NotEnoughData, match="find profiles first"):
        evaluate_estimates({"jobs": jobs}, EstimateSettings(mode="faithful", n_folds=2))


@pytest.mark.parametrize("only", [0, -1])
def test_a_quantity_that_one_profile_alone_has_is_tested_too(only):
    jobs = planted_jobs(80).assign(profile=only)
    others = planted_jobs(80, seed=3).assign(profile=1, duration_s=np.nan)
    found = evaluate_estimates({"jobs": pd.concat([jobs, others], ignore_index=True)}, EstimateSettings(n_folds=2))
    assert found.n_test == 80
    assert found.predictors["profile_median"].mae == pytest.approx(found.predictors["global_median"].mae)


def test_few_runs_with_a_profile_leave_the_other_predictors():
    jobs = planted_jobs(60).assign(profile=np.where(np.arange(60) < 18, np.arange(60) % 3, np.nan))
    found = evaluate_estimates({"jobs": jobs}, EstimateSettings(n_folds=2))
    assert found.n_test == 60 and not any(name.startswith("profile_") for name in found.predictors)
    assert "too few runs with a profile to learn from: predictors that use them are left out" in found.notes
    with pytest.raises(NotEnoughData, match="too few to learn from"):
        evaluate_estimates({"jobs": jobs}, EstimateSettings(n_folds=2, mode="faithful"))


def test_another_dataset_is_tested_after_one_training():
    train, test = planted_jobs(120), planted_jobs(40, seed=9)
    found = evaluate_estimates({"jobs": train, "test": test}, EstimateSettings())
    assert (found.n_train, found.n_test, len(found.choices)) == (120, 40, 1)
    assert any("40 tested runs belong to jobs in the training data" in note for note in found.notes)


def test_another_dataset_that_is_earlier_is_no_test_by_time():
    jobs, by_time = planted_jobs(160).sort_values("start_time_s", ignore_index=True), EstimateSettings(split="by_time")
    early, late = jobs[:100], jobs[100:]
    with pytest.raises(NotEnoughData, match="0 had ended before the first tested run"):
        evaluate_estimates({"jobs": late, "test": early}, by_time)
    found = evaluate_estimates({"jobs": jobs, "test": late}, by_time)
    ended = early.start_time_s + early.duration_s <= late.start_time_s.min()
    assert (found.n_train, found.n_test) == (ended.sum(), 60)
    assert f"{160 - ended.sum()} training runs had not ended" in " ".join(found.notes)


def test_a_split_by_time_leaves_the_future_out():
    found = evaluate_estimates({"jobs": planted_jobs(300)}, EstimateSettings(split="by_time"))
    assert found.n_test == 90
    assert found.n_train <= 210
    assert sum(found.chosen.values()) == 1
    assert set(found.chosen) <= set(found.over_best)


@pytest.mark.parametrize(("n_folds", "total"), [(2, 2), (5, 10 + 5)])
def test_progress_counts_the_trainings(n_folds, total):
    messages = []
    jobs = planted_jobs(100)
    evaluate_estimates({"jobs": jobs}, EstimateSettings(n_folds=n_folds), lambda _, words: messages.append(words))
    assert messages == [f"Training and testing, {training} of {total}" for training in range(1, total + 1)]


def test_rules_that_learn_nothing_are_told_first_then_the_folds_as_they_double():
    heard, settings = [], EstimateSettings(n_folds=5)
    with hearing(heard.append):
        result = evaluate_estimates({"jobs": planted_jobs(200)}, settings)
    first, *others = heard
    assert [one.n_test for one in heard] == [200, 40, 80, 160]
    assert set(first.predictors) == set(BASELINES) - {"boosted_plain"}
    for name, simple in first.predictors.items():
        assert simple.ratio_error == result.predictors[name].ratio_error
    assert (first.best, first.interval, interval_sentence(first)) == ("backoff_medians", None, "")
    assert so_far_words(first).startswith("So far, back-off medians, 200 test runs: 80 % of predictions miss")
    assert all(one.best == "chosen" and set(one.predictors) == set(result.predictors) for one in others)
    with hearing(heard.append):
        alone = evaluate_estimates({"jobs": planted_jobs(200)}, replace(settings, split="by_time"))
    assert alone.differences and heard[-1].best == "backoff_medians"


def one_fold(jobs, settings, at):
    known = known_jobs(jobs, settings.target)
    folds = make_folds(known.jobs, settings.split, settings.n_folds)
    settings = replace(settings, fields=usable_fields(known.jobs, (), settings.mode))
    own = group_of(at, known, settings)
    pairs = [pair for pair in training_pairs(known, folds, settings) if own in pair.groups]
    between = {pair.groups: validate_pair(known, settings, pair) for pair in pairs}
    return evaluate_fold(known, folds[at], settings, validated_for(own, between))


@pytest.mark.parametrize("n_folds", [5, 8])
def test_a_fold_does_not_know_its_own_values(n_folds):
    """Other values in one fold's test rows change neither its estimates nor its intervals."""
    jobs = planted_jobs(200)
    settings = EstimateSettings(n_folds=n_folds)
    fold = make_folds(jobs, settings.split, n_folds)[2]
    changed = jobs.copy()
    changed.loc[fold.test, "duration_s"] *= 50.0
    first, second = (one_fold(table, settings, 2) for table in (jobs, changed))
    for name, values in first.predictions.items():
        assert np.array_equal(values, second.predictions[name]), name
    assert np.array_equal(first.low, second.low)
    assert np.array_equal(first.high, second.high)


def test_of_many_rows_some_choose_and_calibrate_and_all_are_tested(monkeypatch):
    monkeypatch.setattr(intervals, "VALIDATED_ROWS", 30)
    jobs, settings = planted_jobs(300), EstimateSettings(n_folds=5)
    known, named = known_jobs(jobs, settings.target), replace(settings, fields=usable_fields(jobs, (), settings.mode))
    pair = training_pairs(known, make_folds(jobs, settings.split, 5), named)[0]
    for rows, own in zip((one.rows for one in validate_pair(known, named, pair)), pair.tests, strict=True):
        assert len(rows) == 30 < len(own) and set(rows) <= set(own)
    result = evaluate_estimates({"jobs": jobs}, settings)
    assert result.n_test == 300 and 0.8 < result.interval.coverage < 1


@needs_shared_data
@pytest.mark.parametrize("n_folds", [4, pytest.param(N_FOLDS, marks=pytest.mark.soak)])
def test_the_bars_on_the_development_sample(tmp_path, n_folds):
    found = evaluate_estimates({"jobs": jobs_of(PAI_SAMPLE, tmp_path)}, EstimateSettings(n_folds=n_folds))
    best = found.predictors[found.best]
    assert best.ratio_error.p50 <= 0.36
    assert best.share_within_100pct >= 0.83
    assert best.factor_error.p50 <= 1.45
    assert best.ratio_error.p90 <= 2.0
    for name in BASELINES:
        other = found.predictors[name].ratio_error
        assert (best.ratio_error.p50, best.ratio_error.p80, best.ratio_error.p90) < (other.p50, other.p80, other.p90)
        assert best.ratio_error.p80 < other.p80
        assert best.ratio_error.p90 < other.p90
    assert 0.85 <= found.interval.coverage <= 0.95
    assert found.interval.median_width_factor <= found.interval.global_width_factor / 2


@pytest.mark.soak
@pytest.mark.parametrize("target", ["duration_s", "peak_memory_bytes"])
def test_coverage_on_the_synthetic_trace(tmp_path, target):
    write_pai_sample(tmp_path / "s.parquet", 20_000, 5)
    jobs = jobs_of(tmp_path / "s.parquet", tmp_path / "home")
    found = evaluate_estimates({"jobs": jobs}, EstimateSettings(target=target, n_folds=4))
    assert 0.88 <= found.interval.coverage <= 0.92
    assert found.interval.median_width_factor <= found.interval.global_width_factor / 2


@pytest.mark.soak
@pytest.mark.slow
def test_errors_grow_as_the_split_grows_harder():
    """Rows at random, other jobs, other groups: where groups repeat, each keeps more of the answer back."""
    jobs = planted_jobs(400)
    level = np.random.default_rng(0).normal(0, 1, 80)
    group = np.arange(400) % 80
    jobs = jobs.assign(group=group.astype(str), duration_s=np.exp(6 + level[group]), job_name=(group // 2).astype(str))
    errors = [
        evaluate_estimates({"jobs": jobs}, EstimateSettings(split=split, n_folds=2))
        .predictors["combined"]
        .ratio_error.p50
        for split in ("random", "by_group")
    ]
    assert errors[0] < errors[1]
    assert pd.notna(errors).all()


def test_rounding_makes_no_baseline_better():
    jobs = pd.DataFrame({"user": ["a", "b"] * 60, "job_name": [f"j{at}" for at in range(120)], "duration_s": 100.0})
    found = evaluate_estimates({"jobs": jobs}, EstimateSettings(n_folds=2))
    assert max(one.low.max() for one in found.differences.values()) > 0  # 2.8e-16 of 100 s, by way of logarithms
    assert baseline_sentence(found).startswith("No baseline has a smaller relative error")

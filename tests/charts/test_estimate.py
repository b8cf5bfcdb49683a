"""Estimates: a guess that says so, and what earlier runs of this home make of it."""

import json

import pytest

from workprof.answers.how_long import (
    LATEST,
    STARTING_S,
    EarlierRun,
    Expected,
    expected,
    expected_fit,
    expected_sweep,
    fit_words,
    fit_work_s,
    pace,
)
from workprof.core.records import canonical_json
from workprof.core.settings import DEFAULT_AHEAD_S
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.memory.over_time import OverTimeSettings
from workprof.memory.rollup import RollupSettings
from workprof.memory.verdict import VerdictSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import GroupSettings, SweepSettings

ROWS = 20_000
FIT = ProfileSettings(features=("sensors10",), min_cluster_size=60, min_samples=60, silhouette="exact")


def earlier(settings, seconds, dataset="a", rows=ROWS):
    return EarlierRun(dataset, rows, json.loads(canonical_json(settings)), seconds)


def test_a_range_of_one_value_is_said_once():
    assert Expected(2.0, 1.98, 2.02, 1, "fit").words() == "about 2 s (from 1 earlier fit here)"


def test_without_earlier_runs_it_is_a_guess_and_says_so():
    takes = expected_fit(ProfileSettings(), 100_001)
    assert (round(takes.seconds), takes.runs) == (18, 0)
    assert takes.words() == "8.4 s to 50 s (a guess)"
    assert fit_words(ProfileSettings(), 100_001) == "100,001 runs × 10 features"


@pytest.mark.parametrize("factor", [0.25, 1.0, 8.0])
def test_a_machine_of_another_pace_is_told_by_its_earlier_runs(factor):
    past = earlier(FIT, factor * fit_work_s(FIT, ROWS))
    takes = expected_fit(ProfileSettings(), 100_001, [past])
    assert takes.seconds == pytest.approx(STARTING_S + factor * fit_work_s(ProfileSettings(), 100_001))
    assert takes.low_s < takes.seconds < takes.high_s
    assert takes.words().endswith("(from 1 earlier fit here)")


def test_the_range_holds_what_earlier_runs_took_and_widens_on_a_busy_machine():
    past = [EarlierRun("a", 1000, {}, seconds) for seconds in (10.0, 12.0, 40.0)]
    idle, busy = (expected("some.step", None, 1000, past, load) for load in (1.0, 4.0))
    assert idle.low_s <= 10 and idle.high_s >= 40
    assert busy.high_s > 3 * idle.high_s and busy.seconds == idle.seconds
    assert expected("some.step", None, 4000, past).seconds > 2 * idle.seconds


def test_cuts_of_a_kept_tree_are_no_measure():
    whole = earlier(FIT, 40.0)
    cuts = [earlier(ProfileSettings(**{**vars(FIT), "min_cluster_size": size}), 0.9) for size in (61, 62, 63)]
    assert expected_fit(FIT, ROWS, [*cuts, whole]) == expected_fit(FIT, ROWS, [whole])


def test_the_other_algorithm_and_other_versions_say_nothing():
    optics = earlier(ProfileSettings(algorithm="optics", features=("sensors10",)), 500.0)
    unreadable = EarlierRun("a", ROWS, {"scaler": "of another version"}, 500.0)
    assert expected_fit(ProfileSettings(), ROWS, [optics, unreadable]).runs == 0


def test_the_median_of_the_newest_runs_counts():
    assert pace([(1.0, 2.0), (1.0, 3.0), (1.0, 100.0)]).factor == 3.0
    assert pace([(1.0, 2.0)] * LATEST + [(1.0, 99.0)] * 100).factor == 2.0
    assert pace([(0.0, 5.0), (1.0, 0.0)]).runs == 0


def test_optics_grows_with_the_square_up_to_its_sample():
    optics = ProfileSettings(algorithm="optics")
    assert fit_work_s(optics, 8_000) == pytest.approx(4 * fit_work_s(optics, 4_000))
    assert fit_work_s(optics, 100_000) == fit_work_s(optics, 10_000)


def test_a_sweep_uses_its_own_groups():
    group = SweepSettings().groups()[0]
    assert expected_sweep(SweepSettings(), ROWS).runs == 0
    known = expected_sweep(SweepSettings(), ROWS, [earlier(group, 120.0)])
    assert (round(known.seconds), known.runs) == (976, 1)
    both = SweepSettings(algorithms=("hdbscan", "optics"))
    assert expected_sweep(both, ROWS, [earlier(group, 120.0)]).runs == 0
    optics = GroupSettings(algorithm="optics", features=("sensors10",))
    assert expected_sweep(both, ROWS, [earlier(group, 120.0), earlier(optics, 9.0)]).runs == 2


def test_ten_million_runs_are_no_matter_of_hours():
    """Measured as commands, on one core: 24 s and 10 s. Of a long trace the plan is of its latest runs alone."""
    plan = VerdictSettings()
    latest = {
        "memory.verdict": plan,
        "memory.rollup": RollupSettings(),
        "profiles.forecaster": ForecasterSettings(),
        "profiles.estimate_evaluation": EstimateEvaluationSettings(),
    }
    for step, settings in latest.items():
        assert expected(step, settings, 10_000_000) == expected(step, settings, 1_000_000)
    for step, settings in (("memory.verdict", plan), ("memory.over_time", OverTimeSettings())):
        takes = expected(step, settings, 10_000_000)
        assert takes.seconds < DEFAULT_AHEAD_S
        assert takes.high_s < 60


def test_a_fit_of_many_runs_does_not_start_by_itself():
    """Its sample is the same, but every run joins it: 289 s for ten million."""
    assert expected_fit(ProfileSettings(), 100_001).seconds < DEFAULT_AHEAD_S
    assert 240 < expected_fit(ProfileSettings(), 10_000_000).seconds < 400


def test_nor_does_a_sweep_of_few_of_them():
    """Each of its groups reads every run: the page of ten million took minutes and 2.6 GB."""
    few = SweepSettings(preset="quick", sample_rows=2_000)
    assert expected_sweep(few, 100_001).seconds < DEFAULT_AHEAD_S
    assert expected_sweep(few, 10_000_000).seconds > DEFAULT_AHEAD_S

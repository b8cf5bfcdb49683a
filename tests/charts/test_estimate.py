"""Estimates: a guess that says so, and what earlier runs of this home make of it."""

import json

import pytest

from workprof.answers.how_long import LATEST, STARTING_S, EarlierRun, fit_estimate, fit_work_s, pace, sweep_estimate
from workprof.core.records import canonical_json
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import GroupSettings, SweepSettings

ROWS = 20_000
FIT = ProfileSettings(features=("sensors10",), min_cluster_size=60, min_samples=60, silhouette="exact")


def earlier(settings, seconds, dataset="a", rows=ROWS):
    return EarlierRun(dataset, rows, json.loads(canonical_json(settings)), seconds)


def test_without_earlier_runs_it_is_a_guess_and_says_so():
    told = fit_estimate(ProfileSettings(), 100_001)
    assert told.startswith("100,001 runs × 10 features: about 18 s (a guess: no such fit ran here yet)")


@pytest.mark.parametrize("factor", [0.25, 1.0, 8.0])
def test_a_machine_of_another_pace_is_told_by_its_earlier_runs(factor):
    past = earlier(FIT, factor * fit_work_s(FIT, ROWS))
    told = fit_estimate(ProfileSettings(), 100_001, [past])
    seconds = STARTING_S + factor * fit_work_s(ProfileSettings(), 100_001)
    assert f"about {round(seconds)} s (from 1 earlier fit here)" in told.replace("2 min 10 s", "130 s")


def test_cuts_of_a_kept_tree_are_no_measure():
    whole = earlier(FIT, 40.0)
    cuts = [earlier(ProfileSettings(**{**vars(FIT), "min_cluster_size": size}), 0.9) for size in (61, 62, 63)]
    assert fit_estimate(FIT, ROWS, [*cuts, whole]) == fit_estimate(FIT, ROWS, [whole])


def test_the_other_algorithm_and_other_versions_say_nothing():
    optics = earlier(ProfileSettings(algorithm="optics", features=("sensors10",)), 500.0)
    unreadable = EarlierRun("a", ROWS, {"scaler": "of another version"}, 500.0)
    assert "a guess" in fit_estimate(ProfileSettings(), ROWS, [optics, unreadable])


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
    guess = sweep_estimate(SweepSettings(), ROWS)
    known = sweep_estimate(SweepSettings(), ROWS, [earlier(group, 120.0)])
    assert "a guess: no such fit ran here yet" in guess
    assert "about 16 min 16 s (from 1 earlier fit here)" in known
    both = SweepSettings(algorithms=("hdbscan", "optics"))
    assert "a guess" in sweep_estimate(both, ROWS, [earlier(group, 120.0)])
    optics = GroupSettings(algorithm="optics", features=("sensors10",))
    assert "from 2 earlier fits" in sweep_estimate(both, ROWS, [earlier(group, 120.0), earlier(optics, 9.0)])

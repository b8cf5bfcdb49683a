"""Thresholds and what they decide."""

import numpy as np
import pytest

from tests.phases.planted_runs import COUNTERS, planted, samples_of
from workprof.core.errors import NotEnoughData
from workprof.core.records import pack, unpack
from workprof.phases.detector import Limits, _slope, fit_detector, fit_phase_model, limits_of
from workprof.phases.fingerprints import RenormalisedRuns, stretches_of
from workprof.phases.library import LibrarySettings, faithful_library, library_of
from workprof.phases.matching import UNKNOWN, MatchRunSettings, match_run
from workprof.phases.runs import runs_of
from workprof.phases.similarity import MatchSettings, Threshold, accepts, chosen_c, thresholds_of

pytestmark = pytest.mark.slow

LABELS = ["a", "a", "a", "b", "b"]
DISTANCES = np.array([[0, 1, 2, 9, 9], [1, 0, 3, 9, 9], [2, 3, 0, 9, 9], [9, 9, 9, 0, 4], [9, 9, 9, 4, 0.0]])


def test_mean_and_deviation_of_all_pairs():
    a, b = thresholds_of(LABELS, DISTANCES, MatchSettings(pooled=False))
    assert (a.mean, a.sd, a.usable) == (2.0, pytest.approx(np.std([1, 2, 3])), True)
    assert (b.mean, b.usable) == (4.0, False)
    assert np.isnan(b.sd)


def test_one_side_accepts_runs_that_are_nearer_than_the_others():
    threshold = Threshold("a", 3, 2.0, 0.5)
    assert [accepts(threshold, d, 1.0, two_sided=False) for d in (0.1, 2.5, 2.6)] == [True, True, False]
    assert [accepts(threshold, d, 1.0, two_sided=True) for d in (0.1, 2.5, 2.6)] == [False, True, False]
    assert accepts(Threshold("b", 2, 2.0, np.nan), 0.1, 1.0, two_sided=False) is None


def test_c_is_set_by_each_run_against_the_rest_of_its_workload():
    settings = MatchSettings(pooled=False, false_rejects=0.01)
    thresholds = thresholds_of(LABELS, DISTANCES, settings)
    z_scores = (np.array([1, 1, 2]) - 2) / np.std([1, 2, 3])
    assert chosen_c(LABELS, DISTANCES, thresholds, settings) == pytest.approx(np.quantile(z_scores, 0.99))
    assert chosen_c(LABELS, DISTANCES, thresholds, MatchSettings(c=2.5)) == 2.5


def test_the_limit_is_a_quantile_of_known_scores():
    scores = np.linspace(0, 1, 101)
    own = Limits(scores, scores < 2, 0.5, 0.3)
    assert own.limit_for(0.1) == pytest.approx(0.91)  # rank 92 of 101: the new run is one of 102
    assert own.limit_for(0.001) == 1.0
    assert own.limit_at(own.c_of(0.7)) == pytest.approx(0.7)


@pytest.fixture(scope="module")
def samples():
    return planted(5, 4, seed=3)


@pytest.mark.slow
def test_a_planted_run_is_recognised_and_a_strange_one_is_not(samples):
    strange = planted(1, 1, seed=99).assign(workload=None, run="strange")
    found = match_run({"samples": samples}, MatchRunSettings("w2/1", LibrarySettings()))
    assert (found.verdict.nearest, found.matches[0].workload) == ("w2", "w2")
    assert len(found.matches) == 19
    assert found.verdict.confidence > 0
    other = match_run({"samples": strange, "train": samples}, MatchRunSettings("strange", LibrarySettings()))
    assert other.verdict.workload == UNKNOWN
    assert other.verdict.score > other.verdict.limit
    assert other.verdict.score > found.verdict.score


@pytest.mark.slow
def test_the_run_that_is_asked_about_is_not_in_the_library(samples):
    found = match_run({"samples": samples}, MatchRunSettings("w2/1", LibrarySettings()))
    assert ("w2", "1") not in {(line.workload, line.run) for line in found.matches}
    assert all(line.distance_ed > 0 for line in found.matches)


def test_faithful_matches_have_no_models(samples):
    found = match_run({"samples": samples}, MatchRunSettings("w1/2", faithful_library()))
    assert found.scores == {}
    assert "mean ± 1 sd" in found.verdict.reason or "±" in found.verdict.reason


def test_too_few_runs_give_the_nearest_only(samples):
    few = samples[samples["run"].isin(["1", "2"])]
    found = match_run({"samples": few}, MatchRunSettings("w1/2", LibrarySettings()))
    assert found.verdict.workload == found.verdict.nearest
    assert np.isnan(found.verdict.limit)
    one_workload = samples[samples["workload"] == "w0"]
    alone = match_run({"samples": one_workload}, MatchRunSettings("w0/1", LibrarySettings()))
    assert alone.verdict.nearest == "w0"


def test_a_run_that_lacks_a_counter_is_matched_with_a_note(samples):
    part = samples[(samples["workload"] == "w3") & (samples["run"] == "1")].drop(columns=["c1"])
    train = samples[~((samples["workload"] == "w3") & (samples["run"] == "1"))]
    settings = MatchRunSettings("w3/1", LibrarySettings(counters=COUNTERS))
    found = match_run({"samples": part, "train": train}, settings)
    assert found.verdict.nearest == "w3"
    assert any("lacks 1 counters" in note for note in found.notes)


@pytest.mark.slow
def test_libraries_can_be_kept_and_answer_alike(samples):
    library = library_of(runs_of(samples), LibrarySettings())
    again = unpack(type(library), pack(library))
    assert again.thresholds == library.thresholds
    one, other = (
        fit_detector([stretches_of(one) for one in some.prints], some.labels, some.settings).limit
        for some in (library, again)
    )
    assert one == other


def test_runs_without_labels_teach_nothing():
    with pytest.raises(NotEnoughData, match="no run has a workload"):
        library_of(runs_of(samples_of({(None, "1"): {"a": np.arange(9.0)}})), LibrarySettings())


def test_known_runs_tell_how_new_ones_score_that_meet_one_run_more():
    """A run that is left out meets a run less of its workload than a new one; of three that is most of its score."""
    runs = runs_of(planted(4, 9, seed=5), ())
    known = np.array([int(run.run) <= 3 for run in runs.runs])
    fingerprints, new = RenormalisedRuns(runs, LibrarySettings().fingerprints).of(
        np.flatnonzero(known).tolist(), np.flatnonzero(~known).tolist()
    )
    labels = np.unique(np.array(runs.workloads)[known], return_inverse=True)[1]
    prints = [stretches_of(one) for one in fingerprints.prints]
    limits = limits_of(
        labels,
        0,
        lambda out, rest: fit_phase_model([prints[i] for i in rest], labels[rest], 0).unlikeness(
            [prints[i] for i in out]
        ),
    )
    everything = np.arange(len(labels))
    alone = []
    for run in everything:
        rest = everything[everything != run]
        alone.append(fit_phase_model([prints[i] for i in rest], labels[rest], 0).unlikeness([prints[run]]).min())
    truth = fit_phase_model(prints, labels, 0).unlikeness([stretches_of(one) for one in new]).min(axis=1)
    assert truth.mean() < np.mean(alone)
    assert abs(limits.scores.mean() - truth.mean()) < abs(np.mean(alone) - truth.mean())
    assert (truth > limits.limit_for(0.1)).mean() <= 0.2


def test_a_slope_is_that_of_a_part_like_one_over_the_number_of_known_runs():
    n = np.array([3.0, 4, 6])
    gains = [(5 / (n - 2) - 5 / (n - 1), 1 / (n - 2) - 1 / (n - 1))]
    assert _slope(gains) == pytest.approx(5)
    assert _slope([(-gains[0][0], gains[0][1])]) == 0
    assert _slope([]) == 0


def test_runs_in_which_nothing_changes_are_refused_as_rounding_would_decide():
    samples = planted(n_runs=4)
    samples = samples.assign(**dict.fromkeys(COUNTERS, 1.0))
    with pytest.raises(NotEnoughData, match=r"no counter changes in \d+ labelled runs"):
        match_run({"samples": samples}, MatchRunSettings(runs_of(samples).runs[0].name))

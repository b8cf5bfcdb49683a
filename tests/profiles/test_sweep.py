"""The sweep: the grid is Table III's, its runs are the fits they stand for, its summary says what the runs say."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.profiles.planted import job_table
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.profiles.fit import fit_profiles
from workprof.profiles.sweep import (
    COUPLED,
    GRID_SIZES,
    GroupSettings,
    SweepSettings,
    at_target,
    best_run,
    compare_runs,
    summarise_runs,
    sweep_group,
    winners_by_target,
)

SIZES = (20, 40, 80)


@pytest.fixture(scope="module")
def frames():
    return {"jobs": job_table(1200)}


@pytest.fixture(scope="module")
def coupled(frames):
    return sweep_group(frames, GroupSettings(sizes=SIZES, min_samples=COUPLED, silhouette="exact"))


def test_both_presets_are_table_three():
    for preset, silhouette in (("paper", "exact"), ("quick", "sampled")):
        groups = SweepSettings(preset=preset, algorithms=("hdbscan",)).groups()
        runs = [(g.scaler, g.metric, size) for g in groups for size in g.sizes]
        assert len(runs) == len(set(runs)) == 56
        assert {g.silhouette for g in groups} == {silhouette}
        assert {g.sizes for g in groups} == {GRID_SIZES}
    assert len(SweepSettings(preset="paper").groups()) == 16
    assert {g.min_samples for g in SweepSettings(preset="paper").groups()} == {COUPLED}
    assert len({g.min_samples for g in SweepSettings().groups()} - {COUPLED}) == 1


@pytest.mark.slow
def test_a_coupled_run_is_the_fit_with_those_settings(frames, coupled):
    for run in coupled.runs:
        fit = fit_profiles(frames, run.settings)
        assert run.settings.min_samples == run.settings.min_cluster_size == run.grid_size
        np.testing.assert_array_equal(run.labels, fit.labels)
        assert run.scores.acquires == pytest.approx(fit.scores.acquires, abs=1e-12)
        assert run.scores.relative_validity == pytest.approx(fit.scores.relative_validity, abs=1e-12)


@pytest.mark.slow
def test_one_min_samples_is_cut_from_one_tree(frames):
    group = sweep_group(frames, GroupSettings(sizes=SIZES, min_samples=15, silhouette="exact"))
    for run in group.runs:
        np.testing.assert_array_equal(run.labels, fit_profiles(frames, run.settings).labels)
        assert run.settings.min_samples == 15


def test_sizes_that_do_not_fit_are_left_out_with_the_reason(frames):
    group = sweep_group(frames, GroupSettings(sizes=(20, 700), silhouette="exact"))
    assert [run.grid_size for run in group.runs] == [20]
    assert "cannot hold two profiles of 700" in group.left_out["700"]
    with pytest.raises(NotEnoughData):
        sweep_group(frames, GroupSettings(sizes=(700,)))


@pytest.mark.soak
@pytest.mark.slow
def test_optics_runs_on_a_stated_sample_with_the_same_share(frames):
    many = {"jobs": job_table(5000)}
    group = sweep_group(many, GroupSettings(algorithm="optics", sizes=(100,), silhouette="sampled"))
    assert group.n_sampled == len(group.row_ids) == 4000
    assert group.runs[0].grid_size == 100
    assert group.runs[0].settings.min_cluster_size == 80
    small = sweep_group(frames, GroupSettings(algorithm="optics", sizes=(40,)))
    assert small.n_sampled == 1200
    assert small.runs[0].settings.min_cluster_size == 40


def test_the_best_and_the_target(coupled):
    runs = coupled.runs
    best = best_run(runs)
    assert runs[best].scores.acquires == max(run.scores.acquires for run in runs)
    assert best_run([]) == -1
    for winner in winners_by_target(runs, (2, 5, 50)):
        scores = [at_target(run, winner.target_clusters).scores.acquires for run in runs]
        assert winner.acquires == max(scores)
    assert at_target(runs[0], 26).scores == runs[0].scores


def test_the_summary_is_of_the_runs(coupled):
    row = next(row for row in summarise_runs(coupled.runs) if row.score == "n_outliers")
    outliers = [run.scores.n_outliers for run in coupled.runs]
    assert (row.runs, row.mean, row.minimum, row.maximum) == (3, np.mean(outliers), min(outliers), max(outliers))
    undefined = [replace(run, scores=replace(run.scores, acquires=math.nan)) for run in coupled.runs]
    assert math.isnan(next(row for row in summarise_runs(undefined) if row.score == "acquires").mean)
    assert best_run(undefined) == -1


def test_comparing_runs_names_the_rows_that_moved(coupled):
    first = coupled.runs[0]
    moved = np.where(np.arange(1200) < 30, first.labels.max(), first.labels)
    last = replace(coupled.runs[-1], labels=moved)
    same = compare_runs(first, first, coupled.row_ids, coupled.row_ids)
    assert (same.adjusted_rand, len(same.row_ids), same.n_common) == (1.0, 0, 1200)
    other = compare_runs(first, last, coupled.row_ids, coupled.row_ids)
    assert other.overlap.sum() == 1200
    assert 0 < len(other.row_ids) == (moved != first.labels).sum()
    for row, before, after in zip(other.row_ids, other.before, other.after, strict=True):
        at = np.flatnonzero(coupled.row_ids == row)[0]
        assert (first.labels[at], last.labels[at]) == (before, after)
    with pytest.raises(SettingsError, match="different rows"):
        compare_runs(first, last, coupled.row_ids, coupled.row_ids + 10_000)


def test_a_profile_that_dissolves_into_the_outliers_has_moved(coupled):
    before = coupled.runs[0]
    dissolved = replace(before, labels=np.where(before.labels == 0, -1, before.labels).astype(np.int16))
    moved = compare_runs(before, dissolved, coupled.row_ids, coupled.row_ids).row_ids
    np.testing.assert_array_equal(moved, coupled.row_ids[before.labels == 0])
    everything = replace(before, labels=np.full_like(before.labels, -1))
    moved = compare_runs(before, everything, coupled.row_ids, coupled.row_ids).row_ids
    np.testing.assert_array_equal(moved, coupled.row_ids[before.labels >= 0])

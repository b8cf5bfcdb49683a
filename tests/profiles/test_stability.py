import numpy as np
import pandas as pd
import pytest

from tests.profiles.planted import blobs, job_table
from workprof.core.errors import NotEnoughData
from workprof.core.records import canonical_json, pack, to_json, unpack
from workprof.profiles.fit import fit_profiles
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import (
    Stability,
    StabilitySettings,
    best_jaccards,
    stability,
    stability_reading,
    summarise_jaccards,
)

pytestmark = pytest.mark.slow

JOBS = job_table()


def table(points):
    return pd.DataFrame(points, columns=[f"x{i}" for i in range(np.shape(points)[1])])


def study(jobs, fit=None, **settings):
    features = tuple(str(name) for name in jobs.columns if str(name).startswith("x"))
    fit = {"features": features, "scaler": "standard"} | (fit or {})
    return stability({"jobs": jobs}, StabilitySettings(fit=ProfileSettings(**fit), **settings))


@pytest.fixture(scope="module")
def plain():
    return stability({"jobs": JOBS}, StabilitySettings(resamples=5))


def test_well_separated_groups_come_back():
    points, _ = blobs(1500, noise_share=0.0)
    found = study(table(points))
    assert len(found.per_profile) == 5
    assert all(each.jaccard > 0.93 and each.reading == "highly stable" for each in found.per_profile)
    assert found.adjusted_rand > 0.99
    assert found.n_found.tolist() == [5] * 10


def test_a_group_that_is_cut_in_two_does_not():
    """One round cloud, its halves called profiles: no resample finds them."""
    rng = np.random.default_rng(0)
    jobs = table(np.concatenate([rng.normal(size=(1000, 3)), rng.normal(size=(500, 3)) + 30]))
    jobs["profile"] = np.r_[np.where(jobs["x0"][:1000] > 0, 0, 1), np.full(500, 2)]
    found = study(jobs)
    assert [each.profile for each in found.per_profile] == [0, 1, 2]
    assert max(each.jaccard for each in found.per_profile[:2]) < 0.6
    assert {each.reading for each in found.per_profile[:2]} == {"not to be trusted"}
    assert found.per_profile[2].jaccard > 0.9
    assert found.adjusted_rand < 0.8


def test_resamples_without_two_profiles_and_a_profile_of_nearly_all_rows_are_told():
    rng = np.random.default_rng(0)
    jobs = table(np.concatenate([rng.normal(size=(290, 2)), rng.normal(size=(30, 2)) * 0.1 + 30]))
    jobs["profile"] = np.repeat([0, 1], [290, 30])
    found = study(jobs, {"min_cluster_size": 32}, resamples=10)
    few = int(np.isnan(found.adjusted_rands).sum())
    assert few > 0
    assert any(note.startswith(f"{few} of 10 resamples had fewer than two of the profiles") for note in found.notes)
    assert any(note.startswith("P0 holds 90.6 % of the rows") for note in found.notes)
    assert not any(note.startswith("P1 holds") for note in found.notes)


def test_leaves_of_one_cloud_are_not_stable():
    points = np.random.default_rng(2).normal(size=(1500, 2))
    found = study(table(points), {"method": "leaf", "min_cluster_size": 20, "min_samples": 5})
    assert len(found.per_profile) > 2
    assert np.mean([each.jaccard for each in found.per_profile]) < 0.6


def test_the_profiles_are_those_of_the_fit(plain):
    fitted = fit_profiles({"jobs": JOBS}, ProfileSettings())
    sizes = np.bincount(fitted.labels[fitted.labels >= 0])
    assert [each.size for each in plain.per_profile] == sizes.tolist()
    assert plain.settings.fit.min_cluster_size == fitted.settings.min_cluster_size == 20
    given = stability({"jobs": JOBS.assign(profile=fitted.labels)}, StabilitySettings(resamples=5))
    assert np.array_equal(given.jaccards, plain.jaccards)
    assert given.adjusted_rand == plain.adjusted_rand


def test_the_order_of_the_rows_changes_nothing():
    points, _ = blobs(400, noise_share=0.3)
    jobs = table(points)
    found = study(jobs, resamples=4)
    mixed = study(jobs.sample(frac=1, random_state=3).reset_index(drop=True), resamples=4)
    assert len(found.per_profile) > 1 and found.jaccards.min() < 1
    np.testing.assert_allclose(mixed.jaccards, found.jaccards)


def test_sizes_shrink_with_the_rows(plain):
    assert (plain.n_rows, plain.n_resampled, plain.min_cluster_size, plain.min_samples) == (900, 720, 16, 16)
    capped = stability({"jobs": JOBS}, StabilitySettings(resamples=2, sample_rows=450))
    assert (capped.n_resampled, capped.min_cluster_size) == (450, 10)
    assert any("450 of 900 rows (50.0 %)" in note for note in capped.notes)
    assert any("look less stable" in note for note in capped.notes)
    assert stability({"jobs": JOBS}, StabilitySettings(resamples=1, sample_rows=0)).n_resampled == 720


def test_the_figures_belong_together(plain):
    assert plain.jaccards.shape == (5, 3)
    assert plain.adjusted_rands.shape == plain.n_found.shape == (5,)
    assert plain.adjusted_rand == pytest.approx(plain.adjusted_rands.mean())
    assert 0.6 < plain.shared_share < 1
    for each, column in zip(plain.per_profile, plain.jaccards.T, strict=True):
        assert each.jaccard == pytest.approx(column.mean())
        assert 0 <= each.jaccard_min <= each.jaccard_q25 <= each.jaccard_median <= each.jaccard_q75 <= 1


def test_the_seed_decides():
    points = table(np.random.default_rng(2).normal(size=(600, 2)))
    fit = {"method": "leaf", "min_cluster_size": 15, "min_samples": 5}
    first, again, other = (study(points, fit, resamples=3, seed=seed).jaccards for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first[0], first[1])


def test_a_parallel_backend_changes_nothing(plain):
    from joblib import parallel_config

    with parallel_config(backend="threading", n_jobs=2):
        again = stability({"jobs": JOBS}, StabilitySettings(resamples=5))
    assert np.array_equal(again.jaccards, plain.jaccards)


def test_the_contract_and_the_stored_form(plain):
    document = to_json(plain)
    assert {"adjusted_rand", "per_profile"} <= set(document)
    assert {"profile", "jaccard"} <= set(document["per_profile"][0])
    again = unpack(Stability, pack(plain))
    assert again.per_profile == plain.per_profile
    assert again.settings == plain.settings
    assert unpack(StabilitySettings, pack(plain.settings)) == plain.settings
    assert canonical_json(plain.settings)


def test_jaccard_against_sets():
    rng = np.random.default_rng(0)
    reference, found = rng.integers(-1, 4, 200), rng.integers(-1, 6, 200)
    reference[reference == 2] = -1
    best = best_jaccards(reference, found, 4)
    for profile in (0, 1, 3):
        ours = set(np.flatnonzero(reference == profile))
        theirs = [set(np.flatnonzero(found == cluster)) for cluster in range(6)]
        assert best[profile] == pytest.approx(max(len(ours & each) / len(ours | each) for each in theirs))
    assert np.isnan(best[2])
    assert best_jaccards(reference, np.full(200, -1), 4)[[0, 1, 3]].tolist() == [0, 0, 0]


def test_readings():
    words = [stability_reading(value) for value in (0.9, 0.85, 0.8, 0.75, 0.7, 0.6, 0.59, float("nan"))]
    assert words == [*["highly stable"] * 2, *["stable"] * 2, *["doubtful"] * 2, "not to be trusted", ""]
    unseen, seen = summarise_jaccards(np.array([[np.nan, 0.4], [np.nan, 0.8]]), np.array([1, 9]))
    assert np.isnan(unseen.jaccard)
    assert (seen.size, seen.dissolved_share) == (9, 0.5)
    assert seen.jaccard == pytest.approx(0.6)


def test_rows_that_were_not_clustered_are_left_out():
    jobs = JOBS.assign(profile=np.where(np.arange(900) < 100, np.nan, JOBS["truth_profile"]))
    found = stability({"jobs": jobs}, StabilitySettings(resamples=2))
    assert found.n_rows == 800


def test_no_profile_at_all():
    rng = np.random.default_rng(0)
    found = study(table(rng.uniform(size=(60, 2))), {"min_cluster_size": 29}, resamples=2)
    assert found.per_profile == ()
    assert np.isnan(found.adjusted_rand)
    assert any("has 0 profiles: " in note for note in found.notes)
    assert unpack(Stability, pack(found)).jaccards.shape == (2, 0)


def test_optics():
    found = stability(
        {"jobs": JOBS}, StabilitySettings(fit=ProfileSettings(algorithm="optics", sample_rows=500), resamples=2)
    )
    assert found.n_rows == 500
    assert found.jaccards.shape == (2, len(found.per_profile))


def test_missing_values():
    jobs = JOBS.copy()
    jobs.loc[:200, "gpu_usage_percent"] = np.nan
    found = stability({"jobs": jobs}, StabilitySettings(resamples=2))
    assert any("201 missing values" in note for note in found.notes)


@pytest.mark.parametrize("rows", [0, 1, 40])
def test_too_few_rows(rows):
    with pytest.raises(NotEnoughData):
        stability({"jobs": JOBS.iloc[:rows]}, StabilitySettings())


def test_refusals():
    with pytest.raises(NotEnoughData, match="usable feature"):
        study(table(np.ones((100, 3))))
    with pytest.raises(NotEnoughData, match="resample"):
        stability({"jobs": JOBS}, StabilitySettings(sample_rows=3))


def test_progress_rises_to_the_end():
    told = []
    stability({"jobs": JOBS}, StabilitySettings(resamples=3), lambda share, message: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1

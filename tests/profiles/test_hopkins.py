import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from tests.profiles.planted import blobs, job_table
from workprof.answers.profiles import hopkins_answer
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.records import canonical_json, pack, to_json, unpack
from workprof.profiles.hopkins import (
    PUBLISHED_HOPKINS,
    Hopkins,
    HopkinsSettings,
    hopkins,
    hopkins_of_distances,
    hopkins_reading,
)

JOBS = job_table()


def table(points):
    return pd.DataFrame(points, columns=[f"x{i}" for i in range(np.shape(points)[1])])


def measure(points, **settings):
    jobs = points if isinstance(points, pd.DataFrame) else table(points)
    features = settings.pop("features", tuple(str(name) for name in jobs.columns))
    return hopkins({"jobs": jobs}, HopkinsSettings(**{"features": features, "scaler": "minmax"} | settings))


@pytest.mark.parametrize("n_dims", [2, 5, 14])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_uniform_rows_are_near_a_half(n_dims, metric):
    found = measure(np.random.default_rng(3).uniform(size=(2000, n_dims)), metric=metric)
    assert found.hopkins == pytest.approx(0.5, abs=0.05)
    assert found.hopkins_power == pytest.approx(0.5, abs=0.1)
    assert found.reading == "no sign of clusters"
    assert found.n_dims == n_dims


@pytest.mark.slow
def test_the_band_of_uniform_rows_holds_most_draws():
    rng = np.random.default_rng(0)
    inside = [
        found.uniform_low <= found.hopkins_power <= found.uniform_high
        for found in (measure(rng.uniform(size=(1500, 2)), resamples=1) for _ in range(25))
    ]
    assert np.mean(inside) > 0.8


def test_tight_groups_are_near_zero():
    rng = np.random.default_rng(1)
    centres = rng.uniform(size=(6, 3))
    found = measure(centres[rng.integers(0, 6, 3000)] + rng.normal(size=(3000, 3)) * 1e-3)
    assert 0 <= found.hopkins_power < found.hopkins < 0.02
    assert found.reading == "clustered"


def test_a_lattice_is_regular():
    side = np.arange(30.0)
    assert measure(np.array(np.meshgrid(side, side)).reshape(2, -1).T).reading == "regularly spaced"


def test_one_dense_group_counts_as_clustered_and_the_notes_say_so():
    found = measure(np.random.default_rng(0).standard_t(2, size=(2000, 4)))
    assert found.hopkins < 0.3
    assert any("one dense group does that, too" in note for note in found.notes)


@pytest.mark.parametrize(
    ("plain", "power", "reading"),
    [
        (0.2, 0.01, "clustered"),
        (0.28, 0.33, "no sign of clusters"),
        (0.34, 0.2, "uneven"),
        (0.47, 0.2, "no sign of clusters"),
        (0.8, 0.9, "regularly spaced"),
        (0.72, 0.68, "no sign of clusters"),
    ],
)
def test_a_reading_is_beyond_what_uniform_rows_have_by_chance(plain, power, reading):
    assert hopkins_reading(plain, power, (0.3, 0.7)) == reading


def test_a_value_that_copies_make_small_is_no_sign_of_groups():
    points = np.repeat(np.random.default_rng(2).uniform(size=(40, 3)), 10, axis=0)
    assert "most runs repeat another exactly" in hopkins_answer(measure(points)).sentence
    assert "no more clustered than uniform" in hopkins_answer(measure(points, distinct=True)).sentence


def test_both_conventions_and_exponents():
    u, w = np.array([3.0, 1.0]), np.array([1.0, 1.0])
    assert hopkins_of_distances(u, w) == pytest.approx(2 / 6)
    assert 1 - hopkins_of_distances(u, w) == pytest.approx(hopkins_of_distances(w, u))
    assert hopkins_of_distances(u, w, 2) == pytest.approx(2 / 12)
    assert hopkins_of_distances(u * 1e200, w * 1e200, 17) == pytest.approx(hopkins_of_distances(u, w, 17))
    assert np.isnan(hopkins_of_distances(np.zeros(3), np.zeros(3)))


@pytest.mark.parametrize(("metric", "scipy_metric"), [("euclidean", "euclidean"), ("manhattan", "cityblock")])
@pytest.mark.parametrize("n_dims", [3, 14])
def test_equal_to_every_distance(metric, scipy_metric, n_dims):
    """The same draw, with the nearest row found among all distances."""
    points = blobs(300, n_dims)[0]
    found = measure(points, metric=metric, scaler="none", n_sampled=40, resamples=1, seed=5)
    rows = points[np.lexsort(points.T[::-1])]
    rng = np.random.default_rng([5, 0])
    drawn = rng.choice(300, size=40, replace=False)
    u = cdist(rng.uniform(rows.min(axis=0), rows.max(axis=0), size=(40, n_dims)), rows, scipy_metric).min(axis=1)
    w = np.sort(cdist(rows[drawn], rows, scipy_metric), axis=1)[:, 1]
    assert found.hopkins == pytest.approx(w.sum() / (u.sum() + w.sum()))
    assert found.hopkins_power == pytest.approx((w**n_dims).sum() / ((u**n_dims).sum() + (w**n_dims).sum()))


def test_permuting_jobs_changes_nothing():
    order = np.random.default_rng(5).permutation(len(JOBS))
    straight, mixed = (hopkins({"jobs": jobs}, HopkinsSettings()) for jobs in (JOBS, JOBS.iloc[order]))
    assert mixed.draws == pytest.approx(straight.draws, abs=1e-6)
    assert straight.draws_power == pytest.approx(mixed.draws_power, abs=1e-6)


def test_the_seed_decides():
    first, again, other = (hopkins({"jobs": JOBS}, HopkinsSettings(seed=seed)) for seed in (0, 0, 1))
    assert np.array_equal(first.draws, again.draws)
    assert not np.array_equal(first.draws, other.draws)
    assert first.hopkins == pytest.approx(other.hopkins, abs=6 * first.hopkins_sd)


def test_copies_are_counted_and_can_be_left_out():
    points = np.random.default_rng(0).uniform(size=(800, 2))
    doubled = np.concatenate([points, points, points[:5]])
    found = measure(doubled)
    assert found.n_duplicates == 805
    assert found.hopkins < 0.05
    assert any("805 rows repeat another row exactly" in note for note in found.notes)
    once = measure(doubled, distinct=True)
    assert (once.n_rows, once.n_duplicates) == (800, 805)
    assert once.hopkins == pytest.approx(0.5, abs=0.1)


def test_the_contract_and_the_stored_form():
    found = hopkins({"jobs": JOBS}, HopkinsSettings())
    plain = to_json(found)
    assert {"hopkins", "n_sampled", "seed"} <= set(plain)
    assert found.n_sampled == found.settings.n_sampled == 90
    assert found.hopkins == pytest.approx(found.draws.mean())
    assert any(str(PUBLISHED_HOPKINS) in note and "not verified" in note for note in found.notes)
    again = unpack(Hopkins, pack(found))
    assert np.array_equal(again.draws, found.draws)
    assert again.settings == found.settings
    assert unpack(HopkinsSettings, pack(found.settings)) == found.settings
    assert canonical_json(found.settings)


def test_missing_values_are_told():
    jobs = JOBS.copy()
    jobs.loc[:200, "gpu_usage_percent"] = np.nan
    found = hopkins({"jobs": jobs}, HopkinsSettings())
    assert found.n_dims == 11
    assert any("201 missing values" in note for note in found.notes)
    assert any("gpu_usage_percent) hold 0 or 1 only" in note for note in found.notes)
    assert 0 < found.hopkins < 1
    assert hopkins({"jobs": jobs}, HopkinsSettings(mode="faithful", features=("sensors10",))).n_dims == 10


def test_more_draws_than_rows_and_one_draw():
    found = measure(blobs(50)[0], n_sampled=4000, resamples=1)
    assert found.n_sampled == 50
    assert np.isnan(found.hopkins_sd)


@pytest.mark.parametrize("rows", [0, 1, 9])
def test_too_few_rows(rows):
    with pytest.raises(NotEnoughData, match="too few for the Hopkins statistic"):
        hopkins({"jobs": JOBS.iloc[:rows]}, HopkinsSettings())


def test_refusals():
    with pytest.raises(NotEnoughData, match="usable feature"):
        measure(np.ones((50, 3)))
    with pytest.raises(ColumnMissing, match="nothing"):
        hopkins({"jobs": JOBS}, HopkinsSettings(features=("nothing", "cpu_usage_percent")))


def test_progress_rises_to_the_end():
    told = []
    hopkins({"jobs": JOBS}, HopkinsSettings(resamples=3), lambda share, message: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1

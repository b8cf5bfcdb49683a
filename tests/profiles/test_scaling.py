import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, QuantileTransformer, RobustScaler, StandardScaler

from workprof.core.errors import NotEnoughData
from workprof.core.records import pack, unpack
from workprof.profiles.features import FittedTransform, apply_transform, best_exponent, fit_transform, read_features

THEIRS = {
    "standard": StandardScaler(),
    "minmax": MinMaxScaler(),
    "robust": RobustScaler(),
    "power": PowerTransformer(),
    "quantile": QuantileTransformer(n_quantiles=400),
}


def table(n=400):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.lognormal(2, 1, n), "b": rng.normal(size=n), "c": rng.gamma(2, 3, n) - 4})


def fitted(jobs, scaler, mode="corrected"):
    matrix = read_features(jobs, tuple(jobs.columns), mode)
    transform = fit_transform(matrix, scaler, mode)
    return transform, apply_transform(transform, matrix.numbers)


@pytest.mark.parametrize("scaler", THEIRS)
def test_equals_scikit_learn(scaler):
    jobs = table()
    _, ours = fitted(jobs, scaler)
    assert ours == pytest.approx(THEIRS[scaler].fit_transform(jobs.to_numpy()), abs=2e-6)


def test_none_changes_nothing():
    assert np.array_equal(fitted(table(), "none")[1], table().to_numpy())


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e12, 1e15])
def test_large_columns_keep_their_digits(scale):
    """A log-normal column comes out normal however large its unit makes the numbers."""
    rng = np.random.default_rng(0)
    jobs = pd.DataFrame({"a": scale * rng.lognormal(3, 0.5, 3000), "b": rng.normal(size=3000)})
    transform, points = fitted(jobs, "power")
    assert abs(transform.exponent[0]) < 0.15
    assert np.unique(points[:, 0]).size == 3000
    assert abs((points[:, 0] ** 3).mean()) < 0.1


def test_the_likelihood_has_no_false_summit():
    """Bytes within a narrow range far from zero: a naive variance of x**-3 is all rounding."""
    column = 1e11 + np.random.default_rng(0).normal(size=2000) * 1e9
    assert -6 < best_exponent(column, float(np.log1p(column).mean())) < 6
    jobs = pd.DataFrame({"a": column, "b": np.arange(2000.0)})
    points = fitted(jobs, "power")[1]
    assert np.corrcoef(points[:, 0], column)[0, 1] > 0.999


@pytest.mark.parametrize("scaler", ["none", *THEIRS])
def test_new_rows_are_treated_as_in_training(scaler):
    jobs = table()
    transform, points = fitted(jobs, scaler)
    kept = unpack(FittedTransform, pack(transform))
    assert np.array_equal(apply_transform(kept, jobs.to_numpy()[:7]), points[:7])
    outside = apply_transform(kept, np.array([[-50.0, 1e9, np.nan]]))
    assert np.isfinite(outside).all()


def test_missing_values_take_the_median_and_are_marked_when_not_rare():
    jobs = table()
    jobs.loc[:99, "a"] = np.nan
    jobs.loc[:4, "b"] = np.nan
    transform, points = fitted(jobs, "standard")
    assert transform.indicators == ("a",)
    assert transform.fill[0] == np.nanmedian(jobs["a"])
    assert points.shape == (400, 4)
    assert len(np.unique(points[:100, 3])) == len(np.unique(points[100:, 3])) == 1
    assert fitted(jobs, "standard", "faithful")[0].indicators == ()


def test_equal_quartiles_do_not_let_a_column_dominate():
    jobs = table()
    jobs["a"] = np.where(np.arange(400) % 10 == 0, 1e12, 5.0)
    assert np.abs(fitted(jobs, "robust")[1][:, 0]).max() < 10


def test_the_number_of_columns_must_match():
    with pytest.raises(NotEnoughData, match="a, b, c"):
        apply_transform(fitted(table(), "power")[0], np.zeros((2, 2)))

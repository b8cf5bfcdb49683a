"""Profiles, their prediction and runtimes as scikit-learn's estimators, for pipelines and model selection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.text import near
from workprof.forecasts.boosting import ROUNDS, Tuning, grow_trees, margins, tune
from workprof.forecasts.candidates import boost, boosted_quantiles
from workprof.forecasts.classifier import MOST_RARE_ROWS, ClassifierSettings, probabilities_of
from workprof.forecasts.encoder import (
    METADATA_FIELDS,
    Donors,
    ReadFields,
    encode,
    fit_encoder,
    kept_rows,
    rare_rows_of,
    read_fields,
    training_rows,
)
from workprof.profiles.features import FeatureMatrix, apply_transform, fit_transform
from workprof.profiles.names import OUTLIERS
from workprof.profiles.settings import METHODS, METRICS
from workprof.profiles.tree import build_spanning_tree, cut, find_neighbours
from workprof.store.in_memory import plain_times, with_plain_times

SCALERS = ("none", "standard", "minmax", "robust", "power")
REACH = 0.99
"""Share of a profile's members that lie within its reach of another member."""


def _chosen(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; choose from {', '.join(allowed)}{near(str(value), allowed)}")


def _whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} is {value!r}; give a whole number of {least} or more")


def _seed(random_state: Any) -> int:
    """The seed that scikit-learn's `random_state` gives: None = 0."""
    if random_state is None or isinstance(random_state, (int, np.integer)):
        check_random_state(random_state)
        return int(random_state or 0)
    return int(check_random_state(random_state).randint(2**31))


def _in_seconds(given: Any) -> Any:
    """A target with lengths of time in seconds: their own number is in nanoseconds or what they were made in."""
    given = plain_times(given)
    kind = getattr(given, "dtype", None)
    if kind is None or not pd.api.types.is_timedelta64_dtype(kind):
        return given
    return pd.to_timedelta(pd.Series(np.asarray(given))).dt.total_seconds().to_numpy()


def _plain(given: Any) -> Any:
    """A DataFrame with lengths of time in seconds, and with numbers where a column of objects holds nothing else.

    Raises ValueError for a column of moments.
    """
    if not isinstance(given, pd.DataFrame) or given.columns.has_duplicates:
        return given
    given, made = with_plain_times(given), {}
    for name in given.columns:
        column, kind = given[name], given[name].dtype
        if pd.api.types.is_datetime64_any_dtype(kind):
            raise ValueError(f"column {name!r} holds moments; give numbers, such as the hour or the weekday")
        if pd.api.types.is_timedelta64_dtype(kind):
            made[name] = column.dt.total_seconds()
        elif pd.api.types.is_object_dtype(kind) and pd.api.types.infer_dtype(column, skipna=True) in NUMBERS:
            made[name] = pd.to_numeric(column)
    return given.assign(**made) if made else given


NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "empty")


class _Gaps(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    def __sklearn_tags__(self) -> Any:
        """Scikit-learn's tags: missing values are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class ProfileClusterer(ClusterMixin, _Gaps):  # type: ignore[misc]
    """Groups of rows that are alike: the profiles of `workprof.profile`, of a matrix.

    Args:
        min_cluster_size: rows of the smallest profile.
        min_samples: neighbours that make a row's density; None = as `min_cluster_size`.
        scaler: 'power', 'standard', 'minmax', 'robust' or 'none'.
        metric: 'euclidean' or 'manhattan'.
        method: 'eom' (the branches that persist longest) or 'leaf'.
        epsilon: profiles closer than this, in scaled units, are merged.

    Attributes:
        labels_: (n_rows,) profile, from the largest (0) to the smallest, -1 = outlier.
        probabilities_: (n_rows,) membership strength, 0-1.
        n_features_in_: columns.

    Source: HDBSCAN on scaled rows, see `workprof.profiles.fit`; missing values are imputed by the median.
    """

    def __init__(
        self,
        *,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        scaler: str = "power",
        metric: str = "euclidean",
        method: str = "eom",
        epsilon: float = 0.0,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.scaler = scaler
        self.metric = metric
        self.method = method
        self.epsilon = epsilon

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: N803  scikit-learn's names
        """Find the profiles of (n_rows, n_columns).

        Raises ValueError for a setting that is out of bounds, or fewer than two rows.
        """
        _chosen("scaler", self.scaler, SCALERS)
        _chosen("metric", self.metric, METRICS)
        _chosen("method", self.method, METHODS)
        _whole("min_cluster_size", self.min_cluster_size, 2)
        if self.min_samples is not None:
            _whole("min_samples", self.min_samples, 1)
        if not self.epsilon >= 0:
            raise ValueError(f"epsilon is {self.epsilon!r}; give 0 or more")
        values = validate_data(
            self, _plain(X), dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2, estimator=self
        )
        known = np.where(np.isnan(values).all(axis=0), 0.0, values)
        names = tuple(f"x{place}" for place in range(values.shape[1]))
        self.transform_ = fit_transform(FeatureMatrix(names, known, {}, {}), self.scaler, "corrected")
        points = apply_transform(self.transform_, known)
        core = min(self.min_samples or self.min_cluster_size, len(points) - 1)
        tree = build_spanning_tree(find_neighbours(points, self.metric, (core,)), core)
        result = cut(tree, self.min_cluster_size, self.method, self.epsilon)
        self.labels_, self.probabilities_ = result.labels, result.probabilities
        self._points, self._reach = points, self._reaches(points)
        return self

    def _reaches(self, points: Floats) -> Floats:
        """(n_profiles,) how far from its nearest member a row of a profile may lie."""
        from scipy.spatial import cKDTree  # noqa: PLC0415  heavy

        reach = []
        for profile in range(int(self.labels_.max(initial=OUTLIERS)) + 1):
            own = points[self.labels_ == profile]
            nearest = cKDTree(own).query(own, k=2, p=self._power)[0][:, 1]
            reach.append(float(np.quantile(nearest, REACH)))
        return np.array(reach)

    @property
    def _power(self) -> int:
        return 1 if self.metric == "manhattan" else 2

    def predict(self, X: ArrayLike) -> Ints:  # noqa: N803
        """The profile of the nearest member of each row; -1 beyond that profile's reach."""
        from scipy.spatial import cKDTree  # noqa: PLC0415  heavy

        check_is_fitted(self)
        values = validate_data(self, _plain(X), dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        points = apply_transform(self.transform_, values)
        inside = np.flatnonzero(self.labels_ != OUTLIERS)
        if not len(inside):
            return np.full(len(points), OUTLIERS, dtype=np.int64)
        distance, place = cKDTree(self._points[inside]).query(points, p=self._power)
        nearest = self.labels_[inside][place]
        return np.where(distance <= self._reach[nearest], nearest, OUTLIERS).astype(np.int64)


class ProfileClassifier(ClassifierMixin, _Gaps):  # type: ignore[misc]
    """The profile of a job from what is known at submission.

    Boosted trees; the number of rounds and the temperature of the probabilities come from held-out rows. Columns of a
    DataFrame that hold texts, whatever their names, are categories, and so are those of metadata fields (job_name,
    user, task_name, group, workload); rare and unseen values are pooled. Every other column is a number; lengths of
    time are seconds. A value that is missing where no row of the training lacked it is taken from rows alike.

    Args:
        rare_rows: a value of a category with fewer training rows is pooled; 0 = 0.03 % of the rows, at least 3.
        random_state: of the held-out rows; None = 0.

    Attributes:
        classes_: (n_classes,).
        tuning_: what the held-out rows chose.
        categories_: names of the columns that are categories.
        n_features_in_: columns.
    """

    def __init__(self, *, rare_rows: int = 0, random_state: int | None = None) -> None:
        self.rare_rows = rare_rows
        self.random_state = random_state

    def fit(self, X: ArrayLike | pd.DataFrame, y: ArrayLike) -> Self:  # noqa: N803
        """Learn the profiles of rows.

        Raises ValueError for labels that are no classes, or a text in a column of numbers.
        """
        _whole("rare_rows", self.rare_rows, 0)
        seed = _seed(self.random_state)
        jobs = self._table(X, y, reset=True)
        labels = _one_per_row(y, len(jobs))
        check_classification_targets(labels)
        self.classes_, targets = np.unique(labels, return_inverse=True)
        settings = ClassifierSettings(rare_rows=min(self.rare_rows, MOST_RARE_ROWS), seed=seed)
        self.categories_ = tuple(name for name in jobs.columns if not pd.api.types.is_float_dtype(jobs[name]))
        inputs = read_fields(jobs, tuple(jobs.columns), self.categories_)
        self.encoder_ = fit_encoder(inputs, inputs.fields, "corrected", rare_rows_of(settings, len(jobs)))
        if len(self.classes_) == 1:
            self.booster_ = None
            return self
        encoded = encode(self.encoder_, inputs)
        self.learned_ = kept_rows(self.encoder_, encoded)
        rows = training_rows(self.encoder_, encoded, targets.astype(np.int64))
        self.tuning_ = self._tuned(jobs, inputs, targets.astype(np.int64), settings)
        self.booster_ = grow_trees(self.encoder_, rows, len(self.classes_), self.tuning_.n_rounds)
        return self

    def _tuned(self, jobs: pd.DataFrame, inputs: ReadFields, targets: Ints, settings: ClassifierSettings) -> Tuning:
        try:
            return tune(jobs, inputs, targets, settings)
        except NotEnoughData as error:
            nan = float("nan")
            return Tuning(ROUNDS[-1], 1.0, 0.0, "", 0, nan, nan, f"Nothing is calibrated: {error}")

    def _table(self, X: Any, y: Any, *, reset: bool) -> pd.DataFrame:  # noqa: N803
        """The rows as a table: texts as categories, all else as numbers."""
        X, frame = _plain(X), isinstance(X, pd.DataFrame)  # noqa: N806
        if frame and X.columns.has_duplicates:
            twice = X.columns[X.columns.duplicated()][0]
            raise ValueError(f"the column {twice!r} is there more than once; rename one of them")
        texts = (
            ([name for name in X.columns if _is_text(name, X[name])] if reset else self.categories_) if frame else ()
        )
        if not len(texts):
            given = (X,) if y is None else (X, y)
            checked = validate_data(
                self,
                *given,
                dtype=np.float64,
                ensure_all_finite="allow-nan",
                reset=reset,
                **({"multi_output": False} if y is not None else {}),
            )
            values = checked if y is None else checked[0]
            names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(values.shape[1])])
            return pd.DataFrame(values, columns=list(names))
        if not len(X):
            raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required.")
        validate_data(self, X, reset=reset, skip_check_array=True)
        numbers = [name for name in X.columns if name not in texts]
        wrong = [name for name in numbers if not pd.api.types.is_numeric_dtype(X[name])]
        if wrong:
            raise ValueError(f"column {wrong[0]!r} held numbers when this was fitted, and holds none now")
        kinds = dict.fromkeys(texts, "category") | dict.fromkeys(numbers, np.float64)
        table: pd.DataFrame = X.reset_index(drop=True).astype(kinds)
        return table

    def predict_proba(self, X: ArrayLike | pd.DataFrame) -> Floats:  # noqa: N803
        """(n_rows, n_classes) probabilities, calibrated on held-out rows."""
        check_is_fitted(self)
        jobs = self._table(X, None, reset=False)
        if self.booster_ is None:
            return np.ones((len(jobs), 1))
        encoder, booster = self.encoder_, self.booster_
        rows = encode(encoder, jobs)
        donors = Donors(encoder, self.learned_)
        return probabilities_of(donors, encoder, self.tuning_, rows, lambda rows: margins(booster, encoder, rows))

    def predict(self, X: ArrayLike | pd.DataFrame) -> NDArray[Any]:  # noqa: N803
        """(n_rows,) the most likely class."""
        places = self.predict_proba(X).argmax(axis=1)
        result: NDArray[Any] = self.classes_[places]
        return result


def _is_text(name: str, column: pd.Series) -> bool:
    """Whether a column is a category: texts, or a metadata field."""
    kind = column.dtype
    return name in METADATA_FIELDS or not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind))


def _one_per_row(y: Any, n_rows: int) -> NDArray[Any]:
    from sklearn.utils import column_or_1d  # noqa: PLC0415  heavy

    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if len(labels) != n_rows:
        raise ValueError(f"there are {n_rows} rows and {len(labels)} labels; give one label per row")
    return labels


class RuntimeRegressor(RegressorMixin, _Gaps):  # type: ignore[misc]
    """Quantiles of runtimes, or of any need, from what is known before a run.

    Boosted trees on the logarithm where every target is above 0, else on the target itself. Lengths of time (timedelta)
    are learned and predicted in seconds.

    Args:
        quantiles: levels that `predict_quantiles` gives, above 0 and below 1.
        random_state: of the trees; None = 0.

    Attributes:
        log_: whether the logarithm was learned.
        n_features_in_: columns.
    """

    def __init__(self, *, quantiles: Sequence[float] = (0.1, 0.5, 0.9), random_state: int | None = None) -> None:
        self.quantiles = quantiles
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:  # noqa: N803
        """Learn from rows and what they took.

        Raises ValueError for a level that is none, or targets that are no numbers.
        """
        levels = np.asarray(self.quantiles, dtype=np.float64)
        if levels.ndim != 1 or not len(levels) or not ((levels > 0) & (levels < 1)).all():
            raise ValueError(
                f"quantiles is {self.quantiles!r}; give levels above 0 and below 1, such as (0.1, 0.5, 0.9)"
            )
        values, target = validate_data(
            self,
            _plain(X),
            _in_seconds(y),
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            y_numeric=True,
            multi_output=False,
        )
        target = np.asarray(target, dtype=np.float64)
        self.log_ = bool((target > 0).all())
        learned = np.log(target) if self.log_ else target
        self.levels_ = np.unique(np.append(levels, 0.5))
        self.booster_ = boost(values, learned, self.levels_, _seed(self.random_state))
        return self

    def _all_quantiles(self, X: ArrayLike) -> Floats:  # noqa: N803
        check_is_fitted(self)
        values = validate_data(self, _plain(X), dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        result = np.sort(boosted_quantiles(self.booster_, values), axis=1)
        return np.exp(result) if self.log_ else result

    def predict_quantiles(self, X: ArrayLike) -> Floats:  # noqa: N803
        """(n_rows, n_quantiles) in the order of `quantiles`.

        Raises ValueError for a level that was not learned, where `quantiles` were changed since.
        """
        check_is_fitted(self)
        asked = np.asarray(self.quantiles, dtype=np.float64)
        if new := sorted(set(asked.tolist()) - set(self.levels_.tolist())):
            raise ValueError(f"the quantile {new[0]:g} was not learned; fit again after quantiles are changed")
        places = np.searchsorted(self.levels_, asked)
        result: Floats = self._all_quantiles(X)[:, places]
        return result

    def predict(self, X: ArrayLike) -> Floats:  # noqa: N803
        """(n_rows,) medians."""
        result: Floats = self._all_quantiles(X)[:, int(np.searchsorted(self.levels_, 0.5))]
        return result

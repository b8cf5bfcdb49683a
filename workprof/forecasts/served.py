"""A forecaster for single jobs that come often: the same numbers as `LoadedForecaster.forecast`, without tables.

Texts are looked up in dictionaries, trees are walked by compiled loops, and what history a job has is found as usual.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workprof.core.arrays import SUBMITTED, Floats, Ints
from workprof.forecasts.candidates import LEVELS, at_history, with_points
from workprof.forecasts.encoder import METADATA_FIELDS, STATES, Encoded, MetadataEncoder, held
from workprof.forecasts.estimates import Estimates, Estimator, combined_estimates
from workprof.forecasts.forecaster import Forecasts, LoadedForecaster
from workprof.forecasts.history import (
    BANDWIDTHS_S,
    COLUMNS_OF_TIME,
    DAY_HOURS,
    HOUR_S,
    Cells,
    Keys,
    Vocabulary,
    backoff_medians,
    hashes_of,
    history,
    joint_keys,
    levels_of,
    recent_quantiles,
)
from workprof.forecasts.trees import Singles, quantiles_of_leaves, trees_of
from workprof.profiles.metadata import NOT_GIVEN

Job = Mapping[str, Any]
"""Field -> text or number, in the fields' units; what is not given is absent."""
MOST_KNOWN = 100_000
"""Values of a field whose hashes are kept."""


class ServedForecaster:
    """A loaded forecaster, ready for single jobs; safe to share between threads."""

    def __init__(self, loaded: LoadedForecaster) -> None:
        """Prepare the look-ups and the trees."""
        self._classifier = _Classifier(loaded)
        self._estimators = [_Estimator(one) for one in loaded.estimators.values()]

    def forecast(self, jobs: Sequence[Job]) -> Forecasts:
        """The profiles and estimates of jobs."""
        keys: dict[tuple[str, ...], Any] = {}
        for one in self._estimators:
            if one.fields not in keys:
                keys[one.fields] = one.keys(jobs)
        return Forecasts(
            self._classifier.predict(jobs),
            {one.target: one.estimate(jobs, keys[one.fields]) for one in self._estimators},
        )


def _numbers(jobs: Sequence[Job], name: str) -> Floats:
    return held(np.array([job.get(name, np.nan) for job in jobs], dtype=np.float64))


class _Classifier:
    """The classifier: codes from dictionaries, and its trees over a dense row of single precision."""

    def __init__(self, loaded: LoadedForecaster) -> None:
        self._loaded = loaded.classifier
        encoder = self._encoder = self._loaded.model.encoder
        self._trees = trees_of(self._loaded.booster)
        self._codes = [
            dict.fromkeys(seen.rare, len(seen.kept)) | {text: code for code, text in enumerate(seen.kept)}
            for seen in encoder.categories
        ]

    def predict(self, jobs: Sequence[Job]) -> Any:
        encoder = self._encoder
        codes = np.empty((len(jobs), len(encoder.categories)), dtype=np.int64)
        for place, (seen, known) in enumerate(zip(encoder.categories, self._codes, strict=True)):
            missing, unseen = (len(seen.kept) + STATES.index(state) for state in (NOT_GIVEN, "unseen"))
            texts = (job.get(seen.field) for job in jobs)
            codes[:, place] = [missing if text is None else known.get(text, unseen) for text in texts]
        numbers = [_numbers(jobs, number.field).astype(np.float32).astype(np.float64) for number in encoder.numbers]
        rows = Encoded(codes, np.column_stack(numbers) if numbers else np.zeros((len(jobs), 0)))
        return self._loaded.decide(rows, lambda rows: self._trees.sums(_dense(encoder, rows)))


def _dense(encoder: MetadataEncoder, rows: Encoded) -> Singles:
    """(n_rows, n_columns) as `to_matrix` means it, NaN where it holds nothing."""
    starts, n = encoder.starts, len(encoder.categories)
    dense = np.full((len(rows), int(starts[-1])), np.nan, dtype=np.float32)
    for place, seen in enumerate(encoder.categories):
        there = rows.codes[:, place] < (seen.width - 1 if encoder.mode == "faithful" else seen.width)
        dense[np.flatnonzero(there), rows.codes[there, place] + starts[place]] = 1.0
    dense[:, starts[n:-1]] = rows.numbers
    return dense


class _Estimator:
    """One target: history, forest and boosting."""

    def __init__(self, estimator: Estimator) -> None:
        self.model = estimator.model
        self.target = estimator.model.settings.target
        trained = estimator.loaded.trained
        self.fields, self._past, self._kept = trained.fields, trained.past, trained.forest
        self._forest, self._boosted = trees_of(estimator.loaded.forest), trees_of(estimator.loaded.boosted)
        self._plain = [trees_of(booster) for booster in estimator.loaded.plain]
        self._vocabulary: Vocabulary = trained.vocabulary
        self._places = {
            name: {text: float(place) for place, text in enumerate(known)}
            for name, known in trained.vocabulary.texts.items()
        }
        self._levels = [names for names, _ in levels_of(self.fields)]
        self._hashed: dict[str, dict[Any, int]] = {name: {} for names in self._levels for name in names}
        self._latest = float(trained.past.cells.times.max(initial=0.0))

    def keys(self, jobs: Sequence[Job]) -> Any:
        """(n_levels, n_jobs) keys of the history cells, as `read_cells` finds them in a table."""
        hashes = {name: self._hashes_of(name, [job.get(name) for job in jobs]) for name in self._hashed}
        return np.array([joint_keys([hashes[name] for name in names]) for names in self._levels], dtype=np.uint64)

    def _hashes_of(self, name: str, values: list[Any]) -> Keys:
        known = self._hashed[name]
        try:
            return np.array([known[value] for value in values], dtype=np.uint64)
        except KeyError:  # some are new
            fresh = list(dict.fromkeys(value for value in values if value not in known))
        text = str if name in METADATA_FIELDS else float  # as a column of a table holds it
        texts = ["" if value is None else str(text(value)) for value in fresh]
        result = dict(zip(fresh, hashes_of(np.array(texts, dtype=object)).tolist(), strict=True))
        known = (
            known if len(known) < MOST_KNOWN else {value: known[value] for value in values if value in known}
        ) | result
        self._hashed[name] = known
        return np.array([known[value] for value in values], dtype=np.uint64)

    def estimate(self, jobs: Sequence[Job], keys: Any) -> Estimates:
        """The estimates of jobs with these keys."""
        submitted, started = SUBMITTED
        given = np.array([job.get(submitted, job.get(started, np.nan)) for job in jobs], dtype=np.float64)
        times = np.where(np.isnan(given), self._latest, given)
        queries, units = Cells(np.ascontiguousarray(keys), times, self._past.cells.fewest), _new(len(jobs))
        found = recent_quantiles(self._past, queries, units, LEVELS, *BANDWIDTHS_S)
        columns = [times, times / HOUR_S % DAY_HOURS]
        columns += [_numbers(jobs, name) for name in self._vocabulary.numbers]
        columns += [
            np.array([known.get(job.get(name, ""), np.nan) for job in jobs]) for name, known in self._places.items()
        ]
        encoded = held(np.column_stack(columns))
        design = np.column_stack([encoded, history(self._past, queries, units, at_history(found))]).astype(np.float32)
        forest = quantiles_of_leaves(self._forest.leaves(design), self._kept.kept, self._kept.targets, LEVELS)
        boosted = np.sort(self._boosted.sums(design), axis=1)
        timeless = encoded[:, COLUMNS_OF_TIME:].astype(np.float32)
        plain = np.stack([trees.sums(timeless)[:, 0] for trees in self._plain])
        stacked, backoff = np.stack([found[0].quantiles, forest, boosted]), backoff_medians(self._past, queries)
        return combined_estimates(self.model, with_points(stacked, backoff, plain, found[0]))


def _new(n: int) -> Ints:
    return np.full(n, -1, dtype=np.int64)

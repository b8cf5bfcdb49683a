"""XGBoost as the classifier uses it: grown on merged rows, calibrated and tuned on an inner hold-out of them.

Probabilities mean what they say: one temperature for all classes divides the scores before the softmax. It has one
number to learn, so a hold-out with few rows of a small profile suffices, and it never changes the order of the classes;
isotonic curves per class need many rows each and do. A job of a group that training never saw is predicted worse than
another run of a known job, by trees that are as sure of both: so each kind of newness has a temperature of its own,
from rows held out at random, by job, by group and by time.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.units import format_count
from workprof.forecasts.encoder import (
    STATES,
    Donors,
    Encoded,
    Filled,
    MetadataEncoder,
    ReadFields,
    TrainingRows,
    distinct_rows,
    encode,
    fit_encoder,
    is_seen,
    kept_rows,
    merge_rows,
    rare_rows_of,
    to_fields,
    to_matrix,
    training_rows,
)
from workprof.forecasts.splits import Fold, drawn_holdout, make_folds
from workprof.profiles.metadata import NOT_GIVEN

if TYPE_CHECKING:
    import pandas as pd

    from workprof.forecasts.classifier import ClassifierSettings

PUBLISHED_ROUNDS = 100
MAX_BIN = 64
ONE_THREAD_ROWS = 50_000
"""Up to this many distinct rows one thread grows the trees: a tree takes under a millisecond, and threads that meet so
often lose more to a busy neighbour than they gain."""

ONE_THREAD_PREDICTED = 5_000
"""The same for rows whose scores are predicted."""

ONE_THREAD_EXPLAINED = 20
"""And for SHAP values, which take some milliseconds a row."""

BASE_SCORE = 0.5
"""XGBoost's default when the paper was written. Today's, the classes' log shares, makes the first Newton steps of rare
classes so long that the loss grows: training accuracy .20 after 20 rounds where this gives .81 (synthetic sample)."""

LONG_STEPS = {"eta": 0.8, "max_delta_step": 2.5, "reg_lambda": 0.3, "min_child_weight": 0.1}
"""Corrected mode: long Newton steps with a bound. Ten trees per class give the same answers as forty with the default
eta of 0.3 (macro-F1 by group .4459 against .4458, log loss .491 against .487, means of two seeds of the synthetic
sample); long steps without a bound diverge."""

Booster = Any
"""xgboost.Booster, which is imported late."""


def grow_trees(
    encoder: MetadataEncoder, training: TrainingRows, n_classes: int, n_rounds: int, *, by_field: bool = False
) -> Booster:
    """A booster of `n_rounds` trees per class: depth 6, histograms, and in corrected mode long steps.

    With `by_field` a categorical field is one column, of which a split parts one value from the others, rather than a
    column a value. The trees are the same (in corrected mode, where every row has a state), grown in less than half the
    time; SHAP values of columns and a dense row need a column a value.

    Source: PolarisProfiler: XGBoost's defaults, which the faithful mode keeps.
    """
    import xgboost  # noqa: PLC0415  heavy

    threads = _threads(len(training.rows), ONE_THREAD_ROWS)
    max_bin = 256 if encoder.mode == "faithful" else MAX_BIN
    data, options = _data(encoder, training.rows, by_field=by_field)
    with xgboost.config_context(nthread=threads):  # of labels and weights, too
        matrix = xgboost.QuantileDMatrix(
            data, training.targets, weight=training.weights, max_bin=max_bin, nthread=threads, **options
        )
    parameters = {
        "objective": "multi:softprob",
        "num_class": n_classes,
        "tree_method": "hist",
        "max_bin": max_bin,
        "base_score": BASE_SCORE,
        "nthread": threads,
    }
    if encoder.mode != "faithful":
        parameters |= LONG_STEPS
    if by_field:
        parameters["max_cat_to_onehot"] = int(encoder.starts[-1]) + 1  # one value against the others, however many
    return xgboost.train(parameters, matrix, n_rounds)


def _data(encoder: MetadataEncoder, rows: Encoded, *, by_field: bool) -> tuple[Any, dict[str, Any]]:
    """The rows and how XGBoost is to read them."""
    if not by_field:
        return to_matrix(encoder, rows), {}
    types = ["c"] * len(encoder.categories) + ["q"] * len(encoder.numbers)
    return to_fields(rows), {"feature_types": types, "enable_categorical": True}


def to_json_bytes(booster: Booster) -> NDArray[np.uint8]:
    """The booster's JSON as (n_bytes,)."""
    return np.frombuffer(bytes(booster.save_raw("json")), dtype=np.uint8)


def from_json_bytes(json: NDArray[np.uint8]) -> Booster:
    """The booster of its JSON."""
    import xgboost  # noqa: PLC0415  heavy

    booster = xgboost.Booster()
    booster.load_model(bytearray(json.tobytes()))
    return booster


def booster_output(booster: Booster, encoder: MetadataEncoder, rows: Encoded, **options: Any) -> Floats:
    """What `Booster.predict` gives for encoded rows; `options` are its arguments."""
    import xgboost  # noqa: PLC0415  heavy

    threads = _threads(len(rows), ONE_THREAD_EXPLAINED if "pred_contribs" in options else ONE_THREAD_PREDICTED)
    booster.set_param({"nthread": threads})
    data, read = _data(encoder, rows, by_field=booster.num_features() == len(encoder.fields))
    output: Floats = booster.predict(xgboost.DMatrix(data, nthread=threads, **read), **options)
    return output.astype(np.float64)


def margins(booster: Booster, encoder: MetadataEncoder, rows: Encoded, n_rounds: int = 0) -> Floats:
    """(n_rows, n_classes) scores before the softmax, from the first `n_rounds` rounds (0 = all)."""
    return booster_output(booster, encoder, rows, output_margin=True, iteration_range=(0, n_rounds)).reshape(
        len(rows), -1
    )


def _threads(n_rows: int, alone: int) -> int:
    from workprof.core.compiled import worker_threads  # noqa: PLC0415  heavy

    return 1 if n_rows <= alone else worker_threads()


TEMPERATURES = np.geomspace(0.5, 8.0, 49)


def softmax(scores: Floats, temperature: float | Floats) -> Floats:
    """(n_rows, n_classes) probabilities of scores at a temperature, or at (n_rows,) temperatures."""
    scaled = scores / (temperature if isinstance(temperature, float) else temperature[:, None])
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def log_loss(scores: Floats, targets: Ints, weights: Floats, temperature: float) -> float:
    """The weighted mean of -log(probability of the true class)."""
    scaled = scores / temperature
    highest = scaled.max(axis=1)
    normaliser = highest + np.log(np.exp(scaled - highest[:, None]).sum(axis=1))
    return float(np.average(normaliser - scaled[np.arange(len(targets)), targets], weights=weights))


def best_temperature(scores: Floats, targets: Ints, weights: Floats) -> float:
    """The temperature of `TEMPERATURES` with the least log loss.

    Source: temperature scaling (Guo et al., ICML 2017); ours halves a grid instead of descending: the loss is convex in
    1 / temperature, so that the least one is the first that the next does not improve.
    """
    first, last = 0, len(TEMPERATURES) - 1
    while first < last:
        middle = (first + last) // 2
        here, beyond = (log_loss(scores, targets, weights, float(t)) for t in TEMPERATURES[middle : middle + 2])
        first, last = (first, middle) if here <= beyond else (middle + 1, last)
    return float(TEMPERATURES[first])


def threshold_of(settings: ClassifierSettings) -> float:
    """The probability from which on an answer is worth its risk: cost / (1 + cost), unless one is given.

    A threshold that the held-out jobs choose gains less on others: they are few jobs, and the best of many thresholds
    is best by chance. (Mean gain of a run at cost 1, ten tables of 400 to 1,500 runs: .58 and .36 of known and new
    jobs, .57 and .33 with the chosen one.)

    Source: Chow 1970, for probabilities that hold; those of ours are calibrated.
    """
    return settings.threshold or settings.wrong_cost / (1 + settings.wrong_cost)


ROUNDS = (4, 7, 10)
"""Candidates; the least log loss after calibration wins."""

SPLIT_ORDER = ("by_job", "random")
"""By job is how the classifier is used: new jobs, some of known groups, some not."""

NEVER = -1e9
"""Score of a class that the inner fit does not know."""

WORDS = {"by_job": "jobs", "random": "rows"}


@dataclass(frozen=True)
class Tuning:
    """Choices made inside the training rows."""

    n_rounds: int  # trees per class
    temperature: float  # divides the scores before the softmax; 1 = as trained
    threshold: float  # smallest probability of an answer; 0 = none
    split: str  # of the hold-out: 'by_job', 'random', or '' where there was none
    n_held_out: int  # rows it held
    log_loss: float  # of the held-out rows after calibration; NaN without
    log_loss_uncalibrated: float  # before
    note: str  # the same in words
    temperatures: tuple[float, ...] = ()
    """By `NEWNESS`; empty = `temperature` for every row (faithful mode, or nothing to calibrate on)."""
    blank: float = 1.0
    """Temperature of a row whose blank fields, filled one way or another, tell one nat of its profile (`softened`)."""

    def of_rows(self, encoder: MetadataEncoder, rows: Encoded) -> float | Floats:
        """The temperature of each encoded row: (n_rows,), or one for all."""
        if not self.temperatures:
            return self.temperature
        return np.array(self.temperatures)[newness(encoder, rows)]


NEWNESS = {
    "job_name": "another run of a known job",
    "group": "a new job of a known group",
    "user": "a new group of a known user",
    "": "a new user",
}
"""The narrowest field whose value training saw -> what the row is then; a temperature is fitted for each."""


def newness(encoder: MetadataEncoder, rows: Encoded) -> Ints:
    """(n_rows,) positions in `NEWNESS`; a field that is no input does not count."""
    names = [values.field for values in encoder.categories]
    seen = is_seen(encoder, rows)
    result = np.full(len(rows), len(NEWNESS) - 1, dtype=np.int64)
    for place, name in reversed(list(enumerate(NEWNESS))):
        if name in names:
            result[seen[:, names.index(name)]] = place
    return result


@dataclass(frozen=True)
class _Partial:
    """Rows that an inner fit did not see, without some of their fields, and what these were filled with."""

    scores: Floats  # (n_filled, n_classes)
    kinds: Ints  # (n_filled,) newness of the row each stands for
    filled: Filled
    targets: Ints  # (n_rows,)


@dataclass(frozen=True)
class _HeldOut:
    """Merged rows that an inner fit did not see: (n_rows, n_classes) scores, their newness, and what they were."""

    scores: Floats
    kinds: Ints
    targets: Ints
    weights: Floats
    partial: _Partial | None = None


@dataclass(frozen=True)
class _Trial:
    """One candidate: rounds, one temperature for all rows, the held-out rows' loss after it and before it."""

    n_rounds: int
    temperature: float
    loss: float
    loss_before: float


def most_rounds(settings: ClassifierSettings) -> int:
    """The largest number of rounds that `tune` may choose."""
    return PUBLISHED_ROUNDS if settings.mode == "faithful" else ROUNDS[-1]


def tune(jobs: pd.DataFrame, inputs: ReadFields, targets: Ints, settings: ClassifierSettings) -> Tuning:
    """The choices on training rows, which are split; in faithful mode the published values."""
    nan = float("nan")
    if settings.mode == "faithful":
        return Tuning(PUBLISHED_ROUNDS, 1.0, 0.0, "", 0, nan, nan, "Published values; nothing is tuned.")
    split, fold = _split(jobs, settings)
    distinct = _distinct(inputs, targets)
    test = _tried(distinct, fold, settings)
    if test is None:
        return Tuning(
            ROUNDS[-1],
            1.0,
            threshold_of(settings),
            "",
            0,
            nan,
            nan,
            "Too few rows for a hold-out: nothing is calibrated.",
        )
    trial, held = test
    others = _others(jobs, distinct, settings, trial.n_rounds)
    temperatures = _by_newness((held, *others), trial.temperature)
    blank = _of_blanks([held.partial for held in others if held.partial], np.array(temperatures))
    n_held_out = int(held.weights.sum())
    note = (
        f"{format_count(n_held_out)} rows of held-out {WORDS[split]} chose {trial.n_rounds} rounds. "
        "Rows that were held out in several ways chose the temperatures. "
        + " ".join(
            f"For {words} it is {value:.2f}." for value, words in zip(temperatures, NEWNESS.values(), strict=True)
        )
        + f" Where unknown fields of a job could decide its profile, it is multiplied by about {blank:.2f}."
    )
    return Tuning(
        trial.n_rounds,
        trial.temperature,
        threshold_of(settings),
        split,
        n_held_out,
        trial.loss,
        trial.loss_before,
        note,
        temperatures,
        blank,
    )


def best_rounds(jobs: pd.DataFrame, inputs: ReadFields, targets: Ints, settings: ClassifierSettings) -> int:
    """The number of rounds that `tune` chooses, without calibrating anything; its arguments."""
    if settings.mode == "faithful":
        return PUBLISHED_ROUNDS
    test = _tried(_distinct(inputs, targets), _split(jobs, settings)[1], settings)
    return ROUNDS[-1] if test is None else test[0].n_rounds


def _split(jobs: pd.DataFrame, settings: ClassifierSettings) -> tuple[str, Fold]:
    for split in SPLIT_ORDER[:-1]:
        try:
            return split, drawn_holdout(jobs, split, settings.calibration_share, settings.seed)
        except (ColumnMissing, NotEnoughData):
            continue
    return SPLIT_ORDER[-1], drawn_holdout(jobs, SPLIT_ORDER[-1], settings.calibration_share, settings.seed)


@dataclass(frozen=True)
class _Distinct:
    """Training rows of which those equal in all fields and in their class are one: each fold counts them anew."""

    inputs: ReadFields  # (n_distinct rows)
    targets: Ints  # (n_distinct,)
    places: Ints  # (n_rows,) of the training rows among them

    def counts(self, rows: Ints) -> Ints:
        """(n_distinct,) how many of the training rows at these positions each stands for."""
        return np.bincount(self.places[rows], minlength=len(self.targets))


def _distinct(inputs: ReadFields, targets: Ints) -> _Distinct:
    places, first = distinct_rows(inputs, targets)
    return _Distinct(inputs.take(first), targets[first], places)


def _tried(rows: _Distinct, fold: Fold, settings: ClassifierSettings) -> tuple[_Trial, _HeldOut] | None:
    """The best number of rounds and its held-out rows; None when none has a class that the inner fit knows."""
    result = _held_out(rows, fold, settings, ROUNDS)
    if not result:
        return None
    trials = [_trial(n_rounds, held) for n_rounds, held in zip(ROUNDS, result, strict=True)]
    best = int(np.argmin([trial.loss for trial in trials]))
    return trials[best], result[best]


def _held_out(
    rows: _Distinct, fold: Fold, settings: ClassifierSettings, rounds: tuple[int, ...]
) -> tuple[_HeldOut, ...]:
    """The fold's test rows, scored by an inner fit after each number of rounds.

    Rows of a class that the inner fit does not know are left out; nothing is returned where no others are there.
    """
    learned, tested = rows.counts(fold.train), rows.counts(fold.test)
    train = np.flatnonzero(learned)
    known, inner = np.unique(rows.targets[train], return_inverse=True)
    test = np.flatnonzero((tested > 0) & np.isin(rows.targets, known))
    if not len(test) or len(known) < 2:
        return ()
    counts, rare_rows = learned[train], rare_rows_of(settings, len(rows.places))
    encoder = fit_encoder(rows.inputs.take(train), rows.inputs.fields, settings.mode, rare_rows, counts)
    every = encode(encoder, rows.inputs)
    training = training_rows(encoder, every.take(train), inner.astype(np.int64), counts)
    booster = grow_trees(encoder, training, len(known), rounds[-1], by_field=True)
    new = merge_rows(every.take(test), rows.targets[test], tested[test].astype(np.float64))
    kinds = newness(encoder, new.rows)

    def scores_of(asked: Encoded, n_rounds: int) -> Floats:
        scores = np.full((len(asked), int(rows.targets.max()) + 1), NEVER)
        scores[:, known] = margins(booster, encoder, asked, n_rounds)
        return scores

    partial = None
    if len(rounds) == 1:
        given, targets = _without_fields(encoder, new, settings.seed)
        filled = Donors(encoder, kept_rows(encoder, every.take(train), counts)).fill(given)
        partial = _Partial(scores_of(filled.rows, rounds[0]), newness(encoder, given)[filled.of], filled, targets)
    return tuple(
        _HeldOut(scores_of(new.rows, n_rounds), kinds, new.targets, new.weights, partial) for n_rounds in rounds
    )


PARTIAL_ROWS, PARTIAL_WAYS = 100, 16
"""Rows of a hold-out that are tried without some fields, and different sets of fields that they are without."""


def _without_fields(encoder: MetadataEncoder, held: TrainingRows, seed: int) -> tuple[Encoded, Ints]:
    """(PARTIAL_ROWS,) held-out rows, drawn by weight, each without a random set of fields, and their targets."""
    draw = np.random.default_rng(seed)
    drawn = draw.choice(len(held.rows), PARTIAL_ROWS, p=held.weights / held.weights.sum())
    ways = draw.random((PARTIAL_WAYS, len(encoder.fields))) < draw.random((PARTIAL_WAYS, 1))
    without, n = ways[draw.integers(PARTIAL_WAYS, size=PARTIAL_ROWS)], len(encoder.categories)
    rows, nothing = held.rows.take(drawn), [len(one.kept) + STATES.index(NOT_GIVEN) for one in encoder.categories]
    codes = np.where(without[:, :n], np.array(nothing, dtype=np.int64), rows.codes)
    return Encoded(codes, np.where(without[:, n:], np.nan, rows.numbers)), held.targets[drawn]


CALIBRATION_FOLDS = {"random": (5, 1), "by_group": (3, 3), "by_time": (2, 1)}
"""Split -> into how many folds, and how many of them are held out in turn, beside those of `SPLIT_ORDER`. By group it
is all of them: one group can be a seventh of the rows, and a temperature from a single fold then hangs on whether it is
in it. Calibration error by group of 20,000 rows with planted profiles, two seeds: .052 and .065; with five folds, for a
quarter more time, .049 and .060."""

FEWEST_CALIBRATION_ROWS = 200
"""Held-out rows of a kind of newness that has a temperature of its own."""


def _others(jobs: pd.DataFrame, rows: _Distinct, settings: ClassifierSettings, n_rounds: int) -> list[_HeldOut]:
    """The rows held out by the other splits, as far as the table can be split so."""
    from workprof.core.compiled import worker_threads  # noqa: PLC0415  heavy

    held_out: list[Fold] = []
    for split, (n_folds, n_held_out) in CALIBRATION_FOLDS.items():
        try:
            folds = make_folds(jobs, split, n_folds, settings.seed)
        except (ColumnMissing, NotEnoughData):
            continue
        held_out += folds[:n_held_out]
    with ThreadPoolExecutor(worker_threads()) as beside:  # XGBoost and pandas free Python while they work
        parts = beside.map(lambda fold: _held_out(rows, fold, settings, (n_rounds,)), held_out)
        return [held for part in parts for held in part]


def _by_newness(parts: tuple[_HeldOut, ...], otherwise: float) -> tuple[float, ...]:
    """A temperature for each of `NEWNESS`; `otherwise` for those with too few held-out rows."""
    n_kinds = len(NEWNESS)
    scores, kinds, targets, weights = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("scores", "kinds", "targets", "weights")
    )
    temperatures = []
    for kind in range(n_kinds):
        own = kinds == kind
        enough = weights[own].sum() >= FEWEST_CALIBRATION_ROWS
        temperatures.append(best_temperature(scores[own], targets[own], weights[own]) if enough else otherwise)
    return tuple(temperatures)


def _of_blanks(parts: list[_Partial], temperatures: Floats) -> float:
    """The temperature of blank fields with the least log loss; 1 of too few rows."""
    if sum(len(one.targets) for one in parts) < FEWEST_CALIBRATION_ROWS:
        return 1.0
    spreads = [spread(softmax(one.scores, temperatures[one.kinds]), one.filled) for one in parts]
    means, told = (np.concatenate(part) for part in zip(*spreads, strict=True))
    targets = np.concatenate([one.targets for one in parts])

    def loss(temperature: float) -> float:
        right = softened(means, told, temperature)[np.arange(len(targets)), targets]
        return -float(np.log(np.maximum(right, TINY)).mean())

    return float(min(TEMPERATURES, key=loss))


TINY = 1e-12
"""The least probability that a loss is taken of."""


def spread(shares: Floats, filled: Filled) -> tuple[Floats, Floats]:
    """(n_rows, n_classes) means of the probabilities (n_filled, n_classes) of what rows are filled with, and their gap.

    The gap (n_rows,) is the mutual information (in nats) between profile and filling: 0 where all fillings agree.

    Source: the information is that of Bayesian active learning (Houlsby et al. 2011), there between a class and the
    parameters of a model; ours takes the ways to fill a row in their place.
    """
    if not filled.blank.any():
        return shares, np.zeros(len(shares))
    starts = np.searchsorted(filled.of, np.arange(len(filled.blank)))
    means: Floats = np.add.reduceat(shares * filled.weights[:, None], starts, axis=0)
    gaps = _entropy(means) - np.add.reduceat(_entropy(shares) * filled.weights, starts)
    return means, np.where(filled.blank.any(axis=1), np.maximum(gaps, 0.0), 0.0)


def softened(means: Floats, gaps: Floats, temperature: float) -> Floats:
    """The means of `spread` at a temperature to the power of the gap, in the same order.

    Runs alike stand for a new job the less well, the more hangs on what is not known of it.
    """
    some = gaps > 0
    if temperature == 1 or not some.any():
        return means
    result = means.copy()
    result[some] = softmax(np.log(np.maximum(means[some], np.finfo(np.float64).tiny)), temperature ** gaps[some])
    return result


def _entropy(shares: Floats) -> Floats:
    """(n_rows,) nats of (n_rows, n_classes) probabilities."""
    from scipy.special import entr  # noqa: PLC0415  heavy

    nats: Floats = entr(shares).sum(axis=1)
    return nats


def _trial(n_rounds: int, held: _HeldOut) -> _Trial:
    temperature = best_temperature(held.scores, held.targets, held.weights)
    after = log_loss(held.scores, held.targets, held.weights, temperature)
    return _Trial(n_rounds, temperature, after, log_loss(held.scores, held.targets, held.weights, 1.0))

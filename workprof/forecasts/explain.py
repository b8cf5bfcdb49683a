"""Why jobs get their profiles: SHAP values, summed over the columns of each field, of one job and over all jobs.

XGBoost computes them itself (exact tree SHAP, the values of shap.TreeExplainer), of the scores of all classes. A score
is no log-odds where there are several classes, and calibration divides it, so that "11 times the odds" would contradict
the probability beside it. The values are therefore carried on to the log-odds of the calibrated probability against all
other classes (see `of_odds`): base + the fields' contributions = output = ln(p / (1 - p)).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NoRows, SettingsError
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import format_bytes, odds_words
from workprof.core.words import listed
from workprof.forecasts.boosting import Booster, booster_output, margins, softened, spread
from workprof.forecasts.encoder import (
    MOST_DONORS,
    STATES,
    Encoded,
    MetadataEncoder,
    blanks,
    encode,
    name_of,
    sum_by_field,
    to_matrix,
)
from workprof.profiles.features import draw_rows
from workprof.profiles.metadata import NOT_GIVEN

if TYPE_CHECKING:
    import pandas as pd
    from shap import Explanation

    from workprof.forecasts.classifier import LoadedClassifier

ADDITIVITY_TOLERANCE = 1e-3
"""Largest believable gap between base + contributions and output: the trees add in single precision."""

TINY = 1e-12
"""Log-odds: so that fields of which none differs have equal parts."""

WORTH_A_SENTENCE = 0.05
"""Log-odds below which a field is not worth a word."""


@dataclass(frozen=True)
class JobExplanation:
    """A waterfall for one job and one profile."""

    profile: int  # that is explained; -1 = 'no profile'
    fields: tuple[str, ...]  # inputs, the strongest first
    values: tuple[str, ...]  # (as texts) what the job has in them
    states: tuple[str, ...]  # 'known', 'rare', 'not given' or 'unseen' per field
    contributions: Floats  # (n_fields,) log-odds; they and `base` add up to `output`
    base: float  # log-odds of the profile at the expected scores
    output: float  # those of this job: ln(probability / (1 - probability))
    probability: float  # calibrated, of the profile
    additivity_error: float  # |base + contributions - output|; trust nothing where `additive` is false
    additive: bool  # whether it is within 0.001
    sentences: tuple[str, ...]  # the contributions in words
    seconds: float  # time of this explanation

    def to_shap(self) -> Explanation:
        """The one profile's values as a `shap.Explanation` of (n_fields,), in log-odds, for shap's own plots."""
        from shap import Explanation  # noqa: PLC0415  heavy

        return Explanation(
            values=self.contributions,
            base_values=self.base,
            data=np.array(self.values, dtype=object),
            feature_names=list(self.fields),
        )


@dataclass(frozen=True)
class Contributions:
    """SHAP values of rows."""

    columns: Floats  # (n_rows, n_classes, n_columns)
    base: Floats  # (n_rows, n_classes)
    output: Floats  # (n_rows, n_classes)

    @property
    def additivity_error(self) -> Floats:
        """(n_rows, n_classes) |base + columns - output|."""
        gap: Floats = np.abs(self.base + self.columns.sum(axis=2) - self.output)
        return gap


def explain_job(loaded: LoadedClassifier, job: pd.DataFrame, profile: int | None = None) -> JobExplanation:
    """Why one job, a table of one row, is given a profile; None = the most likely class, 'no profile' included.

    A field that the table lacks counts as not given.

    Raises:
        NoRows: for an empty table.
        SettingsError: for more than one row, or a profile that the classifier does not know.
        ColumnMissing, TraceError: as `LoadedClassifier.predict`.
    """
    started = time.perf_counter()
    if not len(job):
        raise NoRows("there is no job to explain; give a table of one row")
    if len(job) > 1:
        raise SettingsError(f"{len(job)} jobs were given; explain one at a time")
    model = loaded.model
    rows = encode(model.encoder, job)
    shap, blank = _of_rows(loaded, rows)
    unknown = [name for name, is_blank in zip(model.encoder.fields, blank[0], strict=True) if is_blank]
    probabilities = 1 / (1 + np.exp(-shap.output[0]))
    chosen = int(model.classes[probabilities.argmax()]) if profile is None else profile
    if chosen not in model.classes:
        known = ", ".join(str(label) for label in model.classes)
        raise SettingsError(f"profile {chosen} is unknown to this classifier; it knows {known}")
    place = int(np.searchsorted(model.classes, chosen))
    by_field = sum_by_field(model.encoder, shap.columns[0, place])
    order = np.argsort(-np.abs(by_field), kind="stable")
    shown = [_shown(model.encoder, rows, job, int(i)) for i in order]
    fields = tuple(model.encoder.fields[i] for i in order)
    error = float(shap.additivity_error[0, place])
    return JobExplanation(
        profile=chosen,
        fields=fields,
        values=tuple(value for value, _ in shown),
        states=tuple(state for _, state in shown),
        contributions=by_field[order],
        base=float(shap.base[0, place]),
        output=float(shap.output[0, place]),
        probability=float(probabilities[place]),
        additivity_error=error,
        additive=error <= ADDITIVITY_TOLERANCE,
        sentences=(*_sentences(chosen, fields, shown, by_field[order]), *_filled_words(unknown)),
        seconds=time.perf_counter() - started,
    )


def _of_rows(loaded: LoadedClassifier, rows: Encoded) -> tuple[Contributions, Bools]:
    """The SHAP values of rows on the odds, and (n_rows, n_fields) which fields are blank.

    They are the mean of those of what the blank fields are filled with. That these differ makes the odds more even
    than their mean: this is what not knowing the blank fields does, so it is theirs, by how far each differs.
    """
    from scipy.special import expit, logit  # noqa: PLC0415  heavy

    encoder = loaded.model.encoder
    temperatures = np.broadcast_to(loaded.model.tuning.of_rows(encoder, rows), len(rows))
    if loaded.donors is None:
        shap = of_odds(contributions_of(loaded.booster, encoder, rows), temperatures)
        return shap, np.zeros((len(rows), len(encoder.fields)), dtype=np.bool_)
    made = loaded.donors.fill(rows)
    shap = of_odds(contributions_of(loaded.booster, encoder, made.rows), temperatures[made.of])
    if not made.blank.any():
        return shap, made.blank
    starts = np.searchsorted(made.of, np.arange(len(rows)))

    def mean(parts: Floats) -> Floats:
        """(n_rows, ...) of (n_filled, ...)."""
        result: Floats = np.add.reduceat((parts.T * made.weights).T, starts)
        return result

    columns, base = mean(shap.columns), mean(shap.base)
    output = logit(np.clip(softened(*spread(expit(shap.output), made), loaded.model.tuning.blank), TINY, 1 - TINY))
    by_field = sum_by_field(encoder, shap.columns)
    differs = (mean(np.abs(by_field - mean(by_field)[made.of])) + TINY) * made.blank[:, None]
    shares = differs / np.maximum(differs.sum(axis=2, keepdims=True), TINY)
    columns[:, :, encoder.starts[1:] - 1] += (output - mean(shap.output))[:, :, None] * shares
    return Contributions(columns, base, output), made.blank


def _filled_words(blank: Sequence[str]) -> tuple[str, ...]:
    if not blank:
        return ()
    return (f"every run in training had a known {listed(blank)}: the answer is a mean over runs like this job",)


def contributions_of(booster: Booster, encoder: MetadataEncoder, rows: Encoded) -> Contributions:
    """The SHAP values of encoded rows for every class and column.

    Source: tree SHAP (Lundberg et al., 2020) as XGBoost computes it; ours differs in nothing.
    """
    values = booster_output(booster, encoder, rows, pred_contribs=True)
    return Contributions(values[:, :, :-1], values[:, :, -1], margins(booster, encoder, rows))


NODES = 256
"""Of the quadrature along the way: scores that lie 80 log-odds apart still add up within `ADDITIVITY_TOLERANCE`."""


def of_odds(shap: Contributions, temperatures: float | Floats) -> Contributions:
    """The SHAP values of scores, carried on to the log-odds of each class against all others, after calibration.

    `temperatures` are (n_rows,), or one for all.

    Source: Aumann and Shapley (1974): what a field adds to a score counts by how far the log-odds follow that score, on
    average over the straight way from the expected scores to those of the job. Of two classes it is the difference of
    their values, divided by the temperature; what a field adds to all scores alike counts nothing.
    """
    scaled = np.broadcast_to(np.asarray(temperatures, dtype=np.float64), len(shap.base))[:, None]
    base, output = shap.base / scaled, shap.output / scaled
    columns = (shap.columns - others_of(base, output) @ shap.columns) / scaled[:, :, None]
    return Contributions(columns, _log_odds(base), _log_odds(output))


def others_of(base: Floats, output: Floats) -> Floats:
    """(n_rows, n_classes, n_classes) how much each other class counts among those against a class.

    It is the mean along the way from `base` to `output`, (n_rows, n_classes) calibrated scores; each row adds up to 1.
    """
    at, weights = _quadrature()
    result = np.empty((*base.shape, base.shape[1]))
    for row, (first, last) in enumerate(zip(base, output, strict=True)):
        powers, rest = _against(first + (at[:, None] + 1) / 2 * (last - first))
        result[row] = (weights[:, None] / 2 / rest).T @ powers
        np.fill_diagonal(result[row], 0.0)
    return result


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """(256,) nodes and weights of Gauss and Legendre; to find them takes longer than the rest of an explanation."""
    return np.polynomial.legendre.leggauss(NODES)


def _against(scores: Floats) -> tuple[Floats, Floats]:
    """(n, n_classes) powers of scores, the largest 1, and the sums of those of the other classes."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    rest, largest = powers.sum(axis=1, keepdims=True) - powers, (np.arange(len(powers)), powers.argmax(axis=1))
    without = powers.copy()
    without[largest] = 0.0
    rest[largest] = without.sum(axis=1)  # a difference of nearly equal sums would have no digits
    return powers, np.maximum(rest, np.finfo(np.float64).tiny)


def _log_odds(scores: Floats) -> Floats:
    result: Floats = scores - scores.max(axis=1, keepdims=True) - np.log(_against(scores)[1])
    return result


def shown_value(encoder: MetadataEncoder, rows: Encoded, row: int, place: int) -> str:
    """What an encoded row has in the field at a place, as the classifier sees it."""
    n_categories = len(encoder.categories)
    if place < n_categories:
        return encoder.categories[place].label(int(rows.codes[row, place]))
    number = rows.numbers[row, place - n_categories]
    return _number_text(encoder.fields[place], float(number))


def _shown(encoder: MetadataEncoder, rows: Encoded, job: pd.DataFrame, place: int) -> tuple[str, str]:
    """Value and state of the field at a place, for the one job."""
    field, label = encoder.fields[place], shown_value(encoder, rows, 0, place)
    if label == NOT_GIVEN:
        return NOT_GIVEN, NOT_GIVEN
    if place >= len(encoder.categories):
        return label, "known"
    kept = len(encoder.categories[place].kept)
    code = int(rows.codes[0, place])
    return name_of(job[field].iloc[0]), "known" if code < kept else STATES[code - kept]


def _number_text(field: str, number: float) -> str:
    if np.isnan(number):
        return NOT_GIVEN
    if field.endswith("_bytes"):
        return format_bytes(number)
    return f"{number:,.6g}" + (" %" if field.endswith("_percent") else "")


def _sentences(
    profile: int, fields: tuple[str, ...], shown: list[tuple[str, str]], contributions: Floats
) -> tuple[str, ...]:
    target = f"P{profile}" if profile >= 0 else "'no profile'"
    sentences = []
    for name, (value, state), amount in zip(fields, shown, contributions, strict=True):
        if abs(amount) < WORTH_A_SENTENCE:
            continue
        remark = f" ({state} in training)" if state in ("rare", "unseen") else ""
        what = f"{name} {NOT_GIVEN}" if state == NOT_GIVEN else f"{name} = {value}{remark}"
        sentences.append(f"{what} {odds_words(float(amount), target)}")
    return tuple(sentences)


SAMPLE_ROWS = 1_000
MOST_SAMPLE_ROWS = 20_000
TOP_VALUES = 20
CHUNK_VALUES = 4_000_000
"""SHAP values held at once, rows x classes x columns: 32 MB."""

LONGEST_TEXT = 40
"""Characters of a value that a beeswarm shows."""


@dataclass(frozen=True, repr=False)
class GlobalExplanation(Shown):
    """Mean |SHAP| in log-odds of the calibrated probability, and the rows that it comes from."""

    n_sampled: int  # rows drawn at random
    n_rows: int  # rows of the table
    seed: int  # of the draw
    classes: Ints  # (n_classes,) profiles; -1 = no profile
    fields: tuple[str, ...]  # inputs, the strongest (summed over classes) first
    by_field: Floats  # (n_fields, n_classes) mean |sum of the field's columns|
    values: tuple[str, ...]  # up to twenty columns such as 'task_name = ps', the strongest first
    by_value: Floats  # (n_values, n_classes) mean |SHAP| over all sampled rows; a value that a row lacks counts too
    row_ids: Ints  # (n_sampled,) of the store, else positions
    chosen: Ints  # (n_sampled,) most likely class of each row
    effects: Floats  # (n_sampled, n_fields, n_classes) SHAP values: what every view is drawn from
    base: Floats  # (n_sampled, n_classes) log-odds at the expected scores, which rows that are new in one way share
    numbers: Floats  # (n_sampled, n_fields) in the fields' own units; NaN for categories and missing numbers
    shown: NDArray[np.str_]  # (n_sampled, n_fields) values as texts, cut at 40 characters
    positions: Floats
    """(n_sampled, n_fields) of a number in its training range 0-1; NaN for categories and missing numbers."""
    interactions: Floats  # (n_fields, n_fields) mean |interaction|, summed over classes; own effects on the diagonal
    n_interactions: int  # of the sampled rows, the first: those that interactions are of; 0 = too many columns
    additivity_error: float  # largest |base + contributions - output|
    additive: bool  # whether it is within 0.001
    seconds: float  # time of the computation
    words: dict[str, str] = field(default_factory=dict)  # field -> what the trace calls it, where that is known

    def effects_on(self, profile: int | None = None) -> Floats:
        """(n_sampled, n_fields) on the odds of a profile; None = of the most likely class of each row.

        Raises SettingsError for a profile that the classifier does not know.
        """
        if profile is None:
            return self.effects[np.arange(self.n_sampled), :, np.searchsorted(self.classes, self.chosen)]
        return self.effects[:, :, self._place(profile)]

    def _place(self, profile: int) -> int:
        if profile not in self.classes:
            known = ", ".join(str(label) for label in self.classes)
            raise SettingsError(f"profile {profile} is unknown to this classifier; it knows {known}")
        return int(np.searchsorted(self.classes, profile))

    def to_shap(self, profile: int | None = None, names: Mapping[str, str] | None = None) -> Explanation:
        """The sample as a `shap.Explanation` of (n_sampled, n_fields), in log-odds, for every plot of `shap.plots`.

        Args:
            profile: whose score is explained; None = the most likely class of each row.
            names: field -> name; None = the trace's own words, where they are known.
        """
        from shap import Explanation  # noqa: PLC0415  heavy

        place = np.searchsorted(self.classes, self.chosen) if profile is None else self._place(profile)
        return Explanation(
            values=self.effects_on(profile),
            base_values=self.base[np.arange(self.n_sampled), place],
            data=np.where(np.isnan(self.numbers), self.shown.astype(object), self.numbers),
            display_data=self.shown.astype(object),
            feature_names=[(self.words if names is None else names).get(field, field) for field in self.fields],
        )


@dataclass(frozen=True)
class _Sums:
    """Of the sampled rows: mean |SHAP| per column and class, every field's values, and the likeliest classes."""

    columns: Floats  # (n_columns, n_classes)
    effects: Floats  # (n_rows, n_fields, n_classes)
    base: Floats  # (n_rows, n_classes)
    chosen: Ints  # (n_rows,) positions of the classes
    worst: float


def explain_all(
    loaded: LoadedClassifier,
    jobs: pd.DataFrame,
    n_sampled: int = SAMPLE_ROWS,
    seed: int = 0,
    progress: Progress = silent,
) -> GlobalExplanation:
    """Mean |SHAP| over a sample of jobs.

    Source: the paper's stacked bars are `by_value` over its first 10,000 test rows; ours draws the rows at random, and
    adds the sums per field.

    Raises:
        NoRows: for an empty table.
        SettingsError: for a sample out of bounds.
        ColumnMissing, TraceError: as `LoadedClassifier.predict`.
    """
    started = time.perf_counter()
    if not len(jobs):
        raise NoRows("there are no jobs to explain; give at least one")
    if not 1 <= n_sampled <= MOST_SAMPLE_ROWS or seed < 0:
        raise SettingsError(
            f"n_sampled is {n_sampled}, seed {seed}; give 1 to {MOST_SAMPLE_ROWS:,} rows, seed 0 or more"
        )
    drawn = draw_rows(len(jobs), min(n_sampled, len(jobs)), seed)
    sample = jobs.iloc[drawn]
    encoder, classes = loaded.model.encoder, loaded.model.classes
    rows = encode(encoder, sample)
    sums = _add_up(loaded, rows, progress)
    by_field, by_column = np.abs(sums.effects).mean(axis=0), sums.columns
    fields = np.argsort(-by_field.sum(axis=1), kind="stable")
    columns = np.argsort(-by_column.sum(axis=1), kind="stable")[:TOP_VALUES]
    names = encoder.column_names
    texts = [[shown_value(encoder, rows, row, int(i))[:LONGEST_TEXT] for i in fields] for row in range(len(rows))]
    n_interactions = interaction_rows(encoder, len(classes), len(rows))
    interactions = interactions_of(loaded, rows.take(np.arange(n_interactions)))
    ids = sample["row_id"].to_numpy(dtype=np.int64) if "row_id" in sample.columns else drawn
    return GlobalExplanation(
        n_sampled=len(rows),
        n_rows=len(jobs),
        seed=seed,
        classes=classes,
        fields=tuple(encoder.fields[i] for i in fields),
        by_field=by_field[fields],
        values=tuple(names[i] for i in columns),
        by_value=by_column[columns],
        row_ids=ids,
        chosen=classes[sums.chosen],
        effects=np.ascontiguousarray(sums.effects[:, fields]),
        base=sums.base,
        numbers=_numbers(encoder, rows)[:, fields],
        shown=np.array(texts, dtype=np.str_),
        positions=_positions(encoder, rows)[:, fields],
        interactions=interactions[np.ix_(fields, fields)],
        n_interactions=n_interactions,
        additivity_error=sums.worst,
        additive=sums.worst <= ADDITIVITY_TOLERANCE,
        seconds=time.perf_counter() - started,
    )


def _add_up(loaded: LoadedClassifier, rows: Encoded, progress: Progress) -> _Sums:
    encoder, n_classes = loaded.model.encoder, len(loaded.model.classes)
    columns, worst = np.zeros((int(encoder.starts[-1]), n_classes)), 0.0
    chosen, effects, base = [], [], []
    for part in _parts(loaded, rows, progress):
        columns += np.abs(part.columns).sum(axis=0).T
        effects.append(np.moveaxis(sum_by_field(encoder, part.columns), 1, 2))
        chosen.append(part.output.argmax(axis=1))
        base.append(part.base)
        worst = max(worst, float(part.additivity_error.max()))
    return _Sums(columns / len(rows), np.concatenate(effects), np.concatenate(base), np.concatenate(chosen), worst)


INTERACTION_VALUES = 40_000_000
"""Rows x classes x columns x columns of interactions that are computed: about three seconds."""
MOST_INTERACTION_ROWS = 50
ONE_ROW_VALUES = 400_000_000
"""Of one row, beyond which no interaction is computed: 1.6 GB."""


def interaction_rows(encoder: MetadataEncoder, n_classes: int, n_rows: int) -> int:
    """How many rows interactions are computed of; 0 where those of one do not fit into memory."""
    values = n_classes * int(encoder.starts[-1] + 1) ** 2
    if values > ONE_ROW_VALUES:
        return 0
    return min(n_rows, MOST_INTERACTION_ROWS, max(1, INTERACTION_VALUES // values))


def interactions_of(loaded: LoadedClassifier, rows: Encoded) -> Floats:
    """(n_fields, n_fields) mean |SHAP interaction| of encoded rows, summed over the classes; zeros without a row.

    Source: `shap.TreeExplainer.shap_interaction_values`, carried on to the odds as in `of_odds`; those of the columns
    are summed per field before the mean.
    """
    from shap import TreeExplainer  # noqa: PLC0415  heavy
    from xgboost import DMatrix  # noqa: PLC0415

    encoder = loaded.model.encoder
    total = np.zeros((len(encoder.fields), len(encoder.fields)))
    if not len(rows):
        return total
    explainer, scores = TreeExplainer(loaded.booster), contributions_of(loaded.booster, encoder, rows)
    temperatures = np.broadcast_to(loaded.model.tuning.of_rows(encoder, rows), len(rows))[:, None]
    others = others_of(scores.base / temperatures, scores.output / temperatures)
    for row in range(len(rows)):
        matrix = DMatrix(to_matrix(encoder, rows.take(np.array([row]))))
        values = np.asarray(explainer.shap_interaction_values(matrix), dtype=np.float64)[0]
        by_field = sum_by_field(encoder, np.moveaxis(sum_by_field(encoder, np.moveaxis(values, 2, 0)), 1, 2))
        total += np.abs(by_field - np.tensordot(others[row], by_field, axes=1)).sum(axis=0) / temperatures[row]
    return total / len(rows)


def _parts(loaded: LoadedClassifier, rows: Encoded, progress: Progress) -> Iterator[Contributions]:
    encoder = loaded.model.encoder
    ways = MOST_DONORS if loaded.donors is not None and blanks(encoder, rows)[1].any() else 1
    step = max(1, CHUNK_VALUES // (len(loaded.model.classes) * int(encoder.starts[-1]) * ways))
    for first in range(0, len(rows), step):
        chunk = np.arange(first, min(first + step, len(rows)))
        yield _of_rows(loaded, rows.take(chunk))[0]
        progress((chunk[-1] + 1) / len(rows), "Explaining a sample of the jobs")


def _numbers(encoder: MetadataEncoder, rows: Encoded) -> Floats:
    """(n_rows, n_fields) numbers as they are; NaN for categories."""
    result = np.full((len(rows), len(encoder.fields)), np.nan)
    result[:, len(encoder.categories) :] = rows.numbers
    return result


def _positions(encoder: MetadataEncoder, rows: Encoded) -> Floats:
    """(n_rows, n_fields) places of the numbers in their training ranges."""
    places = np.full((len(rows), len(encoder.fields)), np.nan)
    for i, number in enumerate(encoder.numbers):
        width = number.highest - number.lowest
        if width > 0:
            places[:, len(encoder.categories) + i] = np.clip((rows.numbers[:, i] - number.lowest) / width, 0, 1)
    return places

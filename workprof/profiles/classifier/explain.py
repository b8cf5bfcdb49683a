"""Why a job got its profile: SHAP values, summed over the columns of each field.

XGBoost computes them itself (exact tree SHAP, the values of shap.TreeExplainer). They explain the score before the
softmax and before calibration, in log-odds: base + the fields' contributions = output.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats
from workprof.errors import NoRows, SettingsError
from workprof.profiles.classifier.boosting import Booster, ask, margins
from workprof.profiles.classifier.calibration import softmax
from workprof.profiles.classifier.metadata_encoder import STATES, Encoded, MetadataEncoder, encode, sum_by_field
from workprof.profiles.metadata import NOT_GIVEN
from workprof.units import format_bytes

if TYPE_CHECKING:
    import pandas as pd

    from workprof.profiles.classifier.classifier import LoadedClassifier

ADDITIVITY_TOLERANCE = 1e-3
"""Largest believable gap between base + contributions and output: the trees add in single precision."""

WORTH_A_SENTENCE = 0.05
"""Log-odds below which a field is not worth a word."""


@dataclass(frozen=True)
class JobExplanation:
    """A waterfall for one job and one profile.

    Attributes:
        profile: that is explained; -1 = 'no profile'.
        fields: inputs, the strongest first.
        values: (as texts) what the job has in them.
        states: 'known', 'rare', 'not given' or 'unseen' per field.
        contributions: (n_fields,) log-odds; they and `base` add up to `output`.
        base: expected score of the profile.
        output: score of this job.
        probability: calibrated, of the profile.
        additivity_error: |base + contributions - output|; trust nothing where `additive` is false.
        additive: whether it is within 0.001.
        sentences: the contributions in words.
        seconds: time of this explanation.
    """

    profile: int
    fields: tuple[str, ...]
    values: tuple[str, ...]
    states: tuple[str, ...]
    contributions: Floats
    base: float
    output: float
    probability: float
    additivity_error: float
    additive: bool
    sentences: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Contributions:
    """SHAP values of rows.

    Attributes:
        columns: (n_rows, n_classes, n_columns).
        base: (n_rows, n_classes).
        output: (n_rows, n_classes).
    """

    columns: Floats
    base: Floats
    output: Floats

    @property
    def additivity_error(self) -> Floats:
        """(n_rows, n_classes) |base + columns - output|."""
        gap: Floats = np.abs(self.base + self.columns.sum(axis=2) - self.output)
        return gap


def explain_job(loaded: LoadedClassifier, job: pd.DataFrame, profile: int | None = None) -> JobExplanation:
    """Return why one job is given a profile.

    Args:
        loaded: the classifier.
        job: a table of one row; a field that it lacks counts as not given.
        profile: to explain; None = the most likely class, 'no profile' included.

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
    found = contributions_of(loaded.booster, model.encoder, rows)
    probabilities = softmax(found.output, model.tuning.temperature)[0]
    chosen = int(model.classes[probabilities.argmax()]) if profile is None else profile
    if chosen not in model.classes:
        known = ", ".join(str(label) for label in model.classes)
        raise SettingsError(f"profile {chosen} is unknown to this classifier; it knows {known}")
    place = int(np.searchsorted(model.classes, chosen))
    by_field = sum_by_field(model.encoder, found.columns[0, place])
    order = np.argsort(-np.abs(by_field), kind="stable")
    shown = [_shown(model.encoder, rows, job, int(i)) for i in order]
    fields = tuple(model.encoder.fields[i] for i in order)
    error = float(found.additivity_error[0, place])
    return JobExplanation(
        profile=chosen,
        fields=fields,
        values=tuple(value for value, _ in shown),
        states=tuple(state for _, state in shown),
        contributions=by_field[order],
        base=float(found.base[0, place]),
        output=float(found.output[0, place]),
        probability=float(probabilities[place]),
        additivity_error=error,
        additive=error <= ADDITIVITY_TOLERANCE,
        sentences=_sentences(chosen, fields, shown, by_field[order]),
        seconds=time.perf_counter() - started,
    )


def contributions_of(booster: Booster, encoder: MetadataEncoder, rows: Encoded) -> Contributions:
    """Return the SHAP values of encoded rows for every class and column.

    Source:
        tree SHAP (Lundberg et al., 2020) as XGBoost computes it; ours differs in nothing.
    """
    found = ask(booster, encoder, rows, pred_contribs=True)
    return Contributions(found[:, :, :-1], found[:, :, -1], margins(booster, encoder, rows))


def shown_value(encoder: MetadataEncoder, rows: Encoded, row: int, place: int) -> str:
    """Return what an encoded row has in the field at a place, as the classifier sees it."""
    n_categories = len(encoder.categories)
    if place < n_categories:
        return encoder.categories[place].label(int(rows.codes[row, place]))
    number = rows.numbers[row, place - n_categories]
    return _number_text(encoder.fields[place], float(number))


def _shown(encoder: MetadataEncoder, rows: Encoded, job: pd.DataFrame, place: int) -> tuple[str, str]:
    """Return value and state of the field at a place, for the one job."""
    field, label = encoder.fields[place], shown_value(encoder, rows, 0, place)
    if label == NOT_GIVEN:
        return NOT_GIVEN, NOT_GIVEN
    if place >= len(encoder.categories):
        return label, "known"
    kept = len(encoder.categories[place].kept)
    code = int(rows.codes[0, place])
    return str(job[field].iloc[0]), "known" if code < kept else STATES[code - kept]


def _number_text(field: str, number: float) -> str:
    if np.isnan(number):
        return NOT_GIVEN
    if field.endswith("_bytes"):
        return format_bytes(number)
    return f"{number:,.6g}" + (" %" if field.endswith("_percent") else "")


def _sentences(
    profile: int, fields: tuple[str, ...], shown: list[tuple[str, str]], contributions: Floats
) -> tuple[str, ...]:
    target = f"profile {profile}" if profile >= 0 else "'no profile'"
    sentences = []
    for field, (value, state), amount in zip(fields, shown, contributions, strict=True):
        if abs(amount) < WORTH_A_SENTENCE:
            continue
        remark = f" ({state} in training)" if state in ("rare", "unseen") else ""
        what = f"{field} {NOT_GIVEN}" if state == NOT_GIVEN else f"{field} = {value}{remark}"
        sentences.append(f"{what} {'raises' if amount > 0 else 'lowers'} {target} by {abs(amount):.1f}")
    return tuple(sentences)

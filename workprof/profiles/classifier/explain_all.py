"""What the classifier looks at over all jobs: mean |SHAP| per field and per value, and the points of a beeswarm."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.arrays import Floats, Ints
from workprof.errors import NoRows, SettingsError
from workprof.profiles.classifier.explain import ADDITIVITY_TOLERANCE, Contributions, contributions_of, shown_value
from workprof.profiles.classifier.metadata_encoder import Encoded, MetadataEncoder, encode, sum_by_field
from workprof.profiles.features import draw_rows
from workprof.progress import Progress, silent

if TYPE_CHECKING:
    import pandas as pd

    from workprof.profiles.classifier.classifier import LoadedClassifier

SAMPLE_ROWS = 1_000
MOST_SAMPLE_ROWS = 20_000
TOP_VALUES = 20
CHUNK_VALUES = 4_000_000
"""SHAP values held at once, rows x classes x columns: 32 MB."""

LONGEST_TEXT = 40
"""Characters of a value that a beeswarm shows."""


@dataclass(frozen=True)
class GlobalExplanation:
    """Mean |SHAP| in log-odds, and the rows that it comes from.

    Attributes:
        n_sampled: rows drawn at random.
        n_rows: rows of the table.
        seed: of the draw.
        classes: (n_classes,) profiles; -1 = no profile.
        fields: inputs, the strongest (summed over classes) first.
        by_field: (n_fields, n_classes) mean |sum of the field's columns|.
        values: up to twenty columns such as 'task_name = ps', the strongest first.
        by_value: (n_values, n_classes) mean |SHAP| over all sampled rows; a value that a row lacks counts too.
        row_ids: (n_sampled,) of the store, else positions.
        chosen: (n_sampled,) most likely class of each row.
        contributions: (n_sampled, n_fields) to the chosen class: the beeswarm.
        shown: (n_sampled, n_fields) values as texts, cut at 40 characters.
        positions: (n_sampled, n_fields) of a number in its training range 0-1; NaN for categories and missing numbers.
        additivity_error: largest |base + contributions - output|.
        additive: whether it is within 0.001.
        seconds: time of the computation.
    """

    n_sampled: int
    n_rows: int
    seed: int
    classes: Ints
    fields: tuple[str, ...]
    by_field: Floats
    values: tuple[str, ...]
    by_value: Floats
    row_ids: Ints
    chosen: Ints
    contributions: Floats
    shown: NDArray[np.str_]
    positions: Floats
    additivity_error: float
    additive: bool
    seconds: float


@dataclass(frozen=True)
class _Sums:
    """Of the sampled rows: |SHAP| summed per class and column or field, and what the beeswarm needs."""

    columns: Floats
    fields: Floats
    chosen: Ints
    chosen_fields: Floats
    worst: float


def explain_all(
    loaded: LoadedClassifier,
    jobs: pd.DataFrame,
    n_sampled: int = SAMPLE_ROWS,
    seed: int = 0,
    progress: Progress = silent,
) -> GlobalExplanation:
    """Return mean |SHAP| over a sample of jobs.

    Source:
        the paper's stacked bars (polarisprofiler.md, section 3) are `by_value` over its first 10,000 test rows; ours
        draws the rows at random, and adds the sums per field.

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
    by_field, by_column = sums.fields / len(rows), sums.columns / len(rows)
    fields = np.argsort(-by_field.sum(axis=1), kind="stable")
    columns = np.argsort(-by_column.sum(axis=1), kind="stable")[:TOP_VALUES]
    names = encoder.column_names
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
        contributions=sums.chosen_fields[:, fields],
        shown=_texts(encoder, rows, fields),
        positions=_positions(encoder, rows)[:, fields],
        additivity_error=sums.worst,
        additive=sums.worst <= ADDITIVITY_TOLERANCE,
        seconds=time.perf_counter() - started,
    )


def _add_up(loaded: LoadedClassifier, rows: Encoded, progress: Progress) -> _Sums:
    encoder, n_classes = loaded.model.encoder, len(loaded.model.classes)
    n_columns = int(encoder.starts[-1])
    columns, fields = np.zeros((n_columns, n_classes)), np.zeros((len(encoder.fields), n_classes))
    chosen, chosen_fields, worst = [], [], 0.0
    for part in _parts(loaded, rows, progress):
        per_field = sum_by_field(encoder, part.columns)
        columns += np.abs(part.columns).sum(axis=0).T
        fields += np.abs(per_field).sum(axis=0).T
        best = part.output.argmax(axis=1)
        chosen.append(best)
        chosen_fields.append(per_field[np.arange(len(best)), best])
        worst = max(worst, float(part.additivity_error.max()))
    return _Sums(columns, fields, np.concatenate(chosen), np.concatenate(chosen_fields), worst)


def _parts(loaded: LoadedClassifier, rows: Encoded, progress: Progress) -> Iterator[Contributions]:
    encoder = loaded.model.encoder
    step = max(1, CHUNK_VALUES // (len(loaded.model.classes) * int(encoder.starts[-1])))
    for first in range(0, len(rows), step):
        chunk = np.arange(first, min(first + step, len(rows)))
        yield contributions_of(loaded.booster, encoder, rows.take(chunk))
        progress((chunk[-1] + 1) / len(rows), "Explaining a sample of the jobs")


def _texts(encoder: MetadataEncoder, rows: Encoded, fields: Ints) -> NDArray[np.str_]:
    texts = [[shown_value(encoder, rows, row, int(i))[:LONGEST_TEXT] for i in fields] for row in range(len(rows))]
    return np.array(texts, dtype=np.str_)


def _positions(encoder: MetadataEncoder, rows: Encoded) -> Floats:
    """Return (n_rows, n_fields) places of the numbers in their training ranges."""
    places = np.full((len(rows), len(encoder.fields)), np.nan)
    for i, number in enumerate(encoder.numbers):
        width = number.highest - number.lowest
        if width > 0:
            places[:, len(encoder.categories) + i] = np.clip((rows.numbers[:, i] - number.lowest) / width, 0, 1)
    return places

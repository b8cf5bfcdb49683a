"""The rows that are clustered: drawn, their features read and scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.profiles.features import FeatureMatrix, read_features
from workprof.profiles.notes import preparation_notes
from workprof.profiles.sampling import draw_rows
from workprof.profiles.scalers import FittedTransform, apply_transform, fit_transform
from workprof.profiles.settings import ProfileSettings, clustered_rows, resolve

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Prepared:
    """The rows that are clustered, scaled.

    Attributes:
        settings: resolved.
        jobs: the clustered rows of the table.
        row_ids: (n_rows,) of the store, else positions in the table.
        matrix: the features in their own units.
        transform: fitted on them.
        points: (n_rows, n_dims) scaled values, indicator columns last.
        notes: what happened to rows and columns.
    """

    settings: ProfileSettings
    jobs: pd.DataFrame
    row_ids: Ints
    matrix: FeatureMatrix
    transform: FittedTransform
    points: Floats
    notes: tuple[str, ...]


def prepare(jobs: pd.DataFrame, settings: ProfileSettings) -> Prepared:
    """Return the rows to cluster, scaled.

    Raises:
        ColumnMissing: when a feature that was named by itself is absent.
        NotEnoughData: with fewer than two usable features, or too few rows.
    """
    n_clustered = clustered_rows(settings, len(jobs))
    resolved = resolve(settings, n_clustered)
    rows = draw_rows(len(jobs), n_clustered, settings.seed)
    drawn = jobs if len(rows) == len(jobs) else jobs.iloc[rows]
    matrix = read_features(drawn, resolved.features, resolved.mode)
    transform = fit_transform(matrix, resolved.scaler, resolved.mode)
    points = apply_transform(transform, matrix.numbers)
    ids = drawn["row_id"].to_numpy(dtype=np.int64) if "row_id" in drawn.columns else rows
    notes = preparation_notes(resolved, matrix, transform, len(jobs), n_clustered)
    return Prepared(resolved, drawn, ids, matrix, transform, points, notes)

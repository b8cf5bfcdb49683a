"""Training rows with the repeated ones merged and counted.

Instances of one job repeat its metadata, so 75,000 rows are some thousand distinct ones. A row that stands for n gets
the weight n: gradients and hessians add up to the same sums, so the trees are those of all the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.profiles.classifier.metadata_encoder import Encoded, MetadataEncoder

NOVELTY = (
    ((), 1 / 3),
    (("job_name",), 1 / 3),
    (("job_name", "group"), 1 / 3),
)
"""Ways in which a job can be new -> share of each training row's weight that is shown in that way.

In training every value is known, in use a job has a new name and often a new group. Without rows that look so, the
trees rest on names and are too sure of jobs they know nothing about. Measured on hold-outs by group of the synthetic
sample, with the plan: log loss .86 without, .67 with; calibration error .12 and .02.
"""


@dataclass(frozen=True)
class TrainingRows:
    """Distinct rows: metadata, (n_distinct,) class positions and (n_distinct,) weights."""

    rows: Encoded
    targets: Ints
    weights: Floats


def merge_rows(rows: Encoded, targets: Ints, weights: Floats) -> TrainingRows:
    """Return the distinct (metadata, class) pairs with their summed weights.

    Args:
        rows: metadata; a missing number equals a missing number.
        targets: (n_rows,) positions of the classes.
        weights: (n_rows,) of the rows.
    """
    key = np.zeros(len(rows), dtype=np.int64)
    columns = (targets, *rows.codes.T, *rows.numbers.T)
    for column in columns:
        part = np.unique(column, return_inverse=True)[1]
        key = np.unique(key * (int(part.max(initial=0)) + 1) + part, return_inverse=True)[1]
    _, first = np.unique(key, return_index=True)
    counted: Floats = np.bincount(key, weights=weights, minlength=len(first)).astype(np.float64)
    return TrainingRows(rows.take(first), targets[first], counted)


def training_rows(encoder: MetadataEncoder, rows: Encoded, targets: Ints) -> TrainingRows:
    """Return the merged rows that trees are grown on; in corrected mode each stands there in the ways of `NOVELTY`."""
    merged = merge_rows(rows, targets, np.ones(len(rows)))
    if encoder.mode == "faithful":
        return merged
    names = [values.field for values in encoder.categories]
    shown = [_hidden(encoder, merged, tuple(n for n in hidden if n in names), share) for hidden, share in NOVELTY]
    codes = np.concatenate([part.rows.codes for part in shown])
    numbers = np.concatenate([part.rows.numbers for part in shown])
    targets = np.concatenate([part.targets for part in shown])
    return merge_rows(Encoded(codes, numbers), targets, np.concatenate([part.weights for part in shown]))


def _hidden(encoder: MetadataEncoder, merged: TrainingRows, hidden: tuple[str, ...], share: float) -> TrainingRows:
    """Return the rows with some fields unseen and a share of the weight."""
    codes = merged.rows.codes.copy()
    for place, values in enumerate(encoder.categories):
        if values.field in hidden:
            codes[:, place] = values.width - 1
    return TrainingRows(Encoded(codes, merged.rows.numbers), merged.targets, merged.weights * share)

"""Train and test rows of an evaluation: random, by job, by group, by time.

A random split lets rows of one job stand on both sides; the published 95.19 % accuracy comes from one. By job, every
test row belongs to a job that training never saw; by group the same for the submitter's template; by time the test
rows are submitted after everything that training knows has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import SUBMITTED, Floats, Ints, first_given, numbers_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.words import counted

if TYPE_CHECKING:
    import pandas as pd

LAST_SHARE = 0.3
"""Of the rows, by their submission: what the split by time tests on."""

SPLITS = {
    "random": "another run of a known job; overstates accuracy",
    "by_job": "a new job of known groups",
    "by_group": "a job of a group never seen",
    "by_time": f"one of the {LAST_SHARE * 100:.0f} % of runs that were submitted last",
}
"""Split -> in what sense the tested rows are new."""
SPLITS_SHOWN = {
    "random": "Other runs (random)",
    "by_job": "New jobs",
    "by_group": "New groups",
    "by_time": "Later jobs",
}
"""Split -> what a form shows for it."""
BY_TIME = "by_time"
SPLIT_COLUMNS = {"by_job": "job_name", "by_group": "group"}
N_FOLDS = 10
FEWEST_ROWS = 20


@dataclass(frozen=True)
class Fold:
    """Row positions of one fold."""

    train: Ints  # (n_train,) rising
    test: Ints  # (n_test,) rising


def make_folds(jobs: pd.DataFrame, split: str, n_folds: int = N_FOLDS, seed: int = 0) -> tuple[Fold, ...]:
    """Return the folds of a split: each row is tested once; by time there is one fold, whatever `n_folds`.

    Rows without a value in the split's column count as a job or group of their own; rows without a time take no part in
    a split by time, and neither do rows that had not ended when the test begins.

    Raises:
        SettingsError: for an unknown split or fewer than two folds.
        ColumnMissing: when the table lacks the column that the split needs.
        NotEnoughData: with too few rows, jobs, groups or times.
    """
    if split not in SPLITS:
        raise SettingsError(f"split is {split!r}; choose from {', '.join(SPLITS)}")
    if n_folds < 2:
        raise SettingsError(f"n_folds is {n_folds}; give at least 2")
    if len(jobs) < FEWEST_ROWS:
        raise NotEnoughData(f"{len(jobs)} jobs are too few for an evaluation; at least {FEWEST_ROWS} are needed")
    if split == "by_time":
        return (_by_time(jobs),)
    units = units_of(jobs, split)
    n_units = int(units.max()) + 1
    if n_units < n_folds:
        raise NotEnoughData(
            f"{counted(n_units, 'different value')} cannot be split into {n_folds} parts; choose another split"
        )
    shuffled = np.random.default_rng(seed).permutation(n_units)[units]
    part = _balanced(np.bincount(shuffled, minlength=n_units), n_folds)[shuffled]
    return tuple(Fold(np.flatnonzero(part != one), np.flatnonzero(part == one)) for one in range(n_folds))


def _balanced(sizes: Ints, n_folds: int) -> Ints:
    """Return (n_units,) folds: each unit, the largest first, goes to the fold that has the fewest rows so far.

    Source:
        scikit-learn's GroupKFold, whose folds these are, found on plain numbers in a tenth of its time.
    """
    part = np.empty(len(sizes), dtype=np.int64)
    order = np.argsort(sizes, kind="stable")[::-1]
    if sizes[order[0]] == sizes[order[-1]]:  # such as rows: they go around
        part[order] = np.arange(len(sizes)) % n_folds
        return part
    rows = [0] * n_folds
    for unit, size in zip(order.tolist(), sizes[order].tolist(), strict=True):
        least = rows.index(min(rows))
        rows[least] += size
        part[unit] = least
    return part


def holdout(jobs: pd.DataFrame, split: str, share: float, seed: int = 0) -> Fold:
    """Return one fold that tests about `share` of the rows, drawn unit by unit; by time it is the usual last part.

    Every unit has the same chance, whatever its size. (The folds of `make_folds`, which raises likewise, are balanced
    by size, so that any one of them is no random draw: the first always holds the largest unit.)
    """
    if split == "by_time":
        return make_folds(jobs, split)[0]
    units = units_of(jobs, split)
    drawn = np.random.default_rng(seed).random(int(units.max()) + 1) < share
    tested = drawn[units]
    if not tested.any() or tested.all():
        return make_folds(jobs, split, max(2, round(1 / share)), seed)[0]
    return Fold(np.flatnonzero(~tested).astype(np.int64), np.flatnonzero(tested).astype(np.int64))


def units_of(jobs: pd.DataFrame, split: str) -> Ints:
    """Return (n_rows,) codes of what a split keeps together: rows, jobs, groups; by time a job where there is a name.

    Raises ColumnMissing when the table lacks the column that the split needs.
    """
    if split == "random" or (split == "by_time" and "job_name" not in jobs.columns):
        return np.arange(len(jobs), dtype=np.int64)
    column = SPLIT_COLUMNS.get(split, "job_name")
    if column not in jobs.columns:
        raise ColumnMissing(f"a split {split} needs the column {column}, which the table lacks; choose another split")
    codes = jobs[column].factorize(use_na_sentinel=True)[0].astype(np.int64)
    missing = codes < 0
    codes[missing] = codes.max(initial=-1) + 1 + np.arange(int(missing.sum()))
    return codes


def times_of(jobs: pd.DataFrame) -> Floats:
    """Return (n_rows,) s at which rows were submitted, or started where no submission is known; NaN without either.

    Raises ColumnMissing when no row has either.
    """
    times = first_given(jobs, SUBMITTED)
    if np.isnan(times).all():
        raise ColumnMissing(f"a split by time needs one of {', '.join(SUBMITTED)}, which the table lacks")
    return times


def end_times_of(jobs: pd.DataFrame) -> Floats:
    """Return (n_rows,) s at which rows ended: start plus duration; submission where no start is known.

    NaN where a row's duration is not known; a table without durations counts them as 0.
    """
    begun = first_given(jobs, SUBMITTED[::-1])
    return begun + numbers_of(jobs, "duration_s") if "duration_s" in jobs.columns else begun


def _by_time(jobs: pd.DataFrame) -> Fold:
    folds = _forward(jobs, (1 - LAST_SHARE,))
    if not folds:
        raise NotEnoughData(
            f"of {len(jobs)} jobs fewer than {FEWEST_ROWS // 2} had ended before the last {LAST_SHARE * 100:.0f} % "
            "began; a split by time needs a longer trace"
        )
    return folds[0]


FORWARD_ORIGINS = (0.4, 0.6, 0.8)
"""Of the rows: from each origin on until the next, rows submitted are predicted by what had ended at the origin."""


def forward_folds(jobs: pd.DataFrame) -> tuple[Fold, ...]:
    """Folds forward in time, one for each origin with enough behind and something before it; test rows in that order.

    Raises:
        ColumnMissing: when the table has no times.
        NotEnoughData: when no origin has.
    """
    return _forward(jobs, FORWARD_ORIGINS) or (_by_time(jobs),)


def _forward(jobs: pd.DataFrame, origins: tuple[float, ...]) -> tuple[Fold, ...]:
    submitted, ended = times_of(jobs), end_times_of(jobs)
    cuts = [float(np.nanquantile(submitted, origin, method="higher")) for origin in origins]
    folds = []
    for cut, until in zip(cuts, [*cuts[1:], np.inf], strict=True):
        before = (ended <= cut) & (submitted < cut)  # what took no time ends where it begins, and is tested
        train, test = np.flatnonzero(before), np.flatnonzero((submitted >= cut) & (submitted < until))
        if len(train) >= FEWEST_ROWS // 2 and len(test):
            folds.append(Fold(train.astype(np.int64), test.astype(np.int64)))
    return tuple(folds)


def forward_fold(jobs: pd.DataFrame, fold: Fold) -> Fold:
    """The fold with the training rows that had ended when its first dated test row was submitted, and dated test rows.

    Raises:
        ColumnMissing: when the table has no times.
        NotEnoughData: when fewer than 10 training rows, or no test row, are left.
    """
    submitted = times_of(jobs)
    test = fold.test[~np.isnan(submitted[fold.test])]
    first = submitted[test].min(initial=np.inf)
    train = fold.train[end_times_of(jobs)[fold.train] <= first]
    if len(train) < FEWEST_ROWS // 2 or not len(test):
        raise NotEnoughData(
            f"of {len(fold.train):,} training runs {len(train):,} had ended before the first tested run was submitted; "
            "a split by time needs tested runs that are later, so choose another split or other runs"
        )
    return Fold(train, test)


def drawn_holdout(jobs: pd.DataFrame, split: str, share: float, seed: int = 0) -> Fold:
    """Return a fold that tests about `share` of the rows, drawn from all folds; by time the one there is.

    The folds are balanced by dealing out the largest jobs or groups first, so the first fold always tests the very
    largest, and a model would never be trained on it. Raises as `make_folds`.
    """
    folds = make_folds(jobs, split, max(2, round(1 / share)), seed)
    return folds[int(np.random.default_rng(seed).integers(len(folds)))]

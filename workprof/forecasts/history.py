"""What past jobs like this one needed: history cells, and the direct models' inputs that are made of them.

A history cell holds jobs that share metadata, from the narrowest level to the widest. A job is compared with past jobs
of its (group, task); where there are none, of its user, workload, task and plan; and so on. `backoff_medians` is the
plain form of it; `recent_quantiles` weighs the jobs of a cell by how near in time they were submitted: users run the
same thing in bursts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import SUBMITTED, Floats, Ints, first_given, numbers_of
from workprof.forecasts.encoder import METADATA_FIELDS, PLAN_FIELDS, as_stored, held, names_in

if TYPE_CHECKING:
    import pandas as pd

Keys = NDArray[np.uint64]

LEVELS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("group", "task_name"), 1),
    (("user", "workload", "task_name", *PLAN_FIELDS), 2),
    (("user", "workload", "task_name"), 2),
    (("workload", "task_name"), 2),
)
"""Fields of each level and the fewest jobs that a cell needs; a group tags recurring jobs (Weng et al., NSDI 2022)."""

GROUP = "group"
DAY_S = 86_400.0
BANDWIDTHS_S = (5 * DAY_S, np.inf)
"""Of what is recent, and of all alike."""


@dataclass(frozen=True)
class Cells:
    """Where each row of a table stands."""

    keys: Keys  # (n_levels, n_rows) 64-bit hash of the row's values at each level
    times: Floats  # (n_rows,) s, submission where the row has it, else start; without either as the latest
    fewest: Ints  # (n_levels,) jobs that a cell needs


@dataclass(frozen=True)
class Past:
    """The jobs that an estimate may look at."""

    cells: Cells  # where they stand
    targets: Floats  # (n_past,) what they needed
    units: Ints  # (n_past,) what stays together in the split; a row never sees its own unit

    @cached_property
    def _overall(self) -> dict[tuple[float, ...], Floats]:
        return {}

    def overall(self, levels: Floats) -> Floats:
        """(n_levels,) quantiles of all jobs together; found once for each set of levels."""
        key = tuple(levels.tolist())
        if key not in self._overall:
            self._overall[key] = np.quantile(self.targets, levels, method="inverted_cdf")
        return self._overall[key]

    @cached_property
    def medians(self) -> tuple[tuple[NDArray[np.uint64], Floats, Ints], ...]:
        """The cells of each level: their keys in rising order, the median need and the number of their jobs."""
        result = []
        for keys in self.cells.keys:
            order = np.lexsort((self.targets, keys))
            known, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
            sorted_targets = self.targets[order]
            middle = sorted_targets[first + (counts - 1) // 2] + sorted_targets[first + counts // 2]
            result.append((known, middle / 2, counts.astype(np.int64)))
        return tuple(result)

    @cached_property
    def middle(self) -> float:
        """The median need of all jobs."""
        return float(np.median(self.targets))

    @cached_property
    def in_order(self) -> Ordered:
        """The jobs by cell and time, for each level; made once for all questions."""
        keys, times = self.cells.keys, self.cells.times
        orders = np.array([np.lexsort((times, own)) for own in keys], dtype=np.int64).reshape(keys.shape)
        return Ordered(np.take_along_axis(keys, orders, 1), times[orders], self.targets[orders], self.units[orders])


@dataclass(frozen=True)
class Ordered:
    """Past jobs by cell and time, (n_levels, n_past) each."""

    keys: Keys
    times: Floats
    targets: Floats
    units: Ints


@dataclass(frozen=True)
class Recent:
    """What recent jobs of the narrowest cell that qualifies needed."""

    level: Ints  # (n_rows,) 0 = narrowest; the number of levels = all jobs together
    count: Ints  # (n_rows,) jobs used
    quantiles: Floats  # (n_rows, n_quantiles)


def levels_of(fields: tuple[str, ...]) -> list[tuple[tuple[str, ...], int]]:
    """The fields of each level that are in use, with the fewest jobs that a cell needs."""
    result: dict[tuple[str, ...], int] = {}
    for names, least in LEVELS:
        used = tuple(name for name in names if name in fields)
        without_group = names[0] == GROUP and GROUP not in used  # its tasks alone would be wider than what follows
        if used and not without_group:
            result.setdefault(used, least)
    return list(result.items())


def hashes_of(texts: NDArray[np.object_]) -> Keys:
    """(n_rows,) 64-bit hashes of texts, the same in every process."""
    from pandas.util import hash_array  # noqa: PLC0415  `import workprof` stays light

    return np.asarray(hash_array(texts), dtype=np.uint64)


def _hashes_of_column(column: pd.Series) -> Keys:
    """(n_rows,) hashes of the values as texts, '' where one is missing; of categories and numbers each value once."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if column.dtype == np.float64:
        places, bits = pd.factorize(column.to_numpy().view(np.int64))  # 0.0 and -0.0 are two texts
        values = bits.view(np.float64).astype(object)
    elif isinstance(column.dtype, pd.CategoricalDtype):
        places, names = names_in(column)
        values = np.array(names, dtype=object)
    else:
        places, values = np.arange(len(column)), column.to_numpy(dtype=object)
    texts = pd.Series([*values, None], dtype=object)
    return hashes_of(texts.where(texts.notna(), "").astype(str).to_numpy(dtype=object))[places]


def joint_keys(hashes: Sequence[Keys]) -> Keys:
    """(n_rows,) keys from the hashes of several fields, joined as `pandas.util.hash_pandas_object` does."""
    keys, factor = np.full(len(hashes[0]), 0x345678, dtype=np.uint64), 1_000_003
    for place, own in enumerate(hashes):
        keys = (keys ^ own) * np.uint64(factor)
        factor += 82_520 + 2 * (len(hashes) - place)
    return keys + np.uint64(97_531)


def read_cells(jobs: pd.DataFrame, fields: tuple[str, ...], known: Cells | None = None) -> Cells:
    """The cells of a table over the fields that are in use; a missing value is a value of its own.

    `known` are the past jobs' cells, when new jobs are read: one without a time counts as submitted when they end.
    """
    own = as_stored(jobs[list(fields)])
    levels = levels_of(fields)
    hashes = {name: _hashes_of_column(own[name]) for name in {name for one, _ in levels for name in one}}
    keys = [joint_keys([hashes[name] for name in names]) for names, _ in levels]
    fewest = [least for _, least in levels]
    table = np.array(keys, dtype=np.uint64).reshape(len(keys), len(jobs))
    times = first_given(jobs, SUBMITTED)
    given = times[~np.isnan(times)] if known is None else known.times
    return Cells(table, np.where(np.isnan(times), given.max(initial=0.0), times), np.array(fewest, dtype=np.int64))


def take_cells(cells: Cells, rows: Ints) -> Cells:
    """The cells of some rows."""
    return Cells(cells.keys[:, rows], cells.times[rows], cells.fewest)


def backoff_medians(past: Past, queries: Cells) -> Floats:
    """(n_queries,) medians of the first cell that has enough past jobs, of all past jobs where none has.

    They are those of the past's logarithms: of an even number of jobs the geometric mean of the two in the middle.
    """
    result = np.full(len(queries.times), np.nan)
    for level, (known, medians, counts) in enumerate(past.medians):
        at = np.minimum(np.searchsorted(known, queries.keys[level]), len(known) - 1)
        enough = (known[at] == queries.keys[level]) & (counts[at] >= past.cells.fewest[level])
        result = np.where(np.isnan(result) & enough, medians[at], result)
    return np.where(np.isnan(result), past.middle, result)


def recent_quantiles(
    past: Past, queries: Cells, query_units: Ints, levels: Floats, *bandwidths_s: float
) -> list[Recent]:
    """Time-weighted quantiles over the up to 64 jobs of the cell that are nearest in time, for each bandwidth.

    `query_units` (n_queries,) are -1 where they are new. A bandwidth is the distance in time at which a job counts
    1/e; infinite = every job the same.
    """
    from workprof.forecasts.window import window_quantiles  # noqa: PLC0415  numba

    n_queries, known = len(queries.times), past.in_order
    quantiles = np.tile(past.overall(levels), (len(bandwidths_s), n_queries, 1))
    level_of = np.full(n_queries, len(past.cells.fewest), dtype=np.int64)
    count_of = np.full(n_queries, len(past.targets), dtype=np.int64)
    fewest = past.cells.fewest.copy()  # one that was stored cannot be written to, which would be a kernel of its own
    jobs = (known.keys, known.times, known.targets, known.units, fewest)
    keys, times = np.ascontiguousarray(queries.keys), np.ascontiguousarray(queries.times)  # one layout, one kernel
    units, bandwidths = np.ascontiguousarray(query_units), np.array(bandwidths_s, dtype=np.float64)
    window_quantiles(*jobs, keys, times, units, bandwidths, levels, quantiles, level_of, count_of)
    return [Recent(level_of, count_of, one) for one in quantiles]


FEWEST_ROWS = 3
"""A value with fewer training rows counts as not known."""

HISTORY_LEVELS = np.array([0.25, 0.5, 0.75])
HISTORY_COLUMNS = 9
COLUMNS_OF_TIME = 2
"""`encode` begins with them."""
HOUR_S, DAY_HOURS = 3600.0, 24.0


@dataclass(frozen=True)
class Vocabulary:
    """What the design knows of metadata and plan."""

    texts: dict[str, tuple[str, ...]]
    """Metadata field -> its known values, from the one whose jobs needed least to the one whose jobs needed most:
    the place in this order is the field's number. One number per field instead of a column per value makes the
    trees seven times as fast; they can still tell any two values apart."""
    numbers: tuple[str, ...]  # plan fields


def learn_vocabulary(jobs: pd.DataFrame, targets: Floats, fields: tuple[str, ...]) -> Vocabulary:
    """What these (training) rows know, of targets (n_rows,) in log units; a job's own name is left out."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    known = {}
    for name in fields:
        if name in METADATA_FIELDS and name != "job_name":
            places, found = names_in(jobs[name])
            rank, values = pd.factorize(np.array(found, dtype=object), sort=True)
            given = places >= 0
            own = rank[places[given]]
            means = pd.Series(targets[given]).groupby(own).mean()
            enough = means[np.bincount(own, minlength=len(values))[means.index] >= FEWEST_ROWS]
            known[name] = tuple(values[place] for place in enough.sort_values(kind="stable").index)
    return Vocabulary(known, tuple(name for name in fields if name in PLAN_FIELDS))


def encode(jobs: pd.DataFrame, vocabulary: Vocabulary, times: Floats) -> Floats:
    """(n_rows, n_columns) numbers without history; what is not given or not known is NaN."""
    columns: list[Floats] = [times, times / HOUR_S % DAY_HOURS]
    columns += [numbers_of(jobs, name) for name in vocabulary.numbers]
    for name, known in vocabulary.texts.items():
        numbers = {value: float(place) for place, value in enumerate(known)}
        places, names = names_in(jobs[name])
        columns.append(np.array([*(numbers.get(one, np.nan) for one in names), np.nan])[places])
    return held(np.column_stack(columns))


def history(past: Past, queries: Cells, query_units: Ints, found: Sequence[Recent] = ()) -> Floats:
    """(n_rows, 9) columns from recent and from all jobs of a row's cells, its own unit left out.

    Units (n_rows,) are -1 where they are new. `found` are `recent_quantiles` at `HISTORY_LEVELS` and `BANDWIDTHS_S`,
    where they are there already.
    """
    recent, flat = found or recent_quantiles(past, queries, query_units, HISTORY_LEVELS, *BANDWIDTHS_S)
    age_s: Floats = np.maximum(queries.times - past.cells.times.max(initial=0.0), 0.0)  # beyond the end of the past
    log_days = np.log1p(age_s / (HOUR_S * DAY_HOURS))
    return np.column_stack([recent.quantiles, flat.quantiles, recent.level, np.log1p(recent.count), log_days])

"""Names of the array types, columns of a job table as numbers, and its latest rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.fields import Setting

if TYPE_CHECKING:
    import pandas as pd


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.int32]


def numbers_of(jobs: pd.DataFrame, name: str) -> Floats:
    """A column as (n_rows,) numbers; NaN where a value is missing, infinite or no number."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    numbers = pd.to_numeric(jobs[name], errors="coerce")
    values = np.array(numbers.to_numpy(dtype=np.float64, na_value=np.nan))
    values[np.isinf(values)] = np.nan
    return values


def numbers_if_present(jobs: pd.DataFrame, name: str) -> Floats | None:
    """The same, or None where the table has no such column."""
    return numbers_of(jobs, name) if name in jobs.columns else None


def first_given(jobs: pd.DataFrame, names: Sequence[str]) -> Floats:
    """The first of some columns that a row has a number in, as (n_rows,) numbers; NaN where it has none."""
    values = np.full(len(jobs), np.nan)
    for name in names:
        if (own := numbers_if_present(jobs, name)) is not None:
            values = np.where(np.isnan(values), own, values)
    return values


SUBMITTED = ("submit_time_s", "start_time_s")
"""When a run is known of: its submission, else its start."""


def factorized(column: pd.Series) -> tuple[Ints, Any]:
    """(n,) codes in order of appearance, -1 = missing, and the values; a text of few values is read once."""
    coded = column.dtype.name == "category" or column.dtype.kind == "f"
    return column.factorize() if coded else column.astype("object").factorize()


def sorted_codes(column: pd.Series) -> tuple[Ints, tuple[str, ...]]:
    """(n,) codes of texts, -1 = missing, and their values, sorted: whatever the order of the file."""
    codes, values = factorized(column)
    texts = [str(one) for one in values]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    rank = np.full(len(texts) + 1, -1, dtype=np.int64)  # the last is that of what is missing
    rank[order] = np.arange(len(texts))
    return rank[codes], tuple(texts[at] for at in order)


def in_time(moments: Floats, *further: Floats | Ints | Bools) -> Ints:
    """(n,) places in the order of (n,) moments, those of one moment by what follows, whatever the order of the file.

    NaN comes last. Runs that are alike in everything stay as they stand.
    """
    order = np.argsort(moments, kind="stable")
    ordered = moments[order]
    tied = bool((ordered[1:] == ordered[:-1]).any())
    return np.lexsort((*further[::-1], moments)) if tied else order


LatestRuns = Annotated[
    int,
    Setting(
        "Of a longer trace the latest so many runs are used, by their starts; the earlier ones are counted.",
        unit="runs",
        least=1_000,
        most=1_000_000_000,
        label="Latest runs",
    ),
]
MOST_USED = 1_000_000
"""Runs that a replay or a training takes by default: a replay holds some 3 kB each, and more change little."""


EARLIER = "earlier"
"""Attribute of a job table of the latest runs alone: how many others there are."""


def latest_of(jobs: pd.DataFrame, most: int) -> tuple[pd.DataFrame, dict[str, int]]:
    """The rows that started last, in the order of the table, and the number of all others by its reason.

    Rows without a start count by their submission, those without either as the latest.
    """
    earlier = int(jobs.attrs.get(EARLIER, 0))
    if len(jobs) <= most:
        return jobs, _left_out(most, earlier)
    when = np.nan_to_num(first_given(jobs, SUBMITTED[::-1]), nan=np.inf)
    latest = np.sort(np.argsort(when, kind="stable")[-most:])
    return jobs.iloc[latest], _left_out(most, earlier + len(jobs) - most)


def _left_out(most: int, earlier: int) -> dict[str, int]:
    return {f"a start before the latest {most:,} runs": earlier} if earlier else {}

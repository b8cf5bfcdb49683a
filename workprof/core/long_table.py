"""A job table that is too long to be held: every pass over it reads its rows anew, part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from workprof.core.arrays import Ints

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 250_000
"""Rows of a table that are looked at, or added up, at a time where it may have very many."""


@dataclass(frozen=True)
class LongTable:
    """Rows that every pass reads anew, always in the same order."""

    n_rows: int
    columns: tuple[str, ...]
    attrs: dict[str, Any]  # as those of a frame
    read: Callable[[Sequence[str]], Iterator[pd.DataFrame]]  # columns of these names, in parts of about `AT_ONCE` rows

    def __len__(self) -> int:
        return self.n_rows

    def parts(self, names: Sequence[str]) -> Iterator[pd.DataFrame]:
        """The columns of these names as frames, one after the other."""
        for part in self.read(names):
            part.attrs |= self.attrs
            yield part

    def with_column(self, name: str, made: Callable[[pd.DataFrame], pd.DataFrame], needs: str) -> LongTable:
        """The table with a column more, which a function adds to a part that has the column it needs."""

        def read(names: Sequence[str]) -> Iterator[pd.DataFrame]:
            if name not in names:
                yield from self.read(names)
                return
            read_of = tuple(dict.fromkeys((*(one for one in names if one != name), needs)))
            yield from map(made, self.read(read_of))

        return replace(self, columns=(*self.columns, name), read=read)


JobTable: TypeAlias = "pd.DataFrame | LongTable"


def parts_of(jobs: JobTable, names: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
    """The rows in parts; of some columns alone, those of them that there are."""
    there = [str(name) for name in jobs.columns if names is None or name in names]
    if isinstance(jobs, LongTable):
        yield from jobs.parts(there)
        return
    for begin in range(0, len(jobs), AT_ONCE):
        part = jobs.iloc[begin : begin + AT_ONCE]
        yield part if names is None else part[there]


def frame_of(jobs: JobTable) -> pd.DataFrame:
    """All rows in one frame."""
    return rows_at(jobs, np.arange(len(jobs))) if isinstance(jobs, LongTable) else jobs


def rows_at(jobs: JobTable, places: Ints) -> pd.DataFrame:
    """The rows at (n,) places, in that order."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if not isinstance(jobs, LongTable):
        return jobs.iloc[places]
    order, begin = np.argsort(places, kind="stable"), 0
    rising, found = places[order], list[pd.DataFrame]()
    for part in parts_of(jobs):
        low, high = np.searchsorted(rising, (begin, begin + len(part)))
        found += [part.iloc[rising[low:high] - begin]] if high > low or not found else []
        begin += len(part)
    return pd.concat(found, ignore_index=True).iloc[np.argsort(order, kind="stable")]

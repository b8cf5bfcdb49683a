"""What dates and names tell of a run before it runs: weekday, hour, time since the last run, dates, parts of names."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Floats, numbers_if_present
from workprof.core.units import DAY_S, HOUR_S

if TYPE_CHECKING:
    import pandas as pd

THURSDAY = 3
"""1 January 1970; Monday is 0."""

READABLE = 0.9
"""Share of a column's values that must be dates, or must have the same number of parts."""

MOST_PARTS = 6
SEPARATORS = re.compile(r"[_\-./:,; ]+")
DATE = r"^\d{4}-\d{2}-\d{2}"


def date_traits(jobs: pd.DataFrame, names: Iterable[str]) -> dict[str, Floats | pd.Series]:
    """Columns made of the moments of submission (starts where none is known) and of the named columns of texts.

    A run's last run is the latest that was submitted before it, of the same task.
    """
    found: dict[str, Floats | pd.Series] = {}
    submitted = _submitted(jobs)
    if submitted is not None:
        days = np.floor(submitted / DAY_S)
        found["weekday"] = (days + THURSDAY) % 7
        found["hour"] = np.floor((submitted - days * DAY_S) / HOUR_S)
        found["days_since_last_run"] = _since_last(jobs, submitted) / DAY_S
    dates = {}
    for name in names:
        texts = jobs[name].astype("object").where(jobs[name].notna())
        moments = _moments(texts)
        if moments is not None:
            dates[name] = moments
        else:
            found |= _parts(name, texts)
    for one, other in itertools.combinations(dates, 2):
        found[f"days from {one} to {other}"] = (dates[other] - dates[one]) / DAY_S
    if submitted is not None:
        found |= {f"days from {name} to submission": (submitted - moment) / DAY_S for name, moment in dates.items()}
    return {name: values for name, values in found.items() if name not in jobs.columns}


def _submitted(jobs: pd.DataFrame) -> Floats | None:
    """(n,) moments of submission, of starts where none is known; None where no row has either."""
    nothing = np.full(len(jobs), np.nan)
    submit, start = (numbers_if_present(jobs, name) for name in ("submit_time_s", "start_time_s"))
    submit, start = (nothing if one is None else one for one in (submit, start))
    moments = np.where(np.isfinite(submit), submit, start)
    return moments if np.isfinite(moments).any() else None


def _since_last(jobs: pd.DataFrame, submitted: Floats) -> Floats:
    """(n,) seconds since the latest earlier submission of the same task, NaN where there is none."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    task = jobs["task_name"].astype("object") if "task_name" in jobs.columns else pd.Series("", index=jobs.index)
    result = np.full(len(jobs), np.nan)
    for rows in pd.Series(np.arange(len(jobs))).groupby(task.to_numpy(), dropna=False).indices.values():
        distinct = np.unique(submitted[rows][np.isfinite(submitted[rows])])
        place = np.searchsorted(distinct, submitted[rows])
        earlier = np.where((place > 0) & np.isfinite(submitted[rows]), np.append(np.nan, distinct)[place], np.nan)
        result[rows] = submitted[rows] - earlier
    return result


def _moments(texts: pd.Series) -> Floats | None:
    """(n,) seconds of dates such as 2026-01-31 or 2026-01-31T08:00; None where most values are none."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    given = texts.dropna().astype(str)
    if given.empty or given.str.match(DATE).mean() < READABLE:
        return None
    moments = pd.to_datetime(texts.astype(str).where(texts.notna()), format="ISO8601", utc=True, errors="coerce")
    since = (moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    seconds: Floats = np.asarray(since, dtype=np.float64)
    return seconds if np.isfinite(seconds).sum() >= READABLE * len(given) else None


def _parts(name: str, texts: pd.Series) -> dict[str, pd.Series]:
    """The parts of names that most rows have as many of, each a column."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    split = {row: SEPARATORS.split(str(text)) for row, text in texts.dropna().items()}
    counts = Counter(map(len, split.values())).most_common(1)
    if not counts or counts[0][1] < READABLE * len(split) or not 2 <= counts[0][0] <= MOST_PARTS:
        return {}
    alike = {row: parts for row, parts in split.items() if len(parts) == counts[0][0]}
    return {
        f"{name}, part {at + 1}": pd.Series({row: parts[at] for row, parts in alike.items()}).reindex(texts.index)
        for at in range(counts[0][0])
    }

"""Samples of any format as the rows of the store, with what a reader must know about them counted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from workprof.core.errors import NoRows, TraceError
from workprof.formats.declare import Unreadable
from workprof.formats.measured import TELEMETRY, Measured
from workprof.formats.repeated_keys import RepeatedKeys
from workprof.formats.telemetry.times import usual_of
from workprof.store.reports import Check

if TYPE_CHECKING:
    import pandas as pd


def parsed(text: str, origin: str, repeated: RepeatedKeys) -> Any:
    """The document of a text, its repeated keys counted; raises TraceError when it is none, or nested beyond reason."""
    try:
        result = json.loads(text, object_pairs_hook=repeated.hook)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"{origin} is broken JSON ({str(error)[:100]}); save it again") from error
    repeated.end_row()
    return result


KEYS = ("workload", "run", "t", "status")
Labels = str | Iterable[str | None]

HOLE_STEPS = 1.5
"""A step of more than so many usual steps is a hole."""

AGAIN_S = 0.5
"""So much later than the first may a second recording's first sample be."""

LEAST_STEPS, RISING = 10, 0.9
"""A counter that never falls over so many steps, and rises at such a share of them, may be a total."""


@dataclass(frozen=True)
class Samples:
    """What a format's reader found."""

    frame: pd.DataFrame  # columns workload, run, t and status, then counters as float64, in the file's order
    rejected: tuple[Unreadable, ...] = ()  # lines that became no row
    infinite: int = 0  # cells that said infinite
    checks: tuple[Check, ...] = field(default=())  # what is particular to the format
    of_any_kind: bool = False  # nothing says which counters are totals


def labelled(counters: pd.DataFrame, t: object, run: Labels, workload: Labels | None = None) -> pd.DataFrame:
    """Counters with the four keys before them; a key given as one value holds for every row.

    A counter of the name of a key is named NAME_2.
    """
    import pandas as pd  # noqa: PLC0415  heavy

    size = len(counters)
    keys = pd.DataFrame(
        {
            "workload": _texts(workload, size),
            "run": _texts(run, size),
            "t": np.asarray(t, dtype=np.float64),
            "status": _texts(None, size),
        },
        index=counters.index,
    )
    return pd.concat([keys, counters.rename(columns={name: f"{name}_2" for name in KEYS})], axis=1)


def runs_apart(frame: pd.DataFrame) -> tuple[pd.Series, tuple[Check, ...]]:
    """Names of runs in which a second recording under the same name is another run: `1`, `1-2`.

    It is one where every time that falls falls back to the run's start; other orders, as the newest sample first, are a
    matter of sorting.
    """
    keys = [frame["workload"], frame["run"]]
    t, by_run = frame["t"], frame.groupby(keys, sort=False, dropna=False)["t"]
    fell = by_run.diff() < 0
    stray = fell & (t > by_run.transform("first") + AGAIN_S)
    falls, rises = (each.groupby(keys, sort=False, dropna=False).transform("sum") for each in (fell, by_run.diff() > 0))
    again = fell & ~stray.groupby(keys, sort=False, dropna=False).transform("any") & ~(falls > rises)
    number = again.groupby(keys, sort=False, dropna=False).cumsum() + 1
    renamed = frame["run"].where(number == 1, frame["run"] + "-" + number.astype(str))
    count = int(again.sum())
    text = f"{count:,} recordings have the name of an earlier run of the file; each is a run of its own, named NAME-2"
    return renamed, (Check("repeated_runs", "warning", count, text),) if count else ()


def stem_of(origin: str) -> str:
    """The name of a file without its suffixes, for a run that has no name of its own."""
    return origin.partition(".")[0] or origin


def measured(samples: Samples, origin: str) -> Measured:
    """The rows in order of time within each run, with the findings that every format shares.

    Raises NoRows when no line became a row.
    """
    result = samples.frame
    if result.empty:
        raise NoRows(_nothing(samples, origin))
    finite, infinite = _finite(result)
    ordered, late = _in_order(finite)
    filled, gone = _without_empty(ordered)
    if len(filled.columns) == len(KEYS):
        raise NoRows(_no_counter(samples, gone, origin))
    checks = (
        *samples.checks,
        *_run_checks(filled),
        _totals(filled) if samples.of_any_kind else None,
        _check("out_of_order", late, "rows stood after a later row of their run; they are sorted by time"),
        _check("infinite", samples.infinite + infinite, "cells said infinite; they are empty"),
        _check("empty_cells", _empty_cells(filled), "cells have no value", "info"),
        _check("empty_columns", len(gone), f"counters without any value are left out: {_some(gone)}", "info"),
    )
    present = tuple(check for check in checks if check is not None)
    rejected = tuple(sorted(samples.rejected, key=lambda one: one.line))
    return Measured(TELEMETRY, filled, len(filled) + len({one.line for one in rejected}), rejected, present)


def _finite(result: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    counters = [name for name in result.columns if name not in KEYS]
    infinite = np.isinf(result[counters].to_numpy(dtype=np.float64))
    if not infinite.any():
        return result, 0
    plain = result.copy()
    plain[counters] = result[counters].mask(infinite)
    return plain, int(infinite.sum())


def _in_order(result: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The rows sorted by time within each run (runs in the file's order), and how many stood too late."""
    runs = result.groupby(["workload", "run"], dropna=False, sort=False).ngroup().to_numpy()
    t = result["t"].to_numpy(dtype=np.float64)
    order = np.lexsort((t, runs))
    by_file = np.lexsort((np.arange(runs.size), runs))
    same_run = np.diff(runs[by_file]) == 0
    late = int(np.sum((np.diff(t[by_file]) < 0) & same_run))
    return result.iloc[order].reset_index(drop=True), late


def _without_empty(ordered: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    counters = [name for name in ordered.columns if name not in KEYS]
    gone = tuple(name for name in counters if ordered[name].isna().all())
    return ordered.drop(columns=list(gone)), gone


def _run_checks(ordered: pd.DataFrame) -> tuple[Check | None, ...]:
    runs = ordered.groupby(["workload", "run"], dropna=False, sort=False)
    steps = runs["t"].diff().to_numpy(dtype=np.float64)
    usual = usual_of(steps) or np.nan
    own = runs["t"].transform(lambda t: usual_of(np.diff(t.to_numpy(dtype=np.float64))) or np.nan)
    holes = int(np.sum(steps > HOLE_STEPS * own.to_numpy(dtype=np.float64)))
    repeated = int(ordered.duplicated().sum())
    same_time = int(np.sum(steps == 0)) - repeated
    single = int((runs.size() == 1).sum())
    text = f"{runs.ngroups:,} runs, a sample every {usual:.3g} s" if np.isfinite(usual) else f"{runs.ngroups:,} runs"
    return (
        Check("runs", "info", runs.ngroups, text),
        _check("holes", holes, f"steps are longer than {HOLE_STEPS} usual ones: samples are missing"),
        _check("duplicates", repeated, "rows repeat an earlier row"),
        _check("repeated_times", max(same_time, 0), "rows have the time of an earlier row of their run"),
        _check("one_sample_runs", single, "runs have a single sample: no phase can be detected"),
    )


def _totals(ordered: pd.DataFrame) -> Check | None:
    """The doubt about counters that only grow."""
    counters = [name for name in ordered.columns if name not in KEYS and not str(name).endswith("/s")]
    steps = ordered.groupby(["workload", "run"], dropna=False, sort=False)[counters].diff()
    known, rises, falls = steps.notna().sum(), (steps > 0).sum(), (steps < 0).sum()
    grow = (known >= LEAST_STEPS) & (falls == 0) & (rises >= RISING * known)
    names = tuple(str(name) for name in counters if grow[name])
    return _check(
        "totals", len(names), f"counters have values that never fall: {_some(names)}; of totals, give the rates"
    )


def _no_counter(samples: Samples, gone: tuple[str, ...], origin: str) -> str:
    told = [f"{_some(gone)}: no value at all"] if gone else []
    told += [check.message for check in samples.checks]
    reason = f" ({'; '.join(told)[:300]})" if told else ""
    return f"{origin}: no counter has a value in its rows{reason}; record others, or give numbers without units"


def _check(name: str, count: int, what: str, level: str = "warning") -> Check | None:
    return Check(name, level, count, f"{count:,} {what}") if count else None


def _empty_cells(ordered: pd.DataFrame) -> int:
    return int(ordered.drop(columns=list(KEYS)).isna().to_numpy().sum())


def _some(names: tuple[str, ...], shown: int = 8) -> str:
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if len(names) > shown else "")


def _texts(value: Labels | None, size: int) -> object:
    import pandas as pd  # noqa: PLC0415  heavy

    values = [value] * size if value is None or isinstance(value, str) else list(value)
    return pd.Series(values, dtype="str").array


def _nothing(samples: Samples, origin: str) -> str:
    if not samples.rejected:
        return f"{origin}: there is no sample in it; nothing to load"
    first = samples.rejected[0]
    return f"{origin}: no line became a sample; line {first.line}: {first.reason} ({first.text[:80]!r})"

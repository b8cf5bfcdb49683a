"""What a table says of a run before it runs, and what it says only afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools
from workprof.columns import numbers_of
from workprof.errors import ColumnMissing, SettingsError
from workprof.memory.runs import USAGE_COLUMNS
from workprof.memory.tasks.facts import AFTER, ASKED, BEFORE, known_when

if TYPE_CHECKING:
    import pandas as pd

ATTEMPT = "attempt"
"""A second attempt exists because the first was too small: that, and what it asks for, tell the use of memory."""

AMBIGUOUS = ("time", "disk", "cpus", "memory")
"""Requests in a raw Nextflow trace, measurements in other tables: inputs only where they are declared."""

NOT_A_TRAIT = ("task_name", "submit_time_s")
"""The task is one; and where test runs are drawn at random, the time of submission points at a run's neighbours."""

SOMETIMES_KNOWN = ("node",)
"""Chosen after the request as a rule, but a job may be tied to its node."""

NEVER = ("row_id", *USAGE_COLUMNS.values())
"""Keys, and the target in both forms: no input whatever is ticked."""


@dataclass(frozen=True)
class InputFact:
    """One input of the models.

    Attributes:
        column: name in the table.
        known: 'before the run', or 'after the run' = only then.
        numeric: whether it counts as a number.
    """

    column: str
    known: str
    numeric: bool


@dataclass(frozen=True)
class Facts:
    """The inputs of a task's runs.

    Attributes:
        table: (n_runs rows) the columns of `inputs` only.
        inputs: in the order of the columns.
        unused: columns of the table that say something but are not used: not known to be there before the run.
        notes: what was put right.
    """

    table: pd.DataFrame
    inputs: tuple[InputFact, ...]
    unused: tuple[str, ...]
    notes: tuple[str, ...]


def facts_of(jobs: pd.DataFrame, before: tuple[str, ...] = (), after: tuple[str, ...] = ()) -> Facts:
    """Return the inputs of runs.

    Args:
        jobs: the runs of one task, every column that the trace has.
        before: columns that are known before a run beside those that `known_when` knows to be.
        after: columns that are known only after it and shall be used all the same.

    Raises:
        ColumnMissing: when a named column is absent.
        SettingsError: when a named column is the target, a key or a truth of synthetic data, is named twice, or is
            known only after a run and declared as known before.
    """
    _check_named(jobs, before, after)
    known = [name for name in map(str, jobs.columns) if _is_known(name)]
    named = [name for name in dict.fromkeys((*known, *before)) if name not in after]
    columns = [name for name in (*named, *after) if _varies(jobs[name])]
    table = jobs[columns].reset_index(drop=True)
    table, notes = _as_first_asked(table, _lifted(jobs))
    columns = [name for name in columns if _varies(table[name])]
    inputs = tuple(InputFact(c, AFTER if c in after else BEFORE, _is_numeric(table[c])) for c in columns)
    others = (c for c in jobs.columns if c not in {*named, *after, *NEVER} and not c.startswith("truth_"))
    unused = tuple(c for c in others if _varies(jobs[c]))
    return Facts(table[columns], inputs, unused, notes)


def _is_known(name: str) -> bool:
    return known_when(name) == BEFORE and name not in {*AMBIGUOUS, *NOT_A_TRAIT, *NEVER}


def _varies(column: pd.Series) -> bool:
    """Return whether a column has two values, a missing one included."""
    codes = column.factorize()[0]
    return bool((codes != codes[:1]).any())


def _check_named(jobs: pd.DataFrame, before: tuple[str, ...], after: tuple[str, ...]) -> None:
    named = (*before, *after)
    if len(set(named)) < len(named):
        raise SettingsError(f"an input is named twice: {', '.join(named)}")
    forbidden = [name for name in named if name in NEVER or name.startswith("truth_")]
    if forbidden:
        raise SettingsError(f"{', '.join(forbidden)} cannot be an input: it is what is predicted, or a key")
    too_late = [name for name in before if known_when(name) == AFTER and name not in SOMETIMES_KNOWN]
    if too_late:
        raise SettingsError(f"{', '.join(too_late)}: known only after the run; name it among those, or leave it out")
    absent = [name for name in named if name not in jobs.columns]
    if absent:
        raise ColumnMissing(f"the table has no column {', '.join(absent)}; leave it out of the inputs")


def _lifted(jobs: pd.DataFrame) -> Bools:
    """Return (n_runs,) whether a run is a later attempt."""
    if ATTEMPT not in jobs.columns:
        return np.zeros(len(jobs), dtype=np.bool_)
    return np.nan_to_num(numbers_of(jobs, ATTEMPT), nan=1.0) > 1


def _as_first_asked(table: pd.DataFrame, lifted: Bools) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the table with the requests of later attempts as first attempts have them, in the middle."""
    asked = [name for name in table.columns if ASKED.fullmatch(name)]
    if not asked or not lifted.any() or lifted.all():
        return table, ()
    mended = {name: np.where(lifted, _first(table, name, lifted), numbers_of(table, name)) for name in asked}
    note = (
        f"{int(lifted.sum()):,} run(s) are later attempts: their requests, lifted after a failure, tell the outcome; "
        "the models see what first attempts ask for"
    )
    return table.assign(**mended), (note,)


def _first(table: pd.DataFrame, name: str, lifted: Bools) -> float:
    """Return the middle of what first attempts ask for, NaN where they ask for nothing."""
    numbers = numbers_of(table, name)[~lifted]
    return float(np.nanmedian(numbers)) if not np.isnan(numbers).all() else float("nan")


def _is_numeric(column: pd.Series) -> bool:
    """Return whether a column holds numbers: by its type, or because every value given reads as one."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if pd.api.types.is_bool_dtype(column):
        return False
    return pd.api.types.is_numeric_dtype(column) or bool(pd.to_numeric(column.dropna(), errors="coerce").notna().all())

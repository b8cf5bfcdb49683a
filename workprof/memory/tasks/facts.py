"""Which facts about a run go with the memory that it uses: per task and over all tasks.

Numbers: Spearman's rank correlation with an interval. Categories: the share of the variance of the ranks that they
explain (epsilon squared of Kruskal and Wallis). Probabilities are Holm's, over all tests of one analysis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Bools, Floats, Ints
from workprof.columns import numbers_of
from workprof.memory.runs import USAGE_COLUMNS, Runs
from workprof.memory.tasks.rank_tests import RankTest, explained_by_groups, holm, spearman

if TYPE_CHECKING:
    import pandas as pd

BEFORE, AFTER, UNSURE = "before the run", "after the run", "unsure"

_BEFORE = re.compile(
    r"job_name|task_name|user|group|workload|run_name|gpu_type|tag|container|queue|instances|submit_time_s|input_bytes"
    r"|requested_.*|time|disk|cpus|memory|TaskInputSize.*|WorkflowInput.*|NumberSequences"
)
_AFTER = re.compile(
    r".*_usage_percent|(mean|peak)_.*|(read|write)_(bytes|count)|(start|end)_time_s|duration(_s)?|realtime|status|exit"
    r"|%cpu|%mem|rss|vmem|rchar|wchar|syscr|syscw|(vol|inv)_ctxt|node|attempt|complete|start|(in|out)files_time"
)
"""A second attempt exists because the first was too small, and a node is chosen after the request was made."""

ASKED = re.compile(r"requested_.*|time|disk|cpus|memory")
"""Requests: those of later attempts are lifted, which tells the outcome, so such runs are left out of these tests."""

FEWEST_ROWS = 8
MOST_TASKS = 50
MOST_OWN_VALUES = 0.5
"""A text column with more values than this share of its rows names the rows, it does not describe them."""

NUMBER, CATEGORY = "number", "category"


@dataclass(frozen=True)
class MemoryFact:
    """How one column goes with the use of memory.

    Attributes:
        column: of the table.
        task: name, '' = over all tasks.
        kind: 'number' or 'category'.
        n: rows with a value.
        n_values: different values among them.
        correlation: Spearman's, -1 to 1; NaN for categories.
        low, high: 95 % interval of it.
        strength: 0-1: absolute correlation, or for categories the root of the share of variance explained.
        p_value: of no relation at all.
        p_adjusted: for all tests of the analysis.
        known: 'before the run', 'after the run' or 'unsure' (a column of the trace's own).
        after_the_run: whether it is known only then, and so can predict nothing.
    """

    column: str
    task: str
    kind: str
    n: int
    n_values: int
    correlation: float
    low: float
    high: float
    strength: float
    p_value: float
    p_adjusted: float
    known: str
    after_the_run: bool


@dataclass(frozen=True)
class ColumnLeftOut:
    """A column that was not tested, and why."""

    column: str
    reason: str


@dataclass(frozen=True)
class MemoryFacts:
    """The analysis.

    Attributes:
        facts: strongest first within a task; over all tasks first, then the tasks that waste most.
        left_out: columns that no test has.
        n_tasks: tasks looked at one by one.
        n_tasks_skipped: tasks with too few runs, or beyond the first `MOST_TASKS`.
    """

    facts: tuple[MemoryFact, ...]
    left_out: tuple[ColumnLeftOut, ...]
    n_tasks: int
    n_tasks_skipped: int


@dataclass(frozen=True)
class _Column:
    name: str
    kind: str
    numbers: Floats
    known: str
    usable: Bools


def memory_facts(jobs: pd.DataFrame, runs: Runs, order: tuple[str, ...]) -> MemoryFacts:
    """Return how every number and category of a table goes with the use of memory.

    Args:
        jobs: the table that the runs come from, every column that it has.
        runs: of that table.
        order: tasks to look at, the most important first.

    Source:
        The load-aware provisioning thesis, section 5.1.3, which looks at correlations of scenario attributes by eye.
    """
    columns, left_out = _columns(jobs, runs)
    everything = np.arange(len(runs))
    facts = list(_tested("", columns, runs.used_bytes, everything))
    looked_at = 0
    for task in order[:MOST_TASKS]:
        own = np.flatnonzero(runs.task == runs.tasks.index(task))
        if len(own) < FEWEST_ROWS:
            continue
        looked_at += 1
        facts += _tested(task, columns, runs.used_bytes, own)
    adjusted = holm([fact.p_value for fact in facts])
    found = tuple(replace(fact, p_adjusted=p) for fact, p in zip(facts, adjusted, strict=True))
    return MemoryFacts(found, left_out, looked_at, len(order) - looked_at)


def known_when(column: str) -> str:
    """Return whether a column is known before the run, after it, or unsure."""
    if _BEFORE.fullmatch(column):
        return BEFORE
    return AFTER if _AFTER.fullmatch(column) else UNSURE


def is_numeric(given: pd.Series) -> bool:
    """Return whether every value that is there reads as a number."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    return bool(pd.to_numeric(given, errors="coerce").notna().sum() >= given.notna().sum())


def _columns(jobs: pd.DataFrame, runs: Runs) -> tuple[list[_Column], tuple[ColumnLeftOut, ...]]:
    columns, left_out = [], []
    first = np.ones(len(runs), dtype=bool)
    if "attempt" in jobs.columns:
        first = ~(numbers_of(jobs, "attempt")[runs.rows] > 1)
    for name in (str(column) for column in jobs.columns):
        if name in {*USAGE_COLUMNS.values(), "row_id"} or name.startswith("truth_"):
            left_out.append(ColumnLeftOut(name, "it is the memory itself, a key, or a truth of synthetic data"))
            continue
        found = _column(jobs, name, runs.rows)
        if isinstance(found, str):
            left_out.append(ColumnLeftOut(name, found))
        else:
            usable = ~np.isnan(found.numbers) & (first if ASKED.fullmatch(name) else True)
            columns.append(replace(found, usable=usable))
    return columns, tuple(left_out)


def _column(jobs: pd.DataFrame, name: str, rows: Ints) -> _Column | str:
    """Return a column as numbers (categories as codes), or why it is left out."""
    given = jobs[name].iloc[rows]
    if given.notna().sum() < FEWEST_ROWS:
        return f"fewer than {FEWEST_ROWS} rows have a value"
    numeric = is_numeric(given)
    if numeric:
        values = numbers_of(jobs, name)[rows]
    else:
        codes = given.astype("object").map(str, na_action="ignore").factorize(use_na_sentinel=True)[0]
        values = np.where(codes >= 0, codes, np.nan).astype(np.float64)
    n_values, n = len(np.unique(values[~np.isnan(values)])), int((~np.isnan(values)).sum())
    if n_values < 2:
        return "every row has the same value"
    if not numeric and n_values > MOST_OWN_VALUES * n:
        return f"it names the rows: {n_values:,} values in {n:,} rows"
    return _Column(name, NUMBER if numeric else CATEGORY, values, known_when(name), ~np.isnan(values))


def _tested(task: str, columns: list[_Column], used: Floats, own: Ints) -> Iterator[MemoryFact]:
    facts = []
    for column in columns:
        rows = own[column.usable[own]]
        n_values = len(np.unique(column.numbers[rows]))
        names_rows = column.kind == CATEGORY and n_values > MOST_OWN_VALUES * len(rows)
        if len(rows) < FEWEST_ROWS or n_values < 2 or names_rows:
            continue
        test = (spearman if column.kind == NUMBER else explained_by_groups)(column.numbers[rows], used[rows])
        if test is not None:
            facts.append(_fact(task, column, test, n_values))
    yield from sorted(facts, key=lambda fact: -fact.strength)


def _fact(task: str, column: _Column, test: RankTest, n_values: int) -> MemoryFact:
    return MemoryFact(
        column=column.name,
        task=task,
        kind=column.kind,
        n=test.n,
        n_values=n_values,
        correlation=test.correlation,
        low=test.low,
        high=test.high,
        strength=test.strength,
        p_value=test.p_value,
        p_adjusted=test.p_value,
        known=column.known,
        after_the_run=column.known == AFTER,
    )

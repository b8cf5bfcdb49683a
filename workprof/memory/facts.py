"""Which columns go with peak memory: rank tests over all columns, and one column against the use."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_of
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import holm
from workprof.core.units import GB
from workprof.memory.usage import USAGE_COLUMNS, Runs, Target, Task, runs_of

if TYPE_CHECKING:
    import pandas as pd


Z_95 = 1.959963984540054


@dataclass(frozen=True)
class RankTest:
    """What a test says."""

    n: int  # rows
    correlation: float  # -1 to 1; NaN for categories
    low: float  # and `high`: 95 % interval of the correlation; NaN for categories
    high: float
    strength: float  # 0-1
    p_value: float  # 0-1


def spearman(values: Floats, used: Floats) -> RankTest | None:
    """Spearman's rank correlation; None where one side does not vary.

    Source: The interval is that of Bonett and Wright 2000 on Fisher's scale; the probability is that of Student's t.
    """
    from scipy.special import stdtr  # noqa: PLC0415  heavy

    correlation, n = _correlation(_ranks(values), _ranks(used)), len(values)
    if math.isnan(correlation):
        return None
    bound = min(abs(correlation), 1 - 1e-15)
    reach = Z_95 * math.sqrt((1 + bound**2 / 2) / (n - 3))
    centre = math.copysign(math.atanh(bound), correlation)
    t = bound * math.sqrt((n - 2) / (1 - bound**2))
    return RankTest(
        n=n,
        correlation=correlation,
        low=math.tanh(centre - reach),
        high=math.tanh(centre + reach),
        strength=abs(correlation),
        p_value=float(2 * stdtr(n - 2, -t)),
    )


def explained_by_groups(codes: Floats, used: Floats) -> RankTest | None:
    """How much of the ranks the groups explain; None where one side does not vary or every row is a group.

    Strength is the root of epsilon squared, (H - k + 1) / (n - k), floored at 0: so that it compares with a
    correlation, and groups of pure chance have about 0 however many they are.

    Source: Kruskal and Wallis 1952, H with the correction for ties, probability by chi squared; epsilon squared, Kelley
    1935.
    """
    from scipy.special import chdtrc  # noqa: PLC0415  heavy

    ranks, n = _ranks(used), len(used)
    groups = np.unique(codes, return_inverse=True)[1]
    sizes, sums = np.bincount(groups), np.bincount(groups, weights=ranks)
    k, spread = len(sizes), float(((ranks - ranks.mean()) ** 2).sum())
    if k < 2 or k >= n or spread <= 0:
        return None
    between = float((sums**2 / sizes).sum()) - n * float(ranks.mean()) ** 2
    h = (n - 1) * between / spread
    explained = min(1.0, max(0.0, (h - k + 1) / (n - k)))
    nothing = float("nan")
    return RankTest(n, nothing, nothing, nothing, math.sqrt(explained), float(chdtrc(k - 1, max(h, 0.0))))


def _ranks(values: Floats) -> Floats:
    """(n,) ranks from 1, ties in the middle."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    middles: Floats = (ends - (counts - 1) / 2).astype(np.float64)
    return middles[place]


def _correlation(one: Floats, other: Floats) -> float:
    a, b = one - one.mean(), other - other.mean()
    below = math.sqrt(float((a**2).sum()) * float((b**2).sum()))
    return float((a * b).sum()) / below if below > 0 else float("nan")


BEFORE, AFTER, UNSURE = "before the run", "after the run", "unsure"

_BEFORE = re.compile(
    r"job_name|task_name|user|group|workload|run_name|gpu_type|tag|container|queue|instances|submit_time_s|input_bytes"
    r"|requested_.*|time|time_limit_s|disk|cpus|memory|TaskInputSize.*|WorkflowInput.*|NumberSequences"
)
_AFTER = re.compile(
    r".*_usage_percent|(mean|peak)_.*|(read|write)_(bytes|count)|(start|end)_time_s|duration(_s)?|realtime|status|exit"
    r"|%cpu|%mem|rss|vmem|rchar|wchar|syscr|syscw|(vol|inv)_ctxt|node|attempt|complete|start|(in|out)files_time"
)
"""A second attempt exists because the first was too small, and a node is chosen after the request was made."""

REQUEST_COLUMNS = re.compile(r"requested_.*|time|time_limit_s|disk|cpus|memory")
"""Requests: those of later attempts are lifted, which tells the outcome, so such runs are left out of these tests."""

FEWEST_ROWS = 8
MOST_TASKS = 50
MOST_TESTED = 200_000
"""Of a table with more rows so many are drawn for the tests: a correlation is sure to .005."""

MOST_OWN_VALUES = 0.5
"""A text column with more values than this share of its rows names the rows, it does not describe them."""

NUMBER, CATEGORY = "number", "category"


@dataclass(frozen=True)
class MemoryFact:
    """How one column goes with the use of memory."""

    column: str  # of the table
    task: str  # name, '' = over all tasks
    kind: str  # 'number' or 'category'
    n: int  # rows with a value
    n_values: int  # different values among them
    correlation: float  # Spearman's, -1 to 1; NaN for categories
    low: float  # and `high`: 95 % interval of it
    high: float
    strength: float  # 0-1: absolute correlation, or for categories the root of the share of variance explained
    p_value: float  # of no relation at all
    p_adjusted: float  # for all tests of the analysis
    known: str  # 'before the run', 'after the run' or 'unsure' (a column of the trace's own)
    after_the_run: bool  # whether it is known only then, and so can predict nothing


@dataclass(frozen=True)
class ColumnLeftOut:
    """A column that was not tested, and why."""

    column: str
    reason: str


@dataclass(frozen=True)
class MemoryFacts:
    """The analysis."""

    facts: tuple[MemoryFact, ...]  # strongest first within a task; over all tasks first, then the tasks that waste most
    left_out: tuple[ColumnLeftOut, ...]  # columns that no test has
    n_tasks: int  # tasks looked at one by one
    n_tasks_skipped: int  # tasks with too few runs, or beyond the first `MOST_TASKS`
    n_drawn: int = 0  # runs that were drawn for the tests from a large table; 0 = all are tested


@dataclass(frozen=True)
class _Column:
    name: str
    kind: str
    numbers: Floats
    known: str
    usable: Bools


def memory_facts(jobs: pd.DataFrame, runs: Runs, order: tuple[str, ...]) -> MemoryFacts:
    """How every number and category of a table goes with the use of memory; `order` has the main tasks first.

    Source: The load-aware provisioning thesis, section 5.1.3, which looks at correlations of scenario attributes by
    eye.
    """
    columns, left_out = _columns(jobs, runs)
    everything = np.arange(len(runs))
    facts = list(_tested("", columns, runs.used_bytes, everything))
    looked_at = 0
    for task in order[:MOST_TASKS]:
        own = np.flatnonzero(runs.task == runs.tasks.index(task)) if task in runs.tasks else everything[:0]
        if len(own) < FEWEST_ROWS:
            continue
        looked_at += 1
        facts += _tested(task, columns, runs.used_bytes, own)
    adjusted = holm([fact.p_value for fact in facts])
    result = tuple(replace(fact, p_adjusted=p) for fact, p in zip(facts, adjusted, strict=True))
    return MemoryFacts(result, left_out, looked_at, len(order) - looked_at)


def known_when(column: str) -> str:
    """Whether a column is known before the run, after it, or unsure."""
    if _BEFORE.fullmatch(column):
        return BEFORE
    return AFTER if _AFTER.fullmatch(column) else UNSURE


def is_numeric(given: pd.Series) -> bool:
    """Whether every value that is there reads as a number."""
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
        result = _column(jobs, name, runs.rows)
        if isinstance(result, str):
            left_out.append(ColumnLeftOut(name, result))
        else:
            usable = ~np.isnan(result.numbers) & (first if REQUEST_COLUMNS.fullmatch(name) else True)
            columns.append(replace(result, usable=usable))
    return columns, tuple(left_out)


def _column(jobs: pd.DataFrame, name: str, rows: Ints) -> _Column | str:
    """A column as numbers (categories as codes), or why it is left out."""
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


WHISKER_REACH = 1.5
"""Whiskers end at the last run within this many inter-quartile ranges of the box (Tukey)."""

MOST_EXTREMES = 100


@dataclass(frozen=True)
class Box:
    """A box plot of one task, in GB (1e9 bytes)."""

    task: str
    n: int  # runs
    q1_gb: float  # and `median_gb`, `q3_gb`: of the use
    median_gb: float
    q3_gb: float
    low_gb: float  # and `high_gb`: ends of the whiskers
    high_gb: float
    extremes_gb: Floats  # runs beyond the whiskers, at most `MOST_EXTREMES`, the smallest and the largest among them
    n_extremes: int  # how many there are


def box_of(task: str, used_gb: Floats) -> Box:
    """The box plot of (n,) uses, n > 0."""
    values = np.sort(used_gb)
    q1, median, q3 = (float(value) for value in np.quantile(values, [0.25, 0.5, 0.75]))
    reach = WHISKER_REACH * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    low, high = float(inside[0]), float(inside[-1])
    extremes = values[(values < low) | (values > high)]
    drawn = extremes
    if len(extremes) > MOST_EXTREMES:
        drawn = extremes[np.linspace(0, len(extremes) - 1, MOST_EXTREMES).round().astype(np.int64)]
    return Box(task, len(values), q1, median, q3, low, high, drawn, len(extremes))


MOST_POINTS = 2_000
MOST_BOXES = 12
OTHER = "other"


@settings
class FactPointsSettings:
    """Which column is set against the use of memory."""

    column: Annotated[str, Setting("A number or a category of the table.", columns="any", key="memory_fact")]
    task: Task = ""
    target: Target = "peak_rss"
    seed: Annotated[
        int, Setting("Of the draw, where there are too many points.", least=0, key="memory_fact_seed", label="Seed")
    ] = 0


@dataclass(frozen=True, repr=False)
class FactPoints(Shown):
    """One fact against the use."""

    settings: FactPointsSettings
    kind: str  # 'number' or 'category'
    known: str  # 'before the run', 'after the run' or 'unsure'
    values: Floats  # (n_points,) of a number; empty for a category
    used_gb: Floats  # (n_points,) use of the same runs; the largest and the smallest use are always there
    boxes: tuple[Box, ...]  # of the most frequent categories, the last one 'other'; empty for a number
    n: int  # runs with a value
    n_missing: int  # runs without
    seconds: float


def fact_points_of(
    frames: Mapping[str, pd.DataFrame], settings: FactPointsSettings, progress: Progress = silent
) -> FactPoints:
    """The points or boxes of one column.

    Raises:
        ColumnMissing: when the column is absent.
        SettingsError: when the task is.
        NotEnoughData: when no run has a value.
    """
    started = time.perf_counter()
    progress(None, "Reading the values")
    jobs = frames["jobs"]
    if settings.column not in jobs.columns:
        raise ColumnMissing(f"the table has no column {settings.column}; choose another fact")
    runs = runs_of(jobs, settings.target)
    runs = runs.of(settings.task) if settings.task else runs
    given = jobs[settings.column].iloc[runs.rows]
    numeric = is_numeric(given)
    there = ~np.isnan(numbers_of(jobs, settings.column)[runs.rows]) if numeric else given.notna().to_numpy(dtype=bool)
    if not there.any():
        raise NotEnoughData(f"none of {len(runs):,} runs has a value of {settings.column}; choose another fact")
    rows, used = runs.rows[there], runs.used_bytes[there] / GB
    shown = _drawn(used, settings.seed) if numeric else np.empty(0, dtype=np.int64)
    return FactPoints(
        settings=settings,
        kind=NUMBER if numeric else CATEGORY,
        known=known_when(settings.column),
        values=numbers_of(jobs, settings.column)[rows[shown]] if numeric else np.empty(0),
        used_gb=used[shown],
        boxes=() if numeric else _boxes(given[there].astype("object").map(str).to_numpy(dtype=object), used),
        n=len(rows),
        n_missing=len(runs) - len(rows),
        seconds=time.perf_counter() - started,
    )


def _drawn(used: Floats, seed: int) -> Ints:
    """The places of at most `MOST_POINTS` runs, the two extremes among them, in order of the table."""
    if len(used) <= MOST_POINTS:
        return np.arange(len(used))
    drawn = np.random.default_rng(seed).choice(len(used), MOST_POINTS - 2, replace=False)
    return np.unique(np.append(drawn, [used.argmin(), used.argmax()])).astype(np.int64)


def _boxes(names: np.ndarray[tuple[int], np.dtype[np.object_]], used: Floats) -> tuple[Box, ...]:
    kinds, place, counts = np.unique(names, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    boxes = [box_of(str(kinds[code]), used[place == code]) for code in order[:MOST_BOXES]]
    rest = np.isin(place, order[MOST_BOXES:])
    return (*boxes, box_of(OTHER, used[rest])) if rest.any() else tuple(boxes)

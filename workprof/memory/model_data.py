"""What models of a run's bin are trained on: columns known in time, encoded, split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, numbers_of
from workprof.core.causes import KILLS, LOWER_BOUND
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.words import counted
from workprof.memory.bin_models import FAITHFUL, LearningRows, PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import SizedRuns, bin_runs, edge_choices, effect_of_edges, needed_bytes, own_bins, saved_share
from workprof.memory.date_traits import date_traits
from workprof.memory.facts import AFTER, BEFORE, REQUEST_COLUMNS, known_when
from workprof.memory.usage import USAGE_COLUMNS, Runs, runs_of, with_killed

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

NEVER = ("row_id", *USAGE_COLUMNS.values(), LOWER_BOUND, KILLS)
"""Keys, and the target in both forms: no input whatever is ticked."""


@dataclass(frozen=True)
class InputFact:
    """One input of the models."""

    column: str  # name in the table
    known: str  # 'before the run', or 'after the run' = only then
    numeric: bool  # whether it counts as a number


@dataclass(frozen=True)
class Facts:
    """The inputs of a task's runs."""

    table: pd.DataFrame  # (n_runs rows) the columns of `inputs` only
    inputs: tuple[InputFact, ...]  # in the order of the columns
    # columns of the table that say something but are not used: not known to be there before the run
    unused: tuple[str, ...]
    notes: tuple[str, ...]  # what was put right


def facts_of(
    jobs: pd.DataFrame, before: tuple[str, ...] = (), after: tuple[str, ...] = (), *, dates: bool = False
) -> Facts:
    """The inputs of the runs of one task, of every column that the trace has; with `dates` what `date_traits` makes.

    Known before a run are the columns `before`, beside those that `known_when` knows to be; those of `after` are known
    only after it and shall be used all the same.

    Raises:
        ColumnMissing: when a named column is absent.
        SettingsError: when a named column is the target, a key or a truth of synthetic data, is named twice, or is
            known only after a run and declared as known before.
    """
    _check_named(jobs, before, after)
    known = [name for name in map(str, jobs.columns) if _is_known(name)]
    named = [name for name in dict.fromkeys((*known, *before)) if name not in after]
    made = date_traits(jobs, [name for name in named if not _is_numeric(jobs[name])]) if dates else {}
    jobs = jobs.assign(**made)
    columns = [name for name in (*named, *made, *after) if _varies(jobs[name])]
    table = jobs[columns].reset_index(drop=True)
    table, notes = _as_first_requested(table, _lifted(jobs))
    columns = [name for name in columns if _varies(table[name])]
    inputs = tuple(InputFact(c, AFTER if c in after else BEFORE, _is_numeric(table[c])) for c in columns)
    others = (c for c in jobs.columns if c not in {*named, *made, *after, *NEVER} and not c.startswith("truth_"))
    unused = tuple(c for c in others if _varies(jobs[c]))
    return Facts(table[columns], inputs, unused, notes)


def _is_known(name: str) -> bool:
    return known_when(name) == BEFORE and name not in {*AMBIGUOUS, *NOT_A_TRAIT, *NEVER}


def _varies(column: pd.Series) -> bool:
    """Whether a column has two values, a missing one included."""
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
    """(n_runs,) whether a run is a later attempt."""
    if ATTEMPT not in jobs.columns:
        return np.zeros(len(jobs), dtype=np.bool_)
    return np.nan_to_num(numbers_of(jobs, ATTEMPT), nan=1.0) > 1


def _as_first_requested(table: pd.DataFrame, lifted: Bools) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table with the requests of later attempts as first attempts have them, in the middle."""
    names = [name for name in table.columns if REQUEST_COLUMNS.fullmatch(name)]
    if not names or not lifted.any() or lifted.all():
        return table, ()
    mended = {name: np.where(lifted, _first(table, name, lifted), numbers_of(table, name)) for name in names}
    note = (
        f"{int(lifted.sum()):,} run(s) are later attempts: their requests, lifted after a failure, tell the outcome; "
        "the models see what first attempts request"
    )
    return table.assign(**mended), (note,)


def _first(table: pd.DataFrame, name: str, lifted: Bools) -> float:
    """The middle of what first attempts ask for, NaN where they ask for nothing."""
    numbers = numbers_of(table, name)[~lifted]
    return float(np.nanmedian(numbers)) if not np.isnan(numbers).all() else float("nan")


def _is_numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers: by its type, or because every value given reads as one."""
    import pandas as pd  # noqa: PLC0415  `import workprof` stays light

    if pd.api.types.is_bool_dtype(column):
        return False
    return pd.api.types.is_numeric_dtype(column) or bool(pd.to_numeric(column.dropna(), errors="coerce").notna().all())


FEWEST_RARE_RUNS = 3
RARE_SHARE = 0.01
"""Of the training runs: what a value needs to stand for itself; all rarer ones, and unseen ones, are one value."""

MOST_VALUES = 50
"""Of one column that stand for themselves, the most frequent first."""


@dataclass(frozen=True)
class ValueCode:
    """A column of texts: its kept values, each a column, then 'rare or unseen' and 'not given'."""

    column: str
    texts: tuple[str, ...]

    def encode(self, table: pd.DataFrame) -> Floats:
        """(n_runs, n_texts + 2) zeros and ones."""
        place = {text: i for i, text in enumerate(self.texts)}
        rare, missing = len(self.texts), len(self.texts) + 1
        codes = [missing if text is None else place.get(text, rare) for text in _texts(table[self.column])]
        return np.eye(missing + 1)[np.array(codes, dtype=np.int64)]


@dataclass(frozen=True)
class NumberCode:
    """A column of numbers: its logarithm where that is less skewed, centred and scaled, and whether it was given."""

    column: str
    logarithm: bool
    centre: float
    scale: float
    middle: float

    def encode(self, table: pd.DataFrame) -> Floats:
        """(n_runs, 2): the number, the middle one where it is missing, and 1 where it was."""
        values = _rescaled(numbers_of(table, self.column), self.logarithm)
        missing = np.isnan(values)
        filled = np.where(missing, self.middle, values)
        return np.column_stack([(filled - self.centre) / self.scale, missing.astype(np.float64)])


@dataclass(frozen=True)
class RunEncoder:
    """A recipe fitted on training runs only; columns that are constant there are left out."""

    codes: tuple[ValueCode | NumberCode, ...]
    varying: tuple[tuple[int, ...], ...]

    def encode(self, table: pd.DataFrame) -> Floats:
        """(n_runs, n_columns); no value is missing."""
        parts = [code.encode(table)[:, list(columns)] for code, columns in zip(self.codes, self.varying, strict=True)]
        return np.column_stack(parts) if parts else np.zeros((len(table), 0))

    @property
    def columns_of(self) -> tuple[str, ...]:
        """(n_columns,) the input that each column comes from."""
        return tuple(code.column for code, columns in zip(self.codes, self.varying, strict=True) for _ in columns)


def fit_encoder(table: pd.DataFrame, inputs: tuple[InputFact, ...]) -> RunEncoder:
    """The recipe of training runs."""
    codes = tuple(
        _number_code(table, fact.column) if fact.numeric else _value_code(table, fact.column) for fact in inputs
    )
    encoded = [code.encode(table) for code in codes]
    varying = tuple(tuple(int(i) for i in np.flatnonzero(np.ptp(part, axis=0) > 0)) for part in encoded)
    return RunEncoder(codes, varying)


def _value_code(table: pd.DataFrame, column: str) -> ValueCode:
    texts = [text for text in _texts(table[column]) if text is not None]
    values, counts = np.unique(np.array(texts, dtype=np.str_), return_counts=True)
    fewest = max(FEWEST_RARE_RUNS, round(RARE_SHARE * len(table)))
    ranked = [int(i) for i in np.argsort(-counts, kind="stable") if counts[i] >= fewest]
    return ValueCode(column, tuple(str(values[i]) for i in ranked[:MOST_VALUES]))


def _number_code(table: pd.DataFrame, column: str) -> NumberCode:
    raw = numbers_of(table, column)
    given = raw[~np.isnan(raw)]
    if not len(given):
        return NumberCode(column, logarithm=False, centre=0.0, scale=1.0, middle=0.0)
    logarithm = bool(given.min() >= 0) and abs(_skewness(np.log1p(given))) < abs(_skewness(given))
    values = _rescaled(given, logarithm)
    centre, spread = float(values.mean()), float(values.std())
    return NumberCode(column, logarithm, centre, spread or 1.0, float(np.median(values)))


def _rescaled(values: Floats, logarithm: bool) -> Floats:
    """The values or their logarithm; a negative one, which training did not have, counts as 0 there."""
    return np.log1p(np.maximum(values, 0.0)) if logarithm else values


def _skewness(values: Floats) -> float:
    """The third standardised moment, 0 for equal values."""
    centred = values / np.abs(values).max() if np.abs(values).max() > 0 else values  # bytes cubed would lose digits
    centred = centred - centred.mean()
    spread = float(np.sqrt((centred**2).mean()))
    return float((centred**3).mean()) / spread**3 if spread > 0 else 0.0


def _texts(column: pd.Series) -> list[str | None]:
    given = column.notna().tolist()
    return [str(value) if known else None for value, known in zip(column.tolist(), given, strict=True)]


BLOCK = 10
"""Runs that follow each other by use and are dealt out together."""


@dataclass(frozen=True)
class TwoParts:
    """Positions of rows, rising: those that stay and those that are held out."""

    remaining: Ints
    held_out: Ints


def split_by_bin(bins: Ints, share: float, seed: int) -> TwoParts:
    """Rows split so that every bin gives its share; a bin of one row keeps it, and none gives all its rows."""
    random = np.random.default_rng(seed)
    held = np.zeros(len(bins), dtype=np.bool_)
    for b in np.unique(bins):
        rows = random.permutation(np.flatnonzero(bins == b))
        held[rows[: min(round(share * len(rows)), len(rows) - 1)]] = True
    return TwoParts(np.flatnonzero(~held), np.flatnonzero(held))


def split_by_use(used_bytes: Floats, share: float, seed: int) -> TwoParts:
    """Rows split so that small and large uses give the same share, before any bin is known.

    Rows are put in order of use and dealt out in blocks of ten, the last one smaller.
    """
    random = np.random.default_rng(seed)
    order = np.lexsort((random.permutation(len(used_bytes)), used_bytes))
    held = np.zeros(len(used_bytes), dtype=np.bool_)
    due = 0.0
    for first in range(0, len(order), BLOCK):
        block = order[first : first + BLOCK]
        due += share * len(block)
        count = min(round(due), len(block))
        held[random.permutation(block)[:count]] = True
        due -= count
    return TwoParts(np.flatnonzero(~held), np.flatnonzero(held))


def folds_by_bin(bins: Ints, n_folds: int, seed: int) -> Ints:
    """(n_rows,) numbers of folds; every bin is dealt out evenly over them."""
    random = np.random.default_rng(seed)
    order = np.lexsort((random.permutation(len(bins)), bins))
    folds = np.empty(len(bins), dtype=np.int64)
    folds[order] = np.arange(len(bins)) % n_folds
    return folds


FEWEST_TO_TRAIN = 10
"""Three parts of fewer runs hold next to nothing."""

MOST_RUNS = 5_000
"""A support vector machine takes time with the square of its runs; of a larger task so many are drawn."""


DRAWN_OF = "drawn_of"
"""In the attributes of a table: the finished runs of the trace of which these were drawn."""


@dataclass(frozen=True)
class TaskRuns:
    """The runs of the task."""

    runs: Runs  # those that are used
    jobs: pd.DataFrame  # (n_runs rows) their rows of the table
    static_bytes: float  # the largest request, or the largest use where that is more: what one static size would be
    bins: BinSettings  # settings of the search, with a request for runs without one where none has any
    notes: tuple[str, ...]  # what was done otherwise than asked


@dataclass(frozen=True)
class PredictorData:
    """What models of a task are trained and tested on."""

    task: TaskRuns  # its runs
    edges_bytes: Floats  # (n_bins,) rising
    # (n_runs,) true bin of every run: of those that models learn from the smallest that holds its use with its
    # headroom, of a test run the smallest that holds its use, as it fails below that one; the last one where none does
    bins: Ints
    learning: Ints  # positions of the runs that models learn from
    inner: TwoParts  # the same split once more, in positions of `learning`: training and validation
    test: Ints  # positions of the test runs
    facts: Facts  # the inputs
    encoder: RunEncoder  # fitted on the training part
    learning_rows: LearningRows  # encoded
    test_inputs: Floats  # (n_test, n_columns)
    optimal_improvement: float  # time-based saving if every run came into its own bin
    notes: tuple[str, ...]  # what a reader must know


def predictor_data(jobs: pd.DataFrame, settings: PredictorSettings) -> PredictorData:
    """The runs of a task in parts, their bins and inputs.

    In corrected mode the edges come from the learning part alone, so that the test runs are new to them, too.

    Raises:
        SettingsError: for a task or an input that cannot be.
        ColumnMissing: when a needed column is absent.
        NotEnoughData: with fewer than 10 runs.
    """
    task = _task_runs(jobs, settings)
    edges, learning, test = _edges_and_parts(task, settings)
    true = _bins_with_headroom(task, edges)
    true[test] = np.minimum(own_bins(edges, task.runs.used_bytes[test]), len(edges) - 1)
    facts = facts_of(task.jobs, settings.before_the_run, settings.after_the_run, dates=settings.dates)
    inner = split_by_bin(true[learning], settings.validation_share, settings.seed + 1)
    encoder = fit_encoder(facts.table.iloc[learning[inner.remaining]], facts.inputs)
    learned = LearningRows(encoder.encode(facts.table.iloc[learning]), true[learning])
    rows = np.arange(len(true)) if settings.mode == FAITHFUL else test
    return PredictorData(
        task=task,
        edges_bytes=edges,
        bins=true,
        learning=learning,
        inner=inner,
        test=test,
        facts=facts,
        encoder=encoder,
        learning_rows=learned,
        test_inputs=encoder.encode(facts.table.iloc[test]),
        optimal_improvement=_optimal(task, edges, true, rows),
        notes=(*task.notes, *facts.notes, *_part_notes(task, edges, true, test)),
    )


def run_hours(runs: Runs) -> Floats:
    """(n_runs,) hours, or 1 for every run where the clock has 0 for all of them."""
    return runs.hours if runs.hours.sum() > 0 else np.ones(len(runs))


def _task_runs(jobs: pd.DataFrame, settings: PredictorSettings) -> TaskRuns:
    bins, notes = settings.bins, []
    if DRAWN_OF in jobs.attrs:
        of_task = f" of {bins.task}" if bins.task else ""
        notes.append(f"{len(jobs):,} runs{of_task} were drawn at random; the trace has {jobs.attrs[DRAWN_OF]:,}")
    jobs = with_killed(jobs, bins.target)
    runs = runs_of(jobs, bins.target)
    runs = runs.of(bins.task) if bins.task else runs
    if np.isnan(runs.requested_bytes).all() and not bins.request_bytes:
        bins = replace(bins, request_bytes=float(runs.used_bytes.max()))
        notes.append("no run has a request: savings compare with the largest use, given to every run")
    elif not bins.request_bytes and np.isnan(runs.requested_bytes).any():
        known = ~np.isnan(runs.requested_bytes)
        notes.append(f"{int((~known).sum()):,} run(s) without a request are excluded")
        runs = runs.take(known)
    if len(runs) < FEWEST_TO_TRAIN:
        n_runs = counted(len(runs), "usable run")
        raise NotEnoughData(f"{bins.task or 'the table'} has {n_runs}; training needs {FEWEST_TO_TRAIN}")
    if len(runs) > MOST_RUNS:
        notes.append(f"{MOST_RUNS:,} of {len(runs):,} runs were drawn; more would not fit a support vector machine")
        chosen = np.random.default_rng(settings.seed).choice(len(runs), MOST_RUNS, replace=False)
        runs = runs.take(np.sort(chosen).astype(np.int64))
    if not runs.hours.sum() > 0:
        notes.append("every run time is 0, so every run counts as one hour")
    requested = np.nan_to_num(runs.requested_bytes, nan=bins.request_bytes)
    static = float(max(requested.max(), runs.used_bytes.max()))
    return TaskRuns(runs, jobs.iloc[runs.rows], static, bins, tuple(notes))


def _edges_and_parts(task: TaskRuns, settings: PredictorSettings) -> tuple[Floats, Ints, Ints]:
    """The edges, and positions of the learning and the test runs."""
    used, share, seed = task.runs.used_bytes, settings.test_share, settings.seed
    if task.bins.edges_bytes or settings.mode == FAITHFUL:
        edges = _given(task) if task.bins.edges_bytes else _searched(task, np.arange(len(used)))
        parts = split_by_bin(_bins_with_headroom(task, edges), share, seed)
        return edges, parts.remaining, parts.held_out
    parts = split_by_use(used, share, seed)
    return _searched(task, parts.remaining), parts.remaining, parts.held_out


def _searched(task: TaskRuns, rows: Ints) -> Floats:
    return edge_choices(bin_runs(task.jobs.iloc[rows], task.bins), task.bins)[-1].edges_bytes


def _given(task: TaskRuns) -> Floats:
    runs = task.runs
    sized = SizedRuns(runs.used_bytes, np.full(len(runs), task.static_bytes), runs.hours)
    return np.array(effect_of_edges(sized, task.bins.edges_bytes).edges_bytes)


def _bins_with_headroom(task: TaskRuns, edges: Floats) -> Ints:
    needed = needed_bytes(task.runs.used_bytes, task.bins)
    return np.minimum(own_bins(edges, needed), len(edges) - 1)


def _optimal(task: TaskRuns, edges: Floats, true: Ints, rows: Ints) -> float:
    """What the runs of some rows save in their own bins; those above the top edge keep the static size."""
    used, hours = task.runs.used_bytes[rows], run_hours(task.runs)[rows]
    held = np.where(used > edges[-1], task.static_bytes, edges[true[rows]])
    return saved_share(held, np.full(len(rows), task.static_bytes), hours)


def _part_notes(task: TaskRuns, edges: Floats, true: Ints, test: Ints) -> tuple[str, ...]:
    notes, k = [], task.bins.k
    if len(edges) < k and not task.bins.edges_bytes:
        notes.append(f"{len(edges)} bin(s) instead of {k}: the runs need no more sizes")
    counts, tested = np.bincount(true, minlength=len(edges)), np.bincount(true[test], minlength=len(edges))
    for b, (n, t) in enumerate(zip(counts.tolist(), tested.tolist(), strict=True)):
        if not n:
            notes.append(f"no run belongs into bin {b + 1}")
        elif not t:
            notes.append(f"bin {b + 1} has {n} run(s), too few for one of them to be tested")
    above = int((task.runs.used_bytes[test] > edges[-1]).sum())
    if above:
        notes.append(f"{above} test run(s) use more than the top edge: they fail in the last bin, too")
    return tuple(notes)

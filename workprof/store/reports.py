"""What an ingest and the catalogue tell: plain frozen records, shown by the Data page and printed by the command."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import SettingsError
from workprof.core.shares import Machine, Share, share_of

JOINS = ("corrected", "faithful")
AGGREGATIONS = ("instance", "task", "job")


@dataclass(frozen=True)
class FieldSource:
    """Where a field comes from: a column of the file and its unit ('' = as it is)."""

    column: str
    unit: str = ""


@dataclass(frozen=True)
class IngestOptions:
    """How a trace is to be read.

    Attributes:
        format: a name of `workprof.formats`, or 'auto'.
        name: of the dataset; '' = from the file name.
        mapping: field -> source, for the generic format; empty = what names and values tell for sure.
        join: of the raw tables: 'corrected' (worker_name) or 'faithful' (inst_id, as published).
        aggregation: of the raw tables in the corrected join: one row per 'instance', 'task' or 'job'.
        delimiter, encoding, decimal: of a text file; '' = the format's own.
        duplicates: 'keep' (counted) or 'drop' (counted).
        sheet: of a workbook; '' = the first that holds a table.
        accept_loss: load a delimited text of which lines are in no row and no reject (counted), else refuse it.
        machine_memory_bytes, machine_cores: size of the largest machine, of formats whose numbers are shares of it;
            0 = not known.
    """

    format: str = "auto"
    name: str = ""
    mapping: dict[str, FieldSource] = field(default_factory=dict)
    join: str = "corrected"
    aggregation: str = "instance"
    delimiter: str = ""
    encoding: str = ""
    decimal: str = ""
    duplicates: str = "keep"
    accept_loss: bool = False
    sheet: str = ""
    machine_memory_bytes: float = 0.0
    machine_cores: float = 0.0

    def __post_init__(self) -> None:
        if self.join not in JOINS:
            raise SettingsError(f"join is {self.join!r}; use corrected or faithful")
        if self.aggregation not in AGGREGATIONS:
            raise SettingsError(f"grain is {self.aggregation!r}; use one of {', '.join(AGGREGATIONS)}")
        if self.duplicates not in ("keep", "drop"):
            raise SettingsError(f"duplicates is {self.duplicates!r}; use keep or drop")
        for what, value in (("memory", self.machine_memory_bytes), ("cores", self.machine_cores)):
            if not (value >= 0 and math.isfinite(value)):
                raise SettingsError(f"machine {what} is {value}; give the size of the largest machine, above 0")

    @property
    def machine(self) -> Machine:
        """The largest machine of the trace, as far as it is known."""
        return Machine(self.machine_memory_bytes, self.machine_cores)


@dataclass(frozen=True)
class JoinStep:
    """Rows before and after one join; fan_out = rows_out / rows_in."""

    step: str
    rows_in: int
    rows_out: int
    fan_out: float


@dataclass(frozen=True)
class Check:
    """A finding about the rows: level is 'info', 'warning' or 'error'."""

    name: str
    level: str
    count: int
    message: str


@dataclass(frozen=True)
class IngestReport:
    """What an ingest did.

    Attributes:
        already_loaded: the same content was there; nothing was read again.
        lost: lines of a text that are in no row and not rejected; 0 unless the options accept them.
        running: rows that still run at the end of the trace.
        never_started: rows that wait, or were given up before they ran.
        machine_shares: numbers that the trace gives as shares of its largest machine, and what a whole one counts as.
        mapping: of a generic file, as --map takes it: field -> {"from": column, "unit": unit}.
        jobs, users: distinct names; None = there is no such column, or it was loaded before they were counted.
    """

    dataset: str
    hash: str
    kind: str
    format: str
    rows_read: int
    rows: int
    rejected: int
    rejects_file: str | None
    joins: tuple[JoinStep, ...]
    checks: tuple[Check, ...]
    seconds: float
    already_loaded: bool = False
    lost: int = 0
    running: int = 0
    never_started: int = 0
    machine_shares: tuple[Share, ...] = ()
    mapping: dict[str, dict[str, str]] = field(default_factory=dict)
    jobs: int | None = None
    users: int | None = None


@dataclass(frozen=True)
class Upstream:
    """What an engine did with a trace before its rows came here.

    Attributes:
        origin: where the trace lies, for people; without a password.
        rows_read: rows of the trace there.
        dropped: of them, those that are in no run.
        joins: what was joined, folded and drawn there.
        checks: findings about the whole trace.
    """

    origin: str
    rows_read: int
    dropped: int
    joins: tuple[JoinStep, ...] = ()
    checks: tuple[Check, ...] = ()


def lines_lost(lost: int) -> str:
    """Return how many lines are lost, in words."""
    return f"{lost:,} {'line' if lost == 1 else 'lines'} lost"


@dataclass(frozen=True)
class Counts:
    """What a job table holds, counted exactly: in one place, and said in the same words everywhere.

    Attributes:
        runs: rows.
        finished, running, never_started: of them; the others ended without finishing.
        jobs, users: distinct names; None = there is no such column.
    """

    runs: int
    finished: int
    running: int
    never_started: int
    jobs: int | None
    users: int | None

    @property
    def held(self) -> str:
        """'1,234 runs of 56 jobs by 7 users', as far as known."""
        named = [
            f"{word} {count:,} {noun}{'s' * (count != 1)}"
            for word, count, noun in (("of", self.jobs, "job"), ("by", self.users, "user"))
            if count
        ]
        return " ".join([f"{self.runs:,} run{'s' * (self.runs != 1)}", *named])

    @property
    def unended(self) -> str:
        """'3 still running at the end of the trace, 1 never started'; '' where there is none of either."""
        counted = ((self.running, "still running at the end of the trace"), (self.never_started, "never started"))
        return ", ".join(f"{count:,} {words}" for count, words in counted if count)


@dataclass(frozen=True)
class Dataset:
    """An entry of the catalogue.

    Attributes:
        hash: of the content, format, join mode and mapping (32 hexadecimal digits).
        rows: all rows; finished_rows: those that the methods use (status terminated or unknown).
        created: ISO 8601, UTC.
        mode: 'corrected' or 'faithful' (of the join).
        origin: file names as given, for people.
    """

    name: str
    hash: str
    kind: str
    format: str
    rows: int
    finished_rows: int
    created: str
    mode: str
    origin: str


@dataclass(frozen=True)
class Column:
    """A column of a dataset's table.

    Attributes:
        type: of DuckDB.
        unit: '' = none.
        source: the trace's own name.
        truth: holds a planted truth (`truth_*`): for scoring only, no method sees it unless it asks by name.
        whole: value of a whole machine where the source gives shares of the largest one; 0 = it gives amounts.
        nominal: that is no machine's real size.
    """

    name: str
    type: str
    unit: str
    source: str
    numeric: bool
    truth: bool = False
    whole: float = 0.0
    nominal: bool = False


def shares_of(columns: Sequence[Column]) -> tuple[Share, ...]:
    """Return how the columns were stored whose source gives shares of the largest machine; none = no column."""
    result = [column for column in columns if column.whole]
    units = dict.fromkeys((column.unit, column.whole, column.nominal) for column in result)
    return tuple(
        share_of(
            unit,
            [column.name for column in result if (column.unit, column.whole) == (unit, whole)],
            whole,
            given=not nominal,
        )
        for unit, whole, nominal in sorted(units)
    )


@dataclass(frozen=True)
class ColumnProfile:
    """Distribution of one column. Numbers are NaN where they make no sense.

    Attributes:
        missing_share: 0-1.
        distinct: count of values; of a number in more than 250,000 rows approximate.
        minimum, median, p95, maximum: of numeric columns.
        top: most frequent values with counts, of text columns.
        histogram: (24,) counts between p1 and p99 of numeric columns, else empty.
    """

    column: Column
    rows: int
    missing_share: float
    distinct: int
    minimum: float
    median: float
    p95: float
    maximum: float
    top: tuple[tuple[str, int], ...]
    histogram: NDArray[np.int64]


@dataclass(frozen=True)
class TimeCoverage:
    """Rows started per time bin: `edges_s` is (n + 1,), `rows` is (n,). Empty where the dataset has no start times.

    `span_s` is the time from the first start to the last.
    """

    edges_s: NDArray[np.float64]
    rows: NDArray[np.int64]
    without_time: int
    span_s: float = float("nan")


@dataclass(frozen=True)
class Stratum:
    """One value of the column that a sample was stratified by."""

    value: str
    rows_in: int
    rows_out: int


@dataclass(frozen=True)
class SampleReport:
    """A stratified sample, stored as a dataset of its own."""

    dataset: str
    hash: str
    rows: int
    strata: tuple[Stratum, ...]
    seconds: float


@dataclass(frozen=True)
class Evidence:
    """What a column becomes as a field, in one unit; over the rows that were looked at.

    Attributes:
        sure: it can be loaded so without asking.
        why: what the unit rests on, '' where there is none.
        values: first values of the column, each with what it becomes, for people.
        lowest, median, highest: for people, '' where there are no numbers.
        unread: values that cannot be read as this field; the first of them with its line (0 = unknown).
        warning: what is absurd about it, '' = nothing.
    """

    column: str
    unit: str
    sure: bool
    why: str
    values: tuple[tuple[str, str], ...] = ()
    lowest: str = ""
    median: str = ""
    highest: str = ""
    unread: int = 0
    unread_line: int = 0
    unread_text: str = ""
    warning: str = ""


@dataclass(frozen=True)
class Suggestion:
    """What a look at a generic file proposes.

    Attributes:
        columns: names in the file's order.
        types: name -> DuckDB type guessed from the first rows.
        sample: name -> first few values as text.
        mapping: field -> guessed source, or as it was given.
        missing: required fields that no column seems to hold.
        delimiter, encoding: as guessed.
        evidence: field -> what its column becomes.
        rows: looked at; `whole`: there are no more.
        refusal: why it is not loaded without asking, '' = it can be.
        checks: what the first rows tell beside the mapping.
    """

    columns: tuple[str, ...]
    types: dict[str, str]
    sample: dict[str, tuple[str, ...]]
    mapping: dict[str, FieldSource]
    missing: tuple[str, ...]
    delimiter: str
    encoding: str
    evidence: dict[str, Evidence] = field(default_factory=dict)
    rows: int = 0
    whole: bool = True
    refusal: str = ""
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True)
class SavedMapping:
    """A mapping that was saved under a name.

    Attributes:
        created: ISO 8601, UTC.
        mapping: field -> source.
    """

    name: str
    created: str
    mapping: dict[str, FieldSource]

    def fits(self, columns: Sequence[str]) -> bool:
        """Tell whether a file has every column that it uses."""
        return {source.column for source in self.mapping.values()} <= set(columns)


@dataclass(frozen=True)
class ProfileNote:
    """A name and a note that a user gave to one profile of one clustering."""

    profile: int
    name: str
    note: str

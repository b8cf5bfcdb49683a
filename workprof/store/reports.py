"""What an ingest and the catalogue tell: plain frozen records, shown by the Data page and printed by the command."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workprof.core.errors import SettingsError
from workprof.core.shares import Machine, Share, share_of
from workprof.core.text import of_one

JOINS = ("corrected", "faithful")
AGGREGATIONS = ("instance", "task", "job")


@dataclass(frozen=True)
class FieldSource:
    """Where a field comes from: a column of the file and its unit ('' = as it is)."""

    column: str
    unit: str = ""


FORMER_FORMATS = {"build-data": "sap-build"}
"""Former name of a format -> its name."""


@dataclass(frozen=True)
class IngestOptions:
    """How a trace is to be read."""

    format: str = "auto"  # a name of `workprof.formats`, or 'auto'
    name: str = ""  # of the dataset; '' = from the file name
    # field -> source, for the generic format; empty = what names and values tell for sure
    mapping: dict[str, FieldSource] = field(default_factory=dict)
    join: str = "corrected"  # of the raw tables: 'corrected' (worker_name) or 'faithful' (inst_id, as published)
    aggregation: str = "instance"  # of the raw tables in the corrected join: one row per 'instance', 'task' or 'job'
    delimiter: str = ""  # and `encoding`, `decimal`: of a text file; '' = the format's own
    encoding: str = ""
    decimal: str = ""
    duplicates: str = "keep"  # 'keep' (counted) or 'drop' (counted)
    # load a delimited text of which lines are in no row and no reject (counted), else refuse it
    accept_loss: bool = False
    sheet: str = ""  # of a workbook; '' = the first that holds a table
    # both: size of the largest machine, of formats whose numbers are shares of it; 0 = not known
    machine_memory_bytes: float = 0.0
    machine_cores: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "format", FORMER_FORMATS.get(self.format, self.format))
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

    def __post_init__(self) -> None:
        """Word what concerns one row alone as such."""
        object.__setattr__(self, "message", of_one(self.message))


@dataclass(frozen=True)
class IngestReport:
    """What an ingest did."""

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
    already_loaded: bool = False  # the same content was there; nothing was read again
    lost: int = 0  # lines of a text that are in no row and not rejected; 0 unless the options accept them
    running: int = 0  # rows that still run at the end of the trace
    never_started: int = 0  # rows that wait, or were given up before they ran
    # numbers that the trace gives as shares of its largest machine, and what a whole one counts as
    machine_shares: tuple[Share, ...] = ()
    # of a generic file, as --map takes it: field -> {"from": column, "unit": unit}
    mapping: dict[str, dict[str, str]] = field(default_factory=dict)
    # `jobs`, `users`: distinct names; None = there is no such column, or it was loaded before they were counted
    jobs: int | None = None
    users: int | None = None


@dataclass(frozen=True)
class Upstream:
    """What an engine did with a trace before its rows came here."""

    origin: str  # where the trace lies, for people; without a password
    rows_read: int  # rows of the trace there
    dropped: int  # of them, those that are in no run
    joins: tuple[JoinStep, ...] = ()  # what was joined, folded and drawn there
    checks: tuple[Check, ...] = ()  # findings about the whole trace


def lines_lost(lost: int) -> str:
    """How many lines are lost, in words."""
    return f"{lost:,} {'line' if lost == 1 else 'lines'} lost"


@dataclass(frozen=True)
class Counts:
    """What a job table holds, counted exactly: in one place, and said in the same words everywhere."""

    runs: int  # rows
    finished: int  # and `running`, `never_started`: of them; the others ended without finishing
    running: int
    never_started: int
    jobs: int | None  # and `users`: distinct names; None = there is no such column
    users: int | None
    ended: tuple[tuple[str, int], ...] = ()  # cause -> runs that were killed for memory or ended without finishing
    tells_ends: bool = True  # whether the table says how runs ended

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
    """An entry of the catalogue."""

    name: str
    hash: str  # of the content, format, join mode and mapping (32 hexadecimal digits)
    kind: str
    format: str
    rows: int  # all rows; finished_rows: those that the methods use (status terminated or unknown)
    finished_rows: int
    created: str  # ISO 8601, UTC
    mode: str  # 'corrected' or 'faithful' (of the join)
    origin: str  # file names as given, for people


@dataclass(frozen=True)
class Column:
    """A column of a dataset's table."""

    name: str
    type: str  # of DuckDB
    unit: str  # '' = none
    source: str  # the trace's own name
    numeric: bool
    truth: bool = False  # holds a planted truth (`truth_*`): for scoring only, no method sees it unless it asks by name
    # value of a whole machine where the source gives shares of the largest one; 0 = it gives amounts
    whole: float = 0.0
    nominal: bool = False  # that is no machine's real size


def shares_of(columns: Sequence[Column]) -> tuple[Share, ...]:
    """How the columns were stored whose source gives shares of the largest machine; none = no column."""
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
    """Distribution of one column. Numbers are NaN where they make no sense."""

    column: Column
    rows: int
    missing_share: float  # 0-1
    distinct: int  # count of values; of a number in more than 250,000 rows approximate
    minimum: float  # and `median`, `p95`, `maximum`: of numeric columns
    median: float
    p95: float
    maximum: float
    top: tuple[tuple[str, int], ...]  # most frequent values with counts, of text columns
    histogram: NDArray[np.int64]  # (24,) counts between p1 and p99 of numeric columns, else empty


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
    """What a column becomes as a field, in one unit; over the rows that were looked at."""

    column: str
    unit: str
    sure: bool  # it can be loaded so without asking
    why: str  # what the unit rests on, '' where there is none
    values: tuple[tuple[str, str], ...] = ()  # first values of the column, each with what it becomes, for people
    lowest: str = ""  # and `median`, `highest`: for people, '' where there are no numbers
    median: str = ""
    highest: str = ""
    unread: int = 0  # values that cannot be read as this field; the first of them with its line (0 = unknown)
    unread_line: int = 0
    unread_text: str = ""
    warning: str = ""  # what is absurd about it, '' = nothing


@dataclass(frozen=True)
class Suggestion:
    """What a look at a generic file proposes."""

    columns: tuple[str, ...]  # names in the file's order
    types: dict[str, str]  # name -> DuckDB type guessed from the first rows
    sample: dict[str, tuple[str, ...]]  # name -> first few values as text
    mapping: dict[str, FieldSource]  # field -> guessed source, or as it was given
    missing: tuple[str, ...]  # required fields that no column seems to hold
    delimiter: str  # and `encoding`: as guessed
    encoding: str
    evidence: dict[str, Evidence] = field(default_factory=dict)  # field -> what its column becomes
    rows: int = 0  # looked at; `whole`: there are no more
    whole: bool = True
    refusal: str = ""  # why it is not loaded without asking, '' = it can be
    checks: tuple[Check, ...] = ()  # what the first rows tell beside the mapping


@dataclass(frozen=True)
class SavedMapping:
    """A mapping that was saved under a name."""

    name: str
    created: str  # ISO 8601, UTC
    mapping: dict[str, FieldSource]  # field -> source

    def fits(self, columns: Sequence[str]) -> bool:
        """Tell whether a file has every column that it uses."""
        return {source.column for source in self.mapping.values()} <= set(columns)


@dataclass(frozen=True)
class ProfileNote:
    """A name and a note that a user gave to one profile of one clustering."""

    profile: int
    name: str
    note: str

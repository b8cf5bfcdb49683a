"""The words in which a trace format is declared; the store turns them into SQL.

Unless it has a `Reader`, a format file holds no code that reads anything: it lists the source's columns in order with
their DuckDB types, which texts mean "no value", which field of a job table each column becomes with its unit, and how a
file is recognised.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

from workprof.core.errors import TraceError
from workprof.core.units import KIB, MIB

TEXT = "VARCHAR"
NUMBER = "DOUBLE"
ACTIVE = "active_"
"""How many runs of a job have a window at the same time; see `Windows.spread`."""

LONGEST_LINE_BYTES = 16 * MIB
"""No record of a scheduler is longer; more would be held in memory at once."""

PLAIN = ""
"""Unit of a value that is taken as it is."""

NETWORK = "network"


@dataclass(frozen=True)
class SourceColumn:
    """A column of a source table: its name there and the DuckDB type that it is read as."""

    name: str
    type: str = TEXT


@dataclass(frozen=True)
class Rule:
    """Which field of a job table a source column becomes, and the unit that the source writes it in."""

    field: str
    source: str
    unit: str = PLAIN
    keep_source: bool = False  # the source column stays in the table under its own name as well
    # 'network' where the bytes of a read or write went over the network; '' = over whatever the field says
    over: str = ""
    # of a status: the words for what stands in its column, in lower case; other texts stay
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Made:
    """A field that takes more than one column, or more than a unit."""

    field: str  # of the job table
    sql: str  # over the fields and kept columns of a run, its steps folded in
    needs: tuple[str, ...] = ()  # columns and fields without which it is not made
    # further ones that it looks at, NULL where they are not there; without any need, one of them has to be
    may: tuple[str, ...] = ()
    # made of every line before the steps are folded in, so that a step's own value counts in its run
    of_line: bool = False
    # a number that fields made after it look at, under a name of its own; the job table has it not
    aside: bool = False


@dataclass(frozen=True)
class Finding:
    """A check of a format's own: rows of the job table for which a condition holds."""

    name: str
    level: str  # 'info' or 'warning'
    where: str  # SQL over the table's columns
    message: str  # behind the number of rows
    needs: tuple[str, ...]  # columns without which it is not asked


@dataclass(frozen=True)
class AtOnce:
    """A field of which the largest sum of the lines of a run that ran at the same time counts, where that is more."""

    field: str
    sql: str  # what a line adds, NULL = nothing
    apart: str = ""  # field of which lines with different values are not added up


@dataclass(frozen=True)
class Steps:
    """Lines that belong to the run of another line: Slurm's '.batch', '.extern', '.0'.

    A run's key may stand on several lines, one per attempt (a requeue): a step is of the last attempt that began before
    it, or, without starts, that stands before it.
    """

    key: str  # field or kept column that names a line
    step: str  # regular expression; its first group is the run of a line that is a step, no match = a run
    # fields and kept columns of which the largest of the run and its steps counts; the others are those of the run's
    # own line, the first step's where there is none
    largest: tuple[str, ...]
    within: tuple[str, ...] = ()  # further ones that name it with the key; a step without a value has its run's
    at_once: tuple[AtOnce, ...] = ()
    summed: tuple[str, ...] = ()  # fields and kept columns of which all lines of a run are added up
    # fields that the line of a run fills and its steps leave empty: the first that is there tells the steps whose key
    # became that of their run (spreadsheets make 12 of 12.0)
    of_a_run: tuple[str, ...] = ()


@dataclass(frozen=True)
class Windows:
    """Rows that each tell of a few minutes of a run: Google's usage tables. They fold into one row per run.

    A table is one of windows where hardly any row lasts longer than a window and some runs have several rows; else its
    rows are runs and stay as they are. The run begins with its first window and ends with its last; means count by the
    windows' time; texts and other columns are those of the last window.
    """

    keys: tuple[str, ...]  # fields and kept columns that together name a run
    longest_s: float  # of a window
    largest: tuple[str, ...]  # fields and kept columns of which the largest of the windows counts
    means: tuple[str, ...]  # those that are averaged
    made: tuple[Made, ...] = ()  # fields that are made of runs, not of windows
    # new column -> 'mean' or 'sd' over the windows' time, and of what; or of the runs of its first key that are active
    # in each of the windows' times: ACTIVE
    spread: Mapping[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Events:
    """Rows that each tell of an event of a run, its word in `status` and its moment in `submit_time_s`.

    They fold into one row per attempt: what happened to a key up to an event that ends it. It is submitted at the first
    of the events `submits`, starts at the first of `starts`, and keeps the word of its end; without an end it has the
    word of its start, else its last one. Other columns have the last value that the events tell.
    """

    keys: tuple[str, ...]  # fields and kept columns that together name an instance; those that are there
    submits: tuple[str, ...]  # and `starts`, `ends`: words
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    largest: tuple[str, ...] = ()  # fields of which the largest of the attempt counts
    latest_s: float = 1e300  # a later moment says that an event came after the trace
    # fields that are made of attempts; `duration_s` is there for those without an end, to the last event
    made: tuple[Made, ...] = ()


@dataclass(frozen=True)
class Capacity:
    """A usage field and the column that tells how much there is of it, with that column's unit."""

    usage: str
    column: str
    unit: str


@dataclass(frozen=True)
class Given:
    """A file as it was given: its name, with the folders below the one that was named, and its plain bytes."""

    name: str
    stream: IO[bytes]

    def lines(self, *, ends: bool = False) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers (first = 1), without a byte order mark; `ends` keeps line ends.

        Raises TraceError for a line longer than `LONGEST_LINE_BYTES`.
        """
        for number in itertools.count(1):
            raw = self.stream.readline(LONGEST_LINE_BYTES)
            if not raw:
                return
            if len(raw) == LONGEST_LINE_BYTES:
                raise TraceError(f"{self.name}: line {number:,} never ends; give a file of this format")
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace")
            yield number, line if ends else line.rstrip("\r\n")


@dataclass(frozen=True)
class Read:
    """A row that a reader makes: where it begins (first line = 1), and its cells, None = missing, by column."""

    line: int
    cells: Sequence[str | float | None]


@dataclass(frozen=True)
class Unreadable:
    """What a reader cannot make a row of; it becomes a reject with its line."""

    line: int
    column: str
    text: str
    reason: str


@dataclass(frozen=True)
class Remark:
    """What a reader did with rows or found in them; it becomes a check of the dataset."""

    name: str
    count: int
    message: str
    level: str = "info"  # 'info' or 'warning'


@dataclass(frozen=True)
class Reader:
    """How files that are no table with a header become one."""

    recognises: Callable[[str, str], bool]  # from a file's first MiB, decoded, and its name
    # of the table, in the order of a row's cells; a format's rules and `made` take them from there
    columns: tuple[str, ...]
    # all files of one dataset, in bounded memory. It raises TraceError where nothing after a place can be trusted (a
    # document that is cut off)
    read: Callable[[Sequence[Given]], Iterator[Read | Unreadable | Remark]]
    several: bool = False  # more than one file, or a folder of them, makes one dataset
    # tells a file that says nothing alone and may stand among others of the format (an answer without a series)
    beside: Callable[[str], bool] = lambda _: False


@dataclass(frozen=True)
class Format:
    """A trace format of one file with a header (or a schema), or of files that a reader makes a table of."""

    name: str  # as the command line spells it
    title: str  # for people
    columns: tuple[SourceColumn, ...] = ()  # what the format's authors document; a file may lack some and have more
    rules: tuple[Rule, ...] = ()  # field by field
    required: tuple[str, ...] = ()  # columns without which the file is refused
    signature: tuple[str, ...] = ()  # columns that tell the format from the others
    further_signatures: tuple[tuple[str, ...], ...] = ()  # sets of columns each of which tells it too
    nulls: tuple[str, ...] = ("",)  # texts that mean "no value"
    # statuses, in lower case, of rows that the methods use; a row without status counts as finished
    finished: tuple[str, ...] = ()
    before_status: str = ""  # regular expression of what stands before the word of a status, and says nothing
    from_stem: tuple[str, ...] = ()  # text fields that the file's stem fills
    zero_is_missing: tuple[str, ...] = ()  # fields whose 0 means "not known" (time stamps of the PAI trace)
    # fields of a use whose 0 means "not known" in a run of a minute that used something else
    zero_is_unknown: tuple[str, ...] = ()
    seen: str = ""  # column of the moments at which rows without an end were last told of: they ran until then
    duration_from_times: bool = False  # duration_s = end_time_s - start_time_s where the source says none
    month_first: bool = False  # moments with slashes begin with the month; else the whole column tells
    size_base: int = KIB  # what K, M, G of a size written as a text are powers of
    # unit of further columns, for display; one that is declared a number may be a text too ('1.5 GB')
    units: tuple[tuple[str, str], ...] = ()
    counts: tuple[str, ...] = ()  # further columns of counts that may be written in 1024s ('2K' nodes)
    aliases: tuple[tuple[str, str], ...] = ()  # further names that resolve to a field
    capacities: tuple[Capacity, ...] = ()  # what usage is compared with
    # a row may be of many machines, so that it may take more than the largest has; where its `node` is one name, it is
    # of one
    many_machines: bool = False
    # fields with numbers of their own for "not known" (-1, the largest integer), which `made` takes away
    own_marks: tuple[str, ...] = ()
    # columns of moments that count from 1970; elsewhere only a moment too large for its unit is taken for one in a
    # smaller unit
    epochs: tuple[str, ...] = ()
    # columns that only number the rows, so that they do not make two equal rows differ
    row_numbers: tuple[str, ...] = ()
    truth_prefix: str = "truth_"  # columns that hold a planted truth; no method sees them unless it asks
    kind: str = "jobs"
    steps: Steps | None = None  # lines that are folded into the run that they belong to
    # fields, and columns that the source may lack, that are computed of others, one after another
    made: tuple[Made, ...] = ()
    attempts: str = ""  # the column that counts a task's attempts, from 1; each of them is a row
    windows: Windows | None = None  # rows that are folded into the run that they tell a part of, after `made`
    events: Events | None = None  # rows that are folded into the attempts that they tell of, after `made`
    normalised: tuple[str, ...] = ()  # fields that the source gives as shares (0-1) of the largest machine
    header: bool = True  # the first line names the columns; without it they are `columns`, in their order
    # a file without a header, from the cells of its first rows
    recognises: Callable[[Sequence[Sequence[str]]], bool] | None = None
    reader: Reader | None = None  # makes a table of files that are none
    # a file's headings as the format spells them, in their order, None = they are of another format; without it
    # `signature` tells, and headings are as documented
    headings: Callable[[Sequence[str]], tuple[str, ...] | None] | None = None
    bare_quotes: str = ""  # delimiters under which the tool quotes nothing, so that a quote is a character as any other
    not_known: str = ""  # what such a file does not say and who sizes memory has to know, in a sentence
    rows_version: int = 1  # raise it when the same file becomes other rows, so that it is read anew
    findings: tuple[Finding, ...] = ()  # checks of its own
    # columns in which anything may stand: what a user typed. A line break or a delimiter in one takes its record apart
    # where the tool quotes nothing
    free_texts: tuple[str, ...] = ()
    shapes: tuple[tuple[str, str], ...] = ()  # regular expression of what stands in other columns of texts

    def declared_type(self, column: str) -> str | None:
        """The DuckDB type of a known column, None for one that the format does not know."""
        return next((known.type for known in self.columns if known.name == column), None)

"""The words in which a trace format is declared; the store turns them into SQL.

A format file holds no code that reads anything: it lists the source's columns in order with their DuckDB types, which
texts mean "no value", which field of a job table each column becomes with its unit, and how a file is recognised.
"""

from __future__ import annotations

from dataclasses import dataclass

from workprof.core.units import KIB

TEXT = "VARCHAR"
NUMBER = "DOUBLE"

PLAIN = ""
"""Unit of a value that is taken as it is."""


@dataclass(frozen=True)
class SourceColumn:
    """A column of a source table: its name there and the DuckDB type that it is read as."""

    name: str
    type: str = TEXT


@dataclass(frozen=True)
class Rule:
    """Which field of a job table a source column becomes, and the unit that the source writes it in.

    Attributes:
        keep: the source column stays in the table under its own name as well.
    """

    field: str
    source: str
    unit: str = PLAIN
    keep: bool = False


@dataclass(frozen=True)
class Capacity:
    """A usage field and the column that tells how much there is of it, with that column's unit."""

    usage: str
    column: str
    unit: str


@dataclass(frozen=True)
class Format:
    """A trace format of one file with a header (or a schema).

    Attributes:
        name: as the command line spells it.
        title: for people.
        columns: what the format's authors document; a file may lack some and have more.
        rules: field by field.
        required: columns without which the file is refused.
        signature: columns that tell the format from the others.
        nulls: texts that mean "no value".
        finished: statuses, in lower case, of rows that the methods use; a row without status counts as finished.
        from_stem: text fields that the file's stem fills.
        zero_is_missing: fields whose 0 means "not known" (time stamps of the PAI trace).
        duration_from_times: duration_s = end_time_s - start_time_s.
        size_base: what K, M, G of a size written as a text are powers of.
        units: unit of further columns, for display; one that is declared a number may be a text too ('1.5 GB').
        aliases: further names that resolve to a field.
        capacities: what usage is compared with.
        summed: a row sums the usage of several machines, so that no usage is absurd.
        row_numbers: columns that only number the rows, so that they do not make two equal rows differ.
        truth_prefix: columns that hold a planted truth; no method sees them unless it asks.
    """

    name: str
    title: str
    columns: tuple[SourceColumn, ...] = ()
    rules: tuple[Rule, ...] = ()
    required: tuple[str, ...] = ()
    signature: tuple[str, ...] = ()
    nulls: tuple[str, ...] = ("",)
    finished: tuple[str, ...] = ()
    from_stem: tuple[str, ...] = ()
    zero_is_missing: tuple[str, ...] = ()
    duration_from_times: bool = False
    size_base: int = KIB
    units: tuple[tuple[str, str], ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    capacities: tuple[Capacity, ...] = ()
    summed: bool = False
    row_numbers: tuple[str, ...] = ()
    truth_prefix: str = "truth_"
    kind: str = "jobs"

    def declared_type(self, column: str) -> str | None:
        """Return the DuckDB type of a known column, None for one that the format does not know."""
        return next((known.type for known in self.columns if known.name == column), None)

"""Tables of the formats that can be read, made from their declarations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import pandas as pd

MEASURED = {
    "benchmarks": "Benchmark runs: JSON lines, one run each, as `workprof nodes suite` writes them",
    "telemetry": "Counters by the second: CSV with workload, run, t, as `workprof record` writes them",
    "perfspect": "PerfSpect metrics and telemetry",
    "perf-stat": "perf stat -I MILLISECONDS -x,",
    "sadf": "sadf -d of sysstat",
    "prometheus": "Prometheus range query, JSON",
    "psrecord": "psrecord log",
    "wide": "Any CSV with one column per counter, and a mapping of time, run and workload",
}
"""Formats of measurements are read by code, not declared; these words name them."""


class Rule(Protocol):
    """A declared rule; `workprof.formats.declare.Rule` is one."""

    @property
    def field(self) -> str:
        """Of the job table."""

    @property
    def source(self) -> str:
        """Column of the file."""

    @property
    def unit(self) -> str:
        """Of the file."""


class Format(Protocol):
    """A declared format; `workprof.formats.declare.Format` is one."""

    @property
    def name(self) -> str:
        """As the command spells it."""

    @property
    def title(self) -> str:
        """For people."""

    @property
    def required(self) -> tuple[str, ...]:
        """Columns."""

    @property
    def finished(self) -> tuple[str, ...]:
        """Statuses."""


class Field(Protocol):
    """A field of a job table; `workprof.formats.fields.Field` is one."""

    @property
    def name(self) -> str:
        """Of the field."""

    @property
    def unit(self) -> str:
        """That it is kept in."""


def format_table(formats: Iterable[Format], more: Mapping[str, str]) -> pd.DataFrame:
    """Return one line per format.

    Args:
        formats: declared ones.
        more: name -> what it is, for those that are read by code.
    """
    lines = [(one.name, one.title, ", ".join(one.required), ", ".join(one.finished)) for one in formats]
    lines += [(name, words, "", "") for name, words in more.items()]
    return pd.DataFrame(lines, columns=["format", "what it is", "columns it must have", "finished means"])


def rule_table(rules: Sequence[Rule]) -> pd.DataFrame:
    """Return which field each column of a format becomes, and the unit that it is read in."""
    lines = [(rule.source, rule.field, rule.unit or "as it is") for rule in rules]
    return pd.DataFrame(lines, columns=["column", "becomes", "read in"])


def field_table(fields: Iterable[Field], descriptions: Mapping[str, str]) -> pd.DataFrame:
    """Return the fields of a job table with unit and meaning."""
    lines = [(field.name, field.unit or "none", descriptions.get(field.name, "")) for field in fields]
    return pd.DataFrame(lines, columns=["field", "unit", "meaning"])

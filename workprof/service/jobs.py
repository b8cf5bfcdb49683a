"""Jobs in requests: their fields checked one by one, and many of them as one table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workprof.core.errors import SettingsError
from workprof.core.units import GB, factor
from workprof.forecasts.encoder import METADATA_FIELDS, SUBMIT_FIELDS
from workprof.forecasts.history import TIMES
from workprof.formats.declare import PLAIN, Rule
from workprof.formats.fields import TEXT_FIELDS

IN_GB = {"requested_memory_gb": "requested_memory_bytes"}
"""Further names of fields, in GB (1e9 bytes)."""
LONGEST_TEXT = 4_096
LARGEST_NUMBER = 1e18
LONGEST_SHOWN = 80

Job = dict[str, Any]
"""Field -> text or number, in the fields' units; what is not given is absent."""


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one field of a request: where, the value, and what is allowed there."""

    field: str
    value: object
    allowed: object
    job: int | None = None


class BadFields(SettingsError):
    """Fields of a request that cannot be used."""

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        first = problems[0]
        where = "" if first.job is None else f" of job {first.job}"
        super().__init__(f"{first.field}{where} is {shown(first.value)}; allowed: {words_of(first.allowed)}")
        self.problems = tuple(problems)


def shown(value: object) -> str:
    """A value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def words_of(allowed: object) -> str:
    """What is allowed as a text."""
    return ", ".join(map(str, allowed)) if isinstance(allowed, (list, tuple)) else str(allowed)


class FieldReader:
    """Reads jobs under the fields' names, and under those of the trace that the model learned from."""

    def __init__(self, rules: Sequence[Rule] = (), further: Sequence[str] = ()) -> None:
        """Take the names: of the training trace's format, in its own units, and of further fields."""
        known = (*SUBMIT_FIELDS, *TIMES, *further)
        self._scale = {name: (name, 1.0) for name in known}
        for rule in rules:
            if rule.field in known and rule.source not in self._scale:
                self._scale[rule.source] = (rule.field, 1.0 if rule.unit == PLAIN else factor(rule.unit))
        self._scale |= {name: (field, GB) for name, field in IN_GB.items() if field in known}
        self.allowed = (*known, *IN_GB)
        self.known_of = (*SUBMIT_FIELDS, *(name for name in further if name in TEXT_FIELDS))

    def read(self, given: object, job: int | None = None) -> Job:
        """One job; raises BadFields, which names each field that cannot be used, its value and what is allowed."""
        if not isinstance(given, Mapping):
            raise BadFields([FieldProblem("jobs", given, "an object of fields", job)])
        read: Job = {}
        problems = []
        result: str | float | None
        for name, value in given.items():
            place = self._scale.get(name)
            if place is None:
                problems.append(FieldProblem(name, value, self.allowed, job))
            elif value is not None and value != "":
                field, scale = place
                if field in TEXT_FIELDS:
                    allowed, result = TEXT, _text(value)
                else:
                    number = _number(value)
                    allowed, result = NUMBER, None if number is None else number * scale
                if result is None:
                    problems.append(FieldProblem(name, value, allowed, job))
                else:
                    read[field] = result
        if not problems and not any(name in read for name in self.known_of):
            problems.append(FieldProblem("jobs", given, f"at least one of {', '.join(self.known_of)}", job))
        if problems:
            raise BadFields(problems)
        return read


TEXT = f"a text of at most {LONGEST_TEXT:,} characters"
NUMBER = "a number of 0 or more"


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and 0 <= number <= LARGEST_NUMBER else None


def table_of(jobs: Sequence[Job], names: Iterable[str] = SUBMIT_FIELDS) -> pd.DataFrame:
    """Jobs as a table of the fields and the time of submission, or of the start where only that is given.

    What a job does not give is missing.
    """
    columns: dict[str, Any] = {}
    for name in names:
        values = [job.get(name) for job in jobs]
        numeric = name not in METADATA_FIELDS
        columns[name] = np.array(values, dtype=np.float64) if numeric else pd.Series(values, dtype=object)
    submitted, started = TIMES
    times = [job.get(submitted, job.get(started)) for job in jobs]
    columns[submitted] = np.array(times, dtype=np.float64)
    return pd.DataFrame(columns)

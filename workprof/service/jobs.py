"""Jobs in requests: their fields checked one by one, and many of them as one table."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workprof.core.arrays import SUBMITTED
from workprof.core.errors import SettingsError
from workprof.forecasts.encoder import METADATA_FIELDS, SUBMIT_FIELDS
from workprof.formats import values
from workprof.formats.fields import BOUNDS, CPUS, TEXT_FIELDS, TRUTH_FIELDS
from workprof.formats.new_jobs import IN_GB, FieldNames, Place
from workprof.memory.resources import KEY_COLUMNS

LONGEST_TEXT = 4_096
LARGEST_NUMBER = 1e18
LONGEST_SHOWN, LONGEST_WORDS = 80, 400
MOST_FIELDS = 200
"""Of one job."""
MOST_PROBLEMS = 20
"""That one answer tells."""
MOST_ALLOWED = 200
TWICE = "one value: it is given more than once"
MOST_TEXTS = 10_000
"""Numbers with a unit that a reader remembers."""

Job = dict[str, Any]
"""Field -> text or number, in the fields' units; what is not given is absent."""


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one field of a request: where, the value, and what is allowed there."""

    field: str
    value: object
    allowed: object
    job: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The problem in a few hundred characters, whatever was sent."""
        plain = self.value is None or isinstance(self.value, (bool, int, float))
        short = isinstance(self.value, str) and len(self.value) <= LONGEST_SHOWN
        allowed: object = cut(str(self.allowed), LONGEST_WORDS)
        if isinstance(self.allowed, (list, tuple)):
            allowed = [one if isinstance(one, bool) else cut(str(one)) for one in self.allowed[:MOST_ALLOWED]]
        told = {"field": cut(self.field), "value": self.value if plain or short else shown(self.value)}
        return told | {"allowed": allowed} | ({} if self.job is None else {"job": self.job})


class BadFields(SettingsError):
    """Fields of a request that cannot be used."""

    def __init__(self, problems: Sequence[FieldProblem]) -> None:
        first = problems[0]
        where = "" if first.job is None else f" of job {first.job}"
        super().__init__(f"{cut(first.field)}{where} is {shown(first.value)}; allowed: {words_of(first.allowed)}")
        self.problems = tuple(problems[:MOST_PROBLEMS])


def cut(text: str, longest: int = LONGEST_SHOWN) -> str:
    """A text for a message, shortened."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def shown(value: object) -> str:
    """A value for a message, shortened."""
    return cut(repr(value[: LONGEST_SHOWN + 1]) if isinstance(value, str) else reprlib.repr(value))


def words_of(allowed: object) -> str:
    """What is allowed as a text."""
    if isinstance(allowed, (list, tuple)):
        return ", ".join(cut(str(one)) for one in allowed[:MOST_ALLOWED])
    return cut(str(allowed), LONGEST_WORDS)


class FieldReader:
    """Reads jobs under the fields' names, and under those of the trace that the model learned from."""

    def __init__(self, further: Sequence[str] = (), names: FieldNames | None = None) -> None:
        """Take the names of further fields, and those of a trace."""
        known = _fields(further)
        self._names = names or FieldNames.of(known)
        self._said: dict[tuple[Place, str], float | None] = {}
        self._ranks = {name: rank for rank, name in enumerate(self._names.places)}
        own = [name for name in self._names.places if name not in known and name not in IN_GB]
        self.allowed = (*known, *IN_GB, *own)
        self._own = frozenset(known)
        self.known_of = tuple(name for name in known if name in SUBMIT_FIELDS or name in KEY_COLUMNS)

    @classmethod
    def of_trace(
        cls, trace_format: str, mapping: Mapping[str, Mapping[str, str]], further: Sequence[str] = ()
    ) -> FieldReader:
        """A reader of the names of a trace: those of its format, and those that its mapping named."""
        return cls(further, FieldNames.of_trace(_fields(further), trace_format, mapping))

    def read_all(self, given: Sequence[object]) -> list[Job]:
        """Some jobs; raises BadFields, which names the first fields that cannot be used."""
        self._learn(given)
        jobs: list[Job] = []
        problems: list[FieldProblem] = []
        for number, one in enumerate(given):
            try:
                jobs.append(self._read(one, number))
            except BadFields as error:
                problems += error.problems
                if len(problems) >= MOST_PROBLEMS:
                    break
        if problems:
            raise BadFields(problems)
        return jobs

    def read(self, given: object, job: int | None = None) -> Job:
        """One job; raises BadFields, which names the fields that cannot be used, their values and what is allowed."""
        self._learn((given,))
        return self._read(given, job)

    def _read(self, given: object, job: int | None) -> Job:
        if not isinstance(given, Mapping):
            raise BadFields([FieldProblem("jobs", given, "an object of fields", job)])
        if len(given) > MOST_FIELDS:
            raise BadFields([FieldProblem("jobs", len(given), f"at most {MOST_FIELDS} fields of a job", job)])
        read: Job = {}
        names: dict[str, str] = {}  # field -> the name under which it was given
        problems: list[FieldProblem] = []
        places = self._names.places
        of_cores = {name for name, value in given.items() if name in places and places[name].of_each_core(value)}
        for name in sorted(given, key=of_cores.__contains__) if of_cores else given:  # the CPUs come first
            value, twice = given[name], name in IN_GB and given.get(IN_GB[name])
            place = None if twice else places.get(name)
            if place is None:
                allowed = f"either it or {IN_GB[name]}" if twice else self.allowed
                problems.append(FieldProblem(name, value, allowed, job))
            elif value is not None and value != "":
                allowed = self._take(name, value, read, names)
                if allowed:
                    problems.append(FieldProblem(name, value, allowed, job))
            if len(problems) >= MOST_PROBLEMS:
                break
        if not problems and not any(name in read for name in self.known_of):
            problems.append(FieldProblem("jobs", given, f"at least one of {', '.join(self.known_of)}", job))
        if problems:
            raise BadFields(problems)
        return read

    def _take(self, name: str, value: object, read: Job, names: dict[str, str]) -> str:
        """Take a value under a name; return what is allowed where it cannot be taken, else ''."""
        place = self._names.places[name]
        cores = read.get(CPUS, math.nan) / 100 if place.of_each_core(value) else 1.0
        if math.isnan(cores):
            return OF_CORES
        result = _text(value) if place.field in TEXT_FIELDS else self._number(place, value, cores)
        if result is None:
            return TEXT if place.field in TEXT_FIELDS else number_words(place)
        if read.get(place.field, result) == result or self._behind(names[place.field], name):
            read[place.field], names[place.field] = result, name
        elif not self._behind(name, names[place.field]):
            return f"either it or {names[place.field]}"
        return ""

    def _behind(self, name: str, other: str) -> bool:
        """Whether another name counts more: of a trace's own columns of one field that which an ingest takes first."""
        own = (name, other)
        return not any(one in self._own or one in IN_GB for one in own) and self._ranks[name] > self._ranks[other]

    def _number(self, place: Place, value: object, cores: float) -> float | None:
        number = float(value) if isinstance(value, bool) and place.field in TRUTH_FIELDS else number_of(value)
        if number is not None:
            number *= place.scale
        elif isinstance(value, str):
            number = self._said.get((place, value))
        return number * cores if number is not None and number * cores <= most_of(place.field) else None

    def _learn(self, given: Sequence[object]) -> None:
        """Read the numbers that carry a unit ('64G', '1-00:00:00') as an ingest of the trace does, all at once."""
        new: dict[tuple[str, float], set[tuple[Place, str]]] = {}
        for one in given:
            if isinstance(one, Mapping) and len(one) <= MOST_FIELDS:
                for name, value in one.items():
                    if isinstance(value, str) and 0 < len(value) <= values.LONGEST:
                        place = self._names.places.get(name)
                        if place and place.quantity and (place, value) not in self._said and not _PLAIN.match(value):
                            new.setdefault((place.quantity, place.scale), set()).add((place, value))
        if len(self._said) > MOST_TEXTS:
            self._said = {}
        for keys in new.values():
            asked = list(keys)
            found = asked[0][0].numbers([text for _, text in asked], self._names.size_base)
            for key, result in zip(asked, found, strict=True):
                self._said[key] = result if result is not None and 0 <= result <= LARGEST_NUMBER else None


OF_CORES = f"a size of the whole job such as 64G, or one of each core beside {CPUS} or the trace's own CPUs"
TEXT = f"a text of at most {LONGEST_TEXT:,} characters"
SUCH_AS = {
    "B": ", or a size of the whole job such as 64G",
    "s": ", or a time such as 01:30:00",
    "percent": " percent, such as 200 for two cores or GPUs",
    values.TIME: ", or a moment such as 2024-05-06T10:00:00Z",
}
"""Quantity of a field -> what is allowed beyond a number."""


def number_words(place: Place) -> str:
    """What is allowed of a number, in the unit of its name."""
    words = SUCH_AS.get(place.quantity, "") if place.scale == 1 or place.quantity == "B" else ""
    return f"a number from 0 to {most_of(place.field) / place.scale:.6g}{words}"


def most_of(field: str) -> float:
    """The most that an ingest takes."""
    return BOUNDS[field].of_a_system if field in BOUNDS else LARGEST_NUMBER


_PLAIN = re.compile(rf"\s*{values.NUMBER}\s*\Z", re.ASCII)


def _fields(further: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*SUBMIT_FIELDS, *SUBMITTED, *further)))


def _text(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else None


def number_of(value: object) -> float | None:
    """The number that a value is, or says as an ingest reads it: '1_000' and other digits than 0 to 9 are none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str) and (len(value) > values.LONGEST or not _PLAIN.match(value)):
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
    submitted, started = SUBMITTED
    times = [job.get(submitted, job.get(started)) for job in jobs]
    columns[submitted] = np.array(times, dtype=np.float64)
    return pd.DataFrame(columns)

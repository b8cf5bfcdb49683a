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
from workprof.core.units import FACTORS, GB, KIB, UNITS_OF
from workprof.forecasts.encoder import METADATA_FIELDS, SUBMIT_FIELDS
from workprof.formats import FORMATS, rules_of, values
from workprof.formats.declare import Rule
from workprof.formats.fields import FIELDS, TEXT_FIELDS

IN_GB = {"requested_memory_gb": "requested_memory_bytes"}
"""Further names of fields, in GB (1e9 bytes)."""
LONGEST_TEXT = 4_096
LARGEST_NUMBER = 1e18
LONGEST_SHOWN, LONGEST_WORDS = 80, 400
MOST_FIELDS = 200
"""Of one job."""
MOST_PROBLEMS = 20
"""That one answer tells."""
MOST_ALLOWED = 200
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


@dataclass(frozen=True)
class _Place:
    """Where a name leads: a field, what one of its unit is there, and how a text with a unit is read."""

    field: str
    scale: float = 1.0
    quantity: str = ""  # 'B', 's', 'percent': a text may carry a unit of it; '' = a plain number


class FieldReader:
    """Reads jobs under the fields' names, and under those of the trace that the model learned from."""

    def __init__(self, rules: Sequence[Rule] = (), further: Sequence[str] = (), size_base: int = KIB) -> None:
        """Take the names: of the training trace, in its own units, and of further fields.

        K, M, G of a size that is written as a text are powers of `size_base`.
        """
        known = (*SUBMIT_FIELDS, *SUBMITTED, *further)
        self._places = {name: _Place(name, 1.0, _quantity(name)) for name in known}
        for rule in rules:
            if rule.field in known and rule.source not in self._places:
                self._places[rule.source] = _Place(rule.field, FACTORS.get(rule.unit, 1.0), _quantity(rule.field))
        self._places |= {name: _Place(field, GB, "B") for name, field in IN_GB.items() if field in known}
        self._base = size_base
        self._said: dict[tuple[_Place, str], float | None] = {}
        own = [name for name in self._places if name not in known and name not in IN_GB]
        self.allowed = (*known, *IN_GB, *own)
        self.known_of = (*SUBMIT_FIELDS, *(name for name in further if name in TEXT_FIELDS))

    @classmethod
    def of_trace(
        cls, trace_format: str, mapping: Mapping[str, Mapping[str, str]], further: Sequence[str] = ()
    ) -> FieldReader:
        """A reader of the names of a trace: those of its format, and those that its mapping named."""
        mapped = [Rule(field, one["from"], one.get("unit", "")) for field, one in mapping.items()]
        known = FORMATS.get(trace_format)
        if known is None:
            return cls((*mapped, *rules_of(trace_format)), further)
        units = dict(known.units)
        made = [  # 'ReqCPUS' is declared in cores, and the request is made of it
            Rule(one.field, column, units[column])
            for one in known.made
            for column in one.may
            if units.get(column) in UNITS_OF.get(_quantity(one.field), ())
        ]
        return cls((*mapped, *rules_of(trace_format), *made), further, known.size_base)

    def read_all(self, given: Sequence[object], *, numbered: bool = True) -> list[Job]:
        """Some jobs; raises BadFields, which names the first fields that cannot be used."""
        self._learn(given)
        jobs: list[Job] = []
        problems: list[FieldProblem] = []
        for number, one in enumerate(given):
            try:
                jobs.append(self._read(one, number if numbered else None))
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
        problems: list[FieldProblem] = []
        for name, value in given.items():
            place = self._places.get(name)
            if place is None:
                problems.append(FieldProblem(name, value, self.allowed, job))
            elif value is not None and value != "":
                result = _text(value) if place.field in TEXT_FIELDS else self._number(place, value)
                if result is None:
                    problems.append(FieldProblem(name, value, TEXT if place.field in TEXT_FIELDS else NUMBER, job))
                else:
                    read[place.field] = result
            if len(problems) >= MOST_PROBLEMS:
                break
        if not problems and not any(name in read for name in self.known_of):
            problems.append(FieldProblem("jobs", given, f"at least one of {', '.join(self.known_of)}", job))
        if problems:
            raise BadFields(problems)
        return read

    def _number(self, place: _Place, value: object) -> float | None:
        number = number_of(value)
        if number is not None:
            return number * place.scale
        return self._said.get((place, value)) if isinstance(value, str) else None

    def _learn(self, given: Sequence[object]) -> None:
        """Read the numbers that carry a unit ('64G', '1-00:00:00') as an ingest of the trace does, all at once."""
        new: dict[tuple[str, float], set[tuple[_Place, str]]] = {}
        for one in given:
            if isinstance(one, Mapping) and len(one) <= MOST_FIELDS:
                for name, value in one.items():
                    if isinstance(value, str) and 0 < len(value) <= values.LONGEST:
                        place = self._places.get(name)
                        if place and place.quantity and (place, value) not in self._said and not _PLAIN.match(value):
                            new.setdefault((place.quantity, place.scale), set()).add((place, value))
        if len(self._said) > MOST_TEXTS:
            self._said = {}
        for (quantity, scale), keys in new.items():
            asked = list(keys)
            for key, result in zip(
                asked, values.numbers([text for _, text in asked], quantity, scale, self._base), strict=True
            ):
                per_core = quantity == "B" and key[1].rstrip().endswith("c")  # Slurm's "per core": of how many?
                fits = result is not None and key[1].isascii() and not per_core and 0 <= result <= LARGEST_NUMBER
                self._said[key] = result if fits else None


TEXT = f"a text of at most {LONGEST_TEXT:,} characters"
NUMBER = "a number of 0 or more"
_PLAIN = re.compile(rf"\s*{values.NUMBER}\s*\Z", re.ASCII)


def _quantity(field: str) -> str:
    return FIELDS[field].unit if field in FIELDS and FIELDS[field].unit in UNITS_OF else ""


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

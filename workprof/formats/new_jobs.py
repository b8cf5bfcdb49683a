"""New jobs: under which names and in which units their submit-time fields may be given, and tables of them."""

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import ColumnMissing, NoRows, TraceError
from workprof.core.text import near
from workprof.core.units import FACTORS, GB, KIB, UNITS_OF
from workprof.formats import FORMATS, rules_of, values
from workprof.formats.declare import Rule
from workprof.formats.fields import BOUNDS, CPUS, FIELDS, REQUEST, TEXT_FIELDS, TIME_FIELDS
from workprof.store.lines import refuse_other_count, rows_under_header
from workprof.store.text_shape import guessed_delimiter

CHUNK_ROWS, HEADER_BYTES = 20_000, 65_536
NULLS = ("", "NULL", "\\N")
"""Texts that mean "no value" in every format of job tables."""

NO_NUMBERS = (*NULLS, "nan", "NaN", "NA", "N/A", "null", "-")
"""What else stands for a number that is not known."""

MAY_BE = {
    "B": " and no size, such as 16GiB",
    "percent": " in percent, such as 200 for two cores or GPUs",
    values.TIME: " of seconds and no moment, such as 2024-05-06 10:00",
}
"""Quantity -> what stands for one."""

IN_GB = {"requested_memory_gb": REQUEST}
"""Further names of fields, in GB (1e9 bytes)."""

OF_EACH_CORE = re.compile(r"[0-9KMGTPkgt]c\s*\Z")
"""How a request for each core ends, such as Slurm's '4Gc' before 21.08."""


def is_of_each_core(value: object) -> bool:
    """Whether a size is written as one of each core."""
    return isinstance(value, str) and OF_EACH_CORE.search(value) is not None


@dataclass(frozen=True)
class Place:
    """Where a name leads: a field, what one of its unit is there, and how a text with a unit is read."""

    field: str
    scale: float = 1.0
    quantity: str = ""  # 'B', 's', 'percent': a text may carry a unit of it; TIME: or be a moment; '' = a plain number

    def numbers(self, texts: Sequence[str], size_base: int) -> list[float | None]:
        """What texts that carry a unit ('64G', '1-00:00:00') say, as an ingest of the trace reads them.

        A request of each core is that of one. None where a text says nothing, or is a use of each core.
        """
        found = values.numbers(texts, self.quantity, self.scale, size_base) if self.quantity else [None] * len(texts)
        use = self.quantity == "B" and self.field != REQUEST
        sure = [text.isascii() and not (use and text.rstrip().endswith("c")) for text in texts]
        return [value if value is not None and one else None for value, one in zip(found, sure, strict=True)]

    def of_each_core(self, value: object) -> bool:
        """Whether a value is a request for each core."""
        return self.field == REQUEST and is_of_each_core(value)


@dataclass(frozen=True)
class FieldNames:
    """The names under which new jobs give their fields: the fields' own, and those of the trace learned from."""

    places: Mapping[str, Place]
    fields: tuple[str, ...]
    size_base: int = KIB  # K, M, G of a size that is written as a text are powers of it

    @classmethod
    def of(cls, fields: Sequence[str], rules: Sequence[Rule] = (), size_base: int = KIB) -> "FieldNames":
        """The names of some fields, and of the columns that rules lead there, in those columns' units."""
        places = {name: Place(name, 1.0, _read_as(name)) for name in fields}
        for rule in rules:
            if rule.field in fields and rule.source not in places:
                places[rule.source] = Place(rule.field, FACTORS.get(rule.unit, 1.0), _read_as(rule.field))
        places |= {name: Place(field, GB, "B") for name, field in IN_GB.items() if field in fields}
        return cls(places, tuple(fields), size_base)

    @classmethod
    def of_trace(
        cls, fields: Sequence[str], trace_format: str, mapping: Mapping[str, Mapping[str, str]]
    ) -> "FieldNames":
        """The names of a trace: those of its format, and those that its mapping named."""
        mapped = [Rule(field, one["from"], one.get("unit", "")) for field, one in mapping.items()]
        known = FORMATS.get(trace_format)
        if known is None:
            return cls.of(fields, (*mapped, *rules_of(trace_format)))
        units = dict(known.units)
        made = [  # 'ReqCPUS' is declared in cores, and the request is made of it
            Rule(one.field, column, units[column])
            for one in known.made
            for column in one.may
            if units.get(column) in UNITS_OF.get(_quantity(one.field), ())
        ]
        return cls.of(fields, (*mapped, *rules_of(trace_format), *made), known.size_base)


def _quantity(field: str) -> str:
    return FIELDS[field].unit if field in FIELDS and FIELDS[field].unit in UNITS_OF else ""


def _read_as(field: str) -> str:
    return values.TIME if field in TIME_FIELDS else _quantity(field)


@dataclass(frozen=True)
class NewJobs:
    """Jobs that were not run yet."""

    jobs: pd.DataFrame  # one row per job, under the fields' names; numbers in the fields' units
    unknown: tuple[str, ...]  # columns that were not used


def read_new_jobs(path: Path) -> Iterator[pd.DataFrame]:
    """Yield a CSV file of jobs as tables of texts, 20,000 rows at a time; '' is a missing value, as is NULL.

    Semicolons or tabs may stand for the commas.

    Raises:
        NoRows: for a file without rows.
        TraceError: when it is no CSV text in UTF-8, a quote in it is not sound, a name stands twice in its header, or
            its rows have more fields than that; names the line where that is told. When the rows read are not those
            that stand there.
    """
    if not os.path.isfile(path):  # noqa: PTH113  false also for a text that can be no path
        raise TraceError(f"there is no file {path.name}; give the path of a CSV file")
    separator = _separator(path)
    _refuse_repeated(path, separator)
    rows, there = 0, rows_under_header(path, path.name, separator)
    try:
        with pd.read_csv(
            path,
            sep=separator,
            dtype=str,
            chunksize=CHUNK_ROWS,
            encoding="utf-8-sig",
            compression=None,
            skipinitialspace=True,
            keep_default_na=False,
            na_values=list(NULLS),
        ) as reader:
            for chunk in reader:
                if not isinstance(chunk.index, pd.RangeIndex):  # pandas shifts the fields and calls the first a name
                    raise TraceError(f"{path.name}: its rows have more fields than its header; mend the header")
                rows += len(chunk)
                yield chunk
    except (pd.errors.EmptyDataError, StopIteration) as error:
        raise NoRows(f"{path.name} is empty; give a header line and one line per job") from error
    except UnicodeDecodeError as error:
        raise TraceError(f"{path.name} is no text in UTF-8; save it as CSV in UTF-8 and try again") from error
    except (pd.errors.ParserError, csv.Error, ValueError) as error:
        raise TraceError(f"{path.name} is no CSV text: {error}; save it as CSV and try again") from error
    refuse_other_count(path.name, rows, there)
    if not rows:
        raise NoRows(f"{path.name} has a header and no rows; give one line per job")


def _refuse_repeated(path: Path, separator: str) -> None:
    """Refuse a header with one name twice: pandas gives the second another, and its values would be left out."""
    with path.open("rb") as file:
        header = file.readline(HEADER_BYTES).decode("utf-8-sig", "replace")
    try:
        names = [name.strip() for name in next(csv.reader(header.splitlines(), delimiter=separator), [])]
    except csv.Error:  # what reads the rows says what is wrong
        return
    if twice := [name for name in names if name and names.count(name) > 1]:
        raise TraceError(f"{path.name} has the column {twice[0]!r} more than once; rename one of them")


def _separator(path: Path) -> str:
    """What stands between the names of a header: a comma, or else what splits it most."""
    with path.open("rb") as file:
        header = file.readline(HEADER_BYTES).decode("utf-8", "replace")
    return "," if "," in header else guessed_delimiter(header)


def named_jobs(table: pd.DataFrame, names: FieldNames) -> NewJobs:
    """The fields of a table, converted to the fields' units where it uses the trace's own names or texts with units.

    Of several columns of a field its own name counts, else the first; the others are not used.

    Raises:
        ColumnMissing: when none of them is there.
        TraceError: when a number is none, not finite or out of the bounds of its field, with the row.
    """
    sources: dict[str, tuple[str, Place]] = {}
    unknown = []
    for name in map(str, table.columns):
        place = names.places.get(name)
        if place is None or place.field in sources or (name != place.field and place.field in table.columns):
            unknown.append(name)
        else:
            sources[place.field] = (name, place)
    cores = pd.Series(np.nan, index=table.index)
    if CPUS in sources:
        cores = _converted(table[sources[CPUS][0]], sources[CPUS][1], names.size_base, cores) / 100
    columns = {
        field: _converted(table[name], place, names.size_base, cores) for field, (name, place) in sources.items()
    }
    if not columns:
        raise ColumnMissing(
            f"none of the columns {', '.join(map(str, table.columns))} is known; name them {', '.join(names.fields)}"
            f"{near(str(table.columns[0]), names.fields)}"
        )
    return NewJobs(pd.DataFrame(columns), tuple(unknown))


def _converted(column: pd.Series, place: Place, size_base: int, cores: pd.Series) -> pd.Series:
    texts = column.astype("object").where(column.notna() & (column != ""), None)
    if place.field in TEXT_FIELDS or place.field not in FIELDS:
        return texts
    numbers = pd.to_numeric(texts, errors="coerce").astype("float64") * place.scale
    given = texts.notna() & ~texts.astype("str").str.strip().isin(NO_NUMBERS)
    others = texts[given & numbers.isna()].astype("str")
    if len(others):
        distinct = others.unique().tolist()
        said = dict(zip(distinct, place.numbers(distinct, size_base), strict=True))
        numbers[others.index] = others.map(said).astype("float64")
    each = texts.map(place.of_each_core).astype("bool")
    numbers = numbers.where(~each, numbers * cores)
    if bool((each & cores.isna()).any()):
        raise TraceError(_refused(place, texts, each & cores.isna(), f"which is of each core of a job without {CPUS}"))
    wrong = given & ~np.isfinite(numbers)
    if bool(wrong.any()):
        raise TraceError(_refused(place, texts, wrong, f"which is no number{MAY_BE.get(place.quantity, '')}"))
    if place.field in BOUNDS:
        outside = given & ~numbers.between(BOUNDS[place.field].least, BOUNDS[place.field].most)
        if bool(outside.any()):
            raise TraceError(_refused(place, texts, outside, "which is less than nothing or more than can be"))
    return numbers


def _refused(place: Place, texts: pd.Series, wrong: pd.Series, why: str) -> str:
    row = int(wrong.to_numpy().argmax())
    first = texts.index.start if isinstance(texts.index, pd.RangeIndex) else 0  # of a part of a file
    return f"{place.field} is {texts.iloc[row]!r} in row {first + row + 1}, {why}; leave it empty or mend it"

"""New jobs, as a table of texts: submit-time columns under the fields' names or the trace's own, in its own units."""

import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import ColumnMissing, NoRows, TraceError
from workprof.core.units import factor
from workprof.formats.declare import PLAIN, Rule
from workprof.formats.fields import FIELDS, TEXT_FIELDS
from workprof.store.lines import refuse_other_count, rows_under_header

CHUNK_ROWS = 20_000
NULLS = ("", "NULL", "\\N")
"""Texts that mean "no value" in every format of job tables."""

NO_NUMBERS = (*NULLS, "nan", "NaN", "NA", "N/A", "null", "-")
"""What else stands for a number that is not known."""


@dataclass(frozen=True)
class NewJobs:
    """Jobs that were not run yet."""

    jobs: pd.DataFrame  # one row per job, under the fields' names; numbers in the fields' units
    unknown: tuple[str, ...]  # columns that were not used


def read_new_jobs(path: Path) -> Iterator[pd.DataFrame]:
    """Yield a CSV file of jobs as tables of texts, 20,000 rows at a time; '' is a missing value, as is NULL.

    Raises:
        NoRows: for a file without rows.
        TraceError: when it is no CSV text in UTF-8, a quote in it is not sound, or its rows have more fields than its
            header; names the line where that is told. When the rows read are not those that stand there.
    """
    if not os.path.isfile(path):  # noqa: PTH113  false also for a text that can be no path
        raise TraceError(f"there is no file {path.name}; give the path of a CSV file")
    rows, there = 0, rows_under_header(path, path.name)
    try:
        with pd.read_csv(
            path,
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
    except (UnicodeDecodeError, pd.errors.ParserError, csv.Error, ValueError) as error:
        raise TraceError(f"{path.name} is no CSV text in UTF-8: {error}; save it as CSV and try again") from error
    refuse_other_count(path.name, rows, there)
    if not rows:
        raise NoRows(f"{path.name} has a header and no rows; give one line per job")


def named_jobs(table: pd.DataFrame, rules: Sequence[Rule], wanted: Sequence[str]) -> NewJobs:
    """The wanted fields of a table, converted to the fields' units where it uses the trace's own names.

    The rules are of the format that the training dataset came from.

    Raises:
        ColumnMissing: when none of them is there.
        TraceError: when a number is none or not finite, with the row.
    """
    own: Mapping[str, Rule] = {rule.source: rule for rule in rules if rule.field in wanted}
    columns: dict[str, pd.Series] = {}
    unknown = []
    for name in map(str, table.columns):
        if name in wanted:
            columns[name] = _converted(table[name], name, 1.0)
        elif name in own and own[name].field not in table.columns:
            scale = 1.0 if own[name].unit == PLAIN else factor(own[name].unit)
            columns[own[name].field] = _converted(table[name], own[name].field, scale)
        else:
            unknown.append(name)
    if not columns:
        raise ColumnMissing(
            f"none of the columns {', '.join(map(str, table.columns))} is known; name them {', '.join(wanted)}"
        )
    return NewJobs(pd.DataFrame(columns), tuple(unknown))


def _converted(column: pd.Series, field: str, scale: float) -> pd.Series:
    texts = column.astype("object").where(column.notna() & (column != ""), None)
    if field in TEXT_FIELDS or field not in FIELDS:
        return texts
    numbers = pd.to_numeric(texts, errors="coerce").astype("float64")
    given = texts.notna() & ~texts.astype("str").str.strip().isin(NO_NUMBERS)
    wrong = given & ~np.isfinite(numbers)
    if bool(wrong.any()):
        row = int(wrong.to_numpy().argmax())
        raise TraceError(
            f"{field} is {texts.iloc[row]!r} in row {row + 1}, which is no number; leave it empty or mend it"
        )
    return numbers * scale

"""From what a caller hands over to the tables that the methods read: columns by argument, units by their names."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import ColumnMissing, SettingsError, TraceError, UnitUnknown
from workprof.core.settings import from_environment
from workprof.core.text import near
from workprof.core.units import FACTORS, UNITS_OF
from workprof.formats import generic, values
from workprof.formats.fields import FIELDS, TEXT_FIELDS, TIME_FIELDS
from workprof.store.in_memory import WANTED, Given, frame_of, is_path, is_table
from workprof.store.mapping import shown, units_of, words_of
from workprof.store.reports import FieldSource, IngestOptions
from workprof.workbench import Workbench

Source = str | tuple[str, str]
"""A column, or a column and its unit: 'rss' or ('rss', 'MiB')."""

BARE = {"B": "GB", "s": "s", "percent": "percent"}
"""Unit of the numbers of a column that is named by argument and does not tell its own."""
ROW_ID = "row_id"


@dataclass(frozen=True)
class Jobs:
    """A job table for the methods.

    Attributes:
        frame: one row per run with `row_id`, fields in their own units, other columns as given; `finished` where it
            holds a status.
        names: further columns that were named, as the table has them.
    """

    frame: pd.DataFrame
    names: tuple[str, ...]

    @property
    def finished(self) -> pd.DataFrame:
        """The finished runs."""
        if "finished" not in self.frame.columns:
            return self.frame
        rows = self.frame[self.frame["finished"].to_numpy(dtype=bool)]
        return rows.drop(columns="finished").reset_index(drop=True)


@contextlib.contextmanager
def passing_workbench() -> Iterator[Workbench]:
    """Return a workbench whose home is a temporary folder, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="workprof-") as folder:
        home = Path(folder) / "home"
        with Workbench(replace(from_environment().at(home), readonly=False)) as bench:
            yield bench


def source_of(argument: str, given: object) -> FieldSource:
    """Return the column, and unit, that an argument names.

    Raises:
        SettingsError: when it names none.
    """
    if isinstance(given, str) and given:
        return FieldSource(given)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, str) and part for part in given):
        return FieldSource(*given)
    raise SettingsError(f"{argument} is {given!r}; give the name of a column, or a column and its unit")


def sources_of(named: Mapping[str, Source | None], columns: Mapping[str, Source] | None) -> dict[str, FieldSource]:
    """Return field -> source of the arguments of a call.

    Args:
        named: field -> argument; None = not given.
        columns: further ones.

    Raises:
        SettingsError: for a field that there is not, or an argument that names no column.
    """
    if columns is not None and not isinstance(columns, Mapping):
        raise SettingsError(f"columns is {columns!r}; give field = column, such as {{'user': 'owner'}}")
    wanted: dict[str, Source] = dict(columns or {})
    for field in wanted:
        if field not in FIELDS:
            raise SettingsError(
                f"columns names the field {field!r}; fields are {', '.join(FIELDS)}{near(field, FIELDS)}"
            )
    wanted |= {field: given for field, given in named.items() if given is not None}
    return {field: source_of(field, given) for field, given in wanted.items()}


def jobs_of(
    data: Given,
    named: Mapping[str, Source | None],
    columns: Mapping[str, Source] | None = None,
    also: Sequence[str] = (),
) -> Jobs:
    """Return a job table from a table in memory or a file of any format.

    Args:
        data: the table or the path.
        named: field -> column by argument; None = the column of the field's own name, in the field's own unit.
        columns: further fields -> columns.
        also: further columns that have to be there.

    Raises:
        SettingsError: for anything that is neither table nor path.
        ColumnMissing: for a column that is not there.
        TraceError: when a value cannot be read.
    """
    sources = sources_of(named, columns)
    if is_path(data):
        return _from_file(Path(os.fspath(data)), sources, also)  # type: ignore[arg-type]
    if not is_table(data):
        raise SettingsError(f"the table is a {type(data).__name__}; give {WANTED}")
    frame = frame_of(data).rename(columns=str)
    if not len(frame):
        raise TraceError("the table has no row")
    for name in (*(source.column for source in sources.values()), *also):
        _require(name, frame)
    made = {field: _field(frame, field, source) for field, source in sources.items()}
    own = {name: _field(frame, name, None) for name in frame.columns if name in FIELDS and name not in made}
    others = frame.drop(columns=[name for name in (*made, *own, ROW_ID, "finished") if name in frame.columns])
    jobs = others.assign(**made, **own, **{ROW_ID: np.arange(len(frame), dtype=np.int64)})
    return Jobs(_with_finished(jobs), tuple(also))


def _require(name: str, frame: pd.DataFrame) -> None:
    if name not in frame.columns:
        there = [str(column) for column in frame.columns]
        raise ColumnMissing(f"the table has no column {name!r}; it has {shown(there)}{near(name, there)}")


def _field(frame: pd.DataFrame, field: str, source: FieldSource | None) -> pd.Series:
    """Return a field of the table; without a source its own column, in its own unit.

    Raises:
        UnitUnknown: for a unit that does not fit the field.
        TraceError: names the first value that cannot be read.
    """
    values_given = frame[field if source is None else source.column]
    if field in TEXT_FIELDS:
        return _texts(values_given)
    quantity = FIELDS[field].unit
    unit = quantity if source is None else unit_of(field, source)
    if unit and unit not in units_of(field):
        raise UnitUnknown(f"unit {unit!r} of {field} does not fit; use one of {', '.join(units_of(field))}")
    factor = FACTORS.get(unit, 1.0)
    kind = values_given.dtype
    if pd.api.types.is_timedelta64_dtype(kind):
        return pd.Series(values_given.dt.total_seconds().to_numpy(dtype=np.float64))
    if pd.api.types.is_datetime64_any_dtype(kind):
        moments = values_given.dt.tz_convert(None) if getattr(kind, "tz", None) is not None else values_given
        return pd.Series((moments - pd.Timestamp(0)).dt.total_seconds().to_numpy(dtype=np.float64))
    if pd.api.types.is_numeric_dtype(kind):
        return pd.Series(values_given.to_numpy(dtype=np.float64, na_value=np.nan) * factor)
    return _read(values_given, field, quantity, factor)


def unit_of(field: str, source: FieldSource) -> str:
    """Return the unit of a column's numbers: as given, as the column's name says, else `BARE`; '' = none."""
    quantity = FIELDS[field].unit
    text = words_of(source.column)[1]
    if source.unit or field in TIME_FIELDS:
        return source.unit or "s"
    return text if text in UNITS_OF.get(quantity, {}) else BARE.get(quantity, "")


def _texts(given: pd.Series) -> pd.Series:
    texts = [None if missing else str(value) for value, missing in zip(given, given.isna(), strict=True)]
    return pd.Series(pd.Categorical(texts))


def _read(given: pd.Series, field: str, quantity: str, factor: float) -> pd.Series:
    """Return what texts say, such as '1.5 GiB' or '01:02:03'; a bare number is in the column's unit.

    They are read as those of a file are: M and MB are powers of 1024 there, as systems write them.
    """
    missing = given.isna() | given.astype("object").isin(generic.FORMAT.nulls)
    texts = [str(value) for value in given[~missing]]
    of = values.TIME if field in TIME_FIELDS else quantity
    read = values.numbers(texts, of, factor)
    wrong = next((place for place, value in enumerate(read) if value is None), None)
    if wrong is not None:
        row = int(np.flatnonzero(~missing.to_numpy())[wrong])
        raise TraceError(
            f"{field} is {texts[wrong]!r} in row {row}, which is no number with a unit; mend it or leave it empty"
        )
    numbers = np.full(len(given), np.nan)
    numbers[~missing.to_numpy()] = np.array(read, dtype=np.float64)
    return pd.Series(numbers)


def _with_finished(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return the table with its column `finished`, where there is a status; a run without one counts as finished."""
    if "status" not in jobs.columns:
        return jobs
    known = jobs["status"].astype("object")
    done = [value is None or value != value or str(value).strip().lower() in generic.FORMAT.finished for value in known]  # noqa: PLR0124
    return jobs.assign(finished=done)


def _from_file(path: Path, sources: Mapping[str, FieldSource], also: Sequence[str]) -> Jobs:
    with passing_workbench() as bench:
        options = IngestOptions()
        if sources:
            options = IngestOptions(format=generic.FORMAT.name, mapping=_mapping(bench, path, sources))
        entry = bench.dataset(bench.ingest(path, options).hash)
        frame = dict(bench.frames_of(entry, None, every=True)())["jobs"]
        names = tuple(bench._store.resolve(entry.hash, tuple(also)))
        if entry.finished_rows == entry.rows:
            frame = frame.drop(columns="finished")
        return Jobs(frame, names)


def _mapping(bench: Workbench, path: Path, sources: Mapping[str, FieldSource]) -> dict[str, FieldSource]:
    """Return the mapping of a file: what the arguments say, and of the other fields what is sure."""
    given = {
        field: source if field in TEXT_FIELDS else replace(source, unit=unit_of(field, source))
        for field, source in sources.items()
    }
    taken = {source.column for source in given.values()}
    seen = bench.suggest(path, IngestOptions(format=generic.FORMAT.name))
    sure = {
        field: source
        for field, source in seen.mapping.items()
        if seen.evidence[field].sure and source.column not in taken and field not in given
    }
    return sure | given


def plain_table(data: Given) -> pd.DataFrame:
    """Return a table in memory, or that of a Parquet, Feather or CSV file, with its columns as they are.

    Raises:
        SettingsError: for anything that is neither table nor path.
        TraceError: when the file cannot be read.
    """
    if is_table(data):
        return frame_of(data).rename(columns=str)
    if not is_path(data):
        raise SettingsError(f"the table is a {type(data).__name__}; give {WANTED}")
    path = Path(os.fspath(data))  # type: ignore[arg-type]
    if not path.is_file():
        raise TraceError(f"there is no file {path}; give the path of a table")
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            return pd.read_parquet(path)
        if path.suffix.lower() in (".feather", ".arrow", ".ipc"):
            return pd.read_feather(path)
        return pd.read_csv(path)
    except (ValueError, OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{path.name} cannot be read as a table ({str(error)[:200]}); give CSV or Parquet") from error

"""From what a caller hands over to the tables that the methods read: columns by argument, units by their names."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from workprof.core.arrays import SUBMITTED, Floats
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError, TraceError, UnitUnknown
from workprof.core.text import near
from workprof.core.units import FACTORS, UNITS_OF
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.formats import FORMATS, ended_well, generic, rules_of, values
from workprof.formats.fields import BOUNDS, CPUS, FIELDS, REQUEST, TEXT_FIELDS, TIME_FIELDS
from workprof.formats.new_jobs import is_of_each_core
from workprof.profiles.features import expand_features
from workprof.profiles.settings import default_features
from workprof.store.in_memory import WANTED, Given, frame_of, is_path, is_table, written
from workprof.store.mapping import shown, units_of, words_of
from workprof.store.reports import FieldSource, IngestOptions, IngestReport
from workprof.workbench import Workbench, passing_workbench
from workprof.workbench.datasets import IN_MEMORY

Source = str | tuple[str, str]
"""A column, or a column and its unit: 'rss' or ('rss', 'MiB')."""
Columns = Mapping[str, Source]
"""Field -> column."""

BARE = {"B": "GB", "s": "s", "percent": "percent"}
"""Unit of the numbers of a column that is named by argument and does not tell its own."""
ROW_ID = "row_id"


@dataclass(frozen=True)
class Jobs:
    """A job table for the methods."""

    # one row per run with `row_id`, fields in their own units, other columns as given; `finished` where it holds a
    # status
    frame: pd.DataFrame
    names: tuple[str, ...]  # further columns that were named, as the table has them
    format: str  # that it was read as; '' = by the names of its columns alone
    rules: dict[str, tuple[str, FieldSource]]  # column -> field and unit, as the table was read
    ignored: tuple[str, ...]  # columns that are no field and were not named
    notes: tuple[str, ...]  # what was not read, and what was found wrong, in words

    @property
    def published(self) -> bool:
        """Whether its columns are those of a format that others write, too."""
        return self.format not in ("", generic.FORMAT.name)

    @property
    def unfinished_words(self) -> tuple[str, ...]:
        """How many runs did not finish, where any did not."""
        n_left_out = len(self.frame) - len(self.finished)
        return (f"{n_left_out:,} of {len(self.frame):,} runs did not finish and are left out.",) if n_left_out else ()

    @property
    def finished(self) -> pd.DataFrame:
        """The finished runs."""
        if "finished" not in self.frame.columns:
            return self.frame
        rows = self.frame[self.frame["finished"].to_numpy(dtype=bool)]
        return rows.drop(columns="finished").reset_index(drop=True)


Kind = TypeVar("Kind")


def checked_settings(given: Any, kind: type[Kind]) -> Kind:
    """The settings, None = the defaults; raises SettingsError for those of another question."""
    if given is not None and not isinstance(given, kind):
        raise SettingsError(f"settings is a {type(given).__name__}; give {kind.__name__}")
    return kind() if given is None else given


@contextmanager
def told(jobs: Jobs, *further: str) -> Iterator[None]:
    """Add to an error about too few rows what was found in the table: it is often why."""
    try:
        yield
    except NotEnoughData as error:
        notes = " ".join((*further, *jobs.notes))
        if not notes:
            raise
        raise type(error)(f"{error}. Of the table: {notes}") from error


def source_of(argument: str, given: object) -> FieldSource:
    """The column, and unit, that an argument names; raises SettingsError when it names none."""
    if isinstance(given, str) and given:
        return FieldSource(given)
    if isinstance(given, tuple) and len(given) == 2 and all(isinstance(part, str) and part for part in given):
        return FieldSource(*given)
    raise SettingsError(f"{argument} is {given!r}; give the name of a column, or a column and its unit")


def sources_of(named: Mapping[str, Source | None], columns: Mapping[str, Source] | None) -> dict[str, FieldSource]:
    """Field -> source of the arguments of a call (None = not given), and of further columns.

    Raises SettingsError for a field that there is not, or an argument that names no column.
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
    """A job table from a file of any format, or from a table in memory as from a file that holds it.

    A table that lacks what makes runs (names, times) is read by the names of its fields and of the arguments alone.

    `named` is field -> column by argument, None = as the format has it; the columns `also` have to be there, too.

    Raises:
        SettingsError: for anything that is neither table nor path.
        ColumnMissing: for a column that is not there.
        TraceError: when a value cannot be read.
    """
    sources = sources_of(named, columns)
    jobs = _read_jobs(data, sources, also)
    return replace(jobs, notes=(*jobs.notes, *_bare_words(data, sources)))


def _bare_words(data: Given, sources: Mapping[str, FieldSource]) -> tuple[str, ...]:
    """Which of the columns named hold memory without a unit, in words."""
    bare = [
        source.column
        for field, source in sources.items()
        if FIELDS[field].unit == "B"
        and not source.unit
        and words_of(source.column)[1] not in UNITS_OF["B"]
        and (not isinstance(data, pd.DataFrame) or _has_numbers(data, source.column))
    ]
    if not bare:
        return ()
    example = f"('{bare[0]}', 'MiB')"
    return (f"Bare numbers of {' and '.join(bare)} are read as {BARE['B']}; say {example} where they are in MiB.",)


def _has_numbers(frame: pd.DataFrame, name: str) -> bool:
    return name not in frame.columns or bool(pd.to_numeric(frame[name], errors="coerce").notna().any())


def _read_jobs(data: Given, sources: Mapping[str, FieldSource], also: Sequence[str]) -> Jobs:
    if not is_path(data) and not is_table(data):
        raise SettingsError(f"the table is a {type(data).__name__}; give {WANTED}")
    if is_table(data) and not len(frame_of(data)):
        raise TraceError("the table has no row")
    with passing_workbench() as bench, tempfile.TemporaryDirectory(prefix="workprof-") as folder:
        path = Path(os.fspath(data)) if is_path(data) else written(data, Path(folder), IN_MEMORY)  # type: ignore[arg-type]
        found = bench.detect([path])
        try:
            return _from_file(bench, path, found, sources, also)
        except ColumnMissing:
            if found != generic.FORMAT.name:
                raise
            return _by_name(_with_moments(plain_table(data)), sources, also)


def _with_moments(frame: pd.DataFrame) -> pd.DataFrame:
    """The table; raises TraceError where a length of time is named like a moment."""
    for name in frame.columns:
        is_length = pd.api.types.is_timedelta64_dtype(frame[name].dtype)
        if is_length and words_of(name)[0] in ({"start"}, {"end"}, {"submit"}):
            raise TraceError(
                f"{name!r} holds lengths of time and no moments: name it 'duration' if it is how long a run took, or "
                "give the moment"
            )
    return frame


def _by_name(frame: pd.DataFrame, sources: Mapping[str, FieldSource], also: Sequence[str]) -> Jobs:
    """A table whose fields are the columns of their names and those that the arguments name."""
    for name in (*(source.column for source in sources.values()), *also):
        _require(name, frame)
    made = {field: _field(frame, field, source) for field, source in sources.items()}
    own = {name: _field(frame, name, None) for name in frame.columns if name in FIELDS and name not in made}
    if REQUEST in made or REQUEST in own:
        asked = sources[REQUEST].column if REQUEST in sources else REQUEST
        of_each = frame[asked].map(is_of_each_core).to_numpy(dtype=bool)
        cores = {**made, **own}.get(CPUS, pd.Series(np.nan, index=range(len(frame)))) / 100
        if (of_each & cores.isna()).any():
            row = int((of_each & cores.isna()).argmax())
            raise TraceError(
                f"{REQUEST} is {frame[asked].iloc[row]!r} in row {row}, which is of each core; give {CPUS}, too"
            )
        request = made if REQUEST in made else own
        request[REQUEST] = request[REQUEST].where(~of_each, request[REQUEST] * cores)
    beyond = []
    for field, column in {**made, **own}.items():
        if field in BOUNDS:
            outside = column.notna() & ~column.between(BOUNDS[field].least, BOUNDS[field].of_a_system)
            column[outside] = np.nan
            beyond += [f"{field} ({outside.sum():,})"] if outside.any() else []
    others = frame.drop(columns=[name for name in (*made, *own, ROW_ID, "finished") if name in frame.columns])
    jobs = others.assign(**made, **own, **{ROW_ID: np.arange(len(frame), dtype=np.int64)})
    rules = {source.column: (field, source) for field, source in sources.items()}
    ignored = tuple(name for name in others.columns if name not in (*rules, *also))
    notes = (f"Less than nothing or more than can be, and so missing: {', '.join(beyond)}.",) if beyond else ()
    return Jobs(_with_finished(jobs), tuple(also), "", rules, ignored, (*notes, *_ignored_words(ignored)))


def _require(name: str, frame: pd.DataFrame) -> None:
    if name not in frame.columns:
        there = [str(column) for column in frame.columns]
        raise ColumnMissing(f"the table has no column {name!r}; it has {shown(there)}{near(name, there)}")


def _field(frame: pd.DataFrame, field: str, source: FieldSource | None) -> pd.Series:
    """A field of the table; without a source its own column, in its own unit.

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


def moments_of(frame: pd.DataFrame, name: str) -> Floats:
    """(n,) seconds since 1970 of a column of seconds, datetimes or their texts; raises TraceError for another text."""
    return _field(frame, "start_time_s", FieldSource(name)).to_numpy(dtype=np.float64)


def unit_of(field: str, source: FieldSource) -> str:
    """The unit of a column's numbers: as given, as the column's name says, else `BARE`; '' = none."""
    quantity = FIELDS[field].unit
    text = words_of(source.column)[1]
    if source.unit or field in TIME_FIELDS:
        return source.unit or "s"
    return text if text in UNITS_OF.get(quantity, {}) else BARE.get(quantity, "")


def _texts(given: pd.Series) -> pd.Series:
    texts = [None if missing else str(value) for value, missing in zip(given, given.isna(), strict=True)]
    return pd.Series(pd.Categorical(texts))


def _read(given: pd.Series, field: str, quantity: str, factor: float) -> pd.Series:
    """What texts say, such as '1.5 GiB' or '01:02:03'; a bare number is in the column's unit.

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
    """The table with its column `finished`, where there is a status; a run without one counts as finished."""
    if "status" not in jobs.columns:
        return jobs
    return jobs.assign(finished=[ended_well(value) for value in jobs["status"].astype("object")])


def _from_file(
    bench: Workbench, path: Path, found: str, sources: Mapping[str, FieldSource], also: Sequence[str]
) -> Jobs:
    options, own = IngestOptions(format=found), found == generic.FORMAT.name
    if sources or (own and also):
        options = replace(options, mapping=_mapping(bench, path, sources, sure=own))
    report = bench.ingest(path, options)
    entry = bench.dataset(report.hash)
    frame = dict(bench.frames_of(entry, None, every=True)())["jobs"]
    names = tuple(bench._store.resolve(entry.hash, tuple(also)))
    if entry.finished_rows == entry.rows:
        frame = frame.drop(columns="finished")
    known = {column.name for column in FORMATS[found].columns} if found in FORMATS else set()
    ignored = tuple(
        one.source or one.name
        for one in bench.columns(entry.hash)
        if one.name in frame.columns and one.name not in {*FIELDS, *names, ROW_ID, *known}
    )
    return Jobs(frame, names, found, _rules(report, options), ignored, _notes(report, ignored if own else ()))


def _rules(report: IngestReport, options: IngestOptions) -> dict[str, tuple[str, FieldSource]]:
    """Column -> field and unit, as a file was read."""
    given = {field: FieldSource(one["from"], one.get("unit", "")) for field, one in report.mapping.items()}
    declared = {rule.field: FieldSource(rule.source, rule.unit) for rule in rules_of(report.format)}
    return {source.column: (field, source) for field, source in (declared | given | dict(options.mapping)).items()}


def _ignored_words(ignored: Sequence[str]) -> tuple[str, ...]:
    if not ignored:
        return ()
    return (f"Not used, as they are no field: {shown(ignored)}; name them in features= or columns=.",)


def _notes(report: IngestReport, ignored: Sequence[str]) -> tuple[str, ...]:
    warned = (f"{check.name}: {check.message}." for check in report.checks if check.level != "info")
    lost = f"{report.rejected:,} of {report.rows_read:,} rows could not be read and are left out."
    return (*_ignored_words(ignored), *((lost,) if report.rejected else ()), *warned)


def _mapping(bench: Workbench, path: Path, sources: Mapping[str, FieldSource], *, sure: bool) -> dict[str, FieldSource]:
    """The mapping of a file: what the arguments say, and, if asked, of the other fields what is sure."""
    given = {
        field: source if field in TEXT_FIELDS else replace(source, unit=unit_of(field, source))
        for field, source in sources.items()
    }
    if not sure:
        return given
    taken = {source.column for source in given.values()}
    seen = bench.suggest(path, IngestOptions(format=generic.FORMAT.name))
    others = {
        field: source
        for field, source in seen.mapping.items()
        if seen.evidence[field].sure and source.column not in taken and field not in given
    }
    return others | given


def new_jobs_of(data: Given, learned: Jobs, columns: Mapping[str, Source] | None) -> Jobs:
    """Jobs that were not run yet: a trace as `jobs_of`, or a table with the columns of the one learned from.

    Raises:
        ColumnMissing: when no column is known at submission.
        TraceError: when a value cannot be read.
    """
    table = plain_table(data) if is_table(data) else None
    try:
        result = jobs_of(data, {}, _held(columns, table))
        if result.format and result.format == learned.format:
            return result
    except (ColumnMissing, UnitUnknown):
        pass
    frame = plain_table(data)
    rules = {
        field: source
        for name, (field, source) in learned.rules.items()
        if name in frame.columns and field in (*SUBMIT_FIELDS, *SUBMITTED) and field not in frame.columns
    }
    return _by_name(frame, rules | sources_of({}, _held(columns, frame)), ())


def _held(columns: Mapping[str, Source] | None, table: pd.DataFrame | None) -> dict[str, Source]:
    """The columns that a table holds: new jobs lack what is measured."""
    there = None if table is None else {str(name) for name in table.columns}
    named = dict(columns or {})
    return {
        field: given
        for field, given in named.items()
        if there is None or (given if isinstance(given, str) else given[0]) in there
    }


def plain_table(data: Given) -> pd.DataFrame:
    """A table in memory, or that of a Parquet, Feather or CSV file, with its columns as they are.

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


def refuse_few_features(jobs: Jobs, named: Sequence[str], mode: str) -> None:
    """Refuse a table of no published format of which hardly any number is known to be a feature.

    Raises ColumnMissing when at least half of the features are absent, and numbers are there that are no field.
    """
    wanted, _ = expand_features(tuple(named) or default_features(mode))
    lacking = [name for name in wanted if name not in jobs.frame.columns]
    unknown = [name for name in jobs.ignored if pd.api.types.is_numeric_dtype(jobs.frame[name])]
    if jobs.published or not unknown or 2 * len(lacking) < len(wanted):
        return
    raise ColumnMissing(
        f"the table is of no format that workprof knows, and {len(lacking)} of the {len(wanted)} columns that profiles "
        f"are found by are not there ({', '.join(lacking)}). Its numbers {shown(unknown)} are no field: name the "
        "columns to compare in features=, or say which field each is in columns="
    )

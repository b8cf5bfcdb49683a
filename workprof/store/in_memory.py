"""Tables in memory: pandas, Arrow, Polars and whatever else hands its columns over as Arrow; as a table, as a file."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from workprof.core.errors import SettingsError, TraceError
from workprof.formats import FORMATS
from workprof.store.catalogue import checked_name
from workprof.store.detect import has_headings
from workprof.store.relation import refuse_fractions


class ArrowStream(Protocol):
    """What hands its columns over by the Arrow PyCapsule interface: Arrow, Polars, DuckDB relations and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with an ArrowArrayStream."""


Tabular = pd.DataFrame | ArrowStream
Given = str | os.PathLike[str] | Tabular
"""A table, or the path of a file with one."""

WANTED = "a DataFrame, an Arrow or Polars table, or the path of a file"


def is_table(given: object) -> bool:
    """Tell whether something is a table in memory."""
    return isinstance(given, pd.DataFrame) or hasattr(given, "__arrow_c_stream__")


def is_column(given: object) -> bool:
    """Tell whether something is one column of a library of tables, such as a Series."""
    named = any(hasattr(given, name) for name in ("columns", "column_names"))
    return is_table(given) and hasattr(given, "__array__") and not named


def is_path(given: object) -> bool:
    """Tell whether something names a file."""
    return isinstance(given, (str, os.PathLike))


REFUSED_BY_ARROW = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError)


def arrow_table(given: object) -> pa.Table:
    """A table in memory as Arrow; an index of a DataFrame that has a name is a column, as in a file of it.

    Raises:
        SettingsError: for anything else; says what it is.
        TraceError: when a column holds values of several kinds; names it. Also for names in several levels.
    """
    if isinstance(given, pd.DataFrame):
        given = _with_index(given)
        if given.columns.nlevels > 1:
            first = ", ".join(str(part) for part in given.columns[0])
            raise TraceError(
                f"names of columns have {given.columns.nlevels} levels ({first}); give each column one name"
            )
        repeated = sorted({str(name) for name in given.columns[given.columns.duplicated()]})
        if repeated:
            raise TraceError(f"the column {repeated[0]!r} is there more than once; rename one of them")
        try:
            return _plain(pa.Table.from_pandas(_of_one_kind(given.rename(columns=str)), preserve_index=False))
        except REFUSED_BY_ARROW as error:
            text = "; ".join(str(one) for one in error.args)[:300]
            raise TraceError(f"a column holds values of several kinds ({text}); make them one kind") from error
    if hasattr(given, "__arrow_c_stream__"):
        try:
            return _plain(pa.table(given))
        except REFUSED_BY_ARROW as error:
            raise SettingsError(f"a {type(given).__name__} is one column, not a table; give {WANTED}") from error
    raise SettingsError(f"the table is a {type(given).__name__}; give {WANTED}")


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame with rows from 0; levels of its index that have a name of their own come first, as columns."""
    rows = frame.reset_index(drop=True)
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    if not named or frame.columns.nlevels > 1:
        return rows
    return pd.concat([frame.index.to_frame(index=False)[named], rows], axis=1)


def _of_one_kind(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose columns of texts and numbers together are texts: pandas reads a long file in parts."""
    mixed = {}
    for name in frame.columns[frame.dtypes == "object"]:
        kinds = {type(value) for value in frame[name].dropna()}
        if len(kinds) > 1 and kinds <= {str, int, float}:
            mixed[name] = frame[name].map(str, na_action="ignore")
    return frame.assign(**mixed) if mixed else frame


def _plain(table: pa.Table) -> pa.Table:
    """A table whose texts are of the kind that every reader of Parquet knows."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string_view(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.large_string()))
    return table


def frame_of(given: object) -> pd.DataFrame:
    """A table in memory as a DataFrame with rows from 0; see `arrow_table`."""
    if isinstance(given, pd.DataFrame):
        return with_plain_times(_with_index(given))
    frame: pd.DataFrame = arrow_table(given).to_pandas()
    return frame


def with_plain_times(given: pd.DataFrame) -> pd.DataFrame:
    """A frame whose moments and lengths of time are pandas' own: those of Arrow are not known as times by its tests."""
    arrow = [at for at, kind in enumerate(given.dtypes) if isinstance(kind, pd.ArrowDtype) and kind.kind in "mM"]
    if not arrow:
        return given
    result = given.copy(deep=False)
    for at in arrow:
        result.isetitem(at, plain_times(given.iloc[:, at]))
    return result


def plain_times(given: Any) -> Any:
    """A column as `with_plain_times` has it; anything else as it is."""
    kind = getattr(given, "dtype", None)
    if not isinstance(given, pd.Series) or not isinstance(kind, pd.ArrowDtype) or kind.kind not in "mM":
        return given
    return pa.array(given).to_pandas().set_axis(given.index).rename(given.name)


NAMELESS = re.compile(r"Unnamed: \d+")
"""What pandas calls a column whose heading is empty."""


def written(given: object, folder: Path, name: str) -> Path:
    """Write a table in memory into a folder and return the file; see `arrow_table`.

    Texts and numbers become CSV, as they mostly were before: what a format knows of texts holds for them. What has
    other kinds of values (moments, lengths of time) is kept with its types, as Parquet.

    Raises SettingsError for a name that no dataset may have.
    """
    checked_name(name)
    table = arrow_table(given)
    if table.num_columns < 2 or not all(_as_text(field.type) for field in table.schema):
        path = folder / f"{name}.parquet"
        pq.write_table(table, path)
        return path
    known = next((each for each in FORMATS.values() if each.steps and has_headings(each, table.column_names)), None)
    if known is not None:
        refuse_fractions(table.schema, known, name)
    path = folder / f"{name}.csv"
    columns = [column.cast(pa.string()) if pa.types.is_null(column.type) else column for column in table.columns]
    columns = [one.cast(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in columns]
    names = ["" if NAMELESS.fullmatch(name) else name for name in table.column_names]
    csv.write_csv(pa.table(columns, names=names), path)
    return path


def _as_text(kind: pa.DataType) -> bool:
    """Tell whether values lose nothing as texts of CSV."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_integer, pa.types.is_floating)
    return any(is_kind(kind) for is_kind in (*kinds, pa.types.is_boolean, pa.types.is_null))


def paths_of(given: object) -> list[Path]:
    """The files that one path or several name; raises SettingsError, which says what it is, for anything else."""
    if isinstance(given, (str, os.PathLike)):
        return [Path(given)]
    if isinstance(given, Sequence) and all(is_path(one) for one in given):
        return [Path(one) for one in given]
    raise SettingsError(f"what is to be loaded is a {type(given).__name__}; give {WANTED}, or several paths")

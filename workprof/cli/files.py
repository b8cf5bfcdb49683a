"""An answer as a file: which kind was asked, where it goes, and what it holds."""

from __future__ import annotations

import functools
import io
import json
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workprof.core.errors import SettingsError

if TYPE_CHECKING:
    from workprof.core.answer import Answer

STDOUT = Path("-")
"""As a file to write: standard output."""
CSV, MARKDOWN, PARQUET, JSON = "csv", "md", "parquet", "json"
KINDS = (CSV, MARKDOWN, PARQUET)
"""Those that are options."""


@dataclass(frozen=True)
class File:
    """What an answer is written as, and where."""

    kind: str
    path: Path
    started: float
    table: str = ""  # by name; '' = the first


def asked(given: Mapping[str, Any], as_json: bool) -> File | None:
    """What is to be written, refused before anything is computed; None = nothing is.

    `given` has the options `csv`, `md`, `parquet`, `table` and `output`.
    """
    kinds, path, table = [kind for kind in KINDS if given.get(kind)], given.get("output"), given.get("table") or ""
    if not kinds and path is None:
        if table:
            raise SettingsError(f"--table {table} changes nothing here; give --csv or --parquet, or -o FILE")
        return None
    if len(kinds) > 1:
        raise SettingsError(f"give either {' or '.join(f'--{kind}' for kind in kinds)}")
    path = path or STDOUT
    if path == STDOUT and not kinds:  # as without it
        return None
    kind = kinds[0] if kinds else path.suffix.lower().removeprefix(".")
    if kind not in (*KINDS, JSON):
        raise SettingsError(f"-o {path} says neither .csv, .md, .parquet nor .json; give --csv, --md or --parquet too")
    if path == STDOUT and as_json:
        raise SettingsError(f"--{kind} and --json both print on stdout; leave out one, or give -o FILE")
    if table and kind not in (CSV, PARQUET):
        raise SettingsError(f"--table {table} changes nothing for .{kind}, which has every table; leave it out")
    from workprof.store.outputs import checked_output  # noqa: PLC0415  light until needed

    return File(kind, path if path == STDOUT else checked_output(path), time.perf_counter(), table)


def content_of(answer: Answer, to: File) -> bytes:
    """The content of the file; raises SettingsError for a table that the answer has not."""
    from workprof.core.answer import to_csv, to_json, to_markdown  # noqa: PLC0415  light until needed

    names = [one.name for one in answer.tables]
    if to.table and to.table not in names:
        raise SettingsError(f"--table is {to.table!r}; choose from {', '.join(names) or 'none: there is no table'}")
    if to.kind == JSON:
        return json.dumps(to_json(answer), allow_nan=False).encode() + b"\n"
    if to.kind == MARKDOWN:
        return f"{to_markdown(answer)}\n".encode()
    if not names:
        raise SettingsError(f"--{to.kind} is of a table, and this answer has none; give --json")
    if to.kind == CSV:
        return to_csv(answer, to.table)
    stream = io.BytesIO()
    answer.table(to.table).frame().to_parquet(stream, index=False)
    return stream.getvalue()


def rows_of(answer: Answer, to: File) -> int:
    """How many rows the file has."""
    return len(answer.table(to.table).rows) if answer.tables else 0


def answer_of(result: Any) -> Answer:
    """An answer with the rows of a plain JSON document: a list of objects, or the first one in an object."""
    from workprof.core.answer import Answer, Table  # noqa: PLC0415  light until needed
    from workprof.core.table import Column  # noqa: PLC0415  light until needed

    found = ("rows", result) if isinstance(result, list) else _first_rows(result)
    if found is None:
        return Answer("", document=result)
    alike = {name for name, value in found[1][0].items() if isinstance(value, dict)} if found[1] else set()
    alike = {name for name in alike if len({json.dumps(_names(row.get(name))) for row in found[1]}) == 1}
    rows = [dict(_flat(row, "", alike)) for row in found[1]]
    names = dict.fromkeys(name for row in rows for name in row)
    columns = tuple(Column(name, functools.partial(_cell, name)) for name in names)
    document = {} if isinstance(result, list) else result
    return Answer("", tables=(Table(found[0], "", columns, rows),), document=document)


def _cell(name: str, row: Mapping[str, Any]) -> Any:
    return row.get(name)


def _first_rows(result: Mapping[str, Any]) -> tuple[str, list[Any]] | None:
    lists = ((name, value) for name, value in result.items() if isinstance(value, list))
    return next(((name, value) for name, value in lists if value and isinstance(value[0], dict)), None)


def _names(value: Any) -> Any:
    return {name: _names(one) for name, one in value.items()} if isinstance(value, dict) else None


def _flat(value: Any, name: str, alike: Collection[str] | None = None) -> Iterator[tuple[str, Any]]:
    """The values of an object; of those within it by 'outer.inner' where all rows have the same; else as JSON."""
    for key, one in value.items():
        at = f"{name}.{key}" if name else str(key)
        if isinstance(one, dict) and one and (alike is None or key in alike):
            yield from _flat(one, at)
        else:
            yield at, json.dumps(one) if isinstance(one, (list, dict)) else one

"""The look at a generic file that the mapping screen shows."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workprof.core.progress import silent
from workprof.formats import generic
from workprof.store.connection import Database
from workprof.store.home import room_in
from workprof.store.json_rows import first_objects, is_json
from workprof.store.mapping import guessed_mapping, missing_fields
from workprof.store.parquet_bounds import refuse_promises
from workprof.store.relation import guessed_type, parquet_relation
from workprof.store.reports import IngestOptions, Suggestion
from workprof.store.running import Span
from workprof.store.spool import (
    PARQUET_MAGIC,
    Spooled,
    TextOptions,
    checked_input,
    head_of,
    is_columnar,
    plain_head,
    spool,
)
from workprof.store.text_shape import HEAD_BYTES, decoded_head, text_shape

SHOWN_VALUES = 5


def suggest(database: Database, path: Path, options: IngestOptions) -> Suggestion:
    """Return columns, types, first values and guesses; reads only the first rows."""
    checked_input(path)
    if head_of(path).startswith(PARQUET_MAGIC):
        return _of_parquet(Spooled(path, path.name, parquet=True), database.expansion_limit)
    head = plain_head(path, HEAD_BYTES, options.encoding, options.sheet)
    if is_columnar(head):
        token = uuid.uuid4().hex
        lost = f"{path.name} was not looked at"
        with database.home.spool_folder(token) as folder, room_in(database.home.folder, lost):
            wanted = TextOptions(expansion_limit=database.expansion_limit)
            unpacked = spool(path, folder / "look", wanted, silent, Span(0, 1, ""))
            return _of_parquet(unpacked, database.expansion_limit)
    return _of_text(head, path.name, options)


def _of_text(head: bytes, origin: str, options: IngestOptions) -> Suggestion:
    content = decoded_head(head, origin)
    if is_json(content):
        objects = first_objects(content, len(head) < HEAD_BYTES)
        names = tuple(dict.fromkeys(key for found in objects for key in found))
        values = {name: tuple(str(found[name]) for found in objects if found.get(name) is not None) for name in names}
        return _proposal(names, values, {}, "", options)
    shape = text_shape(head, origin, options.delimiter)
    values = {name: shape.values(position) for position, name in enumerate(shape.header)}
    return _proposal(
        shape.header, values, {}, shape.delimiter, replace(options, decimal=options.decimal or shape.decimal)
    )


def _of_parquet(spooled: Spooled, expansion_limit: int) -> Suggestion:
    refuse_promises(spooled, expansion_limit)
    relation = parquet_relation(spooled)
    with pq.ParquetFile(spooled.path) as file:
        first = next(
            file.iter_batches(batch_size=SHOWN_VALUES), pa.RecordBatch.from_pylist([], schema=file.schema_arrow)
        )
        values = {name: tuple(str(value) for value in first.column(name).to_pylist()) for name in first.schema.names}
    types = {column.name: column.type for column in relation.columns}
    return _proposal(tuple(types), values, types, "", IngestOptions())


def _proposal(
    names: tuple[str, ...],
    values: dict[str, tuple[str, ...]],
    types: dict[str, str],
    delimiter: str,
    options: IngestOptions,
) -> Suggestion:
    nulls, decimal = generic.FORMAT.nulls, options.decimal or "."
    known = types or {name: guessed_type(values[name], nulls, decimal) for name in names}
    mapping = guessed_mapping(known, values)
    sample = {name: values[name][:SHOWN_VALUES] for name in names}
    encoding = options.encoding or ("utf-8" if not types else "")
    return Suggestion(names, known, sample, mapping, missing_fields(mapping), delimiter, encoding)

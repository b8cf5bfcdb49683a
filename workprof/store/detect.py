"""Which format files have: by their names for the raw PAI tables, by their columns for the others."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workprof.errors import TraceError
from workprof.formats import FORMATS, NAMES, TABLES, generic
from workprof.formats.measured import BENCHMARK_KEYS, BENCHMARKS
from workprof.formats.telemetry import sniffed
from workprof.store.compression import PARQUET_MAGIC, head_of, plain_head
from workprof.store.json_rows import first_objects, is_json
from workprof.store.spool import checked_input
from workprof.store.table_files import looks_like_tables
from workprof.store.text_shape import HEAD_BYTES, decoded_head, text_shape


def detect(paths: Sequence[Path], delimiter: str = "", encoding: str = "") -> str:
    """Return the name of the format that the files seem to have.

    Raises:
        TraceError: when it is none that is known for sure; names the formats.
    """
    if looks_like_tables(paths):
        return TABLES
    if len(paths) > 1 and not any(path.is_dir() for path in paths):
        raise several_files(paths)
    if len(paths) != 1 or paths[0].is_dir():
        named = ", ".join(path.name or str(path) for path in paths) or "nothing"
        raise TraceError(
            f"{named}: no raw PAI tables (pai_*_table.csv) there; give one file, or the folder of the tables"
        )
    measured = measurements(checked_input(paths[0]), encoding)
    if measured:
        return measured
    found = set(column_names(checked_input(paths[0]), delimiter, encoding))
    for name, declared in FORMATS.items():
        if declared.signature and set(declared.signature) <= found:
            return name
    if found:
        return generic.FORMAT.name
    raise TraceError(f"{paths[0].name}: the format is not clear; name it with --format: one of {', '.join(NAMES)}")


def measurements(path: Path, encoding: str) -> str:
    """Return the format of a file of measurements, '' for any other file."""
    head = plain_head(path, HEAD_BYTES)
    if head.startswith(PARQUET_MAGIC):
        return ""
    content = (as_utf8(head, encoding, path.name) if encoding else head).decode(errors="replace").removeprefix("\ufeff")
    if is_json(content):
        keys = {key for found in first_objects(content, len(head) < HEAD_BYTES) for key in found}
        if set(BENCHMARK_KEYS) <= keys:
            return BENCHMARKS
    return sniffed(content) or ""


def several_files(paths: Sequence[Path]) -> TraceError:
    """Return the refusal of several files that are no raw PAI tables: reason and next step."""
    names = " ".join(shlex.quote(str(path)) for path in paths[:3]) + (" ..." if len(paths) > 3 else "")
    return TraceError(
        f"{len(paths)} files are named, but outside {TABLES} a dataset is one file: its name, its rejected lines and "
        f"(Nextflow) its workload come from that file. Load them one by one: "
        f'for file in {names}; do workprof ingest "$file"; done'
    )


def column_names(path: Path, delimiter: str, encoding: str) -> tuple[str, ...]:
    """Return the columns of a file: of its Parquet schema, its header, or the keys of its first JSON objects."""
    if head_of(path).startswith(PARQUET_MAGIC):
        try:
            return tuple(pq.read_schema(path).names)
        except (pa.ArrowException, OSError, UnicodeError) as error:
            raise TraceError(f"{path.name}: broken Parquet file ({error}); write it again") from error
    head = plain_head(path, HEAD_BYTES)
    if encoding:
        head = as_utf8(head, encoding, path.name)
    if head.startswith(PARQUET_MAGIC):
        return ("parquet",)
    content = decoded_head(head, path.name)
    if is_json(content):
        return tuple(dict.fromkeys(key for found in first_objects(content, len(head) < HEAD_BYTES) for key in found))
    return text_shape(head, path.name, delimiter).header


def as_utf8(head: bytes, encoding: str, name: str) -> bytes:
    """Return the first bytes of a file in another encoding as UTF-8; a last half character is left out."""
    try:
        return head.decode(encoding, errors="ignore").removeprefix("\ufeff").encode(errors="replace")
    except (LookupError, ValueError) as error:
        raise TraceError(f"{name}: encoding {encoding!r} is not known; use utf-8, utf-16 or latin-1") from error

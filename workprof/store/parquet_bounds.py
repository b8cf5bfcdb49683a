"""What a Parquet file holds, bounded before its rows are made.

A column of one value takes a few bytes for a million rows, whatever the length of that value; as a table each row takes
its place, each number eight bytes and each text its length.
"""

from __future__ import annotations

import duckdb
import pyarrow.parquet as pq

from workprof.core.errors import TraceError
from workprof.core.progress import Progress
from workprof.core.units import format_bytes
from workprof.store.connection import quoted
from workprof.store.relation import opened, parquet_relation
from workprof.store.running import Span, run_watched
from workprof.store.spool import Spooled, most_bytes

BYTES_OF_A_VALUE = 8
TEXT = "BYTE_ARRAY"
LOOK = Span(0.3, 0.33, "measuring texts")


def refuse_promises(spooled: Spooled, times: int) -> None:
    """Refuse a Parquet file whose footer promises more than `times` its bytes, or contradicts itself.

    Raises TraceError, which says how many rows and bytes they are, and what to do.
    """
    _, footer = opened(spooled)
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    rows = sum(group.num_rows for group in groups)
    flat = [at for at in range(footer.num_columns) if not footer.schema.column(at).max_repetition_level]
    if rows != footer.num_rows or any(one.column(at).num_values != one.num_rows for one in groups for at in flat):
        raise TraceError(
            f"{spooled.origin}: broken Parquet file (its footer tells of {footer.num_rows:,} rows, its parts of "
            f"{rows:,} or of other numbers of values); write it again"
        )
    _refuse_size(spooled, times, rows, _least_bytes(footer))


def refuse_long_texts(cursor: duckdb.DuckDBPyConnection, spooled: Spooled, times: int, progress: Progress) -> None:
    """Refuse a Parquet file whose texts take more than `times` its bytes: lengths are added up, no text is made.

    Raises TraceError, which says how many rows and bytes they are, and what to do.
    """
    _, footer = opened(spooled)
    texts = [chunk for chunk in _chunks(footer) if chunk.physical_type == TEXT and chunk.has_dictionary_page]
    size = _least_bytes(footer)
    if size + sum(chunk.num_values * chunk.total_uncompressed_size for chunk in texts) <= most_bytes(
        spooled.path, times
    ):
        return
    names = dict.fromkeys(chunk.path_in_schema for chunk in texts)
    lengths = " + ".join(f"coalesce(sum(strlen({quoted(name)}::VARCHAR)), 0)" for name in names)
    ((result,),) = run_watched(cursor, f"SELECT {lengths} FROM {parquet_relation(spooled).sql}", [], progress, LOOK)
    _refuse_size(spooled, times, footer.num_rows, size + int(result))


def _refuse_size(spooled: Spooled, times: int, rows: int, size: int) -> None:
    if size > most_bytes(spooled.path, times):
        raise TraceError(
            f"{spooled.origin} is {format_bytes(spooled.path.stat().st_size)} long and its {rows:,} rows hold "
            f"{format_bytes(size)} or more (over {times} times that): taken for a compression bomb; if you trust it, "
            f"raise WORKPROF_EXPANSION_LIMIT, or load a part of its rows"
        )


def _least_bytes(footer: pq.FileMetaData) -> int:
    """The bytes of all rows and values, but for the lengths of texts; cells without a value take none."""
    chunks = _chunks(footer)
    values = sum(chunk.num_values - _nulls(chunk) for chunk in chunks)
    plain = sum(chunk.total_uncompressed_size for chunk in chunks)
    return int(max(BYTES_OF_A_VALUE * (footer.num_rows + values), plain))


def _chunks(footer: pq.FileMetaData) -> list[pq.ColumnChunkMetaData]:
    groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
    return [group.column(at) for group in groups for at in range(group.num_columns)]


def _nulls(chunk: pq.ColumnChunkMetaData) -> int:
    """The cells without a value, as far as the footer tells."""
    result = chunk.statistics.null_count if chunk.is_stats_set and chunk.statistics.has_null_count else 0
    return min(max(int(result), 0), int(chunk.num_values))

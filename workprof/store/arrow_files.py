"""Arrow IPC files and streams, Feather of both versions: written as Parquet into the spool, batch by batch."""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workprof.core.errors import TraceError
from workprof.core.units import format_bytes
from workprof.store.home import is_full

FILE_MAGIC, FEATHER_1_MAGIC, STREAM_MAGIC = b"ARROW1", b"FEA1", b"\xff\xff\xff\xff"
PIECE_ROWS = 1 << 16


def is_arrow(head: bytes) -> bool:
    """Tell whether the first bytes are those of an Arrow file, an Arrow stream or a Feather file."""
    return head.startswith((FILE_MAGIC, FEATHER_1_MAGIC, STREAM_MAGIC))


def arrow_schema(path: Path) -> pa.Schema:
    """The columns of an Arrow or Feather file; raises TraceError when it is broken."""
    with _batches(path) as (schema, _):
        return schema


def write_parquet(path: Path, target: Path, most_bytes: int, report_bytes: Callable[[int], None]) -> None:
    """Write the rows of an Arrow or Feather file as Parquet, a batch in memory at a time.

    `report_bytes` is called with the bytes of the rows so far; it may cancel.

    Raises TraceError when the file is broken or cut off, has nested columns, or takes more than `most_bytes`.
    """
    done = 0
    with _batches(path) as (schema, batches):
        nested = [field.name for field in schema if pa.types.is_nested(field.type)]
        if nested:
            raise TraceError(
                f"{path.name}: nested columns {', '.join(nested[:5])}; flatten or drop them, then load again"
            )
        with pq.ParquetWriter(target, schema, compression="none", use_dictionary=False) as writer:
            for batch in batches:
                done += batch.nbytes
                report_bytes(done)
                if done > most_bytes:
                    raise TraceError(
                        f"{path.name} unpacks to more than {format_bytes(most_bytes)}: taken for a compression bomb; "
                        f"if you trust it, write it uncompressed or raise WORKPROF_EXPANSION_LIMIT"
                    )
                for start in range(0, batch.num_rows, PIECE_ROWS):
                    writer.write_batch(batch.slice(start, PIECE_ROWS))


@contextlib.contextmanager
def _batches(path: Path) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    try:
        with pa.OSFile(str(path), "rb") as source:
            magic = source.read(len(FILE_MAGIC))
            source.seek(0)
            if magic.startswith(FEATHER_1_MAGIC):
                table = _feather_1(path)
                yield table.schema, iter(table.to_batches())
            elif magic.startswith(FILE_MAGIC):
                file = pa.ipc.open_file(source)
                yield file.schema, (file.get_batch(at) for at in range(file.num_record_batches))
            else:
                stream = pa.ipc.open_stream(source)
                yield stream.schema, iter(stream)
    except (pa.ArrowException, OSError, UnicodeError, ValueError) as error:
        if is_full(error):
            raise
        raise TraceError(
            f"{path.name}: the Arrow data are broken or cut off ({error}); write the file again"
        ) from error


def _feather_1(path: Path) -> pa.Table:
    from pyarrow import feather  # noqa: PLC0415  seldom

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # as long as pyarrow reads it
        return feather.read_table(path, memory_map=True)

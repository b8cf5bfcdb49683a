"""Compressed inputs as a stream of plain bytes, with a guard against compression bombs."""

from __future__ import annotations

import contextlib
import gzip
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from workprof.errors import TraceError
from workprof.settings import DEFAULT_EXPANSION_LIMIT
from workprof.units import MIB, format_bytes

CHUNK_BYTES = MIB
EXPANSION_FLOOR_BYTES = 256 * MIB
"""Below this much output the ratio does not matter."""

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
PARQUET_MAGIC = b"PAR1"
TAR_MAGIC = (b"ustar", 257)

BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, OSError, tarfile.TarError, pa.ArrowException)


def compression_of(head: bytes) -> str:
    """Return 'gzip', 'zstd' or '' for the first bytes of a file (names may lie)."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    return "zstd" if head.startswith(ZSTD_MAGIC) else ""


def is_tar(head: bytes) -> bool:
    """Tell whether plain bytes begin a tar archive."""
    magic, offset = TAR_MAGIC
    return head[offset : offset + len(magic)] == magic


def is_packed(head: bytes) -> bool:
    """Tell whether the first bytes of a file say that what it holds is to be taken out of it first."""
    return bool(compression_of(head)) or is_tar(head)


@contextlib.contextmanager
def plain_stream(path: Path) -> Iterator[Any]:
    """Yield a readable of the file's plain bytes (gzip and zstd undone).

    Raises:
        TraceError: when the compressed data are broken or cut off.
    """
    with path.open("rb") as stream:
        kind = compression_of(stream.read(4))
    try:
        if kind == "gzip":
            with gzip.open(path, "rb") as plain:
                yield plain
        elif kind == "zstd":
            with pa.input_stream(str(path), compression="zstd") as plain:
                yield plain
        else:
            with path.open("rb") as plain:
                yield plain
    except BROKEN as error:
        raise TraceError(
            f"{path.name}: the {kind or 'plain'} data are broken or cut off ({error}); fetch the file again"
        ) from error


def most_bytes(path: Path, times: int) -> int:
    """Return how much a file may hold that may expand to so many times its size."""
    return max(EXPANSION_FLOOR_BYTES, times * path.stat().st_size)


def chunks(path: Path, times: int = DEFAULT_EXPANSION_LIMIT) -> Iterator[bytes]:
    """Yield the file's plain bytes in chunks; of a tar archive, those of its first regular file.

    Args:
        path: of the file.
        times: its size a compressed file may unpack to.

    Raises:
        TraceError: for broken data and for a compression bomb.
    """
    limit = most_bytes(path, times)
    compressed = bool(compression_of(head_of(path)))
    with plain_stream(path) as stream:
        done = 0
        for chunk in _tar_aware(stream):
            done += len(chunk)
            if compressed and done > limit:
                raise TraceError(
                    f"{path.name} unpacks to more than {format_bytes(limit)} ({times} times its size): taken for "
                    f"a compression bomb; if you trust it, unpack it yourself or raise WORKPROF_EXPANSION_LIMIT"
                )
            yield chunk


def head_of(path: Path, size: int = 512) -> bytes:
    """Return a file's first bytes, compressed or not."""
    with path.open("rb") as stream:
        return stream.read(size)


def plain_head(path: Path, size: int) -> bytes:
    """Return the first plain bytes of a file, at most `size`."""
    parts: list[bytes] = []
    held = 0
    for chunk in chunks(path):
        parts.append(chunk)
        held += len(chunk)
        if held >= size:
            break
    return b"".join(parts)[:size]


def _tar_aware(stream: Any) -> Iterator[bytes]:
    first = stream.read(CHUNK_BYTES)
    if is_tar(first):
        yield from _first_member(_Replay(first, stream))
        return
    while first:
        yield bytes(first)
        first = stream.read(CHUNK_BYTES)


def _first_member(stream: _Replay) -> Iterator[bytes]:
    with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]
        for member in archive:
            if member.isfile():
                source: IO[bytes] | None = archive.extractfile(member)
                while source is not None and (chunk := source.read(CHUNK_BYTES)):
                    yield chunk
                return


class _Replay:
    """A stream whose first bytes were already taken."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self._first, self._rest = first, rest

    def read(self, size: int) -> bytes:
        if self._first:
            taken, self._first = self._first[:size], self._first[size:]
            return taken
        return bytes(self._rest.read(size))

"""An input file as a plain UTF-8 file (or Parquet file) inside the home, where DuckDB may read it.

A plain file becomes a hard link (no bytes move) or, across file systems, a copy; a compressed one is unpacked and one
in another encoding is rewritten, both in chunks. The names in the spool are ours: a hostile file name never becomes a
path or a glob pattern.
"""

from __future__ import annotations

import codecs
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from workprof.errors import TraceError
from workprof.progress import Progress
from workprof.store.compression import PARQUET_MAGIC, chunks, compression_of, head_of, is_tar
from workprof.store.long_lines import LongLine, set_aside_long_lines
from workprof.store.running import Span
from workprof.units import MIB, format_bytes

SPARE_DISK_BYTES = 64 * MIB
KNOWN = "utf-8, utf-16, utf-16-le, utf-16-be or latin-1"
UTF8_NAMES = ("", "utf-8", "utf8", "utf_8", "utf-8-sig")


@dataclass(frozen=True)
class Spooled:
    """A file that DuckDB may read, the name that people know it by, and the lines that are no longer in it."""

    path: Path
    origin: str
    parquet: bool = False
    long_lines: tuple[LongLine, ...] = ()


def checked_input(path: Path) -> Path:
    """Return the path when it is a readable, non-empty regular file.

    Raises:
        TraceError: says what it is instead.
    """
    if not path.exists():
        raise TraceError(f"{path}: no such file; check the path")
    if not path.is_file():
        raise TraceError(
            f"{path}: not a regular file; give a CSV, Parquet or JSON lines file, or a folder of raw PAI tables"
        )
    try:
        with path.open("rb") as stream:
            first = stream.read(1)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    if not first:
        raise TraceError(f"{path.name}: the file is empty; nothing to load")
    return path


def spool(path: Path, folder: Path, stem: str, encoding: str, progress: Progress, span: Span) -> Spooled:
    """Return the file inside `folder` under the name `stem`.

    Raises:
        TraceError: for broken or bomb-like compressed data, a wrong encoding, a full disk.
    """
    head = head_of(path)
    if head.startswith(PARQUET_MAGIC):
        return Spooled(_link(path, folder / f"{stem}.parquet", progress, span), path.name, parquet=True)
    plain = not compression_of(head) and not is_tar(head)
    if plain and encoding.lower() in UTF8_NAMES:
        linked = _link(path, folder / f"{stem}.csv", progress, span)
        return Spooled(linked, path.name, long_lines=set_aside_long_lines(linked))
    target = folder / f"{stem}.csv"
    source = _told(chunks(path), path, plain, progress, span)
    _write(source if encoding.lower() in UTF8_NAMES else _utf8(source, encoding, path.name), target)
    if head_of(target, 4) == PARQUET_MAGIC:
        return Spooled(target.rename(target.with_suffix(".parquet")), path.name, parquet=True)
    return Spooled(target, path.name, long_lines=set_aside_long_lines(target))


def _link(path: Path, target: Path, progress: Progress, span: Span) -> Path:
    try:
        os.link(path.resolve(), target)
    except OSError:  # another file system, or links to others' files are forbidden
        _write(_told(_plain_chunks(path), path, True, progress, span), target)
    return target


def _plain_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(MIB):
            yield chunk


def _told(source: Iterable[bytes], path: Path, plain: bool, progress: Progress, span: Span) -> Iterator[bytes]:
    size, done = max(path.stat().st_size, 1), 0
    for number, chunk in enumerate(source):
        done += len(chunk)
        if number % 16 == 0:
            progress(span.at(done / size) if plain else None, f"{span.message}: {format_bytes(done)}")
        yield chunk


def _write(source: Iterable[bytes], target: Path) -> None:
    free = shutil.disk_usage(target.parent).free - SPARE_DISK_BYTES
    written = 0
    with target.open("wb") as stream:
        for chunk in source:
            written += len(chunk)
            if written > free:
                raise TraceError(
                    f"the disk of the home folder has no room for the unpacked input (more than {format_bytes(free)}); "
                    f"free some, or give another home with --home"
                )
            stream.write(chunk)


def _utf8(source: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError as error:
        raise TraceError(f"encoding {encoding!r} is not known; use {KNOWN}") from error
    try:
        for chunk in source:
            yield decoder.decode(chunk).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise TraceError(f"{name} is not in encoding {encoding!r} ({error}); try utf-8, utf-16 or latin-1") from error

"""An input file as a plain UTF-8 file (or Parquet file) inside the home, where DuckDB may read it."""

from __future__ import annotations

import codecs
import contextlib
import errno
import functools
import gzip
import hashlib
import io
import itertools
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from workprof.core.errors import TraceError
from workprof.core.progress import Progress
from workprof.core.settings import DEFAULT_EXPANSION_LIMIT
from workprof.core.units import MIB, format_bytes
from workprof.store.arrow_files import is_arrow, write_parquet
from workprof.store.csv_rows import CsvWriter, Places, written_text
from workprof.store.home import free_bytes, narrow, open_private_bytes
from workprof.store.json_rows import LINES, is_json, json_shape
from workprof.store.reports import Check
from workprof.store.running import Span
from workprof.store.spreadsheet import Workbook, is_workbook
from workprof.store.text_shape import UTF16_BOMS, LongLine, set_aside_long_lines

CHUNK_BYTES = MIB
EXPANSION_FLOOR_BYTES = 256 * MIB
"""Below this much output the ratio does not matter."""

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
PARQUET_MAGIC = b"PAR1"
TAR_MAGIC = (b"ustar", 257)

BROKEN = (EOFError, zlib.error, gzip.BadGzipFile, OSError, tarfile.TarError, pa.ArrowException)


def compression_of(head: bytes) -> str:
    """'gzip', 'zstd' or '' for the first bytes of a file (names may lie)."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    return "zstd" if head.startswith(ZSTD_MAGIC) else ""


def is_tar(head: bytes) -> bool:
    """Tell whether plain bytes begin a tar archive."""
    magic, offset = TAR_MAGIC
    return head[offset : offset + len(magic)] == magic


def is_columnar(head: bytes) -> bool:
    """Tell whether plain bytes begin a Parquet, Arrow or Feather file."""
    return head.startswith(PARQUET_MAGIC) or is_arrow(head)


def is_packed(head: bytes) -> bool:
    """Tell whether the first bytes of a file say that what it holds is to be taken out of it first."""
    return bool(compression_of(head)) or is_tar(head)


@contextlib.contextmanager
def plain_stream(path: Path) -> Iterator[Any]:
    """Yield a readable of the file's plain bytes (gzip and zstd undone).

    Raises TraceError when the compressed data are broken or cut off.
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
    """How much a file may hold that may expand to so many times its size."""
    return max(EXPANSION_FLOOR_BYTES, times * path.stat().st_size)


def chunks(path: Path, times: int = DEFAULT_EXPANSION_LIMIT) -> Iterator[bytes]:
    """Yield the file's plain bytes, at most `times` its size; of a tar archive, those of its first regular file.

    Raises TraceError for broken data and for a compression bomb.
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
    """A file's first bytes, compressed or not."""
    with path.open("rb") as stream:
        return stream.read(size)


def plain_head(path: Path, size: int, encoding: str = "", sheet: str = "") -> bytes:
    """The first plain bytes of a file, at most `size`: of a text as UTF-8, of a workbook's table as CSV.

    Without an encoding a text is UTF-8, or UTF-16 where it begins with that byte order mark; without a sheet the first
    that holds a table counts.
    """
    if is_workbook(path, head_of(path)):
        return _workbook_head(path, path.stat().st_mtime_ns, size, sheet)
    parts: list[bytes] = []
    held = 0
    for chunk in chunks(path):
        parts.append(chunk)
        held += len(chunk)
        if held >= size:
            break
    head = b"".join(parts)[:size]
    named = encoding or _marked_encoding(head)
    plain = _as_utf8(head, named, path.name) if named else head
    if is_columnar(plain):
        return plain
    cr = _ends_with_cr(plain) or _mixes_line_ends(plain[:LOOK_BYTES])
    return b"".join(_Even([plain])) if cr else _without_strays(plain)


def _marked_encoding(head: bytes) -> str:
    """The encoding that a byte order mark tells, '' for UTF-8 and where there is none."""
    return "utf-16" if head.startswith(UTF16_BOMS) else ""


def _as_utf8(head: bytes, encoding: str, name: str) -> bytes:
    """The first bytes of a file in another encoding as UTF-8; a last half character is left out."""
    try:
        return head.decode(encoding, errors="ignore").removeprefix("\ufeff").encode(errors="replace")
    except (LookupError, ValueError) as error:
        raise TraceError(f"{name}: encoding {encoding!r} is not known; use {KNOWN}") from error


@functools.lru_cache(maxsize=4)
def _workbook_head(path: Path, modified_ns: int, size: int, sheet: str) -> bytes:
    """The first bytes of a workbook's table as CSV; opening one reads all its texts, so that it is kept."""
    text = io.StringIO()
    with contextlib.closing(Workbook(path, sheet, most_bytes(path, DEFAULT_EXPANSION_LIMIT), lambda _: None)) as book:
        writer = CsvWriter(text)
        for _, cells in book.rows():
            writer.writerow(cells)
            if text.tell() > size:
                break
    return text.getvalue().encode(errors="replace")[:size]


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


SPARE_DISK_BYTES = 64 * MIB
LOOK_BYTES = 1 << 16
KNOWN = "utf-8, utf-16, utf-16-le, utf-16-be or latin-1"
UTF8_NAMES = ("", "utf-8", "utf8", "utf_8", "utf-8-sig")


@dataclass(frozen=True)
class Unpacked:
    """SHA-256 and size of what a compressed file holds."""

    sha256: bytes
    size_bytes: int


@dataclass(frozen=True)
class Spooled:
    """A file that DuckDB may read, and the name that people know it by."""

    path: Path
    origin: str
    parquet: bool = False
    long_lines: tuple[LongLine, ...] = ()  # the lines that are no longer in it
    # a CSV file that tells which line of the input a line comes from, where that is not the same (pairs of a line here
    # and one there, from which both are counted on)
    lines: Path | None = None
    unpacked: Unpacked | None = None  # of a compressed input
    header: bool = True  # its first line names the columns
    checks: tuple[Check, ...] = ()  # what was found while it was spooled
    skipped: int = 0  # lines before its first that are no longer in it


@dataclass(frozen=True)
class TextOptions:
    """How a text is spooled."""

    encoding: str = ""  # of the file; '' = UTF-8
    # write LF for every CR LF and a space for every other CR (within quotes too). A text that mixes both near its
    # beginning, or ends its lines with CR alone, is written with LF unasked
    even_line_ends: bool = False
    long_lines: bool = False  # a line may be of any length: a document on one line, or a tool's whole output
    expansion_limit: int = DEFAULT_EXPANSION_LIMIT  # how many times its size a compressed file may unpack to
    sheet: str = ""  # of a workbook; '' = the first that holds a table

    @property
    def as_it_is(self) -> bool:
        """Whether the bytes need no rewriting."""
        return self.encoding.lower() in UTF8_NAMES and not self.even_line_ends


def checked_input(path: Path) -> Path:
    """The path when it is a readable, non-empty regular file; raises TraceError, which says what it is instead."""
    if not path.exists():
        raise TraceError(f"{path}: no such file; check the path")
    if not path.is_file():
        raise TraceError(
            f"{path}: not a regular file; give a CSV, Excel, Parquet, Arrow or JSON file, or a folder of raw PAI tables"
        )
    try:
        with path.open("rb") as stream:
            first = stream.read(1)
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    if not first:
        raise TraceError(f"{path.name}: the file is empty; nothing to load")
    return path


def spool(path: Path, target: Path, options: TextOptions, progress: Progress, span: Span) -> Spooled:
    """The file as `target` (a name in the spool without its suffix).

    Raises:
        TraceError: for broken or bomb-like compressed data, a wrong encoding.
        OSError: before the input would fill the disk.
    """
    head = head_of(path)
    if head.startswith(PARQUET_MAGIC):
        return Spooled(_link(path, target.with_suffix(".parquet"), progress, span), path.name, parquet=True)
    if is_workbook(path, head):
        return _table_of_workbook(path, target, options, progress, span)
    if is_arrow(head):
        return _parquet_of_arrow(path, path, target, options, progress, span)
    packed, place = is_packed(head), target.with_suffix(".csv")
    plain = options.as_it_is and not _marked_encoding(head) and not _mixes_line_ends(head_of(path, LOOK_BYTES))
    if not packed and plain:
        _link(path, place, progress, span)
        return Spooled(place, path.name, long_lines=_without_long_lines(place, options))
    hashed = _Hashed(_watched(chunks(path, options.expansion_limit), path, not packed, progress, span))
    rewritten = _rewritten(hashed, options, path.name)
    write_bytes(rewritten, place)
    unpacked = Unpacked(hashed.sha256.digest(), hashed.size_bytes) if packed else None
    if head_of(place, 4) == PARQUET_MAGIC:
        parquet = place.rename(place.with_suffix(".parquet"))
        return Spooled(parquet, path.name, parquet=True, unpacked=unpacked)
    if is_arrow(head_of(place)):
        return replace(_parquet_of_arrow(path, place, target, options, progress, span), unpacked=unpacked)
    found = _strays(rewritten.strays) if isinstance(rewritten, _Even) else ()
    long_lines = _without_long_lines(place, options)
    return Spooled(place, path.name, long_lines=long_lines, unpacked=unpacked, checks=found)


def _table_of_workbook(path: Path, target: Path, options: TextOptions, progress: Progress, span: Span) -> Spooled:
    """Write the table of a workbook as CSV; its rows keep their numbers in the sheet."""
    place, lines = target.with_suffix(".csv"), target.with_name(f"{target.name}-sheet-lines.csv")
    most, written = most_bytes(path, options.expansion_limit), 0

    def report_bytes(done_bytes: int) -> None:
        progress(None, f"{span.message}: {format_bytes(done_bytes)}")

    with contextlib.closing(Workbook(path, options.sheet, most, report_bytes)) as book:
        with written_text(place) as plain, written_text(lines) as numbers:
            writer, places = CsvWriter(plain), Places(numbers)
            for at, (number, cells) in enumerate(book.rows()):
                writer.writerow(cells)
                if at:
                    places.note(number)
                written += sum(map(len, cells))
                if written > most:
                    raise TraceError(
                        f"{path.name} unpacks to more than {format_bytes(most)} ({options.expansion_limit} times its "
                        f"size): taken for a compression bomb; if you trust it, save the sheet as CSV, or raise "
                        f"WORKPROF_EXPANSION_LIMIT"
                    )
        checks = book.checks()
    return Spooled(place, path.name, lines=lines, checks=checks)


def _parquet_of_arrow(
    path: Path, plain: Path, target: Path, options: TextOptions, progress: Progress, span: Span
) -> Spooled:
    """Write an Arrow file, whose plain bytes may stand elsewhere, as Parquet."""
    place = target.with_suffix(".parquet")

    def report_bytes(done_bytes: int) -> None:
        progress(None, f"{span.message}: {format_bytes(done_bytes)}")

    write_parquet(plain, place, most_bytes(path, options.expansion_limit), report_bytes)
    narrow(place)
    return Spooled(place, path.name, parquet=True)


class _Hashed:
    """Chunks that are hashed and counted as they pass."""

    def __init__(self, source: Iterable[bytes]) -> None:
        self._source = source
        self.sha256 = hashlib.sha256()
        self.size_bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._source:
            self.sha256.update(chunk)
            self.size_bytes += len(chunk)
            yield chunk


def without_first_lines(spooled: Spooled, lines: int, size_bytes: int) -> Spooled:
    """A text without its first lines, which take so many bytes."""
    target = spooled.path.with_name(f"{spooled.path.stem}-below.csv")
    with spooled.path.open("rb") as source, open_private_bytes(target) as rest:
        source.seek(size_bytes)
        shutil.copyfileobj(source, rest, MIB)
    return replace(spooled, path=target, skipped=lines)


def _without_long_lines(path: Path, options: TextOptions) -> tuple[LongLine, ...]:
    """Set over-long lines aside; a JSON document may stand on one line."""
    if options.long_lines:
        return ()
    head = head_of(path, MIB).decode("utf-8-sig", errors="replace")
    return () if is_json(head) and json_shape(head).kind != LINES else set_aside_long_lines(path)


def _rewritten(source: Iterable[bytes], options: TextOptions, name: str) -> Iterable[bytes]:
    chunks = iter(source)
    head = next(chunks, b"")
    encoding, whole = options.encoding or _marked_encoding(head), itertools.chain((head,), chunks)
    utf8 = iter(whole if encoding.lower() in UTF8_NAMES else _utf8(whole, encoding, name))
    first = next(utf8, b"")
    whole = itertools.chain((first,), utf8)
    even = options.even_line_ends or (first[:4] != PARQUET_MAGIC and _mixes_line_ends(first[:LOOK_BYTES]))
    return _Even(whole) if even else whole


def _mixes_line_ends(head: bytes) -> bool:
    """Tell whether a text's first bytes end lines in two ways, of which DuckDB takes the first, or with CR alone."""
    if 0 < head.count(b"\r\n") < head.count(b"\n") or _ends_with_cr(head) or _heading_ends_with_cr(head):
        return True
    heading, *lines = head.replace(b"\r\n", b"\n").split(b"\n") if STRAY.search(head) else [b""]
    return any(b"\r" in line and _in_rows(line, heading) != line for line in lines)


def _ends_with_cr(head: bytes) -> bool:
    """Tell whether lines end with CR alone, as on the first Macs: LF stands within cells at most."""
    feeds = head.count(b"\n")
    return head.count(b"\r") - head.count(b"\r\n") > feeds


def _heading_ends_with_cr(head: bytes) -> bool:
    """Tell whether a text's first line ends with CR alone, above one of as many cells."""
    heading, _, below = head.partition(b"\n")[0].rstrip(b"\r").partition(b"\r")
    separator = max(SEPARATORS, key=heading.count)
    cells = heading.count(separator)
    return cells > 0 and b'"' not in heading and below.split(b"\r", 1)[0].count(separator) == cells


SEPARATORS = (b",", b"\t", b";", b"|")
STRAY = re.compile(rb"\r(?!\n|\Z)")
"""A CR within a line: no reader of CSV takes it outside quotes."""
AT_AN_END = re.compile(rb"(?<=[,;|\t\"\n])\r(?!\n|\Z)|\r(?=[,;|\t\"])")


def _without_strays(text: bytes) -> bytes:
    """A text without the CR at the ends of its cells, and with a space for one inside a cell."""
    return STRAY.sub(b" ", AT_AN_END.sub(b"", text)) if b"\r" in text else text


def _in_rows(line: bytes, heading: bytes) -> bytes:
    """A line with LF for the CR in it where what stands between them has as many cells as the heading."""
    separator = max(SEPARATORS, key=heading.count)
    rows = line.split(b"\r")
    cells = heading.count(separator)
    same = cells > 0 and all(row.count(separator) == cells and row.count(b'"') % 2 == 0 for row in rows)
    return b"\n".join(rows) if same else line


class _Even:
    """A text with LF for CR LF, and for CR alone where that ends its heading or its first lines; else without these.

    Attributes:
        strays: how many were left out, or written as a space.
    """

    def __init__(self, source: Iterable[bytes]) -> None:
        self._source, self.strays = source, 0

    def __iter__(self) -> Iterator[bytes]:
        held, alone, heading = b"", None, b""
        for chunk in self._source:
            text = held + chunk
            if alone is None:
                alone = _ends_with_cr(text[:LOOK_BYTES])
                text = text.replace(b"\r", b"\n", 1) if _heading_ends_with_cr(text[:LOOK_BYTES]) else text
                heading = text.partition(b"\n")[0]
            end = len(text) if alone else text.rfind(b"\n") + 1
            if b"\r" not in text[end:] or len(text) - end > LOOK_BYTES:
                end = len(text) - text.endswith(b"\r")
            held = text[end:]
            yield self._even(text[:end], heading, alone=alone)
        yield self._even(held.removesuffix(b"\r"), heading, alone=bool(alone))
        yield b"\n" if held.endswith(b"\r") else b""

    def _even(self, text: bytes, heading: bytes, *, alone: bool) -> bytes:
        even = text.replace(b"\r\n", b"\n")
        if alone or b"\r" not in even:
            return even.replace(b"\r", b"\n")
        even = b"\n".join(_in_rows(line, heading) for line in even.split(b"\n"))
        self.strays += even.count(b"\r")
        return _without_strays(even)


def _strays(count: int) -> tuple[Check, ...]:
    message = f"{count:,} carriage returns (CR) stand within lines; each is read as a space"
    return (Check("carriage returns", "warning", count, message),) if count else ()


def _link(path: Path, target: Path, progress: Progress, span: Span) -> Path:
    try:
        os.link(path.resolve(), target)
    except OSError:  # another file system, or links to others' files are forbidden
        write_bytes(_watched(_plain_chunks(path), path, True, progress, span), target)
    return target


def _plain_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(MIB):
            yield chunk


def _watched(source: Iterable[bytes], path: Path, plain: bool, progress: Progress, span: Span) -> Iterator[bytes]:
    size, done = max(path.stat().st_size, 1), 0
    for number, chunk in enumerate(source):
        done += len(chunk)
        if number % 16 == 0:
            progress(span.at(done / size) if plain else None, f"{span.message}: {format_bytes(done)}")
        yield chunk


def write_bytes(source: Iterable[bytes], target: Path) -> None:
    """Write chunks into a file of our own; raises OSError before they fill the disk."""
    free = free_bytes(target.parent) - SPARE_DISK_BYTES
    written = 0
    with open_private_bytes(target) as stream:
        for chunk in source:
            written += len(chunk)
            if written > free:
                raise OSError(errno.ENOSPC, f"{format_bytes(written)} do not fit")
            stream.write(chunk)


def _utf8(source: Iterable[bytes], encoding: str, name: str) -> Iterator[bytes]:
    try:
        "a".encode(encoding)  # base64, zip and the like are no encodings of text
        decoder = codecs.getincrementaldecoder(encoding)()
    except (LookupError, ValueError) as error:
        raise TraceError(f"encoding {encoding!r} is not known; use {KNOWN}") from error
    try:
        for chunk in source:
            yield decoder.decode(chunk).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise TraceError(f"{name} is not in encoding {encoding!r} ({error}); try utf-8, utf-16 or latin-1") from error

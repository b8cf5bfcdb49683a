"""Lines that are too long for any field of a job table: set aside before DuckDB reads, which would lose some unsaid.

DuckDB 2.0 drops a line that is longer than its read buffer, or that lies across two of them, without a reject. So a
text is looked at first: a line break in every window of half the allowed length proves that no line is too long, and
costs one short look per window.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from workprof.store.private import open_private_bytes
from workprof.units import MIB

MAX_LINE_BYTES = MIB // 2
"""A longer line is a reject: no field of a job table is that long."""

WINDOW = MAX_LINE_BYTES // 2
EXCERPT_BYTES = 500


@dataclass(frozen=True)
class LongLine:
    """A line that was set aside: its number (first line = 1) and how it begins."""

    line: int
    text: str


def set_aside_long_lines(path: Path) -> tuple[LongLine, ...]:
    """Rewrite a text without its over-long lines, where it has any, and return them."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as text:
        text.madvise(mmap.MADV_RANDOM)  # else the pages around every look count as this process's memory
        if _every_window_has_a_break(text):
            return ()
        kept = path.with_suffix(".short")
        found = []
        with open_private_bytes(kept) as target:
            for number, (start, end) in enumerate(_lines(text), start=1):
                if end - start > MAX_LINE_BYTES:
                    found.append(LongLine(number, text[start : start + EXCERPT_BYTES].decode(errors="replace")))
                else:
                    target.write(text[start:end])
    path.unlink()  # the original may be a hard link: it is left alone, only our name for it goes
    kept.rename(path)
    return tuple(found)


def _every_window_has_a_break(text: mmap.mmap) -> bool:
    size = len(text)
    return all(text.find(b"\n", at, min(at + WINDOW, size)) >= 0 for at in range(0, max(size - WINDOW, 0), WINDOW))


def _lines(text: mmap.mmap) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(text):
        end = text.find(b"\n", start) + 1 or len(text)
        yield start, end
        start = end

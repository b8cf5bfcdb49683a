"""`sadf -d`: blocks of semicolon-separated lines, each with a header of its own; and the flat CSV form.

Numbers may have a decimal comma, and other separators are read where the headers have them too.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import TraceError
from workprof.formats.declare import Unreadable
from workprof.formats.telemetry.samples import Samples, labelled, stem_of
from workprof.formats.telemetry.sniffing import SADF_HEADER
from workprof.formats.telemetry.text_table import DECIMAL_COMMA, EXCERPT_CHARACTERS
from workprof.formats.telemetry.times import seconds_of
from workprof.formats.telemetry.wide import read_wide
from workprof.store.lines import refuse_unread
from workprof.store.reports import Check

KEYS = 3
"""Host name, interval and time stand before the values."""

ITEMS = (
    "CPU", "DEV", "IFACE", "FILESYSTEM", "INTR", "TTY", "BUS", "FCHOST", "FAN", "TEMP", "IN", "BAT", "MOUNTPOINT",
    "DEVICE", "status",
)  # fmt: skip
"""Columns that say of what a line is, the first one its number or name; `status` is a word of a battery."""

USB = "BUS"
"""What is plugged in: names, and no counters."""

PER_CPU = "CPU*"
"""Since sysstat 12.5.6 a heading for as many columns as there are processors, that of their sum first."""

NFS_CLIENTS = "call/s"
"""The first counter of NFS clients, which have `retrans/s` as TCP has: they are named `nfs.`."""

ALL = "-1"
SUMS = (ALL, "sum", "all")
ROUNDED = 0.01
"""A rate is printed with two digits; so much, for each processor, may a sum of them be off."""

SAME = {"%usr": "%user", "%sys": "%system"}
"""`-u` and `-u ALL` name the same shares differently."""

WITHOUT_SUM = "those counters are missing; write it again without -P, or with -P ALL: sadf -d FILE -- -A"
RESTART = "LINUX-RESTART"
COMMENT = "COM"
ON_ONE_LINE = "[...]"


@dataclass
class Blocks:
    """What the lines hold so far: cells by (host, time) and counter, lengths of intervals, restarts, refused lines."""

    cells: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    intervals: dict[tuple[str, str], float] = field(default_factory=dict)
    restarts: dict[tuple[str, str], None] = field(default_factory=dict)
    rejected: list[Unreadable] = field(default_factory=list)
    # lines of single processors and interrupts, and of their sums, by what they are of
    single: Counter[str] = field(default_factory=Counter)
    summed: Counter[str] = field(default_factory=Counter)
    comments: int = 0  # lines that `sadc -C` wrote
    again: int = 0  # lines that give a counter of a time once more; the last one counts


def read_sadf(path: Path, origin: str) -> Samples:
    """The samples of a file; a restart of the machine starts another run, as does another host.

    Raises TraceError for a file written with -h.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        first = next((line for line in stream if line.strip()), "")
    if not first.startswith("#"):
        return read_wide(path, {"t": first.split(",")[0].strip()}, origin)
    blocks = Blocks()
    n_lines = 0
    for number, header, words in _lines(path, origin):
        n_lines += 1
        if words is not header:
            _take(blocks, number, header, words)
    refuse_unread(path, origin, n_lines)
    if blocks.single and not any(blocks.cells.values()):
        raise TraceError(f"{origin} holds lines of single processors or interrupts alone: {WITHOUT_SUM}")
    keys = list(blocks.cells)
    at = dict(zip(keys, seconds_of([time for _, time in keys], origin), strict=True))
    stopped = [(host, seconds_of([time], origin)[0]) for host, time in blocks.restarts]
    runs = [_run(key, at[key], stopped, len({host for host, _ in keys}), origin) for key in keys]
    counters = pd.DataFrame(list(blocks.cells.values()), dtype=np.float64)
    frame = labelled(counters, _since(runs, keys, at, blocks), runs)
    return Samples(frame, tuple(blocks.rejected), 0, _checks(blocks))


def _lines(path: Path, origin: str) -> Iterator[tuple[int, list[str], list[str]]]:
    """Yield number, header above and words of every line that is not blank; of a header itself, it is its own."""
    header: list[str] = []
    separator = ";"
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            if line.startswith("#"):
                match = SADF_HEADER.match(line)
                separator = match[1] if match else separator
            words = line.rstrip("\r\n").split(separator)
            if line.startswith("#"):
                header = words
                if ON_ONE_LINE in line:
                    raise TraceError(
                        f"{origin} was written with -h, all on one line; write it again: sadf -d FILE -- -A"
                    )
            if line.strip():
                yield number, header, words


def _take(blocks: Blocks, number: int, header: list[str], words: list[str]) -> None:
    if len(words) > KEYS and words[KEYS].startswith(RESTART):
        blocks.restarts[words[0], words[2]] = None
        return
    if len(words) > KEYS and words[KEYS].startswith(COMMENT):
        blocks.comments += 1
        return
    if header[-1] == PER_CPU and len(words) >= len(header):
        header, words = _of_all(header, words)
    if len(words) != len(header) or len(words) <= KEYS:
        text = ";".join(words)[:EXCERPT_CHARACTERS]
        blocks.rejected.append(Unreadable(number, "", text, "not as many fields as the header above it"))
        return
    key = (words[0], words[2])
    try:
        interval = _finite(words[1])
        named = dict(_named(header[KEYS:], words[KEYS:], blocks))
        values = {name: _number(text) if text else np.nan for name, text in named.items()}
    except ValueError:
        blocks.rejected.append(Unreadable(number, "", ";".join(words)[:EXCERPT_CHARACTERS], "not numbers"))
        return
    blocks.intervals.setdefault(key, interval)
    known = blocks.cells.setdefault(key, {})
    blocks.again += not known.keys().isdisjoint(values)
    known.update(values)


def _number(text: str) -> float:
    return float(text.replace(",", ".") if DECIMAL_COMMA.fullmatch(text) else text)


def _finite(text: str) -> float:
    value = _number(text)
    if not np.isfinite(value):
        raise ValueError(f"{text!r} is no length of an interval")
    return value


def _of_all(header: list[str], words: list[str]) -> tuple[list[str], list[str]]:
    """A line of interrupts with the rate over all processors alone; where that is not there, it is of none."""
    first, single = words[len(header) - 1], words[len(header) :]
    try:
        whole = not single or abs(_number(first) - sum(map(_number, single))) <= ROUNDED * len(single)
    except ValueError:
        whole = True  # the line is rejected for it
    item = words[KEYS] if whole else ""
    return [*header[:-1], "intr/s"], [*words[:KEYS], item, *words[KEYS + 1 : len(header) - 1], first]


def _named(names: list[str], texts: list[str], blocks: Blocks) -> Iterator[tuple[str, str]]:
    """Yield counters and their texts. Of processors and interrupts only the sum over all is taken."""
    item = names[0] if names[0] in ITEMS else ""
    if item == USB:
        return
    if item in ("CPU", "INTR"):
        whole = texts[0] in SUMS
        (blocks.summed if whole else blocks.single)[item] += 1
        if not whole:
            return
        prefix = f"{item.lower()}."
    elif item:
        prefix = f"{item.lower()}.{texts[0]}."
    else:
        prefix = "nfs." if names[0] == NFS_CLIENTS else ""
    start = 1 if item else 0
    for name, text in zip(names[start:], texts[start:], strict=True):
        if name not in ITEMS:
            yield f"{prefix}{SAME.get(name, name)}", text


def _run(key: tuple[str, str], at_s: float, stopped: list[tuple[str, float]], hosts: int, origin: str) -> str:
    before = sum(host == key[0] and stop <= at_s for host, stop in stopped)
    first = min((stop for host, stop in stopped if host == key[0]), default=None)
    stem = key[0] if hosts > 1 else stem_of(origin)
    return stem if first is None or before == 0 else f"{stem}-{before + 1}"


def _since(
    runs: list[str], keys: list[tuple[str, str]], at: dict[tuple[str, str], float], blocks: Blocks
) -> list[float]:
    """Seconds since the start of each run: the first line ends an interval of the length that it tells."""
    first: dict[str, tuple[float, float]] = {}
    for run, key in zip(runs, keys, strict=True):
        if run not in first or at[key] < first[run][0]:
            first[run] = (at[key], max(blocks.intervals[key], 0.0))
    return [at[key] - first[run][0] + first[run][1] for run, key in zip(runs, keys, strict=True)]


def _checks(blocks: Blocks) -> tuple[Check, ...]:
    restarts, summed = len(blocks.restarts), sum(n for item, n in blocks.single.items() if item in blocks.summed)
    alone = {item: n for item, n in blocks.single.items() if item not in blocks.summed}
    missing = f"lines of {' and '.join(alone)} have no line of their sum: {WITHOUT_SUM}"
    counted = (
        ("restarts", "warning", restarts, "restarts of the machine: each starts another run"),
        ("comments", "info", blocks.comments, "lines are comments of whoever recorded and are left out"),
        ("repeated_lines", "warning", blocks.again, "lines have a counter of a time once more; the last one counts"),
        ("without_sum", "warning", sum(alone.values()), missing),
        ("single_items", "info", summed, "lines of single processors or interrupts are left out; their sum is taken"),
    )
    return tuple(Check(name, level, count, f"{count:,} {what}") for name, level, count, what in counted if count)

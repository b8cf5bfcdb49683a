"""`perf stat -I ... -x,` or `-j`: a line per interval and event; counts per interval become rates.

The separator may be another one (`-x ';'`), and numbers may have a decimal comma, as in most countries. With `-j` each
line is a JSON object.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.formats.declare import Unreadable
from workprof.formats.telemetry.samples import Samples, labelled, stem_of
from workprof.formats.telemetry.sniffing import PERF_STARTED
from workprof.formats.telemetry.text_table import EXCERPT_CHARACTERS
from workprof.store.lines import refuse_unread
from workprof.store.reports import Check

TIME = re.compile(r"\s*\d+([.,])\d{6,}([^\w.\s]|[\t ]+)")
"""A time behind which the decimal sign and the separator are known."""

DIGITS = re.compile(r"\d+")
NUMBER, PERCENT = re.compile(r"[\d.]+"), re.compile(r"\d+\.\d\d")
CPU_SCOPE = re.compile(r"CPU\d+")
OTHER_SCOPE = re.compile(r"[SDNCL]\d+(?:-[A-Z]+\d+)*")
THREAD_SCOPE = re.compile(r"(?![\d.,]+-)\S.*-\d+")
"""Of --per-thread: a command's name, which may hold blanks, and the thread's number."""

VARIANCE = re.compile(r"\d+\.\d+%")
"""What -r puts behind the event."""

COMMA = re.compile(r"\d,\d")
JSON_SCOPES = {"cpu", "thread", "core", "cache", "cluster", "die", "socket", "node"}
NOT_A_COUNT = ("<not counted>", "<not supported>")
SHORTEST_INTERVAL_S = 0.05
"""What perf writes of the last, broken interval may be shorter; it says nothing."""

WHOLE_PERCENT = 100.0


@dataclass(frozen=True)
class Count:
    """One line: when, which event, how many in the interval (NaN = not counted), in how many percent of the time."""

    at_s: float
    event: str
    value: float
    measured_percent: float
    scope: str  # processor, core, socket ... that it is of; '' = all
    cgroup: str = ""  # of `-G`; each is a run of its own
    recording: int = 0  # of several in a file (--append), each begun by its own first line


@dataclass
class Interval:
    """Counts by event and scope at the end of one interval."""

    run: int
    at_s: float
    recording: int = 0
    counts: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))

    def count_of(self, event: str) -> float:
        """The sum over processors; of an event that is named in several groups, each time an estimate, the mean."""
        scopes = self.counts.get(event, {}).values()
        known = [[value for value in values if np.isfinite(value)] for values in scopes]
        return sum(float(np.mean(values)) for values in known) if known and all(known) else np.nan

    @property
    def n_again(self) -> int:
        """Counts of an event that has one already."""
        return sum(len(values) - 1 for scopes in self.counts.values() for values in scopes.values())


def read_perf_stat(path: Path, origin: str) -> Samples:
    """Rates per second of every event. A time that falls, or another first line, starts another run (`--append`).

    Raises TraceError when no line is one of perf's.
    """
    counts, rejected = _counts(path, origin)
    events = tuple(dict.fromkeys(count.event for count in counts))
    rows, names = [], []
    cgroups = tuple(dict.fromkeys(count.cgroup for count in counts))
    for cgroup in cgroups:
        intervals = _intervals([count for count in counts if count.cgroup == cgroup])
        rows += [(one, _length(intervals, at)) for at, one in enumerate(intervals)]
        suffix = f"-{cgroup}" if cgroup and len(cgroups) > 1 else ""
        names += [f"{_run_name(origin, one.run)}{suffix}" for one in intervals]
    usable = [(one, length) for one, length in rows if length >= SHORTEST_INTERVAL_S]
    values = {f"perf.{event}/s": [one.count_of(event) / length for one, length in usable] for event in events}
    runs = [name for name, (_, length) in zip(names, rows, strict=True) if length >= SHORTEST_INTERVAL_S]
    frame = labelled(pd.DataFrame(values, dtype=np.float64), [one.at_s for one, _ in usable], runs)
    again = sum(one.n_again for one, _ in rows)
    return Samples(frame, rejected, 0, _checks(counts, len(rows) - len(usable), again))


def _counts(path: Path, origin: str) -> tuple[list[Count], tuple[Unreadable, ...]]:
    counts, rejected, comments, recording = [], [], 0, 0
    decimal, separator = ".", ","
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            text = line.rstrip("\r\n")
            if text.startswith("#"):
                comments += 1
                recording += text.startswith(PERF_STARTED)
                continue
            if not text.strip():
                continue
            if time := TIME.match(text):
                decimal, separator = time.group(1), time.group(2)[:1]
            in_json = text.lstrip().startswith("{")
            count = _json_count(text) if in_json else _count(_words(text.strip(), decimal, separator))
            if count is None:
                reason = f"no line of perf stat -I {'-j' if in_json else '-x,'} with a count"
                if in_json and COMMA.search(text):
                    reason += "; of decimal commas in JSON, record again with LC_ALL=C"
                rejected.append(Unreadable(number, "", text[:EXCERPT_CHARACTERS], reason))
            else:
                counts.append(replace(count, recording=recording))
    refuse_unread(path, origin, len(counts) + len(rejected) + comments)
    return counts, tuple(rejected)


def _json_count(text: str) -> Count | None:
    """What a line of `perf stat -j` says; one with nothing but a metric holds no count."""
    try:
        one = json.loads(text)
        counted, event = one["counter-value"], str(one["event"])
        value = np.nan if counted in NOT_A_COUNT else float(counted)
        at_s, percent = float(one["interval"]), float(one.get("pcnt-running", WHOLE_PERCENT))
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not event or not np.isfinite(at_s):
        return None
    scope = " ".join(f"{key} {one[key]}" for key in sorted(JSON_SCOPES & one.keys()))
    return Count(at_s, event, value, percent, scope, str(one.get("cgroup", "")))


def _words(text: str, decimal: str, separator: str) -> list[str]:
    """The cells of a line, with decimal points."""
    if decimal == ".":
        return text.split(separator)
    if separator != ",":
        return [word.replace(",", ".") if _is_number(word) else word for word in text.split(separator)]
    words = text.split(",")
    words = [".".join(words[:2]), *words[2:]]
    scope = 1 + _scope_words(words)
    if all(DIGITS.fullmatch(word) for word in words[scope : scope + 2]):  # a unit is no number
        words[scope : scope + 2] = [".".join(words[scope : scope + 2])]
    return words


def _scope_words(words: list[str]) -> int:
    """How many words behind the time say of which processors or thread a line is."""
    named = words[1] if len(words) > 1 else ""
    if OTHER_SCOPE.fullmatch(named):
        return 2
    return int(bool(CPU_SCOPE.fullmatch(named) or THREAD_SCOPE.fullmatch(named)))


def _is_number(word: str) -> bool:
    return word.replace(",", "", 1).strip("-").isdecimal()


def _count(words: list[str]) -> Count | None:
    """What a line says: time, [scope, [number of processors]], value, unit, event, [cgroup], run time, percent, ..."""
    scoped = _scope_words(words)
    rest = words[1 + scoped :]
    if len(rest) < 3:
        return None
    event, after = _event(rest[2:])
    if NUMBER.fullmatch(event):
        return None  # --metric-only: numbers alone
    after = after[1:] if after and VARIANCE.fullmatch(after[0]) else after
    cgroup = ""
    later = len(after) > 2 and DIGITS.fullmatch(after[1]) and PERCENT.fullmatch(after[2])
    if later or (after and not NUMBER.fullmatch(after[0])):
        cgroup, after = after[0], after[1:]
    try:
        at_s = float(words[0])
        value = np.nan if rest[0] in NOT_A_COUNT else float(rest[0])
        percent = float(after[1]) if len(after) > 1 and after[1] else WHOLE_PERCENT
    except ValueError:
        return None
    scope = words[1] if scoped else ""
    return Count(at_s, event, value, percent, scope, cgroup) if event and np.isfinite(at_s) else None


def _event(words: list[str]) -> tuple[str, list[str]]:
    """The event's name and what follows it; a raw event such as cpu/a=1,b=2/ holds commas of its own."""
    name, after = words[0], words[1:]
    while name.count("/") == 1 and after and "/" not in words[0].partition("/")[2]:
        name, after = f"{name},{after[0]}", after[1:]
    return name, after


def _intervals(counts: list[Count]) -> list[Interval]:
    result: list[Interval] = []
    for count in counts:
        last = result[-1] if result else Interval(1, -np.inf, count.recording)
        if (count.at_s, count.recording) != (last.at_s, last.recording):
            again = count.at_s < last.at_s or count.recording != last.recording
            result.append(Interval(last.run + again, count.at_s, count.recording))
        result[-1].counts[count.event][count.scope].append(count.value)
    return result


def _length(intervals: list[Interval], at: int) -> float:
    one, before = intervals[at], intervals[at - 1] if at else None
    return one.at_s - (before.at_s if before and before.run == one.run else 0.0)


def _run_name(origin: str, number: int) -> str:
    stem = stem_of(origin)
    return stem if number == 1 else f"{stem}-{number}"


def _checks(counts: list[Count], short: int, again: int) -> tuple[Check, ...]:
    shared = sum(count.measured_percent < WHOLE_PERCENT and np.isfinite(count.value) for count in counts)
    scoped = sum(bool(count.scope) for count in counts)
    counted = (
        ("multiplexed", "info", shared, "counts are scaled up: their events were counted for a part of the time"),
        ("scopes_summed", "info", scoped, "counts of single processors, cores or sockets were added up"),
        ("repeated_events", "info", again, "counts are of an event that was counted already; their mean is taken"),
        ("short_intervals", "info", short, f"intervals of less than {SHORTEST_INTERVAL_S} s were left out"),
    )
    return tuple(Check(name, level, number, f"{number:,} {what}") for name, level, number, what in counted if number)

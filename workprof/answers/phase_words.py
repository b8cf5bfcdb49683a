"""Phases in words: when a run does what, from the counters that stand out of all runs."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats
from workprof.core.words import listed, shortened
from workprof.phases.timeline import Timeline

MOST_MOMENTS, NUMBERS = 3, ("no", "one", "two", "three", "four")
APART = 3
"""Samples: changes that lie nearer to each other are one moment."""

ACTIVITIES = {
    "reading": r"disk\.read|pgpgin|pgmajfault|sys_enter_read",
    "writing": r"disk\.write|pgpgout|nr_dirtied|nr_written|disk\.flush|mem\.Dirty|sys_enter_write",
    "computing": r"cpu\.user|proc\.cpu_user",
    "working in the kernel": r"cpu\.system|proc\.cpu_sys|raw_syscalls",
    "waiting for the disk": r"iowait|psi\.io|disk\.queue|procs_blocked",
    "using the network": r"^net\.|skb|NET_RX|sys_enter_sendto|softirq%",
    "starting processes": r"forks|proc\.threads",
    "allocating memory": r"pgfault|pgalloc|AnonPages|mm_page_alloc|page_fault|rss|thp_fault|PageTables",
    "reclaiming pages": r"pgactivate|pgfree|workingset|pgreuse",
    "switching tasks": r"ctxt|sched_wakeup|migrations|irq\.RES|psi\.cpu",
}
"""What a run does -> its counters."""
IDLE = r"cpu\.idle"
STANDS_OUT, HEAVILY, BESIDE = 0.5, 1.5, 0.7
"""Standard deviations over all runs: where something stands out, and is strong; share of the first for a second."""
MOST_COUNTERS, LONGEST_COUNTER = 14, 40
NEAR = "near average"


@dataclass(frozen=True)
class Span:
    """A phase of a run as a whole."""

    start_s: float
    end_s: float
    words: str  # what it is: 'reading heavily', 'idle', 'near average'
    levels: Floats  # (n_counters,) mean in standard deviations over all runs

    @property
    def range(self) -> str:
        """'10-22 s'."""
        return f"{self.start_s:,.6g}-{self.end_s:,.6g} s"


def moments(result: Timeline) -> list[tuple[float, float]]:
    """Return the moments at which most counters change, each with their share; the largest first, then lesser ones.

    A lesser one has at least half the share of the largest and lies apart from it.
    """
    left = result.agreement.copy()
    largest = float(left.max(initial=0.0))
    chosen: list[tuple[float, float]] = []
    while len(chosen) < MOST_MOMENTS and len(left) and left.max() > 0 and left.max() >= largest / 2:
        best = _most_agreed(left)
        chosen.append((result.start_s + _usual(result, best) * result.step_s, float(left[best])))
        left[max(0, best - APART) : best + APART + 1] = 0.0
    return chosen


def _usual(result: Timeline, near: int) -> int:
    """Return the sample at which most of the counters begin a phase that begin one within a sample of `near`."""
    usable = np.flatnonzero(~result.fingerprint.flags)
    begins = np.concatenate([result.fingerprint.boundaries_of(int(place)) for place in usable])
    begins = begins[np.abs(begins - near) <= 1]
    return int(np.bincount(begins).argmax()) if len(begins) else near


def _most_agreed(agreement: Floats) -> int:
    """Return the middle of the first stretch of samples at which most counters change."""
    first = int(np.argmax(agreement))
    after = np.flatnonzero(agreement[first:] < agreement[first])
    length = int(after[0]) if len(after) else len(agreement) - first
    return first + (length - 1) // 2


def spans(result: Timeline) -> tuple[Span, ...]:
    """The phases of the run as a whole, from one moment at which most counters change to the next."""
    inner = sorted({at for at, _ in moments(result) if result.start_s < at < result.end_s})
    edges = [result.start_s, *inner, result.end_s]
    found = [(first, end, _levels(result, first, end)) for first, end in itertools.pairwise(edges)]
    return tuple(Span(first, end, _words(result.counters, levels), levels) for first, end, levels in found)


def _levels(result: Timeline, first_s: float, end_s: float) -> Floats:
    """(n_counters,) means over a span: those of a counter's own phases, by how long they lie in it."""
    mean, own = result.statistic("mean"), result.fingerprint
    low, high = ((at - result.start_s) / result.step_s for at in (first_s, end_s))
    levels = np.zeros(len(result.counters))
    for place in range(len(levels)):
        edges = np.array([0, *own.boundaries_of(place).tolist(), own.n_samples], dtype=np.float64)
        inside = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0.0, None)
        if inside.sum() > 0:
            levels[place] = np.average(mean[place, : len(inside)], weights=inside)
    return levels


def _words(counters: Sequence[str], levels: Floats) -> str:
    """What a span is, by the counters that stand out."""
    found = {name: _mean(pattern, counters, levels) for name, pattern in ACTIVITIES.items()}
    known = {name: level for name, level in found.items() if math.isfinite(level)}
    if not known:
        return _strongest(counters, levels)
    first, *others = sorted(known, key=lambda name: -known[name])
    if known[first] < STANDS_OUT:
        idle = _mean(IDLE, counters, levels)
        return "idle" if idle >= STANDS_OUT or known.get("computing", 0.0) <= -STANDS_OUT else NEAR
    beside = [name for name in others[:1] if known[name] >= max(STANDS_OUT, BESIDE * known[first])]
    return f"{listed([first, *beside])}{' heavily' if known[first] >= HEAVILY and not beside else ''}"


def _mean(pattern: str, counters: Sequence[str], levels: Floats) -> float:
    own = [level for name, level in zip(counters, levels.tolist(), strict=True) if re.search(pattern, name)]
    return float(np.mean(own)) if own else math.nan


def _strongest(counters: Sequence[str], levels: Floats) -> str:
    """The counter that stands out most, where none is of a known activity."""
    place = int(np.abs(levels).argmax())
    if abs(levels[place]) < STANDS_OUT:
        return NEAR
    return f"marked by {'high' if levels[place] > 0 else 'low'} {shortened(counters[place], LONGEST_COUNTER)}"


def phases_words(found: Sequence[Span]) -> str:
    """'two phases: 0-10 s reading, 10-22 s idle'; where all are alike their times alone."""
    several = "one phase" if len(found) == 1 else f"{NUMBERS[len(found)]} phases"
    if len({one.words for one in found}) == 1:
        ranges = listed([one.range for one in found])
        return f"{several}: {ranges}, {found[0].words}"
    return f"{several}: {', '.join(f'{one.range} {one.words}' for one in found)}"


def characters_sentence(found: Sequence[Span]) -> str:
    """'Phase 1 is reading heavily; phase 2 is near average.'."""
    parts, place = [], 1
    for words, alike in itertools.groupby(one.words for one in found):
        numbers = [str(number) for number in range(place, place + len([*alike]))]
        parts.append(f"phase{'s' * (len(numbers) > 1)} {listed(numbers)} {'are' if len(numbers) > 1 else 'is'} {words}")
        place += len(numbers)
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def characterising(result: Timeline, found: Sequence[Span]) -> tuple[str, ...]:
    """The counters that stand out most in some phase, those of the first phase first."""
    levels = np.stack([one.levels for one in found])
    extent = np.abs(levels).max(axis=0)
    chosen = sorted(np.argsort(-extent, kind="stable")[:MOST_COUNTERS].tolist())
    order = sorted(chosen, key=lambda place: (int(np.abs(levels[:, place]).argmax()), -extent[place]))
    return tuple(result.counters[place] for place in order if extent[place] > 0) or result.counters[:1]

"""Memory that grows over a run: sizes by segment, learned from earlier runs of the workload, beside one size.

The known runs of a workload have one envelope: the most that any of them held by each moment. The k steps of least area
that hold it are the segments. A run is killed where it holds more than its segment's size; it starts anew with the next
larger size throughout, beyond the last one with twice as much.

Source: Bader et al., KS+: Predicting Workflow Task Memory Usage Over Time, arXiv 2408.12290. Theirs cuts every run by
itself and predicts starts and sizes from the size of the input; recordings have none, and ours cuts the envelope.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import HOUR_S
from workprof.phases.runs import Run, counters_in, runs_of

if TYPE_CHECKING:
    import pandas as pd

FEWEST_KNOWN = 2
"""Earlier runs of its workload that a run needs to be replayed."""

MEMORY = ("rss", "working_set", "mem_real", "memory", "anonpages")
"""Parts of a counter's name that tell of held memory, those of the run itself first."""

MOST_CUTS = 200
"""Moments at which a segment may begin; of an envelope with more rises, evenly spread ones."""


@settings
class GrowingSettings:
    """How sizes that grow are learned."""

    segments: Annotated[int, Setting("Sizes of a run at most.", least=1, most=12, key="phases_growing_k")] = 2
    counter: Annotated[
        str,
        Setting(
            "Counter of the memory that a run holds.",
            key="phases_growing_counter",
            label="Memory counter",
            empty="resident memory, else another of memory",
        ),
    ] = ""
    headroom: Annotated[
        float,
        Setting("Kept free above the known runs.", unit="share", least=0, most=3, key="phases_growing_headroom"),
    ] = 0.1
    lead: Annotated[
        float,
        Setting(
            "How much earlier than in the known runs a size rises, of its time.",
            unit="share",
            least=0,
            most=1,
            key="phases_growing_lead",
        ),
    ] = 0.1


@dataclass(frozen=True)
class Plan:
    """Sizes that grow; (n_segments,) arrays."""

    starts: Ints  # steps at which segments begin, rising from 0
    sizes: Floats  # rising, in the counter's unit

    def held(self, length: int) -> Floats:
        """(length,) size at every step."""
        return self.sizes[np.searchsorted(self.starts, np.arange(length), side="right") - 1]


@dataclass(frozen=True)
class GrowingRow:
    """One workload; sizes are in the counter's unit, products in that unit times hours."""

    workload: str
    n_runs: int
    n_judged: int  # runs replayed, each sized from those before it
    starts_s: Floats  # (n_segments,) of the next run: when each size begins
    sizes: Floats  # (n_segments,)
    flat_size: float  # of the next run: one size throughout
    used: float  # what the judged runs held
    charged: float  # with sizes that grow, killed attempts included
    flat_charged: float  # with one size
    kills: int
    flat_kills: int
    envelope: Floats  # (n_steps,) most that any run held by each step

    @property
    def saved_share(self) -> float:
        """What growing saves of the charge of one size."""
        return 1 - self.charged / self.flat_charged if self.flat_charged > 0 else float("nan")


@dataclass(frozen=True, repr=False)
class Growing(Shown):
    """Sizes that grow, workload by workload."""

    settings: GrowingSettings
    counter: str  # of the memory
    step_s: float  # between samples
    rows: tuple[GrowingRow, ...]  # by workload
    n_few: int  # runs of workloads with too few of them

    @property
    def charged(self) -> float:
        """Of all judged runs, with sizes that grow."""
        return sum(row.charged for row in self.rows)

    @property
    def flat_charged(self) -> float:
        """Of all judged runs, with one size."""
        return sum(row.flat_charged for row in self.rows)

    @property
    def saved_share(self) -> float:
        """What growing saves of the charge of one size."""
        return 1 - self.charged / self.flat_charged if self.flat_charged > 0 else float("nan")


def growing_of(frames: Mapping[str, pd.DataFrame], settings: GrowingSettings, progress: Progress = silent) -> Growing:
    """Sizes of the next run of every workload, and the replay of its runs, each from those before it in order of name.

    Raises:
        SettingsError: where no counter tells of memory, or the samples lack the one that is named.
        NotEnoughData: where no workload has three runs.
    """
    samples = frames["samples"]
    everything = counters_in(samples, everything=True) + tuple(c for c in samples.columns if c.startswith("proc."))
    counter = settings.counter or next((one for part in MEMORY for one in everything if part in one.lower()), "")
    if counter not in samples.columns:
        lacking = f"counter is {counter!r}" if counter else "no counter is known to tell of memory"
        raise SettingsError(f"{lacking}; name the counter of memory, one of {', '.join(map(str, everything[:8]))}")
    found = runs_of(samples, (counter,), progress)
    own: dict[str, list[Run]] = {}
    for run in found.runs:
        if np.isfinite(run.values).any():
            own.setdefault(run.workload, []).append(run)
    enough = {name: sorted(runs, key=_order) for name, runs in own.items() if len(runs) > FEWEST_KNOWN}
    if not enough:
        raise NotEnoughData(f"no workload has {FEWEST_KNOWN + 1} runs with {counter}; record more runs of one")
    rows = tuple(_row(name, [_held(run) for run in runs], found.step_s, settings) for name, runs in enough.items())
    n_few = sum(len(runs) for name, runs in own.items() if name not in enough)
    return Growing(settings, counter, found.step_s, rows, n_few)


def _order(run: Run) -> str:
    """Runs 2 and 10 in this order, whatever stands before the number."""
    return re.sub("[0-9]+", lambda number: number[0].zfill(20), run.run)


def _held(run: Run) -> Floats:
    """(n_steps,) what a run held; a missing sample held nothing new."""
    return np.asarray(np.maximum(np.nan_to_num(run.values[0]), 0.0))


def _row(name: str, runs: Sequence[Floats], step_s: float, asked: GrowingSettings) -> GrowingRow:
    used, charged, kills = 0.0, np.zeros(2), np.zeros(2, dtype=np.int64)
    for at in range(FEWEST_KNOWN, len(runs)):
        used += float(runs[at].sum())
        for way, n_segments in enumerate((asked.segments, 1)):
            area, n_killed = replayed(runs[at], plan_of(runs[:at], n_segments, asked.headroom, asked.lead))
            charged[way] += area
            kills[way] += n_killed
    hours = step_s / HOUR_S
    following, flat = (plan_of(runs, n, asked.headroom, asked.lead) for n in (asked.segments, 1))
    return GrowingRow(
        workload=name,
        n_runs=len(runs),
        n_judged=len(runs) - FEWEST_KNOWN,
        starts_s=following.starts.astype(np.float64) * step_s,
        sizes=following.sizes,
        flat_size=float(flat.sizes[-1]),
        used=used * hours,
        charged=float(charged[0]) * hours,
        flat_charged=float(charged[1]) * hours,
        kills=int(kills[0]),
        flat_kills=int(kills[1]),
        envelope=envelope_of(runs),
    )


def envelope_of(runs: Sequence[Floats]) -> Floats:
    """(length of the longest,) the most that any of the runs held by each step; a run that ended keeps its most."""
    longest = max(map(len, runs))
    return np.asarray(np.max([np.maximum.accumulate(np.pad(run, (0, longest - len(run)))) for run in runs], axis=0))


def plan_of(runs: Sequence[Floats], n_segments: int, headroom: float, lead: float) -> Plan:
    """Sizes learned from known runs, with what is kept free and how much earlier they rise."""
    envelope = envelope_of(runs)
    starts = steps_of(envelope, n_segments)
    ends = np.append(starts[1:], len(envelope))
    earlier = np.floor(starts * (1 - lead)).astype(np.int64)
    last = np.append(np.diff(earlier) > 0, True)  # of segments that begin together the largest counts
    return Plan(earlier[last], (envelope[ends - 1] * (1 + headroom))[last])


def steps_of(envelope: Floats, n_segments: int) -> Ints:
    """Where the segments begin: the steps of least area, at most so many, that hold a curve that never falls."""
    cuts = np.flatnonzero(np.diff(envelope, prepend=-np.inf) > 0)
    if len(cuts) > MOST_CUTS:
        cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, MOST_CUTS).astype(np.int64))]
    n, ends = len(cuts), np.append(cuts[1:], len(envelope))
    # area[i, j]: one segment from cut i to the end of cut j
    area = np.where(np.arange(n)[:, None] <= np.arange(n), (ends - cuts[:, None]) * envelope[ends - 1], np.inf)
    best, came = area[0], []
    for _ in range(min(n_segments, n) - 1):
        longer = np.vstack([np.full(n, np.inf), best[:-1, None] + area[1:]])
        came.append(np.where(longer.min(axis=0) < best, longer.argmin(axis=0), -1))
        best = np.minimum(longer.min(axis=0), best)
    starts, last = [], n - 1
    for choice in reversed(came):
        if choice[last] >= 0:
            starts.append(int(cuts[choice[last]]))
            last = int(choice[last]) - 1
    return np.array([0, *reversed(starts)])


def replayed(held: Floats, plan: Plan) -> tuple[float, int]:
    """The area that a run is charged under a plan, killed attempts included, and how often it was killed."""
    sizes, charged, kills = plan.held(len(held)), 0.0, 0
    while (held > sizes).any():
        at = int((held > sizes).argmax())
        charged += float(sizes[: at + 1].sum())
        kills += 1
        larger = plan.sizes[plan.sizes > sizes[at]]
        sizes = np.full(len(held), larger[0] if len(larger) else 2 * max(float(sizes[at]), 1e-9))
    return charged + float(sizes.sum()), kills

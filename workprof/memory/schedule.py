"""The schedule: the runs of a trace replayed on nodes of one kind or several, and the fewest on which they do not wait.

Runs are submitted when the trace says, and hold what they request for as long as they took. The later half of the runs
is replayed with its requests and with the verdict's sizes; a run that its size kills runs again. Placing by profile
draws a sample of nodes, leaves out those that cannot hold the run, and scores the others (PolarisProfiler, II-D).
"""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, cast

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, latest_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError, UnitUnknown
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import Interval
from workprof.core.units import DAY_S, GB, HOUR_S, MINUTE_S, read_bytes
from workprof.memory.schedule_runs import (
    KINDS,
    WHOLE,
    QueuedRuns,
    Sized,
    Submitted,
    node_of,
    sized_by_verdict,
    submitted,
)
from workprof.memory.verdict import VerdictSettings
from workprof.memory.what_if import held_at_once

if TYPE_CHECKING:
    import pandas as pd

PLACES = ("first", "best", "profile")
FIFO, BACKFILL = "fifo", "backfill"
ALL, LATER, SIZED, OWN = "all", "later", "later_sized", "trace_nodes"
P95 = 0.95
NO_NODE = "a request that no node holds"
NEIGHBOURS = 3
"""Numbers of nodes on each side of the fewest that are tried, too: more nodes may wait longer (Graham 1969)."""
AROUND = {FIFO: (0.7, 0.8, 0.9, 1.1, 1.25), BACKFILL: (0.9, 1.1, 1.25)}
"""Of the fewest nodes, for the curve; a long queue takes long to backfill."""
FEWEST_BLOCKS = 8
BLOCKS = {"week": 7 * DAY_S, "day": DAY_S, "6 hours": DAY_S / 4, "hour": HOUR_S}
EIGHTH = "eighth"
CONFIDENCE = 0.9


@settings
class ScheduleSettings:
    """The nodes, how runs are put on them, and how long they may wait."""

    nodes: Annotated[
        int | None,
        Setting(
            "Nodes on which the waits are shown.",
            least=1,
            most=1_000_000,
            key="memory_schedule_nodes",
            empty="the fewest that are needed",
        ),
    ] = None
    memory_bytes: Annotated[
        float | None,
        Setting(
            "Memory of one node.",
            unit="bytes",
            above=0,
            key="memory_schedule_memory",
            label="Memory of a node",
            empty="by the trace",
        ),
    ] = None
    cpus: Annotated[
        float | None,
        Setting(
            "Cores of one node.",
            unit="cores",
            above=0,
            most=1e6,
            key="memory_schedule_cpus",
            label="Cores of a node",
            empty="by the trace",
        ),
    ] = None
    gpus: Annotated[
        float | None,
        Setting(
            "GPUs of one node.",
            least=0,
            most=1e4,
            key="memory_schedule_gpus",
            label="GPUs of a node",
            empty="by the trace",
        ),
    ] = None
    kinds: Annotated[
        str,
        Setting(
            "Nodes of several kinds, such as 8x64GB,2x512GB; with cores and GPUs 8x64GB/16,2x512GB/64/4. Other numbers "
            "of nodes are mixed alike.",
            key="memory_schedule_kinds",
            label="Kinds of nodes",
            empty="all alike",
        ),
    ] = ""
    most_wait_min: Annotated[
        float,
        Setting(
            "Nodes suffice where 95 % of the runs wait no longer.",
            unit="min",
            least=0,
            most=1e6,
            flag="--most-wait",
            key="memory_schedule_wait",
            label="Longest wait",
        ),
    ] = 10.0
    order: Annotated[
        str,
        Setting(
            "Which run is next.",
            choices={
                FIFO: "the one that was submitted first; the others wait for it",
                BACKFILL: "the same, but later runs may start if that does not delay it (EASY)",
            },
            shown={FIFO: "First come", BACKFILL: "Backfill"},
            key="memory_schedule_order",
        ),
    ] = FIFO
    place: Annotated[
        str,
        Setting(
            "Which node a run is put on.",
            choices={
                "first": "the first that holds it",
                "best": "the one that it leaves least free",
                "profile": "of a sample, the one that is held as long anyway, by what its peers took",
            },
            shown={"first": "First fit", "best": "Best fit", "profile": "By profile"},
            key="memory_schedule_place",
            label="Placing",
        ),
    ] = "first"
    sample: Annotated[
        int,
        Setting(
            "Nodes that hold a run and are scored, when it is placed by profile.",
            unit="nodes",
            least=1,
            most=100_000,
            key="memory_schedule_sample",
        ),
    ] = 20
    spread: Annotated[
        bool,
        Setting(
            "A run that requests more than a node has is spread over the fewest nodes that hold it.",
            key="memory_schedule_spread",
            label="Spread large runs",
        ),
    ] = False
    verdict: VerdictSettings = field(default_factory=VerdictSettings)

    def __post_init__(self) -> None:
        kinds_of(self.kinds)


_KIND = re.compile(r"(\d{1,6})\s*x\s*([^/]+)(?:/(\d+(?:\.\d+)?))?(?:/(\d+(?:\.\d+)?))?", re.ASCII)


def kinds_of(text: str) -> tuple[tuple[int, tuple[float | None, ...]], ...]:
    """(nodes, (GB, cores, GPUs)) of each kind of '8x64GB,2x512GB/64/4'; None of what is not said, () of ''.

    Raises SettingsError for another text.
    """
    result = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        match = _KIND.fullmatch(part)
        if match is None or not int(match[1]):
            raise SettingsError(f"kinds has {part!r}; give NODESxMEMORY, such as 8x64GB or 2x512GB/64/4")
        try:
            memory = read_bytes(match[2].strip()) / GB
        except UnitUnknown as error:
            raise SettingsError(f"kinds has {part!r}: {error}") from None
        more = (None if one is None else float(one) for one in match.groups()[2:])
        result.append((int(match[1]), (memory, *more)))
    return tuple(result)


@dataclass(frozen=True)
class KindOfNode:
    """Nodes that are alike, among others."""

    nodes: int  # as given, a part of the mix
    amounts: tuple[float, ...]  # as of `Node`


@dataclass(frozen=True)
class Node:
    """What one node has, (memory in GB, cores, GPUs); NaN where no run requests any."""

    amounts: tuple[float, ...]
    sources: tuple[
        str, ...
    ]  # 'given', 'capacity' or 'held' of the trace's nodes, 'usual'; '' where no run requests any


@dataclass(frozen=True)
class Waits:
    """Time from submission to start, of a killed run both times."""

    n_runs: int
    mean_s: float
    p50_s: float
    p95_s: float


@dataclass(frozen=True)
class Needed:
    """The fewest nodes at which the p95 wait is within the limit."""

    nodes: int
    single: Interval  # of blocks alone: 90 % of them, of few all, need so many; NaN of one block
    monotone: bool  # False: fewer nodes among those tried suffice though more do not, or the other way round


@dataclass(frozen=True)
class Outcome:
    """Some runs on some nodes. Shares are of what the nodes have from the first submission to the last end."""

    name: str  # ALL, LATER, SIZED or OWN
    nodes: int
    waits: Waits
    requested: tuple[float, ...]  # shares by `KINDS`; NaN where no run requests any
    used: tuple[float, ...]  # of runs whose use is known; memory at its peak; NaN where none is
    used_known: tuple[float, ...]  # share of what is requested whose use is known
    kills: int
    busy_nodes: int  # at once, at most
    hours: float  # from the first submission to the last end
    needed: Needed | None  # None of `OWN`


@dataclass(frozen=True)
class WaitPoint:
    """A point of the curve."""

    name: str
    nodes: int
    p95_s: float


@dataclass(frozen=True, repr=False)
class Schedule(Shown):
    """The runs of a trace on nodes of one kind, or of several."""

    settings: ScheduleSettings
    node: Node
    outcomes: tuple[Outcome, ...]
    curve: tuple[WaitPoint, ...]
    trace: Waits | None  # the trace's own queue times; None where it does not say
    named_nodes: int  # that the trace names
    block: str  # what `Needed.single` is of
    n_blocks: int
    single_saved: Interval  # nodes that the sizes save in single blocks; NaN without a verdict
    left_out: dict[str, int]
    lacking: dict[str, int]  # resource -> replayed runs that request none, though others do
    by_submission: bool
    no_verdict: str  # why there are no sizes; '' = there are
    seconds: float
    kinds: tuple[KindOfNode, ...] = ()  # of nodes that are not all alike, those with least memory first
    rows_left_out: bool = False  # whether the plan leaves some out by decision: here it has them

    def outcome(self, name: str) -> Outcome | None:
        """The outcome of a name, if there is one."""
        return next((one for one in self.outcomes if one.name == name), None)

    @property
    def needed(self) -> Needed:
        """The fewest nodes for all runs."""
        return cast(Needed, self.outcomes[0].needed)

    @property
    def saved(self) -> int | None:
        """Nodes that the verdict's sizes save, of those that the later half needs; None without a verdict."""
        later, sized = (self.outcome(name) for name in (LATER, SIZED))
        if later is None or sized is None or later.needed is None or sized.needed is None:
            return None
        return later.needed.nodes - sized.needed.nodes

    @property
    def binding(self) -> str:
        """The resource of which the nodes are fullest by requests."""
        shares = self.outcomes[0].requested
        return KINDS[max(range(len(KINDS)), key=lambda at: -1.0 if math.isnan(shares[at]) else shares[at])]


def schedule_of(
    frames: Mapping[str, pd.DataFrame], settings: ScheduleSettings, progress: Progress = silent
) -> Schedule:
    """The waits and the fewest nodes, of all rows of a job table, with `finished` and `status` where there are any.

    Raises:
        ColumnMissing: when run times are absent, or every request.
        NotEnoughData: when no run can be replayed, or no node holds any.
    """
    started = time.perf_counter()
    progress(None, "Reading runs")
    jobs, earlier = latest_of(frames["jobs"], settings.verdict.latest_runs)
    found = submitted(jobs, settings.verdict.target, settings.verdict.request_bytes)
    given = (None if settings.memory_bytes is None else settings.memory_bytes / WHOLE[0], settings.cpus, settings.gpus)
    amounts, sources = node_of(jobs, found.runs, given)
    kinds = _kinds(amounts, settings)
    cluster = Cluster(kinds, settings)
    runs, left_out = cluster.fitting(found, earlier)
    named = jobs["node"].iloc[runs.rows].dropna() if "node" in jobs.columns else None
    n_named = 0 if named is None else int(named[named != ""].nunique())
    groups, no_verdict = _groups(jobs, runs, cluster, settings)
    block, n_blocks = blocks_of(runs.submit_s)
    outcomes, curve, single = [], [], {}
    n_nodes = cluster.given
    for place, (name, group) in enumerate(groups.items()):
        progress(place / len(groups), "Finding the fewest nodes")
        nodes, seen, monotone = cluster.fewest(group)
        single[name] = cluster.single_blocks(group, block)
        n_nodes = n_nodes or nodes
        needed = Needed(nodes, _range(single[name]), monotone)
        outcomes.append(cluster.outcome(name, group, n_nodes, needed))
        around = AROUND[settings.order]
        least = cluster.least(group)
        more = {max(least, n) for n in (n_nodes, *(round(factor * nodes) for factor in around))} - {*seen}
        tried = seen | {n: cluster.p95_s(group, n) for n in more}
        low, high = min(around) * nodes - 1, max(around) * max(nodes, n_nodes) + 1
        curve += [WaitPoint(name, n, tried[n]) for n in sorted(tried) if low <= n <= high]
    if not settings.kinds and n_named >= cluster.least(runs):
        outcomes.append(cluster.outcome(OWN, runs, n_named, None))
    waited = runs.waited_s[np.isfinite(runs.waited_s)]
    both = LATER in single and SIZED in single
    return Schedule(
        settings=settings,
        node=Node(tuple(amounts.tolist()), sources),
        outcomes=tuple(outcomes),
        curve=tuple(curve),
        trace=waits_of(waited) if len(waited) and found.by_submission else None,
        named_nodes=n_named,
        block=block,
        n_blocks=n_blocks,
        single_saved=_range(single[LATER] - single[SIZED]) if both else Interval(math.nan, math.nan, CONFIDENCE),
        left_out=left_out,
        lacking=found.lacking,
        by_submission=found.by_submission,
        no_verdict=no_verdict,
        seconds=time.perf_counter() - started,
        kinds=kinds if settings.kinds else (),
    )


def _kinds(amounts: Floats, settings: ScheduleSettings) -> tuple[KindOfNode, ...]:
    """The kinds of nodes, those with least memory first: they are filled first, and large ones stay for large runs."""
    given = kinds_of(settings.kinds) or ((1, (None,) * len(KINDS)),)
    known = [
        (
            n_nodes,
            [
                math.nan if math.isnan(usual) else usual if own is None else own
                for usual, own in zip(amounts, has, strict=True)
            ],
        )
        for n_nodes, has in given
    ]
    return tuple(KindOfNode(n_nodes, tuple(has)) for n_nodes, has in sorted(known, key=lambda one: one[1]))


def _groups(
    jobs: pd.DataFrame, runs: QueuedRuns, cluster: Cluster, settings: ScheduleSettings
) -> tuple[dict[str, QueuedRuns], str]:
    """All runs, the later half, the later half as sized; and why there are no sizes."""
    groups = {ALL: runs}
    sized: Sized | None = None
    if "windows" in jobs.columns and jobs["windows"].notna().any():
        return groups, "services run on, and their sizes change while they do"
    try:
        sized = sized_by_verdict(jobs, runs, settings.verdict)
    except (ColumnMissing, NotEnoughData) as error:
        return groups, str(error)
    later = np.zeros(0, dtype=bool) if sized is None else runs.submit_s >= sized.from_s
    if sized is None or not later.any():
        return groups, "too few runs to judge sizes on"
    groups[LATER] = runs.take(later)
    groups[SIZED] = groups[LATER].with_sizes(
        sized.size_gb[later], sized.retry_gb[later], sized.killed[later], cluster.most_memory(groups[LATER])
    )
    return groups, ""


def _range(values: Floats) -> Interval:
    known = values[np.isfinite(values)]
    if len(known) < 2:
        return Interval(math.nan, math.nan, CONFIDENCE)
    low = np.quantile(known, (1 - CONFIDENCE) / 2, method="lower")
    return Interval(float(low), float(np.quantile(known, (1 + CONFIDENCE) / 2, method="higher")), CONFIDENCE)


def waits_of(waits: Floats) -> Waits:
    """The figures of (n,) waits, n above 0."""
    return Waits(len(waits), float(waits.mean()), float(np.median(waits)), p95_of(waits))


def p95_of(waits: Floats) -> float:
    """The least of (n,) waits that 95 % of them do not exceed; one between two waits is exceeded by more."""
    return float(np.quantile(waits, P95, method="inverted_cdf"))


def blocks_of(submit_s: Floats) -> tuple[str, int]:
    """The longest blocks of which the trace has enough, and how many."""
    span = float(submit_s[-1] - submit_s[0])
    name = next((name for name, length in BLOCKS.items() if span >= FEWEST_BLOCKS * length), EIGHTH)
    return name, len(np.unique(_block(submit_s, name)))


def _block(submit_s: Floats, name: str) -> Ints:
    since = submit_s - submit_s[0]
    length = BLOCKS.get(name) or max(float(since[-1]) / FEWEST_BLOCKS * (1 + 1e-9), 1e-9)
    result: Ints = (since // length).astype(np.int64)
    return result


class Cluster:
    """Nodes of one kind, or of several that are mixed alike however many they are, under one scheduler."""

    def __init__(self, kinds: Sequence[KindOfNode], settings: ScheduleSettings) -> None:
        """Take the kinds, those that are filled first before the others."""
        self.has = np.nan_to_num(np.array([one.amounts for one in kinds]) * WHOLE).round().astype(np.int64)
        self.settings, self.limit_s = settings, settings.most_wait_min * MINUTE_S
        self.mix = np.array([one.nodes for one in kinds], dtype=np.int64)
        self.given = settings.nodes or (int(self.mix.sum()) if settings.kinds else 0)
        due, self.pattern = self.mix / self.mix.sum(), np.zeros(0, dtype=np.int64)
        for n in range(1, int(self.mix.sum()) + 1):  # the kind that is furthest behind its share is next
            behind = due * n - np.bincount(self.pattern, minlength=len(due))
            self.pattern = np.append(self.pattern, behind.argmax())

    def of_each(self, n_nodes: int) -> Ints:
        """(n_kinds,) nodes of each kind among so many; more nodes are never fewer of one kind."""
        whole, more = divmod(n_nodes, len(self.pattern))
        return whole * self.mix + np.bincount(self.pattern[:more], minlength=len(self.mix))

    def nodes(self, n_nodes: int) -> Ints:
        """(n_nodes, kinds) what each node has, in whole units."""
        return np.repeat(self.has, self.of_each(n_nodes), axis=0)

    def holding(self, runs: QueuedRuns) -> Bools:
        """(n, n_kinds) whether a node of a kind holds a part of a run, killed or not."""
        most = np.maximum(runs.need, np.where(runs.killed[:, None], runs.retry, 0))
        return np.asarray((most[:, None, :] <= self.has).all(axis=2))

    def most_memory(self, runs: QueuedRuns) -> Ints:
        """(n,) the most memory of nodes that have the cores and GPUs of a run, as many as it needs."""
        there = self.of_each(self.given) if self.given else np.full(len(self.mix), np.iinfo(np.int64).max // 1000)
        others = (runs.need[:, None, 1:] <= self.has[:, 1:]).all(axis=2)
        enough = (others * there)[:, ::-1].cumsum(axis=1) >= runs.parts[:, None]  # the largest first
        return np.asarray(self.has[::-1, 0][enough.argmax(axis=1)])

    def least(self, runs: QueuedRuns, at_once: int = 0) -> int:
        """The fewest nodes among which every run finds as many that hold it as it needs, or `at_once`."""
        kinds, which = np.unique(self.holding(runs), axis=0, return_inverse=True)
        parts = np.maximum([int(runs.parts[which.ravel() == one].max()) for one in range(len(kinds))], at_once)

        def enough(n_nodes: int) -> bool:
            return bool((kinds @ self.of_each(n_nodes) >= parts).all())

        most = int(parts.max())
        while not enough(most):
            most *= 2
        return _least(int(parts.max()), most, enough)

    def fitting(self, found: Submitted, earlier: Mapping[str, int]) -> tuple[QueuedRuns, dict[str, int]]:
        """The runs that nodes can hold, and all that are left out."""
        runs = found.runs
        if self.settings.spread:
            with np.errstate(divide="ignore", invalid="ignore"):
                cut = np.ceil(runs.need[:, None, :] / self.has)  # nodes of each kind; infinite where one has none of it
            cut = np.nan_to_num(cut, nan=0.0, posinf=np.inf).max(axis=2).min(axis=1)
            shares = np.where(np.isfinite(cut), np.maximum(cut, 1), 1)
            need = np.ceil(runs.need / shares[:, None]).astype(np.int64)
            times = shares.astype(np.int64)
            runs = replace(runs, need=need, retry=need, parts=runs.parts * times, shares=times)
        holding = self.holding(runs)
        too_large = ~holding.any(axis=1)
        too_many = ~too_large & (runs.parts > (holding @ self.of_each(self.given) if self.given else math.inf))
        left_out = {
            **earlier,
            **found.left_out,
            NO_NODE: int(too_large.sum()),
            "more nodes than there are": int(too_many.sum()),
        }
        kept = ~too_large & ~too_many
        if not kept.any():
            raise NotEnoughData("no node holds any of the runs; give larger ones (--memory, --cpus, --gpus, --nodes)")
        return runs.take(kept), {reason: n for reason, n in left_out.items() if n}

    def replayed(
        self, runs: QueuedRuns, n_nodes: int, place: str = "", order: str = ""
    ) -> tuple[Floats, tuple[int, int]]:
        """The (2, n) starts of both attempts, nodes busy at once, and nodes of the first ones that were used at all."""
        from workprof.memory import schedule_kernels  # noqa: PLC0415  what only names a schedule loads no compiler

        start = np.full((2, len(runs)), np.nan)
        rules = np.array(
            [
                PLACES.index(place or self.settings.place),
                (order or self.settings.order) == BACKFILL,
                self.settings.sample,
            ],
            dtype=np.int64,
        )
        counts = schedule_kernels.replay(
            runs.submit_s,
            runs.hours * HOUR_S,
            runs.expected_s,
            np.concatenate([runs.need, runs.retry]),
            runs.killed,
            runs.parts,
            self.nodes(n_nodes),
            rules,
            start,
        )
        return start, counts

    def waited(self, runs: QueuedRuns, start: Floats) -> Floats:
        """(n,) seconds in the queue."""
        again = start[1] - (start[0] + runs.hours * HOUR_S)
        result: Floats = start[0] - runs.submit_s + np.where(runs.killed, again, 0.0)
        return result

    def p95_s(self, runs: QueuedRuns, n_nodes: int, order: str = "") -> float:
        """The wait that 95 % of the runs do not exceed."""
        return p95_of(self.waited(runs, self.replayed(runs, n_nodes, order=order)[0]))

    def fewest(self, runs: QueuedRuns) -> tuple[int, dict[int, float], bool]:
        """The fewest nodes that suffice, the waits at all that were tried, and whether these only fall."""
        seen: dict[int, float] = {}
        found = self._fewest(runs, seen)
        least = self.least(runs)
        near = {n: self._suffices(runs, n, seen) for n in range(max(least, found - NEIGHBOURS), found + NEIGHBOURS + 1)}
        monotone = not any(near[a] and not near[b] for a, b in itertools.pairwise(sorted(near)))
        return min(n for n, ok in near.items() if ok), seen, monotone

    def _fewest(self, runs: QueuedRuns, seen: dict[int, float]) -> int:
        """The fewest nodes that suffice if more never wait longer; `seen` gets the waits."""
        least, enough = self.least(runs), self._enough(runs)
        if self.settings.order == BACKFILL:  # a queue that is served in order needs as many or more: from there down
            in_order = _least(least, enough, lambda n: self.p95_s(runs, n, FIFO) <= self.limit_s)
            enough = in_order if self._suffices(runs, in_order, seen) else enough
        return _least(least, enough, lambda n: self._suffices(runs, n, seen))

    def _suffices(self, runs: QueuedRuns, n_nodes: int, seen: dict[int, float]) -> bool:
        if n_nodes not in seen:
            seen[n_nodes] = self.p95_s(runs, n_nodes)
        return seen[n_nodes] <= self.limit_s

    def _enough(self, runs: QueuedRuns) -> int:
        """Nodes on which no run waits."""
        again = np.where(runs.killed, 2.0, 1.0)
        end = runs.submit_s + runs.hours * HOUR_S * again
        at_once = math.ceil(held_at_once(runs.submit_s, end, runs.parts.astype(np.float64))[0])
        # a run of no duration is held at no moment, though it needs a node
        at_once = max(at_once + int(runs.parts.max()), 1)
        if self.settings.place == "profile" or len(self.mix) > 1:
            return self.least(runs, at_once)
        return max(int(runs.parts.max()), self.replayed(runs, at_once)[1][1])

    def single_blocks(self, runs: QueuedRuns, name: str) -> Floats:
        """(blocks,) nodes that each block needs by itself."""
        block = _block(runs.submit_s, name)
        return np.array([self._fewest(runs.take(block == one), {}) for one in np.unique(block)], dtype=np.float64)

    def outcome(self, name: str, runs: QueuedRuns, n_nodes: int, needed: Needed | None) -> Outcome:
        """The figures of runs on so many nodes."""
        start, (busy, _) = self.replayed(runs, n_nodes)
        seconds = runs.hours * HOUR_S
        last = float(np.nanmax(start + seconds))
        span = (last - float(runs.submit_s[0])) / HOUR_S
        has = self.nodes(n_nodes).sum(axis=0) * span
        parts = runs.parts[:, None] * runs.hours[:, None]
        held = runs.need * parts + np.where(runs.killed[:, None], runs.retry * parts, 0.0)
        use = runs.used * WHOLE
        known = np.isfinite(use)
        used = np.where(known, use, 0.0) * runs.hours[:, None]
        first = np.minimum(np.where(known, use, 0.0), runs.need * runs.parts[:, None]) * runs.hours[:, None]
        used += np.where(runs.killed[:, None], first, 0.0)
        asked = held.sum(axis=0)
        return Outcome(
            name=name,
            nodes=n_nodes,
            waits=waits_of(self.waited(runs, start)),
            requested=_shares(asked, np.where(asked > 0, has, 0.0)),
            used=_shares(np.where(known.any(axis=0), used.sum(axis=0), np.nan), np.where(asked > 0, has, 0.0)),
            used_known=_shares(np.where(known, held, 0.0).sum(axis=0), asked),
            kills=int(runs.killed.sum()),
            busy_nodes=busy,
            hours=span,
            needed=needed,
        )


def _shares(amounts: Floats, of: Floats) -> tuple[float, ...]:
    result = np.full(len(amounts), np.nan)
    np.divide(amounts, of, out=result, where=of > 0)
    return tuple(result.tolist())


def _least(low: int, high: int, suffices: Callable[[int], bool]) -> int:
    """The fewest from `low` on that suffice, if `high` does: down by growing steps, then by halving."""
    step = 1
    while high - step >= low and suffices(high - step):
        high -= step
        step *= 2
    bad = max(low - 1, high - step)
    while high - bad > 1:
        middle = (bad + high) // 2
        if suffices(middle):
            high = middle
        else:
            bad = middle
    return high

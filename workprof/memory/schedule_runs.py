"""The runs of a trace as a scheduler gets them: when they are submitted, what they request, how long they hold it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints, in_time, numbers_if_present
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.units import GB, HOUR_S
from workprof.memory.known import codes_of
from workprof.memory.ledger_runs import LedgerRuns, ledger_runs, node_counts
from workprof.memory.ledger_settings import CAPACITIES, CORES, GPUS, MEMORY, TASK, LedgerSettings
from workprof.memory.resources import resources_of
from workprof.memory.verdict import VerdictSettings, judgement_of
from workprof.memory.what_if import held_at_once

if TYPE_CHECKING:
    import pandas as pd

KINDS = (MEMORY, CORES, GPUS)
WHOLE = np.array([GB, 1000, 1000])
"""Amounts are kept as whole bytes and thousandths of a core or a GPU: one GB, core or GPU has so many."""
GIVEN, CAPACITY, HELD, USUAL = "given", "capacity", "held", "usual"
USUAL_NODE = (256.0, 64.0, 8.0)
"""GB, cores and GPUs of a node where neither the settings nor the trace tell."""
DEPTH = 100
"""Waiting runs behind the first that backfilling looks at."""
PLACE = "place_in_table"


@dataclass(frozen=True)
class QueuedRuns:
    """Runs in order of submission; amounts are of each of their parts, which are on nodes of their own."""

    rows: Ints  # (n,) of the table
    submit_s: Floats  # (n,)
    hours: Floats  # (n,) of an attempt
    expected_s: (
        Floats  # (n,) what the scheduler expects: the limit, or less where ended peers took less; may be infinite
    )
    need: Ints  # (n, kinds) and `retry`: `KINDS` in the units of `WHOLE`
    retry: Ints
    killed: Bools  # (n,) at `need`; they run again with `retry`
    parts: Ints  # (n,)
    shares: Ints  # (n,) equal ones that the amounts of each of its nodes are cut in: 1, or more where runs are spread
    used: Floats  # (n, kinds) in GB, cores, GPUs, of all parts; NaN = not known
    waited_s: Floats  # (n,) in the trace; NaN = not known

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: Bools | Ints) -> QueuedRuns:
        """Some of the runs, in their order."""
        return QueuedRuns(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    def with_sizes(self, size_gb: Floats, retry_gb: Floats, killed: Bools, most: Ints) -> QueuedRuns:
        """The same with memory as sized, of each of its nodes, and at most (n,) what one has; NaN keeps the request."""
        need, retry = self.need.copy(), self.need.copy()
        for amounts, sized in ((need, size_gb), (retry, retry_gb)):
            own = np.isfinite(sized)
            amounts[own, 0] = np.minimum(_whole(sized[own], 0, self.shares[own]), most[own])
        return replace(self, need=need, retry=retry, killed=killed)


@dataclass(frozen=True)
class Submitted:
    """What is replayed of a table, and what is not."""

    runs: QueuedRuns
    left_out: dict[str, int]  # reason -> runs
    lacking: dict[str, int]  # resource that other runs request -> replayed runs that do not: they hold none
    by_submission: bool  # whether the table says when runs were submitted; else they are when they started


def submitted(jobs: pd.DataFrame, target: str, request_bytes: float) -> Submitted:
    """The runs of a job table, finished or not.

    Raises:
        ColumnMissing: when run times are absent, or every request.
        NotEnoughData: when no run has a time, a run time and a request.
    """
    table = ledger_runs(jobs, LedgerSettings(by=TASK, target=target))
    asked = np.stack([table.requested[kind] for kind in KINDS], axis=1)
    if request_bytes > 0:
        asked[:, 0] = np.where(np.isfinite(asked[:, 0]), asked[:, 0], request_bytes / GB)
    if not np.isfinite(asked).any():
        raise ColumnMissing("no run requests memory, cores or GPUs; map a request, or give one for all (--request)")
    submit, started = (_column(jobs, name) for name in ("submit_time_s", "start_time_s"))
    when = np.where(np.isfinite(submit), submit, np.where(np.isfinite(table.start_s), table.start_s, np.nan))
    when = np.where(np.isfinite(when), when, table.end_s - table.hours * HOUR_S)
    starts_known = np.isfinite(started).any()
    reasons = {
        "no run time": ~np.isfinite(table.hours),
        "no start: they never ran": starts_known & ~np.isfinite(started) & (table.hours == 0),
        "no time of submission or start": ~np.isfinite(when),
        "no request": ~np.isfinite(asked).any(axis=1),
    }
    counts, left_out = np.ones(len(jobs), dtype=bool), {}
    for reason, lacks in reasons.items():
        left_out[reason] = int((counts & lacks).sum())
        counts &= ~lacks
    if not counts.any():
        raise NotEnoughData("no run has a time, a run time and a request, so no schedule can be replayed")
    rows = np.flatnonzero(counts)
    alike = (started, table.hours, *asked.T, *table.used.values())  # of one moment: not as the file has them
    rows = rows[in_time(when[rows], *(values[rows] for values in alike))]
    parts, one = node_counts(jobs)[rows], np.ones(len(rows), dtype=np.int64)
    need = np.stack(
        [_whole(np.nan_to_num(asked[rows, at]), at, one if kind == MEMORY else parts) for at, kind in enumerate(KINDS)],
        axis=1,
    )
    waited = np.maximum(started - submit, 0.0)[rows]
    runs = QueuedRuns(
        rows=rows,
        submit_s=when[rows],
        hours=table.hours[rows],
        expected_s=_expected(jobs, table, rows, when[rows]),
        need=need,
        retry=need,
        killed=np.zeros(len(rows), dtype=bool),
        parts=parts,
        shares=one,
        used=np.stack([table.used[kind][rows] * (parts if kind == MEMORY else 1) for kind in KINDS], axis=1),
        waited_s=waited,
    )
    n_without = {kind: int((need[:, at] == 0).sum()) for at, kind in enumerate(KINDS)}
    lacking = {kind: n for kind, n in n_without.items() if 0 < n < len(rows)}
    return Submitted(runs, left_out, lacking, bool(np.isfinite(submit).any()))


def _whole(amounts: Floats, kind: int, parts: Ints) -> Ints:
    result: Ints = np.ceil(amounts * WHOLE[kind] / parts - 1e-6).astype(np.int64)
    return result


def _column(jobs: pd.DataFrame, name: str) -> Floats:
    found = numbers_if_present(jobs, name)
    return np.full(len(jobs), np.nan) if found is None else found


def _expected(jobs: pd.DataFrame, table: LedgerRuns, rows: Ints, when: Floats) -> Floats:
    """(n,) seconds: the mean of the peers that had ended when a run was submitted, but no more than its limit.

    Peers are of its user and task, with a time in the trace.
    """
    names = [jobs[name].astype("object").factorize()[0] for name in ("user", "task_name") if name in jobs.columns]
    key = codes_of([name[rows].astype(np.int64) for name in names]) if names else np.zeros(len(rows), dtype=np.int64)
    seconds, end = table.hours[rows] * HOUR_S, table.end_s[rows]
    known = np.isfinite(end) & table.finished[rows]
    own = np.concatenate([key[known], key])
    moment = np.concatenate([end[known], when])
    asks = np.concatenate([np.zeros(known.sum()), np.ones(len(rows))])
    order = np.lexsort((asks, moment, own))
    count = np.cumsum(asks[order] == 0)
    total = np.cumsum(np.where(asks[order] == 0, np.concatenate([seconds[known], np.zeros(len(rows))])[order], 0.0))
    first = np.searchsorted(own[order], own[order])  # of its key
    before_count, before_total = np.append(0, count)[first], np.append(0.0, total)[first]
    n, summed = count - before_count, total - before_total
    mean = np.full(len(order), np.inf)
    np.divide(summed, n, out=mean, where=n > 0)
    result = np.empty(len(order))
    result[order] = mean
    limit = _column(jobs, "time_limit_s")[rows]
    return np.fmin(result[known.sum() :], np.where(limit > 0, limit, np.nan))


def node_of(jobs: pd.DataFrame, runs: QueuedRuns, given: tuple[float | None, ...]) -> tuple[Floats, tuple[str, ...]]:
    """What a node has, (kinds,) in GB, cores and GPUs, NaN of what nobody requests, and where each is from.

    What the settings give, else what most nodes of the trace have, else the most that one of them held at once, else a
    usual node.
    """
    name = jobs["node"].to_numpy(dtype=object)[runs.rows] if "node" in jobs.columns else np.full(len(runs), None)
    named = np.array([isinstance(one, str) and one != "" for one in name], dtype=bool)
    most = _most_of(jobs, runs, name, named)
    amounts, sources = np.full(len(KINDS), np.nan), [""] * len(KINDS)
    for at in range(len(KINDS)):
        own = given[at]
        if not runs.need[:, at].any():
            continue
        if own is not None:
            amounts[at], sources[at] = own, GIVEN
        elif np.isfinite(most[at]):
            amounts[at], sources[at] = most[at], CAPACITY
        elif named.any():
            amounts[at], sources[at] = _held_by_one(runs, name, named, at), HELD
        else:
            amounts[at], sources[at] = USUAL_NODE[at], USUAL
    return amounts, tuple(sources)


def _most_of(jobs: pd.DataFrame, runs: QueuedRuns, name: object, named: Bools) -> Floats:
    """What most nodes are said to have; NaN where that is not said."""
    columns = next((one for one in CAPACITIES if {*one} <= {*jobs.columns}), None)
    if columns is None:
        return np.full(len(KINDS), np.nan)
    has = np.stack([_column(jobs, column)[runs.rows] for column in columns], axis=1)
    has[:, 0] *= 1024**3 / GB
    names = np.asarray(name)
    lead = np.unique(np.where(named, names, "").astype(str), return_index=True)[1] if named.any() else slice(None)
    kinds, counts = np.unique(has[lead][np.isfinite(has[lead]).all(axis=1)], axis=0, return_counts=True)
    return kinds[counts.argmax()] if len(kinds) else np.full(len(KINDS), np.nan)


def _held_by_one(runs: QueuedRuns, name: object, named: Bools, kind: int) -> float:
    """The most that a node of the trace held at once by its requests, or the largest request if that is more."""
    start = np.where(np.isfinite(runs.waited_s), runs.submit_s + runs.waited_s, runs.submit_s)
    alone = named & (runs.parts == 1)
    amount = runs.need[:, kind] / WHOLE[kind]
    codes = np.unique(np.asarray(name)[alone].astype(str), return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(codes.max(initial=-1) + 2))
    own = np.flatnonzero(alone)[order]
    most = [
        held_at_once(start[own[a:b]], start[own[a:b]] + runs.hours[own[a:b]] * HOUR_S, amount[own[a:b]])[0]
        for a, b in itertools.pairwise(edges.tolist())
    ]
    return float(np.ceil(max([*most, amount.max()]) - 1e-9))


@dataclass(frozen=True)
class Sized:
    """What the verdict gives the runs that it was judged on; (n,) of the replayed runs, NaN where it says nothing."""

    size_gb: Floats
    retry_gb: Floats
    killed: Bools
    from_s: float  # the later half begins


def sized_by_verdict(jobs: pd.DataFrame, runs: QueuedRuns, settings: VerdictSettings) -> Sized | None:
    """The sizes that were known when the later half was submitted; None where nothing is advised.

    A run that its size kills is retried with its request, or its use where that is more.

    Raises ColumnMissing and NotEnoughData as `resources_of`.
    """
    table = jobs.assign(**{PLACE: np.arange(len(jobs))})
    memory = resources_of(table, settings.target, settings.request_bytes, told=(PLACE,))[0]
    judged = judgement_of(memory, settings)
    if not judged.origins:
        return None
    later = memory.runs.take(slice(judged.first, len(memory.runs)))
    codes, names = memory.further[PLACE]
    row = np.array([int(float(one)) for one in names], dtype=np.int64)[codes[judged.first :]]
    size, retry, killed = np.full(len(jobs), np.nan), np.full(len(jobs), np.nan), np.zeros(len(jobs), dtype=bool)
    size[row], retry[row], killed[row] = judged.size, np.maximum(later.request, later.use), judged.killed
    return Sized(size[runs.rows], retry[runs.rows], killed[runs.rows], float(later.submit_s[0]))

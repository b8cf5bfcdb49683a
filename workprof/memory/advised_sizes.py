"""What to request for the next run of every task, profile, user or group, tested forward in time."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import ColumnMissing
from workprof.core.stats import wilson
from workprof.memory.assessment import most_common
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.charges import charge_setting
from workprof.memory.orders import finished_order
from workprof.memory.policies import Sequence, SizingSettings
from workprof.memory.replay import LATEST_RUNS
from workprof.memory.trial import COLD_RUNS, TrialTable, by_run, counted_runs, gb_h_words
from workprof.memory.usage import Runs
from workprof.memory.why import next_sizes

if TYPE_CHECKING:
    import pandas as pd


TASK, PROFILE, USER, GROUP, RUN = "task", "profile", "user", "group", "run"
KEYS = {
    TASK: "the name of the task",
    PROFILE: "the profile of a clustering, which has to be predicted before a run",
    USER: "who submits",
    GROUP: "the group of who submits",
    RUN: "every run of the second half on its own, as it was replayed",
}


OUTSIDE = "outside every profile"
"""The key of runs that no profile has."""


@dataclass(frozen=True)
class AdvisedSize:
    """What to request for the next run of one key.

    Attributes:
        key: task, profile, user or group; for a run its row.
        size_bytes: of the first attempt; NaN where nothing is known.
        next_bytes: of the attempts after a kill; then doubled.
        requested_bytes: by most runs now; NaN where nothing is.
        kept: whether the size is the request of now.
        why: what the size rests on, or why the request is kept.
        n_runs: of the key.
        largest_bytes: the largest use of these.
        n_tested: runs of the second half that were sized from those before them (kept: had their request enforced).
        n_killed: of these, killed.
        kill_probability: n_killed / n_tested; NaN without a test.
        kill_low, kill_high: 95 % Wilson interval.
        wasted_gb_h: by the tested runs.
        requested_wasted_gb_h: by the same runs with their requests.
    """

    key: str
    size_bytes: float
    next_bytes: tuple[float, ...]
    requested_bytes: float
    kept: bool
    why: str
    n_runs: int
    largest_bytes: float
    n_tested: int
    n_killed: int
    kill_probability: float
    kill_low: float
    kill_high: float
    wasted_gb_h: float
    requested_wasted_gb_h: float


@dataclass(frozen=True)
class Held:
    """What the runs of one key held on the second half: requested, used, and as recommended.

    Attributes:
        key: task, profile, user or group.
        n_runs: of the second half.
        requested_gb_h: booked.
        used_gb_h: used.
        recommended_gb_h: charged for all attempts under the recommended setting; as requested where these are kept.
        kills: under the recommended setting.
        enforced_kills: where the requests are limits.
    """

    key: str
    n_runs: int
    requested_gb_h: float
    used_gb_h: float
    recommended_gb_h: float
    kills: int
    enforced_kills: int


def held_by(
    jobs: pd.DataFrame, table: TrialTable, judged: Bools, sizing: SizingSettings | None, by: str
) -> tuple[Held, ...]:
    """Return what every key held, the one with most requested and unused first; the sums are those of the whole.

    Args:
        jobs: the table, with the column of the key.
        table: its runs.
        judged: (n,) the runs of the second half.
        sizing: recommended setting; None = keep the requests.
        by: one of `KEYS`; single runs are added up by task.

    Raises:
        ColumnMissing: when the table has no such column.
    """
    key, names = keys_of(jobs, table.runs, TASK if by == RUN else by)
    booked, used, charges = table.booked_gb_h, table.used_gb_h, table.charges
    kills, charged = np.zeros(len(key), dtype=np.int64), booked
    if sizing is not None:
        _, kills, charged = charges.under(charges.sizing.index(sizing))
    spare = np.maximum(booked - used, 0.0)

    def sums(values: Floats | Ints) -> Floats:
        return np.bincount(key[judged], weights=values[judged], minlength=len(names)).astype(np.float64)

    runs, unused = np.bincount(key[judged], minlength=len(names)), sums(spare)
    columns = [sums(values).tolist() for values in (booked, used, charged, kills, charges.enforced_failures)]
    return tuple(
        Held(names[one], int(runs[one]), *(values[one] for values in columns[:3]), *(int(n[one]) for n in columns[3:]))
        for one in np.argsort(-unused, kind="stable")
        if runs[one]
    )


def keys_of(jobs: pd.DataFrame, runs: Runs, by: str) -> tuple[Ints, tuple[str, ...]]:
    """Return the code of each run's key, and the names of the keys; runs without one share a key of that name.

    Raises:
        ColumnMissing: when the table has no such column.
    """
    if by == TASK:
        return runs.task, runs.tasks
    column = PROFILE_COLUMN if by == PROFILE else by
    if column not in jobs.columns:
        raise ColumnMissing(f"sizes by {by} need the column {by}, which the table lacks; choose task, or map it")
    own = jobs[column].iloc[runs.rows].astype("object")
    if by == PROFILE:
        own = own.map(lambda label: f"P{label:.0f}" if label >= 0 else None)
    missing = OUTSIDE if by == PROFILE else f"(no {by})"
    codes, names = own.where(own.notna(), missing).factorize()
    return codes.astype(np.int64), tuple(str(name) for name in names)


def advised_sizes(
    jobs: pd.DataFrame, table: TrialTable, judged: Bools, sizing: SizingSettings | None, by: str
) -> tuple[AdvisedSize, ...]:
    """Return the sizes of every key, the one that wastes most with its requests first; of runs in order of start.

    A key has one size, from its own runs alone, where the recommendation itself goes by all that is known of each run;
    so sizes need not add up to it. A key keeps its request where it has too few of them, where none is in the
    second half, and where its size would have been charged more than its requests on either half.

    Args:
        jobs: the table, with the column of the key.
        table: its runs.
        judged: (n,) the runs of the second half.
        sizing: recommended setting; None = keep the requests.
        by: one of `KEYS`.

    Raises:
        ColumnMissing: when the table has no such column.
    """
    if by == RUN:
        return _of_runs(jobs, table, judged, sizing)
    key, names = keys_of(jobs, table.runs, by)
    ordered = finished_order(replace(table.runs, task=key, tasks=names), np.zeros(len(key)), COLD_RUNS)
    failures, charged = table.charges.enforced_failures, table.charges.enforced_charged_gb_h
    if sizing is not None:
        alone = replace(sizing, by_labels=False)  # a key has one size, whoever asks for it
        (one,) = charge_setting(alone, [ordered], table.charges.settings.retry)
        failures, charged = by_run(one, one.failures).astype(np.int64), by_run(one, one.charged_gb_h)
    result = []
    for rows, runs in zip(ordered.rows, ordered.sequences, strict=True):
        history = replace(runs, mean_run_byte_h=ordered.mean_run_byte_h)
        own = _Key(history, rows, rows[judged[rows]], rows[~judged[rows]])
        result.append(_of_key(own, table, failures, charged, sizing))
    return tuple(sorted(result, key=lambda one: -one.requested_wasted_gb_h))


@dataclass(frozen=True)
class _Key:
    """The runs of one key in order, those of the second half among them, and the others."""

    history: Sequence
    rows: Ints
    judged: Ints
    earlier: Ints


def _of_key(
    own: _Key, table: TrialTable, failures: Ints, charged: Floats, sizing: SizingSettings | None
) -> AdvisedSize:
    booked, used = table.booked_gb_h, table.used_gb_h
    requested = most_common(table.charges.booked_bytes[own.rows])
    spare = float(np.maximum(booked[own.judged] - used[own.judged], 0.0).sum())
    refused = _why_unchanged(own, charged, booked) if sizing is not None else "the requests are kept"
    unchanged = bool(refused) and math.isfinite(requested)
    sizes, why = (math.nan, math.nan, math.nan), refused
    if unchanged:
        failures, sizes = table.charges.enforced_failures, (requested, 2 * requested, 4 * requested)
    elif sizing is not None and not refused:
        sizes = _rising(*next_sizes(own.history, 0.0, sizing, table.charges.settings.retry))
        why = f"from its latest {counted_runs(min(len(own.rows), LATEST_RUNS))}"
    killed = int((failures[own.judged] > 0).sum())
    interval = wilson(killed, len(own.judged))
    return AdvisedSize(
        key=own.history.task,
        size_bytes=sizes[0],
        next_bytes=sizes[1:],
        requested_bytes=requested,
        kept=unchanged,
        why=why,
        n_runs=len(own.rows),
        largest_bytes=float(own.history.used_bytes.max()),
        n_tested=len(own.judged),
        n_killed=killed,
        kill_probability=killed / len(own.judged) if len(own.judged) else math.nan,
        kill_low=interval.low,
        kill_high=interval.high,
        wasted_gb_h=spare if unchanged else float((charged[own.judged] - used[own.judged]).sum()),
        requested_wasted_gb_h=spare,
    )


def _rising(first: float, second: float, last: float) -> tuple[float, float, float]:
    """Return the sizes of three attempts as they are lifted: the next step above the killed one, else its double."""
    sizes = [first]
    for _ in range(2):
        above = [size for size in (second, last) if size > sizes[-1]]
        sizes.append(min(above, default=2 * sizes[-1]))
    return sizes[0], sizes[1], sizes[2]


def _why_unchanged(own: _Key, charged: Floats, booked: Floats) -> str:
    """Return why the key keeps its request although sizes pay on the whole; '' where its own pay, too."""
    if len(own.rows) <= COLD_RUNS:
        return f"{counted_runs(len(own.rows))}, a size needs more than {COLD_RUNS}"
    if not len(own.judged):
        return "no run in the second half to test a size on"
    if any(charged[rows].sum() > booked[rows].sum() for rows in (own.judged, own.earlier)):
        of_all = (float(charged[own.rows].sum()), float(booked[own.rows].sum()))
        charged_words, booked_words = map(gb_h_words, of_all)
        return f"its sizes would have been charged {charged_words}, its requests {booked_words}"
    return ""


def _of_runs(
    jobs: pd.DataFrame, table: TrialTable, judged: Bools, sizing: SizingSettings | None
) -> tuple[AdvisedSize, ...]:
    """Return what every run of the second half was given when it was replayed, in order of start."""
    runs, charges = table.runs, table.charges
    first, failures, charged = charges.booked_bytes, charges.enforced_failures, charges.enforced_charged_gb_h
    if sizing is not None:
        first, failures, charged = charges.under(charges.sizing.index(sizing))
    ids = jobs["row_id"].to_numpy(dtype=np.int64)[runs.rows] if "row_id" in jobs.columns else runs.rows
    spare = np.maximum(table.booked_gb_h - table.used_gb_h, 0.0)
    wasted = spare if sizing is None else charged - table.used_gb_h
    of = np.flatnonzero(judged)
    return tuple(
        AdvisedSize(
            key=str(ids[row]),
            size_bytes=float(first[row]),
            next_bytes=(),
            requested_bytes=float(charges.booked_bytes[row]),
            kept=sizing is None,
            why=f"a run of {runs.tasks[int(runs.task[row])]}",
            n_runs=1,
            largest_bytes=float(runs.used_bytes[row]),
            n_tested=1,
            n_killed=int(failures[row] > 0),
            kill_probability=math.nan,
            kill_low=0.0,
            kill_high=1.0,
            wasted_gb_h=float(wasted[row]),
            requested_wasted_gb_h=float(spare[row]),
        )
        for row in of[np.argsort(np.nan_to_num(runs.start_s[of], nan=np.inf), kind="stable")]
    )

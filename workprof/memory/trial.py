"""What every run would cost under every setting of ours: what a recommendation is chosen from and judged by."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import MOST_USED, Bools, Floats, Ints, LatestRuns, latest_of
from workprof.core.errors import NotEnoughData
from workprof.core.fields import settings
from workprof.core.progress import Progress, silent
from workprof.core.units import GB
from workprof.memory.charges import Charges, charge, charge_setting
from workprof.memory.frontier import setting_words, settings_at_submission
from workprof.memory.orders import Ordered, finished_order
from workprof.memory.policies import Preset, SizingSettings, requests_so_far, warm_sizing
from workprof.memory.replay_settings import PRICES
from workprof.memory.retry import RetrySettings
from workprof.memory.usage import (
    Request,
    Runs,
    Target,
    runs_of,
    with_flat_request,
    with_killed,
)

if TYPE_CHECKING:
    import pandas as pd


COLD_RUNS = 10
"""First runs of each task, which start at their request."""


@settings
class FrontierSettings:
    """What every setting of ours is replayed on."""

    target: Target = "peak_rss"
    request_bytes: Request = 0.0
    latest_runs: LatestRuns = MOST_USED
    retry: RetrySettings = field(default_factory=RetrySettings)


@dataclass(frozen=True)
class FrontierCharges:
    """What every run costs under every setting of ours, and with its request enforced.

    Attributes:
        settings: as asked.
        sizing: (n_settings) settings of ours.
        names: (n_settings) in words.
        first_bytes: (n_settings, n) first sizes of each run, in the table's order of runs.
        failures: (n_settings, n) kills of each run.
        charged_gb_h: (n_settings, n) of all attempts.
        enforced_failures, enforced_charged_gb_h: (n,) where a run above its request is killed and doubled.
        booked_bytes: (n,) requests; where a run has none the task's most common one so far, NaN before any.
        seconds: of the replay.
    """

    settings: FrontierSettings
    sizing: tuple[SizingSettings, ...]
    names: tuple[str, ...]
    first_bytes: Floats
    failures: Ints
    charged_gb_h: Floats
    enforced_failures: Ints
    enforced_charged_gb_h: Floats
    booked_bytes: Floats
    seconds: float

    def under(self, at: int) -> tuple[Floats, Ints, Floats]:
        """Return (n,) first sizes, kills and GB·h of the runs under a setting."""
        return self.first_bytes[at], self.failures[at], self.charged_gb_h[at]


class ReplayedCharges:
    """The same of a table with too many runs to hold: every setting is replayed anew when it is looked at.

    Attributes: those of `FrontierCharges` that are not by setting.
    """

    def __init__(self, runs: Runs, settings: FrontierSettings) -> None:
        warm_sizing()
        self.settings = settings
        self.sizing = settings_at_submission(PRICES)
        self._ordered = ordered = finished_order(runs, np.zeros(len(runs)), COLD_RUNS)
        self.names = tuple(setting_words(one, ordered.known) for one in self.sizing)
        enforced = charge(Preset(), ordered, replace(settings.retry, cap_bytes=None))
        self.enforced_failures = by_run(enforced, enforced.failures).astype(np.int64)
        self.enforced_charged_gb_h = by_run(enforced, enforced.charged_gb_h)
        self.booked_bytes = _booked(ordered, len(runs))
        self.under = lru_cache(maxsize=1)(self._under)  # the chosen one is looked at several times
        """at -> (n,) first sizes, kills and GB·h of the runs under a setting."""

    def _under(self, at: int) -> tuple[Floats, Ints, Floats]:
        (one,) = charge_setting(self.sizing[at], [self._ordered], self.settings.retry)
        first, failures, charged = (by_run(one, each) for each in (one.first_bytes, one.failures, one.charged_gb_h))
        return first, failures.astype(np.int64), charged


@dataclass(frozen=True)
class Judged:
    """What some way of sizing costs on some runs.

    Attributes:
        n_runs: of them.
        wasted_gb_h: charged and not used.
        charged_gb_h: of all attempts.
        failures: kills.
        killed_runs: runs with a kill or more.
        saved_share: of the GB·h that the same runs requested; below 0 where more is charged.
    """

    n_runs: int
    wasted_gb_h: float
    charged_gb_h: float
    failures: int
    killed_runs: int
    saved_share: float


REPLAY_SHARE = 0.9
"""Of the progress; the rest is the list of sizes."""

TRADING = "Trading waste against kills"


def frontier_charges_of(
    frames: Mapping[str, pd.DataFrame], settings: FrontierSettings, progress: Progress = silent
) -> FrontierCharges:
    """Return what every run costs under every setting of ours.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run is left, or none has a request.
    """
    started = time.perf_counter()
    progress(0.0, "Ordering the runs")
    jobs, _ = latest_of(frames["jobs"], settings.latest_runs)
    runs = trial_runs(with_killed(jobs, settings.target), settings)
    again = ReplayedCharges(runs, settings)
    under = []
    for at in range(len(again.sizing)):
        progress(REPLAY_SHARE * at / len(again.sizing), TRADING)
        under.append(again.under(at))
    first, failures, charged = zip(*under, strict=True)
    return FrontierCharges(
        settings=settings,
        sizing=again.sizing,
        names=again.names,
        first_bytes=np.array(first),
        failures=np.array(failures),
        charged_gb_h=np.array(charged),
        enforced_failures=again.enforced_failures,
        enforced_charged_gb_h=again.enforced_charged_gb_h,
        booked_bytes=again.booked_bytes,
        seconds=time.perf_counter() - started,
    )


def trial_runs(jobs: pd.DataFrame, settings: FrontierSettings) -> Runs:
    """Return the runs of a table.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run is left, or none has a request.
    """
    runs = with_flat_request(runs_of(jobs, settings.target), settings.request_bytes)
    if not np.isfinite(runs.requested_bytes).any():
        raise NotEnoughData(
            f"none of {len(runs):,} runs has a request (requested_memory_bytes), so there is nothing to compare a "
            "recommendation with; map the column when you ingest, or give one request for all"
        )
    return runs


def by_run(charges: Charges, values: Floats | Ints) -> Floats:
    """Return (n,) values of the charges in the order of the runs."""
    result = np.full(len(charges.rows), np.nan)
    result[charges.rows] = values
    return result


def _booked(ordered: Ordered, n_runs: int) -> Floats:
    booked = np.full(n_runs, np.nan)
    for rows, runs in zip(ordered.rows, ordered.sequences, strict=True):
        booked[rows[runs.sized]] = requests_so_far(runs)
    return booked


@dataclass(frozen=True)
class TrialTable:
    """The runs with what they cost under every setting; (n,) masks of them give figures.

    Attributes:
        runs: all of the table.
        charges: of the same runs.
    """

    runs: Runs
    charges: FrontierCharges | ReplayedCharges

    @property
    def used_gb_h(self) -> Floats:
        """(n,) what each run used."""
        return self.runs.used_bytes * self.runs.hours / GB

    @property
    def booked_gb_h(self) -> Floats:
        """(n,) what each run requests, NaN where its task has no request."""
        return self.charges.booked_bytes * self.runs.hours / GB

    def halves(self, counted: Bools) -> tuple[Bools, Bools]:
        """Return masks of the first and the second half of the counted runs, in order of start, ties as in the table.

        Raises:
            NotEnoughData: when no run counts.
        """
        order = np.argsort(np.nan_to_num(self.runs.start_s, nan=np.inf), kind="stable")
        order = order[counted[order]]
        if not len(order):
            raise NotEnoughData(
                "no run is left to recommend on: all are above the cap, in a burst or without a request"
            )
        past, judged = np.zeros(len(self.runs), dtype=bool), np.zeros(len(self.runs), dtype=bool)
        past[order[: len(order) // 2]] = True
        judged[order[len(order) // 2 :]] = True
        return past, judged

    def requested(self, of: Bools) -> Judged:
        """Return what runs booked: none of them is killed, those above their request waste nothing."""
        booked, spare = self.booked_gb_h[of], np.maximum(self.booked_gb_h[of] - self.used_gb_h[of], 0.0)
        return Judged(int(of.sum()), float(spare.sum()), float(booked.sum()), 0, 0, 0.0)

    def enforced(self, of: Bools) -> Judged:
        """Return what runs cost where their request is a limit."""
        return self._judged(of, self.charges.enforced_charged_gb_h, self.charges.enforced_failures)

    def ours(self, at: int, of: Bools) -> Judged:
        """Return what runs cost under a setting."""
        _, failures, charged = self.charges.under(at)
        return self._judged(of, charged, failures)

    def _judged(self, of: Bools, charged_gb_h: Floats, failures: Ints) -> Judged:
        charged, booked = float(charged_gb_h[of].sum()), float(self.booked_gb_h[of].sum())
        finished = of & (failures <= self.charges.settings.retry.max_retries)
        return Judged(
            n_runs=int(of.sum()),
            wasted_gb_h=charged - float(self.used_gb_h[finished].sum()),
            charged_gb_h=charged,
            failures=int(failures[of].sum()),
            killed_runs=int((failures[of] > 0).sum()),
            saved_share=1 - charged / booked if booked > 0 else math.nan,
        )

    def given_up(self, at: int, of: Bools) -> bool:
        """Return whether some run fails its last retry: it is charged less than it needs."""
        return bool((self.charges.under(at)[1][of] > self.charges.settings.retry.max_retries).any())


def gb_h_words(value: float) -> str:
    """Return GB·h for a sentence: '144 GB·h', '26,502 GB·h'."""
    return f"{value:,.0f} GB·h" if abs(value) >= 1000 else f"{value:.3g} GB·h"


def counted_runs(n: int) -> str:
    """Return '1 run', '654 runs'."""
    return f"{n:,} run{'s' if n != 1 else ''}"

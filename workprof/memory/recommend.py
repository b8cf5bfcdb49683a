"""One recommendation: the setting that wastes least at acceptable kills, or to keep the requests.

Every setting of our frontier is replayed on all runs. It is chosen on the first half of them, in order of start, and
judged on the second; figures that are shown are those of the second half.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, latest_of, numbers_if_present
from workprof.core.causes import LOWER_BOUND
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.records import Made
from workprof.core.shown import Shown
from workprof.core.stats import FEWEST_RUNS, Interval, saving_interval, wilson
from workprof.core.units import format_share
from workprof.memory.advised_sizes import KEYS, PROFILE, TASK, AdvisedSize, Held, advised_sizes, held_by, keys_of
from workprof.memory.load import Burst, bursts_of
from workprof.memory.plan import NeverRun, never_run
from workprof.memory.policies import SizingSettings
from workprof.memory.trial import (
    REPLAY_SHARE,
    TRADING,
    FrontierCharges,
    FrontierSettings,
    Judged,
    ReplayedCharges,
    TrialTable,
    counted_runs,
    frontier_charges_of,
    gb_h_words,
    trial_runs,
)
from workprof.memory.usage import Runs, evidence_of, evidence_words, lower_bound_words, with_killed

if TYPE_CHECKING:
    import pandas as pd


REQUESTS_UNCHANGED = "keep the requests"
MOST_KILLED_SHARE = 0.01
"""Of the runs, where nobody says how many kills are acceptable."""
_KILLS = re.compile(r"(\d+(?:\.\d+)?)\s*(%?)")


@settings
class RecommendationSettings:
    """Which kills are acceptable, and for what sizes are listed."""

    by: Annotated[str, Setting("What one request is for.", choices=KEYS, key="memory_plan_by", label="By")] = TASK
    acceptable_kills: Annotated[
        str,
        Setting(
            "Kills that are acceptable: a number N in each half of the runs, or a share of the runs P%.",
            most=20,
            named={"default": ""},
            empty="no more than requests enforced, at most 1 % of runs",
            shown={"default": "automatic"},
            key="memory_kills",
            label="Acceptable kills",
        ),
    ] = ""
    cost_per_kill_gb_h: Annotated[
        float | None,
        Setting(
            "Cost of one kill beyond what its attempt is charged: the cheapest setting is chosen by it, instead of by "
            "the acceptable kills.",
            unit="GB·h",
            least=0,
            most=1e9,
            flag="--cost-per-kill",
            key="memory_kill_cost",
            label="Cost per kill",
            empty="by acceptable kills",
        ),
    ] = None
    leave_out_bursts: Annotated[
        bool, Setting("Runs of bursts do not count in the figures.", key="memory_bursts", label="Exclude bursts")
    ] = False
    frontier: FrontierSettings = field(default_factory=FrontierSettings)

    def __post_init__(self) -> None:
        self.kills_of(1)

    def kills_of(self, n_runs: int, n_judged: int = 1) -> float:
        """Return the kills that are acceptable among some of the runs; infinity where nothing is said of them.

        Raises:
            SettingsError: for a text that is neither N nor P%.
        """
        if not self.acceptable_kills.strip():
            return math.inf
        match = _KILLS.fullmatch(self.acceptable_kills.strip())
        if match is None or (match[2] and float(match[1]) > 100):
            raise SettingsError(
                f"acceptable_kills is {self.acceptable_kills!r}; give a number such as 3, or a share such as 0.5%"
            )
        return float(match[1]) * n_runs / (100 if match[2] else n_judged)


@dataclass(frozen=True)
class TriedSetting:
    """One setting of ours on both halves of the runs.

    Attributes:
        setting: in words.
        price_runs: cost of a kill in mean runs.
        by_input: whether inputs are looked at.
        past, judged: on the first and on the second half.
        acceptable: whether its kills on the first half are.
        efficient: whether no other setting wastes less at no more kills on the second half.
        chosen: on the first half.
    """

    setting: str
    price_runs: float
    by_input: bool
    past: Judged
    judged: Judged
    acceptable: bool
    efficient: bool
    chosen: bool


@dataclass(frozen=True, repr=False)
class Recommendation(Shown):
    """What to do with the requests.

    Attributes:
        settings: as asked.
        setting: recommended, in words; 'keep the requests' where nothing better is known.
        kept: whether it is to keep the requests.
        sizing: the setting of the policy; None = keep the requests.
        recommended: on the second half; where the requests are kept, the same as `requested`.
        requested: what the same runs booked; nobody is killed.
        enforced: the same runs where those above their request are killed, doubled and charged.
        interval: of the saving against requested, 95 %, bootstrap over the runs; of what was chosen on the first half,
            also where it is not recommended; NaN where nothing was chosen.
        reason: one plain sentence.
        acceptable_kills: on the second half.
        acceptable_kills_past: on the first half.
        cost_per_kill_gb_h: least and most that a kill costs where just this setting is the cheapest on the first half;
            NaN where there is no such cost.
        tried: every setting, least waste on the second half first.
        n_past, n_judged: runs of both halves.
        judged_from_s: start of the first run of the second half; NaN without times.
        used_gb_h: by the runs of the second half.
        never: runs above the cap, which can never run; they count in no figure.
        bursts: days on which a profile (or task) requested unusually much, the largest first.
        sizes: of the next runs.
        held: requested, used and recommended GB·h of the second half by the key of the sizes (single runs by task).
        left_out: reason -> runs that count in no figure.
        notes: in words.
        seconds: of the computation.
    """

    settings: RecommendationSettings
    setting: str
    kept: bool
    sizing: SizingSettings | None
    recommended: Judged
    requested: Judged
    enforced: Judged
    interval: Interval
    reason: str
    acceptable_kills: float
    acceptable_kills_past: float
    cost_per_kill_gb_h: tuple[float, float]
    tried: tuple[TriedSetting, ...]
    n_past: int
    n_judged: int
    judged_from_s: float
    used_gb_h: float
    never: NeverRun
    bursts: tuple[Burst, ...]
    sizes: tuple[AdvisedSize, ...]
    held: tuple[Held, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]
    seconds: float


CHARGES_STEP = "memory.frontier_charges"
MOST_STORED_RUNS = 500_000
"""Of more runs the charges by setting are not kept (900 bytes a run): each setting is replayed when it is looked at."""


def recommendation_of(
    frames: Mapping[str, pd.DataFrame], settings: RecommendationSettings, progress: Progress = silent
) -> Made:
    """Return the recommendation, with the charges that it was chosen from as a by-product, if they are not too many.

    Args:
        frames: 'jobs' -> the table, see `runs_of`; the column of what sizes are listed by; `row_id`; `finished` and
            `status` where it holds rows that did not finish.
        settings: kills, list of sizes.
        progress: told each setting.

    Raises:
        ColumnMissing: when a needed column is absent.
        NotEnoughData: when no run is left, or none has a request.
    """
    started = time.perf_counter()
    jobs, _ = latest_of(frames["jobs"], settings.frontier.latest_runs)
    if len(jobs) > MOST_STORED_RUNS:
        progress(0.0, "Ordering the runs")
        runs = trial_runs(with_killed(jobs, settings.frontier.target), settings.frontier)
        result = recommend(frames, settings, ReplayedCharges(runs, settings.frontier), progress)
        return Made(replace(result, seconds=time.perf_counter() - started), {})
    charges = frontier_charges_of(frames, settings.frontier, progress)
    result = recommend(frames, settings, charges, progress)
    return Made(replace(result, seconds=time.perf_counter() - started), {CHARGES_STEP: charges})


def recommend(
    frames: Mapping[str, pd.DataFrame],
    settings: RecommendationSettings,
    charges: FrontierCharges | ReplayedCharges,
    progress: Progress = silent,
) -> Recommendation:
    """Return the recommendation from charges of the same runs; see `recommendation_of`."""
    started = time.perf_counter()
    latest, earlier = latest_of(frames["jobs"], settings.frontier.latest_runs)
    jobs = with_killed(latest, settings.frontier.target)
    runs = trial_runs(jobs, settings.frontier)
    table = TrialTable(runs, charges)
    key, names = keys_of(jobs, runs, PROFILE if settings.by == PROFILE else TASK)
    bursts, in_burst = bursts_of(key, names, runs.start_s, table.booked_gb_h)
    cap = settings.frontier.retry.cap_bytes
    never_fit = runs.used_bytes > (math.inf if cap is None else cap)
    unrequested = np.isnan(charges.booked_bytes)
    counted = ~(never_fit | unrequested | (in_burst & settings.leave_out_bursts))
    past, judged = table.halves(counted)
    choice = _choose(table, past, judged, settings, progress)
    progress(REPLAY_SHARE, "Sizing the next runs")
    left_out = earlier | dict(runs.left_out)
    left_out |= {"no request in the task": int(unrequested.sum()), "above the cap": int(never_fit.sum())}
    if settings.leave_out_bursts:
        left_out["in a burst"] = int((in_burst & ~never_fit & ~unrequested).sum())
    starts = runs.start_s[judged]
    return Recommendation(
        settings=settings,
        setting=REQUESTS_UNCHANGED if choice.sizing is None else choice.name,
        kept=choice.sizing is None,
        sizing=choice.sizing,
        recommended=choice.figures,
        requested=table.requested(judged),
        enforced=table.enforced(judged),
        interval=choice.interval,
        reason=choice.reason,
        acceptable_kills=_acceptable(table, judged, judged, settings),
        acceptable_kills_past=_acceptable(table, past, judged, settings),
        cost_per_kill_gb_h=choice.cost_per_kill_gb_h,
        tried=choice.tried,
        n_past=int(past.sum()),
        n_judged=int(judged.sum()),
        judged_from_s=float(starts.min()) if np.isfinite(starts).any() else math.nan,
        used_gb_h=float(table.used_gb_h[judged].sum()),
        never=never_run(runs, cap),
        bursts=bursts,
        sizes=advised_sizes(jobs, table, judged, choice.sizing, settings.by),
        held=held_by(jobs, table, judged, choice.sizing, settings.by),
        left_out={reason: n for reason, n in left_out.items() if n},
        notes=(*_notes(runs, table, never_run(runs, cap)), *_evidence_notes(latest, settings)),
        seconds=time.perf_counter() - started,
    )


def _acceptable(table: TrialTable, of: Bools, judged: Bools, settings: RecommendationSettings) -> float:
    """Return the acceptable kills among some runs."""
    if settings.cost_per_kill_gb_h is not None:
        return math.inf
    acceptable = settings.kills_of(int(of.sum()), int(judged.sum()))
    if math.isfinite(acceptable):
        return acceptable
    return min(float(table.enforced(of).failures), MOST_KILLED_SHARE * int(of.sum()))


@dataclass(frozen=True)
class _Choice:
    """What was chosen on the past; without a `sizing` it is to keep the requests."""

    sizing: SizingSettings | None
    name: str
    figures: Judged
    interval: Interval
    reason: str
    cost_per_kill_gb_h: tuple[float, float]
    tried: tuple[TriedSetting, ...]


def _choose(
    table: TrialTable, past: Bools, judged: Bools, settings: RecommendationSettings, progress: Progress
) -> _Choice:
    """Choose on the first half of the runs, judge on the second."""
    n, before, after, ends = len(table.charges.sizing), [], [], []
    for at in range(n):
        if isinstance(table.charges, ReplayedCharges):
            progress(REPLAY_SHARE * at / n, TRADING)
        before.append(table.ours(at, past))
        after.append(table.ours(at, judged))
        ends.append(not table.given_up(at, past))
    limit = _acceptable(table, past, judged, settings)
    cost = settings.cost_per_kill_gb_h or 0.0
    fits = [one.failures <= limit and end for one, end in zip(before, ends, strict=True)]
    costs = [one.wasted_gb_h + cost * one.failures if fit else math.inf for one, fit in zip(before, fits, strict=True)]
    best = min(range(n), key=lambda at: (costs[at], before[at].failures)) if any(fits) else -1
    tried = _tried(table.charges, before, after, fits, best)
    requested = table.requested(judged)
    nothing = Interval(math.nan, math.nan)
    if best < 0:
        return _unchanged(requested, nothing, _none_fits(before, limit, tried), tried)
    booked = table.booked_gb_h[judged]
    interval = saving_interval(table.charges.under(best)[2][judged], booked)
    against = _Trial(table.charges.names[best], before[best], after[best], interval, cost)
    reason = against.refusal(table.requested(past), requested, limit)
    if table.given_up(best, judged):
        reason = f"With {against.name}, a run of the second half failed all its retries."
    if reason:
        return _unchanged(requested, interval, reason + _more_kills(tried, limit, cost), tried)
    return _Choice(
        sizing=table.charges.sizing[best],
        name=against.name,
        figures=after[best],
        interval=interval,
        reason=against.praise(table.enforced(judged), _acceptable(table, judged, judged, settings)),
        cost_per_kill_gb_h=_cost_range(before, best),
        tried=tried,
    )


def _unchanged(requested: Judged, interval: Interval, reason: str, tried: tuple[TriedSetting, ...]) -> _Choice:
    return _Choice(None, REQUESTS_UNCHANGED, requested, interval, reason, (math.nan, math.nan), tried)


def _tried(
    charges: FrontierCharges | ReplayedCharges,
    before: Sequence[Judged],
    after: Sequence[Judged],
    fits: Sequence[bool],
    best: int,
) -> tuple[TriedSetting, ...]:
    result, fewest = [], math.inf
    for at in sorted(range(len(before)), key=lambda at: (after[at].wasted_gb_h, after[at].failures)):
        sizing = charges.sizing[at]
        result.append(
            TriedSetting(
                setting=charges.names[at],
                price_runs=sizing.price_runs,
                by_input=sizing.by_input,
                past=before[at],
                judged=after[at],
                acceptable=fits[at],
                efficient=after[at].failures < fewest,
                chosen=at == best,
            )
        )
        fewest = min(fewest, after[at].failures)
    return tuple(result)


@dataclass(frozen=True)
class _Trial:
    """A setting that was chosen on the first half, on trial."""

    name: str
    past: Judged
    judged: Judged
    interval: Interval
    cost: float

    def refusal(self, requested_past: Judged, requested: Judged, limit: float) -> str:
        """Return why the requests are kept, in a sentence; '' where the setting pays."""
        if self.judged.n_runs < FEWEST_RUNS:
            few = f"Only {counted_runs(self.judged.n_runs)} could be judged, fewer than {FEWEST_RUNS}"
            return f"{few}: too few to advise other sizes."
        if self._cost(self.past) >= requested_past.charged_gb_h:
            more = format_share(self._cost(self.past) / requested_past.charged_gb_h - 1)
            return (
                f"No setting with acceptable kills saves memory: the best holds {more} more than requested on the "
                "first half of the runs."
            )
        if self._cost(self.judged) >= requested.charged_gb_h:
            took, booked = gb_h_words(self._cost(self.judged)), gb_h_words(requested.charged_gb_h)
            return (
                f"What saved {format_share(self.past.saved_share)} on the first half of the runs would hold "
                f"{took} on the second, where {booked} were requested."
            )
        if not self.interval.low > 0:
            return (
                f"The saving of {format_share(self.judged.saved_share)} on the second half of the runs is not sure: "
                f"its 95 % interval begins at {format_share(self.interval.low)}."
            )
        by_chance = wilson(limit, self.past.n_runs).high * self.judged.n_runs if math.isfinite(limit) else math.inf
        if self.judged.failures > by_chance:
            return (
                f"What had {_kills(self.past.failures)} on the first half of the runs had {self.judged.failures:,} on "
                f"the second: more than chance explains where {limit:,.4g} are acceptable."
            )
        return ""

    def praise(self, enforced: Judged, limit: float) -> str:
        """Return why the setting is recommended, with its figures."""
        low, high = format_share(self.interval.low), format_share(self.interval.high)
        more = f", {limit:,.4g} were acceptable" if self.judged.failures > limit else ""
        return (
            f"The recommended requests hold {format_share(self.judged.saved_share)} less memory (95 % interval {low} "
            f"to {high}) with {_kills(self.judged.failures)} in {counted_runs(self.judged.n_runs)}{more}; today's "
            f"requests, enforced, have {_kills(enforced.failures)}."
        )

    def _cost(self, of: Judged) -> float:
        return of.charged_gb_h + self.cost * of.failures


def _none_fits(before: Sequence[Judged], limit: float, tried: tuple[TriedSetting, ...]) -> str:
    fewest = min(one.failures for one in before)
    return (
        f"Every setting kills more than the acceptable {math.floor(limit):,} on the first half of the runs; the most "
        f"cautious has {_kills(fewest)}." + _more_kills(tried, limit, 0.0)
    )


def _more_kills(tried: tuple[TriedSetting, ...], limit: float, cost: float) -> str:
    """Return what more kills than are acceptable would save, in a sentence; '' = nothing."""
    one = None if cost else next_step(tried, limit)
    if one is None:
        return ""
    share = format_share(one.past.failures / one.past.n_runs, 1 if one.past.failures * 1000 >= one.past.n_runs else 2)
    return (
        f" Accepting {share} kills would save {format_share(one.judged.saved_share)} ({_kills(one.judged.failures)} "
        "on the second half)."
    )


def next_step(tried: Sequence[TriedSetting], limit: float) -> TriedSetting | None:
    """Return the setting that saves on both halves with the fewest kills above a limit; None = there is none."""
    saving = [
        one for one in tried if one.past.failures > limit and min(one.past.saved_share, one.judged.saved_share) > 0
    ]
    return min(saving, key=lambda one: (one.past.failures, -one.past.saved_share)) if saving else None


def _cost_range(before: Sequence[Judged], best: int) -> tuple[float, float]:
    """Return the costs per kill between which the setting is the cheapest of all; NaN where there are none."""
    own, low, high = before[best], 0.0, math.inf
    for one in before:
        kills, waste = one.failures - own.failures, own.wasted_gb_h - one.wasted_gb_h
        if kills > 0:
            low = max(low, waste / kills)
        elif kills < 0:
            high = min(high, waste / kills)
        elif waste > 0:
            return math.nan, math.nan
    return (low, high) if low <= high else (math.nan, math.nan)


def _kills(n: int) -> str:
    return "no kill" if not n else f"{n:,} kill{'s' if n != 1 else ''}"


def _evidence_notes(jobs: pd.DataFrame, settings: RecommendationSettings) -> list[str]:
    """Return what did not finish, and how runs that were killed for memory count."""
    evidence = evidence_of(jobs, settings.frontier.target)
    notes = [evidence_words(evidence)] if evidence else []
    if n := sum(one.n_bounds for one in evidence):
        notes.append(
            f"{counted_runs(n)} killed for memory {'count as uses' if n > 1 else 'counts as a use'} just above the"
            " limit: a kill where requests are enforced, though the true use may be larger"
        )
    marked = numbers_if_present(jobs, LOWER_BOUND)
    if marked is not None and (n := int((marked > 0).sum())):
        notes.append(lower_bound_words(n, len(jobs)))
    return notes


def _notes(runs: Runs, table: TrialTable, never: NeverRun) -> tuple[str, ...]:
    notes = []
    if never.n_runs:
        notes.append(
            f"{counted_runs(never.n_runs)} can never run with at most {never.cap_gb:,.4g} GB (the largest used "
            f"{never.largest_gb:,.4g} GB); they count in no figure"
        )
    if n_none := int((np.isnan(runs.requested_bytes) & np.isfinite(table.charges.booked_bytes)).sum()):
        notes.append(f"{counted_runs(n_none)} without a request take their task's most common one")
    if n_untimed := int(np.isnan(runs.start_s).sum()):
        notes.append(f"{counted_runs(n_untimed)} without a start come last, in the order of the table")
    return tuple(notes)

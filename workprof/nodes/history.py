"""The verdict on a node over time: in service, to be run again, excluded until it is good again.

Each run of a benchmark is compared with the normal ones before it on the same node. Its place in their distribution is
a normal score (Hawkins' self-starting chart), so that a short history needs no limits of its own. A run far below, or a
sum of small steps below (Page's CUSUM), asks for another run. If that is bad, too, the node is excluded, and what is
normal stays what it was before the change began; so many good runs in a row take it back. Between bad and good lies a
gap, so that a node does not flip. A lasting step upwards is a new normal.

Sources: Page (Biometrika 1954); Hawkins (The Statistician 1987); Siegmund (Sequential Analysis, 1985) for the limit of
the sum; Sen (1968) for the trend. Perona re-runs to confirm and excludes; how long, and the way back, are ours.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.units import DAY_S
from workprof.nodes.comparisons import Degraded, degraded_nodes
from workprof.nodes.histories import LEAST_HISTORY, LEAST_SCALE
from workprof.nodes.parsed_runs import ParsedRuns, parse_runs
from workprof.nodes.selection import EXCLUDE_NONE, STRESSED, RankSettings, Selection, newest_failed, oriented, select

if TYPE_CHECKING:
    import pandas as pd

SERVICE, RERUN, EXCLUDED = "in service", "re-run", "excluded"
STATES = (SERVICE, RERUN, EXCLUDED)
"""By how bad they are."""

DRIFT = 0.5
"""What a step must exceed to add to the sum, in standard deviations: half the shift that is looked for."""
OVERSHOOT = 1.166
"""By how much a sum passes its limit on both ends (Siegmund)."""
BAD = 1.645
"""Normal score below which another run confirms."""
HEAVIEST = 4
"""Degrees of freedom of the noise: heavier tails than these alarm more often than is stated."""
MONTH_S = 30 * DAY_S
FEWEST_IN_TREND, MOST_IN_TREND = 8, 500
"""Runs; the newest ones of a longer course."""


@settings
class HistorySettings:
    """Which runs count, how rare false alarms are, and what takes a node back."""

    exclude: Annotated[
        str,
        Setting(
            "Runs that do not count.",
            choices={STRESSED: "those labelled as under load do not", EXCLUDE_NONE: "all count"},
            shown={STRESSED: "Under load", EXCLUDE_NONE: "None"},
            key="nodes_history_exclude",
            label="Excluded runs",
        ),
    ] = STRESSED
    false_alarm_share: Annotated[
        float,
        Setting(
            "Share of the reports of a steady node that may need another run; a report is a run of each benchmark.",
            "share",
            least=0.0001,
            most=0.2,
            flag="--false-alarms",
            key="nodes_history_alarms",
            label="Maximum false alarms",
        ),
    ] = 0.01
    least_drop_share: Annotated[
        float,
        Setting(
            "Smallest drop below normal that matters; a good run is less than half of it below.",
            "share",
            least=0,
            most=0.9,
            flag="--least-drop",
            key="nodes_history_drop",
            label="Smallest drop",
        ),
    ] = 0.1
    good_runs: Annotated[
        int,
        Setting(
            "Good runs in a row that take an excluded node back into service.",
            least=1,
            most=20,
            key="nodes_history_good",
            label="Good runs to return",
        ),
    ] = 3


@dataclass(frozen=True)
class Trend:
    """Change of a benchmark per 30 days, -0.02 = 2 % worse; NaN with fewer than 8 runs, or within a day."""

    per_month: float
    low: float  # and `high`: 95 %
    high: float


@dataclass(frozen=True)
class Course:
    """The runs of a benchmark on a node, by time; arrays are (n_runs,)."""

    node: str
    benchmark: str
    at_s: Floats
    ratio: Floats  # to what was normal for the node; NaN for the first runs
    state: Ints  # place in `STATES` after each run
    since: Ints  # place of the first run of the change that a state is about; -1 in service
    trend: Trend


@dataclass(frozen=True)
class StateChange:
    """A benchmark's verdict on a node changes."""

    at_s: float
    node: str
    benchmark: str
    state: str
    since_s: float  # the change that led to it began; NaN in service
    ratio: float  # of the run to what was normal


@dataclass(frozen=True)
class NodeState:
    """What is said of a node now."""

    node: str
    state: str  # the worst of its benchmarks'
    benchmark: str  # that says so; '' in service
    since_s: float  # the change began; NaN in service
    ratio: float  # of its newest run; NaN in service
    n_runs: int
    n_alarms: int  # times that another run was requested
    trend: Trend  # of that benchmark, else of the one that falls fastest
    slowed: Degraded | None = None  # what the ranking says of its newest runs against all earlier ones


@dataclass(frozen=True, repr=False)
class History(Shown):
    """The verdicts on all nodes over time."""

    settings: HistorySettings
    nodes: tuple[NodeState, ...]  # the worst first
    courses: tuple[Course, ...]  # by node and benchmark
    changes: tuple[StateChange, ...]  # the newest first
    left_out: dict[str, int]  # reason -> runs
    # nodes of which newer runs of a benchmark than those that are followed have other parameters, such as after an
    # update of its tool
    not_followed: tuple[str, ...]
    failed: dict[str, tuple[str, ...]]  # node -> benchmarks whose newest run failed, see `newest_failed`
    n_same_start: int  # runs that start with another of their benchmark and node: the rows tell which is newer
    seconds: float

    @property
    def not_judged(self) -> tuple[str, ...]:
        """Nodes without a run that could be compared with normal ones before it."""
        judged = {one.node for one in self.courses if np.isfinite(one.ratio).any()}
        return tuple(one.node for one in self.nodes if one.node not in judged)

    @property
    def n_excluded(self) -> int:
        """Nodes that are excluded now."""
        return sum(one.state == EXCLUDED for one in self.nodes)

    @property
    def n_rerun(self) -> int:
        """Nodes of which another run is requested now."""
        return sum(one.state == RERUN for one in self.nodes)


def node_history(frames: Mapping[str, pd.DataFrame], settings: HistorySettings, progress: Progress = silent) -> History:
    """The verdicts of 'runs', raw benchmark runs.

    Raises NotEnoughData when no run with a time is left.
    """
    started = time.perf_counter()
    parsed = parse_runs(frames["runs"])
    chosen = select(parsed, RankSettings(exclude=settings.exclude))
    runs, left_out = oriented(parsed, chosen.positions), dict(chosen.left_out)
    benchmarks = np.array(runs.benchmarks)
    value = np.full(len(runs.node), np.nan)
    for name in dict.fromkeys(runs.benchmarks):
        here = runs.benchmark == name
        value[here] = runs.logs[np.ix_(here, benchmarks == name)].mean(axis=1)
    usable = np.isfinite(value) & np.isfinite(runs.started_s)
    if not usable.any():
        raise NotEnoughData("no benchmark run has a start and a value of every metric; nothing can be followed")
    if not usable.all():
        left_out["without a start, or a value of every metric"] = int((~usable).sum())
    courses, changes = [], []
    names = sorted({str(node) for node in runs.node[usable]})
    for place, node in enumerate(names):
        progress(place / len(names), f"verdicts on {node}")
        own = {name: np.flatnonzero(usable & (runs.node == node) & (runs.benchmark == name)) for name in benchmarks}
        own = {name: rows for name, rows in sorted(own.items()) if len(rows)}
        for name, rows in own.items():
            by_time = rows[np.argsort(runs.started_s[rows], kind="stable")]
            at_s, values = runs.started_s[by_time], value[by_time]
            walk = verdicts(values, settings, len(own))
            course = Course(node, str(name), at_s, *walk, trend_of(at_s, values))
            courses.append(course)
            changes += _changes(course)
    slowed, _ = degraded_nodes(runs, tuple(names))
    states = [replace(_state_of(courses, node), slowed=one) for node, one in zip(names, slowed, strict=True)]
    return History(
        settings=settings,
        nodes=tuple(sorted(states, key=_how_bad)),
        courses=tuple(courses),
        changes=tuple(sorted(changes, key=lambda one: (-one.at_s, one.node, one.benchmark))),
        left_out=left_out,
        not_followed=_not_followed(parsed, chosen, settings),
        failed=newest_failed(parsed, settings.exclude),
        n_same_start=sum(len(one.at_s) - len(np.unique(one.at_s)) for one in courses),
        seconds=time.perf_counter() - started,
    )


def _not_followed(parsed: ParsedRuns, chosen: Selection, settings: HistorySettings) -> tuple[str, ...]:
    """The nodes with a run of other parameters than most that is newer than all of its benchmark that count."""
    followed = np.zeros(len(parsed), dtype=np.bool_)
    followed[chosen.positions] = True
    stressed = (parsed.stressed == 1) & (settings.exclude == STRESSED)
    nodes: set[str] = set()
    for one in chosen.not_pooled:
        own = parsed.benchmark == one.benchmark
        other = own & (np.array(parsed.parameters) == one.parameters) & ~stressed & ~parsed.repeated
        for node in set(one.nodes) - nodes:
            here = parsed.node == node
            newest = np.max(parsed.started_s[own & here & followed], initial=-np.inf)
            if (parsed.started_s[other & here] > newest).any():
                nodes.add(node)
    return tuple(sorted(nodes))


def limits(alarm: float) -> tuple[float, float]:
    """The score below which one run asks for another, and the sum above which several do, at this rate of alarms.

    Each has half of the rate. The sum's is 1 / its mean run length, (exp(2kb) - 2kb - 1) / 2k^2, where b is the limit
    and the overshoot (Siegmund).
    """
    from scipy.special import ndtri  # noqa: PLC0415  heavy

    b = 1.0
    for _ in range(100):
        b = math.log(1 + 2 * DRIFT * b + 2 * DRIFT**2 / (alarm / 2)) / (2 * DRIFT)
    return float(ndtri(alarm / 2)), b - OVERSHOOT


def verdicts(values: Floats, settings: HistorySettings, n_benchmarks: int = 1) -> tuple[Floats, Ints, Ints]:
    """Ratio, state and beginning of the change after each of (n,) logarithms, more is better, by time.

    The false alarms of a node are shared by its benchmarks. A verdict never depends on later values.
    """
    from scipy.special import ndtri, stdtr  # noqa: PLC0415  heavy

    lowest, limit = limits(settings.false_alarm_share / n_benchmarks)
    matters, fine = 1 - settings.least_drop_share, 1 - settings.least_drop_share / 2
    n = len(values)
    ratio, state, since = np.full(n, np.nan), np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    normal: list[int] = []
    now, began, good, down, up = 0, -1, 0, 0.0, 0.0
    down_from = up_from = 0
    for at, value in enumerate(values.tolist()):
        before = [place for place in normal if now == 0 or place < began]
        if len(before) < LEAST_HISTORY:
            normal.append(at)
            down_from = up_from = at + 1
            continue
        centre, spread = float(values[before].mean()), max(float(values[before].std(ddof=1)), LEAST_SCALE)
        ratio[at] = math.exp(value - centre)
        away = (value - centre) / (spread * math.sqrt(1 + 1 / len(before)))
        share = float(stdtr(min(len(before) - 1, HEAVIEST), away))
        score = float(ndtri(min(max(share, 1e-300), 1 - 1e-16)))
        is_good = score >= -BAD or ratio[at] >= fine
        if now == 0:
            sudden = score < lowest and down < BAD
            down, up = max(0.0, down - score - DRIFT), max(0.0, up + min(score, -lowest) - DRIFT)
            down_from, up_from = at + 1 if not down else down_from, at + 1 if not up else up_from
            if ratio[at] < matters and (score < lowest or down > limit):
                kept = max(LEAST_HISTORY, len(before) // 2)  # of what was normal, however early the sum began
                now, began = 1, at if sudden or down <= limit else max(down_from, before[kept - 1] + 1)
            else:
                normal.append(at)
                if up > limit:  # a better level is the new normal
                    normal, down, up = [place for place in normal if place >= up_from], 0.0, 0.0
                    down_from = up_from = at + 1
        elif now == 1 and (score >= -BAD or ratio[at] >= matters):
            now = 0
        elif now == 1:
            now, good = 2, 0
        else:
            good = good + 1 if is_good else 0
            now = 0 if good >= settings.good_runs else 2
            if not now:
                normal = [*before, *range(at - good + 1, at)]
        if state[at - 1] and not now:
            normal.append(at)
            down, up, down_from, up_from = 0.0, 0.0, at + 1, at + 1
        state[at], since[at] = now, began if now else -1
    return ratio, state, since


def trend_of(at_s: Floats, values: Floats) -> Trend:
    """The Theil-Sen slope of (n,) logarithms with its interval."""
    from scipy.stats import theilslopes  # noqa: PLC0415  heavy

    at_s, values = at_s[-MOST_IN_TREND:], values[-MOST_IN_TREND:]
    if len(values) < FEWEST_IN_TREND or at_s[-1] - at_s[0] < DAY_S:
        return Trend(math.nan, math.nan, math.nan)
    found = theilslopes(values, (at_s - at_s[0]) / MONTH_S, alpha=0.95)
    return Trend(*(math.expm1(min(float(one), 50.0)) for one in (found.slope, found.low_slope, found.high_slope)))


def _changes(course: Course) -> list[StateChange]:
    result = []
    for at in np.flatnonzero(np.diff(course.state, prepend=0)).tolist():
        since_s = float(course.at_s[course.since[at]]) if course.state[at] else math.nan
        state = STATES[course.state[at]]
        result.append(
            StateChange(float(course.at_s[at]), course.node, course.benchmark, state, since_s, float(course.ratio[at]))
        )
    return result


def _state_of(courses: list[Course], node: str) -> NodeState:
    own = [one for one in courses if one.node == node]
    worst = max(own, key=lambda one: (one.state[-1], -one.ratio[-1]))
    falls = min(own, key=lambda one: np.nan_to_num(one.trend.per_month, nan=math.inf))
    bad = int(worst.state[-1])
    return NodeState(
        node=node,
        state=STATES[bad],
        benchmark=worst.benchmark if bad else "",
        since_s=float(worst.at_s[worst.since[-1]]) if bad else math.nan,
        ratio=float(worst.ratio[-1]) if bad else math.nan,
        n_runs=sum(len(one.state) for one in own),
        n_alarms=sum(int(((one.state == 1) & (np.roll(one.state, 1) != 1)).sum()) for one in own),
        trend=worst.trend if bad else falls.trend,
    )


def _how_bad(one: NodeState) -> tuple[int, float, str]:
    return -STATES.index(one.state), np.nan_to_num(one.ratio, nan=math.inf), one.node

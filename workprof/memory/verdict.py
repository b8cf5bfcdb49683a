"""The verdict: what to request for the next runs, row by row, judged on runs that it had not seen.

A row is what somebody can change: the finest key with history that the trace knows and a submit script can look up.
Its size is the one of least expected charge (`origins`, `chances`). The figures are of the second half of the runs,
in order of submission, each sized by what was known before; the sizes that are shown are learned on everything.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import MOST_USED, Floats, Ints, LatestRuns, latest_of
from workprof.core.causes import KILLS
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.stats import Interval
from workprof.core.units import GB
from workprof.core.words import listed
from workprof.memory.decisions import Decision
from workprof.memory.known import SizedRuns, first_of
from workprof.memory.origins import (
    APPLIED,
    N_BLOCKS,
    TABLE,
    Judgement,
    Origin,
    PlainPoint,
    Sizing,
    Windows,
    plain_points,
)
from workprof.memory.resources import (
    CPU,
    GPU,
    MEMORY,
    TIME,
    Resource,
    Services,
    further_resources,
    resources_of,
    services_of,
    with_windows,
)
from workprof.memory.usage import Request, Target
from workprof.memory.verdict_rows import TOO_SHORT, VerdictRow, rows_of
from workprof.memory.what_if import WhatIf, WhatIfSettings, nodes_of, what_if

if TYPE_CHECKING:
    import pandas as pd


FEWEST_JUDGED = 30
"""Fewer judged runs (or windows of services) are no ground for other requests."""
CURVE_SHARES = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""Acceptable kills, as shares of the runs, of which the judged saving is shown."""

FEWEST_DRAWS, MOST_DRAWS, DRAWN_KEYS = 400, 10_000, 500_000
"""Draws of a window: as many as so many drawn keys allow. Of 400 an end of kills may be 4 or 20 where it is 9."""
BURST_SHAPE, WINDOW_SHAPE = (0.5, 1.5), 0.5
"""The share of a key's runs that a burst kills (Beta); how unlike windows are (Gamma, mean 1)."""
UNLIKE_WINDOWS = 0.03
"""A next window may be unlike every one before: its saving may lie so far beyond what resampling shows."""

PLURAL = {CPU: "cores", GPU: "GPUs", TIME: "time limits"}

NOW = "now"
AS_OF = {NOW: "all runs", **{str(at + 1): f"those known at origin {at + 1} of {N_BLOCKS}" for at in range(N_BLOCKS)}}

_KILLS = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(%?)")


@settings
class VerdictSettings:
    """What is sized, how it is applied, and which kills are acceptable."""

    applied: Annotated[
        str,
        Setting(
            "When sizes follow the runs that ended.",
            choices={
                TABLE: "a table that is made anew at four moments, as a weekly export",
                "submission": "at every submission, as the service does",
            },
            shown={TABLE: "Table", "submission": "At submission"},
            key="memory_applied",
        ),
    ] = TABLE
    acceptable_kills: Annotated[
        str,
        Setting(
            "Kills by lower sizes that are acceptable: a number N among the judged runs, or a share of the runs P%.",
            most=20,
            named={"default": ""},
            empty="0.5 % of the runs, or as many as really happened",
            shown={"default": "automatic"},
            key="memory_kills",
            label="Acceptable kills",
        ),
    ] = ""
    cost_per_kill_gb_h: Annotated[
        float | None,
        Setting(
            "Cost of one kill beyond its lost attempt, instead of the acceptable kills; without it, a kill of a kept "
            "or raised request costs 15 of its own runs.",
            unit="GB·h",
            least=0,
            most=1e9,
            flag="--cost-per-kill",
            key="memory_kill_cost",
            label="Cost per kill",
            empty="by acceptable kills",
        ),
    ] = None
    step_bytes: Annotated[
        float | None,
        Setting(
            "Sizes are multiples of this, rounded up.",
            unit="bytes",
            above=0,
            form_unit="MiB",
            flag="--round-to",
            key="memory_round_to",
            label="Steps of",
            empty="64 MiB for Kubernetes, else 100 MB",
        ),
    ] = None
    floor_bytes: Annotated[
        float | None,
        Setting(
            "No size is smaller.",
            unit="bytes",
            above=0,
            form_unit="MiB",
            flag="--floor",
            key="memory_least_size",
            label="Smallest size",
            empty="one step",
        ),
    ] = None
    as_of: Annotated[
        str,
        Setting(
            "Which runs the sizes that are listed are learned on.",
            choices=AS_OF,
            key="memory_as_of",
            label="Sizes as of",
        ),
    ] = NOW
    what_if: WhatIfSettings = field(default_factory=WhatIfSettings)
    target: Target = "peak_rss"
    request_bytes: Request = 0.0
    latest_runs: LatestRuns = MOST_USED

    def __post_init__(self) -> None:
        self.acceptable_share(1)

    def acceptable_share(self, n_judged: int) -> float | None:
        """The acceptable kills as a share of the runs; None where nothing is said of them.

        Raises SettingsError for a text that is neither N nor P%.
        """
        text = self.acceptable_kills.strip()
        if not text:
            return None
        match = _KILLS.fullmatch(text)
        if match is None or (match[2] and float(match[1]) > 100):
            raise SettingsError(
                f"acceptable_kills is {self.acceptable_kills!r}; give a number such as 3, or a share such as 0.5%"
            )
        return float(match[1]) / 100 if match[2] else min(1.0, float(match[1]) / max(n_judged, 1))


@dataclass(frozen=True)
class Booking:
    """What some runs hold today. Amounts are in the unit of the resource x h."""

    n_runs: int
    booked: float
    unused: float  # booked and not used
    kills: int  # in the trace, for this resource
    above: int  # runs that used more than their request and lived: kills if requests were enforced


@dataclass(frozen=True)
class OriginFigures:
    """One origin and the runs up to the next."""

    submit_s: float
    n_known: int  # runs that the chances were learned from
    n_runs: int
    booked: float
    saved: float
    kills: int
    expected_kills: float
    price: float  # of a kill, unit x h


@dataclass(frozen=True)
class Judged:
    """The judged runs under one way to apply sizes. Amounts are in the unit of the resource x h."""

    applied: str
    n_runs: int
    charged: float
    wasted: float  # charged and not used
    saved: float
    saved_share: float
    kills: int  # attempts at a size below both request and use
    killed_runs: int
    expected_kills: float
    kill_interval: Interval  # of a next half like this one
    interval: Interval  # of the saved share of a next window
    origins: tuple[OriginFigures, ...]


@dataclass(frozen=True)
class Cells:
    """The judged runs added up by key, block and origin, (m,) each. Amounts are in the unit of the resource x h."""

    row: Ints  # place among the rows
    key: Ints  # of the finest level
    block: Ints
    origin: Ints  # place among the origins; -1 = before the first
    n_runs: Ints
    booked: Floats
    unused: Floats  # booked and not used
    charged: Floats
    wasted: Floats  # charged and not used
    kills: Ints
    chance: Floats  # kills that are expected

    def with_requests(self, rows: Ints, killed: Floats) -> Cells:
        """The same with the requests of some rows kept, which kill the share `killed` of every row's runs as before."""
        kept = np.isin(self.row, rows)
        return replace(
            self,
            charged=np.where(kept, self.booked, self.charged),
            wasted=np.where(kept, self.unused, self.wasted),
            kills=np.where(kept, 0, self.kills),
            chance=np.where(kept, killed[self.row] * self.n_runs, self.chance),
        )


@dataclass(frozen=True)
class Decided:
    """What was decided about the rows of a resource. Amounts are in its unit x h, of the judged runs."""

    accepted: int
    declined: int
    never: int
    noted: int
    all_saved: float  # if every row was taken
    all_saved_share: float
    all_kills: int
    accepted_saved: float
    accepted_saved_share: float
    accepted_kills: int

    @property
    def left_out(self) -> int:
        """Rows that keep their requests by decision."""
        return self.declined + self.never


@dataclass(frozen=True)
class CurvePoint:
    """What the judged runs would save at other acceptable kills."""

    acceptable_share: float
    saved_share: float
    kills: int
    expected_kills: float


@dataclass(frozen=True)
class ResourceVerdict:
    """The rows of one resource and their figures."""

    resource: str
    unit: str
    levels: tuple[tuple[str, ...], ...]  # columns of the keys, the finest first; 'request' among them
    problem: str  # '' or why nothing is advised
    judged: Judged  # as the settings say, without the rows that were declined
    otherwise: Judged  # applied the other way
    cells: Cells  # of `judged`
    other_cells: Cells  # of `otherwise`
    today: Booking  # of the judged runs
    trace: Booking  # of all runs with a request and a use
    rows: tuple[VerdictRow, ...]
    what_if: WhatIf | None  # of memory
    curve: tuple[CurvePoint, ...]
    plain: tuple[PlainPoint, ...]  # of memory
    acceptable_share: float
    least_price: float  # of a kill under which the last row is lowered, unit x h
    known_from: str  # 'submit_time_s' or 'start_time_s'
    n_untimed: int  # of the judged runs, those without any time, in the order of the table
    left_out: dict[str, int]
    decided: Decided | None = None  # None = nothing was


@dataclass(frozen=True, repr=False)
class Verdict(Shown):
    """What to request for the next runs, of every resource that the trace has; memory first."""

    settings: VerdictSettings
    resources: tuple[ResourceVerdict, ...]
    notes: tuple[str, ...]
    seconds: float
    missing: tuple[Decision, ...] = ()  # decisions on rows that are not there
    services: Services | None = None  # judged by windows; None where nothing is
    tells_ends: bool = True  # whether the trace says how runs ended

    @property
    def memory(self) -> ResourceVerdict:
        """The verdict on memory."""
        return self.resources[0]

    @property
    def reason(self) -> str:
        """The headline in a sentence."""
        return self.title()


def verdict_of(frames: Mapping[str, pd.DataFrame], settings: VerdictSettings, progress: Progress = silent) -> Verdict:
    """The verdict on a job table: all rows, with `finished` and `status` where there are any; see `resources`.

    `jobs.attrs["not_known"]` is what their format does not say of memory.

    Raises:
        ColumnMissing: when memory's columns are absent.
        NotEnoughData: when no run has a use of memory, or none has a request.
    """
    started = time.perf_counter()
    jobs, earlier = latest_of(frames["jobs"], settings.latest_runs)
    try:
        found = resources_of(jobs, settings.target, settings.request_bytes)
    except (ColumnMissing, NotEnoughData) as error:
        others = [PLURAL[one.name] for one in further_resources(with_windows(jobs))]
        if not others:
            raise
        raise type(error)(f"{error}; the ledger says what to request of {listed(others)}") from error
    results = []
    for place, resource in enumerate(found):
        progress(place / len(found), f"Sizing {resource.name}")
        left_out = earlier | dict(resource.left_out) if resource.name == MEMORY else dict(resource.left_out)
        results.append(_resource_verdict(resource, settings, left_out))
    notes = tuple(filter(None, (frames["jobs"].attrs.get("not_known"),)))
    tells_ends = not {"status", KILLS}.isdisjoint(jobs.columns)
    seconds = time.perf_counter() - started
    return Verdict(settings, tuple(results), notes, seconds, services=services_of(jobs), tells_ends=tells_ends)


def further_verdicts_of(frames: Mapping[str, pd.DataFrame], settings: VerdictSettings) -> tuple[ResourceVerdict, ...]:
    """The verdict on the other resources of a table without memory to size."""
    jobs = with_windows(latest_of(frames["jobs"], settings.latest_runs)[0])
    return tuple(_resource_verdict(one, settings, dict(one.left_out)) for one in further_resources(jobs))


def sizing_of(resource: Resource, settings: VerdictSettings) -> Sizing:
    """How a resource is rounded and what a kill costs; the settings' amounts are of memory."""
    n_judged = len(resource.runs) - len(resource.runs) // 2
    memory = resource.name == MEMORY
    step = settings.step_bytes / GB if memory and settings.step_bytes else resource.step
    floor = settings.floor_bytes / GB if memory and settings.floor_bytes else step
    return Sizing(
        step=step,
        floor=math.ceil(floor / step * (1 - 1e-12)) * step,
        acceptable_share=settings.acceptable_share(n_judged) if memory else None,
        price=settings.cost_per_kill_gb_h if memory else None,
    )


def judgement_of(resource: Resource, settings: VerdictSettings) -> Judgement:
    """The judged runs of a resource as the settings apply sizes."""
    windows = Windows(resource.runs, settings.applied)
    return _judged_or_kept(windows, sizing_of(resource, settings), _problem_of(resource))


def _problem_of(resource: Resource) -> str:
    return TOO_SHORT if len(resource.runs) - len(resource.runs) // 2 < FEWEST_JUDGED else ""


def _resource_verdict(resource: Resource, settings: VerdictSettings, left_out: dict[str, int]) -> ResourceVerdict:
    runs, sizing = resource.runs, sizing_of(resource, settings)
    windows = {applied: Windows(runs, applied) for applied in APPLIED}
    problem = _problem_of(resource)
    judgements = {applied: _judged_or_kept(windows[applied], sizing, problem) for applied in APPLIED}
    chosen = judgements[settings.applied]
    at_run, now_s = len(runs), math.inf
    if settings.as_of != NOW:
        at_run = windows[TABLE].edges[int(settings.as_of) - 1]
        now_s = float(runs.submit_s[at_run]) if at_run < len(runs) else math.inf  # of few runs
    now = windows[TABLE].learned(at_run, sizing, now_s)
    other = APPLIED[1 - APPLIED.index(settings.applied)]
    curve: tuple[CurvePoint, ...] = ()
    compared = not problem and resource.name == MEMORY
    if compared and settings.cost_per_kill_gb_h is None:
        curve = tuple(_curve_point(windows[settings.applied], sizing, share) for share in CURVE_SHARES)
    plain = plain_points(windows[settings.applied]) if compared else ()
    rows, key, names, places = rows_of(resource, sizing, now, chosen, problem)
    cells = {applied: cells_of(runs, one, places[key]) for applied, one in judgements.items()}
    return ResourceVerdict(
        resource=resource.name,
        unit=resource.unit,
        levels=resource.columns,
        problem=problem,
        judged=figures_of(cells[settings.applied], settings.applied, chosen.origins),
        otherwise=figures_of(cells[other], other, judgements[other].origins),
        cells=cells[settings.applied],
        other_cells=cells[other],
        today=_booking(runs, slice(chosen.first, len(runs))),
        trace=_booking(runs, slice(len(runs))),
        rows=rows,
        what_if=_what_if(resource, chosen, settings.what_if, (key, names)) if resource.name == MEMORY else None,
        curve=curve,
        plain=plain,
        acceptable_share=now.acceptable_share,
        least_price=now.price,
        known_from=resource.known_from,
        n_untimed=int((~resource.timed[chosen.first :]).sum()),
        left_out={reason: n for reason, n in left_out.items() if n},
    )


def _what_if(
    resource: Resource, judged: Judgement, asked: WhatIfSettings, keys: tuple[Ints, list[dict[str, str]]]
) -> WhatIf:
    runs, own = resource.runs, slice(judged.first, len(resource.runs))
    later, on, timed = runs.take(own), resource.nodes[own], resource.timed[own]
    nodes = None if asked.node_bytes is None else nodes_of(later, judged.size, on, timed, asked.node_bytes / GB)
    price = math.nan if asked.price_gb_h is None else asked.price_gb_h
    money = price * float(later.booked.sum() - judged.charged.sum())
    return replace(what_if(runs, asked, keys), nodes=nodes, verdict_money_saved=money)


def _judged_or_kept(windows: Windows, sizing: Sizing, problem: str) -> Judgement:
    if not problem:
        return windows.judge(sizing)
    runs, first = windows.runs, windows.first
    n = len(runs) - first
    kept, nothing = runs.request[first:], np.zeros(n)
    none = np.full(n, -1, dtype=np.int64)
    return Judgement(
        windows.applied, first, (), nothing.astype(np.int64), kept, nothing, none, nothing > 0, runs.booked[first:]
    )


def _curve_point(windows: Windows, sizing: Sizing, share: float) -> CurvePoint:
    judged = windows.judge(replace(sizing, acceptable_share=share))
    booked = float(windows.runs.booked[judged.first :].sum())
    saved_share = 1 - float(judged.charged.sum()) / booked if booked > 0 else math.nan
    return CurvePoint(share, saved_share, int(judged.killed.sum()), float(judged.chance.sum()))


def cells_of(runs: SizedRuns, judged: Judgement, row: Ints) -> Cells:
    """What the judged runs hold, added up by rows, of which `row` (n,) are places."""
    own = runs.take(slice(judged.first, len(runs)))
    starts = np.array([origin.at_run for origin in judged.origins], dtype=np.int64) - judged.first
    origin = np.searchsorted(starts, np.arange(len(own)), side="right") - 1
    code = (own.levels[0] * (N_BLOCKS + 1) + judged.block) * (len(starts) + 1) + origin + 1
    first, place = first_of(code)

    def total(values: Floats) -> Floats:
        return np.bincount(place, values, len(first)).astype(np.float64)

    booked, used = own.booked, own.use * own.hours
    return Cells(
        row=row[judged.first :][first],
        key=own.levels[0][first],
        block=judged.block[first],
        origin=origin[first].astype(np.int64),
        n_runs=np.bincount(place, minlength=len(first)),
        booked=total(booked),
        unused=total(np.maximum(booked - used, 0.0)),
        charged=total(judged.charged),
        wasted=total(np.maximum(judged.charged - used, 0.0)),
        kills=np.bincount(place[judged.killed], minlength=len(first)),
        chance=total(judged.chance),
    )


def figures_of(cells: Cells, applied: str, origins: Sequence[Origin | OriginFigures]) -> Judged:
    """The figures of judged runs, with the intervals of what comes next."""
    booked, saved = cells.booked, cells.booked - cells.charged
    total, all_saved, kills = float(booked.sum()), float(saved.sum()), int(cells.kills.sum())
    of_origin = [cells.origin == at for at in range(len(origins))]
    return Judged(
        applied=applied,
        n_runs=int(cells.n_runs.sum()),
        charged=float(cells.charged.sum()),
        wasted=float(cells.wasted.sum()),
        saved=all_saved,
        saved_share=all_saved / total if total > 0 else math.nan,
        kills=kills,
        killed_runs=kills,
        expected_kills=float(cells.chance.sum()),
        kill_interval=_kill_interval(cells),
        interval=_next_window(cells.key, cells.block, booked, saved),
        origins=tuple(
            OriginFigures(
                submit_s=origin.submit_s,
                n_known=origin.n_known,
                n_runs=int(cells.n_runs[own].sum()),
                booked=float(booked[own].sum()),
                saved=float(saved[own].sum()),
                kills=int(cells.kills[own].sum()),
                expected_kills=float(cells.chance[own].sum()),
                price=origin.price,
            )
            for origin, own in zip(origins, of_origin, strict=True)
        ),
    )


def _booking(runs: SizedRuns, of: slice) -> Booking:
    own = runs.take(of)
    return Booking(
        n_runs=len(own),
        booked=float(own.booked.sum()),
        unused=float((np.maximum(own.request - own.use, 0.0) * own.hours).sum()),
        kills=int(own.killed.sum()),
        above=int(((own.use > own.request) & ~own.killed & ~own.bound).sum()),
    )


def _next_window(key: Ints, block: Ints, booked: Floats, saved: Floats) -> Interval:
    """The interval of what a next window saves: of windows that are drawn, and of the keys in them.

    Single runs of a key in a window are no independent draws: their whole moves together. Keys get weights, the
    Bayesian bootstrap (Rubin 1981): where keys are few, draws of whole keys would often have one of them alone.
    """
    if not saved.any():
        return Interval(math.nan, math.nan)  # every request is kept
    rng, shares, blocks = np.random.default_rng(0), list[Floats](), np.unique(block)
    for one in blocks:
        own = block == one
        _, place = np.unique(key[own], return_inverse=True)
        held, less = np.bincount(place, booked[own]), np.bincount(place, saved[own])
        order = np.lexsort((less, held))  # not that of the file, which would change what is drawn
        if held.any():
            for some in _parts(-(-_draws(len(held)) // len(blocks)), len(held)):
                weights = rng.exponential(size=(len(some), len(held)))
                shares.append(weights @ less[order] / (weights @ held[order]))
    if not shares:
        return Interval(math.nan, math.nan)
    low, high = np.quantile(np.concatenate(shares), [0.025, 0.975])
    return Interval(float(low) - UNLIKE_WINDOWS, min(1.0, float(high) + UNLIKE_WINDOWS))


def _draws(n_keys: int) -> int:
    """How many windows of some keys are drawn."""
    return min(MOST_DRAWS, max(FEWEST_DRAWS, DRAWN_KEYS // max(1, n_keys)))


def _parts(n_draws: int, n_keys: int) -> list[range]:
    """The draws in parts of so few that their keys are held at once."""
    step = max(1, DRAWN_KEYS // max(1, n_keys))
    return [range(first, min(first + step, n_draws)) for first in range(0, n_draws, step)]


def _kill_interval(cells: Cells) -> Interval:
    """The interval of the kills of a next half like this one.

    Kills come in bursts: one key in one window, many runs. A key in a window bursts or does not; a burst kills one run
    and a share of the others, Beta distributed; some windows have more bursts than others. The mean is that expected.
    """
    _, place = np.unique(cells.key * (N_BLOCKS + 1) + cells.block, return_inverse=True)
    runs = np.bincount(place, cells.n_runs).astype(np.int64)
    expected = np.bincount(place, cells.chance)
    order = np.lexsort((runs, expected))  # not that of the file, which would change what is drawn
    order = order[expected[order] > 0]
    runs, expected = runs[order], expected[order]
    a, b = BURST_SHAPE
    others = runs - 1
    burst = expected / (1 + others * a / (a + b))
    rng, n_draws = np.random.default_rng(0), _draws(len(burst))
    window = rng.gamma(WINDOW_SHAPE, 1 / WINDOW_SHAPE, n_draws)
    found = []
    for some in _parts(n_draws, len(burst)):
        draw, hit = (rng.random((len(some), len(burst))) < burst * window[some.start : some.stop, None]).nonzero()
        found.append((draw + some.start, hit))
    draw, hit = (np.concatenate(one) for one in zip(*found, strict=True))
    killed = 1 + rng.binomial(others[hit], rng.beta(a, b, len(hit)))
    kills = np.bincount(draw, killed, n_draws)
    low, high = np.quantile(kills, [0.025, 0.975])
    return Interval(float(np.floor(low)), float(np.ceil(high)))

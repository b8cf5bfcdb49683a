"""Bins of a task or a profile: what they would save, what they break, and what more of them would bring."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from workprof.answers.runs import excluded_words
from workprof.answers.tasks import names_of, shown
from workprof.core.answer import Answer, Figure, Table, documents_of
from workprof.core.stats import FEWEST_RUNS
from workprof.core.table import Column
from workprof.core.units import GB, format_share, gb, gb_h, number
from workprof.core.words import counted, listed, shortened
from workprof.memory.bin_search import COUNT, TIME
from workprof.memory.bins import BinEffect, Bins, ImprovementCurve, NoBins, ProfileBins
from workprof.memory.size_lists import SizeList

UPPER_BOUND = "Upper bound: every run is in its right bin. Models shows how often a prediction gets it wrong."
BEFOREHAND = "A plan by profile needs the profile before the run: `workprof classify predict` predicts it."

SAVING = Column(
    "saving_upper_bound",
    "time_based_saved_share",
    "Saving, upper bound",
    unit="share",
    help="Of the requested GB·h, if every run comes into its right bin: the smallest that holds its use with its "
    "headroom. Below 0 the bins cost more than the requests.",
    also=("time_based_saved_share",),
)
BY_COUNT = Column(
    "saving_upper_bound_by_count",
    "saved_share",
    "Saving by count",
    unit="share",
    help="The same saving with every run counting as one, whatever its run time.",
    also=("saved_share",),
)
BY_COST = Column("weighted_saved_share", heading="Saving by hours x price", unit="share", shown=False)
"""What the search makes as large as it can: one of the two above, where runs have no price."""
OPTIMUM = Column(
    "optimal_improvement",
    heading="Published saving by count",
    unit="share",
    help="By the formula of the thesis: against one request for all runs, the largest.",
)
OPTIMUM_BY_TIME = replace(OPTIMUM, name="time_based_optimal_improvement", heading="Published saving")
ABOVE = Column(
    "n_above",
    heading="Above largest bin",
    unit="runs",
    help="Runs that the largest bin does not hold with their headroom. They keep their request, or get what they used.",
)
OVER_REQUEST = Column(
    "n_over_request",
    heading="Above request",
    unit="runs",
    help="Runs that used more than they requested already.",
)
WASTED = Column(
    "wasted_gb_h",
    heading="Wasted",
    unit="GB·h",
    help="GB·h that these runs request and do not use; runs that use more than they request waste nothing.",
)

LIMIT = Column("edge_gb", lambda row: row.effect.edges_bytes[row.at] / GB, "Limit", "%.4g", unit="GB")
LIMITS = (
    LIMIT,
    Column(
        "runs",
        lambda row: int(row.effect.bin_runs[row.at]),
        "Runs",
        unit="runs",
        help="Runs that this bin holds with their headroom, and no smaller one does.",
    ),
    Column(
        "runs_share", lambda row: row.effect.bin_runs[row.at] / max(row.effect.n_runs, 1), "Of the runs", unit="share"
    ),
    Column("hours", lambda row: row.effect.bin_hours[row.at], "Run time", unit="h"),
    Column("used_share", lambda row: row.effect.bin_used_share[row.at], "Of the bin used", unit="share"),
    Column(
        "least_headroom_share",
        lambda row: row.effect.bin_least_headroom[row.at],
        "Least headroom",
        unit="share",
        help="What the run of the bin that uses most keeps free.",
    ),
)
NUMBERS = (
    Column("bins", "k", "Bins", unit="count", also=("k",)),
    *(replace(one, value=f"saved.{one.value or one.name}") for one in (SAVING, BY_COUNT, BY_COST)),
    *(replace(one, value=f"saved.{one.name}") for one in (OPTIMUM, OPTIMUM_BY_TIME)),
    Column("edges_gb", lambda row: [edge / GB for edge in row.edges_bytes], "Limits", "%.6g", unit="GB"),
)

BOUNDS = (Column("bound", "name", "Bound"), *NUMBERS[1:-1])
PERFECT, PERFECT_HEADROOM = "perfect request", "perfect request + headroom"


WHICH = (
    Column("task", "", "Task", pinned=True),
    Column("size_name", "", "Bin"),
    Column("bin_gb", lambda one: one.size_bytes / GB, "Limit of its bin", unit="GB"),
    Column("requested_gb", lambda one: one.requested_bytes / GB, "Request", unit="GB", help="Of most runs."),
    Column("largest_gb", lambda one: one.largest_bytes / GB, "Largest use", unit="GB"),
    Column("runs", "n", "Runs", unit="count"),
    Column("killed_in_bin", "n_above", "Killed in it", unit="count", help="Runs of the history that use more."),
)
WHICH_BIN = (
    "A run starts in the smallest bin that holds the largest use of its task with the headroom. After a kill it gets "
    "the next one."
)


def which_bin_table(listing: SizeList) -> Table:
    """The bin that the next run of every task gets, the task of most runs first."""
    names = names_of(one.task for one in listing.sizes)
    columns = (replace(WHICH[0], value=lambda one: names[one.task]), *WHICH[1:])
    return Table(
        "which_bin", "Which bin a run gets", columns, sorted(listing.sizes, key=lambda one: (-one.n, one.task))
    )


@dataclass(frozen=True)
class _Bin:
    """One bin of several."""

    effect: BinEffect
    at: int


@dataclass(frozen=True)
class Number:
    """A number of bins, or none: a size of its own for every run."""

    name: str
    k: int
    edges_bytes: tuple[float, ...]
    saved: NoBins


def answer(result: Bins, about: str = "") -> Answer:
    """The bins of a task; `about` = whose they are, where these are no task's."""
    effect = result.effect
    costs = "costs more; " if _more(effect.time_based_saved_share) else ""
    return Answer(
        bins_sentence(result, about),
        (
            Figure(SAVING, effect, f"{costs}{gb_h(effect.saved_gb_h)}"),
            Figure(BY_COUNT, effect, counted(effect.n_runs, "run")),
            *_risk(effect),
        ),
        (Table("bins", "Bins", LIMITS, [_Bin(effect, at) for at in range(len(effect.edges_bytes))]),),
        (
            *(f"{one[:1].upper()}{one[1:]}." for one in result.messages),
            nodes_sentence(result),
            UPPER_BOUND,
            _published(result),
        ),
        _document(result),
    )


def profile_answer(result: ProfileBins, about: str = "") -> Answer:
    """The bins of a profile: those of a task, and what the profile's runs waste now."""
    bins, name = result.bins, about or f"profile {result.settings.profile}"
    of_task = answer(bins, name)
    share = result.wasted_gb_h / result.requested_gb_h if result.requested_gb_h > 0 else float("nan")
    wasted = Figure(WASTED, result, f"{format_share(share)} of {gb_h(result.requested_gb_h)}")
    names = (
        "n_rows",
        "n_not_clustered",
        "tasks",
        "requested_gb_h",
        "used_gb_h",
        "wasted_gb_h",
        "too_few",
        "n_killed",
        "seconds",
    )
    own = {"profile": result.settings.profile} | {one: getattr(result, one) for one in names}
    return replace(
        of_task,
        figures=(wasted, of_task.figures[0], *_risk(bins.effect)),
        notes=(*of_task.notes, *_profile_notes(result)),
        document={**of_task.document, **own},
    )


def bins_sentence(result: Bins, about: str = "") -> str:
    """How much less the bins hold than is requested, or how much more."""
    effect, share = result.effect, result.effect.time_based_saved_share
    about = shortened(about or shown(result.settings.task))
    whose = f"{counted(len(result.edges_bytes), 'bin')}{f' for {about}' if about else ''}"
    runs = f"the GB·h that {counted(effect.n_runs, 'run')} {'requests' if effect.n_runs == 1 else 'request'}"
    if not np.isfinite(share):
        return f"{whose} save{'s' * (len(result.edges_bytes) == 1)} an unknown share of {runs}: no run took time."
    more = _more(share)
    verb, limit = ("cost", "more than") if more else ("save", "of")
    verb = f"{verb}s" if len(result.edges_bytes) == 1 else verb
    return f"{whose} {verb} {'' if more else 'at most '}{format_share(abs(share))} {limit} {runs}."


def _more(share: float) -> bool:
    """Whether a saved share is none, as it is shown."""
    return round(share, 3) < 0


NODE_GB = 64.0


def nodes_sentence(result: Bins, node_gb: float = NODE_GB, price: float = 0.0, currency: str = "USD") -> str:
    """How many nodes hold the runs as requested and in the bins, and what that saves at a price per GB·h; 0 = none."""
    held, saved = result.at_once, price * result.effect.saved_gb_h
    size = f"{number(node_gb)} GB"
    words = "Nodes cannot be counted: the runs have no times."
    if np.isfinite(held.peak):
        before, after = (max(math.ceil(one / node_gb - 1e-9), 1) for one in (held.requested_peak, held.peak))
        words = f"Nodes of {size} at the peak: at least {before:,} as requested, at least {after:,} with the bins."
    larger = {"the largest request": result.static_bytes, "the largest bin": result.edges_bytes[-1]}
    told = [f"{name} ({gb(one / GB)})" for name, one in larger.items() if one / GB > node_gb * (1 + 1e-9)]
    if told:
        words += f" {listed(told)[0].upper()}{listed(told)[1:]} {'fit' if len(told) > 1 else 'fits'} no such node."
    if not price:
        return words
    return f"{words} The bins {'cost' if saved < 0 else 'save'} {number(abs(saved))} {currency}{' more' * (saved < 0)}."


def _risk(effect: BinEffect) -> tuple[Figure, Figure]:
    above = Figure(
        ABOVE,
        effect,
        f"{format_share(effect.above_hours_share)} of hours",
        f"{ABOVE.help} Started in the largest bin, {effect.n_used_above:,} of them would fail.",
    )
    return above, Figure(OVER_REQUEST, effect, "too small now")


def _document(result: Bins) -> dict[str, Any]:
    names = (
        *("optimal_improvement", "time_based_optimal_improvement", "weighted_saved_share", "saved_gb_h"),
        *("bin_runs", "bin_hours", "bin_least_headroom", "n_runs", "n_used_above"),
    )
    return {
        "edges_gb": [edge / GB for edge in result.edges_bytes],
        "static_gb": result.static_bytes / GB,
        "held_at_once_gb": result.at_once,
        **documents_of((BY_COUNT,), result.effect),
        **{one: getattr(result.effect, one) for one in names},
        **{one: getattr(result, one) for one in ("search", "n_trials", "left_out", "messages", "seconds")},
    }


def _profile_notes(result: ProfileBins) -> tuple[str, ...]:
    runs, notes = result.bins.effect.n_runs, [f"The profile's runs are of {_tasks(result)}."]
    if result.too_few:
        notes.append(f"Too few runs: {runs}, and {FEWEST_RUNS} are the least that sizes should rest on.")
    if runs < result.n_rows:
        left_out = f"{result.n_rows - runs:,} of the profile's {counted(result.n_rows, 'row')}"
        notes.append(f"{left_out} have no request, use or run time, and are excluded.")
    if result.n_killed:
        notes.append(f"{counted(result.n_killed, 'run')} of these tasks killed for memory: in no profile, so not here.")
    if result.n_not_clustered:
        notes.append(f"{result.n_not_clustered:,} rows of the dataset are in no clustering, so in no profile.")
    return (*notes, BEFOREHAND)


MOST_TASKS, LONGEST_TASK = 3, 40


def _tasks(result: ProfileBins) -> str:
    """'2 tasks (ps 60.0 %, worker 40.0 %)', the most frequent first."""
    names = [shortened(name, LONGEST_TASK) for name in names_of(one.task for one in result.tasks).values()]
    if len(names) == 1:
        return f"one task ({names[0]})"
    shares = [format_share(one.n_runs / result.bins.effect.n_runs) for one in result.tasks]
    listed = ", ".join(" ".join(pair) for pair in list(zip(names, shares, strict=True))[:MOST_TASKS])
    more = f" and {len(names) - MOST_TASKS:,} more" if len(names) > MOST_TASKS else ""
    return f"{len(names):,} tasks ({listed}{more})"


def _published(result: Bins) -> str:
    by_time, by_count = OPTIMUM_BY_TIME.text(result), OPTIMUM.text(result)
    request = gb(result.static_bytes / GB)
    return f"Published measure, against one request of {request} for all runs: {by_time} by time, {by_count} by count."


def use_sentence(result: Bins) -> str:
    """What half and nearly all of the use stays below."""
    usage, by_count = result.usage, result.settings.weight == COUNT
    share = usage.share if by_count else usage.hours_share
    places = np.minimum(np.searchsorted(share, (0.5, 0.95)), len(share) - 1)
    half, most = (gb(float(used) / GB) for used in usage.used_bytes[places])
    half_of = "Half of the runs need" if by_count else "Half of the run time needs"
    return f"{half_of} at most {half}, 95 % at most {most}."


def use_note(result: Bins) -> str:
    """What the curve of use rests on."""
    words = f"{counted(result.effect.n_runs, 'run')}; shaded: memory that stays unused in the bins."
    if result.stride_bytes:
        words += f" Stride {gb(result.stride_bytes / GB)}; all choices would be {result.n_trials:,.0f} trials."
    excluded = excluded_words(result.left_out)
    return words + (f" Excluded: {excluded}." if excluded else "")


NO_BINS = (
    "Perfect request: every run gets just what it used. With headroom: and its headroom and step; no bins save more."
)
COUNTED = {COUNT: "every run counts as one", TIME: "by hours"}


def curve_answer(result: ImprovementCurve, chosen: int = 0) -> Answer:
    """What one to eight bins save; `chosen` = the number that is told of, 0 = the fewest that save most."""
    names = [one.name for one in fields(NoBins)]
    saved = [NoBins(*(float(getattr(result, name)[at]) for name in names)) for at in range(len(result.k))]
    numbers = [Number("", *one) for one in zip(result.k, result.edges_bytes, saved, strict=True)]
    shares = [format_share(one.weighted_saved_share) for one in saved]
    at = result.k.index(chosen) if chosen else shares.index(shares[-1])  # the fewest that save as much
    bounds = [Number(PERFECT_HEADROOM, 0, (), result.continuous), Number(PERFECT, 0, (), result.oracle)]
    columns = tuple(replace(one, shown=result.settings.weight not in COUNTED or one.shown) for one in NUMBERS)
    counting = COUNTED.get(result.settings.weight, "by hours x price")
    own = {one: getattr(result, one) for one in ("oracle", "continuous", "seconds")}
    return Answer(
        _curve_sentence(result, numbers[at]),
        tables=(Table("bins", "Numbers of bins", columns, numbers), Table("bounds", "Without bins", BOUNDS, bounds)),
        notes=(
            *(f"{one[:1].upper()}{one[1:]}." for one in result.messages),
            f"{NO_BINS} Against the requests of the runs, {counting}.",
        ),
        document={"task": result.settings.task, **own},
    )


def _curve_sentence(result: ImprovementCurve, chosen: Number) -> str:
    share, bound = chosen.saved.weighted_saved_share, result.continuous.weighted_saved_share
    bins, ending = counted(chosen.k, "bin"), "s" if chosen.k == 1 else ""
    size = format_share(abs(share))
    here = f"cost{ending} {size} more than" if _more(share) else f"save{ending} at most {size} of"
    most = format_share(bound)
    more = f"more bins save {'no more' if most == format_share(share) else f'at most {most}'}"
    return f"{bins} {here} the requests; {'no number of bins saves' if _more(bound) else more}."

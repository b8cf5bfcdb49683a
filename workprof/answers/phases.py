"""What is said of phases: where a run changes, which known workload it is like, and how often that is right."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workprof.core.answer import Answer, Table
from workprof.core.arrays import Floats
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted, shortened
from workprof.phases.evaluation import Evaluation
from workprof.phases.fingerprints import STATISTICS, Fingerprint
from workprof.phases.library import MEASURES, Library, LibraryView
from workprof.phases.matching import UNKNOWN, Match, Verdict
from workprof.phases.runs import RunList
from workprof.phases.timeline import AlignedRuns, Phases, Timeline


def seconds(value: float) -> str:
    """Return '12 s' or '12.5 s', 'no data' for NaN."""
    return f"{value:,.6g} s" if math.isfinite(value) else "no data"


MOST_MOMENTS = 3


APART = 3
"""Samples: changes that lie nearer to each other are one moment."""


def timeline_sentence(result: Timeline) -> str:
    """Return how many counters of a run change together, and when, in one sentence."""
    name = shortened(result.fingerprint.name)
    usable = int((~result.fingerprint.flags).sum())
    window = result.start_s > result.run_from_s or result.end_s < result.run_to_s
    head = f"{name}, {result.start_s:g} to {seconds(result.end_s)}" if window else name
    if not usable:
        return f"{head}: no counter can be searched for phases."
    if result.edited.all():
        return f"{head}: {counted(result.fingerprint.phases, 'phase')}, set by hand for every counter."
    if result.fingerprint.phases == 1:
        return f"{head}: no change in any of {counted(usable, 'counter')}."
    (first, share), *rest = moments(result) or [(math.nan, 0.0)]
    if not share:
        return f"{head}: up to {counted(result.fingerprint.phases, 'phase')} per counter."
    more = "".join(f", {round(other * usable)} at {seconds(at)}" for at, other in rest)
    return f"{head}: {round(share * usable)} of {counted(usable, 'counter')} change together at {seconds(first)}{more}."


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


SAME, SIMILAR, NONE = "matches", "similar", "unknown"


def verdict_kind(verdict: Verdict) -> str:
    """Return 'matches', 'similar' or 'unknown'.

    Similar: nearest, and not rejected, but the measures name different workloads, or nothing is known that could
    reject it.
    """
    if verdict.workload == UNKNOWN:
        return NONE
    return SAME if verdict.agree and math.isfinite(verdict.limit) else SIMILAR


def verdict_words(verdict: Verdict) -> str:
    """Return 'same as redis', 'similar to redis' or 'unknown', as the report of a match has it."""
    words = {SAME: "same as", SIMILAR: "similar to"}
    kind = verdict_kind(verdict)
    return "unknown" if kind == NONE else f"{words[kind]} {shortened(verdict.workload)}"


def match_sentence(result: Match) -> str:
    """Return the verdict with distance and threshold in one sentence."""
    verdict = result.verdict
    name, nearest, kind = shortened(result.unknown), shortened(verdict.nearest), verdict_kind(verdict)
    distance = f"distance {signed(verdict.score)}"
    if math.isfinite(verdict.limit):
        distance += f", threshold {signed(verdict.limit)}"
    if kind == SAME:
        return f"{name} matches “{nearest}” ({distance})."
    if kind == NONE:
        return f"{name} matches no known workload; the nearest is “{nearest}” ({distance})."
    if math.isfinite(verdict.limit):
        return f"{name} is most like “{nearest}” ({distance}), but the distance measures disagree."
    return f"{name} is most like “{nearest}” ({distance}); too few runs are known for a threshold."


def signed(value: float) -> str:
    """Return a number with two or three digits and a true minus sign."""
    text = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 10 else f"{value:.2g}"
    return text.replace("-", "−") if math.isfinite(value) else "no data"


MEASURE = {"euclidean": "ed", "dtw": "dtw"}


def library_sentence(result: LibraryView, measure: str) -> str:
    """Return how often the nearest other run is of the same workload, in one sentence."""
    distances, labels = result.distances(MEASURE[measure]).copy(), np.array(result.workloads)
    if len(labels) < 2:
        return "The library holds one run; distances need two."
    np.fill_diagonal(distances, np.inf)
    same = int((labels[distances.argmin(axis=1)] == labels).sum())
    words = "Euclidean" if measure == "euclidean" else "DTW"
    return f"The nearest other run by {words} distance is of the same workload for {same} of {len(labels)} runs."


OURS = "workprof (default)"


NAMES = {
    "pair_model": "phase model",
    "boosted_fingerprints": "boosted trees on fingerprints (the paper's learner)",
    "nearest_ed": "nearest run, Euclidean",
    "nearest_dtw": "nearest run, DTW",
    "majority": "baseline: most frequent workload",
    "nearest_means": "baseline: nearest counter means",
    "boosted_means": "baseline: boosted trees without phases",
    "ed": "Euclidean",
    "dtw": "DTW",
    "either": "either distance",
    "both": "both distances",
}


def evaluation_sentence(result: Evaluation) -> str:
    """Return accuracy beside the best baseline, and both rejections, in one sentence."""
    parts = []
    if result.known is not None:
        best = max(result.baselines, key=lambda name: result.baselines[name], default="")
        beside = f", {NAMES.get(best, best)} {share_words(result.baselines[best])}" if best else ""
        parts.append(f"{share_words(result.known.accuracy)} of held-out runs are recognised{beside}")
    if has_no_threshold(result):
        parts.append("none can be called unknown: too few runs of each workload for a threshold, record at least four")
    elif result.unknown:
        parts.append(
            f"{share_words(result.rejected_share)} of the runs of unknown workloads are rejected, with "
            f"{share_words(result.false_reject_share)} of the known ones ({false_reject_words(result)})"
        )
    return f"{'; '.join(parts) or 'Nothing could be evaluated'}."


def false_reject_words(result: Evaluation) -> str:
    """Return the interval of the share of known runs that are rejected: what new recordings may show."""
    ends = result.false_reject_interval
    return f"{ends.confidence:.0%} interval {ends.low * 100:.0f} to {ends.high * 100:.0f} %".replace("%", " %", 1)


def has_no_threshold(result: Evaluation) -> bool:
    """Tell whether workloads were left out, and no trial had a threshold by which one could be called unknown."""
    return bool(result.unknown) and not math.isfinite(result.c)


def measure_words(name: str) -> str:
    """Return a measure, learner or baseline in words."""
    return NAMES.get(name, shortened(name))


def share_words(value: float) -> str:
    """'12.3 %', 'no data' for NaN."""
    return format_share(value) if math.isfinite(value) else "no data"


SHOWN_NOTES = 10
SHOWN_MATCHES = SHOWN_STEPS = 12
WIDEST_MATRIX = 12
"""Runs whose distances fit a line; documents have them all."""


def _notes(result: Any) -> tuple[str, ...]:
    rest = len(result.notes) - SHOWN_NOTES
    return (*result.notes[:SHOWN_NOTES], *((f"{rest} more; see --json",) if rest > 0 else ()))


RUNS = (
    Column("workload", heading="Workload"),
    Column("run", heading="Run"),
    Column("samples", heading="Samples", unit="count"),
    Column("first_s", heading="From (s)", form="%.6g"),
    Column("last_s", heading="To (s)", form="%.6g"),
    Column("status", heading="Status"),
)


def runs_answer(result: RunList) -> Answer:
    """The runs of a table of counters."""
    workloads = len({one.workload for one in result.runs if one.workload})
    known = f" of {counted(workloads, 'workload')}" if workloads else ""
    return Answer(
        f"{counted(len(result.runs), 'run')}{known} {'is' if len(result.runs) == 1 else 'are'} recorded.",
        tables=(Table("runs", "Runs", RUNS, result.runs),),
    )


def runs_document(result: RunList) -> list[dict[str, Any]]:
    """The document of the runs of a dataset: a list."""
    return [asdict(line) for line in result.runs]


CHANGES = (
    Column("counter", heading="Counter"),
    Column("phases", lambda one: len(one.start_s), "Phases", unit="count"),
    Column("change_points_s", lambda one: [float(at) for at in one.change_points_s], "Changes (s)", "%.6g"),
    Column("means", lambda one: [float(mean) for mean in one.mean], "Means", "%.4g"),
    Column("note", heading="Note", optional=True),
)


def phases_answer(result: Phases) -> Answer:
    """Where each counter of a run changes."""
    name = f"{result.workload}/{result.run}" if result.workload else result.run
    changes = sum(len(one.change_points_s) for one in result.counters)
    over = f"{result.n_samples} steps of {result.step_s:g} s"
    return Answer(
        f"{shortened(name)}: {counted(changes, 'change')} in {counted(len(result.counters), 'counter')} over {over}.",
        tables=(Table("changes", "Changes", CHANGES, result.counters),),
        notes=_notes(result),
        document={
            "workload": result.workload,
            "run": result.run,
            "n_samples": result.n_samples,
            "step_s": result.step_s,
            "counters": {
                one.counter: {
                    "change_points_s": one.change_points_s,
                    "phases": [
                        {"start_s": start, "end_s": end, "mean": mean, "sd": sd}
                        | dict(zip((f"z_{name}" for name in result.statistic_names), row, strict=True))
                        for start, end, mean, sd, row in zip(
                            one.start_s, one.end_s, one.mean, one.sd, one.statistics, strict=True
                        )
                    ],
                    "note": one.note,
                }
                for one in result.counters
            },
            "dropped": list(result.dropped),
            "notes": list(result.notes),
            "seconds": result.seconds,
        },
    )


@dataclass(frozen=True)
class _Counter:
    """One counter of a run in the timeline."""

    name: str
    movement: float
    phases: int
    boundaries_s: list[float]
    note: str


COUNTERS = (
    Column("counter", "name", "Counter"),
    Column("movement", heading="Movement", form="%.2f"),
    Column("phases", heading="Phases", unit="count"),
    Column("boundaries_s", heading="Changes (s)", form="%.6g"),
    Column("note", heading="Note", optional=True),
)


def timeline_answer(result: Timeline) -> Answer:
    """The phases of every counter of a run, the ones that move most first."""
    order = sorted(range(len(result.counters)), key=lambda at: -float(result.movement[at]))
    rows = [
        _Counter(
            result.counters[at],
            float(result.movement[at]),
            int(result.fingerprint.n_phases[at]),
            [float(second) for second in result.boundaries_s(at)],
            "by hand" if result.edited[at] else "not searched" if result.fingerprint.flags[at] else "",
        )
        for at in order
    ]
    return Answer(
        timeline_sentence(result),
        tables=(Table("phases", "Counters, those that move most first", COUNTERS, rows),),
        notes=_notes(result),
        document={
            "workload": result.fingerprint.workload,
            "run": result.fingerprint.run,
            "start_s": result.start_s,
            "end_s": result.end_s,
            "step_s": result.step_s,
            "run_from_s": result.run_from_s,
            "run_to_s": result.run_to_s,
            "hazard_samples": result.hazard_samples,
            "times_s": result.times_s,
            "agreement": result.agreement,
            "counters": {name: _counter(result, at) for at, name in enumerate(result.counters)},
            "missing": result.fingerprint.missing,
            "notes": result.notes,
            "seconds": result.seconds,
        },
    )


def _counter(result: Timeline, at: int) -> dict[str, Any]:
    edges = [result.start_s, *result.boundaries_s(at).tolist(), result.end_s]
    values = result.fingerprint.values[at]
    return {
        "values": result.recorded[at],
        "boundaries_s": edges[1:-1],
        "phases": [
            {"start_s": start, "end_s": end} | dict(zip(result.statistics, row, strict=True))
            for start, end, row in zip(edges[:-1], edges[1:], values, strict=False)
        ],
        "movement": result.movement[at],
        "by_hand": result.edited[at],
        "usable": not np.any(result.fingerprint.flags[at]),
    }


PRINTS = (
    Column("run", "name", "Run"),
    Column("samples", "n_samples", "Samples", unit="count"),
    Column("phases", heading="Phases", unit="count"),
    Column("changed", lambda one: int((one.n_phases > 1).sum()), "Counters with a change", unit="count"),
    Column("missing", lambda one: len(one.missing), "Counters missing", unit="count"),
)


def fingerprints_answer(result: Library, prints: Sequence[Fingerprint]) -> Answer:
    """The fingerprints of labelled runs; in the document values are counters x phases x statistics, zero beyond."""
    counters = len(result.fingerprints.normaliser.counters)
    return Answer(
        f"{counted(len(prints), 'fingerprint')} of {counted(counters, 'counter')}; documents have every statistic.",
        tables=(Table("runs", "Fingerprints", PRINTS, prints),),
        document={
            "counters": result.fingerprints.normaliser.counters,
            "statistics": STATISTICS[result.settings.fingerprints.distribution],
            "step_s": result.step_s,
            "runs": [
                {
                    "workload": one.workload,
                    "run": one.run,
                    "n_samples": one.n_samples,
                    "n_phases": one.n_phases,
                    "boundaries": [one.boundaries_of(at) for at in range(len(one.n_phases))],
                    "values": one.values,
                    "missing": one.missing,
                }
                for one in prints
            ],
            **_limits(result),
        },
    )


def _limits(result: Library | LibraryView) -> dict[str, Any]:
    thresholds = {name: [asdict(one) for one in ones] for name, ones in result.thresholds.items()}
    return {"thresholds": thresholds, "c": result.c}


@dataclass(frozen=True)
class _Limit:
    """Up to which distance a run is of a workload."""

    measure: str
    c: float
    of: Any


LIMITS = (
    Column("measure", heading="Measure"),
    Column("workload", "of.workload", "Workload"),
    Column("runs", "of.n_runs", "Runs", unit="count"),
    Column("mean", "of.mean", "Mean distance", "%.4g"),
    Column("sd", "of.sd", "Standard deviation", "%.3g"),
    Column("c", heading="c", form="%.3g"),
)


def library_answer(result: LibraryView) -> Answer:
    """Distances of the known runs from each other in both measures, and up to which a run is accepted."""
    shown = range(min(len(result.names), WIDEST_MATRIX))
    matrix = (
        Column("number", lambda at: at + 1, ""),
        Column("run", lambda at: f"{result.workloads[at]}/{result.names[at]}", "Run"),
        *(Column(str(other + 1), _distance(result, other), str(other + 1), "%.3g") for other in shown),
    )
    limits = [_Limit(measure, result.c[measure], one) for measure, ones in result.thresholds.items() for one in ones]
    runs_of = zip(result.workloads, result.names, result.n_phases.tolist(), strict=True)
    return Answer(
        library_sentence(result, "euclidean"),
        tables=(
            Table("distances", "Euclidean distances", matrix, range(len(result.names))),
            Table("thresholds", "Limits", LIMITS, limits),
        ),
        document={
            "runs": [dict(zip(("workload", "run", "n_phases"), one, strict=True)) for one in runs_of],
            "distances": {name: result.distances(name) for name in MEASURES},
            **_limits(result),
            "n_counters": result.n_counters,
            "seconds": result.seconds,
        },
    )


def _distance(result: LibraryView, other: int) -> Any:
    return lambda at: float(result.distances_ed[at, other])


WITHIN = {True: "yes", False: "no", None: "too few runs"}
NEAREST = (
    Column("workload", heading="Workload"),
    Column("run", heading="Run"),
    Column("distance_ed", heading="Euclidean", form="%.4g"),
    Column("distance_dtw", heading="DTW", form="%.4g"),
    Column("offset", heading="Offset", form="%.6g"),
    Column("within_threshold", lambda one: WITHIN[one.within_threshold], "Within the limit"),
)


def match_answer(result: Match) -> Answer:
    """Which known workload a run is like, and the nearest runs."""
    one, verdict = result.verdict, asdict(result.verdict)
    near = f"{one.confidence * 100:.0f} % nearer than the next workload (DTW: {one.confidence_dtw * 100:.0f} %)"
    return Answer(
        match_sentence(result),
        tables=(Table("matches", "Nearest runs", NEAREST, result.matches[:SHOWN_MATCHES]),),
        notes=(f"{one.reason}; {near}", *_notes(result)),
        document={
            "unknown": result.unknown,
            "matches": [asdict(line) for line in result.matches],
            "verdict": verdict.pop("workload"),
            **verdict,
            "scores": result.scores,
            "notes": list(result.notes),
        },
    )


def aligned_answer(result: AlignedRuns) -> Answer:
    """Two runs laid over each other; the path of the document is in samples of each."""
    path, step = result.alignment.path, result.step_s
    every = max(1, -(-len(path) // SHOWN_STEPS))
    names = ("first", "second", "step_s", "n_counters")
    columns = (
        Column("first_s", lambda pair: float(pair[0] * step), f"{result.first} (s)", "%.6g"),
        Column("second_s", lambda pair: float(pair[1] * step), f"{result.second} (s)", "%.6g"),
    )
    cost = f"{result.alignment.mean_cost:.4g} per step and counter"
    return Answer(
        f"The runs differ by {cost}, over {counted(len(path), 'step')} and {counted(result.n_counters, 'counter')}.",
        tables=(Table("steps", "Moments that belong together", columns, list(path[::every])),),
        document={name: getattr(result, name) for name in names} | asdict(result.alignment),
    )


NO_LIMIT = (
    "too few runs of each workload for a threshold: every run gets its nearest workload, none is called unknown; "
    "record at least four of each"
)


@dataclass(frozen=True)
class _Accuracy:
    """How often runs of known workloads are recognised, by whom."""

    by: str
    accuracy: float


ACCURACIES = (Column("by", heading="By"), Column("accuracy", heading="Accuracy", unit="share"))
UNKNOWNS = (
    Column("workload", heading="Unknown workload"),
    Column("rejected_share", heading="Rejected", unit="share"),
    Column(
        "nearest",
        lambda one: ", ".join(f"{name} {format_share(share)}" for name, share in list(one.nearest.items())[:3]),
        "Nearest",
    ),
)
DISTANCES = (
    Column("workload", heading="Workload"),
    Column("dtw", lambda one: f"{one.dtw_mean:.4g} ± {one.dtw_std:.3g}", "DTW"),
    Column("euclidean", lambda one: f"{one.ed_mean:.4g} ± {one.ed_std:.3g}", "Euclidean"),
    Column("pairs", "n_pairs", "Pairs", unit="count"),
)


def evaluation_answer(result: Evaluation) -> Answer:
    """How often known workloads are recognised and unknown ones rejected."""
    known, notes, rows = result.known, [], []
    if known is not None:
        of_all = {OURS: known.accuracy, **known.learners, **result.baselines}
        rows = [_Accuracy(name, value) for name, value in of_all.items()]
        spread = (
            f" ± {known.accuracy_sd:.3f} over {known.n_splits} splits (they share runs)" if known.n_splits > 1 else ""
        )
        notes.append(
            f"known workloads: accuracy {known.accuracy:.3f}{spread}, precision {known.precision:.3f}, recall "
            f"{known.recall:.3f}, F1 {known.f1:.3f}; {known.n_test} answers, rejections aside"
        )
    notes.append(NO_LIMIT if math.isnan(result.c) else f"the limit is c = {result.c:.2f}")
    return Answer(
        evaluation_sentence(result),
        tables=(
            Table("accuracies", "Known workloads", ACCURACIES, rows),
            Table("unknown", "Unknown workloads", UNKNOWNS, result.unknown),
            Table("distances", "Distances among runs of one workload", DISTANCES, result.distances),
        ),
        notes=(*notes, *_notes(result)),
        document={
            "mode": result.mode,
            "counters": list(result.counters),
            "known": None if known is None else asdict(known) | {"per_class": [asdict(one) for one in known.per_class]},
            "baselines": result.baselines,
            "c": result.c,
            "unknown": [asdict(one) for one in result.unknown],
            "rejected_share": result.rejected_share,
            "false_reject_share": result.false_reject_share,
            "false_reject_interval": asdict(result.false_reject_interval),
            "curves": [asdict(one) for one in result.curves],
            "distances": [asdict(one) for one in result.distances],
            "notes": list(result.notes),
            "seconds": result.seconds,
        },
    )

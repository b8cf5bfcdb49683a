"""What is said of known workloads: which one a run is like, how far they lie apart, and how often that is right."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from workprof.answers.phases import limits_document, notes_of, seconds
from workprof.core.answer import Answer, Figure, Table
from workprof.core.stats import Interval
from workprof.core.table import Column
from workprof.core.units import format_share, number
from workprof.core.words import counted, shortened
from workprof.phases.evaluation import Curve, Evaluation, KnownFigures
from workprof.phases.library import MEASURES, LibraryView
from workprof.phases.live import LiveView
from workprof.phases.matching import UNKNOWN, Match, Verdict, by_workload

SHOWN_MATCHES = 12
WIDEST_MATRIX = 12
"""Runs whose distances fit a line; documents have them all."""
NOT_THE_PAPER = (
    "workprof records software counters, the paper hardware counters, too. "
    "Only the order of things can be compared with it."
)


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
    """Return accuracy beside the best baseline, then both rejections with what other workloads and runs may show."""
    parts = []
    if result.known is not None:
        best = max(result.baselines, key=lambda name: result.baselines[name], default="")
        beside = f", {NAMES.get(best, best)} {share_words(result.baselines[best])}" if best else ""
        parts.append(f"{share_words(result.known.accuracy)} of held-out runs are recognised{beside}")
    if has_no_threshold(result):
        parts.append("None can be called unknown, since a workload needs at least four runs for a threshold")
    elif result.unknown:
        unknown, known = (interval_words(one) for one in (result.rejected_interval, result.false_reject_interval))
        parts += [
            f"{share_words(result.rejected_share)} of the runs of unknown workloads are rejected ({unknown})",
            f"{share_words(result.false_reject_share)} of the known ones are rejected, too ({known})",
        ]
    return f"{'. '.join(parts) or 'Nothing could be evaluated'}."


def interval_words(ends: Interval) -> str:
    """Return '95 % interval 2 to 24 %'."""
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


@dataclass(frozen=True)
class _Limits:
    """Up to which distances a run is of a workload."""

    phases: str
    ed: Any
    dtw: Any
    c: dict[str, float]


def _limit(measure: str, word: str) -> tuple[Column, ...]:
    def limit(one: _Limits) -> float:
        own = getattr(one, measure)
        return float(own.mean + one.c[measure] * own.sd)

    words = MEASURE_WORDS[word]
    return (
        Column(f"{word}_mean", f"{measure}.mean", f"{words}, mean", "%.4g"),
        Column(f"{word}_sd", f"{measure}.sd", f"{words}, standard deviation", "%.3g"),
        Column(f"{word}_limit", limit, f"{words}, threshold", "%.4g"),
    )


MEASURE_WORDS = {"euclidean": "Euclidean", "dtw": "DTW"}
LIMITS = (
    Column("workload", "ed.workload", "Workload"),
    Column("runs", "ed.n_runs", "Runs", "%,.0f"),
    Column("phases", "", "Phases"),
    *_limit("ed", "euclidean"),
    *_limit("dtw", "dtw"),
)


def threshold_table(result: LibraryView) -> Table:
    """One line per workload: runs, distances among them, and up to which a run is accepted."""
    rows = [
        _Limits(_phases_of(result, ed.workload), ed, dtw, result.c)
        for ed, dtw in zip(result.thresholds["ed"], result.thresholds["dtw"], strict=True)
    ]
    return Table("thresholds", "Thresholds", LIMITS, rows)


def _phases_of(result: LibraryView, workload: str) -> str:
    own = [int(n) for n, label in zip(result.n_phases, result.workloads, strict=True) if label == workload]
    return f"{min(own)}" if min(own) == max(own) else f"{min(own)} to {max(own)}"


def threshold_note(result: LibraryView) -> str:
    """What the limits are made of."""
    return (
        f"Threshold = mean + c standard deviations, c = {number(result.c['ed'])} (Euclidean) and "
        f"{number(result.c['dtw'])} (DTW). Workloads of fewer than three runs have no threshold."
    )


def library_answer(result: LibraryView) -> Answer:
    """Distances of the known runs from each other in both measures, and up to which a run is accepted."""
    shown = range(min(len(result.names), WIDEST_MATRIX))
    matrix = (
        Column("number", lambda at: at + 1, ""),
        Column("run", lambda at: f"{result.workloads[at]}/{result.names[at]}", "Run"),
        *(Column(str(other + 1), _distance(result, other), str(other + 1), "%.3g") for other in shown),
    )
    runs_of = zip(result.workloads, result.names, result.n_phases.tolist(), strict=True)
    return Answer(
        library_sentence(result, "euclidean"),
        tables=(
            Table("distances", "Euclidean distances", matrix, range(len(result.names))),
            threshold_table(result),
        ),
        notes=(threshold_note(result),),
        document={
            "runs": [dict(zip(("workload", "run", "n_phases"), one, strict=True)) for one in runs_of],
            "distances": {name: result.distances(name) for name in MEASURES},
            **limits_document(result),
            "n_counters": result.n_counters,
            "seconds": result.seconds,
        },
    )


def _distance(result: LibraryView, other: int) -> Any:
    return lambda at: float(result.distances_ed[at, other])


WITHIN = {True: "yes", False: "no", None: "too few runs"}
NEAREST = (
    Column("workload", "", "Workload"),
    Column("run", "", "Run"),
    Column("distance_ed", "", "Euclidean", "%.4g"),
    Column("distance_dtw", "", "DTW", "%.4g"),
    Column("offset", "", "Offset (phases)", "%.6g"),
    Column("within_threshold", lambda one: WITHIN[one.within_threshold], "Within the threshold"),
    Column("same_phases", "", "As many phases", aside=True),
)


def match_table(result: Match, measure: str = "euclidean") -> Table:
    """Every run of the library with its distances, the nearest first."""
    rows = sorted(result.matches, key=lambda line: line.distance_dtw if measure == "dtw" else line.distance_ed)
    return Table("matches", "Nearest runs", NEAREST, rows)


def _workload(result: Match) -> str:
    return "unknown" if verdict_kind(result.verdict) == NONE else shortened(result.verdict.nearest)


def _next(result: Match) -> tuple[str, float]:
    """The second nearest workload with its distance, by what decides."""
    if result.scores:
        ordered = sorted(result.scores.items(), key=lambda item: item[1])
    else:
        ordered = list(by_workload(list(result.matches), "ed").items())
    others = [(name, value) for name, value in ordered if name != result.verdict.nearest]
    return others[0] if others else ("none", math.nan)


VERDICTS = "match, similar (the measures disagree, or too few runs are known to reject it) or unknown."
BY_WHAT = "Of the phase model; as published the Euclidean distance. Above the threshold a run is unknown."
WORKLOAD = Column("workload", _workload, "Workload", help=VERDICTS)
NEXT = Column("next_workload", lambda one: shortened(_next(one)[0]), "Next workload", help="The second nearest one.")


def match_figures(result: Match) -> tuple[Figure, ...]:
    """The workload with the verdict, its distance, and the next workload."""
    verdict = result.verdict
    details = {SAME: "match", SIMILAR: "similar, not certain", NONE: f"nearest: {shortened(verdict.nearest)}"}
    heading = "Distance (log-odds)" if result.scores else "Distance"
    distance = Column("distance", "verdict.score", heading, help=BY_WHAT, said=lambda one: signed(one.verdict.score))
    return (
        Figure(WORKLOAD, result, details[verdict_kind(verdict)]),
        Figure(distance, result, f"threshold {signed(verdict.limit)}"),
        Figure(NEXT, result, f"distance {signed(_next(result)[1])}"),
    )


SCORES_NOTE = (
    "Dashed: the threshold, learned from known runs that the library did not hold. To the right of it: unknown. "
    "Coloured: the nearest workload, as the verdict has it. Phases at about the same time decide, and at a lower "
    "weight mean and standard deviation over the whole run."
)


def nearest_sentence(name: str, distance: float) -> str:
    """The nearest run of the library."""
    return f"Nearest run: {name} (distance {number(distance)})."


def match_answer(result: Match) -> Answer:
    """Which known workload a run is like, and the nearest runs."""
    one, verdict = result.verdict, asdict(result.verdict)
    near = f"{one.confidence * 100:.0f} % nearer than the next workload (DTW: {one.confidence_dtw * 100:.0f} %)"
    return Answer(
        match_sentence(result),
        match_figures(result),
        (replace(match_table(result), rows=match_table(result).rows[:SHOWN_MATCHES]),),
        notes=(f"{one.reason}; {near}", *notes_of(result)),
        document={
            "unknown": result.unknown,
            "matches": [asdict(line) for line in result.matches],
            "verdict": verdict.pop("workload"),
            **verdict,
            "scores": result.scores,
            "notes": list(result.notes),
        },
    )


def _recorded_s(view: LiveView) -> float:
    return float(view.t_s[-1]) - view.from_s if len(view.t_s) else 0.0


def _so_far(view: LiveView) -> str:
    return verdict_kind(view.match.verdict) if view.match else "too early"


def _phases_so_far(view: LiveView) -> str:
    return str(max((len(own) + 1 for own in view.changes_s), default=1))


def _changing(view: LiveView) -> str:
    return f"{int((view.recent > 0.5).sum())} of {len(view.counters)}"


LIVE = (
    Column(
        "recorded_s",
        _recorded_s,
        "Recorded",
        help="Since this page began to follow it.",
        said=lambda view: seconds(round(_recorded_s(view))),
    ),
    Column("verdict", _so_far, "Verdict so far", help="By the phases so far: matches, similar or unknown."),
    Column("phases_so_far", _phases_so_far, "Phases so far", help="Of the counter that has most."),
    Column("changing", _changing, "Changing now", help="Counters whose last 3 samples probably hold a change."),
)


def live_figures(view: LiveView) -> tuple[Figure, ...]:
    """How long, what it is like so far, and how much changes just now."""
    near = f"nearest: {shortened(view.match.verdict.nearest)}" if view.match else ""
    return tuple(Figure(column, view, near if column.name == "verdict" else "") for column in LIVE)


def live_sentence(view: LiveView) -> str:
    """What the run is taken for so far, in one sentence."""
    head = f"{LIVE[0].text(view)} so far"
    if view.match is None:
        return f"{head}: too early to compare with known workloads."
    verdict = view.match.verdict
    nearest, distance = shortened(verdict.nearest), f"distance {signed(verdict.score)}"
    if math.isfinite(verdict.limit):
        distance += f", threshold {signed(verdict.limit)}"
    words = {SAME: f"matches “{nearest}”", SIMILAR: f"most like “{nearest}”", NONE: f"unknown, nearest “{nearest}”"}
    return f"{head}: {words[verdict_kind(verdict)]} ({distance})."


def live_note(view: LiveView) -> str:
    """What the dotted lines are, and what is missing."""
    return (
        "Dotted lines: provisional phase starts; later samples can move or remove them. "
        f"{counted(view.n_missed, 'step')} without a sample. "
        "Counters of perf stat come at the end of a recording only."
    )


NONE_UNKNOWN = "no unknown workload was tested, so none could be rejected"
NO_LIMIT = "too few runs of each workload for a threshold, so none is called unknown. Record at least four of each"


TABLE_TWO = (0.95, 0.93, 0.93)
"""Precision, recall and F1."""
TABLE_THREE = (
    "MongoDB-ycsb is nearest to WordPress (67 %) and MySQL (33 %), Bayesian inference to AI-benchmark (100 %)."
)
TABLE_FOUR = {
    "Redis": (211.90, 52.74, 28.06, 6.41),
    "AI-benchmark": (131.07, 52.66, 19.93, 7.33),
    "MySQL": (181.94, 65.53, 23.51, 8.45),
    "MongoDB-ycsb": (166.23, 73.30, 23.19, 9.18),
    "WordPress": (145.25, 64.47, 20.21, 6.94),
    "Bayesian": (181.60, 46.69, 27.93, 6.32),
}
"""DTW mean and sd, Euclidean mean and sd, of hardware and software counters on another machine."""


@dataclass(frozen=True)
class _Accuracy:
    """How often runs of known workloads are recognised, by whom."""

    by: str
    accuracy: float


@dataclass(frozen=True)
class _Known:
    """How well a workload is recognised, or all of them."""

    workload: str
    precision: float
    recall: float
    f1: float
    support: int | None


@dataclass(frozen=True)
class _Apart:
    """How far the runs of a workload lie apart."""

    workload: str
    dtw_mean: float
    dtw_std: float
    ed_mean: float
    ed_std: float
    n_pairs: int | None = None


def _near(one: Any) -> str:
    nearest = sorted(one.nearest.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share * 100:.0f} %" for name, share in nearest)


ACCURACIES = (
    Column("by", shown=False),
    Column("way", lambda one: measure_words(one.by), "By"),
    Column("accuracy", "", "Accuracy", unit="share"),
)
KNOWN = (
    Column("workload", "", "Workload"),
    Column("precision", "", "Precision", "%.3f"),
    Column("recall", "", "Recall", "%.3f"),
    Column("f1", "", "F1", "%.3f"),
    Column("support", "", "Test runs", "%,.0f"),
)
UNKNOWNS = (
    Column("workload", "", "Workload"),
    Column("rejected_share", "", "Unknown rejected", unit="share"),
    Column("n", "", "Answers", "%,.0f"),
    Column("nearest", _near, "Nearest"),
)
DISTANCES = (
    Column("workload", "", "Workload"),
    Column("dtw_mean", "", "DTW, mean", "%.4g"),
    Column("dtw_sd", "dtw_std", "DTW, standard deviation", "%.3g"),
    Column("euclidean_mean", "ed_mean", "Euclidean, mean", "%.4g"),
    Column("euclidean_sd", "ed_std", "Euclidean, standard deviation", "%.3g"),
    Column("n_pairs", "", "Pairs", "%,.0f"),
)


def accuracies_table(result: Evaluation) -> Table:
    """The accuracies on known workloads: ours, those of learners, those of baselines."""
    rows = []
    if (known := result.known) is not None:
        others = [sorted(each.items(), key=lambda item: -item[1]) for each in (known.learners, result.baselines)]
        rows = [_Accuracy(OURS, known.accuracy)]
        rows += [_Accuracy(name, value) for each in others for name, value in each]
    return Table("accuracies", "Known workloads", ACCURACIES, rows)


def known_table(result: Evaluation) -> Table:
    """Precision, recall and F1 of every workload, the weakest first, then all of them and the published ones."""
    rows: list[Any] = []
    if (known := result.known) is not None:
        rows = sorted(known.per_class, key=lambda one: one.f1)
        rows.append(_Known("mean of these", known.precision, known.recall, known.f1, known.n_test))
        rows.append(_Known("published (6 workloads, Table II)", *TABLE_TWO, None))
    return Table("phases-known", "Known workloads (Table II)", KNOWN, rows)


def unknown_table(result: Evaluation) -> Table:
    """The share that is rejected of every unknown workload, and what it is nearest to."""
    rows = sorted(result.unknown, key=lambda one: one.rejected_share)
    return Table("unknown", "Unknown workloads (Table III)", UNKNOWNS, rows)


def inner_table(result: Evaluation) -> Table:
    """The distances among the runs of each workload, with the published ones below."""
    published = [_Apart(f"published: {name}", *figures) for name, figures in TABLE_FOUR.items()]
    return Table("distances", "Distances within workloads (Table IV)", DISTANCES, [*result.distances, *published])


def _rejects(result: Evaluation) -> bool:
    return not has_no_threshold(result)


ACCURACY = Column(
    "accuracy",
    lambda one: one.known.accuracy if one.known else None,
    "Accuracy",
    unit="share",
    help="On held-out runs of known workloads, by the nearest workload, rejections aside.",
)
WITH_REJECTIONS = Column(
    "accuracy_with_rejections",
    lambda one: one.known.accuracy_with_rejections if one.known and _rejects(one) else None,
    "With rejections",
    unit="share",
    help="In the training parts that lack a workload in turn, a rejected run counted as wrong.",
)
REJECTED = Column(
    "rejected_share",
    lambda one: one.rejected_share if _rejects(one) else None,
    "Unknown rejected",
    unit="share",
    help="Runs of workloads that were not in the training, mean over these.",
)
FALSE_REJECTS = Column(
    "false_reject_share",
    lambda one: one.false_reject_share if _rejects(one) else None,
    "Known rejected",
    unit="share",
    help="Held-out runs of known workloads: lower is better.",
)


def evaluation_figures(result: Evaluation) -> tuple[Figure, ...]:
    """Accuracy, rejection of unknown workloads and false rejects."""
    baseline = f"baseline {share_words(max(result.baselines.values(), default=math.nan))}"
    lacking = "no threshold" if has_no_threshold(result) else "not tested"
    return (
        Figure(ACCURACY, result, baseline),
        *(Figure(column, result, lacking=lacking) for column in (WITH_REJECTIONS, REJECTED, FALSE_REJECTS)),
    )


def splits_note(known: KnownFigures) -> str:
    """What the accuracies are means of."""
    spread = f" ± {known.accuracy_sd * 100:.1f} points over the splits" if math.isfinite(known.accuracy_sd) else ""
    return (
        f"{counted(known.n_test, 'answer')} over {counted(known.n_splits, 'split')}{spread}; the splits share runs, so "
        f"that is no standard error. Over different runs: {interval_words(known.accuracy_interval)}."
    )


FALSE_REJECTS_ALLOWED = 0.1


def curve_sentence(curve: Curve) -> str:
    """How many unknown runs are rejected where few of the known ones are."""
    allowed = curve.false_rejects <= FALSE_REJECTS_ALLOWED
    if not allowed.any():
        return f"By {measure_words(curve.measure)} no c rejects at most 10 % of the known runs."
    best = int(np.argmax(np.where(allowed, curve.rejected, -1.0)))
    return (
        f"By {measure_words(curve.measure)}, {share_words(float(curve.rejected[best]))} of unknown runs are rejected "
        f"at {share_words(float(curve.false_rejects[best]))} of the known ones (c = {number(float(curve.c[best]))})."
    )


def curve_note(result: Evaluation, *, marked: bool) -> str:
    """What was excluded, and where the marked c comes from."""
    origin = "as published" if result.mode == "faithful" else "as set, or chosen on runs of known workloads only"
    dotted = f" Dotted: c = {number(result.c)}, {origin}." if marked else ""
    return f"Each workload excluded in turn, or those that the library lacks.{dotted}"


def confusion_sentence(known: KnownFigures) -> str:
    """How many answers are wrong."""
    wrong = int(known.confusion.sum() - np.trace(known.confusion))
    of = f"{counted(wrong, 'answer')} of {int(known.confusion.sum()):,}"
    return f"{of} {'is' if wrong == 1 else 'are'} wrong."


def evaluation_answer(result: Evaluation) -> Answer:
    """How often known workloads are recognised and unknown ones rejected."""
    known, notes = result.known, []
    if known is not None:
        notes.append(
            f"{splits_note(known)} Precision {known.precision:.3f}, recall {known.recall:.3f}, F1 {known.f1:.3f}"
        )
    limit = NO_LIMIT if has_no_threshold(result) else NONE_UNKNOWN
    notes.append(limit if math.isnan(result.c) else f"the limit is c = {result.c:.2f}")
    return Answer(
        evaluation_sentence(result),
        evaluation_figures(result),
        (accuracies_table(result), unknown_table(result), inner_table(result)),
        notes=(*notes, *notes_of(result)),
        document={
            "mode": result.mode,
            "counters": list(result.counters),
            "known": None if known is None else asdict(known) | {"per_class": [asdict(one) for one in known.per_class]},
            "baselines": result.baselines,
            "c": result.c,
            "unknown": [asdict(one) for one in result.unknown],
            "rejected_share": result.rejected_share,
            "rejected_interval": asdict(result.rejected_interval),
            "false_reject_share": result.false_reject_share,
            "false_reject_interval": asdict(result.false_reject_interval),
            "curves": [asdict(one) for one in result.curves],
            "distances": [asdict(one) for one in result.distances],
            "notes": list(result.notes),
            "seconds": result.seconds,
        },
    )


def matrix_note(result: LibraryView) -> str:
    """What the matrix of distances shows."""
    counters = counted(result.n_counters, "counter")
    return f"{counters}. Strong squares along the diagonal: runs of one workload are alike."


def near_note(n_shown: int, n_runs: int, *, shaded: bool) -> str:
    """What the nearest runs are of."""
    band = " Shaded: within its threshold." if shaded else ""
    return f"{n_shown} of {counted(n_runs, 'run')}. Coloured: runs of the nearest workload.{band}"

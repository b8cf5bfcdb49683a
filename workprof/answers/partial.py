"""What is said of a part of a run: the workload so far, and how soon runs are recognised."""

import math

import numpy as np

from workprof.answers.phases import seconds
from workprof.answers.recognition import NO_LIMIT, NOT_THE_PAPER, share_words
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted, shortened
from workprof.phases.early import Early, EarlyPoint, SourceFigures
from workprof.phases.matching import UNKNOWN
from workprof.phases.partial import Course

SEEN = Column("seen_s", "seconds", "Seen", unit="s", pinned=True)
COURSE_COLUMNS = (
    SEEN,
    Column("taken_for", "workload", "Taken for"),
    Column("nearest", heading="Nearest"),
    Column(
        "workload_probability",
        "probability",
        "Probability of the nearest",
        unit="share",
        help="If it is one of the known workloads.",
    ),
    Column("next_workload", "second", "Next nearest"),
    Column("log_distance", "score", "Log distance", form="%.2f"),
    Column("log_distance_threshold", "limit", "Its threshold", form="%.2f", help="Above it the run is unknown."),
    Column("like_run", "run", "Like run"),
    Column("like_from_s", "from_s", "From its", unit="s", help="Below 0: that run lies inside what is seen."),
    Column(
        "telling_counters",
        lambda one: ", ".join(one.counters),
        "Telling counters",
        help="Counters that tell it from the next nearest.",
    ),
)


LIKELY = 0.5
"""Probability below which another known workload, or others together, are likelier: no match is told."""


def course_sentence(result: Course) -> str:
    """What the run is taken for, and since when."""
    last, name = result.points[-1], shortened(result.unknown)
    if last.workload == UNKNOWN:
        nearest = f"the nearest is “{shortened(last.nearest)}”"
        return f"{name} is like no known workload after {seconds(last.seconds)}; {nearest}."
    since = last.seconds
    for one in reversed(result.points):
        if one.workload != last.workload:
            break
        since = one.seconds
    sure = f"probability {format_share(last.probability)}"
    word = "matches" if math.isfinite(last.limit) and last.probability >= LIKELY else "is nearest to"
    return f"{name} {word} “{shortened(last.workload)}” from {seconds(since)} on ({sure})."


def course_note(result: Course) -> str:
    """What the course rests on."""
    return (
        f"What is seen is laid over {counted(result.n_known, 'known run')} at every offset. "
        "Probabilities are among the known workloads; the threshold tells whether it is one of them."
    )


def course_answer(result: Course) -> Answer:
    """What a run is taken for as it goes on."""
    return Answer(
        course_sentence(result),
        tables=(Table("course", "While it ran", COURSE_COLUMNS, result.points),),
        notes=(course_note(result), *result.notes),
        document={
            "unknown": result.unknown,
            "workloads": list(result.workloads),
            "probabilities": np.round(result.probabilities, 6),
            "seconds": result.seconds,
        },
    )


EARLY_COLUMNS = (
    SEEN,
    Column("recognised_share", "right", "Recognised", unit="share", help="Of held-back runs, from their start."),
    Column(
        "recognised_low",
        "right_interval.low",
        "Interval, recognised",
        unit="share",
        to=Column("recognised_high", "right_interval.high", unit="share"),
        help="95 %, Wilson's, over runs.",
    ),
    Column(
        "recognised_anywhere_share", "right_anywhere", "Any part", unit="share", help="Of parts that begin anywhere."
    ),
    Column(
        "stated_probability", "stated", "Mean probability", unit="share", help="Mean of the answers from the start."
    ),
    Column("known_rejected_share", "known_rejected", "Known runs rejected", unit="share"),
    Column(
        "known_rejected_low",
        "known_interval.low",
        "Interval, known",
        unit="share",
        to=Column("known_rejected_high", "known_interval.high", unit="share"),
    ),
    Column("unknown_rejected_share", "unknown_rejected", "Unknown runs rejected", unit="share"),
    Column(
        "unknown_rejected_low",
        "unknown_interval.low",
        "Interval, unknown",
        unit="share",
        to=Column("unknown_rejected_high", "unknown_interval.high", unit="share"),
    ),
    Column(
        "phase_model_share", "phases", "Phase model", unit="share", help="Recognised as a live recording is matched."
    ),
    Column("trees_share", "trees", "Trees", unit="share", help="Recognised by mean and deviation of parts as long."),
    Column("plain_share", "plain", "No covariance", unit="share", help="Recognised by the same samples without it."),
)


def early_sentence(result: Early) -> str:
    """How soon runs are recognised, in one sentence."""
    first, last = result.points[0], result.points[-1]
    ends = [first] if last is first else [first, last]

    def shares(name: str, words: str) -> str:
        told = [f"{share_words(getattr(one, name))}{words} after {seconds(one.seconds)}" for one in ends[:1]]
        return ", ".join(
            [*told, *(f"{share_words(getattr(one, name))} after {seconds(one.seconds)}" for one in ends[1:])]
        )

    known = shares("right", " of held-back runs are recognised")
    rejected = f"; {shares('unknown_rejected', ' of unknown ones are rejected')}"
    return f"{known}{rejected if math.isfinite(first.unknown_rejected) else ''}."


def ways_sentence(one: EarlyPoint) -> str:
    """How the other ways do at one time."""
    return (
        f"After {seconds(one.seconds)} the phase model recognises {share_words(one.phases)}, "
        f"trees {share_words(one.trees)}, samples without covariance {share_words(one.plain)}."
    )


def early_note(result: Early) -> str:
    """What the figures rest on."""
    return (
        f"{counted(result.n_runs, 'run')} of {counted(result.n_workloads, 'workload')}, each held back once with a "
        "quarter of the others. Parts of one run count together."
    )


def source_columns(result: Early) -> tuple[Column, ...]:
    """A column for each time."""

    def at(place: int, seconds_seen: float) -> Column:
        return Column(
            f"recognised_{seconds_seen:g}_s",
            lambda one: float(one.right[place]),
            f"After {seconds(seconds_seen)}",
            unit="share",
        )

    return (
        Column("counters_of", "source", "Counters of", pinned=True),
        Column("counters", "n_counters", "How many", unit="count"),
        *(at(place, one.seconds) for place, one in enumerate(result.points)),
    )


FACETS = (
    Column("facet", heading="Of a known workload", pinned=True),
    Column("held_back", heading="Held back"),
    Column("asked_runs", "n_runs", "Runs", unit="count"),
    Column(
        "recognised_share",
        lambda one: float(one.right[-1]),
        "Recognised",
        unit="share",
        help="By the recording most like it.",
    ),
    Column(
        "recognised_low",
        "interval.low",
        "Interval, recognised",
        unit="share",
        to=Column("recognised_high", "interval.high", unit="share"),
        help="95 %, Wilson's, over runs.",
    ),
    Column(
        "recognised_first_share", lambda one: float(one.right[0]), "At first", unit="share", help="At the first time."
    ),
    Column("nearest_means_share", lambda one: float(one.means[-1]), "Nearest means", unit="share"),
    Column("usual_share", "usual", "Most frequent", unit="share", help="If the most frequent value were the answer."),
    Column(
        "not_learned_runs", "n_left_out", "Not asked", unit="count", help="Their value, or any other, was not learned."
    ),
)


def early_answer(result: Early) -> Answer:
    """How soon runs are recognised, and by which counters."""
    rows: tuple[SourceFigures, ...] = result.sources
    facets = [Table("facets", "Input and machine, by names with an @", FACETS, result.facets)] if result.facets else []
    few = [NO_LIMIT] if math.isnan(result.points[0].known_rejected) else []
    return Answer(
        early_sentence(result),
        tables=(
            Table("times", "By what is seen", EARLY_COLUMNS, result.points),
            Table("sources", "Recognised by the counters of one source alone", source_columns(result), rows),
            *facets,
        ),
        notes=(ways_sentence(result.points[0]), early_note(result), *few, NOT_THE_PAPER, *result.notes),
        document={"n_runs": result.n_runs, "n_workloads": result.n_workloads, "seconds": result.seconds},
    )

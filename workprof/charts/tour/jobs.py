"""The stops about jobs: what there is, which kinds, how well a kind is foretold, how long jobs take."""

from __future__ import annotations

from collections.abc import Mapping

from workprof.charts.classify.naming import Naming
from workprof.charts.classify.splits import split_bars
from workprof.charts.classify.table_five import table_five
from workprof.charts.durations.groups import group_names
from workprof.charts.durations.observed import observed_ecdf
from workprof.charts.durations.readouts import observed_sentence
from workprof.charts.durations.view import ObservedView
from workprof.charts.memory.task_boxes import task_boxes
from workprof.charts.memory.words import gb_h
from workprof.charts.profiles.headlines import headlines
from workprof.charts.profiles.points import profile_map
from workprof.charts.profiles.sizes import size_bars
from workprof.charts.shapes import Headline
from workprof.charts.tour.stop import TourStop
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.durations import ObservedDurations
from workprof.memory.assessment import Assessment
from workprof.profiles.fit import ProfileFit
from workprof.units import format_count, format_share

MAP_POINTS = 6_000
"""Of the map: a projector shows no more, and the browser draws them without its graphics card."""

FIRST = 5
"""Figures of a clustering that need no explanation."""


def home_stop(figures: tuple[Headline, ...], found: Assessment) -> TourStop:
    """Return where the memory goes: the reason for everything that follows.

    Args:
        figures: of the dataset, as Home shows them.
        found: what tasks ask for and use.
    """
    return TourStop(
        headline=home_headline(found),
        means="Requests say little about needs, in both directions; knowing a job's kind can tell more.",
        means_not="The trace is synthetic, made to resemble a published one: the shares of your cluster are others.",
        charts=(task_boxes(found),),
        figures=figures,
    )


def home_headline(found: Assessment) -> str:
    """Return how much memory is asked for and not used, and how many runs ask for too little."""
    requested = sum(task.requested_gb_h for task in found.tasks)
    wasted = sum(task.wasted_gb_h for task in found.tasks)
    over = sum(task.n_over_request for task in found.tasks)
    return (
        f"Of the {gb_h(requested)} of memory that {format_count(found.n_runs)} runs ask for, {gb_h(wasted)} "
        f"({format_share(wasted / requested if requested else float('nan'))}) are never used, while "
        f"{format_share(over / found.n_runs if found.n_runs else float('nan'))} of the runs use more than they asked "
        "for."
    )


def profiles_stop(found: ProfileFit, names: Mapping[int, str]) -> TourStop:
    """Return which kinds of jobs there are, and how many jobs are of none."""
    scores = found.scores
    outside = scores.n_outliers / max(scores.n_rows, 1)
    return TourStop(
        headline=f"{format_count(scores.n_clusters)} kinds of jobs cover {format_share(1 - outside)} of "
        f"{format_count(scores.n_rows)} runs; {format_share(outside)} are like no group and belong to none.",
        means="Runs of one kind use the machine alike, so they can be planned alike; the kinds were found from what "
        "the sensors say, not from the jobs' names.",
        means_not="A kind is a likeness, not a cause, and what belongs to none is not forced into one.",
        charts=(profile_map(found, names, MAP_POINTS), size_bars(found, names)),
        figures=headlines(found)[:FIRST],
    )


def classify_stop(found: ClassifierEvaluation, naming: Naming) -> TourStop:
    """Return how often a job's kind is known before it runs, on jobs of groups that training never saw."""
    strict = next((name for name in ("by_group", "by_job", *found.splits) if name in found.splits), "")
    told = found.splits[strict]
    kept = {"by_group": "groups", "by_job": "jobs"}.get(strict, "rows")
    leaky = found.splits.get("random")
    reserve = f"; the {format_share(leaky.accuracy)} of a random split flatter" if leaky and leaky is not told else ""
    return TourStop(
        headline=f"Before a job runs its kind is told right for {format_share(told.accuracy)} of the runs of {kept} "
        f"that training never saw{reserve}.",
        means=f"The answer needs nothing but what is known when a job is submitted; for "
        f"{format_share(told.abstained_share)} of these runs it is 'no profile', because none is likely enough.",
        means_not="The mean hides rare kinds: those at the top of the second picture are missed more often than found.",
        charts=(split_bars(found, naming), table_five(found.splits[found.shown], naming)),
    )


def durations_stop(found: ObservedDurations, profiles: Mapping[int, str]) -> TourStop:
    """Return how long jobs take, from the quickest to the slowest kind."""
    view, names = ObservedView(), group_names(found, profiles)
    sentence = observed_sentence(found, names, view).rstrip(".")
    return TourStop(
        headline=f"{sentence}; the {format_count(found.n_rows)} runs are worth "
        f"{format_count(found.everything.n_effective)} independent jobs.",
        means="The kind of a job narrows down how long it will take, hours before it ends.",
        means_not="A curve is what was seen, not a promise: within a kind the longest run can take many times as long "
        "as the median one.",
        charts=(observed_ecdf(found, names, view),),
    )

"""The stops of the tour: a record in, one sentence with its reserve and one or two charts out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workprof.charts.classify.job import Naming
from workprof.charts.classify.model import split_bars, table_five
from workprof.charts.durations.observed import ObservedView, group_names, observed_ecdf, observed_sentence
from workprof.charts.memory.boxes import task_boxes
from workprof.charts.memory.recommendation import (
    frontier_and_baselines,
    recommendation_headlines,
    recommendation_sentence,
)
from workprof.charts.memory.tasks import gb_h
from workprof.charts.nodes.ranking import aspect_lines, ranked_bars, ranking_headlines, ranking_sentence
from workprof.charts.phases.timeline import most_moving, timeline_chart, timeline_sentence
from workprof.charts.profiles.jobs import profile_map
from workprof.charts.profiles.overview import headlines, size_bars
from workprof.charts.shapes import Chart, Headline
from workprof.charts.text import counted
from workprof.core.units import format_bytes, format_count, format_share
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.durations import ObservedDurations
from workprof.memory.assessment import Assessment
from workprof.memory.recommend import Recommendation
from workprof.nodes.ranking import Ranking
from workprof.phases.timeline import Timeline
from workprof.profiles.fit import ProfileFit


@dataclass(frozen=True)
class TourStop:
    """One stop of the tour, for people who have not seen the page before.

    Attributes:
        headline: what was found: one sentence with a number, its unit and its reserve.
        means: what follows from it.
        means_not: what does not.
        charts: one or two of the page's own.
        figures: of the page's own, a few.
    """

    headline: str
    means: str
    means_not: str
    charts: tuple[Chart, ...] = ()
    figures: tuple[Headline, ...] = ()


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


def memory_stop(found: Recommendation) -> TourStop:
    """Return what to request from now on, what it saves and what it kills."""
    return TourStop(
        headline=recommendation_sentence(found),
        means="Saving and risk are one choice: every point of the picture is a setting on the same runs, and the "
        "acceptable kills pick the point.",
        means_not=f"{counted(found.n_judged, 'run')} of the past are judged, with sizes that were learnt before each "
        "of them; nothing here has been tried on a running cluster.",
        charts=(frontier_and_baselines(found),),
        figures=recommendation_headlines(found),
    )


COUNTERS = 4
"""Of a timeline: more panels get too low to be seen from the last row."""


def nodes_stop(found: Ranking) -> TourStop:
    """Return which node is best and by how much, with the runs that this stands on."""
    left_out = sum(found.left_out.values())
    return TourStop(
        headline=f"{ranking_sentence(found).rstrip('.')}; from {counted(found.n_runs, 'benchmark run')} on "
        f"{counted(len(found.nodes), 'node')}, {left_out:,} left out.",
        means="Scores are ratios with intervals: twice the score is twice as fast, and nodes whose intervals overlap "
        "are called a tie.",
        means_not="A benchmark is not your work: the order holds for the aspects and weights that were measured, and "
        "the sample's nodes are restricted parts of one machine.",
        charts=(ranked_bars(found), aspect_lines(found)),
        figures=ranking_headlines(found),
    )


def phases_stop(found: Timeline, n_runs: int) -> TourStop:
    """Return the phases of one run.

    Args:
        found: the look at the run.
        n_runs: of the dataset that it is from.
    """
    return TourStop(
        headline=f"{timeline_sentence(found).rstrip('.')}; one of {counted(n_runs, 'recorded run')}.",
        means="A workload shows in the counters of its machine: its phases are found, and later runs can be "
        "recognised by them, without looking into the program.",
        means_not="Not every change is a phase of the work: other work on the same machine changes the counters too.",
        charts=(timeline_chart(found, most_moving(found, COUNTERS)),),
    )


def report_stop(n_sections: int, n_charts: int, n_tables: int, page_bytes: int) -> TourStop:
    """Return what the report holds.

    Args:
        n_sections: that could be made.
        n_charts: figures in it.
        n_tables: beside the figures' own.
        page_bytes: size of the HTML file.
    """
    return TourStop(
        headline=f"{counted(n_sections, 'section')} with {counted(n_charts, 'figure')} and "
        f"{counted(n_tables, 'table')} fit into one file of {format_bytes(page_bytes)} that opens without a network.",
        means="Whoever gets the file sees the same numbers as here, with every setting, seed and hash that they "
        "stand on.",
        means_not="It holds the sample, not your trace; what takes minutes (errors of duration estimates, sweeps) is "
        "on the pages and in a report made on the Report page.",
    )

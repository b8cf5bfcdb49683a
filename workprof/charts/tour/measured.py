"""The stops about machines: which node is how much better, and which phases a workload goes through."""

from __future__ import annotations

from workprof.charts.nodes.aspects import aspect_lines
from workprof.charts.nodes.ranked import ranked_bars, ranking_sentence
from workprof.charts.nodes.tables import ranking_headlines
from workprof.charts.phases.timeline import most_moving, timeline_chart, timeline_sentence
from workprof.charts.text import counted
from workprof.charts.tour.stop import TourStop
from workprof.nodes.ranking import Ranking
from workprof.phases.timeline import Timeline

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

"""Which settings suit the trace."""

from __future__ import annotations

from workprof.charts.sweep.maps import parallel_coordinates, score_heatmap
from workprof.charts.sweep.runs import best_sentence, runs_table, summary_sentence, summary_table, target_bars
from workprof.profiles.sweep import SweepSettings
from workprof.progress import Progress
from workprof.report.parts import Content, Kind, Table
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

SCORE = "acquires"


def _sweep(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    state = workbench.sweep(dataset.hash, SweepSettings(), progress)
    algorithm = state.runs[state.best].settings.algorithm
    return Content(
        settings={"sweep": state.settings},
        words=(best_sentence(state.runs, state.best, complete=True), summary_sentence(state.summary)),
        charts=(
            score_heatmap(state.runs, SCORE, algorithm),
            parallel_coordinates(state.runs, state.best),
            target_bars(state.winners, state.runs),
        ),
        tables=(
            Table("Runs", "sweep-runs", runs_table(state.runs, state.best)),
            Table("Each score over all runs", "sweep-summary", summary_table(state.summary)),
        ),
    )


SWEEP = Kind("sweep", "Sweep", "sweep", JOBS, _sweep)

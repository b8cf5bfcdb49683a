"""Which settings suit the trace."""

from __future__ import annotations

from workprof.charts.sweep.maps import parallel_coordinates, score_heatmap
from workprof.charts.sweep import runs as sweep_runs
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
        words=(sweep_runs.best_sentence(state.runs, state.best, complete=True), sweep_runs.summary_sentence(state.summary)),
        charts=(
            score_heatmap(state.runs, SCORE, algorithm),
            parallel_coordinates(state.runs, state.best),
            sweep_runs.target_bars(state.winners, state.runs),
        ),
        tables=(
            Table("Runs", "sweep-runs", sweep_runs.runs_table(state.runs, state.best)),
            Table("Each score over all runs", "sweep-summary", sweep_runs.summary_table(state.summary)),
        ),
    )


SWEEP = Kind("sweep", "Sweep", "sweep", JOBS, _sweep)

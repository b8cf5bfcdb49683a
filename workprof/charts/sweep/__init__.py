"""Figures and tables of a sweep: its runs, their scores, the winner per target, and two runs side by side."""

from workprof.charts.sweep.comparison import comparison_headlines, moved_jobs, overlap_heatmap
from workprof.charts.sweep.estimate import estimate
from workprof.charts.sweep.heat import score_heatmap
from workprof.charts.sweep.parallel import parallel_coordinates
from workprof.charts.sweep.runs import best_sentence, run_names, runner_up, runs_table
from workprof.charts.sweep.scores import SCORES
from workprof.charts.sweep.standing import Standing, left_out_table
from workprof.charts.sweep.summary import summary_sentence, summary_table, summary_words
from workprof.charts.sweep.targets import target_bars

__all__ = [
    "SCORES",
    "Standing",
    "best_sentence",
    "comparison_headlines",
    "estimate",
    "left_out_table",
    "moved_jobs",
    "overlap_heatmap",
    "parallel_coordinates",
    "run_names",
    "runner_up",
    "runs_table",
    "score_heatmap",
    "summary_sentence",
    "summary_table",
    "summary_words",
    "target_bars",
]

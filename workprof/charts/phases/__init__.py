"""Figures and tables of phases: timelines, fingerprints, matches, libraries, evaluations, recordings in progress."""

from workprof.charts.phases.alignment import alignment_chart
from workprof.charts.phases.evaluation import (
    confusion_chart,
    evaluation_headlines,
    evaluation_sentence,
    known_bars,
    measures_of,
    open_curve,
)
from workprof.charts.phases.fingerprint import EVERY, fingerprint_chart, fingerprint_sentence
from workprof.charts.phases.library import distance_matrix, library_sentence, threshold_note, threshold_table
from workprof.charts.phases.live import first_of_each_source, live_chart, live_headlines, live_sentence
from workprof.charts.phases.matches import (
    match_chart,
    match_headlines,
    match_report,
    match_sentence,
    match_table,
    scores_chart,
    verdict_words,
)
from workprof.charts.phases.published import TABLE_THREE, inner_table, known_table, unknown_table
from workprof.charts.phases.tables import fingerprint_json, fingerprint_npz, phase_table
from workprof.charts.phases.timeline import most_moving, timeline_chart, timeline_sentence
from workprof.charts.phases.words import NOT_THE_PAPER

__all__ = [
    "EVERY",
    "NOT_THE_PAPER",
    "TABLE_THREE",
    "alignment_chart",
    "confusion_chart",
    "distance_matrix",
    "evaluation_headlines",
    "evaluation_sentence",
    "fingerprint_chart",
    "fingerprint_json",
    "fingerprint_npz",
    "fingerprint_sentence",
    "first_of_each_source",
    "inner_table",
    "known_bars",
    "known_table",
    "library_sentence",
    "live_chart",
    "live_headlines",
    "live_sentence",
    "match_chart",
    "match_headlines",
    "match_report",
    "match_sentence",
    "match_table",
    "measures_of",
    "most_moving",
    "open_curve",
    "phase_table",
    "scores_chart",
    "threshold_note",
    "threshold_table",
    "timeline_chart",
    "timeline_sentence",
    "unknown_table",
    "verdict_words",
]

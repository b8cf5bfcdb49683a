"""Figures of the Classify page: one job's profile, its needs and reasons; how good the classifier is, what it sees."""

from workprof.charts.classify.beeswarm import beeswarm
from workprof.charts.classify.calibration import reliability_diagram
from workprof.charts.classify.confusion import SHOWN_AS, confusion_heatmap
from workprof.charts.classify.estimates import estimate_rows
from workprof.charts.classify.importance import field_bars, value_bars
from workprof.charts.classify.naming import PUBLISHED, Naming
from workprof.charts.classify.split_words import SPLIT_NAMES
from workprof.charts.classify.splits import split_bars
from workprof.charts.classify.table_five import class_table, table_five
from workprof.charts.classify.tables import Batch, answers_table, forecaster_card, past_jobs_table
from workprof.charts.classify.top_three import answer_sentence, top_three
from workprof.charts.classify.waterfall import additivity, waterfall

__all__ = [
    "PUBLISHED",
    "SHOWN_AS",
    "SPLIT_NAMES",
    "Batch",
    "Naming",
    "additivity",
    "answer_sentence",
    "answers_table",
    "beeswarm",
    "class_table",
    "confusion_heatmap",
    "estimate_rows",
    "field_bars",
    "forecaster_card",
    "past_jobs_table",
    "reliability_diagram",
    "split_bars",
    "table_five",
    "top_three",
    "value_bars",
    "waterfall",
]

"""Figures and tables of durations: what was observed, and how far every predictor is off."""

from workprof.charts.durations.boxes import profile_error_boxes
from workprof.charts.durations.each import group_curve
from workprof.charts.durations.errors import MEASURES, ErrorView, error_cdf
from workprof.charts.durations.estimate import evaluation_estimate
from workprof.charts.durations.groups import group_names
from workprof.charts.durations.observed import left_out_words, observed_ecdf
from workprof.charts.durations.predictors import error_headlines, interval_sentence, predictor_table, predictor_words
from workprof.charts.durations.readouts import observed_sentence, quantile_table, quantile_words
from workprof.charts.durations.view import ObservedView

__all__ = [
    "MEASURES",
    "ErrorView",
    "ObservedView",
    "error_cdf",
    "error_headlines",
    "evaluation_estimate",
    "group_curve",
    "group_names",
    "interval_sentence",
    "left_out_words",
    "observed_ecdf",
    "observed_sentence",
    "predictor_table",
    "predictor_words",
    "profile_error_boxes",
    "quantile_table",
    "quantile_words",
]

"""Figures and tables of the feedback loop: ACQUIRES over time, drift per profile, estimates now and at the fit."""

from workprof.charts.feedback.drift import drift_bars, drift_table, drift_words
from workprof.charts.feedback.headlines import advice_sentence, feedback_headlines, observed_sentence
from workprof.charts.feedback.history import acquires_history
from workprof.charts.feedback.quantiles import quantile_table

__all__ = [
    "acquires_history",
    "advice_sentence",
    "drift_bars",
    "drift_table",
    "drift_words",
    "feedback_headlines",
    "observed_sentence",
    "quantile_table",
]

"""Scores of predicted bins: the thesis' table, the identity, the interval, and every wrong answer counted once."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.memory.published_memory import TABLES_6_TO_11, u_rate_of, u_score_of
from workprof.core.errors import NotEnoughData
from workprof.core.stats import wilson
from workprof.memory.bin_models import (
    bin_scores,
    estimated_improvement,
    run_costs,
)

N_TEST = 440
"""The only size of the test set that fits every published pair of accuracy and u-score."""


@pytest.mark.parametrize("row", TABLES_6_TO_11, ids=lambda row: f"task {row.task}, {row.k} bins")
def test_table_11_from_tables_6_7_and_8(row):
    """The estimate from the printed figures, and the printed share of under-estimates from the printed u-score."""
    u_score = next(u for accuracy, u in (row.xgboost, row.svm) if accuracy == row.accuracy)
    assert u_rate_of(row.accuracy, u_score) == pytest.approx(row.u_rate, abs=0.00051)
    found = estimated_improvement(row.time_based_optimal, row.accuracy, row.u_rate)
    assert found == pytest.approx(row.estimated, abs=0.00051)
    assert u_score_of(row.accuracy, row.u_rate) == pytest.approx(u_score, abs=0.51)


@pytest.mark.parametrize(
    ("wrong", "under", "accuracy", "u_score"), [(11, 1, 97.5, 4.5), (15, 5, 96.6, 13.6), (18, 9, 95.9, 22.5)]
)
def test_published_scores_from_counts_of_errors(wrong, under, accuracy, u_score):
    true = np.array([1] * N_TEST)
    said = np.array([0] * under + [2] * (wrong - under) + [1] * (N_TEST - wrong))
    scores = bin_scores(true, said, 3)
    assert 100 * scores.accuracy == pytest.approx(accuracy, abs=0.051)
    assert scores.u_score == pytest.approx(u_score, abs=0.051)


@given(st.data())
def test_identity_and_counts(data):
    k, n = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 40))
    bins = st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    true, said = np.array(data.draw(bins)), np.array(data.draw(bins))
    penalty = data.draw(st.floats(1.5, 50))
    scores = bin_scores(true, said, k, penalty)
    assert scores.u_score == pytest.approx(u_score_of(scores.accuracy, scores.u_rate, penalty), abs=1e-9)
    assert u_rate_of(scores.accuracy, scores.u_score, penalty) == pytest.approx(scores.u_rate, abs=1e-9)
    assert scores.u_score == pytest.approx(100 * run_costs(true, said, penalty).mean(), abs=1e-9)
    assert scores.confusion.sum() == n
    assert scores.confusion[true[0], said[0]] >= 1
    interval = scores.u_rate_interval
    assert 0 <= interval.low <= scores.u_rate <= interval.high <= 1


@pytest.mark.parametrize(("events", "low", "high"), [(0, 0.0, 0.87), (1, 0.04, 1.28), (5, 0.5, 2.6), (9, 1.1, 3.8)])
def test_wilson_of_the_published_under_estimates(events, low, high):
    """The uncertainty of the published scores."""
    interval = wilson(events, N_TEST)
    assert 100 * interval.low == pytest.approx(low, abs=0.051)
    assert 100 * interval.high == pytest.approx(high, abs=0.051)


def test_edges_of_the_interval():
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    assert wilson(0, 5).low == 0.0
    assert wilson(5, 5).high == 1.0


def test_nothing_to_score():
    with pytest.raises(NotEnoughData, match="no run"):
        bin_scores(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 3)

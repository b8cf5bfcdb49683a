"""The frontier and what a price per failure chooses."""

import pytest

from workprof.memory.frontier import (
    FrontierPoint,
    best_by_task,
    choices_by_price,
    marked,
    settings_of_ours,
)
from workprof.memory.policy_figures import TaskFigures


def point(wasted, failures):
    return FrontierPoint(f"{wasted}", 0.0, True, False, wasted, failures, True)


def test_marks_what_nothing_beats():
    found = marked([point(3.0, 5.0), point(1.0, 9.0), point(2.0, 9.0), point(4.0, 0.0), point(5.0, 0.0)])
    assert [(one.wasted_gb_h, one.efficient) for one in found] == [
        (1.0, True),
        (2.0, False),
        (3.0, True),
        (4.0, True),
        (5.0, False),
    ]


def test_price_of_a_failure_chooses():
    found = choices_by_price([], [point(1.0, 10.0), point(3.0, 1.0), point(9.0, 0.0)], [0.0, 1.0, 100.0])
    assert [(one.wasted_gb_h, one.total_gb_h) for one in found] == [(1.0, 1.0), (3.0, 4.0), (9.0, 9.0)]


def test_best_by_task_leaves_oracles_out():
    tasks = [
        TaskFigures("t", "oracle_exact", 40, 0.0, 5.0, 0.0, False),
        TaskFigures("t", "krr", 40, 2.0, 7.0, 0.0, False),
        TaskFigures("t", "p95", 40, 1.9, 7.0, 100.0, False),
        TaskFigures("few", "p95", 9, 1.0, 7.0, 0.0, True),
    ]
    assert [(one.task, one.policy, one.too_few) for one in best_by_task(tasks, 1e9)] == [
        ("t", "krr", False),
        ("few", "p95", True),
    ]


@pytest.mark.parametrize(("n_runs", "n_settings"), [(100, 8), (10**6, 6)])
def test_long_tables_get_fewer_settings_with_inputs(n_runs, n_settings):
    found = settings_of_ours((0.0, 1.0, 10.0, 100.0), n_runs, with_input=True)
    assert len(found) == n_settings
    assert sum(not one.by_input for one in found) == 4

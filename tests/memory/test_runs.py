"""Runs of a table: units, what is left out and counted, tasks in their order."""

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.memory.usage import ALL_RUNS, runs_of


def table(**columns):
    given = {
        "task_name": ["b", "a", "b", None],
        "peak_memory_bytes": [2e9, 3e9, np.nan, 1e9],
        "requested_memory_bytes": [4e9, 0.0, 4e9, 2e9],
        "duration_s": [3600.0, 0.0, 10.0, 7200.0],
    }
    return pd.DataFrame(given | columns)


def test_arrays_units_and_counts():
    runs = runs_of(table())
    assert runs.tasks == ("(no task name)", "a", "b")
    assert runs.task.tolist() == [2, 1, 0]
    assert runs.rows.tolist() == [0, 1, 3]
    assert runs.hours.tolist() == [1.0, 0.0, 2.0]
    assert np.isnan(runs.requested_bytes[1])  # nothing was requested; that is not a request of zero
    assert runs.left_out == {"no use of memory": 1, "no run time": 0}
    assert runs.of("a").used_bytes.tolist() == [3e9]


def test_whole_bytes_and_milliseconds_never_overflow():
    """Integer columns as large as the published traces have: their products do not fit 64 bits, ours are floats."""
    big = pd.DataFrame({"peak_memory_bytes": [2**45] * 4, "duration_s": [2**31] * 4})
    runs = runs_of(big)
    assert runs.tasks == (ALL_RUNS,)
    total = float((runs.used_bytes * runs.hours).sum())
    assert total == pytest.approx(4 * float(2**45) * float(2**31) / 3600)


def test_clear_refusals():
    with pytest.raises(SettingsError, match="peak_rss, rss"):
        runs_of(table(), "vmem")
    with pytest.raises(ColumnMissing, match="rss"):
        runs_of(table(), "rss")
    with pytest.raises(NotEnoughData):
        runs_of(table(peak_memory_bytes=[0.0] * 4))
    with pytest.raises(SettingsError, match="no task 'z'"):
        runs_of(table()).of("z")


def test_the_last_part_of_a_name_will_do_where_it_is_the_only_one():
    runs = runs_of(table(task_name=["A:B:sort", "A:C:sort", "A:B:index", "A:B:index"]))
    assert len(runs.of("index")) == len(runs.of("A:B:index")) == 1
    with pytest.raises(SettingsError, match="short for 2 tasks"):
        runs.of("sort")


def test_a_use_by_task_and_a_kill_make_lower_bounds():
    marked = table(peak_memory_is_lower_bound=[1.0, 0.0, 1.0, np.nan], out_of_memory_kills=[0.0, 2.0, 0.0, np.nan])
    runs = runs_of(marked)
    assert runs.lower_bound.tolist() == [True, True, False]
    assert runs.take(runs.lower_bound).rows.tolist() == [0, 1]
    assert runs.of("a").lower_bound.tolist() == [True]
    ended = table(status=["COMPLETED", "OUT_OF_MEMORY", "COMPLETED", "FAILED"], finished=[True, False, True, False])
    assert runs_of(ended).lower_bound.tolist() == [False, True, False]
    assert not runs_of(table()).lower_bound.any()

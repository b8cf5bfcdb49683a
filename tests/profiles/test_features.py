import numpy as np
import pandas as pd
import pytest

from tests.profiles.planted import job_table
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.profiles.features import draw_per_group, draw_rows, numeric_columns, read_features
from workprof.profiles.fit import fit_profiles
from workprof.profiles.settings import ALL17, SENSORS10, ProfileSettings


def test_the_published_sets():
    assert len(SENSORS10) == 10
    assert len(ALL17) == 17
    assert set(SENSORS10) < set(ALL17)


def test_a_set_leaves_out_what_cannot_be_used():
    jobs = job_table(50).drop(columns=["read_bytes"])
    jobs["write_bytes"] = np.nan
    jobs["cpu_usage_percent"] = 7.0
    matrix = read_features(jobs, ("sensors10",), "corrected")
    assert matrix.left_out == {
        "cpu_usage_percent": "constant (7)",
        "read_bytes": "not in this table",
        "write_bytes": "no value in any row",
    }
    assert matrix.names == tuple(name for name in SENSORS10 if name not in matrix.left_out)
    assert matrix.numbers.shape == (50, 7)


def test_a_named_column_must_be_there():
    with pytest.raises(ColumnMissing, match=r"nonsense.*numeric columns here: cpu_usage_percent"):
        read_features(job_table(50), ("cpu_usage_percent", "nonsense"), "corrected")


def test_text_is_refused_with_an_example():
    with pytest.raises(SettingsError, match="user holds no numbers"):
        read_features(job_table(50), ("cpu_usage_percent", "user"), "corrected")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_stays_missing_only_in_corrected_mode(bad):
    jobs = job_table(50)
    jobs.loc[3, "read_bytes"] = bad
    corrected, faithful = (read_features(jobs, ("sensors10",), mode) for mode in ("corrected", "faithful"))
    column = corrected.names.index("read_bytes")
    assert corrected.missing == faithful.missing == {"read_bytes": 1}
    assert np.isnan(corrected.numbers[3, column])
    assert faithful.numbers[3, column] == 0


def test_two_features_are_needed():
    with pytest.raises(NotEnoughData, match="1 usable"):
        read_features(job_table(50), ("read_bytes",), "corrected")


def test_nullable_and_decimal_columns_are_numbers():
    from decimal import Decimal

    jobs = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [Decimal("1.5"), None, Decimal(2)]})
    matrix = read_features(jobs, ("a", "b"), "corrected")
    assert np.array_equal(matrix.numbers, [[1, 1.5], [np.nan, np.nan], [3, 2]], equal_nan=True)


def test_the_truth_is_no_feature():
    assert "truth_profile" not in numeric_columns(job_table(20))
    assert "row_id" not in numeric_columns(job_table(20))


def test_draws_repeat_and_are_sorted():
    rows = draw_rows(1000, 100, seed=7)
    assert np.array_equal(rows, draw_rows(1000, 100, seed=7))
    assert np.all(np.diff(rows) > 0)
    assert len(draw_rows(10, 100, seed=7)) == 10


def test_each_group_is_drawn_in_proportion_but_never_left_out():
    codes = np.repeat([0, 1, 2], [900, 98, 2])
    drawn = np.bincount(codes[draw_per_group(codes, 100, seed=0)])
    assert drawn.tolist() == [90, 10, 2]


def test_durations_join_a_set_of_which_a_trace_has_one_column():
    jobs = job_table(80)[["task_name", "duration_s", "peak_memory_bytes"]]
    assert read_features(jobs, ("sensors10",), "corrected").names == ("peak_memory_bytes", "duration_s")
    notes = fit_profiles({"jobs": jobs}, ProfileSettings(min_cluster_size=5)).notes
    assert notes[0] == "Durations join the features, of which one other is usable here."
    with pytest.raises(NotEnoughData, match="1 usable feature"):
        read_features(jobs, ("peak_memory_bytes",), "corrected")
    with pytest.raises(NotEnoughData, match="0 usable features"):
        read_features(jobs[["duration_s"]], ("sensors10",), "corrected")

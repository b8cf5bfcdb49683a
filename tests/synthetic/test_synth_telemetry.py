"""Synthetic recordings: the same seed gives the same file, phases are where the truth says, and the store takes it."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import SettingsError
from workprof.formats.telemetry import read, sniffed
from workprof.phases.runs import SYSTEM72
from workprof.synthetic.telemetry import (
    COUNTERS,
    CPU,
    TelemetrySettings,
    synthetic_telemetry,
    truth_of,
    write_synthetic_telemetry,
)


@pytest.fixture(scope="module")
def made():
    return synthetic_telemetry(TelemetrySettings(workloads=5, runs=4, seconds=40, seed=3))


def test_the_file_is_a_recording(tmp_path, made):
    path = tmp_path / "planted.csv"
    report = write_synthetic_telemetry(path, TelemetrySettings(5, 4, 40, 3))
    assert report.rows == len(made.frame) == 5 * 4 * 40
    assert sniffed(path.read_text()[:500]) == "telemetry"
    found = read(path, "telemetry", {}, path.name)
    assert found.rejected == ()
    np.testing.assert_allclose(found.frame[list(COUNTERS)], made.frame[list(COUNTERS)], rtol=1e-5)
    told = json.loads(truth_of(path).read_text())
    assert [one["change_points_s"] for one in told] == [list(one.change_points_s) for one in made.truth]


def test_a_seed_gives_the_same_file_and_another_another():
    settings = TelemetrySettings(workloads=2, runs=1, seconds=16, seed=1)
    pd.testing.assert_frame_equal(synthetic_telemetry(settings).frame, synthetic_telemetry(settings).frame)
    other = synthetic_telemetry(TelemetrySettings(workloads=2, runs=1, seconds=16, seed=2)).frame
    assert not np.allclose(other[list(COUNTERS)], synthetic_telemetry(settings).frame[list(COUNTERS)])


def test_counters_are_plausible(made):
    assert set(COUNTERS) <= set(SYSTEM72)
    values = made.frame[list(COUNTERS)]
    assert np.isfinite(values.to_numpy()).all()
    assert (values.to_numpy() >= 0).all()
    np.testing.assert_allclose(values[list(CPU)].sum(axis=1), 100)


def test_phases_change_where_the_truth_says(made):
    steps = []
    for one in made.truth:
        run = made.frame[(made.frame["workload"] == one.workload) & (made.frame["run"] == one.run)]
        assert 1 <= len(one.change_points_s) == len(one.moved) <= 3
        bounds = [0, *one.change_points_s, 40]
        assert min(np.diff(bounds)) >= 4
        phases = [run[(run["t"] > low) & (run["t"] <= high)] for low, high in pairwise(bounds)]
        for before, after, moved in zip(phases[:-1], phases[1:], one.moved, strict=True):
            rates = [name for name in COUNTERS if name not in CPU]
            step = np.abs(np.log(after[rates].mean() / before[rates].mean()))
            steps += [(name in moved, step[name]) for name in rates]
    moved = np.array([size for planted, size in steps if planted])
    kept = np.array([size for planted, size in steps if not planted])
    assert moved.min() > 0.6
    assert kept.max() < 0.3


def test_runs_of_a_workload_are_alike_and_the_hard_pair_is_one_in_reverse(made):
    by = {(one.workload, one.run): one for one in made.truth}
    names = list(dict.fromkeys(one.workload for one in made.truth))
    for name in names:
        assert len({by[name, str(run)].moved for run in range(1, 5)}) == 1
        assert len({by[name, str(run)].change_points_s for run in range(1, 5)}) > 1
    assert by[names[-1], "1"].moved == by[names[-2], "1"].moved[::-1]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [({"workloads": 1}, "workloads is 1"), ({"seconds": 15}, "seconds is 15"), ({"runs": 0}, "runs is 0")],
)
def test_settings_out_of_bounds(changed, reason):
    with pytest.raises(SettingsError, match=reason):
        TelemetrySettings(**changed)

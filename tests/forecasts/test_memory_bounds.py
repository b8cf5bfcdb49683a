"""Memory is learned from kills and from uses known by task only as what they are: lower bounds."""

import numpy as np
import pandas as pd
import pytest

from workprof.core.causes import KILLS, LOWER_BOUND
from workprof.core.settings import from_environment
from workprof.forecasts.censored import runs_to_learn
from workprof.forecasts.estimate_evaluation import _folds_of
from workprof.forecasts.estimates import (
    TARGETS,
    EstimateEvaluationSettings,
    EstimateSettings,
    errors_at_fit,
    is_bound,
    known_jobs,
    train_estimator,
)
from workprof.store.reports import IngestOptions
from workprof.workbench import Workbench
from workprof.workbench.forecasts import _evaluation_frames, learned_jobs

GB = 1e9
N = 120


def table():
    """Return 120 runs that request 16 GB; finished ones use 2 GB, every third was killed, some have a lower bound."""
    place = np.arange(N)
    killed = place % 3 == 0
    return pd.DataFrame(
        {
            "job_name": [f"j{at}" for at in place],
            "task_name": "a",
            "user": "ann",
            "status": np.where(killed, "OUT_OF_MEMORY", "COMPLETED"),
            "finished": ~killed,
            "start_time_s": 1.7e9 + 100.0 * place,
            "duration_s": 60.0 + place,
            "requested_memory_bytes": 16 * GB,
            "peak_memory_bytes": np.where(killed, 15 * GB, (2 + place / N) * GB),
            "peak_memory_is_lower_bound": (place % 12 == 1).astype(float),
            "out_of_memory_kills": np.where(place == 2, 3.0, 0.0),
        }
    )


def learned(cut_short):
    return runs_to_learn(table(), cut_short=cut_short, targets=tuple(TARGETS))


@pytest.mark.parametrize("cut_short", [False, True])
def test_a_kill_and_a_use_by_task_are_lower_bounds_of_memory(cut_short):
    memory = known_jobs(learned(cut_short), "peak_memory_bytes")
    bounds = {*range(0, N, 3), *range(1, N, 12), 2}
    assert memory.jobs["job_name"].tolist() == [f"j{at}" for at in range(N)]
    assert set(np.flatnonzero(memory.censored)) == bounds
    assert (memory.target[memory.censored] == 16 * GB).all()
    assert (memory.target[~memory.censored] < 3.1 * GB).all()


def test_of_a_table_as_it_was_measured_kills_and_uses_by_task_are_bounds_too():
    as_measured = table().query("finished")
    bounds = is_bound(as_measured, "peak_memory_bytes")
    assert as_measured["job_name"][bounds].tolist() == ["j1", "j2", *(f"j{at}" for at in range(13, N, 12))]
    assert not is_bound(as_measured, "duration_s").any()


def test_how_long_a_killed_run_took_is_learned_only_where_that_is_asked_for():
    left_out, kept = (known_jobs(learned(cut_short), "duration_s") for cut_short in (False, True))
    assert (len(left_out.target), left_out.censored.sum()) == (80, 0)
    assert (len(kept.target), kept.censored.sum()) == (N, 40)


@pytest.mark.slow
def test_estimates_of_memory_know_of_the_kills():
    settings = EstimateSettings(target="peak_memory_bytes", split="random")
    finished = table()[lambda jobs: jobs["finished"]].drop(columns="finished")
    told, deaf = (
        train_estimator(known_jobs(jobs, settings.target), settings).model for jobs in (learned(False), finished)
    )
    assert any("lower bound" in note for note in told.notes)
    assert told.candidates.past.targets.max() > deaf.candidates.past.targets.max()


@pytest.mark.slow
def test_a_dataset_without_bounds_is_learned_as_it_is(tmp_path):
    with Workbench(from_environment({"WORKPROF_HOME": str(tmp_path / "home")})) as bench:
        plain = table().query("finished").drop(columns=["finished", KILLS, LOWER_BOUND])
        columns = ("user", "duration_s", "peak_memory_bytes")
        read = {}
        for name, rows in (("plain", plain), ("marked", table().drop(columns="finished"))):
            entry = bench.dataset(bench.ingest(rows, IngestOptions(name=name)).hash)
            read[name] = learned_jobs(bench, entry, columns, "left_out")()
        assert (len(read["plain"]), "finished" in read["plain"]) == (80, False)
        assert (len(read["marked"]), int((~read["marked"]["finished"]).sum())) == (N, 40)
        told = EstimateEvaluationSettings(EstimateSettings(target="peak_memory_bytes"), tested="marked")
        frames = _evaluation_frames(bench, bench.dataset("plain"), told, None, None)()
        assert int(is_bound(frames["test"], "peak_memory_bytes").sum()) == 51


def test_no_lower_bound_is_tested_as_if_it_were_the_need():
    """Of another dataset, too: the estimate of a run that used 2 GB before it was killed at 16 GB cannot be wrong."""
    known, (fold,), _ = _folds_of(
        {"jobs": learned(False), "test": learned(False)}, EstimateSettings(target="peak_memory_bytes")
    )
    assert (known.target[fold.test] < 3.1 * GB).all()
    assert (len(fold.train), len(fold.test), known.n_left_out) == (N, 69, 51)


@pytest.mark.slow
def test_errors_at_the_fit_are_of_known_needs():
    known = known_jobs(learned(False), "peak_memory_bytes")
    found = errors_at_fit(known, EstimateSettings(target="peak_memory_bytes", split="random"))
    assert np.isnan(found.logs[known.censored]).all() and np.isnan(found.errors[known.censored]).all()
    assert np.isfinite(found.errors[~known.censored]).any()

"""Synthetic Nextflow traces: peaks follow the planted law, kills are tried again, the store reads what was written."""

import json

import numpy as np
import pytest

from tests.store.conftest import alone
from workprof.core.errors import SettingsError
from workprof.core.settings import Settings
from workprof.store.reports import IngestOptions
from workprof.synthetic.nextflow import KILLED, PIPELINE, NextflowTrace, nextflow_trace, truth_of, write_nextflow_trace


@pytest.fixture(scope="module")
def made():
    return nextflow_trace(NextflowTrace(samples=300, seed=4))


def test_peaks_follow_the_planted_law_and_a_killed_task_comes_again_with_twice_the_request(made):
    table, needs = made
    need = table["task_id"].map(needs)
    assert np.array_equal(table["exit"] == KILLED, need > table["memory"])
    assert (table["peak_rss"] == np.minimum(need, table["memory"]).round()).all()
    for name, one in PIPELINE.items():
        tasks = table[table["process"] == name].sort_values(["tag", "attempt"])
        again = tasks["attempt"] > 1
        assert (tasks["memory"] == one.request_bytes * 2 ** (tasks["attempt"] - 1)).all()
        assert (tasks["exit"].shift(1)[again] == KILLED).all() and (tasks["exit"] == 0).sum() == 300
        law = one.base_bytes + one.per_input_byte * tasks["rchar"] / 1.1  # rchar: 1 to 1.2 times the input
        factor = need[tasks.index] / law
        assert abs(np.log(factor[~again]).mean()) < 0.05
        assert np.log(factor[~again]).std() == pytest.approx(one.log_sd, abs=0.04)
    assert (table["exit"] == KILLED).sum() > 10


def test_a_task_is_submitted_when_the_one_before_it_of_its_sample_has_ended(made):
    for _, tasks in made[0].sort_values("task_id").groupby("tag"):
        assert (tasks["submit"].to_numpy()[1:] == tasks["complete"].to_numpy()[:-1]).all()
        assert (tasks["submit"] <= tasks["start"]).all() and (tasks["start"] < tasks["complete"]).all()


@pytest.fixture
def store(tmp_path):
    with alone(Settings(home=tmp_path / "home", data=tmp_path, memory_limit_bytes=2**30)) as opened:
        yield opened


@pytest.mark.parametrize("name", ["trace.txt", "trace.csv"])
def test_the_store_reads_every_attempt_with_its_units(store, tmp_path, name):
    report = write_nextflow_trace(tmp_path / name, NextflowTrace(samples=40, seed=2))
    table, needs = nextflow_trace(NextflowTrace(samples=40, seed=2))
    truth = json.loads(truth_of(tmp_path / name).read_text())
    assert truth["need_bytes"] == {str(task): round(need) for task, need in needs.items()}
    loaded = store.ingest([tmp_path / name], IngestOptions(name="flow"))
    assert (loaded.format, loaded.rows, loaded.rejected) == ("nextflow", len(table), 0) and report.rows == len(table)
    frame = store.frame("flow", ["job_name", "task_name", "peak_memory_bytes", "duration_s"], finished_only=False)
    assert frame["peak_memory_bytes"].sum() == table["peak_rss"].sum()
    assert frame["duration_s"].sum() == pytest.approx(table["realtime"].sum() / 1e3)
    assert frame.groupby("task_name").size().to_dict() == table.groupby("process").size().to_dict()


def test_a_size_that_cannot_be_is_refused():
    for samples in (0, -1, 1_000_000):
        with pytest.raises(SettingsError, match="samples is"):
            nextflow_trace(NextflowTrace(samples=samples))

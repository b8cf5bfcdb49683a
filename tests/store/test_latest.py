"""Of a long trace the database hands out the latest runs alone: those that `latest_of` takes of all."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from workprof.core.arrays import latest_of
from workprof.core.settings import Settings
from workprof.memory.questions import VERDICT
from workprof.memory.verdict import VerdictSettings, verdict_of
from workprof.store.reports import FieldSource, IngestOptions
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

COLUMNS = ("task_name", "start_time_s", "submit_time_s", "requested_memory_bytes", "peak_memory_bytes", "duration_s")
UNITS = {"requested_memory_bytes": "B", "peak_memory_bytes": "B"}
N = 1_500


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    rng = np.random.default_rng(3)
    submitted = rng.integers(1, 60, N) + 1_600_000_000.0  # many begin together
    table = pd.DataFrame(
        {
            "task_name": rng.choice(["align", "sort", "call"], N),
            "status": rng.choice(["COMPLETED", "COMPLETED", "FAILED"], N),
            "submit_time_s": np.where(rng.random(N) < 0.2, np.nan, submitted),
            "start_time_s": np.where(rng.random(N) < 0.2, np.nan, submitted + rng.integers(0, 9, N)),
            "duration_s": rng.integers(1, 90, N) * 1.0,
            "requested_memory_bytes": 4e9,
            "peak_memory_bytes": rng.integers(1, 4, N) * 1e9,
        }
    )
    mapping = {name: FieldSource(name, UNITS.get(name, "s")) for name in COLUMNS[1:]}
    mapping |= {name: FieldSource(name) for name in ("task_name", "status")}
    folder = tmp_path_factory.mktemp("latest")
    with Workbench(Settings(home=folder / "home", data=folder)) as opened:
        opened.ingest(table, IngestOptions(name="runs", format="generic", mapping=mapping))
        yield opened


@pytest.mark.some(6)
@pytest.mark.parametrize("finished_only", [True, False])
@pytest.mark.parametrize("columns", [COLUMNS, ("task_name", "status")])
@pytest.mark.parametrize("most", [1, 57, 1_000, N])
def test_the_rows_are_those_that_are_taken_of_all(bench, most, columns, finished_only):
    read = bench.frames_of(bench.dataset("runs"), columns, every=not finished_only, latest=most)
    rows, counted = latest_of(read()["jobs"], most)
    whole = bench.frames_of(bench.dataset("runs"), COLUMNS, every=not finished_only)()["jobs"]
    wanted, earlier = latest_of(whole, most)
    assert rows["row_id"].tolist() == wanted["row_id"].tolist()
    assert rows["task_name"].tolist() == wanted["task_name"].tolist()
    assert counted == earlier
    assert len(rows) == min(most, len(whole))


def test_a_verdict_is_that_of_the_whole_table_and_counts_the_runs_that_began_before(bench):
    settings = VerdictSettings(latest_runs=1_000)
    result = bench.verdict("runs", settings)
    whole = bench.frames_of(bench.dataset("runs"), VERDICT.columns(settings), every=True)()
    wanted = verdict_of(whole, settings)
    assert result.memory.left_out["a start before the latest 1,000 runs"] == N - 1_000
    same = {name: getattr(wanted.memory, name) for name in ("cells", "other_cells", "what_if")}  # arrays, NaN
    assert dataclasses.replace(result.memory, **same) == wanted.memory

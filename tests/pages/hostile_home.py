"""A home whose every name is hostile: jobs, memory tasks, nodes and recordings, with kept results."""

import shutil

import pandas as pd
import pytest

from tests.charts import records_for_memory, records_for_phases
from tests.hostile_texts import MARK, hostile, named, with_hostile
from tests.made_once import made_once
from tests.nodes.planted_nodes import runs_of
from tests.pages.conftest import SAMPLE
from tests.pages.test_nodes_page import SPEEDS, write
from tests.pages.whole_home import Hashes
from workprof.core.settings import from_environment
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.phases.library import faithful_library
from workprof.phases.matching import MatchRunSettings
from workprof.workbench import Workbench

EVERY = 40
INPUT = f"[{MARK}](http://example.org) \u202e{MARK} input"
"""A column that sizes may go by."""

NAMES = ("job_name", "user", "group", "workload", "task_name", "gpu_type", "machine")


def make(tmp_path_factory, with_forecaster=True):
    """Return a home, made once, and the hashes of its datasets."""
    made, hashes = made_once(tmp_path_factory, "hostile", _fill)
    if with_forecaster:
        made, _ = made_once(tmp_path_factory, "hostile-forecast", lambda folder: _forecast(folder, made, hashes))
    return made / "home", hashes


def _fill(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            found = Hashes(*(made(workbench, folder) for made in (_jobs, _tasks, _nodes, _phases)))
            for at, dataset in enumerate(vars(found).values()):
                workbench.rename(dataset, f"www.{MARK}{at}.org")  # a name may not hold more than this
            return found


def _forecast(folder, without, hashes):
    shutil.copytree(without / "home", folder / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            workbench.forecaster(hashes.jobs, ForecasterSettings())


def _jobs(workbench, folder):
    sample = pd.read_parquet(SAMPLE).iloc[::EVERY].reset_index(drop=True)
    with_hostile(sample, NAMES).to_parquet(folder / "jobs.parquet")
    jobs = workbench.ingest([folder / "jobs.parquet"]).hash
    workbench.profiles(jobs)
    return jobs


def _tasks(workbench, folder):
    table = records_for_memory.jobs()
    renamed = table.assign(**{name: hostile(table[name]) for name in ("task_name", "group", "workload")})
    renamed[INPUT] = table["duration_s"]
    renamed.to_parquet(folder / "tasks.parquet")
    tasks = workbench.ingest([folder / "tasks.parquet"]).hash
    bins = BinSettings(task=renamed["task_name"][0], k=2)
    workbench.bin_models(tasks, PredictorSettings(bins=bins, sampling=("none",), trials=0))
    workbench.replay(tasks, ReplaySettings(policies=("workprof", "preset", "p95")))
    return tasks


def _nodes(workbench, folder):
    runs = runs_of(SPEEDS, n_runs=4)
    runs["node"] = hostile(runs["node"])
    return workbench.ingest([write(folder / "nodes.jsonl", runs)]).hash


def _phases(workbench, folder):
    samples = records_for_phases.samples()
    counters = {name: named(at) for at, name in enumerate(samples.columns[4:])}
    samples = samples.assign(workload=hostile(samples["workload"])).rename(columns=counters)
    samples.to_csv(folder / "runs.csv", index=False)
    phases = workbench.ingest([folder / "runs.csv"]).hash
    workbench.match_run(phases, MatchRunSettings(f"{samples['workload'][0].strip()}/1", faithful_library()))
    return phases

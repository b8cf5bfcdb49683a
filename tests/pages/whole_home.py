"""A home with every kind of data and a kept result of every slow step, made once and copied."""

import shutil
from dataclasses import dataclass

import pytest

from tests.charts import records_for_memory, records_for_nodes, records_for_phases
from tests.made_once import keep, made_once
from tests.nodes.planted_nodes import runs_of
from tests.pages.conftest import SAMPLE
from tests.pages.test_nodes_page import SPEEDS, write
from workprof.core.settings import from_environment
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings
from workprof.nodes.detection import DegradationSettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.library import faithful_library
from workprof.phases.matching import MatchRunSettings
from workprof.profiles.settings import ProfileSettings
from workprof.workbench import Workbench

ROWS = 500
OTHER_SIZE = 40
RUN = "two steps/1"
POLICIES = ("workprof", "preset", "p95")


@dataclass(frozen=True)
class Hashes:
    """The datasets of the home: a job trace, runs of three tasks, benchmark runs, counters by the second."""

    jobs: str
    tasks: str
    nodes: str
    phases: str


def make(folder, tmp_path_factory):
    """Fill a folder's `home` and return the hashes of its datasets."""
    made, hashes = made_once(tmp_path_factory, "whole", _fill)
    shutil.copytree(made / "home", folder / "home")
    return hashes


def _fill(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            jobs, tasks = _jobs(workbench), _tasks(workbench, folder)
            return Hashes(jobs, tasks, _nodes(workbench, folder), _phases(workbench, folder))


def _jobs(workbench):
    whole = workbench.ingest([SAMPLE])
    part = workbench.dataset(workbench.sample(whole.hash, "workload", ROWS, "part").dataset).hash
    workbench.remove(whole.hash)
    for settings in (ProfileSettings(), ProfileSettings(min_cluster_size=OTHER_SIZE, min_samples=OTHER_SIZE)):
        workbench.profiles(part, settings)
    workbench.forecaster(part, ForecasterSettings())
    workbench.estimate_evaluation(part, EstimateEvaluationSettings(EstimateSettings(split="by_time")))
    workbench.sweep(part)
    return part


def _tasks(workbench, folder):
    records_for_memory.jobs().to_parquet(folder / "tasks.parquet")
    tasks = workbench.ingest([folder / "tasks.parquet"]).hash
    bins = BinSettings(task=records_for_memory.HEAVY, k=2)
    workbench.bin_models(tasks, PredictorSettings(bins=bins, sampling=("none",), trials=0))
    workbench.replay(tasks, ReplaySettings(policies=POLICIES))
    workbench.verdict(tasks, VerdictSettings())
    workbench.schedule(tasks)
    return tasks


def _nodes(workbench, folder):
    runs = workbench.ingest([write(folder / "nodes.jsonl", runs_of(SPEEDS, n_runs=6))]).hash
    workbench.node_history(runs)
    keep(workbench, workbench.degradation, runs, DegradationSettings(), records_for_nodes.detection(("calm", "small")))
    return runs


def _phases(workbench, folder):
    records_for_phases.samples().to_csv(folder / "runs.csv", index=False)
    phases = workbench.ingest([folder / "runs.csv"]).hash
    library = faithful_library()
    workbench.match_run(phases, MatchRunSettings(RUN, library))
    workbench.evaluate_phases(phases, EvaluationSettings(library=library, splits=1, open_splits=0))
    return phases

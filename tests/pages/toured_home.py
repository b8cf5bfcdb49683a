"""A home as `workprof demo` leaves it, with all that the tour shows, made once and copied.

The test of the classifier and the replay, which take minutes, are kept as made by hand: they are looked at only.
"""

import shutil

import pytest

from pages._frame.visit import SAMPLES
from tests.charts import records_for_classify, records_for_memory
from tests.made_once import keep, made_once
from tests.pages import conftest
from workprof.core.settings import from_environment
from workprof.forecasts.classifier import ClassifierSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.report.tour import prepare, samples_of
from workprof.workbench import JOBS, Workbench

FILES = {kind: sample.path for kind, sample in SAMPLES.items()}


def make(home, tmp_path_factory):
    """Fill a home and return the hashes of its samples by kind."""
    prepared, _ = made_once(tmp_path_factory, "prepared", conftest._prepare)
    made, hashes = made_once(tmp_path_factory, "toured", lambda folder: _fill(folder, prepared / "home"))
    shutil.copytree(made / "home", home)
    return hashes


def _fill(folder, with_profiles):
    shutil.copytree(with_profiles, folder / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            for path in FILES.values():  # of jobs it is loaded already
                workbench.ingest([path])
            samples = samples_of(workbench, FILES)
            jobs = samples[JOBS].hash
            tested, replayed = records_for_classify.evaluation(), records_for_memory.replayed()
            keep(workbench, workbench.classifier_evaluation, jobs, ClassifierSettings(), tested)
            keep(workbench, workbench.replay, jobs, ReplaySettings(), replayed)
            prepare(workbench, samples)
            return {kind: entry.hash for kind, entry in samples.items()}

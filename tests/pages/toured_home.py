"""A home as `workprof demo` leaves it, with all that the tour shows, made once and copied."""

import shutil

import pytest

from pages._frame.visit import SAMPLES
from tests.made_once import made_once
from workprof.core.settings import from_environment
from workprof.report.tour import prepare, samples_of
from workprof.workbench import Workbench

FILES = {kind: sample.path for kind, sample in SAMPLES.items()}


def make(home, tmp_path_factory):
    """Fill a home and return the hashes of its samples by kind."""
    made, hashes = made_once(tmp_path_factory, "toured", _fill)
    shutil.copytree(made / "home", home)
    return hashes


def _fill(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            for path in FILES.values():
                workbench.ingest([path])
            samples = samples_of(workbench, FILES)
            prepare(workbench, samples)
            return {kind: entry.hash for kind, entry in samples.items()}

"""One profile for all property tests: the same examples on every run and every machine, and no clock.

What is compiled is kept from run to run, as numba keeps its loops: the tests themselves and what they import.
"""

import gc
import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

sys.dont_write_bytecode = False  # pytest compiles thousands of asserts: ten seconds of every run
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
gc.set_threshold(100_000)  # imports, tests and syntax trees make millions of objects that nobody drops

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large),
)
settings.load_profile("steady")


LONG = ("browser", "pages", "same", "faults", "cli", "report", "docs")
"""Rooms with the files that take longest, in the order in which they begin."""


SLOW = re.compile(r"^pytestmark = .*\bmark\.(slow|soak)\b", re.MULTILINE)
SLOW_ROOMS = ("browser", "pages")


def pytest_ignore_collect(collection_path, config):
    """Import no file that is slow as a whole where `pytest` alone leaves the slow tests out."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or "not slow" not in config.option.markexpr:
        return None
    if collection_path.is_dir():
        return True if collection_path.name in SLOW_ROOMS else None
    return True if collection_path.suffix == ".py" and SLOW.search(collection_path.read_text("utf-8")) else None


def pytest_collection_finish():
    gc.freeze()  # modules and tests stay to the end


def pytest_unconfigure():
    gc.unfreeze()


def pytest_collection_modifyitems(items):
    """Begin with the long files: of two processes none waits for the other's last one (`--no-loadscope-reorder`)."""
    rank = {room: place for place, room in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(Path(item.path).parent.name, len(LONG)))

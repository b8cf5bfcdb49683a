"""One profile for all property tests: the same examples on every run and every machine, and no clock.

What is compiled is kept from run to run, as numba keeps its loops: the tests themselves and what they import.
"""

import atexit
import gc
import os
import re
import sys

import pytest
from hypothesis import HealthCheck, Phase, settings

sys.dont_write_bytecode = False  # pytest compiles thousands of asserts: ten seconds of every run
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["WORKPROF_AHEAD"] = "0"  # a test starts what it needs; those of what starts by itself say so
gc.set_threshold(100_000)  # imports, tests and syntax trees make millions of objects that nobody drops:
gc.disable()  # until the tests are collected, a fifth of that time

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large),
)
settings.load_profile("steady")


LONG = ("test_lines", "test_many_sessions", "test_mess_properties", "browser", "golden", "pages", "same", "faults")
LONG += ("cli", "service", "report", "docs")
"""The files that take longest, and rooms with such files, in the order in which they begin."""


SLOW = re.compile(r"^pytestmark = .*\bmark\.(slow|soak)\b", re.MULTILINE)
SOAK = re.compile(r"^pytestmark = .*\bmark\.soak\b", re.MULTILINE)
SLOW_ROOMS = ("browser", "pages")


def pytest_ignore_collect(collection_path, config):
    """Import no file that is left out as a whole: a slow one by `pytest` alone, one of the soak by `make test`."""
    quick = "not slow" in config.option.markexpr
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or "not soak" not in config.option.markexpr:
        return None
    if collection_path.is_dir():
        return True if quick and collection_path.name in SLOW_ROOMS else None
    left_out = SLOW if quick else SOAK
    return True if collection_path.suffix == ".py" and left_out.search(collection_path.read_text("utf-8")) else None


@pytest.fixture(autouse=True, scope="module")
def jobs_by_fork():
    """Fork the children of jobs from a process that has imported what they need, which takes each a second else."""
    if jobs := sys.modules.get("workprof.jobs"):
        from tests.forked_jobs import spawn

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jobs, "spawn", spawn)
            yield
    else:
        yield


def pytest_collection_finish():
    gc.freeze()  # modules and tests stay to the end
    gc.enable()
    atexit.register(gc.unfreeze)  # what is compiled tells of modules that outlive Python


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave most cases of a test that is marked `some(n)` to the soak, and begin with the long files.

    Of such a test n cases stay, spread evenly from the first to the last. Of two processes none waits for the other's
    last file (`--no-loadscope-reorder`).
    """
    cases = {}
    for item in items:
        if (mark := item.get_closest_marker("some")) and not item.get_closest_marker("soak"):
            cases.setdefault((item.path, item.originalname), (mark.args[0], []))[1].append(item)
    for n, own in cases.values():
        kept = {round(place * (len(own) - 1) / max(n - 1, 1)) for place in range(n)}
        for item in (item for place, item in enumerate(own) if place not in kept):
            item.add_marker(pytest.mark.soak)
    rank = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.path.stem, rank.get(item.path.parent.name, len(LONG))))

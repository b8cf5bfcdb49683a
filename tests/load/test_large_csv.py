"""A large CSV: memory stays within the limit, CPU time grows as its size does, and it can be stopped at any time."""

import itertools
import time

import pytest

from tests.benchmarks.ingest_csv import BYTES_OF_A_ROW, MB, turn, write_csv
from workprof.core.errors import Cancelled
from workprof.core.settings import Settings
from workprof.core.units import GB
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.soak

SMALL_MB, LARGE_MB = 20, 80
STOPS_S = 10.0


def test_time_grows_as_the_size_does_within_the_memory_limit(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_MEMORY_LIMIT", "2GB")
    sides = {}
    for size in (SMALL_MB, LARGE_MB):
        path = write_csv(tmp_path / f"jobs{size}.csv", size * MB)
        sides[size] = turn("ours", path, tmp_path / f"home{size}")
        assert sides[size].told["rejected"] <= size
    small, large = sides[SMALL_MB], sides[LARGE_MB]
    for size, side in sides.items():
        assert side.told["rows"] + side.told["rejected"] == size * MB // BYTES_OF_A_ROW
    assert large.told["cpu_s"] < 1.5 * 4 * small.told["cpu_s"]
    assert large.mb < 2 * GB / MB


def test_it_asks_often_whether_to_stop(tmp_path):
    path, asked = write_csv(tmp_path / "jobs.csv", LARGE_MB * MB), [time.monotonic()]
    with TraceStore(Settings(home=tmp_path / "home", data=tmp_path, memory_limit_bytes=2 * GB)) as store:
        store.ingest([path], IngestOptions(), lambda _share, _message: asked.append(time.monotonic()))
    asked.append(time.monotonic())
    gaps = [later - earlier for earlier, later in itertools.pairwise(asked)]
    assert len(gaps) > 20
    assert max(gaps) < STOPS_S


@pytest.mark.parametrize("part", ["counting lines", "reading rows", "checking rows"])
def test_it_stops_soon_wherever_it_is(tmp_path, part):
    path = write_csv(tmp_path / "jobs.csv", SMALL_MB * MB)
    asked: list[float] = []

    def stop(_share, message):
        if message.startswith(part):
            asked.append(time.monotonic())
            raise Cancelled("enough")

    with TraceStore(Settings(home=tmp_path / "home", data=tmp_path, memory_limit_bytes=2 * GB)) as store:
        with pytest.raises(Cancelled):
            store.ingest([path], IngestOptions(), stop)
        assert time.monotonic() - asked[0] < STOPS_S
        assert store.datasets() == ()
    assert not list((tmp_path / "home" / "spool").glob("*"))

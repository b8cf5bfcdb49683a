"""One small file of each kind loads as it comes: recognised, nothing rejected, every row there."""

import pytest

from tests.formats.one_of_each import FILES
from tests.store.conftest import alone
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    with alone(Settings(home=folder / "home", data=folder, memory_limit_bytes=GIB)) as opened:
        yield opened


@pytest.mark.parametrize("kind", FILES)
def test_a_file_loads_as_it_comes(store, tmp_path, kind):
    dropped = FILES[kind]
    path = tmp_path / dropped.name
    path.write_bytes(dropped.content)
    assert store.detect([path]) == dropped.format
    report = store.ingest([path], IngestOptions(name=kind.replace(" ", "-")))
    assert (report.rows, report.rejected, report.lost) == (dropped.rows, 0, 0)
    assert not {"bad cells", "out of bounds", "beyond the trace", "units disagree"} & {
        check.name for check in report.checks
    }

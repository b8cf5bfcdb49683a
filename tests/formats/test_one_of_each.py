"""One small file of each kind loads as it comes: recognised, nothing rejected, every row there."""

import pandas as pd
import pytest

from tests.formats.one_of_each import FILES
from tests.store.conftest import alone
from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.formats.fields import FIELDS
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


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["csv", "sacct", "kubectl", "prometheus", "pbs", "sge", "nextflow", "wfcommons"])
def test_an_export_that_is_loaded_again_is_the_same_runs(store, tmp_path, kind, ending):
    """Columns of the format stand beside the fields: an export of sacct was taken for sacct without a state."""
    given = FILES[kind]
    (tmp_path / given.name).write_bytes(given.content)
    first = store.ingest([tmp_path / given.name], IngestOptions(name=f"{kind}-{ending}"))
    out = tmp_path / f"out.{ending}"
    store.export(first.hash, out)
    again = store.ingest([out], IngestOptions(name=f"{kind}-{ending}-again"))
    assert (again.format, again.rejected) == ("generic", 0)
    fields = [one.name for one in store.columns(first.hash) if one.name in FIELDS]
    frames = [store.frame(one.hash, fields, finished_only=False) for one in (first, again)]
    pd.testing.assert_frame_equal(*frames, check_dtype=False)

"""Tables of measured configurations: recognised by their header, bad lines counted, searched as a dataset."""

from pathlib import Path

import pytest

from tests.nodes.test_search import table
from workprof.core.errors import TraceError
from workprof.core.settings import from_environment
from workprof.formats.configurations import is_configurations, read_configurations
from workprof.nodes.search import SearchSettings
from workprof.workbench import Workbench

SAMPLE = Path(__file__).parents[2] / "data" / "sample"


def test_a_table_is_known_by_its_header_and_bad_lines_are_counted(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("machine,count,runtime_s,cost,threads\na,1,5,1,2\na,0,5,1,2\nb,2,-1,x,4\na,1.5,5,1,2\n")
    assert is_configurations(path.read_text())
    assert not is_configurations("machine,count,cost\n")
    found = read_configurations(path)
    assert (found.kind, found.rows_read, len(found.frame)) == ("configurations", 4, 1)
    assert [(one.line, one.column) for one in found.rejected] == [
        *((3, "count"), (5, "count"), (4, "runtime"), (4, "cost"))
    ]


def test_lines_are_counted_as_they_stand_in_the_file_and_no_quote_takes_any_with_it(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbf\r\nmachine, count, runtime, cost\r\n\r\na, 1, 5, 1\r\nb, 0, 5, 1\r\n\r\n")
    found = read_configurations(path)
    assert (found.rows_read, [one.line for one in found.rejected]) == (2, [5])
    path.write_text('machine,count,runtime,cost,note\na,1,5,1,"x\nb,1,5,1,y\nc,1,5,1,"\nd,1,5,1,z\n')
    with pytest.raises(TraceError, match="4 lines make 2 rows, since a quoted cell runs over the end of a line"):
        read_configurations(path)


@pytest.mark.slow
def test_the_measured_sample_is_searched_with_the_scores_of_its_nodes(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path))
    with Workbench(from_environment()) as bench:
        runs = bench.ingest([SAMPLE / "configurations.benchmarks.jsonl"]).hash
        entry = bench.dataset(bench.ingest([SAMPLE / "configurations.csv"]).hash)
        found = bench.configuration_search(entry.hash, SearchSettings(runs=runs[:8], trials=4, seeds=1))
        assert entry.kind == "configurations"
        assert found.settings.runs == runs
    assert set(found.workloads) == {"compress", "sort", "query"}
    assert len(found.differences) == 4
    assert all("threads" in one.configuration for one in found.path)


def test_the_drawn_table_is_one(tmp_path):
    table().to_csv(tmp_path / "drawn.csv", index=False)
    assert len(read_configurations(tmp_path / "drawn.csv").frame) == 50

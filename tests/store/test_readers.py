"""Formats with a reader, and without a header: detection, lines of rejects, several files, remarks, broken documents.

The formats are declared here, and listed beside the real ones while a test runs.
"""

import gzip

import pytest

from workprof import formats
from workprof.core.errors import SettingsError, TraceError
from workprof.formats.declare import NUMBER, TEXT, Format, Read, Reader, Remark, Rule, SourceColumn, Unreadable
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow


def read_ledgers(files):
    """Read lines 'JOB name hours size'; a line 'END' must come last."""
    for file in files:
        ended = False
        for line, text in file.lines():
            words = text.split()
            ended = words == ["END"]
            if words[:1] == ["JOB"] and len(words) == 4:
                yield Read(line, [file.name, *words[1:]])
            elif not ended:
                yield Unreadable(line, "", text, "no line of a job")
        if not ended:
            raise TraceError(f"{file.name} breaks off; fetch it again")
    yield Remark("files", len(files), f"{len(files)} files")


LEDGER = Format(
    name="ledger-of-jobs",
    title="Lines of jobs",
    columns=(SourceColumn("file"), SourceColumn("name"), SourceColumn("hours"), SourceColumn("size")),
    rules=(
        Rule("workload", "file"),
        Rule("job_name", "name"),
        Rule("duration_s", "hours", "h"),
        Rule("peak_memory_bytes", "size", "B"),
    ),
    reader=Reader(
        lambda head, _: head.startswith("JOB "), ("file", "name", "hours", "size"), read_ledgers, several=True
    ),
)

BARE = Format(
    name="bare-table",
    title="Lines of four cells",
    columns=(SourceColumn("id", TEXT), SourceColumn("start", NUMBER), SourceColumn("end", NUMBER)),
    rules=(Rule("job_name", "id"), Rule("start_time_s", "start", "s"), Rule("end_time_s", "end", "s")),
    duration_from_times=True,
    header=False,
    recognises=lambda rows: all(len(row) == 4 and row[0].startswith("vm-") for row in rows),
)


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    for added in (LEDGER, BARE):
        monkeypatch.setitem(formats.FORMATS, added.name, added)
    monkeypatch.setattr("workprof.store.detect.NAMES", (*formats.NAMES, LEDGER.name, BARE.name))


def rejects(store, dataset):
    return [(row["line"], row["text"]) for row in store.rejects(dataset).to_dict("records")]


def test_a_reader_makes_rows_rejects_and_checks(store, write):
    report = store.ingest(
        [write("a.log", "JOB one 1 16Gi\nwhat?\nJOB two 0.5 1GiB\nJOB bad x 2\nEND\n")], IngestOptions()
    )
    assert (report.format, report.rows_read, report.rows, report.rejected) == (LEDGER.name, 4, 2, 2)
    assert {check.name: check.count for check in report.checks}["files"] == 1
    assert sorted(rejects(store, "a")) == [(2, "what?"), (4, "x")]
    frame = store.frame("a", ["job_name", "duration_s", "peak_memory_bytes", "workload"])
    assert frame["duration_s"].tolist() == [3600.0, 1800.0]
    assert frame["peak_memory_bytes"].tolist() == [16 * 2**30, 2.0**30]
    assert set(frame["workload"]) == {"a.log"}


def test_a_folder_or_several_files_make_one_dataset(store, write, tmp_path):
    (tmp_path / "runs" / "x").mkdir(parents=True)
    first = write("runs/x/a.log", "JOB one 1 1\nEND\n")
    second = write("runs/b.log", "JOB two 2 2\nEND\n")
    folder = store.ingest([tmp_path / "runs"], IngestOptions(name="folder"))
    assert store.frame("folder", ["workload", "job_name"])["workload"].tolist() == ["b.log", "x/a.log"]
    files = store.ingest([second, first], IngestOptions(name="files"))
    assert (folder.rows, files.rows) == (2, 2)
    assert files.already_loaded == (files.hash == folder.hash)


def test_a_document_that_breaks_off_is_refused_and_packed_ones_are_read(store, write, tmp_path):
    with pytest.raises(TraceError, match=r"cut\.log breaks off"):
        store.ingest([write("cut.log", "JOB one 1 1\n")], IngestOptions())
    assert store.datasets() == ()
    packed = tmp_path / "p.log.gz"
    packed.write_bytes(gzip.compress(b"JOB one 1 1\nEND\n"))
    assert store.ingest([packed], IngestOptions()).rows == 1


def test_a_table_without_a_header_loses_no_first_row(store, write):
    lines = "vm-1,0,60,a\nvm-2,10,bad,b\nvm-3,5,65,c\n"
    report = store.ingest([write("vms.csv", lines)], IngestOptions())
    assert (report.format, report.rows, report.rejected, report.lost) == (BARE.name, 2, 1, 0)
    assert rejects(store, "vms") == [(2, "bad")]
    frame = store.frame("vms", ["job_name", "duration_s", "column_4"])
    assert frame["job_name"].tolist() == ["vm-1", "vm-3"]
    assert frame["duration_s"].tolist() == [60.0, 60.0]
    assert frame["column_4"].tolist() == ["a", "c"]


def test_others_tables_stay_what_they_are(store, write):
    assert store.detect([write("jobs.csv", "job_name,duration_s\na,1\n")]) == "generic"
    assert store.detect([write("vms.csv", "vm-1,2,3\nvm-2,3,4\n")]) == "generic"


def test_the_name_of_a_family_takes_the_member_that_a_file_has(store, write):
    tasks = write(
        "batch_task.csv", "".join(f"M{i},1,j_{i % 7},1,Terminated,{i + 1},{i + 90},100,0.39\n" for i in range(50))
    )
    assert store.ingest([tasks], IngestOptions(format="alibaba")).format == "alibaba-tasks"
    dump = write("sacct.txt", "JobID|State|Elapsed\n7|COMPLETED|00:01:00\n")
    assert store.ingest([dump], IngestOptions(format="slurm")).format == "slurm"
    with pytest.raises(SettingsError, match=r"looks like format slurm, not alibaba; use auto, or one of alibaba-tasks"):
        store.ingest([dump], IngestOptions(format="alibaba"))
    with pytest.raises(SettingsError, match="'sl' is not known"):
        store.ingest([dump], IngestOptions(format="sl"))

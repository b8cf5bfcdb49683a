"""Excel workbooks: the values as Excel shows them, the sheet's own line numbers, and what is refused."""

import datetime as dt
import io
import zipfile

import openpyxl
import pytest

from workprof.core.errors import Cancelled, TraceError, UnitUnknown
from workprof.store.reports import IngestOptions
from workprof.store.spreadsheet import clock

pytestmark = pytest.mark.slow

HEADER = ["Job name", "Runtime", "Start", "Memory (GB)", "CPU usage", "flag"]
START = dt.datetime(2024, 5, 1, 22, 30)


def book(*sheets, epoch=None):
    """Return the bytes of a workbook: (title, rows, {cell: number format}) for each sheet."""
    made = openpyxl.Workbook()
    made.remove(made.active)
    if epoch:
        made.epoch = epoch
    for title, rows, formats in sheets:
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for cell, number_format in formats.items():
            sheet[cell].number_format = number_format
    content = io.BytesIO()
    made.save(content)
    return content.getvalue()


def repacked(content, **parts):
    """Return a workbook with parts replaced, by their file names without the ending."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for part in old.infolist():
            own = parts.get(part.filename.rsplit("/", 1)[-1].split(".")[0])
            new.writestr(part.filename, own if own is not None else old.read(part))
    return target.getvalue()


def jobs(rows=3):
    return [[f"job {at}", 60.5 + at] for at in range(rows)]


@pytest.mark.parametrize("epoch", [None, openpyxl.utils.datetime.CALENDAR_MAC_1904])
def test_cells_become_what_they_show(store, write, epoch):
    rows = [
        ["Cluster report", None],
        [],
        [None, *HEADER],
        [None, "a", dt.time(8, 23, 8), START, 1.5, 0.25, True],
        [None, "b", dt.timedelta(hours=30, minutes=15), START.date(), 16, 1, False],
        [],
        [None, "c", 1.26, START, 2, 0.5, None],
        [None, "d", 0.5, START, 3, 2, None],
    ]
    formats = {"C5": "[h]:mm:ss", "C7": "h:mm:ss", "C8": "[h]:mm", "D5": "yyyy-mm-dd"}
    formats |= {f"F{at}": "0%" for at in range(4, 9)}
    path = write("jobs.xlsx", book(("Jobs", rows, formats), epoch=epoch))
    assert store.detect([path]) == "generic"
    proposal = store.suggest(path, IngestOptions())
    assert proposal.columns == tuple(HEADER)
    assert proposal.sample["Runtime"] == ("8:23:08", "30:15:00", "30:14:24", "12:00:00")
    report = store.ingest([path], IngestOptions(mapping=proposal.mapping))
    assert (report.rows_read, report.rows, report.rejected) == (4, 4, 0)
    frame = store.frame(
        "jobs", ["job_name", "duration_s", "start_time_s", "requested_memory_bytes", "cpu_usage_percent", "flag"]
    )
    assert frame["job_name"].tolist() == ["a", "b", "c", "d"]
    assert frame["duration_s"].tolist() == [30188, 108900, 108864, 43200]
    start = START.replace(tzinfo=dt.UTC).timestamp()
    assert frame["start_time_s"].tolist() == [start, start - 22.5 * 3600, start, start]
    assert frame["requested_memory_bytes"].tolist() == [1.5e9, 16e9, 2e9, 3e9]
    assert frame["cpu_usage_percent"].tolist() == [25, 100, 50, 200]
    assert [(check.name, check.count) for check in report.checks if check.name == "titles"] == [("titles", 1)]


def test_days_alone_are_asked(store, write):
    rows = [["job", "start", "end"], ["a", dt.date(2026, 1, 5), dt.date(2026, 1, 6)]]
    with pytest.raises(UnitUnknown, match="days without a time of day"):
        store.ingest([write("days.xlsx", book(("Jobs", rows, {})))], IngestOptions())


def test_the_first_sheet_that_holds_a_table_is_read_and_another_can_be_chosen(store, write):
    notes = [["Made by", "the cluster team"], ["on", "Monday"]]
    may, june = ([["job_name", "duration_s", "user"], *([*row, "u"] for row in jobs(count))] for count in (3, 5))
    path = write("months.xlsx", book(("Notes", notes, {}), ("May", may, {}), ("June", june, {})))
    report = store.ingest([path], IngestOptions())
    assert report.rows == 3
    (told,) = (check for check in report.checks if check.name == "sheets")
    assert "'May' was read; not read: 'Notes', 'June'; choose one with --sheet" in told.message
    other = store.ingest([path], IngestOptions(sheet="June"))
    assert (other.rows, other.already_loaded) == (5, False)
    with pytest.raises(TraceError, match="no sheet 'July'; its sheets: 'Notes', 'May', 'June'"):
        store.ingest([path], IngestOptions(sheet="July"))


def test_rejects_name_the_row_of_the_sheet(store, write):
    rows = [["Title"], [], ["job_name", "duration_s", "mem"], ["a", 1, 5], [], ["b\nb", "soon", 5], ["c", 2, 5]]
    rows += [[], ["d", "1h 3m", 5], ["e", "later", 5]]
    report = store.ingest([write("jobs.xlsx", book(("Jobs", rows, {})))], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (5, 3, 2)
    found = store.rejects("jobs")
    assert list(zip(found["line"], found["text"], strict=True)) == [(6, "soon"), (10, "later")]
    assert store.frame("jobs", ["duration_s"])["duration_s"].tolist() == [1, 2, 3780]


def test_sacct_in_a_spreadsheet_is_sacct(store, write):
    rows = [
        ["JobID", "JobName", "State", "Elapsed", "ReqMem", "MaxRSS", "AllocCPUS"],
        ["7", "align", "COMPLETED", "01:00:00", "4Gn", "", 2],
        ["7.batch", "batch", "COMPLETED", "01:00:00", "", "1024K", 2],
    ]
    path = write("sacct.xlsx", book(("Sheet1", rows, {})))
    assert store.detect([path]) == "slurm"
    report = store.ingest([path], IngestOptions())
    assert (report.rows, report.rejected) == (1, 0)
    frame = store.frame("sacct", ["duration_s", "requested_memory_bytes", "peak_memory_bytes"])
    assert frame.iloc[0, 1:].tolist() == [3600, 4 * 2**30, 2**20]


def test_names_do_not_matter_the_bytes_do(store, write):
    path = write("trace.csv", book(("Jobs", [["job_name", "duration_s", "x"], ["a", 1, 2]], {})))
    assert store.ingest([path], IngestOptions()).rows == 1


def test_formulas_are_read_as_they_were_saved_and_told_where_they_were_not(store, write):
    rows = [["job_name", "duration_s", "x"], ["a", 1, "=1+1"], ["b", 2, 4]]
    content = book(("Jobs", rows, {}))
    report = store.ingest([write("new.xlsx", content)], IngestOptions())
    (told,) = (check for check in report.checks if check.name == "formulas without values")
    assert (told.count, told.level) == (1, "warning")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml")
    assert sheet.count(b"<v />") + sheet.count(b"<v/>") + sheet.count(b"<v></v>") == 1
    saved = sheet.replace(b"<v />", b"<v>2</v>").replace(b"<v/>", b"<v>2</v>").replace(b"<v></v>", b"<v>2</v>")
    report = store.ingest([write("saved.xlsx", repacked(content, sheet1=saved))], IngestOptions())
    assert not [check for check in report.checks if check.name == "formulas without values"]
    assert store.frame("saved", ["x"])["x"].tolist() == [2, 4]


def test_cells_beside_the_table_are_counted(store, write):
    rows = [["job_name", "duration_s", "x"], *([*row, 1] for row in jobs(9)), ["z", 1, 2, None, "look here"]]
    report = store.ingest([write("jobs.xlsx", book(("Jobs", rows, {})))], IngestOptions())
    assert (report.rows, report.rejected) == (10, 0)
    assert [check.count for check in report.checks if check.name == "cells beside the table"] == [1]


GOOD = book(("Jobs", [["job_name", "duration_s", "x"], ["a", 1, 2], ["b", 2, 3]], {}))
ENTITY = b'<!DOCTYPE s [<!ENTITY a "aaaa"><!ENTITY f SYSTEM "file:///etc/passwd">]>'
OPEN = b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
CLOSED = b"</sheetData></worksheet>"
ROW = b'<row><c t="inlineStr"><is><t>job_name</t></is></c><c t="inlineStr"><is><t>x</t></is></c></row>'
HOSTILE = {
    "xls": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        r"Excel 2003 or older \(.xls\); save it as .xlsx or as CSV",
    ),
    "encrypted": (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
        "is encrypted; open it in Excel, save it without a password",
    ),
    "cut off": (GOOD[: len(GOOD) // 2], "broken or cut off"),
    "no workbook": (repacked(GOOD, workbook=b"<a/>"), "there is no table"),
    "broken sheet": (repacked(GOOD, sheet1=OPEN + b"<row><c>"), "the workbook is broken|there is no table"),
    "a text that is not there": (
        repacked(GOOD, sheet1=OPEN + b'<row><c t="s"><v>99</v></c></row>' + CLOSED),
        "the workbook is broken",
    ),
    "entities": (repacked(GOOD, sheet1=ENTITY + OPEN + CLOSED), "declares an XML document type"),
    "entities in styles": (repacked(GOOD, styles=ENTITY + b"<styleSheet/>"), "declares an XML document type"),
    "a billion rows": (
        repacked(GOOD, sheet1=OPEN + ROW * 60 + b'<row r="1000000000"><c r="A9"><v>1</v></c></row>' + CLOSED),
        "goes on after 1,048,576 rows",
    ),
    "wide rows": (
        repacked(GOOD, sheet1=OPEN + b'<row><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row>' * 3 + CLOSED),
        "16,384 columns; workprof reads up to 2,000",
    ),
    "a row without end": (repacked(GOOD, sheet1=OPEN + b"<row>" + b"<c/>" * 4_000_000), "in one row, or beside its"),
    "a bomb": (repacked(GOOD, sheet1=bytes(257 << 20)), "compression bomb"),
    "a bomb of texts": (repacked(GOOD, styles=b" " * (65 << 20)), "compression bomb"),
    "empty": (book(("Empty", [], {})), r"there is no table in its sheets \('Empty'\)"),
    "a text": (book(("Text", [["some words"], ["and more"]], {})), "there is no table"),
    "strict": (
        repacked(GOOD, workbook=b'<workbook xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main"/>'),
        "'Strict Open XML' workbook; save it as 'Excel Workbook",
    ),
}


@pytest.mark.some(8)
@pytest.mark.parametrize("kind", HOSTILE)
def test_what_cannot_be_read_is_refused_with_the_next_step(store, settings, write, kind):
    content, told = HOSTILE[kind]
    with pytest.raises(TraceError, match=told):
        store.ingest([write("jobs.xlsx", content)], IngestOptions())
    assert not list((settings.home / "spool").glob("*"))
    assert store.datasets() == ()


def test_a_zip_archive_of_other_things_is_named_as_such(store, write):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a/jobs.csv", "job_name,duration_s\na,1\n")
    with pytest.raises(TraceError, match="is a zip archive; unpack it"):
        store.ingest([write("jobs.zip", content.getvalue())], IngestOptions())


def test_hostile_texts_stay_texts(store, write):
    names = ["=1+1", "'; DROP TABLE x", 'say "hi", all', "new\r\nline", "\u202egpj", "0012", "1e400"]
    rows = [["job_name", "duration_s", "x"], *([name, at, 1] for at, name in enumerate(names))]
    content = book(("Jobs", rows, {}))
    made = openpyxl.load_workbook(io.BytesIO(content))
    made["Jobs"]["A2"].data_type = "s"
    again = io.BytesIO()
    made.save(again)
    report = store.ingest([write("jobs.xlsx", again.getvalue())], IngestOptions())
    assert (report.rows, report.rejected) == (len(names), 0)
    found = store.frame("jobs", ["job_name"])["job_name"].tolist()
    assert [name.replace("\r\n", "\n") for name in found] == [name.replace("\r\n", "\n") for name in names]


def test_a_long_workbook_is_read_in_order_and_can_be_stopped(store, write):
    rows = [["job_name", "duration_s", "status"], *([f"job {at}", at + 0.5, "COMPLETED"] for at in range(4_000))]
    path = write("jobs.xlsx", book(("Jobs", rows, {})))

    def stop(share, message):
        if "spooling" in message and "B" in message:
            raise Cancelled("enough")

    with pytest.raises(Cancelled, match="enough"):
        store.ingest([path], IngestOptions(), stop)
    assert store.ingest([path], IngestOptions()).rows == 4_000
    frame = store.frame("jobs", ["job_name", "duration_s"])
    assert frame["job_name"].tolist() == [f"job {at}" for at in range(4_000)]
    assert frame["duration_s"].tolist() == [at + 0.5 for at in range(4_000)]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0:00:00"), (59.9996, "0:01:00"), (108_900.25, "30:15:00.250"), (-61, "-0:01:01")]
)
def test_clocks(seconds, text):
    assert clock(seconds) == text

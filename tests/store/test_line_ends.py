"""CR LF and LF in one file: the same rows as with one kind, and rejects with the right line."""

import random

import pytest

from workprof.store.reports import IngestOptions
from workprof.store.spool import LOOK_BYTES
from workprof.synthetic.pai_tables import write_pai_tables

pytestmark = pytest.mark.slow

HEADER = "job_name,duration_s,note\n"


def mixed(lines, places):
    return "".join(line + ("\r\n" if at in places else "\n") for at, line in enumerate(lines))


@pytest.mark.some(3)
@pytest.mark.parametrize("rows", [50, 20_000])
@pytest.mark.parametrize("seed", range(4))
def test_mixed_line_ends_give_the_rows_and_rejects_of_even_ones(store, write, rows, seed):
    rng = random.Random(seed)
    lines = ["job_name,duration_s,note", *(f"j{i},{'x' if rng.random() < 0.01 else i},ö{i}" for i in range(rows)), "e"]
    some = {at for at in range(rows) if rng.random() < 0.5}
    text = mixed(lines, [set(range(rows // 2, rows)), {rows}, set(range(rows // 2)), some][seed])
    assert rows < 100 or len(text) > 2 * LOOK_BYTES
    even = store.ingest([write("even.csv", "\n".join(lines) + "\n")], IngestOptions())
    report = store.ingest([write("mixed.csv", text)], IngestOptions())
    assert (report.rows, report.rejected, report.rows_read) == (even.rows, even.rejected, even.rows_read)
    assert not report.already_loaded
    left, right = (store.frame(name, ["job_name", "duration_s", "note"]) for name in ("even", "mixed"))
    assert left.astype(str).equals(right.astype(str))
    assert store.rejects("even").equals(store.rejects("mixed"))
    assert (store.ingest([write("again.csv", text)], IngestOptions())).already_loaded


def test_a_line_break_in_a_header_of_a_windows_file(store, write):
    text = 'job_name,duration_s,"two\nlines"\r\na,1,"x\ny"\r\nb,2,z\r\n'
    assert store.ingest([write("w.csv", text)], IngestOptions()).rows == 2
    assert store.preview("w")["two\nlines"].tolist() == ["x\ny", "z"]


@pytest.mark.some(2)
@pytest.mark.parametrize("rows", [60, 20_000])
@pytest.mark.parametrize("places", [{9}, {10, 11, 12}, {59}, set(range(20, 50, 3))])
def test_a_few_rows_that_end_with_cr_are_rows(store, write, rows, places):
    lines = ["job_name,duration_s,note", *(f'"j{i}",{i + 1},"ö, {i}"' for i in range(rows))]
    lines = [line if line.startswith("job") else line.replace("ö, ", "ö") for line in lines]
    text = "".join(line + ("\r" if at in places else "\n") for at, line in enumerate(lines))
    report = store.ingest([write("some.csv", text)], IngestOptions())
    assert (report.rows, report.rejected) == (rows, 0)
    assert store.frame("some", ["duration_s"])["duration_s"].tolist() == [i + 1 for i in range(rows)]
    assert "carriage returns" not in {check.name for check in report.checks}
    inside = text.replace('"ö7"', '"ö\r7"').replace("8,9,", "8,9\r,")
    report = store.ingest([write("inside.csv", inside)], IngestOptions())
    assert (report.rows, report.rejected) == (rows, 0)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_a_heading_that_ends_with_cr_above_lines_that_end_with_lf(store, write, separator):
    lines = ["job_name,duration_s,note", *(f"j{i},{i + 1},x{i}" for i in range(30))]
    text = "\n".join(lines).replace(",", separator) + "\n"
    report = store.ingest([write("heading.csv", text.replace("\n", "\r", 1))], IngestOptions())
    names = [check.name for check in report.checks]
    assert (report.rows, report.rejected, names) == (30, 0, ["further columns", "no status"])
    store.ingest([write("plain.csv", text)], IngestOptions())
    names = ["job_name", "duration_s", "note"]
    assert store.frame("heading", names).astype(str).equals(store.frame("plain", names).astype(str))


def test_mixed_ends_in_another_encoding_and_in_raw_tables(store, write, tmp_path):
    text = mixed(HEADER.splitlines() + [f"j{i},{i},ö" for i in range(30)], {3, 4, 29})
    report = store.ingest([write("l.csv", text.encode("latin-1"))], IngestOptions(encoding="latin-1"))
    assert (report.rows, report.rejected) == (30, 0)
    assert set(store.frame("l", ["note"])["note"]) == {"ö"}
    folder = tmp_path / "tables"
    write_pai_tables(folder, 60, 5)
    plain = store.ingest([folder], IngestOptions())
    path = folder / "pai_task_table.csv"
    path.write_bytes(mixed(path.read_text().splitlines(), {2, 5}).encode())
    again = store.ingest([folder], IngestOptions())
    assert (again.rows, again.rejected) == (plain.rows, plain.rejected)


def test_the_users_own_file_is_left_as_it_is(store, write):
    content = (HEADER + "a,1,x\r\nb,2,y\n").encode()
    path = write("own.csv", content)
    assert store.ingest([path], IngestOptions()).rows == 2
    assert path.read_bytes() == content

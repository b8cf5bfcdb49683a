"""Execution reports and score files: units converted once, left-out rows counted, wrong input refused."""

import pandas as pd
import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import ColumnMissing, NoRows, TraceError
from workprof.formats.lotaru import read_reports, read_scores

HEADER = "Label,Machine,Workflow,NumberSequences,Task,Realtime,%cpu,TaskInputSizeUncompressed"
ROW = "train-1,box,eager,100,fastqc,1500,95.5,2048"


@pytest.fixture
def folder(tmp_path):
    def write(*lines, header=HEADER, machine="box"):
        path = tmp_path / machine / "results_eager" / f"execution_report_{machine}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
        return tmp_path

    return write


def read(folder):
    return read_reports(folder, ("box",))


def test_units_are_in_the_names(folder):
    report = read(folder(ROW)).by_machine["box"]
    assert report.to_dict("records") == [
        {
            "workflow": "eager", "task": "fastqc", "label": "train-1", "sequences": 100.0,
            "input_bytes": 2048.0, "runtime_s": 1.5, "cpu_percent": 95.5,
        }
    ]  # fmt: skip


@needs_shared_data
def test_the_public_reports_are_read_whole():
    found = read_reports(FOLDER / "lotaru" / "execution_reports", ("n2", "n1", "c2"))
    assert {name: len(report) for name, report in found.by_machine.items()} == {"n2": 1501, "n1": 1487, "c2": 1501}
    assert found.notes == ()
    assert not any(report.isna().any().any() for report in found.by_machine.values())


def test_rows_without_a_value_are_counted(folder):
    found = read(
        folder(
            ROW,
            "train-1,box,eager,100,fastqc,-,95.5,2048",
            "train-1,box,eager,100,fastqc,0,95.5,2048",
            "train-1,box,eager,100,,10,95.5,2048",
            "train-9,box,eager,100,fastqc,10,95.5,2048",
            "test,hut,eager,100,fastqc,10,-,2048",
        )
    )
    assert len(found.by_machine["box"]) == 2
    assert found.by_machine["box"]["cpu_percent"].isna().tolist() == [False, True]
    assert found.notes == (
        "box: 3 of 6 rows are left out: no task, size or runtime above 0",
        "box: 1 rows are left out: their label is none of test, train-1, train-2",
        "box: rows name another machine: hut; the folder's name counts",
    )


@pytest.mark.parametrize("value", ["1.5 s", "1,5", "inf", "__import__('os')", "0x10"])
def test_a_number_that_is_none_is_refused_with_its_place(folder, value):
    with pytest.raises(TraceError, match=r"column Realtime: .* in row 2 is no plain number"):
        read(folder(ROW, f'train-1,box,eager,100,fastqc,"{value}",95.5,2048'))


def test_no_row_is_swallowed_by_a_quote(folder, tmp_path):
    with pytest.raises(TraceError, match=r"execution_report_box\.csv: the quote that opens in line 3 "):
        read(folder(ROW, ROW.replace("train-1", '"train-1'), *[ROW] * 9, ROW.replace("2048", '2048"')))
    (tmp_path / "scores.csv").write_text(
        'machine,cpu,linpack,memory,io\nbox,1,2,3,"4\nn1,1,2,3,4\nn2,1,2,3,4"\nc,1,1,1,1\n'
    )
    with pytest.raises(TraceError, match=r"scores\.csv"):
        read_scores(tmp_path / "scores.csv")


def test_files_that_cannot_be_used(folder, tmp_path):
    with pytest.raises(NoRows, match="is no folder"):
        read_reports(tmp_path / "nowhere", ("box",))
    with pytest.raises(NoRows, match="has no folder 'box'; machines there: none"):
        read(tmp_path)
    with pytest.raises(NoRows, match="a header and no row"):
        read(folder())
    with pytest.raises(NoRows, match="hold no row that can be used; box: 1 of 1"):
        read(folder(ROW.replace("1500", "")))
    with pytest.raises(ColumnMissing, match="no column Realtime; it has: Label"):
        read(folder(ROW, header=HEADER.replace("Realtime", "Duration")))
    with pytest.raises(TraceError, match="more fields than its header"):
        read(folder(ROW + ",1"))
    with pytest.raises(TraceError, match="cannot be read as CSV"):
        read(folder(ROW, ROW + ",1,2"))
    report = next(tmp_path.rglob("*.csv"))
    report.write_bytes(b"\xff\xfe\x00bad")
    with pytest.raises(TraceError, match="cannot be read as CSV"):
        read(tmp_path)
    report.write_bytes(b"")
    with pytest.raises(TraceError, match="cannot be read as CSV"):
        read(tmp_path)
    report.unlink()
    with pytest.raises(NoRows, match="holds no execution_report"):
        read(tmp_path)


def test_a_name_cannot_leave_the_folder(folder):
    inside = folder(ROW)
    with pytest.raises(NoRows, match="has no folder"):
        read_reports(inside, ("../box",))


def test_scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("machine,cpu,linpack,memory,io\nn2,467,,17000,483\n")
    (row,) = read_scores(path).to_dict("records")
    assert pd.isna(row.pop("linpack"))
    assert row == {"machine": "n2", "cpu": 467.0, "memory": 17000.0, "io": 483.0}
    path.write_text("machine,cpu,linpack,memory,io\n,467,1,2,3\n")
    with pytest.raises(TraceError, match="no machine name"):
        read_scores(path)
    path.write_text("machine,cpu,linpack,memory,io\nn2,467/s,1,2,3\n")
    with pytest.raises(TraceError, match="'467/s' in row 1"):
        read_scores(path)
    path.write_text("machine,cpu\nn2,467\n")
    with pytest.raises(ColumnMissing, match="linpack, memory, io"):
        read_scores(path)
    with pytest.raises(NoRows, match="is no file"):
        read_scores(tmp_path / "none.csv")

"""Over-long lines are rejects with their number, whatever their length and wherever they lie."""

import random

import pytest

from workprof.core.units import MIB
from workprof.store.reports import FieldSource, IngestOptions
from workprof.store.text_shape import MAX_LINE_BYTES, WINDOW, set_aside_long_lines

pytestmark = pytest.mark.slow

MAPPING = {"job_name": FieldSource("job_name"), "duration_s": FieldSource("duration_s", "s")}
OPTIONS = IngestOptions(format="generic", mapping=MAPPING)


def written(path, lines):
    path.write_text("job_name,duration_s,note\n" + "".join(line + "\n" for line in lines))
    return path


@pytest.mark.parametrize("size", [MIB, 3 * MIB, 17 * MIB])
def test_one_long_line_is_a_reject_with_its_number(store, tmp_path, size):
    path = written(tmp_path / "f.csv", ["a,1,x", "b,2," + "y" * size, "c,3,z", "d,bad,z", "e,5,w"])
    report = store.ingest([path], OPTIONS)
    assert (report.rows_read, report.rows, report.rejected) == (5, 3, 2)
    rejects = store.rejects(report.dataset)
    assert rejects["line"].tolist() == [3, 5]
    assert rejects["reason"].tolist()[0] == "the line is too long"
    assert rejects["text"].tolist()[0].startswith("b,2,yyy")
    assert path.stat().st_size > size  # the user's own file is as it was


def test_every_line_is_a_row_or_a_reject(store, tmp_path):
    rng = random.Random(1)
    lines = [f"j{i},{i}," + ("y" * rng.randint(600_000, 3_000_000) if i % 500 == 7 else "x") for i in range(6000)]
    report = store.ingest([written(tmp_path / "f.csv", lines)], OPTIONS)
    assert (report.rows_read, report.rows, report.rejected) == (6000, 5988, 12)
    assert store.rejects(report.dataset)["line"].tolist() == [i + 2 for i in range(6000) if i % 500 == 7]


def test_a_long_last_line_without_an_end(store, tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("job_name,duration_s,note\na,1,x\nb,2," + "y" * MIB)
    report = store.ingest([path], OPTIONS)
    assert (report.rows_read, report.rows, report.rejected) == (2, 1, 1)


@pytest.mark.parametrize("length", [10, WINDOW - 1, WINDOW + 1, MAX_LINE_BYTES - 1])
def test_lines_up_to_the_limit_stay(tmp_path, length):
    path = tmp_path / "t.csv"
    content = b"".join(b"x" * length + b"\n" for _ in range(5))
    path.write_bytes(content)
    assert set_aside_long_lines(path) == ()
    assert path.read_bytes() == content

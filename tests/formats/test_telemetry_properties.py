"""Counters by the second: whatever became of a file, rows are right and refused lines counted, or it is refused."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.formats.telemetry_files import imported
from tests.formats.test_telemetry_hostile import TEXTS
from tests.mutations import mutated
from workprof.core.errors import LONGEST, WorkprofError
from workprof.formats.measured import TELEMETRY_FORMATS
from workprof.formats.telemetry import read, sniffed
from workprof.formats.telemetry.own import RecordingFile, text_of, time_text
from workprof.formats.telemetry.text_table import NO_VALUE

pytestmark = pytest.mark.slow

OWN = "workload,run,t,cpu%,mem_mb\n" + "".join(f"w{at % 2},r,{at + 1},{at}.25,{100 * at}\n" for at in range(6))
PLAIN = str.maketrans("", "", '"\r\x00_')
"""Takes out what makes one line of several or two of one, and the digit separators that only Python knows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("telemetry")


def read_or_refused(folder: Path, format_name: str, text: str, name: str = "f.csv"):
    """Return what was found, None for a refusal that says which file it is about."""
    path = folder / name
    path.write_bytes(text.encode())
    assert sniffed(text) in (None, *TELEMETRY_FORMATS)
    try:
        found = read(path, format_name, {}, name)
    except WorkprofError as error:
        assert name in str(error) or "mapping" in str(error)
        assert len(str(error)) <= LONGEST + 5
        return None
    assert found.rows_read == len(found.frame) + len({one.line for one in found.rejected})
    assert np.isfinite(found.frame["t"].to_numpy()).all()
    assert not np.isinf(found.frame.select_dtypes("number").to_numpy()).any()
    assert all(one.line >= 1 and one.reason and len(one.text) <= 500 for one in found.rejected)
    assert all(check.count > 0 for check in found.checks)
    return found


@pytest.mark.some(3)
@settings(max_examples=25)
@given(st.data())
@pytest.mark.parametrize("name", TEXTS)
def test_a_changed_file_is_read_or_refused(folder, name, data):
    text = data.draw(mutated(TEXTS[name].strip().replace("\n    ", "\n") + "\n"))
    read_or_refused(folder, name.split()[0], text)


@settings(max_examples=25)
@given(st.sampled_from(TELEMETRY_FORMATS), st.text(max_size=200))
def test_any_text_is_read_or_refused(folder, format_name, text):
    read_or_refused(folder, format_name, text.encode("utf-8", "ignore").decode())


@settings(max_examples=25)
@given(st.sampled_from(TELEMETRY_FORMATS), st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(folder, format_name, content):
    path = folder / "b.csv"
    path.write_bytes(content)
    try:
        read(path, format_name, {}, "b.csv")
    except WorkprofError as error:
        assert "b.csv" in str(error) or "mapping" in str(error)


def plain_lines(text: str) -> list[list[str]]:
    """Return the fields of the lines that hold something, in the plainest way."""
    return [line.split(",") for line in text.removeprefix("\ufeff").split("\n") if line]


def number(text: str) -> float | None:
    """Return a cell's number, NaN for none; None where it is no number."""
    if text.strip() in NO_VALUE:
        return math.nan
    try:
        value = float(text.strip())
    except ValueError:
        return None
    return value if math.isfinite(value) else math.nan


@settings(max_examples=40)
@given(mutated(OWN).map(lambda text: text.translate(PLAIN)))
def test_every_line_of_a_recording_is_a_row_or_refused_and_no_value_changes(folder, text):
    found = read_or_refused(folder, "telemetry", text)
    if found is None:
        return
    header, *lines = plain_lines(text)
    assert found.rows_read == len(lines)
    refused = {one.line for one in found.rejected}
    at = [place for place, line in enumerate(text.split("\n"), start=1) if line.removeprefix("\ufeff")][1:]
    kept = [cells for place, cells in zip(at, lines, strict=True) if place not in refused]
    names = [name for name in ("cpu%", "mem_mb") if name in header and name in found.frame]
    wanted = sorted(str([number(cells[header.index(name)]) for name in names]) for cells in kept)
    assert sorted(map(str, found.frame[names].to_numpy(dtype=float).tolist())) == wanted


def test_a_quote_that_is_not_closed_loses_no_line(folder):
    lines = OWN.splitlines(keepends=True)
    broken = "".join([*lines[:2], '"' + lines[2], *lines[3:]])
    with pytest.raises(WorkprofError, match=r"f\.csv: 6 lines were read as 2; a quote is not closed"):
        imported(folder, "f.csv", broken)


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_of_other_systems(folder, ends):
    other = read_or_refused(folder, "telemetry", OWN.replace("\n", ends) + "w0,r" + ends)
    assert other is not None
    assert (len(other.frame), [one.line for one in other.rejected]) == (6, [8])


COUNTERS = st.lists(
    st.tuples(st.floats(0.001, 1e9), st.floats(width=32), st.floats(allow_nan=False)), min_size=1, max_size=8
)
NAMES = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"), exclude_characters='"'), min_size=1, max_size=12
)


@settings(max_examples=25)
@given(COUNTERS, NAMES, NAMES, st.integers(0, 10**6))
def test_a_recording_comes_back_as_it_was_written(folder, rows, workload, run, number):
    path = folder / f"rec-{number}.csv"
    path.unlink(missing_ok=True)
    file = RecordingFile(path, workload, run)
    file.begin(("first%", "second_mb"))
    for place, (step, one, other) in enumerate(rows, start=1):
        file.write(place + min(step, 0.5), (one, other))
    file.finish((), np.zeros((0, 0)))
    with path.open(encoding="utf-8", newline="") as stream:
        assert len(list(csv.reader(stream))) == len(rows) + 1
    found = read(path, "telemetry", {}, path.name)
    assert (len(found.frame), found.rejected) == (len(rows), ())
    assert set(found.frame["workload"]) == {workload} and set(found.frame["run"]) == {run}
    for place, name in ((1, "first%"), (2, "second_mb")):
        wanted = [float(text_of(row[place]) or "nan") for row in rows]
        if name in found.frame:
            np.testing.assert_array_equal(found.frame[name], wanted)
        else:
            assert np.isnan(wanted).all()
    times = [float(time_text(place + min(row[0], 0.5))) for place, row in enumerate(rows, start=1)]
    np.testing.assert_allclose(found.frame["t"], times)

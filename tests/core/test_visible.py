"""Characters that hide, move or turn round what stands beside them are spelled out; all others stay."""

import subprocess
import unicodedata

import pandas as pd
import pytest

from workprof.core.settings import Settings
from workprof.core.table import csv_bytes
from workprof.core.text import TURNING, of_one, shell_line, visible
from workprof.core.words import visible_table
from workprof.memory.bin_search import BinSettings
from workprof.store.reports import Check, IngestOptions
from workprof.store.trace_store import TraceStore

ODD = "a\u202eb\u2067\u200f\u061c\ufeff'\\\x1b\x85 $x"


def test_every_character_that_turns_the_direction_is_spelled_out():
    kinds = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    turning = {code for code in range(0x110000) if unicodedata.bidirectional(chr(code)) in kinds}
    assert turning | {0x061C, 0x200E, 0x200F} == set(TURNING)
    assert visible("".join(map(chr, TURNING))) == "".join(f"\\u{code:04x}" for code in TURNING)


@pytest.mark.parametrize("text", ["24,6 % · größer — 日本", "שלום", "می‌خواهم", "👩‍💻", "a\nb\tc\r\n", "\\u202e"])
def test_what_people_write_stays(text):
    assert visible(text) == text


def test_headers_and_cells_of_a_table():
    table = pd.DataFrame({"n\u202e": ["a\u2066", None], "x": [1, 2], "t": pd.to_datetime(["2026-01-01"] * 2)})
    shown = visible_table(table)
    assert list(shown.columns) == ["n\\u202e", "x", "t"]
    assert shown.iloc[0, 0] == "a\\u2066" and pd.isna(shown.iloc[1, 0])
    assert next(iter(table.columns)) == "n\u202e" and table.iloc[0, 0] == "a\u2066"
    assert shown["x"].dtype == table["x"].dtype and shown["t"].dtype == table["t"].dtype


def test_two_columns_of_one_name_keep_their_cells():
    shown = visible_table(pd.DataFrame([["a\u202e", "b"], ["c", "d\u202e"]], columns=["n", "n"]))
    assert shown.to_numpy().tolist() == [["a\\u202e", "b"], ["c", "d\\u202e"]]


@pytest.mark.slow
def test_exports_of_a_dataset_and_downloads(tmp_path):
    source = pd.DataFrame({"job_name": ["x\u202ey", "=\u2066z"], "duration_s": [1.0, 2.0], "c\u202ed": ["a", "b"]})
    source.to_csv(tmp_path / "in.csv", index=False)
    with TraceStore(Settings(home=tmp_path / "home", data=tmp_path)) as store:
        store.ingest([tmp_path / "in.csv"], IngestOptions())
        for kind in ("csv", "schema.json"):
            store.export("in", tmp_path / f"out.{kind}")
    for text in ((tmp_path / "out.csv").read_text(), csv_bytes(source).decode()):
        assert "x\\u202ey" in text and "'=\\u2066z" in text and "c\\u202ed" in text
        assert not any(chr(code) in text for code in TURNING)
    assert not any(chr(code) in (tmp_path / "out.schema.json").read_text() for code in TURNING)


def test_code_to_copy_says_the_same_without_hidden_characters():
    settings = BinSettings(task=ODD)
    assert eval(repr(settings)) == settings
    assert visible(repr(settings)) == repr(settings)
    line = shell_line(("printf", "%s", ODD, "plain"))
    assert visible(line) == line
    found = subprocess.run(["bash", "-c", line], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    assert found.stdout.decode() == ODD + "plain"


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("1 runs did not finish: excluded from sizes", "1 run did not finish: excluded from sizes"),
        ("1 runs that never started: they hold nothing", "1 run that never started: it holds nothing"),
        ("1 runs use more memory than they requested", "1 run uses more memory than it requested"),
        ("1 runs end before they start", "1 run ends before it starts"),
        ("1 rows: no label says whose, so without their end", "1 row: no label says whose, so without its end"),
        ("1 runs still running at the end; they last", "1 run still running at the end; it lasts"),
        ("1 runs have moments in another unit", "1 run has moments in another unit"),
        ("1 rows that repeat an earlier row were dropped", "1 row that repeats an earlier row was dropped"),
        ("1 pods had containers that were restarted", "1 pod had containers that were restarted"),
        ("1 lines of steps were folded into the lines of jobs", "1 line of steps was folded into the lines of jobs"),
        ("1 series have no values", "1 series have no values"),
        ("12 runs end before they start", "12 runs end before they start"),
        ("1,001 runs end before they start", "1,001 runs end before they start"),
    ],
)
def test_a_finding_of_one_thing_is_worded_as_such(text, one):
    assert (of_one(text), of_one(one)) == (one, one)
    assert Check("any", "info", 1, text).message == one

"""An answer on every face: the same numbers, each in its unit, under names that are declared once."""

import csv
import io
import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from workprof.core.answer import Answer, Figure, Table, to_csv, to_frame, to_json, to_markdown, to_text
from workprof.core.table import Column, printed


@dataclass(frozen=True)
class Row:
    task: str
    size_bytes: float
    saved: float
    low: float
    high: float
    runs: int = 0
    cores: float = math.nan
    kept: bool = False


@dataclass(frozen=True)
class Whole:
    saved: float = 0.51
    gb_h: float = 52_680.4
    n_runs: int = 1_469


TASK = Column("task", heading="Task")
SIZE = Column("size_gb", lambda row: row.size_bytes / 1e9, "Size", unit="GB", help="From now on.")
SAVED = Column("saved_share", "saved", "Saving", unit="share", help="Of booked GB·h.", also=("saved_by_time",))
KILLS = Column("kill_low", "low", "Kills of the next runs", unit="share", to=Column("kill_high", "high", unit="share"))
RUNS = Column("runs", heading="Runs", unit="count")
CORES = Column("cores", heading="Cores", optional=True)
KEPT = Column("kept", heading="Kept")
COLUMNS = (TASK, SIZE, SAVED, KILLS, RUNS, CORES, KEPT)
ROWS = (
    Row("align", 4.9e9, 0.314159, 0.001, 0.0094, 12_345),
    Row("sort | *all*\n\x1b[31m", 21.3456e9, -0.1, 0.0, math.nan, 7, kept=True),
)


def answer(rows=ROWS, **changes):
    whole = Whole()
    figures = (Figure(SAVED, whole, "of 52,680 GB·h"), Figure(Column("n_runs", heading="Runs", unit="count"), whole))
    return Answer("Better requests save half.", figures, (Table("rows", "Sizes", COLUMNS, rows),), **changes)


def cells(text):
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def test_json_has_every_name_with_plain_numbers_and_former_names():
    told = json.loads(json.dumps(to_json(answer(notes=("few",))), allow_nan=False))
    assert told["sentence"] == "Better requests save half."
    assert told["saved_share"] == told["saved_by_time"] == 0.51
    assert (told["n_runs"], told["notes"]) == (1469, ["few"])
    first, second = told["rows"]
    assert first["size_gb"] == 4.9
    assert (first["kill_low"], first["kill_high"]) == (0.001, 0.0094)
    assert (second["kill_high"], second["cores"], second["kept"]) == (None, None, True)
    assert first["saved_share"] == first["saved_by_time"] == 0.314159


def test_further_keys_of_a_document_stand_beside_the_answer():
    told = to_json(answer(document={"edges": np.array([1.0, math.nan]), "n_runs": 3}))
    assert (told["edges"], told["n_runs"]) == ([1.0, None], 3)


def test_a_narrow_shell_breaks_no_word_and_names_the_columns_that_find_no_room():
    columns = tuple(Column(f"column_{i}", lambda row, i=i: row[i], f"Column {i}") for i in range(9))
    wide = Answer("Many.", tables=(Table("rows", "", columns, [[f"word{i} and more" for i in range(9)]] * 3),))
    whole, narrow = to_text(wide), to_text(wide, 40)
    assert "no room" not in whole
    assert narrow.endswith("(no room for: Column 5, Column 6, Column 7, Column 8)")
    assert {word for word in narrow.split() if word.startswith("word")} == {f"word{i}" for i in range(5)}
    assert "word0" in to_text(wide, 5)


def test_what_stands_aside_is_in_files_and_documents_only():
    said = Column("took_s", "saved", "Took", said=lambda row: f"{row.saved * 60:.0f} min")
    table = Table("rows", "", (TASK, Column("runs", aside=True), said), ROWS[:1])
    told = Answer("One.", tables=(table,))
    assert to_json(told)["rows"] == [{"task": "align", "runs": 12345, "took_s": 0.314159}]
    assert to_csv(told).decode().splitlines() == ["task,runs,took_s", "align,12345,0.314159"]
    assert to_text(told).splitlines()[2:] == ["Task     Took", "align  19 min"]
    assert table.shown().to_dict("list") == {"task": ["align"], "took_s": ["19 min"]}


def test_a_shell_has_units_in_headings_and_numbers_to_the_right():
    lines = to_text(answer()).splitlines()
    assert lines[0] == "Better requests save half."
    assert ["Saving", "51.0 %", "of 52,680 GB·h"] in cells(to_text(answer()))
    heading = next(line for line in lines if line.startswith("Task"))
    assert "Size (GB)" in heading
    assert "Cores" not in heading
    (first,) = (line for line in lines if line.startswith("align"))
    assert cells(first) == [["align", "4.9", "31.4 %", "0.1 to 0.9 %", "12,345", "no"]]
    assert first.index("4.9") + len("4.9") == heading.index("Size (GB)") + len("Size (GB)")


def test_a_shell_prints_no_control_character_and_every_row_on_one_line():
    text = to_text(answer())
    assert "\x1b" not in text
    assert "sort | *all*\\n\\x1b[31m" in text
    assert len([line for line in text.splitlines() if line.startswith(("align", "sort"))]) == 2
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_narrow_terminal_loses_no_letter():
    rows = (Row("x" * 50 + "end", 1e9, 0.1, 0, 1),)
    narrow = to_text(answer(rows), width=60)
    assert max(map(len, narrow.splitlines())) <= 60
    first_column = "".join(line.split("  ")[0].strip() for line in narrow.splitlines()[4:])
    assert "x" * 50 + "end" in first_column.replace(" ", "")


def test_what_a_shell_leaves_out_is_counted():
    many = answer(tuple(Row(f"t{at}", 1e9, 0, 0, 0) for at in range(35)))
    text = to_text(many)
    assert "t29" in text
    assert "t30" not in text
    assert text.endswith("... and 5 more: --json has them")
    assert len(to_json(many)["rows"]) == len(to_frame(many)) == 35


def test_a_table_without_rows_says_so():
    assert to_text(answer(())).endswith("(none)")
    names = ["task", "size_gb", "saved_share", "kill_low", "kill_high", "runs", "kept"]
    assert list(to_frame(answer(())).columns) == names


def test_an_optional_column_is_shown_where_a_row_has_a_value():
    told = answer((*ROWS, Row("split", 1e9, 0, 0, 0, cores=4.0)))
    assert to_frame(told)["cores"].tolist()[-1] == 4.0
    assert "Cores" in to_text(told)


def test_a_spreadsheet_gets_one_unit_a_column_and_no_formula():
    hostile = (Row("=cmd()", 4.9e9, 0.5, 0.001, 0.009, 3),)
    made = to_csv(answer(hostile), mark=True)
    assert made.startswith(b"\xef\xbb\xbf")
    assert not to_csv(answer(hostile)).startswith(b"\xef\xbb\xbf")
    (line,) = csv.DictReader(io.StringIO(made.decode("utf-8-sig")))
    assert line["task"] == "'=cmd()"
    numbers = {name: float(line[name]) for name in ("size_gb", "saved_share", "kill_low", "kill_high", "runs")}
    assert numbers == {"size_gb": 4.9, "saved_share": 0.5, "kill_low": 0.001, "kill_high": 0.009, "runs": 3.0}
    read = pd.read_csv(io.BytesIO(made))
    pd.testing.assert_frame_equal(read.drop(columns="task"), to_frame(answer(hostile)).drop(columns="task"))


@pytest.mark.parametrize("empty", [None, math.nan])
def test_a_count_stays_whole_beside_an_empty_cell(empty):
    rows = (Row("a", 0, 0, 0, 0, 200), Row("b", 0, 0, 0, 0, empty, 2.0))
    told = Answer("", tables=(Table("rows", "", (Column("n", "runs"), Column("cores")), rows),))
    assert to_csv(told).decode().splitlines() == ["n,cores", "200,", ",2.0"]
    assert pd.api.types.is_integer_dtype(to_frame(told)["n"])


def test_markdown_shows_every_text_as_it_is():
    text = to_markdown(answer(notes=("*few* runs",)))
    assert text.startswith("**Better requests save half\\.**")
    assert "| Task | Size \\(GB\\) | Saving | Kills of the next runs | Runs | Kept |" in text
    assert "| --- | --: | --: | --- | --: | --- |" in text
    assert "sort \\| \\*all\\*" in text
    assert "\\*few\\* runs" in text


def test_a_page_shows_an_interval_in_one_column_and_numbers_as_numbers():
    shown = answer().table().shown()
    assert list(shown.columns) == ["task", "size_gb", "saved_share", "kill_low", "runs", "kept"]
    assert shown["kill_low"].tolist() == ["0.1 to 0.9 %", "at least 0.0 %"]
    assert shown["size_gb"].tolist() == [4.9, 21.3456]


def test_several_numbers_are_a_list_in_json_and_one_text_elsewhere():
    retry = Column("next_gb", lambda row: [size / 1e9 for size in row], "After a kill", unit="GB")
    former = Column("n_sizes", len, shown=False)
    told = Answer("x", tables=(Table("rows", "", (retry, former), [(4e9, 8.5e9)]),))
    assert to_json(told)["rows"] == [{"next_gb": [4.0, 8.5], "n_sizes": 2}]
    assert to_frame(told).to_dict("records") == [{"next_gb": "4, 8.5"}]
    assert to_text(told).splitlines()[2:] == ["After a kill (GB)", "4, 8.5"]


def test_an_answer_has_at_most_four_figures():
    with pytest.raises(ValueError, match="5 figures"):
        Answer("x", tuple(Figure(SAVED, Whole()) for _ in range(5)))


def test_a_figure_says_that_there_is_no_data():
    assert Figure(SAVED, Whole(saved=math.nan)).value == "no data"
    assert Figure(Column("gb_h", heading="Saved", unit="GB·h"), Whole()).value == "52.7 k GB·h"
    assert Figure(SIZE, ROWS[0]).meaning == "From now on."
    assert Figure(SIZE, ROWS[0], help="Of align.").meaning == "Of align."


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (8724.4, "%,.3g", "8,724"),
        (12.34, "%.3g GB", "12.3 GB"),
        (0.30001, "%,.3g", "0.3"),
        (0.0, "%.3g", "0"),
        (999.96, "%,.4g", "1,000"),
        (0.000012345, "%.3g", "1.23e-05"),
        (-0.98765, "%.2g", "-0.99"),
        (1234.56, "%,.1f", "1,234.6"),
        (5.0, "%.0f %%", "5 %"),
        (math.nan, "%.1f", "no data"),
    ],
)
def test_numbers_are_printed_as_their_form_says(value, form, text):
    assert printed(value, form) == text

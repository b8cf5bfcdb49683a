"""Delimited texts as programs of other countries and decades write them: recognised, or refused; never read wrongly."""

import gzip

import pandas as pd
import pytest

from workprof.core.errors import SettingsError, TraceError
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

HEADER = ["job_name", "duration_s", "requested_memory_bytes", "user"]
ROWS = [
    ["align 1", "12.5", "1500000.25", "anna"],
    ["sort, all", "0.25", "2000000", "bea"],
    ["call", "3", "7.5", "carl"],
]
EXPECTED = [["align 1", 12.5, 1500000.25, "anna"], ["sort, all", 0.25, 2e6, "bea"], ["call", 3, 7.5, "carl"]]


def text(delimiter=",", decimal=".", end="\n", quoted=False, above="", rows=ROWS):
    def cell(value, number):
        value = value.replace(".", decimal) if number else value
        return f'"{value}"' if quoted or delimiter in value else value

    lines = [delimiter.join(f'"{name}"' if quoted else name for name in HEADER)]
    lines += [delimiter.join(cell(value, 0 < at < 3) for at, value in enumerate(row)) for row in rows]
    return above + end.join(lines) + end


WRITTEN = {
    "tab": text("\t"),
    "bar": text("|"),
    "semicolon": text(";"),
    "semicolon and decimal comma": text(";", ","),
    "tab and decimal comma": text("\t", ","),
    "bar, decimal comma, all quoted": text("|", ",", quoted=True),
    "comma, decimal comma, all quoted": text(",", ",", quoted=True),
    "all quoted": text(quoted=True),
    "windows": text(end="\r\n"),
    "byte order mark": "\ufeff" + text(";", ","),
    "sep": text(";", ",", above="sep=;\r\n"),
    "sep with a mark": "\ufeff" + text("|", above='"sep=|"\n'),
    "sep of a tab": text("\t", above="SEP=\t\n"),
    "comments": text(above="# made by a script\n# on Monday, May 1, 2024\n#\n"),
    "a title": text(";", ",", above="Jobs of May, 2024\n\n"),
    "a title of a spreadsheet": text(";", ",", above="Jobs of May;;;\r\n;;;\r\n", end="\r\n"),
    "several titles": text("\t", above="Cluster report\nMade by the cluster team\n\n"),
    "a header that is a comment": "#" + text(),
    "comments, and a header that is one": "# made by a script\n# " + text("\t"),
}
ENCODED = {name: content.encode() for name, content in WRITTEN.items()} | {
    "Unicode text of Excel": ("\ufeff" + text("\t", ",", end="\r\n")).encode("utf-16-le"),
    "UTF-16, big end first": ("\ufeff" + text(";")).encode("utf-16-be"),
    "UTF-16 in gzip": gzip.compress(text("\t").encode("utf-16")),
}


@pytest.mark.some(7)
@pytest.mark.parametrize("name", ENCODED)
def test_every_way_to_write_a_table_gives_the_same_rows(store, write, name):
    path = write("jobs.txt", ENCODED[name])
    assert store.detect([path]) == "generic"
    assert store.suggest(path, IngestOptions()).columns == tuple(HEADER)
    report = store.ingest([path], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (3, 3, 0)
    assert store.frame("jobs", HEADER).iloc[:, 1:].to_numpy().tolist() == EXPECTED
    told = {check.name: check for check in report.checks}
    assert ("decimal comma" in told) == ("0,25" in WRITTEN.get(name, text(decimal=",") if "Excel" in name else ""))
    above = name.startswith(("sep", "comments", "a title", "several"))
    assert ("titles" in told) == above


def test_headings_that_are_wrapped_in_their_cells_are_names(store, write):
    text = '"Job\nname","Elapsed\n(hh:mm:ss)","Memory\nrequested\n(GB)"\n' + "".join(
        f"j{at},01:00:0{at},8\n" for at in range(5)
    )
    report = store.ingest([write("wrapped.csv", text)], IngestOptions())
    assert (report.rows, report.rejected, report.lost) == (5, 0, 0)
    frame = store.frame("wrapped", ["duration_s", "requested_memory_bytes"])
    assert frame.iloc[:, 1:].to_numpy().tolist() == [[3600 + at, 8e9] for at in range(5)]


def test_what_was_passed_over_is_shown_and_rejects_keep_their_lines(store, write):
    content = text(above="# one\n\n# two\n") + "bad,soon,1,dora\nfew\n\nlast,1h 3m,2 GB,emil\n"
    report = store.ingest([write("jobs.csv", content)], IngestOptions())
    assert (report.rows, report.rejected) == (4, 2)
    found = store.rejects("jobs")
    assert set(zip(found["line"], found["text"], strict=True)) == {(8, "soon"), (9, "few")}
    (told,) = (check for check in report.checks if check.name == "titles")
    assert told.message == "3 lines above the header were passed over: # one; # two"


def test_the_decimal_comma_shows_its_evidence_and_can_be_refused(store, write):
    path = write("jobs.csv", text(";", ","))
    (told,) = (check for check in store.ingest([path], IngestOptions()).checks if check.name == "decimal comma")
    assert (told.count, told.level) == (2, "info")
    assert "(duration_s: '12,5')" in told.message
    with pytest.raises(TraceError, match=r"2 of 3 values of column requested_memory_bytes .* decimal sign"):
        store.ingest([path], IngestOptions(decimal="."))


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (["1,5", "2,25", "1.234"], [1.5, 2.25]),  # one, or a thousand
        (["1,5", "1.234,56", "2,5"], [1.5, 1234.56, 2.5]),
        (["1,5", "1.234.567", "2,5"], [1.5, 1234567.0, 2.5]),
        (["1,234", "5,678", "9"], [9.0]),  # nothing tells whether those are thousands
        (["1.5", "1,234.5", "2.5"], [1.5, 1234.5, 2.5]),
        (["1.234,5", "12.345,6", "7"], [1234.5, 12345.6, 7.0]),
        (["400", "1,300", "950"], [400.0, 1300.0, 950.0]),  # as decimals '400' and '1,3'
        (["4000", "1,300", "950"], [4000.0, 950.0]),
        (["400", "1,234", "950"], [400.0, 950.0]),
        (["4,194,304", "1,024", "0,512", "3,5", "7"], [7.0]),
        (["4,194,304", "1,024", "12"], [4194304.0, 1024.0, 12.0]),
        (["4.194.304", "1.024", "12"], [4194304.0, 1024.0, 12.0]),
        (["4'194'304", "1'024.5", "12"], [4194304.0, 1024.5, 12.0]),
        (["4\u202f194\u202f304", "1 024", "12"], [4194304.0, 1024.0, 12.0]),
        (["4,194,304", "41,94,304", "12"], [12.0]),
    ],
)
def test_thousands_are_read_where_that_is_certain_and_never_as_another_number(store, write, values, kept):
    content = "job_name;duration_s\n" + "".join(f"j{at};{value}\n" for at, value in enumerate(values))
    report = store.ingest([write("jobs.csv", content)], IngestOptions())
    assert store.frame("jobs", ["duration_s"])["duration_s"].tolist() == kept
    assert report.rejected == len(values) - len(kept)


def test_what_one_column_tells_of_thousands_holds_for_its_file(store, write):
    header = "job_name;duration_s;requested_memory_bytes;peak_memory_bytes\n"
    rows = "".join(f"j{at};1.50{at};8.589.934.592;4.194.30{at} kB\n" for at in range(4))
    report = store.ingest([write("jobs.csv", header + rows)], IngestOptions())
    frame = store.frame("jobs", ["duration_s", "requested_memory_bytes", "peak_memory_bytes"])
    assert frame["duration_s"].tolist() == [1500.0, 1501.0, 1502.0, 1503.0]
    assert (frame["requested_memory_bytes"] == 2**33).all() and frame["peak_memory_bytes"][0] == 4194300 * 1024
    (told,) = (check for check in report.checks if check.name == "thousands separators")
    assert (told.count, report.rejected) == (3, 0) and "'8.589.934.592'" in told.message


@pytest.mark.parametrize("mapped", ["1,5 GB", "0,5 h", "50,5 %"])
def test_units_go_with_a_decimal_comma(store, write, mapped):
    field = {"B": "requested_memory_bytes", "h": "time_limit_s", "%": "cpu_usage_percent"}[mapped[-1]]
    path = write("jobs.csv", f"job_name;duration_s;{field}\na;1;{mapped}\nb;2;{mapped}\n")
    assert store.ingest([path], IngestOptions()).rejected == 0
    expected = {"B": 1.5 * 2**30, "h": 1800, "%": 50.5}[mapped[-1]]
    assert store.frame("jobs", [field])[field].tolist() == [expected] * 2


TABLES = {
    "lists of devices": ('job_name,duration_s,label\na,1.5,"0,1"\nb,2.5,"2,3"\n', ["0,1", "2,3"]),
    "versions": ("job_name;duration_s;label\na;1,5;3.11\nb;2,5;3.9\n", ["3.11", "3.9"]),
    "dates": ("job_name;duration_s;label\na;1,5;01.05.2024\nb;2,5;02.05.2024\n", ["01.05.2024", "02.05.2024"]),
    "a column called #": ("#,job_name,duration_s,label\n1,a,1.5,x\n2,b,2.5,y\n", ["x", "y"]),
    "a first row with gaps": ("job_name,duration_s,a,b,label\na,1.5,,,x\nb,2.5,1,1,y\n", ["x", "y"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_other_peoples_tables_stay_what_they_are(store, write, name):
    content, kept = TABLES[name]
    report = store.ingest([write("jobs.csv", content)], IngestOptions())
    assert (report.rows, report.rejected) == (2, 0)
    frame = store.frame("jobs", ["duration_s", "label"])
    assert frame["duration_s"].tolist() == [1.5, 2.5]
    assert frame["label"].tolist() == kept
    assert not [check for check in report.checks if check.name == "titles"]


def test_a_text_of_words_is_no_table(store, write):
    with pytest.raises(TraceError):
        store.ingest([write("notes.txt", "Dear all,\nthis is no table,\nreally, not at all\n")], IngestOptions())


def test_latin_1_is_still_asked_for(store, write):
    path = write("jobs.csv", "job_name;duration_s\nmünchen;1,5\n".encode("latin-1"))
    with pytest.raises(TraceError, match="set its encoding to latin-1"):
        store.ingest([path], IngestOptions())
    assert store.ingest([path], IngestOptions(encoding="latin-1")).rows == 1
    assert store.frame("jobs", ["duration_s"])["duration_s"].tolist() == [1.5]


@pytest.mark.parametrize("option", ["delimiter", "encoding", "decimal", "sheet"])
def test_an_option_of_another_kind_of_file_is_refused(store, tmp_path, option):
    frame = pd.DataFrame({"job_name": ["a", "b"], "duration_s": [1, 2]})
    writers = {"csv": frame.to_csv, "json": frame.to_json, "parquet": frame.to_parquet, "xlsx": frame.to_excel}
    used = {"csv": ("delimiter", "encoding", "decimal"), "json": ("encoding", "decimal"), "xlsx": ("decimal", "sheet")}
    for kind, writer in writers.items():
        path = tmp_path / f"jobs.{kind}"
        writer(path, **({"orient": "records"} if kind == "json" else {"index": False}))
        given = {"delimiter": ",", "encoding": "utf-8", "decimal": ".", "sheet": "Sheet1"}[option]
        options = IngestOptions(**{option: given})
        if option in used.get(kind, ()):
            assert store.detect([path], options) == store.ingest([path], options).format == "generic"
        else:
            with pytest.raises(SettingsError, match=f"--{option} says nothing of jobs.{kind}"):
                store.ingest([path], options)

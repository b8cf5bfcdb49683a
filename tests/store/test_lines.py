"""No line of a text is unaccounted for: header + rows + rejects + blank + line ends within quotes + lost = lines."""

import gzip
import random
import re

import pyarrow as pa
import pytest

from workprof.core.errors import TraceError, WorkprofError
from workprof.core.settings import Settings
from workprof.core.units import GIB, MIB
from workprof.store.accounts import BLANK, DOUBTFUL_BREAKS, LOST, PLAIN_QUOTES, QUOTED_BREAKS
from workprof.store.lines import CHUNK_BYTES, MOST_CELL_LINES, count_lines, filled_lines, lines_of_plain_quotes
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

HEADER = "job_name,duration_s,note"
ACCEPTED = IngestOptions(format="generic", accept_loss=True)
GENERIC = IngestOptions(format="generic")
MARK = re.compile(r"m\d+m")
TOKENS = ('"', '"', '""', '","', ',"', '",', '"\n', '\n"', ",", "\n", "\n\n", '"x', ' "', "\r\n")


def physical(text):
    """Return the lines of a text, the last one also where no line end follows it."""
    return text.count("\n") + (not text.endswith("\n"))


def counts(report):
    return {check.name: check.count for check in report.checks}


def accounted(report):
    found = counts(report)
    apart = sum(found.get(name, 0) for name in (BLANK, QUOTED_BREAKS, "titles"))
    return 1 + report.rows + report.rejected + apart + report.lost


def csv(rows, at=None):
    """Return a text of `rows` lines, header and all; `at` replaces some by their number."""
    return "".join(f"{(at or {}).get(i, f'j{i},{i},n{i}' if i > 1 else HEADER)}\n" for i in range(1, rows + 1))


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "at",
    [{500: '"j500,500,n'}, {39: 'j,5,"x'}, {100: '"j,1,x', 700: '"k,3,y'}, {1000: '"'}, {3: '"j,3,x', 700: 'j,1,5"x'}],
)
def test_where_no_cell_is_quoted_a_broken_quote_is_a_character(store, write, at):
    text = csv(1000, at)
    report = store.ingest([write("open.csv", text)], GENERIC)
    assert accounted(report) == physical(text) == 1000
    assert (report.rows + report.rejected, report.lost) == (999, 0)
    first = at[min(at)].split(",")
    if len(first) == 3:
        assert counts(report)[PLAIN_QUOTES] == len(at)
        assert store.preview("open", 1, min(at) - 2)["job_name"].tolist() == [first[0]]


@pytest.mark.soak
@pytest.mark.slow
def test_a_broken_quote_in_a_long_file_takes_nothing_with_it(store, write):
    for name, at in {"one": {39_000: 'j,5,"x'}, "two": {39_000: '"j,5,x', 220_000: '"k,3,y'}}.items():
        report = store.ingest([write(f"{name}.csv", csv(300_000, at))], GENERIC)
        assert (report.rows, report.rejected, report.lost) == (299_999, 0, 0)


@pytest.mark.parametrize(
    ("at", "line", "reason"),
    [
        ({500: '"j,5,x'}, 500, "goes on for more than 100 lines"),
        ({970: '"j,5,x'}, 970, "is never closed"),
        ({500: 'j,"5,x', 503: 'k",5,x'}, 500, "not as many cells as the header"),
        ({500: 'j,5,"x', 503: 'k"y,5,x'}, 500, "neither a separator nor a line end follows"),
        ({500: 'j,5,"' + "z\n" * 100 + '"'}, 500, "goes on for more than 100 lines"),
    ],
)
def test_where_cells_are_quoted_a_broken_quote_is_refused_by_line_or_its_loss_counted(store, write, at, line, reason):
    text = csv(1000, {20: 'j,1,"a, b"', 30: 'j,1,"a\n\nb"', 40: "", **at})
    path = write("open.csv", text)
    shifted = line + 2  # the cell of line 30 goes over three
    with pytest.raises(TraceError, match=rf"open\.csv: the quote that opens in line {shifted} .*{reason}.*accept-loss"):
        store.ingest([path], GENERIC)
    assert store.datasets() == ()
    report = store.ingest([path], ACCEPTED)
    assert report.lost > 0
    assert counts(report)[LOST] == report.lost == store.report("open").lost
    assert accounted(report) == physical(text)
    with pytest.raises(TraceError, match="already, with"):
        store.ingest([path], GENERIC)
    assert store.ingest([path], ACCEPTED).already_loaded


def test_sound_quotes_are_read_as_such(store, write):
    cell = "\n".join("x" * at for at in range(MOST_CELL_LINES))
    text = "\n\n" + csv(
        50, {1: 'job_name,duration_s,"no\nte"', 9: f'"j ""9""",9,"{cell}"', 20: 'j, 2 , "a,\nb" ', 30: ""}
    )
    for at, (name, content) in enumerate(
        {
            "lf.csv": text.encode(),
            "crlf.csv": text.replace("\n", "\r\n").encode(),
            "open_end.csv": text.removesuffix("\n").encode(),
            "bom.csv": b"\xef\xbb\xbf" + text.encode(),
            "packed.csv.gz": gzip.compress(text.replace("n2", "p2").encode(), mtime=0),
            "packed.csv.zst": pa.compress(text.replace("n2", "q2").encode(), codec="zstd", asbytes=True),
            "carriage.csv": text.replace("j5,5,n5", 'j5,5,"n\r5"').encode(),
        }.items()
    ):
        report = store.ingest([write(name, content)], IngestOptions(format="generic", name=f"d{at}"))
        assert (report.rows, report.rejected, report.lost) == (48, 0, 0), name
        assert counts(report)[QUOTED_BREAKS] == MOST_CELL_LINES - 1 + 1 + 1
        assert counts(report)[BLANK] == 3
        assert accounted(report) == physical(text)
    note = next(column.name for column in store.columns("d0") if column.name.startswith("no"))
    lines = store.preview("d0")[note][7]
    assert lines == cell


def test_another_encoding_and_long_lines_are_counted_with_the_rest(store, write):
    text = csv(400, {7: "j,1," + "y" * MIB, 9: 'j,1,"ä\nb"', 300: '"ö,1,x', 350: 'p,2,"q"'})
    with pytest.raises(TraceError, match="opens in line 301 "):
        store.ingest([write("l.csv", text.encode("latin-1"))], IngestOptions(format="generic", encoding="latin-1"))
    sound = text.replace('"ö', "ö")
    report = store.ingest([write("u.csv", sound.encode("utf-16"))], IngestOptions(format="generic", encoding="utf-16"))
    assert (report.rows, report.rejected, report.lost) == (398, 1, 0)
    assert accounted(report) == physical(sound)


def test_rows_that_repeat_are_counted(store, write):
    text = csv(40, {9: "j8,8,n8", 12: 'j,1,"a\nb"', 13: 'j,1,"a\nb"'})
    report = store.ingest([write("r.csv", text)], IngestOptions(format="generic", duplicates="drop"))
    assert counts(report)["duplicates"] == 2
    assert accounted(report) + 2 == physical(text)


def test_quotes_that_pair_up_by_accident_are_told(store, write):
    report = store.ingest([write("p.csv", csv(100, {20: 'j,1,"a', 25: 'j,1,b"'}))], GENERIC)
    assert (report.rows, counts(report)[QUOTED_BREAKS], counts(report)[DOUBTFUL_BREAKS]) == (94, 5, 5)
    told = next(check for check in report.checks if check.name == DOUBTFUL_BREAKS)
    assert (told.level, "after line 20" in told.message) == ("warning", True)
    far = store.ingest([write("f.csv", csv(100, {20: 'j,"5', 80: 'k,1",b', 99: 'q,1,"r"'}))], GENERIC)
    assert counts(far)[DOUBTFUL_BREAKS] == counts(far)[QUOTED_BREAKS] == 60
    honest = store.ingest([write("h.csv", csv(100, {20: 'j,1,"a\nb"'}))], GENERIC)
    assert DOUBTFUL_BREAKS not in counts(honest)


def test_a_header_that_takes_rows_in_is_refused(store, write):
    """Its text would be the name of a column, and the rows in it in no cell."""
    for name, header, end in (("q", HEADER[:-4] + '"note', 'j,1,b"'), ("r", ' "' + HEADER, 'j",1,b')):
        path = write(f"{name}.csv", csv(9, {1: header, 3: end, 8: 'j,1,"a, b"'}))
        with pytest.raises(
            TraceError, match="opens in line 1 takes lines of as many cells as the header into the header"
        ):
            store.ingest([path], GENERIC)


def test_a_quote_in_the_header_names_its_line(store, write):
    with pytest.raises(TraceError, match="opens in line 1 "):
        store.ingest([write("h.csv", csv(300, {1: 'job_name,duration_s,"note', 9: '"a, b",1,x'}))], GENERIC)
    with pytest.raises(WorkprofError, match='Columns found: job_name, "duration_s'):
        store.ingest([write("i.csv", csv(300, {1: 'job_name,"duration_s,note'}))], GENERIC)


def test_a_quote_in_the_last_line_is_one_reject(store, write):
    for name, end in (("a", "\n"), ("b", "")):
        report = store.ingest([write(f"{name}.csv", csv(50, {9: '"a, b",1,x'}) + 'j,1,"z' + end)], GENERIC)
        assert (report.rows, report.rejected, report.lost) == (49, 1, 0)


@pytest.mark.parametrize("quoted", ['"{}"', 'x, "y"" {}\nz\r" '])
def test_pieces_of_any_size_are_counted_as_one(tmp_path, quoted):
    cell = quoted.format("w" * 100)
    rows = [
        "a,b,c,d" if "," in quoted else "a,b,c",
        *(f"{at},é,{cell if at % 3 else ',' * cell.count(', ')}" for at in range(3 * CHUNK_BYTES // len(cell))),
    ]
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(rows).encode())
    found = count_lines(path, ",")
    assert (found.rows, found.fault, found.blank) == (len(rows), "", 0)
    assert found.physical == physical(path.read_bytes().decode()) == len(rows) + found.quoted_breaks
    assert lines_of_plain_quotes(path, ",") == 0


def base(rng):
    """Return a good file of few or many quotes, and how it is written."""
    many, lines = rng.random() < 0.6, []
    for at in range(rng.choice((3, 30, 150, 260))):
        note = rng.choice(("", "x", "5 inch", '"a, b"', '"say ""a"""', '"two\nlines"', '"\n\n"')) if many else "x"
        lines.append(f"m{at}m,{at},{note}")
        if rng.random() < 0.02:
            lines.append("")
    text = "\n".join([HEADER, *lines]) + rng.choice(("\n", ""))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 6))):
        place = rng.randrange(len(text)) if rng.random() < 0.9 else rng.randrange(12)
        text = text[:place] + rng.choice(TOKENS) + text[place:]
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if rng.random() < 0.3 else text


def found_marks(store, report):
    """Return the marks that are in a cell of the table, and in the text of a reject."""
    cells = store.preview(report.hash, report.rows).to_numpy().ravel()
    texts = store.rejects(report.hash)["text"]
    return tuple(set(MARK.findall("\n".join(map(str, one)))) for one in (cells, texts))


def every_line_is_accounted_for(store, folder, cases):
    """Put quotes, separators and line ends into good files; the marks of their lines tell what was lost."""
    outcomes = {"whole": 0, "refused": 0, "lost": 0}
    for seed in range(cases):
        text = base(random.Random(seed))
        path = folder / f"case{seed}.csv"
        path.write_bytes(text.encode())
        for options in (GENERIC, ACCEPTED):
            try:
                report = store.ingest([path], options)
            except WorkprofError as error:
                assert len(str(error)) > 20, seed
                outcomes["refused"] += 1
                continue
            assert (seed, accounted(report)) == (seed, physical(text)), report
            assert report.lost == 0 or options.accept_loss, seed
            in_rows, in_rejects = found_marks(store, report)
            missing = set(MARK.findall(text)) - in_rows - in_rejects
            untold = report.rejected + (counts(report).get(QUOTED_BREAKS, 0) if report.rejected else 0)
            assert len(missing) <= report.lost + untold, seed  # a reject of one bad value tells 500 characters of that
            outcomes["lost" if report.lost else "whole"] += 1
            if report.already_loaded or options.accept_loss:
                store.remove(report.hash)
        path.unlink()
    assert min(outcomes.values()) > cases // 50, outcomes


@pytest.fixture(scope="module")
def one_store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    with TraceStore(Settings(home=folder / "home", data=folder, memory_limit_bytes=GIB)) as opened:
        yield opened


@pytest.mark.soak
@pytest.mark.slow
def test_every_line_is_accounted_for_in_20_files(one_store, tmp_path):
    every_line_is_accounted_for(one_store, tmp_path, 20)


@pytest.mark.soak
def test_every_line_is_accounted_for_in_1000_files(one_store, tmp_path):
    every_line_is_accounted_for(one_store, tmp_path, 1000)


@pytest.mark.parametrize("any_end", [False, True])
def test_a_line_that_is_longer_than_a_piece_counts_once(tmp_path, any_end):
    path = tmp_path / "long.txt"
    path.write_bytes(b"a\n" + b"x" * 3_000_000 + b"\n  \n" + b"b")
    assert filled_lines(path, any_end=any_end) == 3
    path.write_bytes(b"\r".join([b"y" * 700_000] * 4))
    assert filled_lines(path, any_end=True) == 4

"""Dumps of sacct without a heading: read as with one where their cells tell every column, else refused in words."""

import random
import re

import pandas as pd
import pytest

from tests.command_line import run_here
from tests.docs.commands import ROOT
from tests.formats.slurm_files import FIELDS, month, printed
from workprof.core.errors import TraceError
from workprof.formats.slurm_bare import (
    DEFAULT,
    DELIMITERS,
    DOUBTFUL,
    FULL,
    PROPOSED,
    USUAL,
    is_sacct,
    names_of,
    rows_of,
)
from workprof.store.reports import IngestOptions

MONTH = month(60)
SURE = ("JobID", "JobName", "State", "Start", "End", "Elapsed", "ReqMem", "AllocTRES", "ReqTRES", "ExitCode")


def without_heading(fields, delimiter="|", *, trailing=False, lines=MONTH):
    return printed(lines, fields, delimiter, trailing=trailing).partition("\n")[2]


def runs_of(store, report):
    names = [column.name for column in store.columns(report.dataset)]
    return store.frame(report.dataset, names, finished_only=False)


@pytest.mark.some(2)
@pytest.mark.slow
@pytest.mark.parametrize("fields", [*PROPOSED, SURE], ids=["usual", "full", "sure"])
@pytest.mark.parametrize(("delimiter", "trailing"), [("|", False), ("|", True), (";", False)])
def test_it_is_read_as_with_its_heading(store, write, fields, delimiter, trailing):
    bare = store.ingest([write("bare.txt", without_heading(fields, delimiter, trailing=trailing))], IngestOptions())
    headed = store.ingest([write("headed.txt", printed(MONTH, fields))], IngestOptions())
    assert (bare.format, bare.rows, bare.rejected) == ("slurm-print", headed.rows, 0)
    (told,) = [check for check in bare.checks if check.name == "no heading"]
    assert (told.count, told.level) == (len(fields), "warning") and "|".join(fields) in told.message
    found, wanted = runs_of(store, bare), runs_of(store, headed)
    same = [name for name in wanted if wanted[name].notna().any()]
    pd.testing.assert_frame_equal(found[same], wanted[same], check_dtype=False, check_categorical=False)


@pytest.mark.some(25)
@pytest.mark.parametrize("seed", range(200))
def test_no_column_is_ever_taken_for_another(seed):
    """Any columns in any order, of new and old versions: a column has its name or none."""
    draw = random.Random(seed)
    lines = month(draw.choice([2, 5, 30]), seed, old=draw.random() < 0.4)
    if draw.random() < 0.2:
        lines = [line for line in lines if "." not in line["JobID"]]
    fields = ["JobID", *draw.sample([name for name in FIELDS if name != "JobID"], draw.randrange(1, len(FIELDS) - 1))]
    names = names_of(rows_of(without_heading(fields, lines=lines).splitlines(), "|"))
    assert len(names) in (0, len(fields), len(fields) - 1)  # a last column that is empty everywhere is not seen
    assert all(name in (DOUBTFUL, field) for name, field in zip(names, fields, strict=False)), (names, fields)
    assert not names or names[0] == "JobID"


@pytest.mark.parametrize("fields", PROPOSED, ids=["usual", "full"])
def test_a_list_like_a_proposed_one_is_no_proposed_one(fields):
    for name, other in (("User", "Account"), ("NTasks", "AllocCPUS"), ("Start", "Submit"), ("ReqMem", "MaxRSS")):
        given = tuple(other if field == name else field for field in fields)
        rows = rows_of(without_heading(given).splitlines(), "|")
        assert names_of(rows) != fields, name
    swapped = tuple({"MaxRSS": "AveRSS", "AveRSS": "MaxRSS"}.get(field, field) for field in fields)
    assert names_of(rows_of(without_heading(swapped).splitlines(), "|")) != fields


@pytest.mark.parametrize("fields", PROPOSED, ids=["usual", "full"])
@pytest.mark.parametrize("lines", [MONTH, [line for line in MONTH if line.get("NTasks", "1") == "1"]])
def test_virtual_memory_is_not_taken_for_resident(fields, lines):
    given = ["AveVMSize" if field == "MaxRSS" else field for field in fields]
    assert names_of(rows_of(without_heading(given, lines=lines).splitlines(), "|"))[:1] == ("JobID",)
    assert "MaxRSS" not in names_of(rows_of(without_heading(given, lines=lines).splitlines(), "|"))


def test_without_what_tells_the_resident_memory_its_column_is_doubtful():
    lines = [line | {"TRESUsageInTot": ""} for line in MONTH]
    assert "MaxRSS" not in names_of(rows_of(without_heading(PROPOSED[0], lines=lines).splitlines(), "|"))
    lines = [line | {"TRESUsageInTot": "", "MaxRSS": "", "AveRSS": ""} for line in MONTH]
    assert names_of(rows_of(without_heading(PROPOSED[0], lines=lines).splitlines(), "|")) == PROPOSED[0]


def test_what_is_doubtful_is_refused_with_the_line_that_names_it(store, write):
    fields = ("JobID", "JobName", "User", "State", "Start", "End", "Elapsed", "ReqMem", "MaxRSS")
    with pytest.raises(TraceError, match="without a heading") as refused:
        store.ingest([write("b a.txt", without_heading(fields))], IngestOptions())
    (heading,) = re.findall(r"`sed '1i ([^']+)' 'b a.txt' > named.txt`", str(refused.value))
    assert heading == "JobID|JobName|?|State|Start|End|Elapsed|ReqMem|?"
    assert "noheader" in str(refused.value)


def test_the_names_are_shown_before_it_is_loaded(tmp_path):
    path = tmp_path / "bare.txt"
    path.write_text(without_heading(SURE))
    looked = run_here("ingest", path, "--look", home=tmp_path / "home")
    assert looked.status == 2 and "|".join(SURE) in "".join(looked.err.split())


@pytest.mark.slow
@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_the_default_columns_have_no_times(store, write, delimiter):
    text = without_heading(
        DEFAULT, delimiter, lines=[line | {"JobName": line["JobName"].replace(",", "")} for line in MONTH]
    )
    with pytest.raises(TraceError, match="do not say how long a job ran"):
        store.ingest([write("bare.txt", text)], IngestOptions())


def test_the_screen_without_a_heading_is_refused(store, write):
    with pytest.raises(TraceError, match=r"output of sacct without a heading.*noheader"):
        store.ingest([write("bare.txt", without_heading(("JobID", "State", "Elapsed"), "   "))], IngestOptions())


def test_tables_of_others_are_none():
    for row in (["a", "1", "COMPLETED"], ["7", "done"], ["4471"], ["1.5", "COMPLETE"]):
        assert not is_sacct([row])
    assert names_of([["1", "COMPLETED"], ["2", "FAILED", "x"]]) == ()


def test_the_lists_are_those_of_the_documents():
    page = (ROOT / "docs" / "formats" / "slurm.md").read_text()
    assert f"--format={FULL} >" in page
    assert USUAL.count(",") == 17

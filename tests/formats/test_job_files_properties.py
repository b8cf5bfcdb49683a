"""New jobs, Lotaru's reports, mappings and edges: taken as they are written, or refused with the file and the place."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from pages._memory.bins import _read as read_edges
from tests.mutations import mutated, mutated_bytes
from workprof.cli.datasets import read_mapping
from workprof.cli.forecasts import _pair
from workprof.core.errors import ColumnMissing, SettingsError, TraceError, WorkprofError
from workprof.core.units import GB, GIB
from workprof.formats.lotaru import read_reports, read_scores
from workprof.formats.new_jobs import NULLS, FieldNames, named_jobs, read_new_jobs
from workprof.formats.pai_sample import PAI_RULES

pytestmark = pytest.mark.slow

FIELDS = ("job_name", "task_name", "requested_cpu_percent", "requested_memory_bytes")
JOBS = "job_name,task_name,plan_cpu,plan_mem,note\n" + "".join(f"j{at},ps,{100 * at},{at}.5,n\n" for at in range(6))
REPORT = (
    "Label,Machine,Workflow,NumberSequences,Task,Realtime,%cpu,TaskInputSizeUncompressed\n"
    "train-1,box,eager,100,fastqc,1500,95.5,2048\ntest,box,eager,200,fastqc,2500,-,4096\n"
    "train-2,box,eager,300,trim,3500,95.5,8192\n"
)
SCORES = "machine,cpu,linpack,memory,io\nbox,1,2.5,3,4\nn1,1,,3,4\n"
MAPPING = '{"duration_s": {"from": "runtime", "unit": "ms"}, "job_name": {"from": "id"}}'
CELLS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Zs"), exclude_characters='",'), max_size=8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("jobs")


def jobs_of(path):
    return named_jobs(pd.concat(list(read_new_jobs(path))), FieldNames.of(FIELDS, PAI_RULES))


@settings(max_examples=100)
@given(st.one_of(mutated(JOBS), st.text(max_size=100)))
def test_new_jobs_are_finite_or_refused(folder, text):
    path = folder / "new.csv"
    path.write_bytes(text.encode("utf-8", "ignore"))
    try:
        found = jobs_of(path)
    except WorkprofError as error:
        assert any(part in str(error) for part in ("new.csv", "row", "none of the columns"))
        return
    assert set(found.jobs.columns) <= set(FIELDS)
    assert not np.isinf(found.jobs.select_dtypes("number").to_numpy()).any()


@settings(max_examples=60)
@given(st.lists(st.tuples(CELLS, CELLS, st.floats(0, 4e5), st.none() | st.floats(0, 6e4)), min_size=1, max_size=6))
def test_new_jobs_are_what_was_written(folder, jobs):
    path = folder / "written.csv"
    lines = [f'"{name}","{task}",{cpu!r},{"" if memory is None else repr(memory)}' for name, task, cpu, memory in jobs]
    path.write_text("job_name,task_name,plan_cpu,plan_mem\n" + "\n".join(lines) + "\n", encoding="utf-8")
    found = jobs_of(path).jobs
    for place, column in ((0, "job_name"), (1, "task_name")):
        wanted = [None if job[place] in NULLS else job[place] for job in jobs]
        assert [None if pd.isna(text) else text for text in found[column]] == wanted
    np.testing.assert_array_equal(found["requested_cpu_percent"], [job[2] for job in jobs])
    memory = [math.nan if job[3] is None else job[3] * GIB for job in jobs]
    np.testing.assert_array_equal(found["requested_memory_bytes"], memory)


def test_new_jobs_may_use_units_and_the_names_of_a_mapping(folder):
    path = folder / "mapped.csv"
    path.write_text("lab,requested_memory_gb,ReqCPUS,Timelimit,colour\na,32,4,1-00:00:00,red\nb,500M,2,00:30:00,blue\n")
    fields = ("group", "requested_memory_bytes", "requested_cpu_percent", "time_limit_s")
    names = FieldNames.of_trace(fields, "slurm", {"group": {"from": "lab", "unit": ""}})
    found = named_jobs(pd.concat(list(read_new_jobs(path))), names)
    assert found.unknown == ("colour",)
    assert found.jobs["group"].tolist() == ["a", "b"]
    assert found.jobs["requested_memory_bytes"].tolist() == [32e9, 500 * 2**20]
    assert found.jobs["requested_cpu_percent"].tolist() == [400, 200]
    assert found.jobs["time_limit_s"].tolist() == [86400, 1800]
    path.write_text("ReqMem,requested_memory_gb\n4G,9\n")
    twice = named_jobs(pd.concat(list(read_new_jobs(path))), names)
    assert (twice.jobs["requested_memory_bytes"].tolist(), twice.unknown) == ([4 * GIB], ("requested_memory_gb",))
    path.write_text("ReqMem\n" + "4G\n" * 20_000 + "4Gc\n")
    read = read_new_jobs(path)
    assert named_jobs(next(read), names).jobs["requested_memory_bytes"].unique().tolist() == [4 * GIB]
    with pytest.raises(TraceError, match="'4Gc' in row 20001, which is of each core of a job without"):
        named_jobs(next(read), names)
    path.write_text("ReqMem,ReqCPUS\n4Gc,4\n64G,2\n,\n4Gc,1\n")
    each = named_jobs(pd.concat(list(read_new_jobs(path))), names).jobs["requested_memory_bytes"]
    assert each.fillna(0).tolist() == [16 * GIB, 64 * GIB, 0, 4 * GIB]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("submit_time_s", "2024-05-06 10:00", 1714989600.0),
        ("submit_time_s", "1714989600", 1714989600.0),
        ("submit_time_s", "10:00", "no number of seconds and no moment, such as"),
        ("submit_time_s", "1714989600000", "less than nothing or more than can be"),
        ("requested_memory_bytes", "-1", "less than nothing or more than can be"),
        ("requested_memory_bytes", "9e18", "less than nothing or more than can be"),
        ("requested_memory_bytes", "4 lumps", "no size, such as 16GiB"),
        ("requested_cpu_percent", "8 cores", "such as 200 for two cores"),
    ],
)
def test_a_number_of_a_new_job_is_one_that_its_field_can_be(field, value, said):
    table = pd.DataFrame({field: [value]})
    if isinstance(said, float):
        assert named_jobs(table, FieldNames.of((field,))).jobs[field].tolist() == [said]
        return
    with pytest.raises(TraceError, match=f"{field} is '{value}' in row 1, .*{said}"):
        named_jobs(table, FieldNames.of((field,)))


def test_a_name_that_stands_twice_in_a_header_is_refused_and_one_like_it_is_told(folder):
    path = folder / "twice.csv"
    path.write_text("user,user\nann,bob\n")
    with pytest.raises(TraceError, match=r"twice\.csv has the column 'user' more than once"):
        next(read_new_jobs(path))
    with pytest.raises(ColumnMissing, match=r"none of the columns usr .* did you mean 'user'\?"):
        named_jobs(pd.DataFrame({"usr": ["ann"]}), FieldNames.of(("user", "group")))


@pytest.mark.parametrize("separator", [";", "\t"])
def test_new_jobs_may_be_separated_otherwise(folder, separator):
    path = folder / "other.csv"
    path.write_text("job_name,plan_cpu\nj,100\nk,200\n".replace(",", separator))
    assert jobs_of(path).jobs["requested_cpu_percent"].tolist() == [100, 200]
    path.write_bytes(b"job_name\n\xbd\n")
    with pytest.raises(TraceError, match=r"^other\.csv is no text in UTF-8; save it as CSV in UTF-8 and try again$"):
        jobs_of(path)


def test_rows_that_are_longer_than_the_header_are_not_shifted(folder):
    path = folder / "long.csv"
    path.write_text("job_name,plan_cpu\nj,100,7\nk,200,8\n")
    with pytest.raises(WorkprofError, match=r"long\.csv.*more fields than its header"):
        jobs_of(path)


@pytest.mark.parametrize("text", ["NA", "None", "nan", "null", "-"])
def test_a_name_that_looks_like_nothing_is_a_name(folder, text):
    path = folder / "names.csv"
    path.write_text(f"job_name,plan_cpu\n{text},100\n")
    assert jobs_of(path).jobs["job_name"].tolist() == [text]


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ({3: '"j3,ps,1,1,n', 7: 'j7",ps,1,1,n'}, "opens in line 4 takes lines"),
        ({3: '"j3,ps,1,1,n', 7: 'j7",n'}, "opens in line 4 .* not as many cells"),
        ({3: 'j3,ps,1,1,"n', 7: 'j7,ps,1,1,"n'}, "opens in line 4 .* neither a separator"),
        ({3: 'j3,ps,1,1,"n'}, "opens in line 4 goes on for more than 100 lines"),
        ({150: 'j3,ps,1,1,"n'}, "opens in line 151 is never closed"),
        ({3: "j3,ps,1,1,n\rj4,ps,2,2,n"}, "160 rows stand there and 161 were read"),
    ],
)
def test_no_new_job_is_swallowed_by_a_quote(folder, at, told):
    path = folder / "new.csv"
    lines = [at.get(place, f"j{place},ps,100,1.5,n") for place in range(1, 161)]
    path.write_bytes("\n".join(["job_name,task_name,plan_cpu,plan_mem,note", *lines]).encode())
    with pytest.raises(TraceError, match=told):
        jobs_of(path)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_blank_lines_and_line_ends_within_quotes_are_no_jobs(folder, line_end):
    path = folder / "new.csv"
    rows = ["", "job_name,plan_cpu", "", 'a, "1"', "  ", ' "b ""c""\n  \nd",2', "\t", "e,3", ""]
    path.write_bytes(b"\xef\xbb\xbf" + line_end.join(rows).encode())
    if line_end == "\r":
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r"))
    found = jobs_of(path).jobs
    assert found["job_name"].tolist()[::2] == ["a", "e"]
    assert found["requested_cpu_percent"].tolist() == [1, 2, 3]


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from(('"', '"', ",", "\n", '",', ',"', "\r\n"))), max_size=5))
def test_every_new_job_stands_in_the_table_or_the_file_is_refused(folder, changes):
    text = "job_name,plan_cpu,note\n" + "".join(
        f'm{at}m,{at},"a, b"\n' if at % 3 else f"m{at}m,{at},x\n" for at in range(30)
    )
    for place, token in changes:
        text = text[:place] + token + text[place:]
    path = folder / "changed.csv"
    path.write_bytes(text.encode())
    try:
        found = pd.concat(list(read_new_jobs(path)))
    except WorkprofError:
        return
    lines = sum(bool(line.strip()) for line in text.splitlines())
    within = found.map(lambda cell: str(cell).count("\n")).to_numpy().sum() + sum(name.count("\n") for name in found)
    assert len(found) + 1 + within >= lines


@settings(max_examples=60)
@given(mutated(REPORT))
def test_reports_are_positive_or_refused(folder, text):
    path = folder / "box" / "results_eager" / "execution_report_box.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    try:
        found = read_reports(folder, ("box",))
    except WorkprofError as error:
        assert "box" in str(error)
        return
    rows = found.by_machine["box"]
    assert len(rows) > 0 and (rows[["sequences", "input_bytes", "runtime_s"]] > 0).all().all()
    assert not np.isinf(rows.select_dtypes("number").to_numpy()).any()


@settings(max_examples=60)
@given(st.one_of(mutated(SCORES).map(str.encode), mutated_bytes(SCORES.encode())))
def test_scores_are_numbers_or_refused(folder, content):
    path = folder / "scores.csv"
    path.write_bytes(content)
    try:
        found = read_scores(path)
    except WorkprofError as error:
        assert "scores.csv" in str(error)
        return
    assert len(found) > 0 and not np.isinf(found.drop(columns="machine").to_numpy(dtype=float)).any()


@settings(max_examples=100)
@given(st.one_of(mutated(MAPPING).map(str.encode), mutated_bytes(MAPPING.encode()), st.just(b"[" * 5_000)))
def test_a_mapping_is_read_or_refused(folder, content):
    path = folder / "map.json"
    path.write_bytes(content)
    try:
        found = read_mapping(path, "--map")
    except SettingsError as error:
        assert "map.json" in str(error)
        return
    assert found
    for field, source in found.items():
        assert json.loads(content)[field]["from"] == source.column


@given(st.one_of(st.text(max_size=30), mutated("10, 20;60.5")))
def test_edges_are_sizes_or_refused(text):
    try:
        found = read_edges(text)
    except ValueError as error:
        assert "is no limit; give sizes above 0 in GB" in str(error) or "limits were given; give at most" in str(error)
        return
    assert all(0 < edge < math.inf for edge in found)


@given(st.lists(st.floats(0.001, 1e6), max_size=5))
def test_edges_come_back(edges_gb):
    assert read_edges(", ".join(map(repr, edges_gb))) == tuple(edge * GB for edge in edges_gb)


@given(st.text(max_size=30))
def test_a_pair_of_the_command_line(text):
    try:
        name, value = _pair(text)
    except SettingsError as error:
        assert "--set" in str(error)
        return
    assert f"{name}={value}".replace(" ", "") in text.replace(" ", "") or not text.isascii() or not text.isprintable()

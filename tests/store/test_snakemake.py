"""Snakemake's benchmark files: one or many, both formats, repeats, exact totals, what is broken."""

import io
import json
import random
import resource

import numpy as np
import pytest

from workprof.core.errors import TraceError
from workprof.core.units import GB, HOUR_S, MIB
from workprof.formats.declare import Given, Read
from workprof.formats.snakemake import COLUMNS, FORMAT, job_rule_sample
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

PLAIN = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
EXTENDED = PLAIN.rstrip("\n") + "\tjobid\trule_name\twildcards\tparams\tthreads\tcpu_usage\tresources\tinput_size_mb\n"
LONG = (
    "2050.5583\t0:34:10\t46.58\t63.41\t35.42\t36.94\t0.10\t0.00\t98.52\t2020.59\t7\tPRIME\t"
    "{'sample': 'ZWINT', 'k': 5}\t{'hyphy': '~/bin: 7'}\t4\t202025.13\t"
    "{'_cores': 4, '_nodes': 1, 'mem_mb': 2048, 'mem_mib': 1954, 'tmpdir': '/tmp', 'runtime': 120, 'nvidia_gpu': 1}\t"
    "{'a: 3.fas': 0.5, 'b.nwk': 1.5}\n"
)


def test_a_file_of_repeats(store, write):
    lines = (
        PLAIN + "14.5\t0:00:14\t487.06\t1\t446.61\t461.81\t5.5\t3.25\t186.02\t29\n" + "0.2\t0:00:00" + "\tNA" * 8 + "\n"
    )
    report = store.ingest([write("A.bwa.benchmark.txt", lines)], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected) == ("snakemake", 2, 2, 0)
    assert {check.name: check.count for check in report.checks}["not measured"] == 1
    columns = ["job_name", "task_name", "sample", "repeat", "duration_s", "peak_memory_bytes", "cpu_usage_percent"]
    frame = store.frame("A", [*columns, "read_bytes", "write_bytes", "max_pss"])
    first = frame.iloc[0]
    assert (first["job_name"], first["task_name"], first["sample"]) == ("A.bwa", "bwa", "A")
    assert frame["repeat"].tolist() == [1, 2]
    np.testing.assert_array_equal(frame["duration_s"], [14.5, 0.2])
    np.testing.assert_allclose(frame["peak_memory_bytes"], [487.06 * MIB, np.nan])
    np.testing.assert_allclose(frame["cpu_usage_percent"], [200, np.nan])
    assert (first["read_bytes"], first["write_bytes"], first["max_pss"]) == (5.5 * MIB, 3.25 * MIB, 461.81)


def test_the_extended_format_says_what_was_asked_for(store, write):
    report = store.ingest([write("x.tsv", EXTENDED + LONG)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("snakemake", 1, 0)
    asked = ["requested_memory_bytes", "requested_cpu_percent", "requested_gpu_percent", "time_limit_s", "input_bytes"]
    row = store.frame("x", ["job_name", "task_name", "sample", "jobid", "wildcards", "further", *asked]).iloc[0]
    assert (row["task_name"], row["sample"], row["jobid"]) == ("PRIME", "ZWINT", "7")
    assert [row[name] for name in asked] == [2048e6, 400, 100, 7200, 2 * MIB]
    assert json.loads(row["further"]) == {"cpu_usage": "202025.13"}
    assert row["wildcards"] == "{'sample': 'ZWINT', 'k': 5}"


def test_json_lines_and_a_table_of_all_files(store, write):
    names = EXTENDED.rstrip("\n").split("\t")
    cells = dict(zip(names, LONG.rstrip("\n").split("\t"), strict=True))
    cells |= {
        "s": 2050.5583,
        "max_rss": 46.58,
        "threads": 4,
        "resources": {"mem_mib": 1954},
        "input_size_mb": {"a": 2.0},
    }
    store.ingest([write("x.jsonl", json.dumps(cells) + "\n")], IngestOptions())
    row = store.frame("x", ["requested_memory_bytes", "input_bytes", "peak_memory_bytes"]).iloc[0]
    assert [row["requested_memory_bytes"], row["input_bytes"], row["peak_memory_bytes"]] == [
        1954 * MIB,
        2 * MIB,
        pytest.approx(46.58 * MIB),
    ]
    table = 'rule,sample,tool,s,h:m:s,max_rss,mean_load\nalign,s1,"a, b",10,0:00:10,5,50\nsort,s1,-,20,0:00:20,5,-\n'
    report = store.ingest([write("all.csv", table)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("snakemake", 2, 0)
    frame = store.frame("all", ["task_name", "sample", "further", "cpu_usage_percent"])
    assert frame["task_name"].tolist() == ["align", "sort"]
    assert json.loads(frame["further"].tolist()[0]) == {"tool": "a, b"}
    np.testing.assert_array_equal(frame["cpu_usage_percent"], [50, np.nan])


def test_a_table_that_r_wrote_and_resources_that_were_not_known(store, write):
    lines = '"s"\t"h:m:s"\t"max_rss"\t"rule"\t"resources"\n'
    lines += "60\t\"0:01:00\"\t5\t\"a\"\t\"{'mem_mb': '<TBD>', '_cores': 3}\"\n"
    lines += "30\t\"0:00:30\"\tNA\t\"b\"\t\"{'mem_mb': '8 GB', 'runtime': '2h'}\"\n"
    report = store.ingest([write("r.tsv", lines)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("snakemake", 2, 0)
    frame = store.frame("r", ["task_name", "requested_memory_bytes", "requested_cpu_percent", "time_limit_s"])
    assert frame["task_name"].tolist() == ["a", "b"]
    np.testing.assert_array_equal(frame["requested_memory_bytes"], [np.nan, 8 * 1024**3])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [300, np.nan])
    np.testing.assert_array_equal(frame["time_limit_s"], [np.nan, 7200])


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("align/s1.tsv", ("align/s1", "align", "s1")),
        ("s1.align.benchmark.txt.gz", ("s1.align", "align", "s1")),
        ("qc/align/s1.L1.bench", ("qc/align/s1.L1", "align", "s1.L1")),
        ("align.txt", ("align", "align", None)),
        (".tsv", ("", "", None)),
    ],
)
def test_rule_and_sample_of_a_path(path, told):
    assert job_rule_sample(path) == told


def test_a_folder_of_thousands_of_files_adds_up(store, tmp_path):
    draw, requested, used = random.Random(3), 0.0, 0.0
    folder = tmp_path / "benchmarks"
    for at in range(2500):
        rule = f"rule{at % 12}"
        (folder / rule).mkdir(parents=True, exist_ok=True)
        lines = EXTENDED
        for repeat in range(1 + at % 2):
            seconds, peak, asked = draw.uniform(0.1, 90_000), draw.uniform(1, 60_000), draw.randint(1, 64) * 1000
            requested += asked * 1e6 * seconds / GB / HOUR_S
            used += peak * MIB * seconds / GB / HOUR_S
            use = f"{seconds:.4f}\t0:00:01\t{peak:.2f}\t1\t1\t1\t0.1\t0.2\t98.5\t{seconds * 2:.2f}"
            lines += f"{use}\t{at}\t{rule}\t{{'k': {repeat}}}\t{{}}\t2\t1\t{{'_cores': 2, 'mem_mb': {asked}}}\t{{}}\n"
        (folder / rule / f"s{at}.tsv").write_text(lines)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, limits[1]))  # what most systems allow
    try:
        report = store.ingest([folder], IngestOptions())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert (report.dataset, report.format, report.rows, report.rejected) == ("benchmarks", "snakemake", 3750, 0)
    frame = store.frame(
        "benchmarks", ["job_name", "task_name", "duration_s", "requested_memory_bytes", "peak_memory_bytes"]
    )
    hours = frame["duration_s"] / HOUR_S / GB
    assert (hours * frame["requested_memory_bytes"]).sum() == pytest.approx(requested, rel=1e-3)
    assert (hours * frame["peak_memory_bytes"]).sum() == pytest.approx(used, rel=1e-3)
    assert set(frame["task_name"]) == {f"rule{at}" for at in range(12)}
    assert "rule7/s7" in set(frame["job_name"])


def test_the_only_rule_of_a_folder_is_known_by_it(store, tmp_path):
    (tmp_path / "benchmarks" / "align").mkdir(parents=True)
    for sample in ("s1", "s2"):
        (tmp_path / "benchmarks" / "align" / f"{sample}.tsv").write_text(PLAIN + "1\t0:00:01" + "\t2" * 8 + "\n")
    store.ingest([tmp_path / "benchmarks"], IngestOptions())
    frame = store.frame("benchmarks", ["task_name", "sample"])
    assert (frame["task_name"].tolist(), frame["sample"].tolist()) == (["align", "align"], ["s1", "s2"])


def test_what_is_no_row_is_a_reject_with_its_line(store, write):
    good = "1\t0:00:01" + "\t2" * 8 + "\n"
    lines = PLAIN + good + "1\t0:00:01\t2\n" + "\n" + "soon" + good[1:] + PLAIN + good + "1e999" + good[1:]
    report = store.ingest([write("bad.tsv", lines)], IngestOptions())
    assert (report.rows, report.rejected) == (2, 3)
    told = [(row["line"], row["column"], row["text"]) for row in store.rejects("bad").fillna("").to_dict("records")]
    assert sorted(told) == [(3, "", "1\t0:00:01\t2"), (5, "s", "soon"), (8, "s", "1e999")]


def test_nothing_in_a_file_is_evaluated_and_hostile_texts_end(tmp_path):
    secret = tmp_path / "made"
    hostile = f"__import__('pathlib').Path('{secret}').touch()"
    deep = "{" * 100_000 + "'mem_mb': 5" + "}" * 100_000
    for text in (hostile, deep, "{'mem_mb': 'x'*9**9}", "{'mem_mb': " + "9" * 50_000 + "}"):
        cells = dict.fromkeys(EXTENDED.rstrip("\n").split("\t"), "1") | {"resources": text, "input_size_mb": text}
        content = "\t".join(cells) + "\n" + "\t".join(cells.values()) + "\n"
        (row,) = FORMAT.reader.read([Given("a.tsv", io.BytesIO(content.encode()))])
        assert isinstance(row, Read) and len(row.cells) == len(COLUMNS)
    assert not secret.exists()


def test_a_header_alone_is_refused(store, write):
    with pytest.raises(TraceError, match="no rows"):
        store.ingest([write("empty.tsv", PLAIN)], IngestOptions())


REPORT = """\
,JobID,JobName,RuleName,Elapsed,TotalCPU,NNodes,NCPUS,MaxRSS,ReqMem,Elapsed_sec,MaxRSS_MB,RequestedMem_MB
0,102940,b10191d0-aaaa,rule_map,00:01:31,00:24.041,1,1,,32000M,91.0,0.0,32000.0
1,102940.0,python3.12,,00:01:30,00:24.041,1,1,183612K,,90.0,179.3,0.0
2,102942,b10191d0-aaaa,rule_sort,00:02:00,00:00:00,1,1,,,120.0,0.0,500.0
3,102942.0,python3.12,,00:02:00,00:00:00,1,1,,,119.0,512.0,0.0
"""


def test_the_efficiency_report_of_slurm(store, write):
    """snakemake/snakemake-executor-plugin-slurm#337."""
    report = store.ingest([write("report.csv", REPORT)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("snakemake-slurm-report", 2, 0)
    fields = ["job_name", "task_name", "run_name", "duration_s", "requested_memory_bytes", "peak_memory_bytes"]
    rows = store.frame("report", fields)[fields].to_numpy().tolist()
    assert rows == [
        ["102940", "rule_map", "b10191d0-aaaa", 91, 32000 * 1024**2, 183612 * 1024],
        ["102942", "rule_sort", "b10191d0-aaaa", 120, 500 * 1024**2, 512 * 1024**2],
    ]
    assert {check.name: check.count for check in report.checks}["CPU time of zero"] == 1


@pytest.mark.parametrize("column", ["Comment", ""])
def test_the_efficiency_report_without_a_column_of_rules_takes_no_id_of_a_run_for_a_task(store, write, column):
    rows = [line.split(",") for line in REPORT.splitlines()]
    rows[0][3] = column
    lines = (",".join(row if column else row[:3] + row[4:]) for row in rows)
    report = store.ingest([write("report.csv", "\n".join(lines) + "\n")], IngestOptions())
    assert (report.format, report.rows) == ("snakemake-slurm-report", 2)
    columns = {each.name for each in store.columns("report")}
    assert store.frame("report", ["run_name"])["run_name"].tolist() == ["b10191d0-aaaa"] * 2
    if column:
        assert store.frame("report", ["task_name"])["task_name"].tolist() == ["rule_map", "rule_sort"]
    else:
        assert "task_name" not in columns


def test_a_cpu_time_of_zero_beside_other_use_is_not_known(store, write):
    head = "s\th:m:s\tmax_rss\tmean_load\tcpu_time\n"
    rows = "60\t0:01:00\t100\t0\t0\n60\t0:01:00\t100\t50\t0\n60\t0:01:00\t100\t50\t6\n60\t0:01:00\tNA\t0\t0\n"
    report = store.ingest([write("a.tsv", head + rows)], IngestOptions())
    found = store.frame("a", ["cpu_usage_percent"])["cpu_usage_percent"]
    assert found.fillna(-1).tolist() == [-1, 50, 10, 0]
    assert {check.name: check.count for check in report.checks}["CPU time of zero"] == 1

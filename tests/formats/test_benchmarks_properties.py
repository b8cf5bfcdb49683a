"""Benchmark runs and what the six tools print: every line is a run or refused, every figure finite or left out."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from tests.mutations import mutated
from tests.nodes import benchmark_outputs as outputs
from workprof.core.errors import WorkprofError
from workprof.formats.benchmarks import FRAME_COLUMNS, read_benchmarks
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.parsers import PARSERS, parse_output

pytestmark = pytest.mark.slow

RUN = {
    "node": "n1", "benchmark": "cpu-sysbench", "argv": ["sysbench", "cpu", "run"], "started": 1700000000.5,
    "finished": 1700000010, "stressed": False, "rc": 0, "stdout": "", "stderr": "", "host": {"cpu.user%": 1.5},
    "provenance": {"tool_version": "1.0.20"},
}  # fmt: skip
RUNS = "".join(json.dumps(RUN | {"node": f"n{at}", "started": 1700000000 + at}) + "\n" for at in range(4))
PRINTED = {
    "cpu-sysbench": outputs.SYSBENCH_CPU,
    "memory-sysbench": outputs.SYSBENCH_MEMORY,
    "network-qperf": outputs.QPERF_PLAIN,
    "disk-ioping": outputs.IOPING,
    "disk-fio": json.dumps(outputs.fio()),
    "network-iperf3": json.dumps(outputs.iperf3()),
}
KEYS = (
    "jobs", "end", "start", "error", "read", "write", "total_ios", "bw_bytes", "version", "fio version", "sum_sent",
    "sum_received", "sum_received_bidir_reverse", "bytes", "bits_per_second", "test_start", "reverse", "stat", "count",
    "disk_util", "util", "job options", "numjobs", "cpu_utilization_percent", "host_total",
)  # fmt: skip
DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.just(10**400), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)),
    max_leaves=24,
)
WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


def read(folder, text):
    path = folder / "runs.jsonl"
    path.write_bytes(text.encode())
    return read_benchmarks(path, "runs.jsonl")


@settings(max_examples=100)
@given(mutated(RUNS))
def test_every_line_is_a_run_or_refused(folder, text):
    try:
        found = read(folder, text)
    except WorkprofError as error:
        assert "runs.jsonl" in str(error)
        return
    lines = [line for line in text.encode().split(b"\n") if line.removeprefix(b"\xef\xbb\xbf").strip()]
    assert found.rows_read == len(lines) == len(found.frame) + len(found.rejected)
    assert all(one.line >= 1 and one.reason for one in found.rejected)
    for name in ("argv", "host", "provenance"):
        for cell in found.frame[name]:
            json.dumps(json.loads(cell), allow_nan=False)  # raises where one is no number
    parsed = parse_runs(found.frame)
    assert len(parsed) == len(found.frame)
    assert not np.isinf(parsed.host).any()


@settings(max_examples=60)
@given(WORDS.filter(str.strip), WORDS, st.lists(WORDS, max_size=3), st.floats(0, 4e9), st.none() | st.booleans())
def test_a_run_comes_back_as_it_was_written(folder, node, stdout, argv, started, stressed):
    run = RUN | {"node": node, "stdout": stdout, "argv": argv, "started": started, "stressed": stressed}
    frame = read(folder, json.dumps(run) + "\n").frame
    assert tuple(frame.columns) == FRAME_COLUMNS
    row = frame.iloc[0]
    assert (row["node"], row["stdout"], json.loads(row["argv"])) == (node.strip(), stdout, argv)
    assert row["started_s"] == started
    assert pd.isna(row["stressed"]) if stressed is None else bool(row["stressed"]) == stressed
    assert json.loads(row["host"]) == RUN["host"]


def parsed_or_refused(benchmark, stdout):
    try:
        found = parse_output(benchmark, stdout, ("tool",))
    except WorkprofError as error:
        assert str(error)
        return
    assert found.numbers and all(math.isfinite(value) for value in found.numbers.values())
    assert all(isinstance(text, str) for text in found.texts.values())


@pytest.mark.parametrize("benchmark", PARSERS)
@settings(max_examples=80)
@given(data=st.data())
def test_a_changed_output_gives_finite_figures_or_a_reason(benchmark, data):
    parsed_or_refused(benchmark, data.draw(mutated(PRINTED[benchmark])))


@pytest.mark.parametrize("benchmark", PARSERS)
@settings(max_examples=40)
@given(stdout=st.text(max_size=200))
def test_any_text_gives_finite_figures_or_a_reason(benchmark, stdout):
    parsed_or_refused(benchmark, stdout)


@settings(max_examples=150)
@given(st.sampled_from(("disk-fio", "disk-ioping", "network-iperf3")), DOCUMENTS)
def test_any_document_gives_finite_figures_or_a_reason(benchmark, document):
    parsed_or_refused(benchmark, json.dumps(document))


@pytest.mark.parametrize("benchmark", PARSERS)
@pytest.mark.parametrize("filling", ["\n", " ", "9", "9.", "a", "[", '"'])
def test_an_endless_output_takes_no_longer_than_it_is(benchmark, filling):
    """A pattern that tries again at every character would not end within the life of this test."""
    head = PRINTED[benchmark][: PRINTED[benchmark].find("\n") + 1 or 20]
    for beginning in ("", head, "total time: 9", "    min: 9", "tcp_bw:\n  bw = 9 "):
        parsed_or_refused(benchmark, beginning + filling * 100_000 + "x")

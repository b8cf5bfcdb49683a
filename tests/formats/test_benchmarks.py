"""Benchmark runs from JSON lines: what is kept, what is refused and why, what is counted."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import TraceError
from workprof.core.progress import silent
from workprof.formats.benchmarks import KNOWN, read_benchmarks
from workprof.nodes.metrics import BENCHMARKS
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.ranking import rank_nodes
from workprof.nodes.selection import RankSettings
from workprof.synthetic.benchmarks import BenchmarkTraceSettings, benchmark_trace

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "benchmarks.jsonl"

RUN = {
    "node": "a",
    "benchmark": "cpu-sysbench",
    "argv": ["sysbench", "cpu", "run"],
    "started": 100.5,
    "finished": 102.5,
    "stressed": False,
    "rc": 0,
    "stdout": "text",
    "stderr": "",
    "host": {"cpu_busy_pct_mean": 50.0},
}


@pytest.fixture
def read(tmp_path):
    def from_lines(*lines):
        path = tmp_path / "runs.jsonl"
        texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        path.write_bytes(b"\n".join(texts) + b"\n")
        return read_benchmarks(path, "mine.jsonl")

    return from_lines


def counts(measured):
    return {check.name: check.count for check in measured.checks}


@needs_shared_data
def test_the_real_runs():
    measured = read_benchmarks(FOLDER / "benchmarks" / "runs.jsonl")
    assert (measured.kind, measured.rows_read, len(measured.frame)) == ("benchmarks", 432, 432)
    assert measured.rejected == ()
    assert measured.checks == ()
    assert measured.frame["stressed"].sum() == 91
    assert len(json.loads(measured.frame["host"][0])) == 12


@pytest.mark.slow
def test_the_sample_is_read_and_one_disk_of_eight_nodes_fails():
    measured = read_benchmarks(SAMPLE)
    assert measured.rejected == ()
    assert set(counts(measured)) == {"failed_runs"}
    runs = parse_runs(measured.frame)
    assert len({*runs.parameters} - {""}) == len(BENCHMARKS)
    sizes = measured.frame.groupby(["node", "benchmark"]).size()
    assert (len(sizes), set(sizes)) == (8 * len(BENCHMARKS), {10})
    assert {name.partition("-")[0] for name in runs.node} == {"compute", "storage", "general"}
    ranked = rank_nodes({"runs": measured.frame.assign(row_id=range(len(measured.frame)))}, RankSettings(), silent)
    assert [one.node.partition("-")[0] for one in ranked.nodes] == [
        *["compute"] * 3,
        *["storage"] * 3,
        *["general"] * 2,
    ]
    (failing,) = [one for one in ranked.nodes if one.degraded]
    assert (failing.node, failing.degraded.benchmark.partition("-")[0]) == ("storage-3", "disk")
    assert SAMPLE.stat().st_size < 1_000_000


def test_the_sample_is_what_its_generator_makes():
    made = benchmark_trace(BenchmarkTraceSettings(nodes=8, mixed=True, repeat=10, seed=2))
    kept = [json.loads(line) for line in SAMPLE.read_text().splitlines()]
    for name in ("node", "benchmark", "argv", "stressed", "rc"):
        assert [line[name] for line in kept] == [line[name] for line in made.lines]
    assert [line["started"] for line in kept] == pytest.approx([line["started"] for line in made.lines])
    assert [line["truth_strength"] for line in kept] == pytest.approx(made.strength)
    command = "workprof synth benchmarks -o data/sample/benchmarks.jsonl --nodes 8 --repeat 10 --mixed --seed 2"
    assert command in (SAMPLE.parents[1] / "README.md").read_text()


def test_the_benchmarks_are_those_that_are_parsed():
    assert KNOWN == BENCHMARKS


def test_a_run_and_its_further_keys(read):
    (row,) = read(RUN | {"provenance": {"kernel": "6.1"}, "site": "lab"}).frame.to_dict("records")
    assert row == {
        "node": "a",
        "benchmark": "cpu-sysbench",
        "argv": json.dumps(RUN["argv"]),
        "started_s": 100.5,
        "finished_s": 102.5,
        "stressed": 0.0,
        "rc": 0.0,
        "stdout": "text",
        "stderr": "",
        "host": json.dumps(RUN["host"]),
        "provenance": json.dumps({"site": "lab", "kernel": "6.1"}),
    }


def test_what_may_be_absent(read):
    frame = read({key: RUN[key] for key in ("node", "benchmark", "argv", "stdout", "started")}).frame
    assert np.isnan(frame.loc[0, ["stressed", "rc", "finished_s"]].astype(float)).all()
    assert frame.loc[0, ["stderr", "host", "provenance"]].tolist() == ["", "{}", "{}"]


@pytest.mark.parametrize(
    ("changed", "column", "said"),
    [
        ({"node": ""}, "node", "not a name"),
        ({"benchmark": 3}, "benchmark", "not a name"),
        ({"argv": "sysbench cpu"}, "argv", "not a list of texts"),
        ({"argv": [1]}, "argv", "not a list of texts"),
        ({"started": "yesterday"}, "started", "seconds since 1970"),
        ({"started": None}, "started", "seconds since 1970"),
        ({"started": True}, "started", "seconds since 1970"),
        ({"started": 1_795_229_544_838}, "started", "too large for seconds since 1970; is it in milliseconds?"),
        ({"finished": float("inf")}, "", ""),
        ({"finished": 10**400}, "finished", "seconds since 1970"),
        ({"stressed": "yes"}, "stressed", "true, false or null"),
        ({"rc": 1.5}, "rc", "exit status"),
        ({"rc": 10**9}, "rc", "exit status"),
        ({"stdout": ["x"]}, "stdout", "not a text"),
        ({"host": [1]}, "host", "not an object"),
        ({"provenance": "x"}, "provenance", "not an object"),
    ],
)
def test_lines_that_are_refused(read, changed, column, said):
    measured = read(RUN, RUN | changed)
    if not said:  # JSON has no infinity: it is read as null, so the run has no end
        assert measured.rejected == ()
        assert counts(measured)["no_end"] == 1
        return
    (line,) = measured.rejected
    assert (line.line, line.column, measured.rows_read, len(measured.frame)) == (2, column, 2, 1)
    assert said in line.reason


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nesting too deep"),
        (b'{"node": ' + b"9" * 5000 + b"}", "a number too long"),
        (b"{}", "no node, benchmark, argv, stdout"),
    ],
)
def test_hostile_lines(read, line, said):
    measured = read(line, RUN)
    assert len(measured.frame) == 1
    assert said in measured.rejected[0].reason
    assert len(measured.rejected[0].text) <= 200


def test_blank_lines_and_a_byte_order_mark_are_nothing(read):
    measured = read(b"\xef\xbb\xbf" + json.dumps(RUN).encode(), b"", b"  ", RUN)
    assert (measured.rows_read, len(measured.frame)) == (2, 2)


def test_half_a_character_can_be_stored(read):
    text = read(RUN | {"stdout": "a\ud800b"}).frame.loc[0, "stdout"]
    assert text.encode() == b"a?b"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ((b"job,memory", b"a,1"), "holds no benchmark run"),
        ((b'[{"node": "a"}]',), "is a JSON array"),
        (({"t": 1, "cpu": 2},), "holds no benchmark run"),
    ],
)
def test_a_file_of_something_else(read, lines, said):
    with pytest.raises(TraceError, match=r"^mine\.jsonl ") as caught:
        read(*lines)
    assert said in str(caught.value)


def test_a_file_without_lines(read):
    assert read(b"").frame.empty


def test_what_is_counted(read):
    measured = read(
        RUN,
        RUN,
        RUN | {"rc": 124, "stdout": ""},
        RUN | {"stdout": " \n", "started": 200.0},
        RUN | {"stressed": None, "node": "b"},
        RUN | {"benchmark": "gpu-burn", "finished": None},
        RUN | {"node": "c", "started": 1714636800, "finished": 1714636802},
        RUN | {"node": "c", "started": 4102444800, "finished": 4102444802},
    )
    assert counts(measured) == {
        "failed_runs": 1,
        "empty_output": 1,
        "ends_before_start": 1,
        "strange_clock": 7,
        "no_end": 1,
        "unknown_benchmark": 1,
        "stressed_unknown": 1,
        "duplicates": 1,
        "one_run": 2,
        "few_runs": 4,
    }

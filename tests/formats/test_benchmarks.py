"""Benchmark runs from JSON lines: what is kept, what is refused and why, what is counted."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import TraceError
from workprof.formats.benchmarks import KNOWN, read_benchmarks
from workprof.nodes.metrics import BENCHMARKS
from workprof.nodes.parsed_runs import parse_runs

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "benchmarks.jsonl"
SAMPLE_NODES = ("one-core", "half-core", "quarter-core")

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


def test_the_sample_is_read_and_its_nodes_differ_by_their_quotas():
    measured = read_benchmarks(SAMPLE)
    assert (measured.rejected, measured.checks) == ((), ())
    runs = parse_runs(measured.frame)
    assert runs.problems == ()
    assert len(set(runs.parameters)) == len(BENCHMARKS)
    counts = measured.frame.groupby(["node", "benchmark"])["stressed"].agg(["size", "sum"])
    assert len(counts) == 3 * len(BENCHMARKS)
    assert (counts["size"] == 10).all()
    assert (counts["sum"] == 2).all()
    rates = runs.column("cpu-sysbench.events_per_second")
    calm = [np.nanmedian(rates[(runs.node == name) & (runs.stressed == 0)]) for name in SAMPLE_NODES]
    assert calm[0] / calm[1] == pytest.approx(2, rel=0.15)
    assert calm[1] / calm[2] == pytest.approx(2, rel=0.15)
    assert SAMPLE.stat().st_size < 1_500_000
    text = SAMPLE.read_text()
    assert [place for place in ("tmp", "var", "home", "root") if f"/{place}/" in text] == []


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
    )
    assert counts(measured) == {
        "failed_runs": 1,
        "empty_output": 1,
        "ends_before_start": 1,
        "no_end": 1,
        "unknown_benchmark": 1,
        "stressed_unknown": 1,
        "duplicates": 1,
        "one_run": 2,
        "few_runs": 3,
    }

"""Tables of benchmark runs for tests: simulated lines, or the real development runs, in the store's columns."""

import json

import pandas as pd

from tests.shared_data import FOLDER
from workprof.synthetic.benchmarks import BenchmarkTraceSettings, benchmark_trace

REAL = FOLDER / "benchmarks" / "runs.jsonl"


def frame_of(lines):
    return pd.DataFrame(
        [
            {
                "row_id": number,
                "node": line["node"],
                "benchmark": line["benchmark"],
                "argv": json.dumps(line["argv"]),
                "started_s": line["started"],
                "finished_s": line["finished"],
                "stressed": line["stressed"],
                "rc": line["rc"],
                "stdout": line["stdout"],
                "stderr": line["stderr"],
                "host": json.dumps(line["host"]),
                "provenance": "{}",
            }
            for number, line in enumerate(lines)
        ]
    )


def real_runs():
    with REAL.open(encoding="utf-8") as lines:
        return frame_of([json.loads(line) for line in lines])


def simulated(**settings):
    return frame_of(benchmark_trace(BenchmarkTraceSettings(**settings)).lines)

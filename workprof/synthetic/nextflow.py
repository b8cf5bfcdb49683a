"""A Nextflow trace of samples that pass through a pipeline, whose peaks follow a planted law, and the truth.

The peak of a task is (base + slope x input) times a lognormal factor. A task above its request is killed (exit 137) and
tried again with twice the request, as pipelines do by convention.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from workprof.core.units import DAY_S
from workprof.store.outputs import whole
from workprof.synthetic.demand import MONDAY_S
from workprof.synthetic.report import SynthReport, check_room, check_size, truth_of

MIB = 2**20
MOST_SAMPLES, ROW_BYTES = 100_000, 200
MOST_ATTEMPTS, KILLED = 4, 137
MEDIAN_INPUT_BYTES, INPUT_LOG_SD = 2e9, 0.6
A_DAY, QUEUE_S = 40, 20.0
"""Samples that arrive in a day; mean time in the queue."""


@dataclass(frozen=True)
class Process:
    """One step of the pipeline."""

    base_bytes: int  # of a peak
    per_input_byte: float  # more of it for each byte of the sample
    log_sd: float  # of the factor that each task has
    request_bytes: int  # of a first attempt
    base_s: float  # and `s_per_gb` of the input: its run time
    s_per_gb: float
    cpus: int


PIPELINE = {
    "FASTQC": Process(300 * MIB, 0.0, 0.08, 4096 * MIB, 60, 40, 1),
    "TRIM": Process(600 * MIB, 0.02, 0.1, 6144 * MIB, 30, 90, 4),
    "ALIGN": Process(6000 * MIB, 1.0, 0.1, 16384 * MIB, 120, 600, 8),
    "SORT": Process(800 * MIB, 0.6, 0.15, 4096 * MIB, 20, 80, 2),
    "MARKDUP": Process(2000 * MIB, 0.7, 0.2, 8192 * MIB, 40, 150, 2),
    "CALL": Process(2500 * MIB, 0.4, 0.25, 12288 * MIB, 200, 400, 4),
    "REPORT": Process(450 * MIB, 0.0, 0.1, 4096 * MIB, 15, 2, 1),
}
"""In the order in which a sample passes through it."""


@dataclass(frozen=True)
class NextflowTrace:
    """What is planted."""

    samples: int = 60
    seed: int = 0


def nextflow_trace(settings: NextflowTrace) -> tuple[pd.DataFrame, dict[int, float]]:
    """The lines of a trace in raw numbers (bytes, ms), in order of completion, and task_id -> bytes that it needs."""
    check_size("samples", settings.samples, settings.seed, MOST_SAMPLES)
    rng = np.random.default_rng(settings.seed)
    rows: list[dict[str, Any]] = []
    needs: dict[int, float] = {}
    arrivals = MONDAY_S + np.sort(rng.uniform(0, max(1.0, settings.samples / A_DAY) * DAY_S, settings.samples))
    for sample, arrival in enumerate(arrivals.tolist()):
        size, clock = MEDIAN_INPUT_BYTES * rng.lognormal(0, INPUT_LOG_SD), arrival
        for name, one in PIPELINE.items():
            need = (one.base_bytes + one.per_input_byte * size) * rng.lognormal(0, one.log_sd)
            lasts = (one.base_s + one.s_per_gb * size / 1e9) * rng.lognormal(0, 0.15)
            for attempt in range(1, MOST_ATTEMPTS + 1):
                request = one.request_bytes * 2 ** (attempt - 1)
                killed = need > request
                ran = lasts * rng.uniform(0.3, 0.9) if killed else lasts
                start = clock + rng.exponential(QUEUE_S)
                task, end, peak = len(rows) + 1, start + ran, min(need, request)
                needs[task] = need
                rows.append(
                    {
                        "task_id": task,
                        "hash": f"{rng.integers(256):02x}/{rng.integers(16**6):06x}",
                        "native_id": f"nf-{task}",
                        "process": name,
                        "tag": f"sample{sample + 1}",
                        "name": f"{name} (sample{sample + 1})",
                        "status": "FAILED" if killed else "COMPLETED",
                        "exit": KILLED if killed else 0,
                        "attempt": attempt,
                        "cpus": one.cpus,
                        "memory": request,
                        "submit": round(clock * 1e3),
                        "start": round(start * 1e3),
                        "complete": round(end * 1e3),
                        "duration": round((end - clock) * 1e3),
                        "realtime": round(ran * 1e3),
                        "%cpu": round(100 * one.cpus * rng.uniform(0.5, 0.98), 1),
                        "peak_rss": round(peak),
                        "peak_vmem": round(peak * 1.3),
                        "rchar": round(size * rng.uniform(1.0, 1.2)),
                        "wchar": round(size * rng.uniform(0.1, 0.6)),
                    }
                )
                clock = end
                if not killed:
                    break
    table = pd.DataFrame(rows).sort_values("complete", kind="stable", ignore_index=True)
    return table, needs


def write_nextflow_trace(output: Path, settings: NextflowTrace) -> SynthReport:
    """Write the trace with tabs, as CSV where it is called so, and its truth beside it (FILE.truth.json)."""
    started = time.perf_counter()
    check_room(output, f"{settings.samples:,} samples", settings.samples * len(PIPELINE) * ROW_BYTES)
    table, needs = nextflow_trace(settings)
    truth = {
        "processes": {name: asdict(one) for name, one in PIPELINE.items()},
        "need_bytes": {str(task): round(need) for task, need in needs.items()},
        "killed": int((table["exit"] == KILLED).sum()),
        "settings": asdict(settings),
    }
    with whole(output.parent, output) as folder:
        table.to_csv(folder / output.name, sep="," if output.suffix == ".csv" else "\t", index=False)
        (folder / truth_of(output).name).write_text(json.dumps(truth, indent=1))
    size = output.stat().st_size
    return SynthReport(output, len(table), time.perf_counter() - started, {output.name: len(table)}, size)

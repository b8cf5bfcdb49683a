"""Reports with a planted truth: runtime = start + size * seconds per byte, divided by the machine's speed."""

from functools import cache

import numpy as np
import pandas as pd

from tests.shared_data import FOLDER
from workprof.formats.lotaru import read_reports

LOTARU = FOLDER / "lotaru" / "execution_reports"
MACHINES = ("n2", "n1", "c2")


@cache
def lotaru_reports():
    return read_reports(LOTARU, MACHINES).by_machine


def planted(speeds, busy=1.0, n_tasks=12, waiting=None, noise=0.0, seed=0):
    """Return machine -> report. A task computes for `busy` of its time and waits for the rest, which
    `waiting[machine]` (default 1) divides; both workflows have runs of both parts."""
    draw = np.random.default_rng(seed)
    rows = {machine: [] for machine in speeds}
    for number in range(n_tasks):
        start, per_byte = draw.uniform(1, 5), draw.uniform(1e-8, 1e-7)
        for label, scale in [("train-1", 1), ("train-2", 1.5), ("test", 20)]:
            for step in range(1, 6 if label != "test" else 2):
                size = step * scale * 1e8
                whole = start + size * per_byte
                for machine, speed in speeds.items():
                    slow = busy / speed + (1 - busy) / (waiting or {}).get(machine, 1.0)
                    runtime = whole * slow * draw.lognormal(0, noise)
                    rows[machine].append((f"flow{number % 4}", f"task{number}", label, size, size, runtime, 100 * busy))
    columns = ["workflow", "task", "label", "sequences", "input_bytes", "runtime_s", "cpu_percent"]
    return {machine: pd.DataFrame(told, columns=columns) for machine, told in rows.items()}

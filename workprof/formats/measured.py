"""What an importer of measurements returns: the rows of the table, the lines it refused, and what it found.

Measurements are benchmark runs and counters by the second. Their formats are read by code of their own, one file each,
where a trace of jobs is declared and read by the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workprof.core.units import DURATION_FACTORS
from workprof.formats.declare import Unreadable
from workprof.formats.generic import UNIT_SUFFIXES
from workprof.store.reports import Check

if TYPE_CHECKING:
    import pandas as pd

BENCHMARKS = "benchmarks"
TELEMETRY = "telemetry"
CONFIGURATIONS = "configurations"
SCOUT = "scout"
"""Folders of runs on machines of a cloud, which become a table of configurations."""
BENCHMARK_KEYS = ("node", "benchmark", "argv", "stdout")
"""What tells a line of the benchmark suite from other JSON."""

WIDE = "wide"
"""Telemetry of a CSV file whose columns of time, run and workload are named by a mapping."""

WORD_END = re.compile(r"[^a-zµ]+")
TIME_NAMES = ("t", "time", "timestamp", "datetime", "date_time", "elapsed", "elapsed_time", "ts", "date")
"""How such a file usually calls the time of its rows, with or without the unit behind it."""


def time_column(names: Iterable[str]) -> str:
    """The column that holds the time of the rows by its name, '' where there is none."""
    by_name: dict[str, str] = {}
    for name in names:
        *before, last = WORD_END.split(name.lower().rstrip(")] "))
        bare = "_".join(before) if UNIT_SUFFIXES.get(last) in DURATION_FACTORS else ""
        by_name.setdefault(name.lower(), name)
        by_name.setdefault(f"{bare} ", name)
    return next((by_name[form] for end in ("", " ") for known in TIME_NAMES if (form := known + end) in by_name), "")


TELEMETRY_FORMATS = (TELEMETRY, "perfspect", "perf-stat", "sadf", "prometheus", "psrecord", WIDE)
MEASUREMENTS = (BENCHMARKS, *TELEMETRY_FORMATS, CONFIGURATIONS, SCOUT)
"""Formats of benchmark runs, of counters by the second, and of measured configurations."""

MEASURED_ROWS = {BENCHMARKS: 2, "perf-stat": 3, "sadf": 3, "perfspect": 2, "psrecord": 2, WIDE: 3}
"""Versions of the rows of formats of measurements: raise one when the same file becomes other rows."""


@dataclass(frozen=True)
class Measured:
    """The rows of a measurement file."""

    # 'benchmarks' (a row per run), 'telemetry' (a row per sample) or 'configurations' (a row per measurement)
    kind: str
    # (n_rows, n_columns), no row_id; texts as object or str, numbers as float64 or int64, NaN = no value
    frame: pd.DataFrame
    rows_read: int  # rows + rejected lines
    rejected: tuple[Unreadable, ...] = ()  # the lines that became no row, 1-based in the file as given
    checks: tuple[Check, ...] = ()  # what a reader must know, counted

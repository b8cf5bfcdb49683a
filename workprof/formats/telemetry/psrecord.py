"""psrecord: one process and its children, as plain columns or as CSV."""

from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import TraceError
from workprof.formats.declare import Unreadable
from workprof.formats.telemetry.samples import Samples, labelled, stem_of
from workprof.formats.telemetry.text_table import EXCERPT_CHARACTERS, numbers, read_table
from workprof.formats.telemetry.times import rated
from workprof.store.lines import refuse_unread

PLAIN = "# Elapsed time"
NAMES = {"cpu": "cpu%", "mem_real": "mem_real_mb", "mem_virtual": "mem_virtual_mb", "nproc": "procs"}
"""Our names: cpu is in percent of one core, so several cores exceed 100; memory is in MiB."""

CUMULATIVE = ("read_count", "write_count", "read_bytes", "write_bytes")
PLAIN_NAMES = ("cpu%", "mem_real_mb", "mem_virtual_mb")


def read_psrecord(path: Path, origin: str) -> Samples:
    """The samples of a log; raises TraceError when it is none of psrecord."""
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        first = next((line for line in stream if line.strip()), "")
    if first.startswith(PLAIN):
        return _plain(path, origin)
    if not first.startswith("elapsed_time,"):
        raise TraceError(f"{origin}: the first line is {first[:60]!r}; a log of psrecord starts with its column names")
    table = read_table(path, origin)
    counters = tuple(name for name in table.cells.columns if name != "elapsed_time")
    read = numbers(table, ("elapsed_time", *counters), origin)
    timeless = read.frame["elapsed_time"].isna().to_numpy() & ~read.bad
    values = read.frame[~read.bad & ~timeless]
    t = values["elapsed_time"].to_numpy(dtype=np.float64)
    totals = [name for name in counters if name in CUMULATIVE]
    rates = rated(values[totals], t)
    frame = pd.concat([values.drop(columns=["elapsed_time", *totals]).rename(columns=NAMES), rates.frame], axis=1)
    lost = tuple(Unreadable(int(line), "elapsed_time", "", "no time") for line in table.lines[timeless])
    rejected = (*table.rejected, *read.rejected, *lost)
    return Samples(labelled(frame, t, stem_of(origin)), rejected, read.infinite, rates.checks)


def _plain(path: Path, origin: str) -> Samples:
    rows, rejected, comments = [], [], 0
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            comments += line.startswith("#")
            if line.strip() and not line.startswith("#"):
                row = _row(line.split())
                if row is None:
                    rejected.append(
                        Unreadable(number, "", line.strip()[:EXCERPT_CHARACTERS], "not a time and 3 numbers")
                    )
                else:
                    rows.append(row)
    refuse_unread(path, origin, len(rows) + len(rejected) + comments)
    values = np.array(rows, dtype=np.float64).reshape(-1, 1 + len(PLAIN_NAMES))
    frame = pd.DataFrame(values[:, 1:], columns=list(PLAIN_NAMES))
    return Samples(labelled(frame, values[:, 0], stem_of(origin)), tuple(rejected))


def _row(words: list[str]) -> list[float] | None:
    try:
        row = [float(word) for word in words]
    except ValueError:
        return None
    return row if len(row) == 1 + len(PLAIN_NAMES) and np.isfinite(row[0]) else None

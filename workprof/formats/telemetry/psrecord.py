"""psrecord: one process and its children, as plain columns or as CSV."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from workprof.core.errors import TraceError
from workprof.formats.declare import Unreadable
from workprof.formats.telemetry.samples import Samples, labelled, runs_apart, stem_of
from workprof.formats.telemetry.text_table import EXCERPT_CHARACTERS, numbers, read_table
from workprof.formats.telemetry.times import rated
from workprof.store.lines import refuse_unread

PLAIN = "# Elapsed time"
NAMES = {
    "cpu": "cpu%",
    "mem_real": "mem_real_mb",
    "mem_virtual": "mem_virtual_mb",
    "mem_uss": "mem_uss_mb",
    "nproc": "procs",
}
"""Our names: cpu is in percent of one core, so several cores exceed 100; memory is in MiB."""

CUMULATIVE = ("read_count", "write_count", "read_bytes", "write_bytes")
PLAIN_NAMES = {
    "CPU (%)": "cpu",
    "Real (MB)": "mem_real",
    "Virtual (MB)": "mem_virtual",
    "USS (MB)": "mem_uss",
    "Read count": "read_count",
    "Write count": "write_count",
    "Read bytes": "read_bytes",
    "Write bytes": "write_bytes",
}
"""Columns of the plain form (--uss of psrecord 1.2, --include-io of 1.3) by those of CSV."""

GAP = re.compile(r" {2,}")


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
    lost = tuple(Unreadable(int(line), "elapsed_time", "", "no time") for line in table.lines[timeless])
    return _samples(values, (*table.rejected, *read.rejected, *lost), read.infinite, origin)


def _samples(values: pd.DataFrame, rejected: tuple[Unreadable, ...], infinite: int, origin: str) -> Samples:
    """The samples of columns under CSV's names; what is counted since a process began becomes rates."""
    t = values["elapsed_time"].to_numpy(dtype=np.float64)
    totals = [name for name in values if name in CUMULATIVE]
    rates = rated(values[totals], t)
    frame = pd.concat([values.drop(columns=["elapsed_time", *totals]).rename(columns=NAMES), rates.frame], axis=1)
    samples = labelled(frame, t, stem_of(origin))
    samples["run"], again = runs_apart(samples)
    return Samples(samples, rejected, infinite, (*rates.checks, *again))


def _plain(path: Path, origin: str) -> Samples:
    rows, rejected, comments = [], [], 0
    names = ["elapsed_time"]
    with path.open(encoding="utf-8-sig", errors="replace") as stream:
        for number, line in enumerate(stream, start=1):
            comments += line.startswith("#")
            if line.startswith(PLAIN):
                names[1:] = [PLAIN_NAMES.get(name, name) for name in GAP.split(line[len(PLAIN) :].strip())]
            if line.strip() and not line.startswith("#"):
                row = _row(line.split(), len(names))
                if row is None:
                    reason = f"not a time and {len(names) - 1} numbers"
                    rejected.append(Unreadable(number, "", line.strip()[:EXCERPT_CHARACTERS], reason))
                else:
                    rows.append(dict(zip(names, row, strict=True)))
    refuse_unread(path, origin, len(rows) + len(rejected) + comments)
    values = pd.DataFrame(rows or {name: [] for name in names}, dtype=np.float64)
    return _samples(values, tuple(rejected), 0, origin)


def _row(words: list[str], width: int) -> list[float] | None:
    try:
        row = [float(word) for word in words]
    except ValueError:
        return None
    return row if len(row) == width and np.isfinite(row[0]) else None

"""workprof's own recordings: `workload,run,t,<counters>`, a row per sample, any number of runs one after another."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.errors import ColumnMissing
from workprof.formats.measured import Check, RejectedLine
from workprof.formats.telemetry.own_file import HEADER, OUTCOMES, PARTIAL
from workprof.formats.telemetry.samples import KEYS, Samples, labelled
from workprof.formats.telemetry.text_table import TextTable, numbers, read_table

__all__ = ["OUTCOMES", "STATUSES", "read_own"]

STATUSES = ("complete", "short", "failed")
T_DIGITS = 6
AGAIN_S = 0.5
"""So much later than the first may a second recording's first sample be."""


def read_own(path: Path, origin: str, outcomes: Path | None = None) -> Samples:
    """Return the samples of a recording; a line without workload, run or time is rejected.

    Args:
        path: a plain file.
        origin: its name in messages; one that ends in `.partial` is a recording that was not finished.
        outcomes: the JSON lines that the recorder writes beside a recording, where they are to be had.

    Raises:
        ColumnMissing: when workload, run or t is absent.
        TraceError: on decimal commas.
    """
    table = read_table(path, origin)
    _require(table, origin)
    counters = tuple(name for name in table.cells.columns if name not in KEYS)
    read = numbers(table, ("t", *counters), origin)
    nameless = _nameless(table, read.frame["t"].to_numpy(dtype=np.float64)) & ~read.bad
    kept = ~(read.bad | nameless)
    cells, values = table.cells.loc[kept], read.frame.loc[kept]
    t = np.round(values["t"].to_numpy(dtype=np.float64), T_DIGITS)
    frame = labelled(values.drop(columns="t"), t, cells["run"].str.strip(), cells["workload"].str.strip())
    frame["status"] = _statuses(frame, cells, origin, _told(outcomes))
    frame["run"], again = _runs_apart(frame)
    rejected = (*table.rejected, *read.rejected, *_lost(table, nameless))
    return Samples(frame, rejected, read.infinite, (*_status_checks(frame), *again))


def _runs_apart(frame: pd.DataFrame) -> tuple[pd.Series, tuple[Check, ...]]:
    """Return names of runs in which a second recording under the same name is another run: `1`, `1-2`.

    It is one where every time that falls falls back to the run's start; other orders are a matter of sorting.
    """
    t, first = frame["t"], frame.groupby(["workload", "run"], sort=False)["t"].transform("first")
    fell = frame.groupby(["workload", "run"], sort=False)["t"].diff() < 0
    keys = [frame["workload"], frame["run"]]
    stray = (fell & (t > first + AGAIN_S)).groupby(keys, sort=False).transform("any")
    number = (fell & ~stray).groupby(keys, sort=False).cumsum() + 1
    renamed = frame["run"].where(number == 1, frame["run"] + "-" + number.astype(str))
    count = int((fell & ~stray).sum())
    told = f"{count:,} recordings have the name of an earlier run of the file; each is a run of its own, named NAME-2"
    return renamed, (Check("repeated_runs", "warning", count, told),) if count else ()


def _lost(table: TextTable, nameless: NDArray[np.bool_]) -> tuple[RejectedLine, ...]:
    keys = table.cells.loc[nameless, list(KEYS[:3])].itertuples(index=False)
    return tuple(
        RejectedLine(int(line), "", ",".join(map(str, texts)), "no workload, run or time")
        for line, texts in zip(table.lines[nameless], keys, strict=True)
    )


def _require(table: TextTable, origin: str) -> None:
    missing = [name for name in KEYS[:3] if name not in table.cells.columns]
    if missing:
        raise ColumnMissing(
            f"{origin}: column {missing[0]} is missing; a recording starts with {HEADER.rstrip(',')}, and another CSV "
            f"file of counters is read with --format wide and a mapping"
        )


def _nameless(table: TextTable, t: NDArray[np.float64]) -> NDArray[np.bool_]:
    empty = (table.cells["workload"].str.strip() == "") | (table.cells["run"].str.strip() == "")
    return np.asarray(empty.to_numpy(dtype=bool) | ~np.isfinite(t), dtype=bool)


def _statuses(frame: pd.DataFrame, cells: pd.DataFrame, origin: str, told: Mapping[tuple[str, str], str]) -> pd.Series:
    """Return how each row's run ended: as its file says, as told beside it, or failed where the file is unfinished."""
    if "status" in cells:
        said = cells["status"].str.strip()
        return said.where(said.isin(STATUSES), None).set_axis(frame.index)
    pairs = list(zip(frame["workload"], frame["run"], strict=True))
    found = [told.get(pair) for pair in pairs]
    if origin.endswith(PARTIAL) and pairs:
        found = ["failed" if pair == pairs[-1] else status for pair, status in zip(pairs, found, strict=True)]
    return pd.Series(pd.array(found, dtype="str"), index=frame.index)


def _told(outcomes: Path | None) -> dict[tuple[str, str], str]:
    """Return the status by workload and run; a line that is none is passed over, as the run then has no status."""
    told: dict[tuple[str, str], str] = {}
    for line in _lines_of(outcomes):
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict) and said.get("status") in STATUSES:
            told[str(said.get("workload")), str(said.get("run"))] = said["status"]
    return told


def _lines_of(outcomes: Path | None) -> list[str]:
    """Return the lines of a file that may be there; none where its name would be too long for any."""
    try:
        there = outcomes is not None and outcomes.is_file()
        return outcomes.read_text(encoding="utf-8", errors="replace").splitlines() if outcomes and there else []
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return []
        raise


def _status_checks(frame: pd.DataFrame) -> tuple[Check, ...]:
    runs = frame.drop_duplicates(["workload", "run"])["status"].value_counts()
    words = {"short": "runs have fewer than 90 % of their samples", "failed": "runs did not end as planned"}
    return tuple(
        Check(f"{status}_runs", "warning", int(runs[status]), f"{runs[status]:,} {told}")
        for status, told in words.items()
        if status in runs
    )

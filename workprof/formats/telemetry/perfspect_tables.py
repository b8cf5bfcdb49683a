"""`perfspect telemetry` as JSON: tables of sar, mpstat, iostat and others, each with a clock of its own."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from workprof.errors import TraceError
from workprof.formats.measured import Check
from workprof.formats.telemetry.samples import Samples, labelled, stem_of
from workprof.formats.telemetry.times import of_day, past_midnight, since_start, usual_step

TIME = "Time"
ITEMS = ("CPU", "CORE", "SOCK", "NODE", "Core", "Package", "Die", "IFACE", "Device", "DEV", "Interface", "FILESYSTEM")
"""Fields that say of what a record is."""

AVERAGED = re.compile(r"%|MHz|Freq|await|sz\b|Temp|Watt|°|C\d", re.IGNORECASE)
"""Fields of which the mean over processors or devices is taken; the others are added up."""

NEAR_STEPS = 0.75
"""A table's record belongs to the nearest time of the longest table, if it is no further than so many steps."""


def read_tables(whole: Any, origin: str) -> Samples:
    """Return the samples of all tables on the clock of the longest, a counter `<table>.<field>` each.

    Raises:
        TraceError: when the document is not tables of records with times.
    """
    tables, strange = {}, 0
    if isinstance(whole, dict):
        for name, records in whole.items():
            rows = [one for one in records if isinstance(one, dict)] if isinstance(records, list) else []
            strange += len(records) - len(rows) if rows else 0
            if rows and all(TIME in row for row in rows):
                tables[str(name).removesuffix(" Telemetry")] = _table(rows, origin)
    series = {name: table for name, table in tables.items() if len(table) > 0}
    if not series:
        raise TraceError(
            f"{origin}: there are no tables of records with a {TIME}; run perfspect telemetry --format json"
        )
    clock = max(series.values(), key=len).index.to_numpy(dtype=np.float64)
    frame = pd.concat([_on(clock, table).add_prefix(f"{name}.") for name, table in series.items()], axis=1)
    lacking = len(whole) - len(series)
    told = f"{lacking:,} tables hold no records with a time and are left out"
    odd = f"{strange:,} entries of tables are no records and are left out"
    found = (Check("left_out_tables", "info", lacking, told), Check("odd_records", "warning", strange, odd))
    checks = tuple(check for check in found if check.count)
    stem = stem_of(origin)
    return Samples(labelled(frame.reset_index(drop=True), since_start(clock), stem), (), 0, checks)


def _table(rows: list[dict[str, Any]], origin: str) -> pd.DataFrame:
    """Return one table by time; several records of a time are averaged or added up."""
    names = [name for name in dict.fromkeys(key for row in rows for key in row) if name not in (TIME, *ITEMS)]
    times = past_midnight(of_day([str(row[TIME]) for row in rows], origin))
    texts = pd.DataFrame([{name: row.get(name) for name in names} for row in rows], columns=names)
    values = texts.apply(pd.to_numeric, errors="coerce").astype(np.float64).dropna(axis=1, how="all")
    grouped = values.groupby(times)
    means, sums = grouped.mean(), grouped.sum(min_count=1)
    return pd.DataFrame({name: (means if AVERAGED.search(name) else sums)[name] for name in values}, index=means.index)


def _on(clock: np.ndarray[Any, np.dtype[np.float64]], table: pd.DataFrame) -> pd.DataFrame:
    tolerance = NEAR_STEPS * max(usual_step(clock), 1.0)
    return table.reindex(clock, method="nearest", tolerance=tolerance).reset_index(drop=True)

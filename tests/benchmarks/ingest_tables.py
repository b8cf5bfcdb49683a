"""Ingest of the raw PAI tables, written to disk, against a plain pandas merge of the same CSV files in memory.

Both sides do the corrected join. Each runs in a child process of its own, in turns; time is
the better of the turns of each side, memory the larger peak.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from tests.benchmarks.measure import Measured, Side, run_side

JOBS = 200_000
TURNS = 3
CALL = """
import time
from pathlib import Path
from tests.benchmarks.ingest_tables import {side}
{imports}
started = time.perf_counter()
rows = {side}(Path({tables!r}), Path({home!r}))
seconds = time.perf_counter() - started
told = {{"rows": rows}}
"""
IMPORTS = {"reference": "import pandas", "ours": "import workprof.store.trace_store"}
"""Of either side; they stay out of the time."""

NAMES = ("pai_task_table", "pai_instance_table", "pai_sensor_table", "pai_group_tag_table", "pai_machine_spec")


def run(jobs: int = JOBS, turns: int = TURNS, tables: Path | None = None) -> Measured:
    """Return the times and peaks of both sides on the tables of `jobs` synthetic jobs (or of a folder)."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = tables or _generated(Path(scratch) / "tables", jobs)
        results: dict[str, list[Side]] = {side: [] for side in IMPORTS}
        for _ in range(turns):
            for side, turns_of in results.items():
                turns_of.append(_turn(side, folder, Path(scratch) / "home"))
    seconds = {side: min(turn.seconds for turn in turns_of) for side, turns_of in results.items()}
    peak = {side: max(turn.mb for turn in turns_of) for side, turns_of in results.items()}
    rows = {str(turn.told["rows"]) for turns_of in results.values() for turn in turns_of}
    if len(rows) != 1:
        raise AssertionError(f"the two sides disagree on the rows: {rows}")
    return Measured(
        ratio=seconds["reference"] / seconds["ours"],
        ours_s=seconds["ours"],
        reference_s=seconds["reference"],
        ours_mb=peak["ours"],
        reference_mb=peak["reference"],
        reference="pandas read_csv and merge in memory",
        note=f"{jobs:,} jobs, {int(rows.pop()):,} joined rows; best of {turns} turns; ours is checked and on disk",
    )


def reference(tables: Path, _home: Path) -> int:
    """Join the tables as anyone would with pandas and return the rows."""
    import pandas as pd

    read = {
        name: pd.read_csv(
            tables / f"{name}.csv", header=None, names=(tables / f"{name}.header").read_text().strip().split(",")
        )
        for name in NAMES
    }
    task, instance, sensor, tag, machine = (read[name] for name in NAMES)
    instance = instance[instance["worker_name"].notna()]
    latest = instance.sort_values(["status", "start_time", "end_time"]).drop_duplicates("worker_name", keep="last")
    for column in ("start_time", "end_time"):
        latest[column] = latest[column].where(latest[column] != 0)
    latest["runtime"] = latest["end_time"] - latest["start_time"]
    joined = latest.merge(task, on=["job_name", "task_name"], how="left", suffixes=("", "_task"))
    joined = joined.merge(tag, on="inst_id", how="left")
    joined["group"] = joined["group"].fillna(joined["user"])
    joined = joined.merge(machine, on="machine", how="left", suffixes=("", "_machine"))
    usage = sensor.drop(columns=["job_name", "task_name", "inst_id", "machine"])
    return len(joined.merge(usage, on="worker_name", how="inner"))


def ours(tables: Path, home: Path) -> int:
    """Ingest the tables into a fresh home with the settings of the environment, close it, and return the rows."""
    from workprof.core.settings import from_environment
    from workprof.store.reports import IngestOptions
    from workprof.store.trace_store import TraceStore

    with TraceStore(from_environment().at(home)) as store:
        return store.ingest([tables], IngestOptions(format="pai-tables")).rows


def _generated(folder: Path, jobs: int) -> Path:
    from workprof.synthetic.pai_tables import write_pai_tables

    write_pai_tables(folder, jobs, 0)
    return folder


def _turn(side: str, tables: Path, home: Path) -> Side:
    shutil.rmtree(home, ignore_errors=True)
    return run_side(CALL.format(side=side, imports=IMPORTS[side], tables=str(tables), home=str(home)))

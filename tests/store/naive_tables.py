"""The joins of the raw PAI tables as a slow, obvious pandas version."""

from pathlib import Path

import pandas as pd

from workprof.formats.pai_tables import OPTIONAL, TABLES

SENSORS = [column.name for column in TABLES["pai_sensor_table"]][6:]


def read(folder: Path) -> dict[str, pd.DataFrame]:
    tables = {}
    for name, columns in TABLES.items():
        if name in OPTIONAL and not (folder / f"{name}.csv").exists():
            continue
        types = {column.name: str if column.type == "VARCHAR" else float for column in columns}
        tables[name] = pd.read_csv(folder / f"{name}.csv", header=None, names=list(types), dtype=types)
    return tables


def corrected(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    instance = tables["pai_instance_table"]
    instance = instance[instance["worker_name"].notna()]
    ordered = instance.sort_values(["status", "start_time", "end_time"], kind="stable")
    latest = ordered.drop_duplicates("worker_name", keep="last").sort_index()
    task = (
        tables["pai_task_table"]
        .add_prefix("task_")
        .rename(columns={"task_job_name": "job_name", "task_task_name": "task_name"})
    )
    rows = latest.merge(task, on=["job_name", "task_name"], how="left")
    rows = rows.merge(tables["pai_group_tag_table"], on="inst_id", how="left")
    rows["group"] = rows["group"].fillna(rows["user"])
    machine = tables["pai_machine_spec"].rename(columns={"gpu_type": "machine_gpu_type"})
    rows = rows.merge(machine, on="machine", how="left")
    sensors = tables["pai_sensor_table"][["worker_name", "gpu_name", *SENSORS]]
    rows = rows.merge(sensors, on="worker_name", how="inner")
    for column in ("start_time", "end_time", "task_start_time"):
        rows[column] = rows[column].where(rows[column] != 0)
    runtime = rows["end_time"] - rows["start_time"]
    rows["duration"] = runtime.where(runtime >= 0)
    return rows


def until_the_end(rows: pd.DataFrame) -> pd.DataFrame:
    """Return instances of which the running ones have run from their start to the last moment of all."""
    last = rows[["task_start_time", "start_time", "end_time"]].max().max()
    running = rows["status"] == "Running"
    assert running.any()
    return rows.assign(duration=rows["duration"].mask(running & rows["duration"].isna(), last - rows["start_time"]))


def faithful(tables: dict[str, pd.DataFrame]) -> tuple[pd.DataFrame, list[int]]:
    a = tables["pai_job_table"][["job_name", "inst_id", "user"]].merge(tables["pai_task_table"], on="job_name")
    b = a.merge(tables["pai_group_tag_table"][["inst_id", "group", "workload"]], on="inst_id")
    c = b[(b["status"] == "Terminated") & b["workload"].notna()].copy()
    c["duration"] = c["end_time"] - c["start_time"]
    d = c.merge(tables["pai_instance_table"][["inst_id", "inst_name", "worker_name", "machine"]], on="inst_id")
    e = d.merge(tables["pai_sensor_table"][["inst_id", "gpu_name", *SENSORS]], on="inst_id")
    return e, [len(a), len(b), len(c), len(d), len(e)]

"""Scout's layout: a folder for each run of a workload on some machines of a cloud, and what they did meanwhile.

`4_m4.large_sort_spark_big_1` holds report.json and sar_node1.csv, sar_node2.csv, ...: four machines of type m4.large.
`m4.large_i-0a1_sort_spark_big_1` holds report.json and sar.csv of one machine. A run that was not completed took the
time limit and not its own: it is rejected. Counters are averaged over time on each machine, then over machines.

What a machine is and costs stands in no file. Types that are listed here have cores, memory and a price per hour.

Source: oxhead/scout (Hsu et al., Arrow, ICDCS 2018); prices of Perona's evaluation (Scheinert et al. 2022).
"""

import csv
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from workprof.core.words import counted
from workprof.formats.declare import Unreadable
from workprof.formats.measured import CONFIGURATIONS, Measured
from workprof.store.reports import Check

REPORT = "report.json"
NAME = re.compile(
    r"(?:(?P<count>[0-9]+)_)?(?P<machine>[a-z][a-z0-9-]*\.[a-z0-9]+)(?:_i-[0-9a-f]+)?"
    r"_(?P<workload>[^_]+_[^_]+_[^_]+)_[0-9]+"
)
"""Of a record: machines, their type, an instance; algorithm, framework and size; which run."""

COUNTERS = {
    "cpu_percent": "cpu.%idle",
    "memory_percent": "memory.%memused",
    "disk_percent": "disk.%util",
    "network_percent": "network.%ifutil",
    "cpu_user_percent": "cpu.%usr",
    "cpu_iowait_percent": "cpu.%iowait",
    "tasks": "load.plist-sz",
    "memory_commit_percent": "memory.%commit",
    "disk_await_ms": "disk.await",
}
"""Our column -> the counter that it is the mean of; a busy processor is one that is not idle. The last five and the
disk's are what Arrow looks at."""

TYPES: dict[str, tuple[int, float, float | None]] = {
    f"{kind}.{size}": (cores, memory, None if price is None else round(price * cores / 2, 3))
    for kind, least, price in (
        ("c3", 3.75, None),
        ("m3", 7.5, None),
        ("r3", 15.25, None),
        ("c4", 3.75, 0.1),
        ("m4", 8.0, 0.1),
        ("r4", 15.25, 0.133),
    )
    for size, cores, memory in (("large", 2, least), ("xlarge", 4, 2 * least), ("2xlarge", 8, 4 * least))
} | {"c4.xlarge": (4, 7.5, 0.199), "c4.2xlarge": (8, 15.0, 0.398)}
"""Type -> cores, memory in GiB, and price in $ per hour where the evaluation had one."""


def record_files(path: Path) -> dict[str, Path]:
    """'folder/file' -> file of the records in a folder; nothing where there is none with a report."""
    folders = sorted(one for one in path.iterdir() if NAME.fullmatch(one.name)) if path.is_dir() else []
    if not any((folder / REPORT).is_file() for folder in folders):
        return {}
    wanted = (file for folder in folders for file in sorted(folder.glob("*")) if file.is_file())
    return {f"{one.parent.name}/{one.name}": one for one in wanted if one.name == REPORT or _is_sar(one.name)}


def _is_sar(name: str) -> bool:
    return re.fullmatch(r"sar(_node[0-9]+)?\.csv", name) is not None


def read_records(files: Mapping[str, Path]) -> Measured:
    """A measurement for each record, from 'folder/file' -> file; records that are none are rejected by number."""
    records: defaultdict[str, dict[str, Path]] = defaultdict(dict)
    for name, path in files.items():
        folder, file = PurePath(name).parts[-2:]
        records[folder][file] = path
    rows, rejected, lacking, unread = [], [], [], 0
    for number, (folder, own) in enumerate(records.items(), start=1):
        told = _report(own.get(REPORT))
        if isinstance(told, str):
            rejected.append(Unreadable(number, REPORT, folder, told))
            continue
        count, machine, workload = _named(folder)
        sampled = [_means(path) for name, path in own.items() if name != REPORT]
        unread += sum(not one for one in sampled)
        if len(sampled) < count:
            lacking.append(folder)
        rows.append(
            {"workload": workload, "machine": machine, "count": count, "runtime": told}
            | _of_type(machine)
            | {name: _mean([one[name] for one in sampled if name in one]) for name in COUNTERS}
        )
    table = pd.DataFrame(rows)
    numbers = [name for name in table if name not in ("workload", "machine")]
    table = table.astype(dict.fromkeys(numbers, float)).dropna(axis=1, how="all")
    return Measured(CONFIGURATIONS, table, len(records), tuple(rejected), tuple(_checks(table, lacking, unread)))


def _named(folder: str) -> tuple[int, str, str]:
    """How many machines, of which type, and the workload in words."""
    found = NAME.fullmatch(folder)
    assert found is not None  # noqa: S101  `record_files` has no others
    return int(found["count"] or 1), found["machine"], found["workload"].replace("_", " ")


def _report(path: Path | None) -> float | str:
    """Seconds that a completed run took, or what the report says instead."""
    if path is None:
        return f"there is no {REPORT}"
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        seconds = float(told["elapsed_time"])
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        return f"{REPORT}: {' '.join(str(error).split())}"
    if told.get("completed") is not True:
        return f"completed is {json.dumps(told.get('completed'))}"
    return seconds if math.isfinite(seconds) and seconds > 0 else f"elapsed_time is {told['elapsed_time']}"


def _of_type(machine: str) -> dict[str, Any]:
    cores, memory, price = TYPES.get(machine, (None, None, None))
    return {"cores": cores, "memory_gib": memory, "price_per_h": price}


def _means(path: Path) -> dict[str, float]:
    """Mean of each counter over the samples of a machine."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for sample in _samples(path):
        for name, counter in COUNTERS.items():
            try:
                value = float(sample[counter] or "")
            except (KeyError, ValueError):
                continue
            if math.isfinite(value):
                values[name].append(100 - value if name == "cpu_percent" else value)
    return {name: _mean(own) for name, own in values.items()}


def _samples(path: Path) -> Iterator[dict[str, str | None]]:
    with path.open(encoding="utf-8", errors="replace", newline="") as stream:
        yield from csv.DictReader(stream, restkey="")


def _mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _checks(table: pd.DataFrame, lacking: list[str], unread: int) -> Iterator[Check]:
    if lacking:
        text = f"{counted(len(lacking), 'record')} with counters of fewer machines than it had, the first {lacking[0]}"
        yield Check("counters", "warning", len(lacking), text)
    if unread:
        yield Check("samples", "warning", unread, f"{counted(unread, 'file')} of sar without a sample that can be read")
    priced = table["price_per_h"].notna() if "price_per_h" in table else pd.Series(False, index=table.index)
    if priced.any():
        text = "prices per hour are those of Perona's evaluation (2018); search with --prices for others"
        yield Check("prices", "info", int(priced.sum()), text)
    if not priced.all():
        names = ", ".join(sorted(set(table["machine"][~priced])))
        text = f"no price is known of {names}; search with --prices MACHINE=0.12,..."
        yield Check("no prices", "warning", int((~priced).sum()), text)

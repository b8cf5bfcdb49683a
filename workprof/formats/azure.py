"""Azure's public VM tables (2017 and 2019): one row per virtual machine, no header; and its packing trace (2020).

Times are seconds since the first VM was created. CPU is in percent of the VM's cores. The table of 2019 tells cores and
memory in buckets; the open one (`>24` cores, `>64` GB) counts as 30 cores and 70 GB, as in its authors' own analysis.
A VM whose deletion is the last moment of the table was still there at its end.

Source: AzurePublicDatasetV1, V2 and AzureTracesForPacking2020 in Azure/AzurePublicDataset, and their notebooks.
"""

from collections.abc import Sequence
from dataclasses import replace

from workprof.formats.cells import mostly, number, whole
from workprof.formats.declare import NUMBER, TEXT, Format, Made, Rule, SourceColumn

CATEGORIES = ("interactive", "delay-insensitive", "unknown")
OPEN_CORES, OPEN_MEMORY_GB = 30, 70
"""What the buckets without an upper edge count as."""

NAMES = (
    *("vmid", "subscriptionid", "deploymentid", "vmcreated", "vmdeleted", "maxcpu", "avgcpu", "p95maxcpu"),
    *("vmcategory", "vmcorecountbucket", "vmmemorybucket"),
)
"""Columns in their order; the table of 2017 has plain counts in the last two."""

MOST_CORES, MOST_MEMORY_GB = 1024, 32_768


def recognises(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether rows are those of a VM table."""
    return mostly(rows, _is_row)


def _is_row(row: Sequence[str]) -> bool:
    return (
        len(row) == len(NAMES)
        and all(cell.strip() for cell in row[:2])
        and whole(row[3])
        and whole(row[4], missing=True)
        and (not row[4].strip() or float(row[4]) >= float(row[3]) >= 0)
        and all(number(cell, 0, 110, missing=True) for cell in row[5:8])
        and row[8].strip().lower() in CATEGORIES
        and number(row[9].strip().removeprefix(">"), 0, MOST_CORES)
        and number(row[10].strip().removeprefix(">"), 0, MOST_MEMORY_GB)
    )


def _bucket(columns: Sequence[str], open_bucket: float) -> str:
    """The SQL of the number of a count or a bucket, under whichever name it stands."""
    text = f"trim(coalesce({', '.join(f'CAST({name} AS VARCHAR)' for name in columns)}))"
    return f"CASE WHEN starts_with({text}, '>') THEN {open_bucket} ELSE TRY_CAST({text} AS DOUBLE) END"


CORES, MEMORY = ("vmcorecountbucket", "vmcorecount"), ("vmmemorybucket", "vmmemory")
_ALIVE = "coalesce(end_time_s = max(end_time_s) OVER () AND end_time_s = (max(end_time_s, 2) OVER ())[2], FALSE)"
"""The two last ends are the same, and this is one of them: a window without parts keeps the order of rows."""

FORMAT = Format(
    name="azure",
    title="Azure VM table (vmtable.csv)",
    columns=tuple(
        SourceColumn(name, NUMBER if name in ("vmcreated", "vmdeleted", "maxcpu", "avgcpu", "p95maxcpu") else TEXT)
        for name in NAMES
    ),
    rules=(
        Rule("job_name", "vmid"),
        Rule("user", "subscriptionid"),
        Rule("group", "deploymentid"),
        Rule("workload", "vmcategory"),
        Rule("start_time_s", "vmcreated", "s"),
        Rule("end_time_s", "vmdeleted", "s"),
        Rule("cpu_usage_percent", "avgcpu", "percent"),
    ),
    nulls=("", "NULL", "NaN", "nan"),
    units=(("maxcpu", "percent"), ("p95maxcpu", "percent")),
    made=(
        Made("status", f"CASE WHEN end_time_s IS NULL OR {_ALIVE} THEN 'running' END", needs=("end_time_s",)),
        Made(
            "duration_s",
            "CASE WHEN coalesce(end_time_s, max(end_time_s) OVER ()) >= start_time_s "
            "THEN coalesce(end_time_s, max(end_time_s) OVER ()) - start_time_s END",
            needs=("start_time_s", "end_time_s"),
        ),
        Made("end_time_s", "CASE WHEN status IS NULL THEN end_time_s END", needs=("end_time_s", "status")),
        Made("requested_cpu_percent", f"100.0 * {_bucket(CORES, OPEN_CORES)}", may=CORES),
        Made("requested_memory_bytes", f"1e9 * {_bucket(MEMORY, OPEN_MEMORY_GB)}", may=MEMORY),
        Made(
            "cpu_usage_percent",
            "cpu_usage_percent * requested_cpu_percent / 100",
            needs=("cpu_usage_percent", "requested_cpu_percent"),
        ),
    ),
    header=False,
    recognises=recognises,
    not_known="What the VMs used of their memory is not in the trace.",
)

NAMED = replace(
    FORMAT,
    name="azure-named",
    title="Azure VM table with a header",
    required=("vmid", "vmcreated", "vmdeleted"),
    signature=("vmid", "vmcreated", "vmdeleted", "vmcategory"),
    header=True,
    recognises=None,
)
"""The same table under the names of its columns: those of 2017 end in `vmcorecount` and `vmmemory`."""

PACKING = Format(
    name="azure-packing",
    title="Azure packing trace (table vm)",
    columns=(
        *(SourceColumn(name, TEXT) for name in ("vmId", "tenantId", "vmTypeId", "priority")),
        *(SourceColumn(name, NUMBER) for name in ("starttime", "endtime", "core", "memory")),
    ),
    rules=(
        Rule("job_name", "vmId"),
        Rule("user", "tenantId"),
        Rule("workload", "vmTypeId"),
        Rule("start_time_s", "starttime", "d"),
        Rule("end_time_s", "endtime", "d"),
        Rule("requested_cpu_percent", "core"),
        Rule("requested_memory_bytes", "memory"),
    ),
    required=("vmId", "starttime", "endtime"),
    signature=("vmId", "tenantId", "vmTypeId", "priority", "starttime", "endtime"),
    nulls=FORMAT.nulls,
    made=(
        Made("status", "CASE WHEN end_time_s IS NULL THEN 'running' END", needs=("end_time_s",)),
        next(made for made in FORMAT.made if made.field == "duration_s"),
    ),
    normalised=("requested_cpu_percent", "requested_memory_bytes"),
    not_known=FORMAT.not_known,
)
"""The trace of 2020, as sqlite3 writes its table `vm`: times are days since the trace began, before it below 0.

`core` and `memory` are shares of a machine, where the table `vmType` was joined.
"""

"""The efficiency report of Snakemake's executor for Slurm: a CSV file of sacct's lines with the rule of each job.

Its own columns are in MiB and seconds; 0 stands there where nothing is known. `JobName` is the id of a workflow run.

Source: snakemake-executor-plugin-slurm's documentation (`--slurm-efficiency-report`).
"""

from collections.abc import Sequence
from dataclasses import replace

from workprof.core.units import MIB
from workprof.formats import slurm
from workprof.formats.declare import NUMBER, Made, Rule, SourceColumn

OWN = frozenset(
    {"Elapsed_sec", "TotalCPU_sec", "CPU Efficiency (%)", "MaxRSS_MB", "RequestedMem_MB", "Memory Usage (%)"}
)
LEAST_OWN = 3
NUMBERS = tuple(sorted(OWN))


def headings(names: Sequence[str]) -> tuple[str, ...] | None:
    """The columns as they are, None where they are not those of the report; rules may stand in Comment, or nowhere."""
    bare = {name.strip() for name in names}
    if "JobID" not in bare or len(bare & OWN) < LEAST_OWN:
        return None
    rules = "" if "RuleName" in bare else "Comment"
    return tuple("RuleName" if name.strip() == rules else name for name in names)


FORMAT = replace(
    slurm.FORMAT,
    name="snakemake-slurm-report",
    title="Snakemake's efficiency report of Slurm",
    columns=(*slurm.COLUMNS, SourceColumn("RuleName"), *(SourceColumn(name, NUMBER) for name in NUMBERS)),
    rules=(
        *(rule for rule in slurm.FORMAT.rules if rule.field not in ("task_name", "workload")),
        Rule("task_name", "RuleName"),
        Rule("run_name", "JobName"),
    ),
    signature=(),
    headings=headings,
    bare_quotes="",
    row_numbers=("column_1",),
    made=(
        Made(
            "peak_memory_bytes",
            f"coalesce(nullif(peak_memory_bytes, 0), nullif({MIB} * MaxRSS_MB, 0))",
            needs=("MaxRSS_MB",),
            may=("peak_memory_bytes",),
            of_line=True,
        ),
        Made(
            "duration_s",
            "coalesce(duration_s, nullif(Elapsed_sec, 0))",
            needs=("Elapsed_sec",),
            may=("duration_s",),
        ),
        Made("TotalCPU", "coalesce(TotalCPU, TotalCPU_sec)", needs=("TotalCPU_sec",), may=("TotalCPU",), of_line=True),
        *slurm.FORMAT.made,
        Made(
            "requested_memory_bytes",
            f"coalesce(requested_memory_bytes, nullif({MIB} * RequestedMem_MB, 0))",
            needs=("RequestedMem_MB",),
            may=("requested_memory_bytes",),
        ),
    ),
)

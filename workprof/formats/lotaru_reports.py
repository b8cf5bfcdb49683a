"""Execution reports of Lotaru: a CSV file for each workflow and machine, a line per task.

The names of a Nextflow trace with a workflow, a machine and the sizes of the input beside them. `Realtime` is in
milliseconds, sizes are in bytes, `%cpu` 100 is one core. Every task ended well; no moments are told.

Source: the execution reports of Lotaru (Bader et al. 2022).
"""

from workprof.formats.declare import NUMBER, TEXT, Format, Rule, SourceColumn

_BYTES = ("rss", "vmem", "rchar", "wchar", "WorkflowInputSize", "TaskInputSize", "WorkflowInputUncompressed")
_NUMBERS = (
    *("NumberSequences", "Realtime", "%cpu", "cpus", "memory", "peak_rss", "read_bytes", "write_bytes"),
    "TaskInputSizeUncompressed",
)

FORMAT = Format(
    name="lotaru",
    title="Lotaru's execution reports",
    columns=(
        *(SourceColumn(name, TEXT) for name in ("Label", "Machine", "Workflow", "Task")),
        *(SourceColumn(name, NUMBER) for name in (*_NUMBERS, *_BYTES)),
    ),
    rules=(
        Rule("task_name", "Task"),
        Rule("workload", "Workflow"),
        Rule("node", "Machine"),
        Rule("duration_s", "Realtime", "ms"),
        Rule("requested_cpu_percent", "cpus", "cores"),
        Rule("requested_memory_bytes", "memory", "B"),
        Rule("cpu_usage_percent", "%cpu", "percent"),
        Rule("peak_memory_bytes", "peak_rss", "B"),
        Rule("read_bytes", "read_bytes", "B"),
        Rule("write_bytes", "write_bytes", "B"),
        Rule("input_bytes", "TaskInputSizeUncompressed", "B"),
    ),
    required=("Task", "Realtime"),
    signature=("Task", "Workflow", "Machine", "Realtime", "NumberSequences"),
    nulls=("", "-", "NA", "NaN", "nan", "null"),
    zero_is_unknown=("peak_memory_bytes",),
    units=tuple((name, "B") for name in _BYTES),
    not_known="Reports tell no moments: what follows from the order of runs is not known.",
)

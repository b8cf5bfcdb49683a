"""Pods of the GPU trace of 2023 (openb_pod_list_*.csv): their requests, and when they were created, placed and deleted.

Times are seconds since the trace's own beginning, so 0 is a moment. A pod runs from when it was placed on a node to its
deletion; `pod_phase` is the phase it was in then. Pods that were still there when the trace was taken bear its last
moment as their deletion. A pod that waits has no `scheduled_time`. `gpu_milli` is the share of one GPU.

Source: the README of cluster-trace-gpu-v2023 in Alibaba's clusterdata.
"""

from workprof.formats.declare import NUMBER, TEXT, Format, Made, Rule, SourceColumn

_TEXTS = ("name", "gpu_spec", "qos", "pod_phase")
_NUMBERS = (
    *("cpu_milli", "memory_mib", "num_gpu", "gpu_milli"),
    *("creation_time", "deletion_time", "scheduled_time"),
)
NEEDED = ("name", "cpu_milli", "memory_mib", "num_gpu", "pod_phase", "creation_time", "deletion_time")

FORMAT = Format(
    name="gpu-pods",
    title="Pods of the GPU trace of 2023",
    columns=(
        *(SourceColumn(name, TEXT) for name in _TEXTS),
        *(SourceColumn(name, NUMBER) for name in _NUMBERS),
    ),
    rules=(
        Rule("job_name", "name"),
        Rule("workload", "qos"),
        Rule("gpu_type", "gpu_spec"),
        Rule("status", "pod_phase"),
        Rule("submit_time_s", "creation_time", "s"),
        Rule("start_time_s", "scheduled_time", "s"),
        Rule("end_time_s", "deletion_time", "s"),
        Rule("requested_cpu_percent", "cpu_milli", "milli"),
        Rule("requested_memory_bytes", "memory_mib", "MiB"),
    ),
    required=NEEDED,
    signature=NEEDED,
    nulls=("", "nan", "NaN", "None", "NULL"),
    finished=("succeeded",),
    made=(
        Made(
            "requested_gpu_percent",
            "CASE WHEN num_gpu > 0 THEN num_gpu * coalesce(nullif(gpu_milli, 0), 1000) / 10 END",
            needs=("num_gpu",),
            may=("gpu_milli",),
        ),
        Made(
            "start_time_s",
            "coalesce(start_time_s, CASE WHEN lower(coalesce(status, '')) <> 'pending' THEN submit_time_s END)",
            needs=("submit_time_s",),
            may=("start_time_s", "status"),
        ),
        Made(
            "end_time_s",
            "CASE WHEN lower(coalesce(status, '')) NOT IN ('running', 'pending') "
            "OR end_time_s < max(end_time_s) OVER () THEN end_time_s END",
            needs=("end_time_s", "status"),
        ),
        Made(
            "duration_s",
            "CASE WHEN end_time_s >= start_time_s THEN end_time_s - start_time_s END",
            needs=("start_time_s", "end_time_s"),
        ),
    ),
    not_known="What the pods used is not in the trace.",
)

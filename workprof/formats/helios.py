"""Helios, SenseTime's GPU clusters of 2020: `cluster_log.csv`, one row per Slurm job.

Times carry no zone; `duration` and `queue` are seconds. There is no memory in the trace.

Source: the README of S-Lab-System-Group/HeliosData.
"""

from workprof.formats.declare import NUMBER, TEXT, Format, Rule, SourceColumn

FORMAT = Format(
    name="helios",
    title="Helios cluster_log.csv",
    columns=(
        *(
            SourceColumn(name, TEXT)
            for name in ("job_id", "user", "vc", "jobname", "state", "submit_time", "start_time", "end_time")
        ),
        *(SourceColumn(name, NUMBER) for name in ("gpu_num", "cpu_num", "node_num", "duration", "queue")),
    ),
    rules=(
        Rule("job_name", "job_id"),
        Rule("task_name", "jobname"),
        Rule("user", "user"),
        Rule("group", "vc"),
        Rule("status", "state"),
        Rule("submit_time_s", "submit_time", "s"),
        Rule("start_time_s", "start_time", "s"),
        Rule("end_time_s", "end_time", "s"),
        Rule("duration_s", "duration", "s"),
        Rule("requested_cpu_percent", "cpu_num", "cores"),
        Rule("requested_gpu_percent", "gpu_num", "cores"),
    ),
    required=("job_id", "state"),
    signature=("job_id", "vc", "gpu_num", "cpu_num", "node_num", "state"),
    nulls=("", "NULL", "None", "NaN", "nan", "NaT", "Unknown"),
    many_machines=True,
    finished=("completed",),
    duration_from_times=True,
    units=(("queue", "s"),),
    not_known="Memory is not in the trace, neither requested nor used.",
)

"""The joined sample of the PAI trace: the 33 columns of PolarisProfiler's authors, one row per instance.

Source: the sample of PolarisProfiler (TOIT). Time stamps are seconds with a constant offset, 0 = not known; CPU and
GPU are in
percent of one core or GPU; memory "GB" is GiB; plan_* are per instance; read and write are bytes of network input and
output, read_count and write_count their packets' (Alibaba's description of the trace `cluster-trace-gpu-v2020`).
"""

from workprof.formats.declare import NETWORK, NUMBER, TEXT, Capacity, Format, Rule, SourceColumn

PAI_RULES: tuple[Rule, ...] = (
    Rule("job_name", "job_name"),
    Rule("task_name", "task_name"),
    Rule("user", "user"),
    Rule("group", "group"),
    Rule("workload", "workload"),
    Rule("node", "machine"),
    Rule("gpu_type", "gpu_type"),
    Rule("status", "status"),
    Rule("start_time_s", "start_time", "s"),
    Rule("end_time_s", "end_time", "s"),
    Rule("instances", "inst_num"),
    Rule("requested_cpu_percent", "plan_cpu", "percent"),
    Rule("requested_gpu_percent", "plan_gpu", "percent"),
    Rule("requested_memory_bytes", "plan_mem", "GiB"),
    Rule("cpu_usage_percent", "cpu_usage", "percent"),
    Rule("gpu_usage_percent", "gpu_wrk_util", "percent"),
    Rule("mean_memory_bytes", "avg_mem", "GiB"),
    Rule("peak_memory_bytes", "max_mem", "GiB"),
    Rule("mean_gpu_memory_bytes", "avg_gpu_wrk_mem", "GiB"),
    Rule("peak_gpu_memory_bytes", "max_gpu_wrk_mem", "GiB"),
    Rule("read_bytes", "read", "B", over=NETWORK),
    Rule("write_bytes", "write", "B", over=NETWORK),
    Rule("read_count", "read_count"),
    Rule("write_count", "write_count"),
)
"""What the columns of the PAI trace become, in the joined sample and in the joined raw tables."""

PAI_FINISHED = ("terminated",)
"""Only 'Terminated' is success in the PAI trace."""

PAI_NULLS = ("", "NULL", "\\N")

SENSORS = (
    "cpu_usage",
    "gpu_wrk_util",
    "avg_mem",
    "max_mem",
    "avg_gpu_wrk_mem",
    "max_gpu_wrk_mem",
    "read",
    "write",
    "read_count",
    "write_count",
)

_TEXTS = (
    "job_name",
    "inst_id",
    "user",
    "task_name",
    "status",
    "gpu_type",
    "group",
    "workload",
    "inst_name",
    "worker_name",
    "machine",
    "gpu_type_machine_spec",
    "gpu_name",
)
_NUMBERS = (
    "index",
    "inst_num",
    "start_time",
    "end_time",
    "plan_cpu",
    "plan_mem",
    "plan_gpu",
    "cap_cpu_machine_spec",
    "cap_mem_machine_spec",
    "cap_gpu_machine_spec",
    *SENSORS,
)

NEEDED = ("job_name", "task_name", "start_time", "end_time", "plan_cpu", "cpu_usage")
"""One list for both questions, is it this format and can it be loaded: a name, both times (their difference is the
duration), and the two columns whose names tell that the units are the PAI trace's."""

FORMAT = Format(
    name="pai-sample",
    title="PAI sample (33 joined columns)",
    columns=(
        *(SourceColumn(name, TEXT) for name in _TEXTS),
        *(SourceColumn(name, NUMBER) for name in _NUMBERS),
    ),
    rules=PAI_RULES,
    required=NEEDED,
    signature=NEEDED,
    nulls=PAI_NULLS,
    finished=PAI_FINISHED,
    zero_is_missing=("start_time_s", "end_time_s"),
    duration_from_times=True,
    units=(("cap_cpu_machine_spec", "cores"), ("cap_mem_machine_spec", "GiB")),
    aliases=(("duration", "duration_s"),),
    row_numbers=("index",),
    capacities=(
        Capacity("cpu_usage_percent", "cap_cpu_machine_spec", "cores"),
        Capacity("gpu_usage_percent", "cap_gpu_machine_spec", "cores"),
        Capacity("peak_memory_bytes", "cap_mem_machine_spec", "GiB"),
    ),
)

"""The raw tables of the PAI trace (GPU v2020): CSV without header, joined as published or worker by worker."""

from dataclasses import replace

from workprof.formats.declare import NUMBER, TEXT, Capacity, Format, Rule, SourceColumn
from workprof.formats.pai_sample import PAI_FINISHED, PAI_NULLS, PAI_RULES, SENSORS

_TIMES = ("start_time", "end_time")
_PLANS = ("inst_num", "plan_cpu", "plan_mem", "plan_gpu")
_CAPACITIES = ("cap_cpu", "cap_mem", "cap_gpu")
_LOADS = (
    "machine_cpu_iowait",
    "machine_cpu_kernel",
    "machine_cpu_usr",
    "machine_gpu",
    "machine_load_1",
    "machine_net_receive",
    "machine_num_worker",
    "machine_cpu",
)
_NUMBERS = frozenset((*_TIMES, *_PLANS, *_CAPACITIES, *_LOADS, *SENSORS))


def _columns(names: str) -> tuple[SourceColumn, ...]:
    return tuple(SourceColumn(name, NUMBER if name in _NUMBERS else TEXT) for name in names.split())


TABLES: dict[str, tuple[SourceColumn, ...]] = {
    "pai_job_table": _columns("job_name inst_id user status start_time end_time"),
    "pai_task_table": _columns(
        "job_name task_name inst_num status start_time end_time plan_cpu plan_mem plan_gpu gpu_type"
    ),
    "pai_instance_table": _columns(
        "job_name task_name inst_name worker_name inst_id status start_time end_time machine"
    ),
    "pai_sensor_table": _columns(
        "job_name task_name worker_name inst_id machine gpu_name cpu_usage gpu_wrk_util avg_mem max_mem "
        "avg_gpu_wrk_mem max_gpu_wrk_mem read write read_count write_count"
    ),
    "pai_group_tag_table": _columns("inst_id user gpu_type_spec group workload"),
    "pai_machine_spec": _columns("machine gpu_type cap_cpu cap_mem cap_gpu"),
    "pai_machine_metric": _columns(
        "worker_name machine start_time end_time machine_cpu_iowait machine_cpu_kernel machine_cpu_usr machine_gpu "
        "machine_load_1 machine_net_receive machine_num_worker machine_cpu"
    ),
}
"""Columns of every table in the order of the trace's header files."""

OPTIONAL = ("pai_machine_metric",)

IDENTIFIERS = ("inst_name", "worker_name")
"""Unique texts of 60 hexadecimal digits: they do not compress, and trying costs a tenth of the whole ingest."""

MEASURED = (*SENSORS, *_LOADS)
"""Mean and largest values with all their digits: they hardly compress (a tenth), and trying costs time too."""

INSTANCE_COLUMNS: dict[str, str] = {
    "job_name": "i",
    "task_name": "i",
    "user": "g",
    "group": "g",
    "workload": "g",
    "machine": "i",
    "status": "i",
    "start_time": "i",
    "end_time": "i",
    **dict.fromkeys(("inst_num", "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"), "t"),
    **dict.fromkeys(SENSORS, "s"),
    **dict.fromkeys(("inst_id", "inst_name", "worker_name"), "i"),
    "gpu_name": "s",
    **dict.fromkeys(("cap_cpu", "cap_mem", "cap_gpu"), "m"),
}
"""Columns of a row of the corrected join and the table of each: (i)nstance, (t)ask, (g)roup tag, (m)achine, (s)ensor"""

METRIC_COLUMNS = _LOADS
"""Load of the whole machine while the instance ran; taken where the table is there."""

CORRECTED = Format(
    name="pai-tables",
    title="PAI raw tables, joined on worker_name",
    rules=(Rule("submit_time_s", "task_start_time", "s"), *PAI_RULES),
    nulls=PAI_NULLS,
    finished=PAI_FINISHED,
    zero_is_missing=("submit_time_s", "start_time_s", "end_time_s"),
    duration_from_times=True,
    units=(("wait_s", "s"), ("task_duration_s", "s"), ("cap_cpu", "cores"), ("cap_mem", "GiB")),
    aliases=(("duration", "duration_s"),),
    capacities=(
        Capacity("cpu_usage_percent", "cap_cpu", "cores"),
        Capacity("gpu_usage_percent", "cap_gpu", "cores"),
        Capacity("peak_memory_bytes", "cap_mem", "GiB"),
    ),
)

FAITHFUL_COLUMNS: dict[str, str] = {
    **dict.fromkeys(("job_name", "inst_id", "user", "task_name", "inst_num", "status", "start_time", "end_time"), "c"),
    **dict.fromkeys(("plan_cpu", "plan_mem", "plan_gpu", "gpu_type", "group", "workload", "duration"), "c"),
    **dict.fromkeys(("inst_name", "worker_name", "machine"), "i"),
    "gpu_name": "s",
    **dict.fromkeys(SENSORS, "s"),
}
"""Columns of a row of the published join: (c) tasks with their job and tag, (i)nstance, (s)ensor."""

FAITHFUL = replace(
    CORRECTED,
    title="PAI raw tables, the published cross join on inst_id",
    rules=(*PAI_RULES, Rule("duration_s", "duration", "s")),
    zero_is_missing=(),
    duration_from_times=False,
    units=(),
    aliases=(),
    capacities=(),
)
"""As published: no filter of zero time stamps, the task's duration on every row."""

"""Published figures of the PAI trace that the generator is calibrated to, each with its source.

Sources, by the letter used below:
    trace     alibaba/clusterdata, cluster-trace-gpu-v2020: tables, README and analysis notebook
    nsdi      Weng et al., "MLaaS in the Wild", NSDI 2022 (machine counts, arrival shape)
    sample    the 100,001-row sample of PolarisProfiler (polaris-slo-cloud/polaris-ai, notebook output)
    tail      the 999-row test file of the same repository (recomputed)
"""

from __future__ import annotations

SAMPLE_COLUMNS = (
    "index", "job_name", "inst_id", "user", "task_name", "inst_num", "status", "start_time", "end_time",
    "plan_cpu", "plan_mem", "plan_gpu", "gpu_type", "group", "workload", "inst_name", "worker_name", "machine",
    "gpu_type_machine_spec", "cap_cpu_machine_spec", "cap_mem_machine_spec", "cap_gpu_machine_spec", "gpu_name",
    "cpu_usage", "gpu_wrk_util", "avg_mem", "max_mem", "avg_gpu_wrk_mem", "max_gpu_wrk_mem",
    "read", "write", "read_count", "write_count",
)  # fmt: skip
"""The 33 columns of the authors' sample file, in its order (sample)."""

SENSOR_COLUMNS = SAMPLE_COLUMNS[-10:]
"""The ten measured columns."""

TRUTH_COLUMNS = ("truth_profile", "truth_identifiable", "truth_template", "truth_spike", "truth_outlier")
"""What the generator planted; never a feature."""

SAMPLE_ROWS = 100_001
"""Rows of the published sample, to which `rows` of roles and users refer (sample)."""

OUTLIER = -1
"""`truth_profile` of a planted outlier."""

MEMORY_STEP = 1 / 1024
"""plan_mem and max_mem are whole multiples of this many GiB (tail)."""

TRACE_START_S = 1_814_400
TRACE_DAYS = 50
"""Seconds at which submissions begin (a day boundary) and their span: 49.9 days (tail)."""

TIME_ZONE_S = 8 * 3600
"""Hour of day is kept in UTC+8 (trace README)."""

HOURLY_WEIGHTS = (
    1050, 800, 520, 470, 450, 500, 600, 650, 720, 900, 1180, 1150,
    850, 900, 1100, 1200, 1180, 1120, 900, 850, 880, 900, 950, 1000,
)  # fmt: skip
"""Submissions per hour of day: troughs 2-5 h, peaks 0, 10-11 and 14-17 h (nsdi, read off a figure)."""

SPIKE_S = 13
SPIKE_NEXT_SHARE = 0.18
"""Start-up failures and no-ops end after 13 s, or 14 s: 131 and 28 of 999 rows (tail)."""

SHORTEST_S, LONGEST_S = 12, 105_169
"""Shortest and longest duration (tail)."""

HEAVY_SHARE, RUN_SD, HEAVY_RUN_SD = 0.2, 0.08, 0.8
"""Run-to-run spread of log duration within a group: most groups steady, a fifth heavy (tail)."""

MACHINE_TYPES = {
    "P100": (798, 64, 512, 2),
    "T4": (497, 96, 512, 2),
    "MISC": (280, 96, 512, 8),
    "V100": (135, 96, 512, 8),
    "V100M32": (104, 96, 384, 8),
    "CPU": (83, 96, 512, 0),
}
"""Machines, cores, GB and GPUs by type: 1,897 machines, 6,742 GPUs (nsdi, trace)."""

HOST_SHARES = {
    "bert": {"T4": 0.82, "MISC": 0.12, "V100": 0.04, "P100": 0.02},
    "ctr": {"T4": 0.98, "MISC": 0.02},
    "inception": {"MISC": 0.93, "T4": 0.04, "P100": 0.03},
    "graphlearn": {"MISC": 0.35, "T4": 0.3, "P100": 0.2, "V100": 0.15},
    "rl": {"MISC": 0.6, "T4": 0.3, "CPU": 0.1},
    "": {"MISC": 0.735, "T4": 0.14, "P100": 0.075, "V100": 0.03, "V100M32": 0.02},
}
"""Host type by workload (tail; graphlearn is "mixed", rl is our choice; untagged: so that the types requested by all
tasks come out as in the trace)."""

OTHER_HOSTS = {"MISC": 0.5, "P100": 0.25, "V100": 0.2, "V100M32": 0.05}
"""Host type of the small workloads (our choice)."""

TYPE_MATCHES_HOST = 701 / 705
"""Share of rows whose requested gpu_type is the machine's own (tail)."""

TOP_USER_ROWS = (27_531, 22_873, 17_288, 10_513, 5_515, 4_137, 2_316, 1_845, 899, 642)
"""Rows of the ten largest users (sample)."""

WORKLOAD_ROWS = {
    "bert": 29_818,
    "ctr": 24_881,
    "graphlearn": 13_323,
    "inception": 29_385,
    "nmt": 37,
    "resnet": 166,
    "rl": 2_316,
    "vgg": 32,
    "xlnet": 43,
}
"""Stratum sizes of the sample, round(N_k / N * 100,000) (sample)."""

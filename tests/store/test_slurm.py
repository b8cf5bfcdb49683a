"""Slurm accounting as `sacct -P` prints it: steps fold into jobs, units and states are right, nothing is lost."""

import numpy as np
import pytest

from workprof.core.errors import ColumnMissing, TraceError
from workprof.core.units import GIB, KIB, MIB
from workprof.store.reports import FieldSource, IngestOptions

pytestmark = pytest.mark.slow

RAW = """\
JobID|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|ReqMem|MaxRSS|TotalCPU|ReqCPUS|NNodes|ReqTRES|ExitCode
101|align|ann|lab|short|COMPLETED|2024-05-26T10:00:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00|16G||03:00:00|4|1|cpu=4,mem=16G,node=1|0:0
101.batch|batch||lab||COMPLETED|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00||3500000K|02:59:00|4|1||0:0
101.extern|extern||lab||COMPLETED|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00||1000K|00:00:00|4|1||0:0
101.0|srun||lab||COMPLETED|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-26T12:05:00|02:00:00||5G|00:01:00|4|1||0:0
102_3|train|bob|lab|gpu|OUT_OF_MEMORY|2024-05-26T10:00:00|2024-05-26T10:05:00|2024-05-27T10:05:01|1-00:00:01|4Gc||12:00:00|8|1|cpu=8,gres/gpu:a100=2,mem=32G|0:125
102_3.batch|batch||lab||OUT_OF_MEMORY|2024-05-26T10:05:00|2024-05-26T10:05:00|2024-05-27T10:05:01|1-00:00:01||33000000K|12:00:00|8|1||0:125
103|mpi|ann|lab|long|COMPLETED|2024-05-26T10:00:00|2024-05-26T11:00:00|2024-05-26T11:30:00|00:30:00|8Gn||10:00:00|64|2|cpu=64,mem=16G|0:0
103.0|mpi||lab||COMPLETED|2024-05-26T11:00:00|2024-05-26T11:00:00|2024-05-26T11:30:00|00:30:00||900M|10:00:00|64|2||0:0
104|gone|bob|lab|short|CANCELLED by 1001|2024-05-26T10:00:00|Unknown|Unknown|00:00:00|2G||00:00:00|1|1||0:0
105|long|bob|lab|long|RUNNING|2024-05-26T10:00:00|2024-05-26T10:10:00|Unknown|3-02:00:00|0||00:00.000|2|1||0:0
105.batch|batch||lab||RUNNING|2024-05-26T10:10:00|2024-05-26T10:10:00|Unknown|3-02:00:00||2.5G|00:00:10|2|1||0:0
106.batch|batch||lab||COMPLETED|2024-05-26T10:10:00|2024-05-26T10:10:00|2024-05-26T10:20:00|00:10:00||1G|00:10:00|2|1||0:0
106.extern|extern||lab||COMPLETED|2024-05-26T10:10:00|2024-05-26T10:10:00|2024-05-26T10:20:00|00:10:00||2M|00:00:00|2|1||0:0
"""


def test_a_dump_as_it_is_printed(store, write):
    report = store.ingest([write("sacct.txt", RAW)], IngestOptions())
    assert (report.format, report.rows_read, report.rows, report.rejected, report.lost) == ("slurm", 13, 6, 0, 0)
    checks = {check.name: check.count for check in report.checks}
    assert checks["steps"] == 7
    assert checks["steps without a job"] == 1
    names = ["job_name", "task_name", "user", "status", "duration_s", "requested_memory_bytes", "peak_memory_bytes"]
    names += ["requested_cpu_percent", "requested_gpu_percent", "cpu_usage_percent", "submit_time_s", "end_time_s"]
    frame = store.frame("sacct", names, finished_only=False)
    assert frame["job_name"].tolist() == ["101", "102_3", "103", "104", "105", "106"]
    assert frame["task_name"].tolist()[:3] == ["align", "train", "mpi"]
    assert frame["status"].tolist()[1:5] == ["OUT_OF_MEMORY", "COMPLETED", "CANCELLED", "RUNNING"]
    np.testing.assert_array_equal(frame["duration_s"], [7200, 86_401, 1800, 0, 266_400, 600])
    asked = frame["requested_memory_bytes"].to_numpy() / GIB
    np.testing.assert_array_equal(asked, [16, 32, 8, 2, np.nan, np.nan])
    peak = frame["peak_memory_bytes"].to_numpy()
    np.testing.assert_array_equal(peak, [5 * GIB, 33e6 * KIB, 900 * MIB, np.nan, 2.5 * GIB, GIB])
    np.testing.assert_array_equal(frame["requested_cpu_percent"], [400, 800, 6400, 100, 200, 200])
    np.testing.assert_array_equal(frame["requested_gpu_percent"], [np.nan, 200, np.nan, np.nan, np.nan, np.nan])
    np.testing.assert_allclose(frame["cpu_usage_percent"][:3], [150, 100 * 43_200 / 86_401, 2000])
    assert frame["submit_time_s"][0] == 1716717600.0
    assert np.isnan(frame["end_time_s"][3]) and np.isnan(frame["end_time_s"][4])
    assert store.dataset("sacct").finished_rows == 3


def test_a_merged_dump_with_few_columns(store, write):
    """One line a job (`sacct -X` joined with its peak), in another order, without states of steps."""
    lines = "State|MaxRSS|ElapsedRaw|JobID|ReqMem|AllocCPUS\nCOMPLETED|1048576K|60|7|2Gc|3\nTIMEOUT||3600|8|1500M|1\n"
    report = store.ingest([write("merged.csv", lines)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("slurm", 2, 0)
    frame = store.frame("merged", ["duration_s", "requested_memory_bytes", "peak_memory_bytes"], finished_only=False)
    assert frame["duration_s"].tolist() == [60, 3600]
    assert frame["requested_memory_bytes"].tolist() == [6 * GIB, 1500 * MIB]
    assert frame["peak_memory_bytes"][0] == GIB


def with_cells(line, **values):
    """RAW with other cells in a line."""
    lines = RAW.splitlines()
    lines[line - 1] = "|".join(
        values.get(name, cell) for name, cell in zip(lines[0].split("|"), lines[line - 1].split("|"), strict=True)
    )
    return "\n".join(lines) + "\n"


def test_a_time_that_is_none_is_a_reject_with_its_line(store, write):
    report = store.ingest([write("bad.txt", with_cells(8, Elapsed="12 parsecs"))], IngestOptions())
    assert (report.rejected, report.rows_read) == (1, 13)
    reject = store.rejects("bad").iloc[0]
    assert (reject["line"], reject["column"], reject["text"]) == (8, "Elapsed", "12 parsecs")


WRONG = {"ReqMem": "lots", "MaxRSS": "5Q", "TotalCPU": "some", "Submit": "x", "NNodes": "0.00K"}


def test_another_cell_that_is_none_is_missing_and_told(store, write):
    report = store.ingest([write("bad.txt", with_cells(8, **WRONG))], IngestOptions())
    assert (report.rows, report.rejected) == (6, 0)
    (told,) = (check for check in report.checks if check.name == "bad cells")
    assert (told.level, told.count) == ("warning", len(WRONG))
    assert all(f"{column}: {wrong!r} in line 8" in told.message for column, wrong in WRONG.items())


def test_counts_with_a_suffix_leave_the_jobs_whole(store, write):
    """NordicHPC/slurm2sql, tests/test-data1.csv: ReqNodes 0.00K under --units=K."""
    text = (
        "JobID|State|Elapsed|ReqNodes|NNodes|ReqCPUS|ReqMem|MaxRSS\n"
        "7|COMPLETED|01:00:00|0.00K|1|4|8G|\n7.batch|COMPLETED|01:00:00|0.00K|1|4|8G|3145728K\n"
    )
    report = store.ingest([write("k.txt", text)], IngestOptions())
    assert (report.rows, report.rejected) == (1, 0)
    (told,) = (check for check in report.checks if check.name == "bad cells")
    assert (told.count, "ReqNodes: '0.00K' in line 2 and 1 more" in told.message) == (2, True)
    fields = ["requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent"]
    assert store.frame("k", fields)[fields].to_numpy().tolist() == [[8 * GIB, 3 * GIB, 400.0]]


def test_without_any_time_it_is_refused(store, write):
    with pytest.raises(ColumnMissing, match=r"duration_s.*Export Start, End, Elapsed, too"):
        store.ingest([write("no.txt", "JobID|State|ReqMem\n1|COMPLETED|4G\n")], IngestOptions())


def loaded(store, write, text, *fields):
    """Return the checks by name and the fields of the runs of a dump."""
    report = store.ingest([write("dump.txt", text)], IngestOptions())
    frame = store.frame(report.dataset, list(fields), finished_only=False)
    return {check.name: check for check in report.checks}, frame[list(fields)].to_numpy().tolist()


@pytest.mark.parametrize("order", [1, -1])
def test_dumps_one_behind_another_tell_a_run_once(store, write, order):
    """A job that runs or waits in one dump has ended in the next; lives of a requeued one all stay, in any order."""
    day = "2026-01-05T"
    asked = f"{day}07:00:00"
    first = [f"1|RUNNING|{asked}|{day}08:00:00|Unknown", *[f"2|PENDING|{asked}|Unknown|Unknown"] * (order > 0)]
    lives = [f"3|NODE_FAIL|{asked}|{day}08:00:00|{day}08:30:00", f"3|RUNNING|{day}08:30:00|{day}09:00:00|Unknown"]
    lives += [f"4|NODE_FAIL|{asked}|{day}08:00:00|{day}08:30:00", f"4|PENDING|{day}08:30:00|Unknown|Unknown"]
    then = [f"{job}|COMPLETED|{asked}|{day}08:00:00|{day}10:00:00" for job in (1, 2)]
    text = "\n".join(["JobID|State|Submit|Start|End", *[*first, *lives, *then][::order]])
    report = store.ingest([write("all.txt", text)], IngestOptions())
    counts = {check.name: check.count for check in report.checks}
    assert (report.rows, counts["told again"]) == (6, 1 + (order > 0))
    frame = store.frame("all", ["job_name", "status"], finished_only=False)
    assert sorted(zip(frame["job_name"], frame["status"], strict=True)) == [
        *(("1", "COMPLETED"), ("2", "COMPLETED"), ("3", "NODE_FAIL"), ("3", "RUNNING")),
        *(("4", "NODE_FAIL"), ("4", "PENDING")),
    ]


def test_moments_that_are_all_in_milliseconds_are_told_as_such(store, write):
    lines = ["JobID|State|Start|End", *(f"{at}|COMPLETED|{1714557600 + at}000|{1714557660 + at}000" for at in range(4))]
    report = store.ingest([write("sacct.txt", "\n".join(lines))], IngestOptions())
    (told,) = [check for check in report.checks if check.name == "units disagree"]
    assert (told.count, "than their format" in told.message) == (4, True)
    assert store.frame("sacct", ["duration_s"])["duration_s"].tolist() == [60.0] * 4


def test_headings_that_stand_there_again_are_no_run(store, write):
    dumps = [f"JobID|State|ReqMem|ElapsedRaw\n{at}|COMPLETED|4G|{at}0\n{at}7|FAILED|x|y\n" for at in (1, 2, 3)]
    report = store.ingest([write("cat.txt", "".join(dumps))], IngestOptions())
    assert (report.rows_read, report.rows, report.rejected) == (8, 6, 2)
    assert sorted(set(store.rejects(report.dataset)["line"])) == [4, 7]


def test_slashes_are_read_as_the_whole_dump_tells_or_asked(store, write):
    """`SLURM_TIME_FORMAT='%d/%m/%Y %T'`."""
    head, moment = "JobID|State|Submit|Start|End\n", "{}/01/2026 10:00:00"
    days = [f"{at}|COMPLETED|{moment.format('06')}|{moment.format(day)}|Unknown\n" for at, day in enumerate(("07", 20))]
    _, rows = loaded(store, write, head + "".join(days), "submit_time_s", "start_time_s")
    assert rows == [[1767693600, 1767780000], [1767693600, 1768903200]]
    with pytest.raises(TraceError, match=r'begin with the day or with the month.*"unit": "d/m/y"'):
        store.ingest([write("asked.txt", head + days[0])], IngestOptions())
    for unit, start in (("d/m/y", 1767780000), ("s", 1782900000)):
        given = {name: FieldSource(column, unit) for name, column in (("start_time_s", "Start"), ("end_time_s", "End"))}
        given["submit_time_s"] = FieldSource("Submit", unit)
        report = store.ingest([write("asked.txt", head + days[0])], IngestOptions(mapping=given))
        assert store.frame(report.dataset, ["start_time_s"], finished_only=False)["start_time_s"].tolist() == [start]


TASKS = """\
JobID|State|Elapsed|AllocCPUS|NNodes|NTasks|ReqMem|MaxRSS|AveRSS|TRESUsageInTot
1|COMPLETED|00:50:00|8|1||16000M|||
1.batch|COMPLETED|00:50:00|8|1|1||20264K|20264K|cpu=00:00:00,mem=20264K
1.0|COMPLETED|00:50:00|8|1|8||1947276K|1947276K|cpu=05:49:59,mem=15578208K
2|COMPLETED|00:50:00|8|2||16000M|||
2.0|COMPLETED|00:50:00|8|2|8||1947276K|1900000K|cpu=05:49:59,mem=15200000K
"""
"""troycomi/reportseff#41: eight tasks on a node; the same over two nodes."""

BOUND = ("peak_memory_bytes", "requested_memory_bytes", "peak_memory_is_lower_bound")


def test_use_and_request_are_those_of_a_node(store, write):
    checks, rows = loaded(store, write, TASKS, *BOUND)
    assert rows == [[15578208 * KIB, 16000 * MIB, 0], [7600000 * KIB, 8000 * MIB, 0]]
    assert checks["several nodes"].count == 1
    assert "lower bound" not in checks


def test_without_the_sum_the_mean_of_the_tasks_tells_it(store, write):
    text = "\n".join(line.rsplit("|", 1)[0] for line in TASKS.splitlines()) + "\n"
    assert loaded(store, write, text, *BOUND)[1] == [[15578208 * KIB, 16000 * MIB, 0], [7600000 * KIB, 8000 * MIB, 0]]


@pytest.mark.parametrize("dropped", [("AveRSS", "TRESUsageInTot"), ("NTasks", "AveRSS", "TRESUsageInTot")])
def test_the_largest_of_several_tasks_alone_is_a_lower_bound(store, write, dropped):
    rows = [line.split("|") for line in TASKS.splitlines()]
    kept = [at for at, name in enumerate(rows[0]) if name not in dropped]
    checks, found = loaded(store, write, "".join("|".join(row[at] for at in kept) + "\n" for row in rows), *BOUND)
    assert found == [[1947276 * KIB, 16000 * MIB, 1], [1947276 * KIB, 8000 * MIB, 1]]
    assert checks["lower bound"].count == 2
    assert "NTasks" in checks["lower bound"].message


def test_tasks_that_are_spread_unevenly_are_a_lower_bound(store, write):
    text = TASKS.replace("2.0|COMPLETED|00:50:00|8|2|8|", "2.0|COMPLETED|00:50:00|8|2|7|")
    assert loaded(store, write, text, *BOUND)[1][1] == [7600000 * KIB, 8000 * MIB, 1]


STEPS = """\
JobID|State|Start|End|Elapsed|ReqMem|NTasks|MaxRSS|NodeList
1|COMPLETED|2026-03-01T10:00:00|2026-03-01T11:00:00|01:00:00|16G|||n[1-2]
1.batch|COMPLETED|2026-03-01T10:00:00|2026-03-01T11:00:00|01:00:00||1|1G|n1
1.0|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:30:00|00:30:00||1|6G|n1
1.1|COMPLETED|2026-03-01T10:{begins}:00|2026-03-01T11:00:00|00:30:00||1|6G|{node}
"""


@pytest.mark.parametrize(("begins", "node", "is_bound"), [("29", "n1", 1), ("30", "n1", 0), ("29", "n2", 0)])
def test_steps_of_a_node_at_the_same_time_are_a_lower_bound(store, write, begins, node, is_bound):
    checks, rows = loaded(store, write, STEPS.format(begins=begins, node=node), *BOUND)
    assert rows == [[6 * GIB, 8 * GIB, is_bound]]
    assert ("lower bound" in checks) == bool(is_bound)


@pytest.mark.parametrize(
    ("nodes", "count"),
    [("n[001-004]", 4), ("n1", 1), ("a[01-03,07],gpu-1", 5), ("gpu-1-2", 1), (f"n[1-{10**20}]", 1)],
)
def test_a_list_of_nodes_tells_how_many_share_the_request(store, write, nodes, count):
    text = f"JobID|State|Elapsed|ReqMem|MaxRSS|NodeList\n1|COMPLETED|00:50:00|20G||{nodes}\n"
    checks, rows = loaded(store, write, f"{text}1.0|COMPLETED|00:50:00||2G|{nodes}\n", *BOUND)
    assert rows == [[2 * GIB, 20 * GIB / count, 1]]  # nothing tells how many tasks the step had
    assert ("several nodes" in checks) == (count > 1)


@pytest.mark.parametrize("told", ["User", "Partition", "Timelimit", "ReqMem"])
def test_steps_whose_point_a_spreadsheet_took_are_no_jobs(store, write, told):
    """12.0 is the number 12 there; lives of a requeued job have a user each."""
    value = {"User": "ann", "Partition": "p", "Timelimit": "01:00:00", "ReqMem": "4G"}[told]
    lines = (
        "1,{0},10,20,",
        "1.batch,,10,20,1G",
        "1,,10,20,3G",
        "2,{0},10,15,",
        "2,{0},20,30,",
        "2,,21,30,2G",
        "3,,10,20,1G",
        "3,{0},30,40,2G",
    )
    text = "\n".join(("JobID,{1},Start,End,MaxRSS,State", *(f"{line},COMPLETED" for line in lines), ""))
    checks, rows = loaded(store, write, text.format(value, told), "job_name", "start_time_s", "peak_memory_bytes")
    assert rows == [
        ["1", 10, 3 * GIB],
        ["2", 10, pytest.approx(np.nan, nan_ok=True)],
        ["2", 20, 2 * GIB],
        ["3", 10, GIB],
        ["3", 30, 2 * GIB],
    ]
    assert checks["steps"].count == 3


def test_a_batch_script_over_several_cores_is_one_task(store, write):
    text = "JobID|State|Elapsed|AllocCPUS|ReqMem|MaxRSS\n1|COMPLETED|01:00:00|8|4G|\n1.batch|COMPLETED|01:00:00|8||1G\n"
    assert loaded(store, write, text, *BOUND)[1] == [[GIB, 4 * GIB, 0]]


KILLED = """\
JobID|State|ExitCode|Elapsed|ReqMem|NTasks|MaxRSS
1|FAILED|9:0|00:00:01|150M||
1.batch|FAILED|9:0|00:00:01||1|10436K
1.0|CANCELLED by 0|0:9|00:00:01||1|730628K
2|FAILED|9:0|00:00:01|150M||
2.0|CANCELLED by 0|0:9|00:00:01||1|30628K
3|FAILED|3:0|00:00:01|150M||
3.0|FAILED|3:0|00:00:01||1|730628K
4|OUT_OF_MEMORY|0:125|00:00:01|150M||
4.batch|OUT_OF_MEMORY|0:125|00:00:01||1|150M
5|FAILED|1:0|00:00:01|150M||
5.0|OUT_OF_ME+|0:125|00:00:01||1|150M
6|CANCELLED by 7|0:0|00:00:01|150M||
6.0|CANCELLED by 7|0:9|00:00:01||1|730628K
7|FAILED|0:9|00:00:01|150M||
7.batch|CANCELLED by 0|0:9|00:00:01||1|730628K
8|FAILED|137:0|00:00:01|150M||
8.0|CANCELLED by 0|0:9|00:00:01||1|730628K
"""


def test_a_kill_for_memory_is_known_by_the_state_or_by_the_step_that_was_killed(store, write):
    """Where Slurm kills by accounting (OverMemoryKill) the job fails with 9:0, 0:9 or 137:0, its step is cancelled."""
    checks, rows = loaded(store, write, KILLED, "job_name", "out_of_memory_kills")
    killed = {"1", "4", "5", "7", "8"}
    assert rows == [[name, int(name in killed)] for name in "12345678"]
    assert checks["killed for memory"].count == 4


CPU = """\
JobID|State|Elapsed|TotalCPU|UserCPU|SystemCPU|AveCPU|NTasks|ReqMem|MaxRSS
1|COMPLETED|00:10:00|00:00:00|00:00:00|00:00:00|||4G|1G
2|COMPLETED|00:10:00|00:00:00|00:04:00|00:01:00|||4G|1G
3|COMPLETED|00:10:00|00:00:00|00:00:00|00:00:00|00:02:00|4|4G|1G
4|COMPLETED|00:10:00|00:00:00|00:00:00|00:00:00|||4G|
"""


def test_a_cpu_time_of_zero_beside_other_use_is_not_known(store, write):
    checks, rows = loaded(store, write, CPU, "cpu_usage_percent")
    np.testing.assert_array_equal(np.array(rows, dtype=float).ravel(), [np.nan, 50, 80, 0])
    assert checks["CPU time of zero"].count == 1


GPUS = """\
JobID|State|Elapsed|AllocTRES
401|COMPLETED|01:00:00|billing=40,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1
402|COMPLETED|01:00:00|billing=40,cpu=8,gres/gpu:a100=1,gres/gpu:v100=2,mem=64G,node=2
403|COMPLETED|01:00:00|billing=40,cpu=8,gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2,mem=64G,node=2
404|COMPLETED|01:00:00|billing=40,cpu=8,gres/gpu:nvidia_a100_1g.5gb=1,gres/gpu=1,mem=64G,node=1
405|COMPLETED|01:00:00|billing=40,cpu=8,gres/shard=4,mem=64G,node=1
"""


def test_several_kinds_of_gpus_are_summed_and_all_told(store, write):
    _, rows = loaded(store, write, GPUS, "requested_gpu_percent", "gpu_type")
    assert rows[:4] == [[200, "a100"], [300, "a100+v100"], [300, "a100+v100"], [100, "nvidia_a100_1g.5gb"]]
    assert np.isnan(rows[4][0])


def test_counts_in_1024s_are_read(store, write):
    """Slurm's convert_num_unit2 prints counts of nodes so, as long as nothing is lost."""
    counts = {"2K": 2048, "1.50K": 1536, "2.5K": 2560, "4": 4}
    text = "JobID|State|Elapsed|NNodes|AllocCPUS|ReqMem|MaxRSS|TRESUsageInTot|NTasks\n" + "".join(
        f"{at}|COMPLETED|01:00:00|{told}|8K|{nodes}G|||\n{at}.0|COMPLETED|01:00:00|{told}|8K||1G|mem={nodes}G|{told}\n"
        for at, (told, nodes) in enumerate(counts.items(), start=7)
    )
    report = store.ingest([write("k.txt", text)], IngestOptions())
    assert not [check for check in report.checks if check.level == "warning"]
    fields = ["requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent", "NNodes"]
    assert store.frame("k", fields)[fields].to_numpy().tolist() == [[GIB, GIB, 819_200, n] for n in counts.values()]


def test_counts_that_were_rounded_are_missing_and_told(store, write):
    counts = ["0.50K", "1.49K", "2k", "K", "2KB", "1"]
    rows = "".join(f"{at}|COMPLETED|01:00:00|{told}|8G|1G\n" for at, told in enumerate(counts, start=7))
    report = store.ingest([write("k.txt", "JobID|State|Elapsed|NNodes|ReqMem|MaxRSS\n" + rows)], IngestOptions())
    assert [check.count for check in report.checks if check.name == "bad cells"] == [5]
    np.testing.assert_array_equal(store.frame("k", ["NNodes"])["NNodes"], [np.nan] * 5 + [1])


REQUESTED = [
    *(("PER_NODE:gpu:2", 800, None), ("PER_NODE:gres:gpu:a100:1", 400, "a100"), ("PER_JOB:gpu:3", 300, None)),
    *(("craynetwork:1,PER_NODE:gpu:v100:2", 800, "v100"), ("gpu:t4:1", 100, "t4")),
    ("PER_NODE:gpu:a100:1,PER_NODE:gpu:v100:1", 800, "a100+v100"),
]
"""ReqGRES of Slurm from 20.02 on: those of each node count as often as there are nodes."""
ALLOCATED = [
    *(("gpu:a100:1,gpu:v100:2", 300, "a100+v100"), ("gpu:3(S:0-1)", 300, None)),
    *(("craynetwork:1", np.nan, None), ("gpu:t4:1", 100, "t4")),
]
"""AllocGRES of Slurm before 20.11."""


@pytest.mark.parametrize(("column", "cases"), [("ReqGRES", REQUESTED), ("AllocGRES", ALLOCATED)])
def test_gpus_of_older_lists_of_resources_are_summed(store, write, column, cases):
    rows = "".join(f"{at}|COMPLETED|01:00:00|8G|4|{gres}\n" for at, (gres, _, _) in enumerate(cases, start=1))
    store.ingest([write("g.txt", f"JobID|State|Elapsed|ReqMem|NNodes|{column}\n{rows}")], IngestOptions())
    frame = store.frame("g", ["requested_gpu_percent", "gpu_type"])
    np.testing.assert_array_equal(frame["requested_gpu_percent"], [percent for _, percent, _ in cases])
    kinds = frame["gpu_type"].astype(object).where(frame["gpu_type"].notna(), None).tolist()
    assert kinds == [kind for _, _, kind in cases]


@pytest.mark.parametrize("of_step", ["alpha", ""])
def test_steps_are_of_the_job_of_their_cluster(store, write, of_step):
    """`sacct -M alpha,beta`: each cluster counts its jobs from 1."""
    text = (
        "JobID|Cluster|State|Start|Elapsed|ReqMem|MaxRSS\n"
        "7|beta|COMPLETED|2024-05-26T10:00:00|04:00:00|200G|\n7.0|beta|COMPLETED|2024-05-26T11:00:00|03:00:00||150G\n"
        "7|alpha|COMPLETED|2024-05-26T10:30:00|02:00:00|4G|\n"
        f"7.batch|{of_step}|COMPLETED|2024-05-26T10:30:00|02:00:00||1G\n"
        "8.batch|alpha|COMPLETED|2024-05-26T10:30:00|02:00:00||3G\n"
    )
    checks, rows = loaded(store, write, text, "job_name", "cluster", "peak_memory_bytes")
    assert rows == [["7", "beta", 150 * GIB], ["7", "alpha", GIB], ["8", "alpha", 3 * GIB]]
    assert (checks["steps"].count, checks["steps without a job"].count) == (2, 1)


@pytest.mark.parametrize(
    ("requested", "peak", "told"),
    [("8G", "1234", "unit of memory"), ("8", "1264197K", "unit of requests"), ("8G", "1264197K", "")],
)
def test_memory_in_another_unit_than_sacct_writes_is_told(store, write, requested, peak, told):
    """Tables made of sacct have MaxRSS as bare MB, or ReqMem as bare GB."""
    rows = "".join(f"{at},COMPLETED,01:00:00,{requested},{peak}\n" for at in range(5)) + "9,COMPLETED,01:00:00,8G,2G\n"
    checks, _ = loaded(store, write, f"JobID,State,Elapsed,ReqMem,MaxRSS\n{rows}", "job_name")
    assert {name: check.count for name, check in checks.items() if name.startswith("unit of")} == (
        {told: 5} if told else {}
    )


@pytest.mark.parametrize(("name", "cells"), [("CPUTimeRAW", ("14400", "14400")), ("CPUTime", ("04:00:00", "04:00:00"))])
def test_a_time_of_all_cores_tells_how_long_a_job_ran(store, write, name, cells):
    text = f"JobID|State|NCPUS|{name}|MaxRSS|ReqMem\n7|COMPLETED|4|{cells[0]}||8G\n7.batch|COMPLETED|4|{cells[1]}|2G|\n"
    _, rows = loaded(store, write, text, "duration_s", "peak_memory_bytes")
    assert rows == [[3600, 2 * GIB]]


def test_cores_of_a_job_that_got_none_are_not_known(store, write):
    text = "JobID|State|Elapsed|AllocCPUS|ReqMem|MaxRSS\n1|COMPLETED|01:00:00|8|4G|1G\n2|PENDING|00:00:00|0|4G|\n"
    report = store.ingest([write("s.txt", text)], IngestOptions())
    frame = store.frame(report.dataset, ["requested_cpu_percent"], finished_only=False)
    np.testing.assert_equal(frame["requested_cpu_percent"].tolist(), [800, np.nan])

"""Files of a kind that were read wrong without a word: times of another century, ends that never come, broken lines."""

import fcntl
import os
import stat

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import ColumnMissing, UnitUnknown
from workprof.store.home import WRITER
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore

pytestmark = pytest.mark.slow

AUTO = IngestOptions()
DAY = 86_400.0
OCT_1 = 1_790_812_800.0
"""2026-10-01."""


def loaded(store, path, *columns):
    report = store.ingest([path], AUTO)
    frame = store.frame(report.hash, list(columns), finished_only=False)
    return report, frame, {check.name: check for check in report.checks}


@pytest.mark.some(3)
@pytest.mark.parametrize(
    "start, end",
    [
        ("{d}/{m}/26 {h}:00", "{d}/{m}/26 {h}:30"),
        ("{m}/{d}/26 {h}:00", "{m}/{d}/26 {h}:30"),
        ("{d}.{m}.26 {h}:00", "{d}.{m}.26 {h}:30"),
        ("{d}.{m}.26 {h}:00:00", "{d}.{m}.26 {h}:30:00"),
        ("{d}-Oct-26 {h}:00", "{d}-OCT-26 {h}:30"),
        ("{d} Oct 26 {h}:00:00", "{d} Oct 26 {h}:30:00"),
    ],
)
def test_years_of_two_digits_are_of_this_century_up_to_68_and_told(store, write, start, end):
    rows = [(start.format(d=d, m=10, h=7), end.format(d=d, m=10, h=7)) for d in range(14, 20)]
    text = "job;started;finished\n" + "".join(f"j{at};{a};{b}\n" for at, (a, b) in enumerate(rows))
    _, frame, checks = loaded(store, write("y.csv", text), "start_time_s", "duration_s")
    assert frame["start_time_s"].tolist() == [OCT_1 + (d - 1) * DAY + 7 * 3600 for d in range(14, 20)]
    assert frame["duration_s"].tolist() == [1800.0] * 6
    assert checks["years of two digits"].count == 6


def test_years_of_four_digits_are_not_told(store, write):
    text = "job;started;finished\n" + "".join(f"j{d};{d}.10.2026 07:00;{d}.10.2026 07:30\n" for d in range(14, 20))
    _, frame, checks = loaded(store, write("y.csv", text), "start_time_s")
    assert frame["start_time_s"].min() == OCT_1 + 13 * DAY + 7 * 3600
    assert "years of two digits" not in checks


OPEN = ["infinity", "-infinity", "Infinity", "epoch", "9999-12-31 00:00:00", "9999-12-31", "1970-01-01 00:00:00"]
OPEN += ["0001-01-01 00:00:00", "0000-00-00 00:00:00", "0001-01-01T00:00:00Z"]


@pytest.mark.some(3)
@pytest.mark.parametrize("word", OPEN)
@pytest.mark.parametrize("late", [False, True])
def test_an_end_that_never_comes_is_a_run_that_goes_on(store, write, word, late):
    """`late`: after the rows from which the type of the column is guessed."""
    rows = [f"j{at},2026-10-01 {at % 20:02}:00:00,2026-10-01 {at % 20:02}:30:00,4" for at in range(300)]
    rows.insert(299 if late else 3, f"open,2026-10-01 05:00:00,{word},4")
    text = "job,started,finished,memory_gb\n" + "\n".join(rows) + "\n"
    report, frame, _ = loaded(store, write("o.csv", text), "job_name", "start_time_s", "end_time_s", "duration_s")
    assert (report.rows, report.rejected, report.running) == (301, 0, 1)
    going = frame[frame["job_name"] == "open"].iloc[0]
    assert np.isnan(going["end_time_s"])
    assert going["duration_s"] == OCT_1 + 19.5 * 3600 - going["start_time_s"]
    assert frame[frame["job_name"] != "open"]["duration_s"].sum() == 300 * 1800


def test_a_start_that_never_comes_has_no_time(store, write):
    text = "job;started;finished\n" + "".join(f"j{h};2026-10-01 0{h}:00:00;2026-10-01 0{h}:30:00\n" for h in range(6))
    report, frame, _ = loaded(store, write("s.csv", text + "j6;infinity;2026-10-01 05:00:00\n"), "duration_s")
    assert (report.rows, report.rejected, report.running) == (7, 0, 1)
    assert frame["duration_s"].sum() == 6 * 1800


def going_on(ends, extra=""):
    rows = [f"j{h},2026-10-01 {h:02}:00:00,2026-10-01 {h:02}:30:00\n" for h in range(20)]
    return "job,started,finished\n" + "".join(rows) + "going,2026-10-01 12:00:00,\n" + extra + ends


@pytest.mark.parametrize("end", ["2062-10-01 00:00:00", "2027-01-01 00:00:00", "2026-10-20 08:00:00"])
def test_a_late_end_does_not_stretch_running_rows_and_is_told(store, write, end):
    path = write("late.csv", going_on(f"late,2026-10-01 01:00:00,{end}\n"))
    _, frame, checks = loaded(store, path, "job_name", "duration_s")
    assert frame.set_index("job_name")["duration_s"]["going"] == 7.5 * 3600
    assert checks["beyond the trace"].count == 1
    assert f"late at {end}" in checks["beyond the trace"].message


def test_a_late_end_that_the_own_duration_confirms_is_the_end_of_the_trace(store, write):
    text = "job_name,start_time_s,end_time_s,duration_s\n"
    text += "".join(f"j{h},{h * 3600},{h * 3600 + 600},600\n" for h in range(30))
    path = write("long.csv", text + f"going,100,,\nlong,0,{20 * DAY:.0f},{20 * DAY:.0f}\n")
    _, frame, checks = loaded(store, path, "job_name", "duration_s")
    assert frame.set_index("job_name")["duration_s"]["going"] == 20 * DAY - 100
    assert "beyond the trace" not in checks


def test_many_late_rows_are_a_part_of_the_trace(store, write):
    later = "".join(f"k{at},2026-11-0{at} 01:00:00,2026-11-0{at} 02:00:00\n" for at in range(1, 5))
    _, frame, checks = loaded(store, write("two.csv", going_on("", later)), "job_name", "duration_s")
    assert "beyond the trace" not in checks
    assert frame.set_index("job_name")["duration_s"]["going"] > 30 * DAY


HEADER = "job_name,node,duration_s\n"


@pytest.mark.parametrize("rows", [50, 20_000])
def test_lines_that_end_with_carriage_returns_alone(store, write, rows):
    lines = [f"j{at},n{at % 3},{at}" for at in range(rows)]
    text = "\r".join([HEADER.strip(), *lines]) + "\r"
    report, frame, _ = loaded(store, write("mac.csv", text), "node", "duration_s")
    assert (report.rows, report.rejected) == (rows, 0)
    assert set(frame["node"]) == {"n0", "n1", "n2"}
    assert frame["duration_s"].sum() == rows * (rows - 1) / 2


@pytest.mark.parametrize("place", [3, 30_000])
def test_a_carriage_return_within_a_line_loses_no_row_and_is_told(store, write, place):
    lines = [f"j{at},n{at % 3},{at}" for at in range(40_000)]
    lines[place] = f"j{place},n1\r,{place}"
    lines[place + 1] = f"j\r{place + 1},n1,{place + 1}"
    path = write("stray.csv", HEADER + "\n".join(lines) + "\n")
    report, frame, checks = loaded(store, path, "node", "job_name", "duration_s")
    assert (report.rows, report.rejected) == (40_000, 0)
    assert set(frame["node"]) == {"n0", "n1", "n2"}
    assert frame["job_name"][place + 1] == f"j {place + 1}"
    assert checks["carriage returns"].count == 2


def test_a_process_sees_what_it_loaded_while_another_writes(settings, write):
    with TraceStore(settings) as store:
        store.ingest([write("one.csv", HEADER + "a,n,1\n")], AUTO)
        assert [dataset.name for dataset in store.datasets()] == ["one"]
        store.ingest([write("two.csv", HEADER + "b,n,2\n")], AUTO)
        with (settings.home / WRITER).open("a") as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as a process that writes holds it
            assert {dataset.name for dataset in store.datasets()} == {"one", "two"}
            assert store.dataset("two").rows == 1


def test_the_log_is_as_private_as_the_database_from_its_first_moment(store, settings, write):
    log, seen = settings.home / "workprof.duckdb.wal", set()

    def look(fraction, message):
        seen.update(stat.S_IMODE(path.stat().st_mode) for path in (log,) if path.exists())

    before = os.umask(0)
    try:
        with store.writing():
            store.ingest(
                [write("run.csv", "job,started,finished\na,1790000000,1790000600\nb,1790000000,\n")], AUTO, look
            )
            look(1, "")
    finally:
        os.umask(before)
    assert seen == {0o600}


STRANGE = {
    "requested_memory_bytes": ("-64e9", "1e39", "9.7e24"),
    "peak_memory_bytes": ("-1", "2e17"),
    "requested_cpu_percent": ("-400", "1e308"),
    "cpu_usage_percent": ("-1e-9", "1e12"),
    "requested_gpu_percent": ("-100",),
    "duration_s": ("-5", "1e11"),
    "time_limit_s": ("-1", "1e20"),
    "end_time_s": ("-1", "1e13"),
    "read_bytes": ("-1",),
    "write_count": ("-3",),
    "instances": ("-1", "1e12"),
}
ROW = {"job_name": "j", **dict.fromkeys(STRANGE, "100"), "start_time_s": "50"}


def as_file(tmp_path, kind, rows):
    frame = pd.DataFrame(rows)
    path = tmp_path / f"rows.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
        return path
    numbers = frame.astype({name: float for name in frame if name != "job_name"})
    if kind == "parquet":
        numbers.to_parquet(path)
    else:
        numbers.to_json(path, orient="records", lines=True, double_precision=15)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_a_number_out_of_bounds_is_missing_counted_and_told_with_its_line(store, tmp_path, kind):
    bad = [
        (field, value) for field, values in STRANGE.items() for value in values if kind != "json" or value != "1e308"
    ]
    rows = [ROW | {"job_name": f"j{at}", field: value} for at, (field, value) in enumerate(bad)]
    path = as_file(tmp_path, kind, [ROW, *rows])
    report, frame, checks = loaded(store, path, *[name for name in ROW if name != "job_name"])
    assert (report.rows, report.rejected, report.running) == (len(bad) + 1, 0, 0)
    assert checks["out of bounds"].count == len(bad)
    told = checks["out of bounds"].message
    fields = ("end_time_s", "duration_s", "instances", "requested_cpu_percent", "requested_gpu_percent")
    for field in fields:  # in the order of the fields
        line = next(at for at, (name, _) in enumerate(bad) if name == field) + (3 if kind == "csv" else 2)
        assert f"{field}: " in told
        assert f"in line {line:,}" in told
    for at, (field, _) in enumerate(bad):
        missing = frame.loc[at + 1].isna()
        assert set(missing[missing].index) <= {field}
        assert missing[field] or field in ("duration_s", "end_time_s")  # these follow from the others


def test_what_a_whole_system_has_is_taken_for_a_run_of_many_machines_only(store, write):
    text = "JobID|State|Elapsed|ReqMem|AllocCPUS|NodeList\n"
    text += "1|COMPLETED|01:00:00|200T|600000|n[1-9000]\n2|COMPLETED|01:00:00|200T|600000|n1\n"
    _, frame, checks = loaded(store, write("wide.txt", text), "requested_memory_bytes", "requested_cpu_percent")
    assert frame["requested_memory_bytes"].tolist()[0] == pytest.approx(200 * 1024.0**4 / 9000)  # of one node
    assert frame["requested_cpu_percent"].tolist()[0] == 6e7
    assert frame.loc[1, ["requested_memory_bytes", "requested_cpu_percent"]].isna().all()
    assert checks["out of bounds"].count == 2


def test_a_request_out_of_bounds_falls_back_to_what_was_allocated(store, write):
    text = "JobID|State|Elapsed|ReqMem|MaxRSS|ReqCPUS|AllocCPUS|AllocTRES\n"
    text += "1|COMPLETED|01:00:00|-64G|1G|-4|8|cpu=8,mem=16G\n2|COMPLETED|01:00:00|1e30G|1G|1e99|8|cpu=8,mem=16G\n"
    text += "3|COMPLETED|01:00:00|8G|1G|8|8|cpu=8,mem=16000000000G\n"
    _, frame, checks = loaded(store, write("f.txt", text), "requested_memory_bytes", "requested_cpu_percent")
    assert frame["requested_memory_bytes"].tolist() == [16 * 1024.0**3, 16 * 1024.0**3, 8 * 1024.0**3]
    assert frame["requested_cpu_percent"].tolist() == [800.0] * 3
    assert checks["out of bounds"].count == 4
    assert "ReqMem: '-64G' in line 2 and 1 more" in checks["out of bounds"].message


def test_what_is_made_of_several_cells_is_bounded_too(store, write):
    text = "JobID|State|Elapsed|AllocTRES\n7|COMPLETED|01:00:00|cpu=8,mem=16000000000G\n8|COMPLETED|01:00:00|mem=1G\n"
    _, frame, checks = loaded(store, write("m.txt", text), "requested_memory_bytes")
    assert frame["requested_memory_bytes"].isna().tolist() == [True, False]
    assert "requested_memory_bytes: 1.718e+19 of 7" in checks["out of bounds"].message


def table_of_moments(n, of_ms):
    starts = [1_790_000_000 + at * 9_000 for at in range(n)]
    lasted = [600 + 60 * at for at in range(n)]
    scale = [1000 if at in of_ms else 1 for at in range(n)]
    rows = [f"j{at},{a * k},{(a + b) * k},4\n" for at, (a, b, k) in enumerate(zip(starts, lasted, scale, strict=True))]
    return "job,started,finished,memory_gb\n" + "".join(rows), starts, lasted


@pytest.mark.some(3)
@pytest.mark.parametrize("of_ms", [range(30, 60), range(30), [3], range(3, 60), [59], range(0, 60, 2)])
def test_moments_in_two_units_are_each_read_in_their_own_and_told(store, write, of_ms):
    text, starts, lasted = table_of_moments(60, set(of_ms))
    _, frame, checks = loaded(store, write("two.csv", text), "start_time_s", "duration_s")
    assert frame["start_time_s"].tolist() == starts
    assert frame["duration_s"].tolist() == lasted
    assert checks["units disagree"].count == min(len(set(of_ms)), 60 - len(set(of_ms))) or len(set(of_ms)) == 30


@pytest.mark.parametrize("nothing", ["None", "NaT", "nan", "<none>", "Unknown", "n/a"])
def test_an_end_that_is_not_known_is_open(store, write, nothing):
    rows = [f"r{at},running,{1790000000 + at},{nothing}\n" for at in range(3)]
    text = "job,status,started,finished\n" + "a,done,1790000000,1790000600\n" + "".join(rows)
    report, frame, _ = loaded(store, write("open.csv", text), "duration_s")
    assert (report.rows, report.rejected, report.running) == (4, 0, 3)
    assert frame["duration_s"].tolist() == [600, 600, 599, 598]


def test_one_end_in_another_unit_turns_no_other_row(store, write):
    rows = [f"j{at},done,{1790000000 + at},{1790000600 + at}\nk{at},running,{1790000000 + at},\n" for at in range(20)]
    text = "job,status,started,finished\n" + "".join(rows) + "late,done,1790003800,1790004400000\n"
    report, frame, checks = loaded(store, write("one.csv", text), "duration_s", "status")
    assert frame[frame["status"] == "done"]["duration_s"].tolist() == [600.0] * 21
    assert (report.running, checks["units disagree"].count) == (20, 1)


@pytest.mark.parametrize("names", ["job_name,start_time_s,end_time_s,duration_s", "job,start,end,duration"])
@pytest.mark.parametrize("unit", ["0.001", "1000"])
def test_a_few_durations_in_another_unit_than_start_and_end_are_told(store, write, unit, names):
    starts = (FIRST_MS // 1000 + at for at in range(100))
    rows = (f"j{at},{at},{at + 600},{600 * (float(unit) if not at % 40 else 1)}\n" for at in starts)
    _, frame, checks = loaded(store, write("few.csv", f"{names}\n{''.join(rows)}"), "duration_s")
    assert checks["duration and times"].count == 3
    assert set(frame["duration_s"]) == {600}


def nextflow_trace(share, column, times):
    """Return a trace of 40 runs of which a share say a column in another unit, and what is true."""
    head = "task_id,native_id,hash,process,name,status,exit,start,complete,realtime,memory,peak_rss\n"
    rows, true = [], []
    for at in range(40):
        start, lasted, used = FIRST_MS + at * 1_000_000, 600_000 + 1000 * at, 3_000_000_000 + at * 4096
        cells = {"realtime": lasted, "peak_rss": used}
        if at < share * 40:
            cells[column] = cells[column] * times
        ends = start + lasted + 5000
        rows.append(f"{at},n{at},ab/cdef{at},P{at % 2},P{at % 2} ({at}),COMPLETED,0,{start},{ends},{cells['realtime']}")
        rows[-1] += f",4294967296,{cells['peak_rss']}\n"
        true.append((lasted / 1000, used))
    return head + "".join(rows), true


FIRST_MS = 1_790_000_000_000


@pytest.mark.some(3)
@pytest.mark.parametrize("times", [1 / 1000, 1000, 1 / 60_000])
@pytest.mark.parametrize("share", [0.05, 0.45])
def test_durations_of_a_known_format_in_another_unit_are_mended_by_start_and_end(store, write, share, times):
    text, true = nextflow_trace(share, "realtime", times)
    _, frame, checks = loaded(store, write("trace.csv", text), "duration_s")
    assert frame["duration_s"].tolist() == pytest.approx([lasted for lasted, _ in true])
    assert checks["duration and times"].count == 40 * share


def test_a_second_of_milliseconds_is_no_minute_beside_a_long_wait(store, write):
    head = "task_id,native_id,hash,process,name,status,exit,submit,start,complete,realtime\n"
    lasted = [1000 if at % 5 == 0 else 55_000 for at in range(40)]
    rows = (
        f"{at},n{at},ab/cdef{at},P,P ({at}),COMPLETED,0,{FIRST_MS},{FIRST_MS},{FIRST_MS + 60_000},{each}\n"
        for at, each in enumerate(lasted)
    )
    _, frame, checks = loaded(store, write("wait.csv", head + "".join(rows)), "duration_s")
    assert frame["duration_s"].tolist() == [each / 1000 for each in lasted]
    assert "duration and times" not in checks


@pytest.mark.parametrize("share", [0.05, 0.45])
def test_memory_of_a_known_format_in_another_unit_is_told_with_the_count(store, write, share):
    text, _ = nextflow_trace(share, "peak_rss", 1 / 1024)
    _, _, checks = loaded(store, write("trace.csv", text), "peak_memory_bytes")
    assert checks["a unit away"].count == 40 * share
    slurm = "JobID|JobName|State|Start|End|Elapsed|ReqMem|MaxRSS|AllocCPUS\n" + "".join(
        f"{at}|a{at % 2}|COMPLETED|2026-09-01T00:00:00|2026-09-01T01:00:00|01:00:00|8G|"
        f"{3_000_000 + at}{'' if at < share * 40 else 'K'}|4\n"
        for at in range(40)
    )
    _, _, checks = loaded(store, write("sacct.txt", slurm), "peak_memory_bytes")
    assert checks["a unit away"].count == 40 * share


@pytest.mark.parametrize(
    "end", ["-1", "253402300799", "253402300799999", "9223372036854775807", "18446744073709551615", "-1.0"]
)
@pytest.mark.parametrize("others", ["", "2026-09-21T14:23:20Z"])
def test_numbers_of_ends_that_never_come_tell_no_unit_and_are_of_running_jobs(store, write, end, others):
    ends = [others or str(1_790_000_600 + 100 * at) for at in range(12)]
    starts = [1_790_000_000 + (0 if others else 100 * at) for at in range(12)]
    ends[4] = end
    rows = "".join(f"j{at},{starts[at]},{ends[at]}\n" for at in range(12))
    report, frame, checks = loaded(store, write("never.csv", f"job,started,finished\n{rows}"), "end_time_s")
    assert (report.rows, report.rejected) == (12, 0)
    if end.startswith("-"):  # an error, or not known
        assert (report.running, checks["out of bounds"].count, checks["no duration"].count) == (0, 1, 1)
    else:
        assert report.running == 1
    assert frame["end_time_s"].notna().sum() == 11


@pytest.mark.parametrize(("columns", "told"), [("start_utc,end", 1), ("start_utc,end_utc", 0), ("start,end", 0)])
def test_a_start_in_utc_beside_an_end_of_no_clock_is_told(store, write, columns, told):
    rows = "".join(f"j{at},2026-10-01 {at:02}:00:00,2026-10-01 {at:02}:30:00\n" for at in range(20))
    report, _, checks = loaded(store, write("clock.csv", f"job,{columns}\n{rows}"))
    assert (report.rows, "zones differ" in checks) == (20, bool(told))
    if told:
        assert "start_utc says UTC by its name, and end says no zone" in checks["zones differ"].message


@pytest.mark.parametrize(
    ("times", "others", "told"),
    [
        ((1000,) * 1, (600,), 1),
        ((1000,) * 20, tuple(range(600, 2400, 60)), 20),
        ((0.001,) * 5, (4000, 5000), 5),
        ((60,) * 5 + (1000,) * 5, (600,), 0),  # some lie between: jobs just differ
        ((100_000,) * 5, (600,), 0),  # no unit
    ],
)
def test_durations_a_unit_away_are_told_where_every_job_has_a_name_of_its_own(store, write, times, others, told):
    lasting = [others[at % len(others)] * (times[at] if at < len(times) else 1) for at in range(40)]
    rows = "".join(f"j{at},{1_790_000_000 + 100 * at},{each}\n" for at, each in enumerate(lasting))
    _, frame, checks = loaded(store, write("mixed.csv", f"job,started,duration_s\n{rows}"), "duration_s")
    assert frame["duration_s"].tolist() == lasting
    assert [check.count for name, check in checks.items() if name == "a unit away"] == [told] * bool(told)


def test_durations_that_are_all_far_from_start_and_end_stay_and_are_told(store, write):
    text, _ = nextflow_trace(1, "realtime", 1 / 1000)
    _, frame, checks = loaded(store, write("trace.csv", text), "duration_s")
    assert frame["duration_s"].max() < 1
    assert checks["duration and times"].count == 40


def test_bare_numbers_beside_thousandths_of_a_core_are_cores(store, write):
    text = "pod,duration_s,cpu_request,memory_request\na,1,250m,1Gi\nb,1,8,512Mi\nc,1,500m,1Gi\n"
    _, frame, _ = loaded(store, write("pods.csv", text), "requested_cpu_percent")
    assert frame["requested_cpu_percent"].tolist() == [25, 800, 50]


def test_thousandths_of_a_byte_and_years_before_1970_are_asked(store, write):
    text = "pod,duration_s,cpu_request,memory_request\na,1,250m,1Gi\nb,1,8,512m\n"
    with pytest.raises(UnitUnknown, match="half a byte"):
        store.ingest([write("milli.csv", text)], AUTO)
    text = "job,started,finished\na,1926-01-01 10:00,1926-01-01 11:00\n"
    with pytest.raises(UnitUnknown, match=r"1926-01-01 10:00:00.*before 1970"):
        store.ingest([write("old.csv", text)], AUTO)


def stretched(late, *, own=False):
    """Return 30 runs of ten minutes, every second still running; those of `late` have a moment in 2062."""
    rows = []
    for at in range(30):
        start, end = OCT_1 + 3600 * at, OCT_1 + 3600 * at + 600
        if at in late:
            start, end = late[at](start, end)
        rows.append(f"j{at},{start:.0f},{'' if at % 2 else f'{end:.0f}'}{(',' if at % 2 else ',600') * own}\n")
    return f"job,started,finished{',runtime_s' * own}\n" + "".join(rows)


Y2062 = 2_924_000_000


@pytest.mark.some(3)
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize(
    "late",
    [
        {4: lambda start, end: (start, Y2062)},
        {4: lambda start, end: (Y2062, Y2062 + 600)},
        {at: lambda start, end: (start, Y2062 + start % 1000) for at in (2, 8, 12)},
    ],
)
def test_moments_of_another_age_stretch_no_run(store, write, late, own):
    _, frame, checks = loaded(store, write("l.csv", stretched(late, own=own)), "job_name", "duration_s")
    assert checks["beyond the trace"].count == len(late)
    found = frame.set_index("job_name")["duration_s"]
    last = OCT_1 + 3600 * 29
    assert [found[f"j{at}"] for at in range(1, 30, 2)] == [last - OCT_1 - 3600 * at for at in range(1, 30, 2)]
    done = found[[f"j{at}" for at in range(0, 30, 2)]]
    assert (done.dropna() == 600).all() and (own or done.isna().sum() in (0, len(late)))


def test_what_a_cache_answered_is_no_run(store, write):
    words = ["done", "cached", "done", "CACHED", "done", "Cache hit"]
    rows = "".join(f"{at},align,{word},{5 if at % 2 else 3600},8\n" for at, word in enumerate(words))
    report, frame, checks = loaded(store, write("c.csv", f"job,task,status,runtime_s,memory_gb\n{rows}"), "duration_s")
    assert (report.rows, checks["call cache"].count, checks["not finished"].count) == (6, 3, 3)
    assert frame["duration_s"].dropna().tolist() == [3600] * 3


def test_a_cell_that_cannot_be_read_hides_no_column(store, write):
    text = "job,runtime_s,memory_requested_gb,peak_rss_gb,cpus\na,100,4,2,0.00K\nb,200,4,2,2\nc,300,4,n.a.,2\n"
    columns = ["peak_memory_bytes", "requested_cpu_percent"]
    report, frame, checks = loaded(store, write("b.csv", text), *columns)
    assert (report.rows, report.rejected, checks["bad cells"].count) == (3, 0, 2)
    np.testing.assert_array_equal(frame[columns], [[2e9, np.nan], [2e9, 200], [np.nan, 200]])


def test_a_column_that_is_named_like_a_field_and_holds_words_is_told(store, write):
    text = "job,runtime_s,memory_requested\na,100,high\nb,200,low\nc,300,high\n"
    _, _, checks = loaded(store, write("n.csv", text))
    assert "'memory_requested' (requested_memory_bytes)" in checks["unread columns"].message


@pytest.mark.parametrize("moment", ["13-10-26 10:00", "2026-10-13 10:00:00 CST"])
def test_moments_that_cannot_be_read_are_named(store, write, moment):
    text = "job,started,finished\n" + "".join(f"j{at},{moment},{moment}\n" for at in range(3))
    with pytest.raises(ColumnMissing, match=f"'started' is named like start_time_s, but '{moment}' in line 2"):
        store.ingest([write("m.csv", text)], AUTO)


@pytest.mark.parametrize(("bare", "sure"), [((1_073_741_824, 268_435_456), True), ((1024, 256), False)])
def test_bare_numbers_beside_sizes_with_a_unit_are_bytes_or_asked(store, write, bare, sure):
    sizes = ["512Mi", bare[0], "2Gi", bare[1]]
    path = write("s.csv", "pod,duration_s,memory_request\n" + "".join(f"p{size},600,{size}\n" for size in sizes))
    if sure:
        _, frame, _ = loaded(store, path, "requested_memory_bytes")
        assert frame["requested_memory_bytes"].tolist() == [2**29, bare[0], 2**31, bare[1]]
    else:
        with pytest.raises(UnitUnknown, match="bare numbers stand beside sizes with a unit"):
            store.ingest([path], AUTO)


def test_few_sizes_that_no_machine_has_are_missing_and_ask_nothing(store, write):
    cells = {3: "1e30", 30: "-4"}
    rows = "".join(f"j{at},100,{cells.get(at, 4)},2\n" for at in range(40))
    _, frame, checks = loaded(
        store, write("o.csv", f"job,runtime_s,requested_memory_gb,peak_rss_gb\n{rows}"), "requested_memory_bytes"
    )
    assert checks["out of bounds"].count == 2
    assert checks["out of bounds"].message.startswith("2 cells are more than any machine has")
    assert frame["requested_memory_bytes"].isna().sum() == 2 and frame["requested_memory_bytes"].sum() == 38 * 4e9
    alone = "".join(f"j{at},100,{'1e30' if at == 3 else 4},2\n" for at in range(40))
    _, _, checks = loaded(store, write("p.csv", f"job,runtime_s,requested_memory_gb,peak_rss_gb\n{alone}"), "job_name")
    assert checks["out of bounds"].message.startswith("1 cell is more than any machine has, less than nothing or part ")


@pytest.mark.parametrize("times", [1000, 1024])
def test_uses_a_unit_above_neighbours_and_requests_are_missing_and_told(store, write, times):
    rows = "".join(f"j{at},t,600,8,{(3000 + at) * (times if at % 6 == 0 else 1)}\n" for at in range(40))
    _, frame, checks = loaded(
        store, write("u.csv", f"job,task,runtime_s,requested_memory_gb,peak_rss_mb\n{rows}"), "peak_memory_bytes"
    )
    assert (
        checks["a unit away"].count == 7
        and "7 uses of more than 100 times their request" in checks["a unit away"].message
    )
    assert "memory over request" not in checks
    wanted = [np.nan if at % 6 == 0 else (3000 + at) * 1e6 for at in range(40)]
    np.testing.assert_allclose(frame["peak_memory_bytes"], wanted)


@pytest.mark.parametrize(
    ("start", "end", "told"), [("+02:00", "", 6), ("Z", " UTC", 0), ("Z", " CET", 0), ("", "", 0), ("", "+0200", 6)]
)
def test_moments_with_and_without_a_zone_are_told(store, write, start, end, told):
    rows = "".join(f"j{at},2026-10-01 12:00:00{start},2026-10-01 15:30:00{end}\n" for at in range(6))
    _, _, checks = loaded(store, write("z.csv", f"job,started,finished\n{rows}"), "duration_s")
    assert (checks["zones differ"].count if told else "zones differ" in checks) == told


def test_moments_since_1970_beside_those_without_a_zone_are_told(store, write):
    rows = "".join(f"j{at},{1_709_290_800 + at},2024-03-01 14:00:00{{}}\n" for at in range(6))
    _, _, checks = loaded(store, write("e.csv", f"job,start (epoch),end time\n{rows.format(*[''] * 6)}"))
    assert checks["zones differ"].count == 6
    assert checks["zones differ"].message.startswith("start (epoch) count from 1970 in UTC, and end time have no zone")
    _, _, checks = loaded(store, write("z.csv", f"job,start (epoch),end time\n{rows.format(*['Z'] * 6)}"))
    assert "zones differ" not in checks


def test_numbers_with_a_decimal_comma_between_commas_name_the_option(store, write):
    rows = "".join(f'j{at},60,"{at},{at + 1}"\n' for at in range(6))
    _, _, checks = loaded(store, write("c.csv", f"job,runtime_s,peak_rss_gb\n{rows}"))
    assert "such as '0,1' need the decimal sign (--decimal ," in checks["unread columns"].message


TOTAL = ("Total,,40,64", ",TOTAL:,40,64", "Grand total,,40,64", "Summe,,40,64")


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("last", "total"), [*((last, True) for last in TOTAL), ("total,u,40,64", False), ("m,,4,6", False)]
)
def test_a_last_row_that_adds_up_the_others_is_a_reject(store, write, last, total):
    text = "job,user,runtime_h,max_rss_gb\n" + "".join(f"j{at},u,{at + 1},{at + 2}\n" for at in range(5)) + last + "\n"
    report, *_ = loaded(store, write("t.csv", text))
    assert (report.rows, report.rejected, report.lost) == ((5, 1, 0) if total else (6, 0, 0))
    rejects = store.rejects(report.hash)
    assert rejects["line"].tolist() == [7] * total


def test_rows_that_are_named_like_sums_and_count_as_runs_are_told(store, write):
    runs = "".join(f"j{at},u,{at + 1},{at + 2}\n" + "Subtotal,u,9,9\n" * (at % 2) for at in range(5))
    _, _, checks = loaded(store, write("s.csv", f"job,user,runtime_h,max_rss_gb\n{runs}"))
    assert checks["named like sums"].count == 2
    _, _, checks = loaded(store, write("n.csv", "job,user,runtime_h,max_rss_gb\nsum,u,1,1\nm,u,2,2\n"))
    assert "named like sums" not in checks


@pytest.mark.parametrize("name", ["is_finished", "isFinished", "has failed", "was_killed", "is_success"])
def test_a_status_that_asks_is_one_of_true_and_false(store, write, name):
    rows = "".join(f"j{at},60,{'true' if at < 2 else 'false'}\n" for at in range(6))
    report, *_ = loaded(store, write("a.csv", f"job,runtime_s,{name}\n{rows}"))
    assert report.mapping["status"]["from"] == name
    good = 2 if "inish" in name or "succ" in name else 4
    assert len(store.frame(report.dataset, ["duration_s"])) == good


def test_each_of_several_last_rows_that_add_up_the_others_is_a_reject(store, write):
    text = "job,user,duration_min,mem_gb\n" + "".join(f"j{at},u,{60 + at},8\n" for at in range(5))
    report = store.ingest([write("t.csv", f"{text}Total,,310,40\nMean,,62,8\nMax:,,64,8\n")], IngestOptions())
    assert (report.rows, report.rejected, report.lost) == (5, 3, 0)
    assert store.rejects(report.hash)["line"].tolist() == [7, 8, 9]

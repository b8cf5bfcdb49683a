"""Columns of a generic file recognised by their names and values; units that are sure, and such that are asked."""

import gzip
import json
from contextlib import nullcontext
from datetime import datetime

import numpy as np
import pytest

from workprof.core.causes import CAUSES, causes_of, was_killed_for_memory
from workprof.core.errors import ColumnMissing, SettingsError, TraceError, UnitUnknown
from workprof.core.units import GIB
from workprof.store.mapping import document, from_json, words_of
from workprof.store.reports import FieldSource, IngestOptions

pytestmark = pytest.mark.slow

AUTO = IngestOptions()


def table(header, row, count=40):
    return header + "\n" + "".join(",".join(str(cell) for cell in row(at)) + "\n" for at in range(count))


def taken(report):
    return {field: (source["from"], source.get("unit", "")) for field, source in report.mapping.items()}


@pytest.mark.parametrize(
    ("column", "words", "unit"),
    [
        ("Memory requested (GB)", {"memory", "requested"}, "GB"),
        ("memRequestedGB", {"memory", "requested"}, "GB"),
        ("memory_kB", {"memory"}, "KB"),
        ("memoryGiB", {"memory"}, "GiB"),
        ("ReqMem", {"memory", "requested"}, ""),
        ("MaxRSS", {"rss", "peak"}, ""),
        ("cpu_milli", {"cpu"}, "milli"),
        ("num_gpu", {"gpu", "count"}, ""),
        ("cpu_request_m", {"cpu", "requested"}, "milli"),
        ("mem_max_mi", {"memory", "peak"}, "MiB"),
        ("NCPUS", {"cpu"}, "cores"),
        ("vCPUs", {"cpu"}, "cores"),
        ("%cpu", {"cpu"}, "percent"),
        ("CPU time", {"cpu", "time"}, ""),
        ("Job start time [UTC]", {"start"}, ""),
        ("deletion_time", {"end"}, ""),
        ("startTime", {"start"}, ""),
        ("Elapsed (hours)", {"elapsed"}, "h"),
        ("wallclock", {"wall", "clock"}, ""),
        ("Memory utilization (%)", {"memory", "used"}, "percent"),
        ("max_mem_mb_used", {"peak", "memory", "used"}, "MB"),
        ("ramByteRequestAverage", {"memory", "requested", "mean"}, "B"),
        ("bytes_read_total", {"disk", "read"}, ""),
        ("Elapsed (D-HH:MM:SS)", {"elapsed"}, ""),
        ("job_runtime_s", {"job", "run", "time"}, "s"),
        ("start_epoch", {"start"}, ""),
        ("Speicher angefordert (GB)", {"memory", "requested"}, "GB"),
        ("Maximaler Speicherverbrauch [MB]", {"peak", "memory", "used"}, "MB"),
        ("Dauer in Minuten", {"duration"}, "min"),
        ("Eigentümer", {"owner"}, ""),
    ],
)
def test_a_name_tells_words_and_unit(column, words, unit):
    assert words_of(column) == (words, unit)


@pytest.mark.parametrize(
    ("names", "values", "job", "task"),
    [
        ("job_id,job_name", ("{at}", "fit{kind}"), "job_id", "job_name"),
        ("id,job", ("{at}", "fit{kind}"), "id", "job"),
        ("job,name", ("{at}", "fit{kind}"), "job", "name"),
        ("job,application", ("j{at}", "fit{kind}"), "job", "application"),
        ("JobIDRaw,Name", ("{at}", "fit{kind}"), "JobIDRaw", "Name"),
        ("No.,job,cmd", ("{at}", "fit{at}", "./fit.sh"), "job", "cmd"),  # every job has a name of its own
        ("job_id,script", ("{at}", "fit{kind}.sh"), "job_id", "script"),
        ("job_id,script", ("{at}", "fit{at}.sh"), "job_id", None),  # a line of its own for every run says no kind
        ("job_name", ("fit{kind}",), None, "job_name"),
        ("job", ("fit{at}",), "job", None),
        ("job_id", ("{kind}",), "job_id", None),  # a number is no kind of work, however often it stands
        ("job_id,job_name,task", ("{at}", "fit{kind}", "t{kind}"), "job_name", "task"),
    ],
)
def test_a_name_that_runs_share_is_their_task(store, write, names, values, job, task):
    text = table(
        f"{names},start,end",
        lambda at: (
            *(value.format(at=at, kind=at % 4) for value in values),
            *(f"2024-05-{at % 20 + 1:02} 10:00:00", f"2024-05-{at % 20 + 1:02} 11:30:00"),
        ),
    )
    found = taken(store.ingest([write("jobs.csv", text)], AUTO))
    assert (found.get("job_name", (None,))[0], found.get("task_name", (None,))[0]) == (job, task)


@pytest.mark.parametrize("heading", ["queued_time", "queued_time_s"])
def test_how_long_a_run_was_queued_is_no_moment(store, write, heading):
    text = table(
        f"job_id,{heading},account,start,end",
        lambda at: (at, at * 7.5, "bio", f"2024-05-{at % 20 + 1:02} 10:00:00", f"2024-05-{at % 20 + 1:02} 11:30:00"),
    )
    found = taken(store.ingest([write("jobs.csv", text)], AUTO))
    assert "submit_time_s" not in found
    assert {"start_time_s", "end_time_s"} <= found.keys()


def test_an_export_of_jobs_with_several_runs_keeps_its_jobs(store, write):
    text = table("job_name,user,duration_s", lambda at: (f"job{at // 4}", "ann", 60))
    found = taken(store.ingest([write("jobs.csv", text)], AUTO))
    assert found == {field: (field, unit) for field, unit in {"job_name": "", "user": "", "duration_s": "s"}.items()}


def test_the_spreadsheet_of_a_planner_loads_without_a_mapping(store, write):
    header = "Job ID,Job name,User,Cores,Memory requested (GB),Peak memory (GB),Start,End,Status"
    text = table(
        header,
        lambda at: (
            *(at, f"fit{at % 5}", f"u{at % 3}", 2 ** (at % 4), 16, 1.5),
            *(f"2024-05-{at % 20 + 1:02} 10:00:00", f"2024-05-{at % 20 + 1:02} 11:30:00", "Completed"),
        ),
    )
    report = store.ingest([write("plan.csv", text)], AUTO)
    assert (report.format, report.rows, report.rejected) == ("generic", 40, 0)
    assert taken(report) == {
        "job_name": ("Job ID", ""),
        "task_name": ("Job name", ""),
        "user": ("User", ""),
        "status": ("Status", ""),
        "start_time_s": ("Start", "s"),
        "end_time_s": ("End", "s"),
        "requested_cpu_percent": ("Cores", "cores"),
        "requested_memory_bytes": ("Memory requested (GB)", "GB"),
        "peak_memory_bytes": ("Peak memory (GB)", "GB"),
    }
    frame = store.frame("plan", ["duration_s", "requested_memory_bytes", "peak_memory_bytes", "requested_cpu_percent"])
    assert set(frame["duration_s"]) == {5400.0}
    assert set(frame["requested_memory_bytes"]) == {16e9}
    assert set(frame["peak_memory_bytes"]) == {1.5e9}
    assert frame["requested_cpu_percent"].tolist()[:4] == [100, 200, 400, 800]
    assert store.ingest([write("plan.csv.gz", gzip.compress(text.encode()))], AUTO).already_loaded


def test_pods_of_a_public_trace_load_by_their_names(store, write):
    header = "name,cpu_milli,memory_mib,num_gpu,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
    text = table(
        header,
        lambda at: (f"pod-{at}", 6000, 16384, at % 2, "", "LS", "Succeeded", at * 1e5, at * 1e5 + 5007, at * 1e5 + 7),
    )
    report = store.ingest([write("pods.csv", text)], IngestOptions(format="generic"))
    assert (report.rows, report.rejected) == (40, 0)
    names = ["duration_s", "requested_cpu_percent", "requested_memory_bytes", "requested_gpu_percent"]
    frame = store.frame("pods", names)
    assert set(frame["duration_s"]) == {5000.0}
    assert set(frame["requested_cpu_percent"]) == {600.0}
    assert set(frame["requested_memory_bytes"]) == {16384 * 2.0**20}
    assert frame["requested_gpu_percent"].tolist()[:2] == [0, 100]


def test_texts_with_units_are_sure(store, write):
    text = table("JobName,Elapsed,ReqMem,MaxRSS,State", lambda at: (f"j{at}", "01:00:30", "4G", "1024K", "COMPLETED"))
    store.ingest([write("texts.csv", text)], IngestOptions(format="generic"))
    frame = store.frame("texts", ["duration_s", "requested_memory_bytes", "peak_memory_bytes"])
    assert frame.iloc[0].tolist()[1:] == [3630.0, 4 * 2.0**30, 2.0**20]


class TestMilliseconds:
    """A bare `realtime` is taken for milliseconds with evidence, or asked; never silently for seconds."""

    def test_alone_it_is_asked_with_the_evidence_and_the_mapping(self, store, write):
        path = write("steps.csv", table("job,realtime", lambda at: (f"j{at}", 50715 + at)))
        with pytest.raises(UnitUnknown, match=r"50715 -> 50\.7 s") as refused:
            store.ingest([path], AUTO)
        ready = json.loads(str(refused.value).split("that holds ")[1])
        assert ready["duration_s"] == {"from": "realtime", "unit": "ms"}
        assert store.datasets() == ()
        report = store.ingest([path], IngestOptions(mapping=from_json(json.dumps(ready), "ready")))
        assert store.frame(report.dataset, ["duration_s"])["duration_s"].tolist()[0] == pytest.approx(50.715)

    @pytest.mark.parametrize(("unit", "per_s"), [("ms", 1e3), ("s", 1), ("us", 1e6)])
    def test_start_and_end_tell_it(self, store, write, unit, per_s):
        def row(at):
            start = 1_700_000_000_000 + at * 1000
            return f"j{at}", start, start + 51_000, int(50.7 * per_s)

        report = store.ingest([write("timed.csv", table("job,start,end,realtime", row))], AUTO)
        assert taken(report)["duration_s"] == ("realtime", unit)
        assert taken(report)["start_time_s"] == ("start", "ms")
        assert set(store.frame("timed", ["duration_s"])["duration_s"].round(1)) <= {50.7, 50.0}

    @pytest.mark.parametrize(("name", "value", "sure"), [("walltime", 50_000, True), ("runtime", 900, True)])
    def test_usual_seconds_are_taken_for_seconds(self, store, write, name, value, sure):
        found = store.suggest(write("s.csv", table(f"job,{name}", lambda at: (f"j{at}", value + at))), AUTO)
        assert (found.mapping["duration_s"].unit, found.evidence["duration_s"].sure) == ("s", sure)

    @pytest.mark.parametrize(("name", "value"), [("runtime", 50_000), ("runtime", 4), ("elapsed", 1.5)])
    def test_what_may_be_another_unit_is_asked(self, store, write, name, value):
        found = store.suggest(write("s.csv", table(f"job,{name}", lambda at: (f"j{at}", value + at))), AUTO)
        assert not found.evidence["duration_s"].sure
        assert "not certain" in found.refusal


@pytest.mark.parametrize(("unit", "per_s"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_time_stamps_tell_their_unit(store, write, unit, per_s):
    def row(at):
        return f"j{at}", (1_700_000_000 + at) * per_s, (1_700_000_060 + at) * per_s

    report = store.ingest([write("epochs.csv", table("job,started_at,finished_at", row))], AUTO)
    assert taken(report)["end_time_s"] == ("finished_at", unit)
    frame = store.frame(report.dataset, ["start_time_s", "duration_s"])
    assert frame["start_time_s"].tolist()[0] == pytest.approx(1_700_000_000)
    assert frame["duration_s"].tolist()[0] == pytest.approx(60)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("05/01/2024 10:00 AM", "05/01/2024 1:30 PM"),
        ("5/1/2024 10:00:00 AM", "5/1/2024 1:30:00 PM"),
        ("1.5.2024 10:00", "1.5.2024 13:30"),
        ("2024/05/01 10:00", "2024/05/01 13:30:00"),
        ("2024-05-01 10:00", "2024-05-01 13:30"),
    ],
)
def test_moments_as_spreadsheets_write_them(store, write, start, end):
    report = store.ingest([write("dates.csv", table("Job,Started,Finished", lambda at: (f"j{at}", start, end)))], AUTO)
    assert (report.rows, report.rejected) == (40, 0)
    frame = store.frame("dates", ["start_time_s", "duration_s"])
    assert (set(frame["start_time_s"]), set(frame["duration_s"])) == ({1714557600.0}, {12600.0})


def test_days_without_a_time_of_day_are_no_durations(store, write):
    text = table("job,start date,end date", lambda at: (f"j{at}", "2024-05-01", f"2024-05-0{at % 3 + 2}"))
    with pytest.raises(UnitUnknown, match="days without a time of day"):
        store.ingest([write("days.csv", text)], AUTO)


@pytest.mark.parametrize(("uid", "user"), [("1001", True), ("ann", True), (f"{0:08x}-0000-4000-8000-{0:012x}", False)])
def test_a_uid_of_a_pod_is_no_user(store, write, uid, user):
    report = store.ingest([write("u.csv", table("job_name,duration_s,uid", lambda at: (f"j{at}", 9, uid)))], AUTO)
    assert ("user" in report.mapping) == user


def test_moments_in_utc_and_in_local_time_are_not_mixed(store, write):
    columns = {"job": "a", "end (local)": "11", "startTimeUtc": "09", "end (UTC)": "10", "local_start": "10"}
    moment = "2026-01-05 {}:00:00"

    def text(names, form=moment):
        return table(",".join(names), lambda _: [form.format(columns[each]) for each in names])

    both = store.ingest([write("both.csv", text(columns))], AUTO)
    assert (both.mapping["start_time_s"]["from"], both.mapping["end_time_s"]["from"]) == ("startTimeUtc", "end (UTC)")
    mixed = ["job", "end (local)", "startTimeUtc"]
    with pytest.raises(UnitUnknown, match="differ by an unknown zone"):
        store.ingest([write("mixed.csv", text(mixed))], AUTO)
    assert store.ingest([write("zoned.csv", text(mixed, f"{moment}Z"))], AUTO).rows == 40


def test_memory_without_units_is_proposed_in_one_unit_where_more_would_be_used_than_requested(store, write):
    def row(at):
        return f"j{at}", 60, 4_194_304, 2_097_152 + at

    path = write("kb.csv", table("job,runtime_s,mem_req,mem_used", row))
    mapping = store.suggest(path, AUTO).mapping
    assert (mapping["requested_memory_bytes"].unit, mapping["peak_memory_bytes"].unit) == ("KB", "KB")
    with pytest.raises(UnitUnknown, match="no unit in the column's name"):
        store.ingest([path], AUTO)


@pytest.mark.parametrize("zone", ["", "Z"])
def test_local_times_are_not_mixed_with_those_of_no_named_clock(store, write, zone):
    cells = {
        "job": "a",
        "start_local": "2026-01-05 13:00:00",
        "start": f"2026-01-05 11:00:00{zone}",
        "end_local": "2026-01-05 16:00:00",
        "end": f"2026-01-05 14:00:00{zone}",
    }

    def text(names):
        return table(",".join(names), lambda _: [cells[each] for each in names])

    for at, names in enumerate(
        (["job", "start_local", "start", "end"], ["job", "start", "end_local", "end"], [*cells])
    ):
        report = store.ingest([write(f"both{at}.csv", text(names))], AUTO)
        clocks = {report.mapping[field]["from"].partition("_")[2] for field in ("start_time_s", "end_time_s")}
        assert len(clocks) == 1
        assert set(store.frame(report.dataset, ["duration_s"])["duration_s"]) == {10_800.0}
    with pytest.raises(UnitUnknown, match="local time by its name: does 'start' have the same clock"):
        store.ingest([write("mixed.csv", text(["job", "start", "end_local"]))], AUTO)


def test_microseconds_from_the_traces_start_are_no_milliseconds_since_1970(store, write):
    def row(at):
        return f"j{at}", 600_000_000 + at * 65_000_000_000, 4_200_000_000 + at * 65_000_000_000

    report = store.ingest([write("offsets.csv", table("job,start_time,end_time", row))], AUTO)
    assert taken(report)["start_time_s"] == ("start_time", "us")
    assert set(store.frame("offsets", ["duration_s"])["duration_s"]) == {3600.0}


def test_a_unit_that_makes_no_sense_is_asked(store, write):
    text = table("job,runtime_h,memory requested (GB),peak memory (GB)", lambda at: (f"j{at}", 9000, 16, 8000 + at))
    found = store.suggest(write("absurd.csv", text), AUTO)
    assert "over 30 days" in found.evidence["duration_s"].warning
    assert "501 times" in found.evidence["requested_memory_bytes"].warning
    with pytest.raises(UnitUnknown, match="runtime_h"):
        store.ingest([write("absurd.csv", text)], AUTO)
    days = table("job,start,end", lambda at: (f"j{at}", 45413.25 + at / 7, 45413.27 + at / 7))
    with pytest.raises(UnitUnknown, match="days since 1900 of a spreadsheet"):
        store.ingest([write("days.csv", days)], AUTO)
    for form in ("2024051{}", "2024051{}1000", "2024051{}100000"):
        alone = table("job,start,end", lambda at, form=form: (f"j{at}", form.format(at % 4), form.format(at % 4 + 1)))
        with pytest.raises(UnitUnknown, match="dates without separators"):
            store.ingest([write("alone.csv", alone)], AUTO)
    large = table("job,runtime_s,peak memory (GB)", lambda at: (f"j{at}", 90, 64_000_000))
    assert "more than any node" in store.suggest(write("l.csv", large), AUTO).evidence["peak_memory_bytes"].warning


def test_the_evidence_follows_the_unit_and_names_what_cannot_be_read(store, write):
    text = table("job,runtime,memory", lambda at: (f"j{at}", "soon" if at == 4 else 50_715, 4))
    path = write("e.csv", text)
    seconds = store.suggest(path, IngestOptions(mapping={"duration_s": FieldSource("runtime", "s")})).evidence
    millis = store.suggest(path, IngestOptions(mapping={"duration_s": FieldSource("runtime", "ms")})).evidence
    assert seconds["duration_s"].values[0] == ("50715", "14 h 05 min")
    assert millis["duration_s"].values[0] == ("50715", "50.7 s")
    assert millis["duration_s"].highest == "50.7 s"
    assert millis["duration_s"].values == (("50715", "50.7 s"), ("soon", "not readable"))
    one = millis["duration_s"]
    assert (one.unread, one.unread_line, one.unread_text) == (1, 6, "soon")
    with pytest.raises(SettingsError, match="nonsense"):
        store.suggest(path, IngestOptions(mapping={"nonsense": FieldSource("runtime")}))


def test_a_file_with_workprofs_own_names_loads_as_before(store, write):
    """Further columns are fields only where that is sure."""
    text = table("job_name,duration_s,mem,memory_used_mb", lambda at: (f"j{at}", at, 3, 70))
    report = store.ingest([write("own.csv", text)], AUTO)
    assert set(taken(report)) == {"job_name", "duration_s", "peak_memory_bytes"}
    assert set(store.frame("own", ["mem"])["mem"]) == {3}
    assert set(store.frame("own", ["peak_memory_bytes"])["peak_memory_bytes"]) == {7e7}


def test_beside_workprofs_own_names_sure_columns_are_fields_and_others_told(store, write):
    """`--look` showed the moments as fields, and the import left all of them out without a word."""
    rows = "".join(f"j{at},60,{1718257276 + at}.000,{1718257336 + at}.000,{4 + at}\n" for at in range(4))
    path = write("o.csv", f"job_name,duration_s,started_at,end,max_rss\n{rows}")
    report = store.ingest([path], IngestOptions())
    assert store.frame("o", ["start_time_s"])["start_time_s"].tolist() == [1718257276.0 + at for at in range(4)]
    (told,) = [check for check in report.checks if check.name == "doubtful columns"]
    assert told.count == 1 and "'max_rss' (peak_memory_bytes: no unit in the column's name)" in told.message


def test_start_times_alone_are_refused_in_one_sentence(store, write):
    path = write("starts.csv", table("job,start,status", lambda at: (f"j{at}", 1_700_000_000 + at, "done")))
    with pytest.raises(ColumnMissing, match="There are start times, but no end and no duration: add a column"):
        store.ingest([path], AUTO)


def test_hours_and_minutes_without_seconds_give_way_to_start_and_end(store, write):
    def row(at):
        return f"j{at}", "2024-05-01 10:00:00", f"2024-05-01 12:{at:02}:00", f"2:{at:02}"

    report = store.ingest([write("hm.csv", table("job,start,end,duration", row))], AUTO)
    assert "duration_s" not in taken(report)
    assert store.frame("hm", ["duration_s"])["duration_s"].tolist()[:2] == [7200.0, 7260.0]
    alone = write("alone.csv", table("job,duration", lambda at: (f"j{at}", f"2:{at:02}")))
    with pytest.raises(UnitUnknown, match="minutes and seconds"):
        store.ingest([alone], AUTO)


@pytest.mark.parametrize(("name", "longer"), [("walltime", "02:00:00"), ("duration", 7200), ("wall time (s)", 86_400)])
def test_a_duration_that_runs_end_before_is_a_limit_or_holds_a_wait(store, write, name, longer):
    def row(at):
        return f"j{at}", "2024-05-01 10:00:00", f"2024-05-01 10:{20 + at}:00", longer

    report = store.ingest([write("limit.csv", table(f"job,start,end,{name}", row, 20))], AUTO)
    frame = store.frame(
        "limit", [name for name in ("duration_s", "time_limit_s") if name in taken(report)] + ["duration_s"]
    )
    assert frame["duration_s"].tolist() == [60.0 * (20 + at) for at in range(20)]
    assert ("time_limit_s" in taken(report)) == name.startswith("wall")


@pytest.mark.parametrize(("cells", "sure"), [((3600, "01:00:00"), True), ((3600, "00:50:00"), False)])
def test_two_durations_that_differ_are_asked(store, write, cells, sure):
    path = write("two.csv", table("job,duration,elapsed", lambda at: (f"j{at}", *cells)))
    if sure:
        store.ingest([path], AUTO)
        return
    with pytest.raises(UnitUnknown, match=r'"duration_s": {"from": "elapsed"') as told:
        store.ingest([path], AUTO)
    asked = "what 'elapsed' (duration_s) means is not certain ('duration' is a duration, too, and differs)"
    assert asked in str(told.value)
    assert "might take time_limit_s" in str(told.value)


@pytest.mark.parametrize(
    ("ids", "runs"),
    [
        (("7", "7.batch", "7.extern", "8", "8.0"), ["7", "8"]),
        (("7_1", "7_1.0", "8", "8.0", "8.1"), ["7_1", "8"]),
        (("7", "7.batch", "8.batch", "8.0"), ["7", "8"]),  # one of another job alone
        (("7.batch", "7.0", "8.batch"), ["7.batch", "7.0", "8.batch"]),
        (("1.5", "2.5", "1.0"), ["1.5", "2.5", "1.0"]),
        (("1", "1.1", "1.2", "2"), ["1", "1.1", "1.2", "2"]),
        (("1", "1.0", "2.0"), ["1", "1.0", "2.0"]),
        (("v1", "v1.batch"), ["v1", "v1.batch"]),
    ],
)
def test_steps_beside_their_jobs_are_no_runs(store, write, ids, runs):
    """Slurm's lines under other headings: the peak of the largest step is that of its job."""
    rows = [f"{job},COMPLETED,01:00:00,{'' if '.' in job else '8G'},{at}G" for at, job in enumerate(ids, start=1)]
    text = "\n".join(["job_id,state,elapsed,req_mem,max_rss", *rows])
    report = store.ingest([write("s.csv", text)], AUTO)
    frame = store.frame("s", ["peak_memory_bytes", "job_name"], finished_only=False)
    assert frame["job_name"].tolist() == runs
    folded = len(runs) < len(ids)
    orphans = sum(not {job, job.partition(".")[0]} & {*ids} for job in runs) if folded else 0
    checks = {check.name: check.count for check in report.checks}
    assert (checks.get("steps", 0), checks.get("steps without a job", 0)) == (len(ids) - len(runs), orphans)
    if folded:
        of_job = [max(at for at, job in enumerate(ids, start=1) if job.split(".")[0] == run) for run in runs]
        assert (frame["peak_memory_bytes"] / GIB).tolist() == of_job


@pytest.mark.parametrize(
    "name, form",
    [
        *(("exit_code", "{}"), ("exit status", "{}"), ("exit_code", "{}:0"), ("exit", "{}"), ("returncode", "{}")),
        *(("retcode", "{}.0"), ("exitcode", "{}")),
    ],
)
def test_exit_codes_tell_what_has_finished(store, write, name, form):
    text = table(f"job,runtime_s,{name}", lambda at: (f"j{at}", 9, form.format(at % 4)))
    report = store.ingest([write("x.csv", text)], AUTO)
    assert (report.rows, store.dataset("x").finished_rows) == (40, 10)


@pytest.mark.parametrize(
    "names, ends",
    [
        ("status,conclusion", ["completed,success", "completed,failure", "completed,cancelled"]),
        ("status,exit_code", ["finished,0", "finished,1", "finished,137"]),
        ("status,success", ["ended,True", "ended,False", "done,False"]),
        ("exit_code,state", ["0:0,COMPLETED", "1:0,FAILED", "0:0,TIMEOUT"]),
        *(("failed", each) for each in (["0", "1", "1"], ["false", "True", "true"], ["no", "yes", "Yes"])),
        *(("success", ["1", "0", "0"]), ("completed", ["1", "0", "0"]), ("finished", ["true", "false", "false"])),
        ("failed,exit_status", ["0,0", "0,1", "1,137"]),
        *((f"status,{each}", ["ended,0", "done,1", "ended,1"]) for each in ("crashed", "killed", "timed_out", "error")),
        ("status,oom_killed", ["done,0", "done,1", "done,1"]),
        ("state", ["JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED"]),
        ("state", ["STATUS_COMPLETED", "STATUS_RUNNING", "STATUS_FAILED"]),
        *((each, ["true", "false", "false"]) for each in ("ok", "passed")),
        ("state,OOMKilled", ["DONE,false", "FAILED,true", "FAILED,false"]),
    ],
)
def test_of_several_statuses_the_one_that_tells_failures_counts(store, write, tmp_path, names, ends):
    text = table(f"job,runtime_s,{names}", lambda at: (f"j{at}", 9, ends[at % 3]), 30)
    report = store.ingest([write("s.csv", text)], AUTO)
    assert store.dataset("s").finished_rows == 10
    if "oom" in names.lower():
        kills = [] if "done" in ends[0] else ["out_of_memory_kills"]
        frame = store.frame("s", ["status", *kills], finished_only=False)
        assert int(was_killed_for_memory(frame).sum()) == sum(end.endswith(("1", "true")) for end in ends) * 10
    assert "end_time_s" not in taken(report)
    if names in ("failed", "success"):
        told = dict(store.suggest(tmp_path / "s.csv", AUTO).evidence["status"].values)
        assert set(told.values()) == {"finished", "failed"}


@pytest.mark.parametrize(
    "states, ends",
    [
        ("CD F TO OOM CA R PD", "finished failed timed_out out_of_memory killed running waiting"),
        ("cd nf dl pr bf cg rq", "finished failed timed_out killed failed running waiting"),
        ("DONE EXIT RUN PEND SSUSP PSUSP DONE", "finished failed running waiting running waiting finished"),
        ("CA PR NY CA PR TX CA", " ".join(["finished"] * 7)),
        ("F R Q H E W B", " ".join(["finished"] * 7)),
    ],
)
@pytest.mark.parametrize("heading", ["job,runtime_s,st", "JobID,Elapsed,State"])
def test_short_states_are_those_of_slurm_where_one_is_no_other(store, write, heading, states, ends):
    of_slurm = heading.startswith("JobID") and "CD" in states
    text = table(heading if of_slurm else "job,runtime_s,st", lambda at: (at, "00:00:09", states.split()[at]), 7)
    store.ingest([write("s.csv", text)], AUTO)
    frame = store.frame("s", ["job_name"] if "B" in states or "NY" in states else ["status"], finished_only=False)
    told = [CAUSES[end].replace(" ", "_") if end >= 0 else "finished" for end in causes_of(frame)]
    assert told == ends.split()


def test_states_of_slurms_database_are_numbers(store, write):
    heads = "id_job,job_name,state,exit_code,time_submit,time_start,time_end"
    begun = [(at, 1_790_000_000 + 100 * at, state) for at, state in enumerate([3, 0, 4, 5, 6, 11, 1, 3])]
    lines = (
        f"{at},a,{state},0,{t},{t * (state > 0)},{(t + 60) * (state > 1)}"  # 0: not yet
        for at, t, state in begun
    )
    store.ingest([write("d.csv", "\n".join((heads, *lines)))], AUTO)
    frame = store.frame("d", ["status", "start_time_s", "duration_s"], finished_only=False)
    told = [CAUSES[end] if end >= 0 else "finished" for end in causes_of(frame)]
    wanted = ["finished", "waiting", "killed", "failed", "timed out", "out of memory", "running", "finished"]
    assert told == wanted
    text = table("id,state,runtime_s", lambda at: (at, at % 12, 60))
    store.ingest([write("e.csv", text)], AUTO)
    assert "COMPLETED" not in set(store.frame("e", ["status"], finished_only=False)["status"])


@pytest.mark.parametrize("resources", ["1=4;2=8192;4=2", ""])
def test_a_dump_of_slurms_database_has_its_units(store, write, resources):
    """`mem_req` of each core has 2**63 more; `deleted` is no end, an account no user beside a uid."""
    heads = "deleted,account,id_job,id_user,job_name,state,cpus_req,mem_req,timelimit,time_start,time_end,tres_req"
    of_a_core = 2**63 if resources else 0
    begun = [(at, 1_790_000_000 + 100 * at, at % 2 * of_a_core + 4096) for at in range(8)]
    lines = (f"0,lab,{at},1001,a,3,4,{memory},120,{t},{t + 600}," for at, t, memory in begun)
    text = "\n".join((heads, *(line + f'"{resources.replace(";", ",")}"' for line in lines)))
    report = store.ingest([write("d.csv", text)], AUTO)
    assert "unread columns" not in {check.name for check in report.checks}
    fields = ["user", "group", "duration_s", "time_limit_s", "requested_memory_bytes"]
    wanted = ["1001", "lab", 600, 7200, 4 * GIB]
    assert store.frame("d", fields).iloc[0, 1:].tolist() == wanted
    store.ingest([write("w.csv", text.replace("mem_req", "priority"))], AUTO)  # a dump of some columns
    assert ("requested_memory_bytes" in {column.name for column in store.columns("w")}) == bool(resources)


def test_a_table_with_german_headings_loads(store, write):
    heads = "Auftrag;Benutzer;Startzeit;Endzeit;Dauer (min);Speicher angefordert (GB);Speicher max (GB);Kerne;Zustand"
    end = ("fehlgeschlagen", "erledigt")
    rows = (f"j{at};a;0{at}.05.2024 08:15;0{at}.05.2024 09:45;90;4,5;2,{at};8;{end[at % 2]}" for at in range(1, 9))
    report = store.ingest([write("d.csv", "\n".join((heads, *rows)))], AUTO)
    fields = ["user", "duration_s", "requested_memory_bytes", "requested_cpu_percent", "status"]
    frame = store.frame("d", fields, finished_only=False)
    assert frame[fields].iloc[0].tolist() == ["a", 5400, 4.5e9, 800, "erledigt"]
    assert [CAUSES[one] if one >= 0 else "finished" for one in causes_of(frame)][:2] == ["finished", "failed"]
    assert report.rejected == 0


def test_headings_of_seff_and_of_eagle_are_fields(store, write):
    heads = "JobID,State,Job Wall-clock time,wallclock_req,Memory Utilized,queue_name"
    text = table(heads, lambda at: (at, "COMPLETED", f"01:00:{10 + at}", "4-00:00:00", "1.5 GB", "batch"))
    report = store.ingest([write("s.csv", text)], AUTO)
    assert {field: column for field, (column, _) in taken(report).items()} == {
        "job_name": "JobID", "workload": "queue_name", "status": "State", "duration_s": "Job Wall-clock time",
        "time_limit_s": "wallclock_req", "peak_memory_bytes": "Memory Utilized",
    }  # fmt: skip


def test_jobs_of_flux_have_a_limit_beside_their_time(store, write):
    """`flux jobs -a --json`: `duration` is what a job may take, `runtime` what it took."""
    run = {"name": "a", "ncores": 8, "duration": 3600.0, "runtime": 60.0, "status": "COMPLETED"}
    jobs = [run | {"id": f"f{t}", "t_submit": t - 3, "t_run": t, "t_cleanup": t + 60} for t in range(10**9, 10**9 + 5)]
    store.ingest([write("flux.json", json.dumps({"jobs": jobs}))], AUTO)
    frame = store.frame("flux", ["start_time_s", "end_time_s", "duration_s", "time_limit_s"])
    assert frame.iloc[0, 1:].tolist() == [1e9, 1e9 + 60, 60, 3600]


def test_keys_of_pbs_are_requests_and_uses(store, write):
    heads = "Job_Name,Exit_status,resources_used.mem,Resource_List.mem,Resource_List.walltime,resources_used.walltime"
    text = table(heads, lambda at: (f"j{at}", 0, "2097152kb", "4gb", "02:00:00", "00:10:00"))
    store.ingest([write("p.csv", text)], AUTO)
    fields = ["requested_memory_bytes", "peak_memory_bytes", "time_limit_s", "duration_s"]
    assert store.frame("p", fields).iloc[0, 1:].tolist() == [4 * GIB, 2 * GIB, 7200, 600]


def test_cores_that_a_run_was_given_are_no_use_and_a_bare_cpu_is_asked(store, write):
    text = table("job,runtime_s,num_cpu,gpu_num,cores_used,queue", lambda at: (f"j{at}", 9, 64, 16, 64, 3))
    report = store.ingest([write("c.csv", text)], AUTO)
    assert taken(report) == {
        "job_name": ("job", ""),
        "duration_s": ("runtime_s", "s"),
        "requested_cpu_percent": ("num_cpu", "cores"),
        "requested_gpu_percent": ("gpu_num", "cores"),
    }
    text = table("job,runtime_s,cores_used", lambda at: (f"j{at}", 9, 3.7))
    assert taken(store.ingest([write("u.csv", text)], AUTO))["cpu_usage_percent"] == ("cores_used", "cores")
    with pytest.raises(UnitUnknown, match="unit of 'cpu'"):
        store.ingest([write("s.csv", table("job,runtime_s,cpu", lambda at: (f"j{at}", 1800, 5300.5)))], AUTO)


@pytest.mark.parametrize("request_", ["85000Mn", "4Gc"])
def test_a_request_of_each_node_or_core_is_asked(store, write, request_):
    text = table("job,runtime_s,nodes,mem_req", lambda at: (f"j{at}", 900, 2, request_ if at else "85G"))
    with pytest.raises(UnitUnknown, match=f"'{request_}' is of each"):
        store.ingest([write("n.csv", text)], AUTO)


def test_a_request_of_each_core_is_of_all_cpus_of_its_run_and_none_without(store, write):
    def text(cpus, request):
        heading = f"job_name,duration_s,requested_memory_bytes{',requested_cpu_percent' if cpus else ''}"
        return table(heading, lambda at: (f"j{at}", 900, request(at), *([cpus] if cpus else [])))

    store.ingest([write("c.csv", text(400, lambda at: ("4Gc", "4G", "4Gn")[at % 3]))], IngestOptions())
    assert store.frame("c", ["requested_memory_bytes"])["requested_memory_bytes"].tolist()[:3] == [2**34, 2**32, 2**32]
    with pytest.raises(TraceError, match="'4Gc'"):
        store.ingest([write("d.csv", text("", lambda at: "4Gc"))], IngestOptions())
    report = store.ingest([write("e.csv", text("", lambda at: "4G" if at else "4Gc"))], IngestOptions())
    assert any("'4Gc' in line 2" in check.message for check in report.checks)


def test_a_request_goes_before_a_limit_and_a_time_is_no_user(store, write):
    text = table("job,run (min),cpu_limit,cpu_request,user_s", lambda at: (f"j{at}", 9, 4, 2, 10.5))
    assert taken(store.ingest([write("l.csv", text)], AUTO)) == {
        "job_name": ("job", ""),
        "duration_s": ("run (min)", "min"),
        "requested_cpu_percent": ("cpu_request", "cores"),
    }


def test_a_status_of_other_words_is_left_a_column(store, write):
    report = store.ingest([write("w.csv", table("job,runtime_s,state", lambda at: (f"j{at}", 9, "blue")))], AUTO)
    assert store.dataset("w").finished_rows == 40
    (told,) = (check.message for check in report.checks if check.name == "unknown statuses")
    assert "'state' has no known word of a status ('blue', say)" in told
    assert set(store.frame("w", ["state"])["state"]) == {"blue"}


def test_a_mapping_travels_as_json():
    mapping = {"duration_s": FieldSource("run time", "ms"), "job_name": FieldSource("job")}
    told = document(mapping)
    assert list(told) == ["job_name", "duration_s"]
    assert from_json(json.dumps(told), "here") == mapping
    for wrong in ("[]", "{", '{"job_name": "job"}', "{}"):
        with pytest.raises(SettingsError, match="here"):
            from_json(wrong, "here")


def test_mappings_are_kept_by_name(store, settings):
    mapping = {"job_name": FieldSource("job"), "duration_s": FieldSource("realtime", "ms")}
    store.save_mapping(" flow ", mapping)
    store.save_mapping("flow", mapping | {"user": FieldSource("who")})
    (kept,) = store.mappings()
    assert (kept.name, kept.mapping["user"].column) == ("flow", "who")
    assert kept.fits(["job", "realtime", "who", "more"]) and not kept.fits(["job", "realtime"])
    store.save_mapping("other", mapping)
    with pytest.raises(SettingsError, match="already called"):
        store.rename_mapping("other", "flow")
    assert store.rename_mapping("other", "second").mapping == mapping
    store.remove_mapping("flow")
    assert [one.name for one in store.mappings()] == ["second"]
    for name in ("", "x" * 81, "a\nb"):
        with pytest.raises(SettingsError, match="give a name"):
            store.save_mapping(name, mapping)
    with pytest.raises(SettingsError, match="there are: second"):
        store.mapping("flow")
    assert all(path.stat().st_mode & 0o077 == 0 for path in settings.home.glob("*.duckdb*"))


def test_only_the_first_rows_of_a_large_file_are_looked_at(store, write):
    text = table("job,runtime_s", lambda at: (f"j{at}", at % 90), count=100_200)
    found = store.suggest(write("large.csv", text), AUTO)
    assert (found.rows, found.whole) == (100_000, False)
    assert np.isclose(float(found.evidence["duration_s"].highest.split()[0]), 1)


def days(*first):
    """Return a table whose runs start on the given days of numbers 'A/B' or 'A-B', and end five minutes later."""
    dates = [f"{day}{'-' if '-' in day else '/'}2024" for day in first]
    rows = "".join(f"j{i},{date} 10:00,{date} 10:05\n" for i, date in enumerate(dates))
    return "job,start,end\n" + rows


@pytest.mark.parametrize(
    ("text", "unit", "start"),
    [
        (days("05/04", "13/04", "06/04"), "d/m/y", "2024-04-05T10:00:00Z"),
        (days("05/04", "05/13", "05/06"), "s", "2024-05-04T10:00:00Z"),
        (days("05-04", "13-04", "06-04"), "d/m/y", "2024-04-05T10:00:00Z"),
        (days("05-04", "05-13", "05-06"), "s", "2024-05-04T10:00:00Z"),
    ],
)
def test_days_and_months_stand_as_the_column_tells(store, write, text, unit, start):
    report = store.ingest([write("t.csv", text)], IngestOptions(format="generic"))
    assert (report.rows, report.rejected, taken(report)["start_time_s"][1]) == (3, 0, unit)
    frame = store.frame("t", ["start_time_s", "duration_s"])
    assert frame["start_time_s"][0] == datetime.fromisoformat(start).timestamp()
    assert frame["duration_s"].tolist() == [300.0] * 3


@pytest.mark.parametrize("sign", ["/", "-"])
def test_days_that_could_be_months_are_asked(store, write, sign):
    path = write("t.csv", days(f"05{sign}04", f"06{sign}04", f"07{sign}04"))
    with pytest.raises(UnitUnknown, match="day or month first"):
        store.ingest([path], IngestOptions(format="generic"))
    wanted = {"job_name": FieldSource("job"), "start_time_s": FieldSource("start", "d/m/y")}
    store.ingest([path], IngestOptions(format="generic", mapping=wanted | {"end_time_s": FieldSource("end", "d/m/y")}))
    last = store.frame("t", ["start_time_s"])["start_time_s"][2]
    assert last == datetime.fromisoformat("2024-04-07T10:00:00Z").timestamp()


def test_jobs_without_a_name_are_asked_for_one(store, write):
    """Los Alamos' traces name neither jobs nor what runs."""
    text = "user_ID,submit_time,start_time,end_time,job_status\n" + "".join(
        f"{at % 2},2024-05-01 0{at}:00:00,2024-05-01 0{at}:01:00,2024-05-01 0{at}:31:00,COMPLETED\n" for at in range(4)
    )
    path = write("mustang.csv", text)
    with pytest.raises(UnitUnknown, match=r"what 'user_ID' \(task_name\) means .*no column is known") as refused:
        store.ingest([path], IngestOptions())
    mapping = from_json(str(refused.value).partition("that holds ")[2], "the message")
    store.ingest([path], IngestOptions(mapping=mapping))
    assert store.frame("mustang", ["task_name"])["task_name"].tolist() == ["0", "1", "0", "1"]


BY_HALF_HOUR = ("2024-05-20 10:00:00", "2024-05-20 10:30:00")


@pytest.mark.parametrize(
    ("columns", "row", "field", "because"),
    [
        ("max_mem_gb", lambda at: (2 ** (at % 4),), "requested_memory_bytes", "round steps, as requests do"),
        ("MaxMemoryMB", lambda at: (1024 * (at % 4 + 1),), "requested_memory_bytes", "round steps, as requests do"),
        ("max_mem_gb", lambda at: (1.013 + 0.37 * at,), "peak_memory_bytes", "no round steps"),
        ("mem_gb", lambda at: (1.013 + 0.37 * at,), "peak_memory_bytes", "no round steps"),
        ("memory_mb", lambda at: (701 + 37 * at,), "peak_memory_bytes", "no round steps"),
        ("requested_mem_gb,max_mem_gb", lambda at: (4, 4), "peak_memory_bytes", "100% of the uses are within"),
        ("requested_mem_gb,max_mem_gb", lambda at: (4, 8), "peak_memory_bytes", "0% of the uses are within"),
        ("mem_gb,max_rss_gb", lambda at: (4, 8.1), "requested_memory_bytes", "0% of the uses are within"),
    ],
)
def test_memory_that_may_be_allocated_or_used_is_asked(store, write, columns, row, field, because):
    path = write("m.csv", table(f"job,start,end,{columns}", lambda at: (f"j{at}", *BY_HALF_HOUR, *row(at))))
    with pytest.raises(
        UnitUnknown, match=f"allocated or used.*{because}.*requested_memory_bytes.*peak_memory"
    ) as asked:
        store.ingest([path], AUTO)
    ready = json.loads(str(asked.value).split("that holds ")[1])
    assert ready[field]["from"] in columns.split(",")
    assert store.ingest([path], IngestOptions(mapping=from_json(json.dumps(ready), "ready"))).rows == 40


@pytest.mark.parametrize(
    ("columns", "row", "wanted"),
    [
        ("memory_gb", lambda at: (4,), {"requested_memory_bytes": "memory_gb"}),
        ("max_rss_gb", lambda at: (4.1,), {"peak_memory_bytes": "max_rss_gb"}),
        ("peak_mem_gb", lambda at: (4,), {"peak_memory_bytes": "peak_mem_gb"}),
        ("mem_used_gb", lambda at: (4,), {"peak_memory_bytes": "mem_used_gb"}),
        (
            "req_mem_gb,max_mem_gb",
            lambda at: (8, 1.1 + at / 9),
            {"requested_memory_bytes": "req_mem_gb", "peak_memory_bytes": "max_mem_gb"},
        ),
        (
            "mem_gb,max_mem_gb",
            lambda at: (8, 1.1 + at / 9),
            {"requested_memory_bytes": "mem_gb", "peak_memory_bytes": "max_mem_gb"},
        ),
    ],
)
def test_names_values_and_a_second_column_settle_what_memory_means(store, write, columns, row, wanted):
    path = write("m.csv", table(f"job,start,end,{columns}", lambda at: (f"j{at}", *BY_HALF_HOUR, *row(at))))
    found = taken(store.ingest([path], AUTO))
    assert {field: column for field, (column, _) in found.items() if "memory" in field} == wanted


def used(at):
    return f"{2900 + 37 * at}Mi"


@pytest.mark.parametrize(
    ("columns", "row", "wanted"),
    [
        ("requested_memory,memory", lambda at: ("8Gi", used(at)), {"request": "requested_memory", "use": "memory"}),
        ("mem_limit,mem", lambda at: ("8Gi", used(at)), {"request": "mem_limit", "use": "mem"}),
        ("memory,memory", lambda at: ("8Gi", used(at)), {"request": "memory", "use": "memory_2"}),
        ("memory,memory", lambda at: (used(at), "8Gi"), {"request": "memory_2", "use": "memory"}),
        ("memory_1,memory_2", lambda at: ("8Gi", used(at)), {"request": "memory_1", "use": "memory_2"}),
        ("requested_memory,memory", lambda _: ("8Gi", "4Gi"), {"request": "requested_memory"}),
        ("requested_memory,memory", lambda _: ("8Gi", "8Gi"), {"request": "requested_memory"}),
    ],
)
def test_a_second_column_of_memory_is_the_use_where_its_values_tell_and_is_told_where_not(
    store, write, columns, row, wanted
):
    path = write("m.csv", table(f"job,start,end,{columns}", lambda at: (f"j{at}", *BY_HALF_HOUR, *row(at))))
    report = store.ingest([path], AUTO)
    names = {"request": "requested_memory_bytes", "use": "peak_memory_bytes"}
    found = {field: column for field, (column, _) in taken(report).items() if "memory" in field}
    assert found == {names[each]: column for each, column in wanted.items()}
    checks = {check.name: check for check in report.checks}
    assert ("allocated or used" in checks) == ("use" not in wanted)


def test_a_field_with_doubtful_separators_of_thousands_is_told(store, write):
    number = "1,288"
    text = "job_id,duration_s,mem_used_mb\n" + f'1,60,"{number}"\n2,60,"{number}"\n'
    report = store.ingest([write("jobs.csv", text)], IngestOptions())
    (check,) = (check for check in report.checks if check.name == "unread columns")
    assert check.level == "warning" and f"{number!r} without separators of thousands" in check.message


@pytest.mark.parametrize(
    ("delimiter", "elapsed", "peak", "is_asked"),
    [
        (",", ("3600", "4000"), ("950", "1.024"), False),  # one such value may be a coincidence
        (",", ("3600", "4000"), ("950", "1.024", "16.384"), True),
        ("\t", ("3.600", "4.000"), ("950", "1.024", "1.130"), True),
        (";", ("3600", "4000"), ("900 MB", "1.013 MB", "1.126 MB"), True),
        (";", ("3.600", "4.000"), ("2.950", "1.024"), True),
        (",", ("3.600", "4.000"), ("2.950", "1.024"), False),
        (";", ("3600", "4000"), ("2.950", "1.024"), False),
        (";", ("3.600", "4.00"), ("950", "1.024", "0.130"), False),
    ],
)
def test_points_between_thousands_are_asked(store, write, delimiter, elapsed, peak, is_asked):
    rows = [["job", "walltime_s", "peak_mem_mb"]]
    rows += [[f"j{at}", elapsed[at % len(elapsed)], peak[at % len(peak)]] for at in range(len(peak))]
    path = write("points.csv", "".join(delimiter.join(row) + "\n" for row in rows))
    asked = (
        pytest.raises(UnitUnknown, match=r"point may stand between thousands.*write '.*1\.0")
        if is_asked
        else nullcontext()
    )
    with asked:
        assert store.ingest([path], IngestOptions()).rows == len(peak)


@pytest.mark.parametrize("names", ["t_start,t_end", "tstart,tend", "start_t,end_t"])
def test_a_t_for_time_says_nothing(store, write, names):
    rows = "".join(f"j{at},{1_714_557_600 + at},{1_714_557_700 + 2 * at}\n" for at in range(8))
    store.ingest([write("t.csv", f"job,{names}\n{rows}")], IngestOptions())
    assert store.frame("t", ["duration_s"])["duration_s"].tolist() == [100 + at for at in range(8)]


def test_builds_of_jenkins_are_in_milliseconds_and_run_where_they_have_no_result(store, write):
    builds = [
        {"number": at, "timestamp": 1_714_557_600_000 + 60_000 * at, "duration": 50 + at, "estimatedDuration": 60,
         "result": ("SUCCESS", "FAILURE")[at % 2], "building": False, "fullDisplayName": f"app #{at}"}
        for at in range(6)
    ]  # fmt: skip
    builds[0] |= {"result": None, "building": True, "duration": 0}
    report = store.ingest([write("j.json", json.dumps({"builds": builds}))], IngestOptions())
    frame = store.frame("j", ["duration_s", "start_time_s"], finished_only=False)
    np.testing.assert_allclose(frame["duration_s"], [300.055, 0.051, 0.052, 0.053, 0.054, 0.055])
    assert (report.running, frame["start_time_s"][1], frame["finished"].sum()) == (1, 1_714_557_660, 2)


@pytest.mark.parametrize(("ids", "wanted"), [("id", ["0", "unit", "test"]), ("note", ["unit", "test", None])])
def test_a_stage_holds_several_jobs_of_one_name(store, write, ids, wanted):
    rows = "".join(f"{at},{('unit', 'lint')[at % 2]},test,{60 + at}\n" for at in range(8))
    store.ingest([write("g.csv", f"{ids},name,stage,runtime_s\n{rows}")], IngestOptions())
    have = {column.name for column in store.columns("g")}
    frame = store.frame("g", [name for name in ("job_name", "task_name", "workload") if name in have])
    assert [frame[name][0] if name in frame else None for name in ("job_name", "task_name", "workload")] == wanted


def test_what_galaxy_gave_a_job_is_requested(store, write):
    head = "job_id,tool_id,state,start_epoch,end_epoch,galaxy_slots,galaxy_memory_mb,memory.max_usage_in_bytes"
    text = table(head, lambda at: (at, "bwa", "ok", 1714557610, 1714558210, 4, 8192, 4294967296), 9)
    store.ingest([write("galaxy.csv", text)], AUTO)
    names = ["task_name", "requested_memory_bytes", "requested_cpu_percent", "peak_memory_bytes"]
    assert store.frame("galaxy", names).loc[0, names].tolist() == ["bwa", 8 * GIB, 400, 4 * GIB]

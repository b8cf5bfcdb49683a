"""LSF's own accounting file: records of ended jobs by their published layout."""

import pytest

from workprof.core.errors import TraceError
from workprof.core.units import GIB, MIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow


def record(job, *, state=64, info=0, request="rusage[mem=4000]", asked=(), hosts=("n1",), idx=0, name="align"):
    """A record as LSF 10.1 writes it (aws-samples/hpc-cost-simulator#10, #16, #44)."""
    first = f'"JOB_FINISH" "10.1" 1656313251 {job} 1001 33816602 4 1656072937 0 0 1656312651 "u1" "normal"'
    texts = f'"{request}" "" "" "h0" "/home/u1" "/dev/null" "/dev/null" "" "1656072937.1"'
    lists = " ".join([str(len(asked)), *(f'"{h}"' for h in asked), str(len(hosts)), *(f'"{h}"' for h in hosts)])
    usage = "600.000000 1.500000 2097152 0 -1 0 0 2322 0 0 8 0 -1 0 0 0 128 5 -1"
    then = f'"" "proj" 0 4 "" "" {idx} 2097152 4194304 "" "" "" "" 0 "" {info} "" -1 "" "" "" "" -1 "" "" 2097168 ""'
    end = '1656072944 "" "" 2 1032 "0" 1033 "0" 0 -1 4000 600 "" "" -1 "" -1 0 "" 0 0 "" 600 "/tmp" 0 ""'
    return f'{first} {texts} {lists} {state} 60.0 "{name}" "a.sh ""x"" y" {usage} {then} {end}\n'


def test_a_job_of_many_machines_may_have_more_slots_than_one_has(store, write):
    text = "".join(record(at, hosts=hosts) for at, hosts in enumerate((("n1", "n2", "n3"), ("n1",)), 9000))
    text = text.replace(" 33816602 4 ", " 33816602 8192 ").replace('"proj" 0 4 ', '"proj" 0 8192 ')
    report = store.ingest([write("lsb.acct", text)], IngestOptions())
    asked = store.frame(report.dataset, ["requested_cpu_percent"])["requested_cpu_percent"]
    assert asked.fillna(-1).tolist() == [819_200, -1]


def test_records_of_ended_jobs(store, write):
    text = (
        record(9000)
        + '"EVENT_ADRSV_FINISH" "10.1" 1656313251 1\n'
        + record(9001, hosts=("n1", "n1", "n2"), asked=("n1",), idx=3, request="select[x] rusage[mem=2GB/task]")
        + record(9002, state=32, info=16, hosts=("n1", "n2"), request="rusage[mem=2GB/host]")
        + record(9003, name="two\nlines", request="")
    )
    report = store.ingest([write("lsb.acct", text)], IngestOptions())
    assert (report.format, report.rows, report.rejected) == ("lsb-acct", 4, 0)
    fields = ["job_name", "duration_s", "requested_memory_bytes", "peak_memory_bytes", "cpu_usage_percent", "node"]
    rows = (
        store.frame("lsb", [*fields, "status"], finished_only=False)[[*fields, "status"]].fillna(-1).to_numpy().tolist()
    )
    assert rows == [
        ["9000", 600, 4000 * MIB, 2 * GIB, 100.25, "n1", "DONE"],
        ["9001[3]", 600, 8 * GIB, 2 * GIB, 100.25, "n1+n2", "DONE"],
        ["9002", 600, 4 * GIB, 2 * GIB, 100.25, "n1+n2", "out of memory (EXIT, TERM_MEMLIMIT)"],
        ["9003", 600, -1, 2 * GIB, 100.25, "n1", "DONE"],
    ]
    assert {check.name: check.count for check in report.checks}["other records"] == 1


def test_another_layout_is_refused_with_the_way_that_works(store, write):
    broken = '"JOB_FINISH" "3.1" 1656313251 9000 1001 33816602 4 1656072937\n'
    with pytest.raises(TraceError, match=r"bjobs .*-json"):
        store.ingest([write("lsb.acct", broken)], IngestOptions())
    report = store.ingest([write("mixed.acct", record(1) + broken)], IngestOptions())
    assert (report.rows, report.rejected) == (1, 1)


@pytest.mark.some(4)
@pytest.mark.parametrize(
    ("cut", "rejected"), [(-8, 1), (-60, 1), (-200, 1), (-260, 1), (-440, 1), (-1, 0), (-2, 0), (None, 0)]
)
def test_a_last_record_that_is_cut_is_a_reject_or_told(store, write, cut, rejected):
    whole = record(9000) + record(9001, hosts=("n1", "n2"))
    report = store.ingest([write("lsb.acct", whole + record(9002, hosts=("n1", "n2", "n3"))[:cut])], IngestOptions())
    assert (report.rows, report.rejected) == (3 - rejected, rejected)
    unended = [check.level for check in report.checks if check.name == "no line end"]
    assert unended == ["warning"] * (cut is not None and not rejected)
    told = [reject[:29] for reject in store.rejects("lsb")["reason"]] if rejected else []
    assert told == ["the last line has no line end"] * rejected


def test_a_cpu_time_of_zero_is_not_known_and_counted(store, write):
    unknown = record(9001).replace("600.000000 1.500000", "0.000000 0.000000")
    for text, used in ((record(9000) + unknown, [100.25, -1]), (unknown, [-1])):
        report = store.ingest([write(f"{len(used)}.acct", text)], IngestOptions(name=f"of-{len(used)}"))
        assert {check.name: check.count for check in report.checks}["CPU time of zero"] == 1
        frame = store.frame(report.dataset, ["job_name", "duration_s"], finished_only=False)
        names = {column.name for column in store.columns(report.dataset)}
        assert ("cpu_usage_percent" in names) == (used != [-1])
        if "cpu_usage_percent" in names:
            frame = store.frame(report.dataset, ["cpu_usage_percent"], finished_only=False)
            assert frame["cpu_usage_percent"].fillna(-1).tolist() == used


def test_the_elements_of_arrays_are_runs_of_one_task(store, write):
    names = ("align[1-100]%10", "align[1-3:2,7]", "align", "align[x]")
    text = "".join(record(9000 + at, name=name, idx=at) for at, name in enumerate(names))
    store.ingest([write("lsb.acct", text)], IngestOptions())
    assert store.frame("lsb", ["task_name"])["task_name"].tolist() == ["align"] * 3 + ["align[x]"]

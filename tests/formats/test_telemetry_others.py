"""psrecord's two forms, any CSV with a mapping, and which text is of which format."""

import numpy as np
import pytest

from tests.formats.telemetry_files import checks, imported
from workprof.core.errors import ColumnMissing, NoRows, SettingsError, TraceError
from workprof.formats.telemetry import sniffed

PLAIN = """
    # Elapsed time   CPU (%)     Real (MB)   Virtual (MB)
           0.000        0.000        3.500      5.700
           1.002      187.300        4.500      5.800
           2.004
           3.006        a            b          c
    """


def test_psrecord_plain(tmp_path):
    found = imported(tmp_path, "log.txt", PLAIN)
    assert found.frame["t"].tolist() == [0, 1.002]
    assert found.frame.iloc[1, 4:].to_dict() == {"cpu%": 187.3, "mem_real_mb": 4.5, "mem_virtual_mb": 5.8}
    assert [one.line for one in found.rejected] == [4, 5]


def test_psrecord_plain_with_io_and_memory_of_its_own(tmp_path):
    """As psrecord 1.4 writes `--include-io`, and 1.2 `--uss`: every line was refused."""
    found = imported(
        tmp_path,
        "log.txt",
        "# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)  Read count  Write count   Read bytes  Write bytes \n"
        "       0.000        0.000        3.500        5.700           10            0          100            0\n"
        "       2.000      150.000        4.500        5.800           30            1          500            0\n",
    )
    assert found.rejected == ()
    assert found.frame.iloc[1, 4:].to_dict() == {
        "cpu%": 150,
        "mem_real_mb": 4.5,
        "mem_virtual_mb": 5.8,
        "read_count/s": 10,
        "write_count/s": 0.5,
        "read_bytes/s": 200,
        "write_bytes/s": 0,
    }
    plain = "# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)   USS (MB)  \n 0.000 0.000 3.500 5.700 2.250\n"
    assert imported(tmp_path, "log.txt", plain).frame["mem_uss_mb"].tolist() == [2.25]


@pytest.mark.parametrize(
    "text",
    [
        "# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)\n 0.0 1 2 3\n 1.0 1 2 3\n",
        "elapsed_time,nproc,cpu,mem_real,mem_virtual\n0.0,1,1,2,3\n1.0,1,1,2,3\n",
    ],
    ids=["plain", "csv"],
)
def test_recordings_of_psrecord_behind_each_other_are_runs(tmp_path, text):
    found = imported(tmp_path, "log.txt", text + text)
    assert found.frame["run"].tolist() == ["log", "log", "log-2", "log-2"]


def test_psrecord_csv_counts_are_totals(tmp_path):
    text = """
        elapsed_time,nproc,cpu,mem_real,mem_virtual,read_count,write_count,read_bytes,write_bytes
        0.0,1,0,3,5,10,0,100,0
        2.0,2,150,4,5,30,1,500,0
        3.0,2,150,4,5,20,1,600,0
        """
    found = imported(tmp_path, "log.csv", text)
    assert found.frame["procs"].tolist() == [1, 2, 2]
    assert found.frame["read_count/s"].tolist()[1] == 10
    assert np.isnan(found.frame["read_count/s"].to_numpy()[[0, 2]]).all()
    assert found.frame["read_bytes/s"].tolist()[1:] == [200, 100]
    assert checks(found)["resets"] == 1
    with pytest.raises(TraceError, match="a log of psrecord starts with"):
        imported(tmp_path, "log.csv", "a,b\n1,2\n", "psrecord")


WIDE = """
    when;who;what;kind;cpu;mem
    2026-11-21T10:00:00;a;x;big;1;10
    2026-11-21T10:00:02;a;x;big;2;
    2026-11-21T10:00:00;b;y;big;3;30
    ;b;y;big;4;40
    """
MAPPING = {"t": "when", "run": "who", "workload": "what"}


def test_wide_with_a_mapping(tmp_path):
    found = imported(tmp_path, "w.csv", WIDE, "wide", MAPPING)
    assert list(found.frame.columns) == ["workload", "run", "t", "status", "cpu", "mem"]
    assert found.frame["t"].tolist() == [2, 4, 0]
    assert found.frame["run"].tolist() == ["a", "a", "b"]
    assert [(one.line, one.reason) for one in found.rejected] == [(5, "no time")]
    assert checks(found)["text_columns"] == 1


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (("0.5", "1.5", "2.5"), [0.5, 1.5, 2.5]),
        (("1764174327", "1764174328", "1764174329"), [1, 2, 3]),
        (("1764174327000", "1764174328000", "1764174329000"), [1, 2, 3]),
        (("1764174327000000", "1764174328000000", "1764174329000000"), [1, 2, 3]),
        (("1764174327000000000", "1764174328000000000", "1764174329000000000"), [1, 2, 3]),
        (("1764174329", "1764174328", "1764174327"), [1, 2, 3]),
        (("23:59:58", "00:00:00", "00:00:02"), [2, 4, 6]),
        (("00:00:02", "00:00:00", "23:59:58"), [2, 4, 6]),
        (("11:59:58 PM", "12:00:00 AM", "12:00:02 AM"), [2, 4, 6]),
        (("2026-11-21 10:00:00 UTC", "2026-11-21 10:00:01 UTC", "2026-11-21 10:00:02 UTC"), [1, 2, 3]),
    ],
    ids=[
        "elapsed",
        "epoch",
        "epoch ms",
        "µs",
        "ns",
        "newest first",
        "past midnight",
        "back over midnight",
        "twelve hours",
        "dates",
    ],
)
def test_times_of_every_kind(tmp_path, times, expected):
    text = "time,a\n" + "".join(f"{time},1\n" for time in times)
    assert imported(tmp_path, "w.csv", text, "wide").frame["t"].tolist() == expected


def test_clocks_of_several_runs_pass_midnight_each_by_itself(tmp_path):
    """Of two hosts in turns, one in the morning and one at night, every second row was a day further on."""
    text = "time,host,a\n09:00:00,x,1\n23:59:59,y,2\n09:00:01,x,1\n00:00:00,y,2\n"
    found = imported(tmp_path, "w.csv", text, "wide", {"run": "host"})
    assert found.frame["t"].tolist() == [1, 2, 1, 2]
    assert "holes" not in checks(found)


def test_runs_and_workloads_go_by_their_own_names(tmp_path):
    """A column `run` of texts was left out and the runs were mixed; one of numbers was a counter."""
    text = "t,workload,run,a\n" + "".join(f"{t},w,{run},{t}\n" for run in (7, 8) for t in (0, 1, 2))
    found = imported(tmp_path, "w.csv", text, "wide")
    assert found.frame["run"].tolist() == ["7", "7", "7", "8", "8", "8"]
    assert (set(found.frame["workload"]), list(found.frame.columns[4:])) == ({"w"}, ["a"])
    hosts = "time,host,a\n1714636800,n1,1\n1714636801,n1,2\n1714636900,n2,3\n1714636901,n2,4\n"
    assert imported(tmp_path, "w.csv", hosts, "wide").frame["run"].tolist() == ["n1", "n1", "n2", "n2"]
    assert imported(tmp_path, "w.csv", hosts.replace("n2", "n1"), "wide").frame["run"].unique().tolist() == ["w"]
    counted = "t,run\n" + "".join(f"{t},{n}\n" for t, n in enumerate([3, 1, 3, 2, 1]))
    assert imported(tmp_path, "w.csv", counted, "wide").frame["run_2"].tolist() == [3, 1, 3, 2, 1]


@pytest.mark.parametrize(
    ("times", "runs"),
    [
        ([0, 1, 2, 0, 1], [["w", 0, 1, 2], ["w-2", 0, 1]]),
        ([10, 20, 30, 10.4, 20.4], [["w", 10, 20, 30], ["w-2", 10.4, 20.4]]),
        ([0, 1, 3, 2, 4], [["w", 0, 1, 2, 3, 4]]),
        ([3, 2, 1, 0], [["w", 0, 1, 2, 3]]),
        ([5, 4], [["w", 4, 5]]),
    ],
    ids=["restarted", "not at 0", "unsorted", "newest first", "two rows"],
)
def test_an_elapsed_time_that_falls_to_its_start_is_another_run(tmp_path, times, runs):
    text = "t,a\n" + "".join(f"{t},1\n" for t in times)
    found = imported(tmp_path, "w.csv", text, "wide")
    assert [[name, *one["t"]] for name, one in found.frame.groupby("run", sort=False)] == runs
    assert checks(found).get("repeated_runs", 0) == len(runs) - 1


def test_what_a_column_holds_is_told_by_most_of_its_cells(tmp_path):
    """A first cell told it: a counter that began with a word was left out, with an info alone."""
    found = imported(tmp_path, "w.csv", "t,a,b\n1,off,-\n2,5,[N/A]\n3,6,7\n4,7,8\n", "wide")
    assert found.frame["a"].tolist() == [5, 6, 7]
    assert [(one.line, one.column) for one in found.rejected] == [(2, "a")]
    assert np.isnan(found.frame["b"].iloc[0])


@pytest.mark.parametrize(
    "cells", [("5%", "6%"), ("5 %", "16 %"), ("100 MiB", "101 MiB"), ("1 234", "12 345"), ("9", "1'234'567")]
)
def test_numbers_for_people_are_left_out_with_a_warning(tmp_path, cells):
    text = "t;a;b\n" + "".join(f"{t};{cell};{t}\n" for t, cell in enumerate([*cells, cells[-1]]))
    found = imported(tmp_path, "w.csv", text, "wide")
    (told,) = [check for check in found.checks if check.name == "numbers_with_units"]
    assert (told.level, list(found.frame.columns[4:])) == ("warning", ["b"])
    assert f"a ({cells[0]!r})" in told.message
    texts = "t;host;address;cores;b\n1;n1;10.0.0.1;0-3;1\n2;n2;10.0.0.2;4-7;2\n"
    assert "numbers_with_units" not in checks(imported(tmp_path, "w.csv", texts, "wide"))


def test_a_file_without_a_counter_is_refused(tmp_path):
    """It became rows that hold a time and nothing else."""
    with pytest.raises(NoRows, match=r"no counter has a value.*a \('5%'\); write plain numbers"):
        imported(tmp_path, "w.csv", "t,a\n1,5%\n2,6%\n", "wide")
    with pytest.raises(NoRows, match=r"perf\.cycles/s: no value at all"):
        imported(tmp_path, "perf.csv", "     1.000000000,<not counted>,,cycles,0,0.00,,\n")


@pytest.mark.parametrize(
    ("column", "times", "doubt"),
    [("t", (0, 1000, 2000), 3), ("t", (0, 1, 2), 0), ("t_ms", (0, 1000, 2000), 0), ("t", (45414.1, 45414.10001), 2)],
    ids=["milliseconds", "seconds", "told", "Excel's days"],
)
def test_the_unit_of_elapsed_times_is_doubted(tmp_path, column, times, doubt):
    text = f"{column},a\n" + "".join(f"{t},1\n" for t in times)
    found = imported(tmp_path, "w.csv", text, "wide", {"t": column})
    assert checks(found).get("unit_of_time", 0) == doubt


def test_counters_that_only_grow_may_be_totals(tmp_path):
    text = "t,total,gauge,flat\n" + "".join(f"{t},{100 + t * t},{t % 3},7\n" for t in range(12))
    found = imported(tmp_path, "w.csv", text, "wide")
    (told,) = [check for check in found.checks if check.name == "totals"]
    assert told.message == "1 counter has values that never fall: total; of totals, give the rates"


@pytest.mark.parametrize("days", [("2024-05-01", "2024-05-03"), ("20240501", "20240503")])
@pytest.mark.parametrize("clocks", [("10:00:00", "10:00:01"), ("10:00:00 PM", "10:00:01 PM")])
def test_a_clock_goes_with_the_day_beside_it(tmp_path, days, clocks):
    """Two days and a second were a second."""
    text = "date,time,a\n" + "".join(f"{day},{clock},1\n" for day, clock in zip(days, clocks, strict=True))
    found = imported(tmp_path, "w.csv", text, "wide")
    assert np.diff(found.frame["t"]).tolist() == [2 * 86400 + 1]
    assert list(found.frame.columns[4:]) == ["a"]


def test_rows_of_one_time_that_a_text_tells_apart_are_doubted(tmp_path):
    text = "time,metric,a\n1714636800,x,1\n1714636800,y,2\n1714636801,x,1\n1714636801,y,2\n"
    found = imported(tmp_path, "w.csv", text, "wide")
    (told,) = [check for check in found.checks if check.name == "mixed_rows"]
    assert told.count == 4
    assert '--map: {"run": {"from": "metric"}}' in told.message
    assert "mixed_rows" not in checks(imported(tmp_path, "w.csv", text, "wide", {"run": "metric"}))
    devices = "".join(f"171463680{at}.{gpu},{gpu},{at}\n" for at in range(5) for gpu in (0, 1))
    assert checks(imported(tmp_path, "w.csv", f"time,index,a\n{devices}", "wide"))["mixed_rows"] == 10
    sizes = "time,host,cores\n" + "".join(f"{at},{host},{n}\n" for at in range(9) for host, n in (("x", 8), ("y", 16)))
    assert "mixed_rows" not in checks(imported(tmp_path, "w.csv", sizes, "wide", {"run": "host"}))
    numbered = imported(tmp_path, "w.csv", text.replace("metric", "run").replace("x", "1").replace("y", "2"), "wide")
    assert numbered.frame["run"].tolist() == ["1", "1", "2", "2"]


def test_times_of_which_some_have_a_zone_are_refused(tmp_path):
    """They were read as UTC, hours beside the others."""
    text = "time,a\n2024-05-02T08:00:01+02:00,1\n2024-05-02T08:00:02,2\n"
    with pytest.raises(TraceError, match=r"\+02:00' and '2024-05-02T08:00:02' are of unlike zones"):
        imported(tmp_path, "w.csv", text, "wide")
    text = "time,a\n2024-10-27 02:59:59 CEST,1\n2024-10-27 02:00:00 CET,2\n"
    with pytest.raises(TraceError, match="CEST' and '2024-10-27 02:00:00 CET' are of unlike zones"):
        imported(tmp_path, "w.csv", text, "wide")
    text = "time,a\n2024-05-02T08:00:01+02:00,1\n2024-05-02T06:00:02Z,2\n"
    assert imported(tmp_path, "w.csv", text, "wide").frame["t"].tolist() == [1, 2]
    text = "time,a\n2024-05-02 08:00:01 CEST,1\n2024-05-02 08:00:02 CEST,2\n"
    assert imported(tmp_path, "w.csv", text, "wide").frame["t"].tolist() == [1, 2]


@pytest.mark.parametrize("other", ["1714636801000", "0", "5"])
def test_times_in_several_units_are_refused(tmp_path, other):
    with pytest.raises(TraceError, match=rf"several kinds, such as .*'{other}'"):
        imported(tmp_path, "w.csv", f"time,a\n1714636800,1\n{other},2\n1714636802,3\n", "wide")


@pytest.mark.parametrize(
    ("column", "factor"),
    [
        ("time (s)", 1),
        ("Time [ms]", 1e-3),
        ("t_ms", 1e-3),
        ("elapsed_time_min", 60),
        ("Elapsed (h)", 3600),
        ("ts_ns", 1e-9),
    ],
)
def test_a_column_of_time_may_tell_its_unit(tmp_path, column, factor):
    text = f"cpu_time_s|{column}|a\n5|0|1\n6|1000|2\n"
    found = imported(tmp_path, "w.csv", text, "wide")
    assert found.frame["t"].tolist() == [0, pytest.approx(1000 * factor)]
    assert list(found.frame.columns[4:]) == ["cpu_time_s", "a"]


def test_what_a_mapping_may_not_say(tmp_path):
    with pytest.raises(ColumnMissing, match=r'no column \'nothing\'; .*"t": .*the file has when, who'):
        imported(tmp_path, "w.csv", WIDE, "wide", {"t": "nothing"})
    with pytest.raises(ColumnMissing, match="no column 'of time'"):
        imported(tmp_path, "w.csv", "a,b\n1,2\n", "wide")
    with pytest.raises(SettingsError, match="the mapping names 'node'"):
        imported(tmp_path, "w.csv", WIDE, "wide", MAPPING | {"node": "who"})
    for text in ("2026-11-21T10:00:00", "-1"), ("-1", "2026-11-21T10:00:00"):
        with pytest.raises(TraceError, match=r"w\.csv"):
            imported(tmp_path, "w.csv", f"t,a\n{text[0]},1\n{text[1]},1\n", "wide")
    with pytest.raises(TraceError, match=r"begins with Excel's line sep=.*take that line out"):
        imported(tmp_path, "w.csv", "sep=;\nt;a\n1;1\n", "wide")
    with pytest.raises(TraceError, match="'soon' is no time"):
        imported(tmp_path, "w.csv", "t,a\nsoon,1\n", "wide")


@pytest.mark.parametrize(
    "times",
    [
        ("05/26/2024 23:59:00", "05/27/2024 00:00:00"),
        ("26/05/2024 23:59:00", "27/05/2024 00:00:00"),
        ("05/26/24 23:59", "05/27/24 00:00"),
        ("05/26/2024 11:59:00.5 PM", "05/27/2024 12:00:00.5 AM"),
        ("26.05.2024 23:59:00", "27.05.2024 00:00:00"),
        ("05/01/2024 10:00:00", "05/01/2024 10:01:00"),  # a minute apart in January and in May
        ("31-May-2024 23:59:00", "01-Jun-2024 00:00:00"),
    ],
)
def test_dates_of_other_countries_tell_elapsed_times(tmp_path, times):
    text = "time,a\n" + "".join(f"{time},{at}\n" for at, time in enumerate(times))
    assert imported(tmp_path, "w.csv", text, "wide").frame["t"].tolist() == [60.0, 120.0]


def test_days_of_samples_tell_which_number_is_the_month(tmp_path):
    def elapsed(days):
        rows = [f"{day} {hour}:00:00" for day in days for hour in (10, 11, 12)]
        text = "time,a\n" + "".join(f"{time},{at}\n" for at, time in enumerate(rows))
        return imported(tmp_path, "w.csv", text, "wide").frame["t"].tolist()

    expected = [3600 * hour for hour in (1, 2, 3, 25, 26, 27)]
    assert elapsed(["05/01/2024", "05/02/2024"]) == elapsed(["01/05/2024", "02/05/2024"]) == expected
    with pytest.raises(TraceError, match="may begin with the day or with the month"):
        elapsed(["05/01/2024", "06/02/2024"])


def test_decimal_commas_of_a_wide_file_are_refused(tmp_path):
    with pytest.raises(TraceError, match=r"line 2, column a: '1,5' has a decimal comma"):
        imported(tmp_path, "w.csv", "t;a\n1;1,5\n", "wide")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("workload,run,t,cpu.user%\n", "telemetry"),
        ("\ufeffworkload,run,t,a\n", "telemetry"),
        ("TS,SKT,CPU,CID,CPI\n", "perfspect"),
        ("TS,SKT,CPU,PID,CMD,CID,CPI\n", "perfspect"),
        ("time,metric_CPI\n", "perfspect"),
        ('{"Kernel Telemetry":[{"Time":"10:01:02"}]}', "perfspect"),
        ('{"Metrics":[{"Name":"CPI","Value":1}],"Timestamp":1}', "perfspect"),
        ("# hostname;interval;timestamp;CPU;%user\n", "sadf"),
        ("     1.001059138,840,,context-switches,2002905746,100.00,419.391,/sec\n", "perf-stat"),
        ("     1.001059138,CPU0,840,,context-switches,1,100.00,,\n", "perf-stat"),
        ("     1.001059138,S0-D0-C0,1,840,,context-switches,1,100.00,,\n", "perf-stat"),
        ("# started on Sat Nov 21 2026\n\n     1.001059138,<not supported>,,cycles,0,100.00,,\n", "perf-stat"),
        ('{"status":"success","data":{"resultType":"matrix","result":[]}}', "prometheus"),
        ('{"status":"error","errorType":"bad_data","error":"x"}', "prometheus"),
        ("elapsed_time,nproc,cpu,mem_real,mem_virtual\n", "psrecord"),
        ("# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)\n", "psrecord"),
        ("job_name,duration_s\na,1\n", None),
        ("time,a,b\n1,2,3\n", None),
        ("1.5,2,3,4\n1,2,3,4\n", None),
        ('[{"task_id":1}]', None),
        ('{"node":"a","stdout":""}', None),
        ("", None),
    ],
)
def test_formats_are_told_by_their_first_bytes(text, name):
    assert sniffed(text) == name

"""PerfSpect of both generations: context columns, scopes, cut times, appended recordings, JSON, what is refused."""

import json

import numpy as np
import pytest

from tests.formats.telemetry_files import checks, imported
from workprof.core.errors import TraceError
from workprof.formats.telemetry import sniffed
from workprof.formats.telemetry.perfspect import untruncated

SYSTEM = """
    TS,SKT,CPU,CID,CPU operating frequency (in GHz),CPU utilization %,ITLB MPI,TMA_....ITLB_Misses(%)
    1764174327,,,,3.6512043,41.270312,4.1120453e-05,31.204418
    1764174328,,,,3.648812,43.018845,,+Inf
    1764174330,,,,3.6,44,1e-05,31
    """


def test_a_system_recording(tmp_path):
    found = imported(tmp_path, "node_metrics.csv", SYSTEM)
    assert found.frame["t"].tolist() == [1, 2, 4]
    assert found.frame["run"].tolist() == ["node_metrics"] * 3
    assert list(found.frame.columns[4:]) == [
        "CPU operating frequency (in GHz)", "CPU utilization %", "ITLB MPI", "TMA_....ITLB_Misses(%)",
    ]  # fmt: skip
    assert found.frame["ITLB MPI"].iloc[0] == 4.1120453e-05
    assert np.isnan(found.frame[["ITLB MPI", "TMA_....ITLB_Misses(%)"]].iloc[1]).all()
    assert checks(found) == {"runs": 1, "holes": 1, "infinite": 1, "empty_cells": 2}


def test_rows_of_sockets_are_averaged_without_the_empty_ones(tmp_path):
    found = imported(
        tmp_path,
        "m.csv",
        """
        TS,SKT,CPU,CID,CPI,IPC
        100000001,0,,,1,2
        100000001,1,,,3,
        100000002,0,,,5,-Inf
        100000002,1,,,7,8
        """,
    )
    assert found.frame["t"].tolist() == [1, 2]
    assert found.frame["CPI"].tolist() == [2, 6]
    assert found.frame["IPC"].tolist() == [2, 8]
    assert checks(found)["averaged"] == 4


def test_context_columns_are_told_by_name(tmp_path):
    text = "TS,SKT,CPU,PID,CMD,CID,CPI\n100000001,,,17,redis-server,,1\n100000002,,,17,redis-server,,2\n"
    found = imported(tmp_path, "m.csv", text)
    assert list(found.frame.columns[4:]) == ["CPI"]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("100000001,,,a,1\n100000001,,,b,2\n", "holds 2 control groups"),
        ("100000001,,,,1\n100000001,,,,2\n100000001,,,,3\n100000002,,,,1\n100000002,,,,2\n", "scope process"),
    ],
    ids=["control groups", "processes"],
)
def test_several_scopes_are_refused(tmp_path, rows, reason):
    with pytest.raises(TraceError, match=reason):
        imported(tmp_path, "m.csv", "TS,SKT,CPU,CID,CPI\n" + rows)


def test_several_processes_of_the_old_columns_are_refused(tmp_path):
    with pytest.raises(TraceError, match="holds 2 processes"):
        imported(tmp_path, "m.csv", "TS,SKT,CPU,PID,CMD,CID,CPI\n100000001,,,1,a,,1\n100000001,,,2,b,,2\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m_metrics_summary.csv", "metric,mean,min,max,stddev\nCPI,1,1,1,0\n"),
        ("metric_out.sys.average.csv", "metrics,avg,p95,min,max\nmetric_CPI,1,1,1,0\n"),
    ],
)
def test_summaries_are_refused_with_the_reason(tmp_path, name, text):
    assert sniffed(text) == "perfspect"
    with pytest.raises(TraceError, match=r"is a summary of a recording .* holds no series; give"):
        imported(tmp_path, name, text)


@pytest.mark.parametrize(
    ("cut", "mended"),
    [
        ([5, 5, 7], [5, 6, 7]),
        ([4, 6, 6, 7], [4, 5, 6, 7]),
        ([1, 2, 3], [1, 2, 3]),
        ([1, 2, 2, 3], [1, 2, 2, 3]),
        ([3], [3]),
    ],
)
def test_times_that_were_cut_fall_back_into_place(cut, mended):
    assert untruncated(np.array(cut, dtype=float)).tolist() == mended


def test_an_appended_recording_is_another_run(tmp_path):
    text = "TS,SKT,CPU,CID,CPI\n100000001,,,,1\n100000002,,,,2\nTS,SKT,CPU,CID,CPI\n100000101,,,,3\n100000102,,,,4\n"
    found = imported(tmp_path, "m.csv", text)
    assert found.frame["run"].tolist() == ["m", "m", "m-2", "m-2"]
    assert found.frame["t"].tolist() == [1, 2, 1, 2]
    assert checks(found)["appended"] == 1


def test_the_first_generation(tmp_path):
    text = "time,metric_CPI,metric_CPU utilization %\n5.0,1.5,40\n10.0,,50\n15.0,2.5,60\n"
    found = imported(tmp_path, "metric_out.sys.csv", text)
    assert found.frame["t"].tolist() == [5, 10, 15]
    assert list(found.frame.columns[4:]) == ["metric_CPI", "metric_CPU utilization %"]


def test_json_lines_write_minus_one_for_no_number(tmp_path):
    frames = [
        {"Metrics": [{"Name": "CPI", "Value": cpi}, {"Name": "IPC", "Value": -1}], "Timestamp": 1764174327.0 + at,
         "FrameCount": at + 1, "Socket": "", "CPU": "", "Cgroup": "", "PID": "", "Cmd": ""}
        for at, cpi in enumerate((1.5, -1, 2.5))
    ]  # fmt: skip
    text = "".join(f"{json.dumps(one, separators=(',', ':'))}\n" for one in frames) + '{"Metrics": 3}\n'
    found = imported(tmp_path, "m_metrics.json", text)
    assert found.frame["t"].tolist() == [1, 2, 3]
    assert found.frame["CPI"].isna().tolist() == [False, True, False]
    assert [one.line for one in found.rejected] == [4]
    assert checks(found)["minus_one"] == 4


TABLES = {
    "Kernel Telemetry": [
        {"Time": "23:59:58", "Syscalls": "10", "Major Faults": "0"},
        {"Time": "00:00:00", "Syscalls": "20", "Major Faults": "1"},
        {"Time": "00:00:02", "Syscalls": "30", "Major Faults": "x"},
    ],
    "CPU Utilization Telemetry": [
        {"Time": time, "CPU": cpu, "CORE": "0", "SOCK": "0", "NODE": "0", "%usr": usr}
        for time in ("23:59:59", "00:00:01")
        for cpu, usr in (("0", "10"), ("1", "30"))
    ],
    "Drive Telemetry": [
        {"Time": "2026-11-21T23:59:58+0000", "Device": device, "tps": tps}
        for device, tps in (("sda", "5"), ("sdb", "7"))
    ],
    "Brief System Summary": [{"Host": "a"}],
}


def test_telemetry_tables_meet_on_one_clock_past_midnight(tmp_path):
    found = imported(tmp_path, "t.json", json.dumps(TABLES))
    assert found.frame["t"].tolist() == [2, 4, 6]
    assert found.frame["Kernel.Syscalls"].tolist() == [10, 20, 30]
    assert found.frame["CPU Utilization.%usr"].tolist() == [20, 20, 20]
    assert found.frame["Drive.tps"].iloc[0] == 12
    assert found.frame["Drive.tps"].iloc[2:].isna().all()
    assert checks(found)["left_out_tables"] == 1


def test_entries_of_a_table_that_are_no_records_are_counted(tmp_path):
    tables = {"Kernel Telemetry": [*TABLES["Kernel Telemetry"], 5, ["x"]]}
    found = imported(tmp_path, "t.json", json.dumps(tables))
    assert (len(found.frame), checks(found)["odd_records"]) == (3, 2)


def test_json_without_tables_is_refused(tmp_path):
    with pytest.raises(TraceError, match="no tables of records with a Time"):
        imported(tmp_path, "t.json", '{"a": [1, 2], "b": {"c": 1}}', "perfspect")
    with pytest.raises(TraceError, match="the first column is 'a'"):
        imported(tmp_path, "t.csv", "a,b\n1,2\n", "perfspect")


def wide(names, frames, context=()):
    """A file of --format wide: the time, 7 and 15 wide fields of a process, then columns as wide as their names."""
    cells = [f"{'Timestamp':<10}   ", *(f"{name:<{width}}   " for name, width, _ in context)]
    lines = ["".join([*cells, *(f"{name:<6}   " for name in names)])]
    for at, values in frames:
        cells = [f"{at:<10}   ", *(f"{value:<{width}}   " for _, width, value in context)]
        numbers = (f"{value:.2f}".replace("nan", "NaN").replace("inf", "+Inf") for value in values)
        cells += [f"{text:<{max(len(name), 6)}}   " for name, text in zip(names, numbers, strict=True)]
        lines.append("".join(cells))
    return "\n".join(lines) + "\n"


NAMES = ("CPU operating frequency (in GHz)", "CPI", "ITLB MPI")
FRAMES = (
    (1764174327, (3.651, 1.5, 4.1e-5)),
    (1764174329, (3.648, np.nan, 3e-5)),
    (1764174331, (123456789.5, np.inf, 0.0)),
)


def test_wide_columns_say_what_two_decimals_lose(tmp_path):
    process = (("PID", 7, "12345678"), ("Command", 15, "redis server"))
    text = wide(NAMES, FRAMES, process) + "1764174333   torn\n" + wide(NAMES, [(1764174401, (1, 2, 3))], process)
    found = imported(tmp_path, "m_metrics_wide.txt", text)
    assert found.frame["run"].tolist() == ["m_metrics_wide"] * 3 + ["m_metrics_wide-2"]
    assert found.frame["t"].tolist() == [2, 4, 6, 0]
    assert list(found.frame.columns[4:]) == list(NAMES)
    assert found.frame[NAMES[0]].tolist() == [3.65, 3.65, 123456789.5, 1]
    assert found.frame["CPI"].isna().tolist() == [False, True, True, False]
    assert [(one.line, one.reason) for one in found.rejected] == [(5, "2 fields under 6 names")]
    assert "rounded" not in checks(found)
    alone = imported(tmp_path, "m_metrics_wide.txt", wide(NAMES, FRAMES))
    assert (checks(alone)["rounded"], checks(alone)["infinite"]) == (1, 1)


def blocks(frames, of=(), sockets=None):
    """A file of --format txt: a block a moment, names 70 wide and values right-aligned in 15."""
    rule = "-" * 86
    lines = []
    for at, metrics in frames:
        lines += [rule, f"- Metrics captured at {at} +0000 UTC", *(f"- {key}: {value}" for key, value in of), rule]
        heads = ["value"] if sockets is None else [f"skt {one} val" for one in sockets]
        lines += [f"{'metric':<70} " + "".join(f"{head:>15}" for head in heads)]
        lines += [f"{'-' * 24:<70} " + "".join(f"{'-' * 10:>15}" for _ in heads)]
        lines += [f"{name:<70} " + "".join(f"{one:>15}" for one in values) for name, values in metrics]
    return "\n".join(lines) + "\n"


def test_blocks_of_plain_text(tmp_path):
    long = "a metric whose name is longer than the seventy characters of its column, in all"
    text = blocks(
        [
            ("2025-11-26 16:25:27.123456789", [("CPI", ["1.5"]), (long, ["4.1e-05"])]),
            ("2025-11-26 16:25:29.123456789", [("CPI", ["NaN"]), (long, ["+Inf"])]),
        ],
        [("PID", "17"), ("CMD", "redis-server")],
    )
    found = imported(tmp_path, "m_metrics.txt", text + "torn\n")
    assert found.frame["t"].tolist() == [2, 4]
    assert found.frame[long].tolist()[0] == 4.1e-05
    assert found.frame[["CPI", long]].iloc[1].isna().all()
    assert [one.text for one in found.rejected] == ["torn"]
    assert checks(found)["infinite"] == 1


def test_blocks_of_sockets_are_averaged(tmp_path):
    at = [(f"2025-11-26 16:25:{second}", [("CPI", ["1", "3"]), ("IPC", ["2", "NaN"])]) for second in (27, 28)]
    found = imported(tmp_path, "m_metrics.txt", blocks(at, sockets=(0, 1)))
    assert found.frame["t"].tolist() == [1, 2]
    assert found.frame[["CPI", "IPC"]].to_numpy().tolist() == [[2, 2], [2, 2]]
    assert checks(found)["averaged"] == 4


def test_blocks_of_two_processes_are_refused(tmp_path):
    text = "".join(blocks([("2025-11-26 16:25:27", [("CPI", ["1"])])], [("PID", pid)]) for pid in ("1", "2"))
    with pytest.raises(TraceError, match="holds 2 processes"):
        imported(tmp_path, "m_metrics.txt", text)


def test_tables_of_power_units_and_of_gaudi_devices(tmp_path):
    tables = {
        "PDU Telemetry": [{"Timestamp": f"18:32:{at}", "ActivePower(W)": f"{at}.5"} for at in (38, 40)],
        "Gaudi Telemetry": [
            {"timestamp": f"18:32:{at}", "name": "HL-225", "temperature.aip": "40", "module_id": module,
             "utilization.aip": used, "memory.used": "672", "power.draw": "90"}
            for at in (38, 40) for module, used in (("0", "10"), ("1", "30"))
        ],
    }  # fmt: skip
    found = imported(tmp_path, "t.json", json.dumps(tables))
    assert found.frame["PDU.ActivePower(W)"].tolist() == [38.5, 40.5]
    assert found.frame["Gaudi.utilization.aip"].tolist() == [20, 20]
    assert found.frame["Gaudi.temperature.aip"].tolist() == [40, 40]
    assert found.frame[["Gaudi.memory.used", "Gaudi.power.draw"]].to_numpy().tolist() == [[1344, 180]] * 2
    assert list(found.frame.columns[4:]) == [
        "PDU.ActivePower(W)", "Gaudi.temperature.aip", "Gaudi.utilization.aip", "Gaudi.memory.used",
        "Gaudi.power.draw",
    ]  # fmt: skip


def test_fields_of_tables_that_are_no_numbers_are_told(tmp_path):
    """`100 MB` and `5,0` were left out without a word."""
    text = json.dumps(
        {
            "Memory Telemetry": [
                {"Time": f"10:00:0{at}", "free": "100 MB", "avail": "5,0", "used": at} for at in (1, 2)
            ],
            "CPU Telemetry": [{"Time": f"10:00:0{at}", "CPU": "0", "%usr": "5.0"} for at in (1, 2)],
        }
    )
    found = imported(tmp_path, "tel.json", text)
    assert list(found.frame.columns[4:]) == ["Memory.used", "CPU.%usr"]
    (told,) = [check for check in found.checks if check.name == "text_fields"]
    assert "Memory.free ('100 MB'), Memory.avail ('5,0')" in told.message

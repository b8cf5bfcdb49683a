"""Parsers: every metric of the real runs in its unit, nothing guessed, nothing turned into zero."""

import json
import re

import numpy as np
import pytest

from tests.nodes.benchmark_outputs import (
    IOPING,
    QPERF_PLAIN,
    QPERF_ROUNDED,
    SYSBENCH_CPU,
    SYSBENCH_MEMORY,
    fio,
    fio_side,
    iperf3,
)
from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import ColumnMissing, TraceError
from workprof.core.records import pack, unpack
from workprof.formats.benchmarks import read_benchmarks
from workprof.nodes.metrics import METRICS
from workprof.nodes.parsed_runs import ParsedRuns, parse_runs
from workprof.nodes.parsers import parse_output

MIB, GIB = 2**20, 2**30
# Counters and rounded spreads for which zero is what was measured, not a value that is missing.
TRUE_ZEROS = {
    "disk-fio.cpu_usr",
    *(f"network-iperf3.{way}_c_{kind}" for way in ("tx", "rx") for kind in ("transfer_retr_sender", "retr_per_byte")),
}


@pytest.fixture(scope="module")
def real():
    return parse_runs(read_benchmarks(FOLDER / "benchmarks" / "runs.jsonl").frame)


@needs_shared_data
def test_every_real_run_is_read(real):
    assert len(real) == 432
    assert real.problems == ()
    assert real.usable.all()
    for benchmark in set(real.benchmark):
        rows = real.values[real.benchmark == benchmark]
        own = np.array([name.startswith(f"{benchmark}.") for name in real.metrics])
        assert np.isnan(rows[:, ~own]).all()
        for name, column in zip(np.array(real.metrics)[own], rows[:, own].T, strict=True):
            assert name in TRUE_ZEROS or not (column == 0).any(), name
            if METRICS[name].scored:
                assert np.isfinite(column).all(), name


@needs_shared_data
def test_cpu_rates_of_the_real_nodes_follow_their_quotas(real):
    """Published on the data: medians of the unstressed runs are 1.97 and 3.95 apart."""
    rates = real.column("cpu-sysbench.events_per_second")
    medians = {node: np.nanmedian(rates[(real.node == node) & (real.stressed == 0)]) for node in set(real.node)}
    assert medians["full-2c"] / medians["mid-1c"] == pytest.approx(1.97, abs=0.005)
    assert medians["full-2c"] / medians["small-half"] == pytest.approx(3.95, abs=0.005)


@needs_shared_data
def test_real_runs_of_a_benchmark_share_their_parameters_and_survive_storing(real):
    for benchmark in set(real.benchmark):
        assert len({text for text, one in zip(real.parameters, real.benchmark, strict=True) if one == benchmark}) == 1
    again = unpack(ParsedRuns, pack(real))
    np.testing.assert_array_equal(again.values, real.values)
    assert (again.parameters, again.host_names, again.metrics) == (real.parameters, real.host_names, real.metrics)
    assert int((real.stressed == 1).sum()) == 91


def test_sysbench_cpu():
    found = parse_output("cpu-sysbench", SYSBENCH_CPU)
    assert found.numbers == pytest.approx(
        {
            "num_threads": 4,
            "prime_numbers_limit": 10000,
            "events_per_second": 1854.32,
            "event_rate": 3856 / 2.0787,
            "total_time": 2.0787,
            "total_number_of_events": 3856,
            "latency_min": 0.00018,
            "latency_avg": 0.00215,
            "latency_max": 0.08822,
            "latency_95p": 0.00022,
            "latency_sum": 8.28643,
            "fairness_events_avg": 964,
            "fairness_events_stddev": 32.98,
            "fairness_exctime_avg": 2.0716,
        }
    )
    assert found.texts == {"version": "sysbench 1.0.20"}


def test_sysbench_memory_counts_in_mebibytes_and_drops_what_is_printed_as_zero():
    found = parse_output("memory-sysbench", SYSBENCH_MEMORY)
    assert found.numbers["transfer_rate"] == 7214.49 * MIB
    assert found.numbers["transfer_size"] == 14737.69 * MIB
    assert found.numbers["block_size"] == 1024
    assert found.numbers["total_size"] == 1024000 * MIB
    assert found.numbers["operation_rate"] == 7387634.37
    assert found.numbers["latency_max"] == pytest.approx(0.05742)
    assert not {"latency_min", "latency_avg", "latency_95p"} & set(found.numbers)
    assert found.texts == {"version": "sysbench 1.0.20", "operation": "write", "scope": "global"}


def test_fio():
    text = "note: both iodepth >= 1 and synchronous I/O engine are selected\n" + json.dumps(fio())
    found = parse_output("disk-fio", text).numbers
    assert found["read_bw"] == 583895956
    assert found["read_bw_avg"] == 557226.5 * 1024
    assert found["read_iops_stdev_share"] == pytest.approx(620.5 / 2176.5)
    assert found["write_clat_95p"] == pytest.approx(432128e-9)
    assert found["write_lat_avg"] == pytest.approx(324973e-9)
    assert found["cpu_sys"] == pytest.approx(0.442)
    assert found["disk_util"] == pytest.approx(0.56625865)
    assert found["number_of_processes"] == 1


def test_fio_leaves_out_what_it_did_not_measure():
    short = parse_output("disk-fio", json.dumps(fio(write=fio_side(ios=0), read=fio_side(samples=0)))).numbers
    assert short["read_bw"] == 583895956
    assert not [name for name in short if name.startswith("write_") or "bw_avg" in name or "stdev_share" in name]
    once = parse_output("disk-fio", json.dumps(fio(read=fio_side(samples=1)))).numbers
    assert "read_bw_avg" in once
    assert "read_bw_stdev_share" not in once


def test_ioping():
    assert parse_output("disk-ioping", IOPING).numbers == pytest.approx(
        {
            "number_of_requests": 99,
            "total_duration": 0.041445254,
            "transfer_size": 25952256,
            "iops": 2388.693287,
            "transfer_bitrate": 626181613,
            "latency_min": 267679e-9,
            "latency_avg": 418639e-9,
            "latency_max": 593004e-9,
            "latency_mdev": 61545e-9,
        }
    )


def test_iperf3_in_both_directions():
    found = parse_output("network-iperf3", json.dumps(iperf3())).numbers
    assert found["tx_c_transfer_bitrate_receiver"] == 4e9
    assert found["rx_c_transfer_bitrate_receiver"] == 1e9
    assert found["tx_c_retr_per_byte"] == 160 / 8e9
    assert found["rx_c_transfer_retr_sender"] == 0
    assert (found["tx_c_cpu_util_sender"], found["rx_c_cpu_util_receiver"]) == (0.895, 0.895)
    assert (found["tx_c_cpu_util_receiver"], found["rx_c_cpu_util_sender"]) == (0.535, 0.535)
    assert len(found) == 16


def test_iperf3_in_one_direction():
    document = iperf3(reverse=1)
    document["end"] = {name: one for name, one in document["end"].items() if "bidir" not in name}
    found = parse_output("network-iperf3", json.dumps(document)).numbers
    assert {name[:4] for name in found} == {"rx_c"}


def test_iperf3_repeats_keys():
    text = json.dumps(iperf3()).replace('"version":', '"sock_bufsize": 0, "sock_bufsize": 0, "version":')
    assert parse_output("network-iperf3", text).numbers["tx_c_transfer_bitrate_sender"] == 4e9


def test_qperf_plain_and_rounded():
    plain = parse_output("network-qperf", QPERF_PLAIN).numbers
    assert plain["tcp_bw_bandwidth"] == 3842703360
    assert plain["tcp_bw_send_cost"] == pytest.approx(0.356513764e-9)
    assert plain["tcp_bw_send_cpus_used"] == 1.37
    assert plain["tcp_lat_latency"] == pytest.approx(28.878e-6)
    assert "tcp_bw_send_cpus_iowait" not in plain
    rounded = parse_output("network-qperf", QPERF_ROUNDED).numbers
    assert rounded["tcp_bw_bandwidth"] == 1.21e9
    assert rounded["tcp_bw_msg_rate"] == pytest.approx(18400)
    assert rounded["tcp_bw_msg_size"] == 65536
    assert rounded["tcp_bw_recv_cost"] == pytest.approx(0.356e-9)
    assert rounded["tcp_bw_send_msgs"] == 18471
    assert rounded["tcp_lat_latency"] == pytest.approx(14.1e-6)
    assert rounded["tcp_lat_loc_send_bytes"] == 35500


@pytest.mark.parametrize(
    ("benchmark", "stdout", "said"),
    [
        ("cpu-sysbench", "", "empty"),
        ("gpu-burn", "x", "'gpu-burn' is none of cpu-sysbench"),
        ("cpu-sysbench", SYSBENCH_CPU[:420], "no fairness_events_avg"),
        ("cpu-sysbench", SYSBENCH_CPU.replace("2.0787s", "2.0787 parsec"), "no total_time"),
        ("cpu-sysbench", SYSBENCH_CPU.replace("Latency (ms)", "Latency (fortnights)"), "'fortnights', a unit"),
        ("memory-sysbench", SYSBENCH_MEMORY.replace("MiB/sec", "MiB/day"), "'MiB/day', a unit that is not known"),
        ("memory-sysbench", SYSBENCH_MEMORY.replace("MiB/sec", "sec"), "'sec', which is no B/s"),
        ("memory-sysbench", SYSBENCH_CPU, "no transfer_rate"),
        ("disk-fio", "fio: engine not found\n", "no JSON"),
        ("disk-fio", json.dumps(fio())[:300], "may be cut short"),
        ("disk-fio", json.dumps({"jobs": []}), "no jobs"),
        ("disk-fio", json.dumps({"jobs": [{}, {}]}), "2 jobs; add --group_reporting"),
        ("disk-fio", json.dumps(fio(error=28)), "fio reports error 28"),
        ("disk-fio", json.dumps(fio(read=fio_side(0), write=fio_side(0))), "no read_bw"),
        ("disk-fio", json.dumps(fio(usr_cpu="much")), "usr_cpu is 'much', not a number"),
        ("disk-ioping", "[]", "0 reports"),
        ("disk-ioping", IOPING.replace('"count": 99', '"count": 0'), "no request"),
        ("disk-ioping", IOPING.replace("418639", "null"), "no latency_avg"),
        ("disk-ioping", "[" * 50_000, "cut short"),
        ("network-iperf3", json.dumps({"error": "unable to connect"}), "iperf3 reports: unable to connect"),
        ("network-iperf3", json.dumps({"start": {}, "end": {}}), "no tx_c_transfer_bitrate_receiver"),
        ("network-qperf", QPERF_PLAIN.replace("bytes/sec", "furlongs/sec"), "'furlongs/sec'"),
        ("network-qperf", QPERF_PLAIN.split("tcp_lat")[0] + "tcp_lat:\n", "no tcp_lat_latency"),
        ("network-qperf", "failed to connect\n", "'failed to connect' is not of the form"),
        ("network-qperf", QPERF_PLAIN.replace("28878 ns", "28878"), "is in '', which is no s"),
        ("network-qperf", QPERF_PLAIN.replace("28878", "1.2.3"), "is '1.2.3', not a number"),
    ],
)
def test_refusals(benchmark, stdout, said):
    with pytest.raises(TraceError, match=re.escape(said)):
        parse_output(benchmark, stdout)


@pytest.mark.parametrize(
    ("benchmark", "stdout"),
    [
        ("cpu-sysbench", SYSBENCH_CPU),
        ("memory-sysbench", SYSBENCH_MEMORY),
        ("disk-fio", json.dumps(fio())),
        ("disk-ioping", IOPING),
        ("network-iperf3", json.dumps(iperf3())),
        ("network-qperf", QPERF_PLAIN),
        ("network-qperf", QPERF_ROUNDED),
    ],
)
def test_an_output_cut_anywhere_is_refused_or_tells_nothing_else(benchmark, stdout):
    whole = parse_output(benchmark, stdout).numbers
    for length in range(len(stdout)):
        try:
            cut = parse_output(benchmark, stdout[:length]).numbers
        except TraceError:
            continue
        assert {name: whole[name] for name in cut} == cut, stdout[:length][-60:]


OLD_MEMORY = SYSBENCH_MEMORY.replace("sysbench 1.0.20 (using", "sysbench 0.5:  (using").replace("MiB", "MB")
"""Before 1.0 its MB are of 1,048,576 bytes."""


@pytest.mark.parametrize(
    ("benchmark", "stdout", "said"),
    [
        (
            "cpu-sysbench",
            SYSBENCH_CPU.replace("1854.32", "1854,32"),
            "events_per_second is '1854,32', with a decimal comma",
        ),
        (
            "memory-sysbench",
            SYSBENCH_MEMORY.replace("(7214.49", "(7214,49"),
            "transfer_rate is '7214,49', with a decimal",
        ),
        ("network-qperf", QPERF_ROUNDED.replace("14.1 us", "14,1 us"), "latency is '14,1', with a decimal comma"),
        ("cpu-sysbench", SYSBENCH_CPU + SYSBENCH_CPU.replace("1854.32", "99.00"), "holds 2 reports"),
        ("disk-fio", f"{json.dumps(fio())}\n{json.dumps(fio())}", "several JSON documents"),
        ("network-iperf3", f"{json.dumps(iperf3())}\n{json.dumps(iperf3())}", "several JSON documents"),
        ("network-qperf", QPERF_PLAIN + QPERF_ROUNDED, "holds tcp_bw twice"),
        ("memory-sysbench", OLD_MEMORY, "of sysbench 0.5, which counts otherwise; run sysbench 1.0"),
        ("cpu-sysbench", SYSBENCH_CPU.replace("CPU speed", "FATAL: forcing shutdown...\nCPU speed"), "FATAL: forcing"),
        ("network-iperf3", json.dumps(iperf3(protocol="UDP")), "iperf3 sent UDP; run it over TCP"),
        ("disk-fio", f"{json.dumps(fio())}\nfio: terminating on signal 2\n", "fio was interrupted"),
        (
            "network-iperf3",
            json.dumps(iperf3()).replace('"test_start"', '"accepted_connection": {}, "test_start"'),
            "of iperf3's server",
        ),
    ],
)
def test_what_was_read_as_another_number_is_refused(benchmark, stdout, said):
    with pytest.raises(TraceError, match=re.escape(said)):
        parse_output(benchmark, stdout)


def test_sysbench_1_1_names_its_time_otherwise():
    told = "Throughput:\n    events/s (eps):                      1854.3200\n    time elapsed: "
    newer = SYSBENCH_CPU.replace("General statistics:\n    total time:", told).replace("1.0.20", "1.1.0")
    assert parse_output("cpu-sysbench", newer).numbers == parse_output("cpu-sysbench", SYSBENCH_CPU).numbers


def test_commas_between_thousands_are_read():
    found = parse_output("network-qperf", QPERF_PLAIN.replace("3842703360", "3,842,703,360"))
    assert found.numbers["tcp_bw_bandwidth"] == 3842703360


def test_options_of_a_file_of_jobs_are_those_that_fio_tells(table):
    """They were not known where the command line names a file, so that runs of other block sizes were compared."""
    told = [fio() | {"global options": {"numjobs": "4", "bs": "4k", "directory": "/a"}} for _ in range(2)]
    told[0]["jobs"][0]["job options"] = {"name": "a", "rw": "randread"}
    told[1]["jobs"][0]["job options"] = {"name": "b", "rw": "randread", "bs": "1M"}
    runs = table(*({"benchmark": "disk-fio", "argv": ["fio", "x.fio"], "stdout": json.dumps(one)} for one in told))
    found = parse_runs(runs)
    assert [text.split("bs=")[1].split(" ")[0] for text in found.parameters] == ["4k", "1m"]
    assert not [text for text in found.parameters if "name=" in text or "directory" in text]
    assert found.column("disk-fio.number_of_processes").tolist() == [4, 4]


def test_a_test_that_was_asked_for_and_is_missing():
    head = QPERF_PLAIN.split("tcp_lat")[0]
    assert "tcp_bw_bandwidth" in parse_output("network-qperf", head, ("qperf", "host", "tcp_bw")).numbers
    with pytest.raises(TraceError, match="no tcp_lat_latency"):
        parse_output("network-qperf", head, ("qperf", "host", "tcp_bw", "tcp_lat"))


@pytest.fixture
def table(tmp_path):
    def read(*runs):
        path = tmp_path / "runs.jsonl"
        base = {"node": "a", "benchmark": "cpu-sysbench", "argv": ["sysbench"], "started": 1.0, "finished": 2.0}
        path.write_text("".join(json.dumps(base | {"stdout": SYSBENCH_CPU} | run) + "\n" for run in runs))
        return read_benchmarks(path).frame

    return read


def test_problems_keep_their_row_and_have_no_value(table):
    runs = table(
        {"rc": 0, "stressed": True, "host": {"cpu_busy_pct_mean": 56.5, "note": "text"}},
        {"rc": 124, "stdout": ""},
        {"rc": 1, "stderr": "FATAL: one\nFATAL: two\n"},
        {"rc": 0, "stdout": ""},
        {"stressed": False},
    )
    found = parse_runs(runs)
    assert [(one.position, one.reason) for one in found.problems] == [
        (1, "ended by its time limit (status 124)"),
        (2, "ended with status 1: FATAL: two"),
        (3, "output is empty"),
    ]
    assert found.usable.tolist() == [True, False, False, False, True]
    assert np.isnan(found.values[~found.usable]).all()
    assert found.stressed.tolist() == [1, -1, -1, -1, 0]
    assert found.host_names == ("cpu_busy_pct_mean", "note")
    np.testing.assert_array_equal(found.host[0], [56.5, np.nan])
    assert np.isnan(found.host[1:]).all()
    assert found.parameters[1] == ""
    assert found.row_ids.tolist() == [0, 1, 2, 3, 4]


def test_order_follows_the_table(table):
    runs = table({"started": 3.0}, {"started": 1.0, "node": "b"})
    backwards = runs.iloc[::-1].reset_index(drop=True)
    np.testing.assert_array_equal(parse_runs(backwards).started_s, [1.0, 3.0])
    np.testing.assert_array_equal(parse_runs(backwards).values, parse_runs(runs).values[::-1])


def test_texts_may_be_categories_and_labels_numbers_as_the_store_gives_them(table):
    runs = table({"stressed": True, "rc": 0}, {"stressed": None}, {"stressed": False, "provenance": {"kernel": "6"}})
    stored = runs.astype({name: "category" for name in runs.columns if not name.endswith(("_s", "stressed", "rc"))})
    assert parse_runs(stored).stressed.tolist() == [1, -1, 0]
    np.testing.assert_array_equal(parse_runs(stored).values, parse_runs(runs).values)
    assert parse_runs(stored).parameters == parse_runs(runs).parameters


def test_no_run_at_all(table):
    found = parse_runs(table({}).iloc[:0])
    assert (len(found), found.values.shape, found.host.shape) == (0, (0, len(found.metrics)), (0, 0))


def test_a_table_of_another_kind(table):
    with pytest.raises(ColumnMissing, match="lack rc; load them with"):
        parse_runs(table({}).drop(columns="rc"))


@pytest.mark.parametrize(
    ("benchmark", "stdout", "one", "other", "same"),
    [
        ("cpu-sysbench", SYSBENCH_CPU, "sysbench cpu --time=2 run", "sysbench --threads=4 --time=2 cpu run", True),
        ("cpu-sysbench", SYSBENCH_CPU, "sysbench cpu --time=2 run", "sysbench cpu --time=30 run", False),
        ("disk-fio", json.dumps(fio()), "fio --bs=4k --name=x", "fio --blocksize=4K --directory=/b --direct=0", True),
        ("disk-fio", json.dumps(fio()), "fio --bs=4k", "fio --bs=4k --direct=1", False),
        ("disk-ioping", IOPING, "ioping -w 2 -G -q -J /a", "ioping -G -w 2 -J /b", True),
        ("disk-ioping", IOPING, "ioping -w 2 /a", "ioping -w 2 -D /a", False),
        ("network-iperf3", json.dumps(iperf3()), "iperf3 -c a -p 1 -t 2 -J", "iperf3 -c b -p 2 -t 2 -J", True),
        ("network-iperf3", json.dumps(iperf3()), "iperf3 -c a -t 2 -J", "iperf3 -c a -t 2 -P 4 -J", False),
        ("network-qperf", QPERF_PLAIN, "qperf a -lp 1 -uu tcp_bw tcp_lat", "qperf b -lp 2 -vv tcp_bw tcp_lat", True),
        ("network-iperf3", json.dumps(iperf3()), "iperf3 -c a -t 2", "iperf3 --client a --time 2 --port 7", True),
        ("network-qperf", QPERF_PLAIN, "qperf a -t 2 -ar 1 tcp_bw", "qperf b --time 2 --access_recv 1 tcp_bw", True),
        ("network-qperf", QPERF_PLAIN, "qperf a -t 1 tcp_bw tcp_lat", "qperf a -t 2 tcp_bw tcp_lat", False),
    ],
)
def test_runs_compare_only_under_the_same_parameters(table, benchmark, stdout, one, other, same):
    run = {"benchmark": benchmark, "stdout": stdout}
    first, second = parse_runs(table(*({"argv": text.split()} | run for text in (one, other)))).parameters
    assert (first == second) is same
    assert "/a" not in first


def test_another_version_is_another_parameter(table):
    run = {"benchmark": "disk-ioping", "stdout": IOPING, "argv": ["ioping", "."]}
    runs = table(*(run | {"provenance": {"tool_version": f"ioping {version}"}} for version in ("1.2", "1.3")), run)
    assert [text.split(" ")[:2] for text in parse_runs(runs).parameters] == [
        ["ioping", "1.2"],
        ["ioping", "1.3"],
        ["version", "unknown"],
    ]

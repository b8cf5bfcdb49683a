"""The recorder: what /proc says is what it tells, rates and resets, process trees, the end of a session, real runs."""

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from workprof.core.errors import SettingsError
from workprof.phases.recorder.counters import Readings, Snapshot, System, row_between
from workprof.phases.recorder.perf import EVENTS, intervals, nearest, probe
from workprof.phases.recorder.processes import ProcessLine, ProcessTree, Session, descendants, process_table
from workprof.phases.recorder.recording import Recorder, RecordSettings, status_of
from workprof.phases.runs import SYSTEM72

pytestmark = pytest.mark.slow

PATIENCE_S = 60.0
PYTHON = sys.executable


def eventually(true):
    """Wait until something holds; a loaded machine may take its time."""
    patience = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < patience, "it never came true"
        time.sleep(0.02)


@pytest.fixture
def proc(tmp_path):
    """A /proc of two processors with round numbers, on the device of the folder itself."""
    number = tmp_path.stat().st_dev
    files = {
        "stat": "cpu 100 5 40 800 20 1 3 7 60 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nintr 5000 1 2 3\nctxt 7000\nbtime 1\n"
        "processes 90\nprocs_running 3\nprocs_blocked 1\nsoftirq 9 1\n",
        "softirqs": " CPU0 CPU1\n HI: 1 1\n TIMER: 10 20\n"
        " NET_TX: 1 2\n NET_RX: 3 4\n BLOCK: 5 6\n"
        " IRQ_POLL: 9 9\n TASKLET: 7 8\n SCHED: 30 40\n"
        " HRTIMER: 0 1\n RCU: 50 60\n",
        "interrupts": " CPU0 CPU1\n 0: 44 0 IO-APIC 2-edge timer\n"
        "LOC: 100 200 Local timer interrupts\nRES: 1 2 Rescheduling interrupts\n"
        "CAL: 3 4 Function call interrupts\nTLB: 5 6 TLB shootdowns\nERR: 9\n",
        "vmstat": "nr_free_pages 5\npgfault 1000\npgpgin 64\npgalloc_normal 77\nnr_dirtied 8\n",
        "meminfo": "MemTotal: 4096 kB\nMemFree: 2048 kB\nActive(anon): 512 kB\nHugePages_Total: 0\n",
        "diskstats": f" 1 1 other 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n {os.major(number)} {os.minor(number)} vda "
        "11 0 200 5 13 0 600 7 2 17 19 0 0 0 0 23 1\n",
        "net/dev": "Inter-| Receive | Transmit\n face |bytes packets\n"
        " lo: 2048 20 0 0 0 0 0 0 4096 40 0 0 0 0 0 0\n none0:1024 10 0 0 0 0 0 0 512 5 0 0 0 0 0 0\n",
        "net/snmp": "Ip: A InReceives OutRequests\nIp: 1 300 400\nTcp: ActiveOpens PassiveOpens CurrEstab InSegs\n"
        "Tcp: 5 6 7 8\nUdpLite: A\nUdpLite: 1\n",
        "net/sockstat": "sockets: used 100\nTCP: inuse 4 orphan 0 tw 2 alloc 5 mem 9\nUDP: inuse 1 mem 1\n",
        "pressure/cpu": "some avg10=0.00 avg60=0.00 avg300=0.00 total=5000\nfull avg10=0.00 total=1\n",
        "pressure/io": "some avg10=0.00 total=6000\nfull avg10=0 total=7000\n",
        "pressure/memory": "some avg10=0.00 total=0\nfull avg10=0.00 total=0\n",
        "schedstat": "version 15\ncpu0 0 0 0 0 0 0 2000000 3000000 5\ndomain0 1 1\n"
        "cpu1 0 0 0 0 0 0 4000000 5000000 7\n",
        "loadavg": "0.50 0.40 0.30 3/115 28038\n",
        "sys/fs/file-nr": "996\t0\t2466177\n",
    }
    folder = tmp_path / "proc"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_the_files_say_what_is_told(proc, tmp_path):
    found = System(proc, root=tmp_path).read()
    assert found.cpu == {
        "cpu.user%": 100, "cpu.nice%": 5, "cpu.system%": 40, "cpu.idle%": 800, "cpu.iowait%": 20, "cpu.irq%": 1,
        "cpu.softirq%": 3, "cpu.steal%": 7,
    }  # fmt: skip
    assert found.totals == {
        "sys.intr/s": 5000, "sys.ctxt/s": 7000, "sys.forks/s": 90, "softirq.TIMER/s": 30, "softirq.NET_TX/s": 3,
        "softirq.NET_RX/s": 7, "softirq.BLOCK/s": 11, "softirq.TASKLET/s": 15, "softirq.SCHED/s": 70,
        "softirq.HRTIMER/s": 1, "softirq.RCU/s": 110, "irq.LOC/s": 300, "irq.RES/s": 3, "irq.CAL/s": 7, "irq.TLB/s": 11,
        "vm.pgfault/s": 1000, "vm.pgpgin/s": 64, "vm.pgalloc_normal/s": 77, "vm.nr_dirtied/s": 8,
        "disk.reads/s": 11, "disk.read_kb/s": 100, "disk.writes/s": 13, "disk.write_kb/s": 300, "disk.io_ms/s": 17,
        "disk.queue_ms/s": 19, "disk.flushes/s": 23, "net.lo.rx_kb/s": 2, "net.lo.rx_pkts/s": 20, "net.lo.tx_kb/s": 4,
        "net.lo.tx_pkts/s": 40, "net.none0.rx_kb/s": 1, "net.none0.rx_pkts/s": 10, "net.none0.tx_kb/s": 0.5,
        "net.none0.tx_pkts/s": 5, "net.Ip.InReceives/s": 300, "net.Ip.OutRequests/s": 400, "net.Tcp.ActiveOpens/s": 5,
        "net.Tcp.PassiveOpens/s": 6, "net.Tcp.InSegs/s": 8, "psi.cpu_some_ms/s": 5, "psi.io_some_ms/s": 6,
        "psi.io_full_ms/s": 7, "psi.memory_some_ms/s": 0, "psi.memory_full_ms/s": 0, "sched.run_ms/s": 6,
        "sched.wait_ms/s": 8, "sched.slices/s": 12,
    }  # fmt: skip
    assert found.levels == {
        "sys.procs_running": 3, "sys.procs_blocked": 1, "disk.inflight": 2, "net.Tcp.CurrEstab": 7,
        "mem.MemFree_mb": 2, "mem.Active(anon)_mb": 0.5, "net.tcp_inuse": 4, "net.tcp_tw": 2, "net.tcp_mem_pages": 9,
        "sys.load1": 0.5, "sys.threads": 115, "sys.open_files": 996,
    }  # fmt: skip


def test_files_that_are_absent_or_broken_give_no_column_and_a_note(proc, tmp_path):
    (proc / "vmstat").unlink()
    (proc / "schedstat").unlink()
    (proc / "meminfo").write_text("MemFree: lots\n")
    (proc / "diskstats").write_text("")
    system = System(proc, root=tmp_path)
    assert not any(name.startswith(("vm.", "mem.", "disk.", "sched.")) for name in system.read().columns)
    assert len(system.notes) == 1
    for name in ("vmstat", "schedstat", "meminfo", "diskstats"):
        assert f"{proc}/{name}" in system.notes[0]


def test_a_file_that_goes_later_leaves_cells_empty(proc, tmp_path):
    system = System(proc, root=tmp_path)
    before = Snapshot(0.0, system.read())
    (proc / "loadavg").unlink()
    row = dict(
        zip(before.readings.columns, row_between(before.readings, before, Snapshot(1.0, system.read())), strict=True)
    )
    assert math.isnan(row["sys.load1"])
    assert row["sys.ctxt/s"] == 0


def test_no_proc_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="reads the counters of Linux"):
        System(tmp_path)


def test_rates_divide_by_the_measured_interval_and_a_reset_is_empty():
    before = Readings({"a%": 10, "b%": 30}, {"x/s": 100, "y/s": 50, "z/s": 5}, {"level": 1})
    after = Readings({"a%": 25, "b%": 35}, {"x/s": 150, "y/s": 20}, {"level": 7})
    row = row_between(before, Snapshot(10.0, before), Snapshot(12.5, after))
    assert row[:2] == (75, 25)
    assert row[2] == 20
    assert [math.isnan(value) for value in row] == [False, False, False, True, True, False]
    assert row[-1] == 7


def test_the_72_counters_are_all_recorded_somewhere(proc):
    live = Recorder(RecordSettings(seconds=1, perf=False))
    names = {*live._system.read().columns, *(f"perf.{event}/s" for event in EVENTS)}
    assert len(set(SYSTEM72)) == 72
    assert not any(name.startswith("proc.") for name in SYSTEM72)
    known = {name for name in SYSTEM72 if not name.startswith(("irq.", "psi.", "vm.", "disk."))}
    assert known <= names  # the others are this kernel's to have


def test_descendants_of_a_planted_table():
    parents = {1: 0, 10: 1, 11: 10, 12: 11, 20: 1, 21: 20, 30: 30}
    table = {pid: ProcessLine(pid, parent, pid, 0, 0, pid) for pid, parent in parents.items()}
    assert descendants(table, {10}) == {10, 11, 12}
    assert descendants(table, {10, 21, 99}) == {10, 11, 12, 21}
    assert descendants(table, {30}) == {30}


def test_names_with_brackets_do_not_confuse_the_table(tmp_path):
    (tmp_path / "7").mkdir()
    numbers = " ".join(str(at) for at in range(1, 48))
    (tmp_path / "7" / "stat").write_text(f"7 (a) R 1 (b) S 3 4 5 {numbers}\n")
    (tmp_path / "8").mkdir()
    (tmp_path / "8" / "stat").write_text("8 (cut")
    (tmp_path / "9").mkdir()
    (tmp_path / "9" / "stat").write_text(f"9 (gone) Z 3 4 5 {numbers}\n")
    assert list(process_table(tmp_path)) == [7]
    assert process_table(tmp_path)[7].parent == 3


WRITER = """
import sys, time
with open(sys.argv[1], "wb", buffering=0) as file:
    for _ in range(64):
        file.write(b"x" * 524288)
print("done", flush=True)
sys.stdin.read()
"""


def test_a_tree_counts_what_a_process_did_from_its_birth(tmp_path):
    tree = ProcessTree()
    with subprocess.Popen(
        [PYTHON, "-c", WRITER, tmp_path / "out"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as child:
        tree.follow(child.pid)
        assert child.stdout.readline() == b"done\n"
        found = tree.read()
        assert found.totals["proc.wchar_kb/s"] == pytest.approx(32 * 1024, rel=0.02)
        assert found.totals["proc.syscw/s"] >= 64
        assert found.levels["proc.procs"] == 1
        assert found.levels["proc.fds"] >= 3
        child.communicate(b"")
    after = tree.read()
    assert after.levels["proc.procs"] == 0
    assert after.totals == found.totals  # an end never makes a sum fall


def test_servers_count_from_the_first_sample_on(tmp_path):
    with subprocess.Popen(
        [PYTHON, "-c", WRITER, tmp_path / "out"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        server.stdout.readline()
        tree = ProcessTree((server.pid,))
        assert tree.read().totals["proc.wchar_kb/s"] < 100
        assert tree.read().levels["proc.procs"] == 1
        server.communicate(b"")
    with pytest.raises(SettingsError, match="is no running process"):
        ProcessTree((server.pid,))


def alive(session):
    return [line.pid for line in process_table(Path("/proc")).values() if line.session == session]


def test_the_end_reaches_what_left_the_process_group():
    session = Session(("sh", "-c", "timeout 300 sleep 300 & sleep 300 & wait"))
    eventually(lambda: len(alive(session.number)) >= 4)
    groups = {os.getpgid(pid) for pid in alive(session.number)}
    assert len(groups) > 1
    assert not session.wait(0.0)
    ended = session.end()
    assert alive(session.number) == []
    assert ended.rc == -15
    assert session.end() is ended


DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(300)"


def test_who_does_not_listen_is_killed():
    session = Session((PYTHON, "-c", DEAF), output=subprocess.PIPE)
    session._child.stdout.readline()
    assert session.end(grace_s=0.2).rc == -9
    session._child.stdout.close()


def test_how_a_command_ended():
    session = Session(("sh", "-c", "exit 7"))
    assert session.wait(PATIENCE_S)
    assert session.end().rc == 7
    with pytest.raises(SettingsError, match="'no-such-program' cannot be started"):
        Session(("no-such-program",))


def recorded(**settings):
    recorder = Recorder(RecordSettings(quiet_s=0, **{"perf": False} | settings))
    with recorder:
        rows = list(recorder.rows())
    return recorder, rows


BURN = "import time\nwhile time.process_time() < 0.8: pass\nx = bytearray(200_000_000)\ntime.sleep(0.8)"


def test_a_recording_of_a_known_load():
    recorder, rows = recorded(command=(PYTHON, "-c", BURN), interval_s=0.4, workload="burn")
    outcome = recorder.outcome
    assert (outcome.workload, outcome.rc, outcome.stopped) == ("burn", 0, False)
    assert outcome.ended_after_s == outcome.duration_s >= 1.6
    assert outcome.rows == len(rows) >= 2
    assert outcome.counters == len(recorder.columns)
    values = np.array([row.values for row in rows])
    table = dict(zip(recorder.columns, values.T, strict=True))
    shares = sum(column for name, column in table.items() if name.startswith("cpu."))
    np.testing.assert_allclose(shares, 100)
    t = np.array([row.t_s for row in rows])
    assert (np.diff(t) > 0).all()
    cpu_s = np.sum((table["proc.cpu_user%"] + table["proc.cpu_sys%"]) / 100 * np.diff(t, prepend=0))
    assert 0.6 <= cpu_s <= 2
    assert np.nanmax(table["proc.rss_mb"]) >= 190
    assert 200e6 <= outcome.usage.peak_memory_bytes <= 300e6
    assert outcome.usage.cpu_usage_percent * outcome.duration_s / 100 >= 0.75
    assert 0 < outcome.usage.mean_memory_bytes < outcome.usage.peak_memory_bytes
    assert 0 < outcome.seconds_per_sample < 1


def test_the_time_ends_a_command_that_goes_on():
    recorder, rows = recorded(command=("sleep", "300"), interval_s=0.25, seconds=1.0)
    assert recorder.outcome.ended_after_s is None
    assert recorder.outcome.rc is None
    assert 1 <= len(rows) <= 4
    assert rows[-1].t_s >= 1.0
    assert alive(recorder._session.number) == []


def test_a_command_that_is_soon_over_gives_one_row():
    recorder, rows = recorded(command=("true",))
    assert len(rows) == 1
    assert (recorder.outcome.status, recorder.outcome.rc) == ("complete", 0)


def test_the_host_alone_is_watched_for_a_time():
    recorder, rows = recorded(seconds=0.5, interval_s=0.25)
    assert 1 <= len(rows) <= 2
    assert math.isnan(recorder.outcome.usage.peak_memory_bytes)


def test_whoever_stops_reading_ends_the_command():
    recorder = Recorder(RecordSettings(command=("sleep", "300"), interval_s=0.1, perf=False, quiet_s=0))
    with pytest.raises(KeyboardInterrupt), recorder:
        for _ in recorder.rows():
            raise KeyboardInterrupt
    assert alive(recorder._session.number) == []
    assert (recorder.outcome.status, recorder.outcome.stopped, recorder.outcome.rows) == ("failed", True, 1)


@pytest.mark.parametrize(
    ("rows", "seconds", "duration", "rc", "stopped", "status"),
    [
        (30, 30.0, 30.0, None, False, "complete"),
        (27, 30.0, 30.0, None, False, "complete"),
        (26, 30.0, 30.0, None, False, "short"),
        (12, 30.0, 12.3, 0, False, "short"),
        (12, None, 12.3, 0, False, "complete"),
        (1, None, 0.1, 0, False, "complete"),
        (30, 30.0, 29.0, 1, False, "failed"),
        (30, 30.0, 30.0, None, True, "failed"),
    ],
)
def test_how_a_recording_is_marked(rows, seconds, duration, rc, stopped, status):
    settings = RecordSettings(command=("x",), seconds=seconds)
    assert status_of(settings, rows, duration, rc, stopped) == status


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"interval_s": 0.01}, "interval is 0.01 s; give at least 0.1 s"),
        ({"interval_s": math.nan}, "interval is nan"),
        ({"seconds": 0.5}, "seconds is 0.5; give at least one interval"),
        ({"command": ()}, "no command and no --seconds"),
        ({"quiet_s": -1}, "quiet is -1 s"),
        ({"workload": " "}, "workload is ' '"),
        ({"run": "a\nb"}, "run is"),
    ],
)
def test_settings_out_of_bounds(changed, reason):
    with pytest.raises(SettingsError, match=reason):
        RecordSettings(**{"command": ("true",)} | changed)


PERF = """
# started on Sat Nov 21 02:21:23 2026

     1.000000000,840,,context-switches,1,100.00,,
     1.000000000,<not counted>,,faults,1,100.00,,
     3.000000000,1000,,context-switches,1,100.00,,
     3.000000000,10,,faults,1,100.00,,
     3.010000000,7,,context-switches,1,100.00,,
"""


def test_perf_intervals():
    ends, rates = intervals(PERF, ("context-switches", "faults", "cycles"))
    assert ends.tolist() == [1, 3]
    np.testing.assert_array_equal(rates, [[840, np.nan, np.nan], [500, 5, np.nan]])
    ends, rates = intervals("", ("a", "b"))
    assert (ends.shape, rates.shape) == ((0,), (0, 2))


def naive_nearest(ends, values, rows):
    usual = np.median(np.diff(ends)) if len(ends) > 1 else np.inf
    found = []
    for row in rows:
        at = int(np.argmin([abs(end - row) for end in ends]))
        found.append(values[at] if abs(ends[at] - row) <= usual else np.full(values.shape[1], np.nan))
    return np.array(found)


@pytest.mark.parametrize("n_ends", [1, 2, 30])
def test_rows_take_the_nearest_interval(n_ends):
    draw = np.random.default_rng(n_ends)
    ends = np.cumsum(draw.uniform(0.8, 1.2, n_ends))
    values = draw.normal(size=(n_ends, 3))
    rows = np.sort(draw.uniform(-2, n_ends + 4, 50))
    np.testing.assert_array_equal(nearest(ends, values, rows), naive_nearest(ends, values, rows))
    assert np.isnan(nearest(np.zeros(0), np.zeros((0, 2)), rows)).all()


@pytest.mark.slow
@pytest.mark.skipif(not probe(("context-switches",)).events, reason="perf may not count the whole host here")
def test_perf_counts_beside_proc():
    recorder, rows = recorded(command=(PYTHON, "-c", "import time\nfor _ in range(3000): time.sleep(0.001)"), perf=True)
    assert recorder.perf_rates.shape == (len(rows), len(recorder.perf_columns))
    at, column = recorder.columns.index("sys.ctxt/s"), recorder.perf_columns.index("perf.context-switches/s")
    by_proc, by_perf = np.array([row.values[at] for row in rows]), recorder.perf_rates[:, column]
    assert np.isfinite(by_perf).sum() >= len(rows) - 1
    assert 0.5 < np.nansum(by_perf) / np.sum(by_proc[np.isfinite(by_perf)]) < 2
    assert recorder.outcome.counters == len(recorder.columns) + len(recorder.perf_columns)

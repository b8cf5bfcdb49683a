"""The host's counters: which keys of which files of /proc are read, and the row between two moments.

A name is `<source>.<key>` + `/s` (rate), `%` (share of the interval) or `_mb` (1,048,576 bytes); the rest are gauges.
Each reader reads one file and gives totals or levels by counter name. A file or key that this kernel lacks gives no
entry; a text that is not as documented raises ValueError or IndexError.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workprof.core.errors import SettingsError
from workprof.core.units import KIB, MIB


@dataclass(frozen=True)
class Readings:
    """Readings by counter name."""

    cpu: dict[str, float] = field(default_factory=dict)  # ticks by state; only their shares matter
    totals: dict[str, float] = field(default_factory=dict)  # running totals in the unit of the rate
    levels: dict[str, float] = field(default_factory=dict)  # values that hold at the moment

    def with_more(self, other: Readings) -> Readings:
        """Both readings together."""
        return Readings(self.cpu | other.cpu, self.totals | other.totals, self.levels | other.levels)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the order of a row."""
        return (*self.cpu, *self.totals, *self.levels)


@dataclass(frozen=True)
class Snapshot:
    """Readings and the moment they were taken at, in seconds of the monotonic clock."""

    at_s: float
    readings: Readings


def row_between(columns: Readings, before: Snapshot, after: Snapshot) -> tuple[float, ...]:
    """The values of one interval in the order of `columns.columns`.

    Rates divide by the measured interval. A total that fell was reset: the cell is NaN, as is one that is absent.
    """
    elapsed_s = after.at_s - before.at_s
    ticks = {name: _grown(before.readings.cpu, after.readings.cpu, name) for name in columns.cpu}
    whole = math.fsum(value for value in ticks.values() if value == value)  # noqa: PLR0124  NaN is not itself
    shares = (100 * ticks[name] / whole if whole > 0 else math.nan for name in columns.cpu)
    rates = (_grown(before.readings.totals, after.readings.totals, name) / elapsed_s for name in columns.totals)
    levels = (after.readings.levels.get(name, math.nan) for name in columns.levels)
    return (*shares, *rates, *levels)


def _grown(before: dict[str, float], after: dict[str, float], name: str) -> float:
    grown = after.get(name, math.nan) - before.get(name, math.nan)
    return grown if grown >= 0 else math.nan


CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
"""In the order of /proc/stat; what follows there (guest) is counted in user and nice already."""

STAT_RATES = {"intr": "intr", "ctxt": "ctxt", "processes": "forks"}
STAT_LEVELS = ("procs_running", "procs_blocked")
SOFTIRQ = ("TIMER", "NET_TX", "NET_RX", "BLOCK", "TASKLET", "SCHED", "HRTIMER", "RCU")
IRQ = ("LOC", "RES", "CAL", "TLB")
VM = (
    *("pgfault", "pgmajfault", "pgpgin", "pgpgout", "pgalloc_dma32", "pgalloc_normal", "pgfree", "pgactivate"),
    *("pgdeactivate", "pgreuse", "pgrotated", "pgscan_kswapd", "pgscan_direct", "pgsteal_kswapd", "pgsteal_direct"),
    *("slabs_scanned", "workingset_refault_file", "workingset_activate_file", "thp_fault_alloc"),
    *("thp_collapse_alloc", "thp_split_pmd", "numa_hit", "nr_dirtied", "nr_written", "compact_stall"),
    "pgmigrate_success",
)
MEM = (
    *("MemFree", "MemAvailable", "Buffers", "Cached", "Active", "Inactive", "Active(anon)", "Inactive(anon)"),
    *("Active(file)", "Inactive(file)", "Dirty", "Writeback", "AnonPages", "Mapped", "Shmem", "Slab"),
    *("SReclaimable", "KernelStack", "PageTables", "Committed_AS", "AnonHugePages"),
)
DISK = {"reads": 3, "read_kb": 5, "writes": 7, "write_kb": 9, "io_ms": 12, "queue_ms": 13, "flushes": 18}
"""Column of /proc/diskstats; kilobytes are sectors of 512 bytes halved."""

DISK_INFLIGHT = 11
NET = {"rx_kb": 0, "rx_pkts": 1, "tx_kb": 8, "tx_pkts": 9}
"""Column of /proc/net/dev; kilobytes are bytes / 1024."""

SNMP_RATES = {"Ip": ("InReceives", "OutRequests")} | {
    "Tcp": ("ActiveOpens", "PassiveOpens", "InSegs", "OutSegs", "RetransSegs")
}
SNMP_LEVELS = {"Tcp": ("CurrEstab",)}
SOCKSTAT_TCP = {"inuse": "net.tcp_inuse", "tw": "net.tcp_tw", "mem": "net.tcp_mem_pages"}
PRESSURE = (("cpu", "some"), ("io", "some"), ("io", "full"), ("memory", "some"), ("memory", "full"))
SCHED = ("run_ms", "wait_ms", "slices")
"""The last three columns of the cpu lines of /proc/schedstat; times there are in ns."""


PROC = Path("/proc")


class System:
    """Reads the host's counters; what this kernel lacks is found out once and noted."""

    def __init__(self, proc: Path = PROC, root: Path = Path("/")) -> None:
        if not (proc / "stat").is_file():
            raise SettingsError(f"{proc / 'stat'} is not there; the recorder reads the counters of Linux")
        self._proc = proc
        self.notes: tuple[str, ...] = ()
        number = root.stat().st_dev
        self._readers = self._usable(readers((os.major(number), os.minor(number)), _cards(proc)))

    def read(self) -> Readings:
        """All readings; a file that has gone since the first look gives none."""
        readings = Readings()
        for reader in self._readers:
            try:
                readings = readings.with_more(reader(self._proc))
            except (OSError, ValueError, IndexError, KeyError):
                continue  # the cells of this row stay empty
        return readings

    def _usable(self, every: dict[str, Callable[[Path], Readings]]) -> list[Callable[[Path], Readings]]:
        usable, lacking = [], []
        for name, reader in every.items():
            try:
                something = bool(reader(self._proc).columns)
            except (OSError, ValueError, IndexError, KeyError):
                something = False
            if something:
                usable.append(reader)
            else:
                lacking.append(name)
        if lacking:
            self.notes = (f"not on this host, no columns: {', '.join(f'{self._proc}/{name}' for name in lacking)}",)
        return usable


def _cards(proc: Path) -> tuple[str, ...]:
    """The loopback and the first card: one that hardware backs, where that can be told, else the first named."""
    try:
        lines = (proc / "net" / "dev").read_text().splitlines()
    except OSError:
        return ("lo",)
    others = [name for line in lines if ":" in line and (name := line.partition(":")[0].strip()) != "lo"]
    backed = [name for name in others if Path(f"/sys/class/net/{name}/device").exists()]
    return ("lo", *(backed or others)[:1])


MICROSECONDS_PER_MS = 1000.0
NANOSECONDS_PER_MS = 1e6


def stat(proc: Path) -> Readings:
    """Ticks by state of the processor, interrupts, context switches and forks, and runnable processes."""
    lines = {words[0]: words[1:] for words in _words(proc / "stat")}
    cpu = {f"cpu.{name}%": float(ticks) for name, ticks in zip(CPU, lines["cpu"], strict=False)}
    totals = {f"sys.{name}/s": float(lines[key][0]) for key, name in STAT_RATES.items() if key in lines}
    levels = {f"sys.{name}": float(lines[name][0]) for name in STAT_LEVELS if name in lines}
    return Readings(cpu=cpu, totals=totals, levels=levels)


def softirqs(proc: Path) -> Readings:
    """Soft interrupts summed over processors."""
    counts = _summed(proc / "softirqs", SOFTIRQ)
    return Readings(totals={f"softirq.{name}/s": counts[name] for name in SOFTIRQ if name in counts})


def interrupts(proc: Path) -> Readings:
    """The interrupts between processors and of the local timer, summed over processors."""
    counts = _summed(proc / "interrupts", IRQ)
    return Readings(totals={f"irq.{name}/s": counts[name] for name in IRQ if name in counts})


def vmstat(proc: Path) -> Readings:
    """Events of memory management."""
    counts = {words[0]: words[1] for words in _words(proc / "vmstat")}
    return Readings(totals={f"vm.{name}/s": float(counts[name]) for name in VM if name in counts})


def meminfo(proc: Path) -> Readings:
    """Levels of memory in mebibytes (the file is in kibibytes)."""
    sizes = {words[0].rstrip(":"): words[1] for words in _words(proc / "meminfo")}
    return Readings(levels={f"mem.{name}_mb": float(sizes[name]) * KIB / MIB for name in MEM if name in sizes})


def disk(proc: Path, device: tuple[int, int]) -> Readings:
    """What the device of `/` did."""
    for words in _words(proc / "diskstats"):
        if (int(words[0]), int(words[1])) == device:
            totals = {
                f"disk.{name}/s": float(words[at]) / (2 if name.endswith("_kb") else 1)
                for name, at in DISK.items()
                if at < len(words)
            }
            return Readings(totals=totals, levels={"disk.inflight": float(words[DISK_INFLIGHT])})
    return Readings()


def network(proc: Path, cards: tuple[str, ...]) -> Readings:
    """Traffic of the loopback and of the first card."""
    rows = {}
    for line in _lines(proc / "net" / "dev"):
        name, colon, values = line.partition(":")
        if colon:
            rows[name.strip()] = values.split()
    totals = {
        f"net.{card}.{name}/s": float(rows[card][at]) / (KIB if name.endswith("_kb") else 1)
        for card in cards
        if card in rows
        for name, at in NET.items()
    }
    return Readings(totals=totals)


def protocols(proc: Path) -> Readings:
    """Segments, packets and connections of TCP and IP."""
    headers: dict[str, list[str]] = {}
    totals: dict[str, float] = {}
    levels: dict[str, float] = {}
    for words in _words(proc / "net" / "snmp"):
        name = words[0].rstrip(":")
        if name not in headers:
            headers[name] = words[1:]
            continue
        values = dict(zip(headers[name], words[1:], strict=False))
        totals |= {f"net.{name}.{key}/s": float(values[key]) for key in SNMP_RATES.get(name, ()) if key in values}
        levels |= {f"net.{name}.{key}": float(values[key]) for key in SNMP_LEVELS.get(name, ()) if key in values}
    return Readings(totals=totals, levels=levels)


def sockets(proc: Path) -> Readings:
    """TCP sockets in use and waiting, and the pages of memory that they hold."""
    for words in _words(proc / "net" / "sockstat"):
        if words[0] == "TCP:":
            values = dict(zip(words[1::2], words[2::2], strict=False))
            return Readings(levels={name: float(values[key]) for key, name in SOCKSTAT_TCP.items() if key in values})
    return Readings()


def pressure(proc: Path) -> Readings:
    """The time in which some or all tasks waited for a resource, in milliseconds."""
    totals = {}
    for resource, share in PRESSURE:
        for words in _words(proc / "pressure" / resource, optional=True):
            if words[0] == share:
                micro = next(float(word[6:]) for word in words if word.startswith("total="))
                totals[f"psi.{resource}_{share}_ms/s"] = micro / MICROSECONDS_PER_MS
    return Readings(totals=totals)


def schedule(proc: Path) -> Readings:
    """Time on and waiting for a processor and the slices given, summed over processors."""
    rows = [words for words in _words(proc / "schedstat", optional=True) if words[0].startswith("cpu")]
    if not rows:
        return Readings()
    run, wait, slices = (sum(float(words[at]) for words in rows) for at in (-3, -2, -1))
    values = (run / NANOSECONDS_PER_MS, wait / NANOSECONDS_PER_MS, slices)
    return Readings(totals={f"sched.{name}/s": value for name, value in zip(SCHED, values, strict=True)})


def load(proc: Path) -> Readings:
    """The load of the last minute, threads and open files."""
    words = (proc / "loadavg").read_text().split()
    levels = {"sys.load1": float(words[0]), "sys.threads": float(words[3].partition("/")[2])}
    levels["sys.open_files"] = float((proc / "sys" / "fs" / "file-nr").read_text().split()[0])
    return Readings(levels=levels)


def readers(device: tuple[int, int], cards: tuple[str, ...]) -> dict[str, Callable[[Path], Readings]]:
    """The readers by the name of what they read, in the order of the columns."""
    return {
        **{"stat": stat, "softirqs": softirqs, "interrupts": interrupts, "vmstat": vmstat},
        "diskstats": lambda proc: disk(proc, device),
        "net/dev": lambda proc: network(proc, cards),
        **{"net/snmp": protocols, "pressure": pressure, "schedstat": schedule},
        **{"meminfo": meminfo, "net/sockstat": sockets, "loadavg": load},
    }


def _lines(path: Path, *, optional: bool = False) -> Iterator[str]:
    if optional and not path.exists():
        return
    yield from path.read_text().splitlines()


def _words(path: Path, *, optional: bool = False) -> Iterator[list[str]]:
    return (words for line in _lines(path, optional=optional) if (words := line.split()))


def _summed(path: Path, names: tuple[str, ...]) -> dict[str, float]:
    """Rows of numbers, one per processor, summed; what follows the numbers is text."""
    summed = {}
    for words in _words(path):
        name = words[0].rstrip(":")
        if name in names:
            summed[name] = float(sum(int(word) for word in words[1:] if word.isdigit()))
    return summed

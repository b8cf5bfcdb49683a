"""What the files of /proc say at one moment; each function reads one file and gives totals or levels by counter name.

A file or key that this kernel lacks gives no entry; a text that is not as documented raises ValueError or IndexError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from workprof.phases.recorder import counters as known
from workprof.phases.recorder.found import Found
from workprof.units import KIB, MIB

MICROSECONDS_PER_MS = 1000.0
NANOSECONDS_PER_MS = 1e6


def stat(proc: Path) -> Found:
    """Return ticks by state of the processor, interrupts, context switches and forks, and runnable processes."""
    lines = {words[0]: words[1:] for words in _words(proc / "stat")}
    cpu = {f"cpu.{name}%": float(ticks) for name, ticks in zip(known.CPU, lines["cpu"], strict=False)}
    totals = {f"sys.{name}/s": float(lines[key][0]) for key, name in known.STAT_RATES.items() if key in lines}
    levels = {f"sys.{name}": float(lines[name][0]) for name in known.STAT_LEVELS if name in lines}
    return Found(cpu=cpu, totals=totals, levels=levels)


def softirqs(proc: Path) -> Found:
    """Return soft interrupts summed over processors."""
    counts = _summed(proc / "softirqs", known.SOFTIRQ)
    return Found(totals={f"softirq.{name}/s": counts[name] for name in known.SOFTIRQ if name in counts})


def interrupts(proc: Path) -> Found:
    """Return the interrupts between processors and of the local timer, summed over processors."""
    counts = _summed(proc / "interrupts", known.IRQ)
    return Found(totals={f"irq.{name}/s": counts[name] for name in known.IRQ if name in counts})


def vmstat(proc: Path) -> Found:
    """Return events of memory management."""
    counts = {words[0]: words[1] for words in _words(proc / "vmstat")}
    return Found(totals={f"vm.{name}/s": float(counts[name]) for name in known.VM if name in counts})


def meminfo(proc: Path) -> Found:
    """Return levels of memory in mebibytes (the file is in kibibytes)."""
    sizes = {words[0].rstrip(":"): words[1] for words in _words(proc / "meminfo")}
    return Found(levels={f"mem.{name}_mb": float(sizes[name]) * KIB / MIB for name in known.MEM if name in sizes})


def disk(proc: Path, device: tuple[int, int]) -> Found:
    """Return what the device of `/` did."""
    for words in _words(proc / "diskstats"):
        if (int(words[0]), int(words[1])) == device:
            totals = {
                f"disk.{name}/s": float(words[at]) / (2 if name.endswith("_kb") else 1)
                for name, at in known.DISK.items()
                if at < len(words)
            }
            return Found(totals=totals, levels={"disk.inflight": float(words[known.DISK_INFLIGHT])})
    return Found()


def network(proc: Path, cards: tuple[str, ...]) -> Found:
    """Return traffic of the loopback and of the first card."""
    rows = {}
    for line in _lines(proc / "net" / "dev"):
        name, colon, values = line.partition(":")
        if colon:
            rows[name.strip()] = values.split()
    totals = {
        f"net.{card}.{name}/s": float(rows[card][at]) / (KIB if name.endswith("_kb") else 1)
        for card in cards
        if card in rows
        for name, at in known.NET.items()
    }
    return Found(totals=totals)


def protocols(proc: Path) -> Found:
    """Return segments, packets and connections of TCP and IP."""
    headers: dict[str, list[str]] = {}
    totals: dict[str, float] = {}
    levels: dict[str, float] = {}
    for words in _words(proc / "net" / "snmp"):
        name = words[0].rstrip(":")
        if name not in headers:
            headers[name] = words[1:]
            continue
        values = dict(zip(headers[name], words[1:], strict=False))
        totals |= {f"net.{name}.{key}/s": float(values[key]) for key in known.SNMP_RATES.get(name, ()) if key in values}
        levels |= {f"net.{name}.{key}": float(values[key]) for key in known.SNMP_LEVELS.get(name, ()) if key in values}
    return Found(totals=totals, levels=levels)


def sockets(proc: Path) -> Found:
    """Return TCP sockets in use and waiting, and the pages of memory that they hold."""
    for words in _words(proc / "net" / "sockstat"):
        if words[0] == "TCP:":
            values = dict(zip(words[1::2], words[2::2], strict=False))
            return Found(levels={name: float(values[key]) for key, name in known.SOCKSTAT_TCP.items() if key in values})
    return Found()


def pressure(proc: Path) -> Found:
    """Return the time in which some or all tasks waited for a resource, in milliseconds."""
    totals = {}
    for resource, share in known.PRESSURE:
        for words in _words(proc / "pressure" / resource, optional=True):
            if words[0] == share:
                micro = next(float(word[6:]) for word in words if word.startswith("total="))
                totals[f"psi.{resource}_{share}_ms/s"] = micro / MICROSECONDS_PER_MS
    return Found(totals=totals)


def schedule(proc: Path) -> Found:
    """Return time on and waiting for a processor and the slices given, summed over processors."""
    rows = [words for words in _words(proc / "schedstat", optional=True) if words[0].startswith("cpu")]
    if not rows:
        return Found()
    run, wait, slices = (sum(float(words[at]) for words in rows) for at in (-3, -2, -1))
    values = (run / NANOSECONDS_PER_MS, wait / NANOSECONDS_PER_MS, slices)
    return Found(totals={f"sched.{name}/s": value for name, value in zip(known.SCHED, values, strict=True)})


def load(proc: Path) -> Found:
    """Return the load of the last minute, threads and open files."""
    words = (proc / "loadavg").read_text().split()
    levels = {"sys.load1": float(words[0]), "sys.threads": float(words[3].partition("/")[2])}
    levels["sys.open_files"] = float((proc / "sys" / "fs" / "file-nr").read_text().split()[0])
    return Found(levels=levels)


def readers(device: tuple[int, int], cards: tuple[str, ...]) -> dict[str, Callable[[Path], Found]]:
    """Return the readers by the name of what they read, in the order of the columns."""
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
    """Return rows of numbers, one per processor, summed; what follows the numbers is text."""
    summed = {}
    for words in _words(path):
        name = words[0].rstrip(":")
        if name in names:
            summed[name] = float(sum(int(word) for word in words[1:] if word.isdigit()))
    return summed

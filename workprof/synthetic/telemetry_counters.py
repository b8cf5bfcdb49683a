"""Counters of synthetic recordings: names as the recorder writes them, and how large each usually is."""

from __future__ import annotations

from dataclasses import dataclass

CPU = ("cpu.user%", "cpu.system%", "cpu.iowait%", "cpu.softirq%", "cpu.steal%", "cpu.idle%")
"""Shares of the processor; they add up to 100, the last is what the others leave."""

CPU_SCALE = (30.0, 12.0, 3.0, 1.0, 0.2)
"""Usual percent of all but the last."""


@dataclass(frozen=True)
class Kind:
    """A counter and its usual size; a level carries history from run to run, a rate does not."""

    name: str
    usual: float
    level: bool = False


KINDS = (
    Kind("sys.ctxt/s", 8000),
    Kind("sys.intr/s", 3000),
    Kind("sys.forks/s", 10),
    Kind("softirq.NET_RX/s", 400),
    Kind("softirq.BLOCK/s", 60),
    Kind("softirq.SCHED/s", 900),
    Kind("irq.RES/s", 500),
    Kind("vm.pgfault/s", 9000),
    Kind("vm.pgpgout/s", 4000),
    Kind("disk.reads/s", 40),
    Kind("disk.writes/s", 120),
    Kind("disk.write_kb/s", 6000),
    Kind("net.lo.rx_kb/s", 2500),
    Kind("net.Tcp.InSegs/s", 1500),
    Kind("psi.cpu_some_ms/s", 200),
    Kind("psi.io_some_ms/s", 30),
    Kind("mem.MemFree_mb", 4000, level=True),
    Kind("mem.Cached_mb", 2500, level=True),
    Kind("mem.AnonPages_mb", 800, level=True),
    Kind("sys.procs_running", 3),
)

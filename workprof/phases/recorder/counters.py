"""The names of the system-wide counters: which keys of which files of /proc are read.

A name is `<source>.<key>` + `/s` (rate), `%` (share of the interval) or `_mb` (1,048,576 bytes); the rest are gauges.
"""

from __future__ import annotations

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

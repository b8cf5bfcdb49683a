"""Outputs of the six tools as they print them, shortened to what carries a metric."""

import json

SYSBENCH_CPU = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
Initializing random number generator from current time


Prime numbers limit: 10000

Initializing worker threads...

Threads started!

CPU speed:
    events per second:  1854.32

General statistics:
    total time:                          2.0787s
    total number of events:              3856

Latency (ms):
         min:                                    0.18
         avg:                                    2.15
         max:                                   88.22
         95th percentile:                        0.22
         sum:                                 8286.43

Threads fairness:
    events (avg/stddev):           964.0000/32.98
    execution time (avg/stddev):   2.0716/0.00

"""

SYSBENCH_MEMORY = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4

Running memory speed test with the following options:
  block size: 1KiB
  total size: 1024000MiB
  operation: write
  scope: global

Total operations: 15091397 (7387634.37 per second)

14737.69 MiB transferred (7214.49 MiB/sec)


General statistics:
    total time:                          2.0421s
    total number of events:              15091397

Latency (ms):
         min:                                    0.00
         avg:                                    0.00
         max:                                   57.42
         95th percentile:                        0.00
         sum:                                 3532.88

Threads fairness:
    events (avg/stddev):           3772849.2500/330578.87
    execution time (avg/stddev):   0.8832/0.07

"""

QPERF_PLAIN = """tcp_bw:
    bw                =  3842703360 bytes/sec
    msg_rate          =       58635 /sec
    msg_size          =       65536 bytes
    time              =  1000000000 ns
    timeout           =  5000000000 ns
    send_cost         =   356513764 ns/GB
    recv_cost         =   356519845 ns/GB
    send_cpus_used    =         137 % cpus
    send_real_time    =  1000000000 ns
    send_bytes        =  3842768896 bytes
    send_msgs         =       58636 
tcp_lat:
    latency          =       28878 ns
    msg_rate         =       34629 /sec
    msg_size         =           1 bytes
    loc_cpus_used    =          51 % cpus
"""  # noqa: W291  the tool leaves a space there

QPERF_ROUNDED = """tcp_bw:
    bw                =    1.21 GB/sec
    msg_rate          =    18.4 K/sec
    access_recv       =       1 
    msg_size          =      64 KiB (65,536)
    time              =       1 sec
    send_cost         =    1.65 sec/GB
    recv_cost         =     356 ms/GB
    send_cpus_used    =     200 % cpus
    send_bytes        =    1.21 GB
    send_msgs         =  18,471 
tcp_lat:
    latency          =    14.1 us
    msg_rate         =      71 K/sec
    loc_send_bytes   =    35.5 KB
"""  # noqa: W291  the tool leaves a space there


def fio_side(ios=4457, samples=3):
    return {
        "bw_bytes": 583895956,
        "iops": 2227.386307,
        "total_ios": ios,
        "clat_ns": {
            "min": 150385,
            "max": 18593081,
            "mean": 324922.0,
            "stddev": 552494.0,
            "percentile": {"5.000000": 175104, "50.000000": 268288, "95.000000": 432128},
        },
        "lat_ns": {"min": 150405, "max": 18593101, "mean": 324973.0, "stddev": 552497.0},
        "bw_min": 373760,
        "bw_max": 651776,
        "bw_mean": 557226.5,
        "bw_dev": 158911.5,
        "bw_samples": samples,
        "iops_min": 1460,
        "iops_max": 2546,
        "iops_mean": 2176.5,
        "iops_stddev": 620.5,
        "iops_samples": samples,
    }


def fio(read=None, write=None, **changed):
    job = {"error": 0, "job options": {"bs": "256k"}, "usr_cpu": 0.2, "sys_cpu": 44.2}
    job |= {"read": read or fio_side(), "write": write or fio_side()} | changed
    return {"fio version": "fio-3.33", "jobs": [job], "disk_util": [{"name": "vda", "util": 56.625865}]}


IOPING = json.dumps(
    [
        {
            "target": {"path": "/scratch", "fstype": "ext4"},
            "stat": {
                "count": 99,
                "size": 25952256,
                "time": 41445254,
                "iops": 2388.693287,
                "bps": 626181613,
                "min": 267679,
                "avg": 418639,
                "max": 593004,
                "mdev": 61545,
            },
        }
    ]
)


def iperf3(**start):
    both = {"seconds": 2.0, "bytes": 8_000_000_000, "bits_per_second": 32_000_000_000.0}
    back = {"seconds": 2.0, "bytes": 2_000_000_000, "bits_per_second": 8_000_000_000.0}
    return {
        "start": {"version": "iperf 3.12", "test_start": {"reverse": 0} | start},
        "end": {
            "sum_sent": both | {"retransmits": 160},
            "sum_received": both,
            "sum_sent_bidir_reverse": back | {"retransmits": 0},
            "sum_received_bidir_reverse": back,
            "cpu_utilization_percent": {"host_total": 89.5, "remote_total": 53.5},
        },
    }

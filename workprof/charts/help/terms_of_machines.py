"""Terms of memory, nodes, phases, and of workprof itself."""

from __future__ import annotations

from workprof.charts.help.term import Term
from workprof.memory.bin_models import PENALTY
from workprof.memory.policies import DEFAULT

MEMORY_TERMS = (
    Term("GB and GiB", "1 GB is 1e9 bytes, 1 GiB is 1024 to the power of 3 bytes: 7.4 % more.", "Memory"),
    Term("GB·h", "Memory times time: 1 GB held for an hour. What is paid for.", "Memory"),
    Term("allocation", "The memory that a run is given.", "Memory"),
    Term("wastage", "Allocated and not used, over time; failed attempts count in full. In GB·h.", "Memory"),
    Term("over-allocation", "More memory than the run uses: it wastes.", "Memory"),
    Term("under-allocation", "Less than the run uses: it fails and is tried again with more.", "Memory"),
    Term("headroom", "Share of its use that a run keeps free above it.", "Memory"),
    Term("utilisation", "Memory used over memory requested; by time, both are weighted with the run time.", "Memory"),
    Term("bin", "One of a few sizes that a task's runs may get; each run gets the smallest that holds it.", "Memory"),
    Term(
        "top edge",
        "The largest bin: pinned to the largest request as published, or free: what the largest run needs.",
        "Memory",
    ),
    Term("optimal improvement", "Saving if every run came into its right bin, against one size for all.", "Memory"),
    Term("estimated improvement", "Published: optimal improvement x accuracy - share of under-estimates.", "Memory"),
    Term("replayed", "Run by run through the simulator, failures charged. It ranks everything here.", "Memory"),
    Term("u-rate", "Share of runs predicted below their bin; these fail at first.", "Memory"),
    Term("u-score", f"100 x (over-estimates + {PENALTY:g} x under-estimates) / runs; 0 is perfect.", "Memory"),
    Term("time to failure", "Share of its run time after which an attempt that is too small dies.", "Memory"),
    Term("cold run", "One of the first runs of a task, which starts at its request.", "Memory"),
    Term("frontier", "Least waste for a number of failures, as the price of a failure moves.", "Memory"),
    Term(
        "price of a failure",
        f"What a failure costs beyond its charge, in mean runs; {DEFAULT.price_runs:g} unless set otherwise.",
        "Memory",
    ),
    Term("oracle", "Looks at the true use, so it cannot be had: a bound.", "Memory"),
)

NODE_TERMS = (
    Term("benchmark run", "One run of one tool on one node, kept with its raw output.", "Nodes"),
    Term(
        "benchmark type", "Which tool on which resource: sysbench cpu and memory, fio, ioping, iperf3, qperf.", "Nodes"
    ),
    Term("node", "A machine, physical or virtual, with a name of its own.", "Nodes"),
    Term("resource aspect", "cpu, memory, disk or network.", "Nodes"),
    Term("embedding", "The few numbers into which the network codes a run; like runs have like codes.", "Nodes"),
    Term("degradation", "A run that is unlike the node's earlier ones, with a probability.", "Nodes"),
    Term("ranking", "Nodes by score, 1 = best; nodes whose intervals overlap are told as ties.", "Nodes"),
    Term("ratio score", "Keeps ratios: a node that is twice as fast has twice the score.", "Nodes"),
)

PHASE_TERMS = (
    Term("counter", "A figure of the machine read every second, such as context switches per second.", "Phases"),
    Term("change point", "The first sample of a new phase.", "Phases"),
    Term("phase", "A stretch of a run in which a counter keeps its level and spread.", "Phases"),
    Term("hazard", "How often changes are expected: 1 over the expected length of a phase.", "Phases"),
    Term("fingerprint", "Counters x phases x statistics of a run; missing phases are padded and said so.", "Phases"),
    Term("DTW", "Dynamic time warping: distance of two sequences that may be stretched against each other.", "Phases"),
    Term("offset", "Where in the longer run the shorter one fits best, in phases.", "Phases"),
    Term("known workload", "The run is as near to a workload as that workload's own runs are.", "Phases"),
    Term("unknown workload", "Further from every known workload than mean + c sd of its own distances.", "Phases"),
)

HOUSE_TERMS = (
    Term("faithful", "As published, unit slips and all; flagged wherever it is shown.", "workprof"),
    Term("corrected", "Ours, the default: what the published definition meant, with its faults mended.", "workprof"),
    Term("run", "One kept computation: dataset, step, settings, seed, versions, result.", "workprof"),
    Term("pinned", "A run that stays when space is needed and others go.", "workprof"),
    Term("seed", "The number that makes random draws repeatable.", "workprof"),
    Term("home", "The folder of database and results, WORKPROF_HOME; one process holds it at a time.", "workprof"),
    Term("scenario", "A decision of the Memory page kept under a name, to be compared.", "workprof"),
    Term("read-only", "WORKPROF_READONLY=1: everything can be looked at, nothing changed.", "workprof"),
)

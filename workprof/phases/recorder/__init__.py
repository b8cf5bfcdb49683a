"""The recorder: counters of this host by the second, from /proc, psutil and `perf stat`, around any command."""

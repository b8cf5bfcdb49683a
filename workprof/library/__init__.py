"""The questions as functions of a table, without a home folder: frames in, records out.

The records are those of the workbench, and so are the numbers: both call the same methods.
"""

from workprof.library.calls import change_points, durations, forecast, profile, rank_nodes, size_memory

__all__ = ["change_points", "durations", "forecast", "profile", "rank_nodes", "size_memory"]

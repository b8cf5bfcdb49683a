"""The questions as functions of a table, without a home folder: frames in, records out.

The records are those of the workbench, and so are the numbers: both call the same methods.
"""

from workprof.library.calls import change_points, durations, profile, rank_nodes, size_memory
from workprof.library.forecaster import Forecaster, forecast

__all__ = ["Forecaster", "change_points", "durations", "forecast", "profile", "rank_nodes", "size_memory"]

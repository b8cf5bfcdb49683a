"""The stops of the tour: a record in, one sentence with its reserve and one or two charts out."""

from workprof.charts.tour.jobs import classify_stop, durations_stop, home_stop, profiles_stop
from workprof.charts.tour.measured import nodes_stop, phases_stop
from workprof.charts.tour.memory import memory_stop
from workprof.charts.tour.report import report_stop
from workprof.charts.tour.stop import TourStop

__all__ = [
    "TourStop",
    "classify_stop",
    "durations_stop",
    "home_stop",
    "memory_stop",
    "nodes_stop",
    "phases_stop",
    "profiles_stop",
    "report_stop",
]

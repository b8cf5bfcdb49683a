"""The tour: the pages' findings on the bundled sample, stop by stop, for people who only look on."""

from workprof.report.tour.prepare import SECTIONS, missing, prepare
from workprof.report.tour.samples import samples_of
from workprof.report.tour.stops import STOPS, Stop, stops_of

__all__ = ["SECTIONS", "STOPS", "Stop", "missing", "prepare", "samples_of", "stops_of"]

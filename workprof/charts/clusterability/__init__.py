"""Figures of whether there is anything to cluster: Hopkins, the label baseline, the stability of the profiles."""

from workprof.charts.clusterability.baseline import baseline_dots
from workprof.charts.clusterability.hopkins import CONVENTION, hopkins_line
from workprof.charts.clusterability.stability import stability_bars, stability_headlines

__all__ = ["CONVENTION", "baseline_dots", "hopkins_line", "stability_bars", "stability_headlines"]

"""Figures and tables of a clustering, one idea a file."""

from workprof.charts.profiles.arrivals import arrivals
from workprof.charts.profiles.boxes import feature_boxes
from workprof.charts.profiles.estimate import fit_estimate
from workprof.charts.profiles.headlines import headlines
from workprof.charts.profiles.heatmap import metadata_heatmap
from workprof.charts.profiles.names import profile_names
from workprof.charts.profiles.points import profile_map
from workprof.charts.profiles.silhouettes import silhouette_boxes
from workprof.charts.profiles.sizes import size_bars
from workprof.charts.profiles.tree import condensed_tree

__all__ = [
    "arrivals",
    "condensed_tree",
    "feature_boxes",
    "fit_estimate",
    "headlines",
    "metadata_heatmap",
    "profile_map",
    "profile_names",
    "silhouette_boxes",
    "size_bars",
]

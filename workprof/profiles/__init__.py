"""PolarisProfiler: kinds of jobs found by clustering what the jobs did, described by what was known at submission.

settings    what is asked
features    columns -> matrix with the missing marked
scalers     matrix -> comparable units, kept for new rows
neighbours, spanning_tree, clusters     HDBSCAN in three steps, each kept and used again
silhouettes, scores, scoring            how good it is, as published and properly
summary, spread, metadata, projection   what a page shows
fit         all of it for one clustering
"""

from workprof.profiles.fit import (
    CategoryShare,
    CondensedTree,
    FeatureSpread,
    Heatmap,
    ProfileCard,
    ProfileFit,
    ProfileScores,
    fit_profiles,
)
from workprof.profiles.settings import ProfileSettings, preset, resolve

__all__ = [
    "CategoryShare",
    "CondensedTree",
    "FeatureSpread",
    "Heatmap",
    "ProfileCard",
    "ProfileFit",
    "ProfileScores",
    "ProfileSettings",
    "fit_profiles",
    "preset",
    "resolve",
]

"""The questions of the Profiles and Sweep pages and of `workprof profiles`, each declared once."""

from __future__ import annotations

from typing import Any

from workprof.core.question import Question
from workprof.profiles.fit import TREE, ProfileFit, TreeSettings
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings
from workprof.profiles.tree import SpanningTree

PAGE = "profiles"
METADATA = ("job_name", "task_name", "user", "group", "workload", "node", "gpu_type")
TIMES = ("start_time_s", "duration_s")
TRUTH = "truth_profile"


def columns_of(features: tuple[str, ...], *more: str) -> tuple[str, ...]:
    """Return the columns that a clustering needs: the features, metadata, times and the truth, and more."""
    named = FEATURE_SETS.get(features[0], features) if features else ()
    return tuple(dict.fromkeys([*named, *METADATA, *TIMES, TRUTH, *more]))


FIT = Question(
    "profiles.fit",
    "Cluster the jobs of a dataset into profiles and score the clustering.",
    ProfileSettings,
    ProfileFit,
    "workprof.profiles.fit:fit_keeping_tree",
    reads=lambda settings: columns_of(settings.features),
    page=PAGE,
    method="profiles",
)
SPANNING_TREE = Question(
    TREE,
    "The spanning tree that a clustering was cut from.",
    TreeSettings,
    SpanningTree,
    FIT.compute,
    asked_as=(FIT, lambda tree: ProfileSettings(**vars(tree))),
)

QUESTIONS: tuple[Question[Any, Any], ...] = (FIT,)
PARTS: tuple[Question[Any, Any], ...] = (SPANNING_TREE,)
"""What is stored on the way to a question."""

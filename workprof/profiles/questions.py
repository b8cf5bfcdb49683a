"""The questions of the Profiles and Sweep pages and of `workprof profiles`, each declared once."""

from typing import Any

from workprof.core.question import Question
from workprof.profiles.baseline import Baseline, BaselineSettings
from workprof.profiles.fit import TREE, ProfileFit, TreeSettings
from workprof.profiles.hopkins import Hopkins, HopkinsSettings
from workprof.profiles.membership import Membership, MembershipSettings
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings
from workprof.profiles.stability import Stability, StabilitySettings
from workprof.profiles.sweep import GroupSettings, SweepGroup, SweepSettings, whole_sweep
from workprof.profiles.tree import SpanningTree

PAGE = "profiles"
CLUSTERABILITY = "Cluster tendency"
UNUSUAL = "Unusual runs"
METADATA = ("job_name", "task_name", "user", "group", "workload", "node", "gpu_type")
TIMES = ("start_time_s", "duration_s")
TRUTH = "truth_profile"


def columns_of(features: tuple[str, ...], *more: str) -> tuple[str, ...]:
    """The columns that a clustering needs: the features, metadata, times and the truth, and more."""
    named = FEATURE_SETS.get(features[0], features) if features else ()
    return tuple(dict.fromkeys([*named, *METADATA, *TIMES, TRUTH, *more]))


FIT = Question(
    "profiles.fit",
    "Cluster the jobs of a dataset into profiles and score the clustering.",
    ProfileSettings,
    ProfileFit,
    "workprof.profiles.fit:fit_keeping_tree",
    version=5,
    finds="profiles",
    optional=lambda settings: columns_of(settings.features),
    page=PAGE,
    method="profiles",
)
SPANNING_TREE = Question(
    TREE,
    "The spanning tree that a clustering was cut from.",
    TreeSettings,
    SpanningTree,
    FIT.compute,
    finds="cluster tree of the profiles",
    made_by=(FIT, lambda tree: ProfileSettings(**vars(tree))),
)
HOPKINS = Question(
    "profiles.hopkins",
    "The Hopkins statistic in the paper's convention: near 0 = clusterable, 0.5 = uniform.",
    HopkinsSettings,
    Hopkins,
    "workprof.profiles.hopkins:hopkins",
    version=2,
    finds="Hopkins statistic",
    optional=lambda settings: columns_of(settings.features),
    page=PAGE,
    tab=CLUSTERABILITY,
)
BASELINE = Question(
    "profiles.baseline",
    "Silhouettes of metadata labels taken as clusters (Table II), in three metrics.",
    BaselineSettings,
    Baseline,
    "workprof.profiles.baseline:label_baseline",
    version=2,
    finds="metadata baseline",
    optional=lambda settings: columns_of(settings.features, *(name for label in settings.by for name in label)),
    page=PAGE,
    tab=CLUSTERABILITY,
    rests_on_fit=True,
)
STABILITY = Question(
    "profiles.stability",
    "How well each profile comes back when a part of the rows is left out (Jaccard).",
    StabilitySettings,
    Stability,
    "workprof.profiles.stability:stability",
    version=3,
    finds="stability of profiles",
    optional=lambda settings: columns_of(settings.fit.features),
    page=PAGE,
    tab=CLUSTERABILITY,
    controls=(("fit", FIT),),
)
MEMBERSHIP = Question(
    "profiles.membership",
    "How strongly each run belongs to each profile, which runs are unusual and which typical (hdbscan).",
    MembershipSettings,
    Membership,
    "workprof.profiles.membership:membership",
    version=2,
    finds="unusual and typical runs",
    optional=lambda settings: columns_of(settings.fit.features),
    page=PAGE,
    tab=UNUSUAL,
    controls=(("fit", FIT),),
)
SWEEP = Question(
    "profiles.sweep",
    "Run the paper's grid (Table III); finished runs are kept, so a stopped sweep goes on where it was.",
    SweepSettings,
    SweepGroup,
    page="sweep",
)
GROUP = Question(
    "profiles.sweep_group",
    "The runs of a sweep that share one transform, one metric and one search of the neighbours.",
    GroupSettings,
    SweepGroup,
    "workprof.profiles.sweep:sweep_group",
    version=3,
    finds="group of sweep settings",
    optional=lambda settings: columns_of(settings.features),
    made_by=(SWEEP, whole_sweep),
)

QUESTIONS: tuple[Question[Any, Any], ...] = (FIT, HOPKINS, BASELINE, STABILITY, MEMBERSHIP, SWEEP)
PARTS: tuple[Question[Any, Any], ...] = (SPANNING_TREE, GROUP)
"""What is stored on the way to a question."""

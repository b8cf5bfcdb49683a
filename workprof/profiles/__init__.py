"""PolarisProfiler: kinds of jobs found by clustering what the jobs did, described by what was known at submission.

settings                what is clustered, and how
features, scaling       columns -> a matrix with the missing marked -> comparable units, applied to new rows, too
tree, kernels           HDBSCAN in three steps, each kept and used again; the compiled loops of it
silhouettes, scores     how good a clustering is, as published and properly
metadata, spread, summary       what a page shows of the profiles
fit                     all of it for one clustering, and a new cut of its kept tree
sweep                   many clusterings side by side
membership              what hdbscan says of the runs: memberships, outlier scores, exemplars, its trees
hopkins, baseline, stability    is there anything to cluster, and would it come back?

Throughout, `points` are (n_rows, n_dims) scaled finite values, `labels` (n_rows,) profiles with -1 = outlier,
`groups` or `codes` (n_rows,) the position of each row's group; `report` is told the share that is done.
"""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:  # the public names, each where it is defined
    from workprof.profiles.baseline import BaselineSettings as BaselineSettings
    from workprof.profiles.hopkins import HopkinsSettings as HopkinsSettings
    from workprof.profiles.membership import MembershipSettings as MembershipSettings
    from workprof.profiles.settings import ProfileSettings as ProfileSettings
    from workprof.profiles.stability import StabilitySettings as StabilitySettings
    from workprof.profiles.sweep import SweepSettings as SweepSettings

__getattr__, __dir__, __all__ = lazily(__name__)

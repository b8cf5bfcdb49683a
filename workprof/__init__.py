"""workprof profiles the workloads of shared clusters.

Map of the package, top to bottom (imports point down only):

    cli service                              the questions from a shell, and over HTTP
    library                                  the questions as functions of a table
    workbench                                the facade: one method per question; charts turn its records into figures
    profiles                                 PolarisProfiler: kinds of jobs
    store formats synthetic cache jobs       traces on disk, results by key, heavy steps in child processes
    errors units settings records progress   the ground

Use it as a library, with a table in memory or the path of a trace:

    import workprof as wp

    fit = wp.profile(table, features=["cpu", "memory"])
    fit.to_frame()

or with a home folder, in which traces and results are kept:

    from workprof import IngestOptions, ProfileSettings, Workbench, from_environment

    with Workbench(from_environment()) as workbench:
        report = workbench.ingest(path)
        fit = workbench.profiles(report.dataset)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:
    from workprof.core.errors import NotEnoughData, SettingsError, TraceError, WorkprofError
    from workprof.core.settings import Settings, from_environment
    from workprof.forecasts.durations import DurationSettings, ObservedDurations
    from workprof.forecasts.forecaster import ForecasterSettings
    from workprof.forecasts.job_table import JobForecasts
    from workprof.library import change_points, durations, forecast, profile, rank_nodes, size_memory
    from workprof.library.estimators import ProfileClassifier, ProfileClusterer, RuntimeRegressor
    from workprof.memory.decisions import Decision
    from workprof.memory.verdict import Verdict, VerdictSettings
    from workprof.nodes.ranking import Ranking
    from workprof.nodes.selection import RankSettings
    from workprof.phases.changepoints import ChangePointSettings
    from workprof.phases.series import SeriesChanges
    from workprof.profiles.fit import ProfileFit
    from workprof.profiles.settings import ProfileSettings
    from workprof.store.reports import FieldSource, IngestOptions, IngestReport
    from workprof.workbench import Workbench

__version__ = "0.1.0"

__all__ = [
    "ChangePointSettings",
    "Decision",
    "DurationSettings",
    "FieldSource",
    "ForecasterSettings",
    "IngestOptions",
    "IngestReport",
    "JobForecasts",
    "NotEnoughData",
    "ObservedDurations",
    "ProfileClassifier",
    "ProfileClusterer",
    "ProfileFit",
    "ProfileSettings",
    "RankSettings",
    "Ranking",
    "RuntimeRegressor",
    "SeriesChanges",
    "Settings",
    "SettingsError",
    "TraceError",
    "Verdict",
    "VerdictSettings",
    "Workbench",
    "WorkprofError",
    "__version__",
    "change_points",
    "durations",
    "forecast",
    "from_environment",
    "profile",
    "rank_nodes",
    "size_memory",
]

_HOMES = {
    "ChangePointSettings": "workprof.phases.changepoints",
    "Decision": "workprof.memory.decisions",
    "DurationSettings": "workprof.forecasts.durations",
    "FieldSource": "workprof.store.reports",
    "ForecasterSettings": "workprof.forecasts.forecaster",
    "IngestOptions": "workprof.store.reports",
    "IngestReport": "workprof.store.reports",
    "JobForecasts": "workprof.forecasts.job_table",
    "NotEnoughData": "workprof.core.errors",
    "ObservedDurations": "workprof.forecasts.durations",
    "ProfileFit": "workprof.profiles.fit",
    "ProfileSettings": "workprof.profiles.settings",
    "RankSettings": "workprof.nodes.selection",
    "Ranking": "workprof.nodes.ranking",
    "Verdict": "workprof.memory.verdict",
    "VerdictSettings": "workprof.memory.verdict",
    "SeriesChanges": "workprof.phases.series",
    "Settings": "workprof.core.settings",
    "SettingsError": "workprof.core.errors",
    "TraceError": "workprof.core.errors",
    "Workbench": "workprof.workbench",
    "WorkprofError": "workprof.core.errors",
    "from_environment": "workprof.core.settings",
    "ProfileClassifier": "workprof.library.estimators",
    "ProfileClusterer": "workprof.library.estimators",
    "RuntimeRegressor": "workprof.library.estimators",
    "change_points": "workprof.library",
    "durations": "workprof.library",
    "forecast": "workprof.library",
    "profile": "workprof.library",
    "rank_nodes": "workprof.library",
    "size_memory": "workprof.library",
}


__getattr__, __dir__ = lazily(__name__, _HOMES)

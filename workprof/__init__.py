"""workprof profiles the workloads of shared clusters.

Map of the package, top to bottom (imports point down only):

    cli service report                       the questions from a shell, over HTTP, and on paper (pages: in a browser)
    library                                  the questions as functions of a table
    workbench                                the facade: one method per question
    charts answers                           a record as figures; its words and tables
    profiles forecasts memory nodes phases   the methods, each usable alone
    store formats synthetic pull campaign    traces: on disk, read, made, fetched, measured
    cache jobs steps                         results by key, heavy steps in child processes
    core                                     the ground: settings, questions, records, units, errors

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

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:  # the public names, each where it is defined
    from workprof.core.errors import (
        NotEnoughData as NotEnoughData,
        SettingsError as SettingsError,
        TraceError as TraceError,
        WorkprofError as WorkprofError,
    )
    from workprof.core.settings import Settings as Settings, from_environment as from_environment
    from workprof.forecasts.durations import (
        DurationSettings as DurationSettings,
        ObservedDurations as ObservedDurations,
    )
    from workprof.forecasts.forecaster import ForecasterSettings as ForecasterSettings
    from workprof.forecasts.job_table import JobForecasts as JobForecasts
    from workprof.library import (
        Forecaster as Forecaster,
        change_points as change_points,
        durations as durations,
        forecast as forecast,
        profile as profile,
        rank_nodes as rank_nodes,
        size_memory as size_memory,
    )
    from workprof.library.estimators import (
        ProfileClassifier as ProfileClassifier,
        ProfileClusterer as ProfileClusterer,
        RuntimeRegressor as RuntimeRegressor,
    )
    from workprof.memory.decisions import Decision as Decision
    from workprof.memory.verdict import Verdict as Verdict, VerdictSettings as VerdictSettings
    from workprof.nodes.ranking import Ranking as Ranking
    from workprof.nodes.selection import RankSettings as RankSettings
    from workprof.phases.changepoints import ChangePointSettings as ChangePointSettings
    from workprof.phases.series import SeriesChanges as SeriesChanges
    from workprof.profiles.fit import ProfileFit as ProfileFit
    from workprof.profiles.settings import ProfileSettings as ProfileSettings
    from workprof.store.reports import (
        FieldSource as FieldSource,
        IngestOptions as IngestOptions,
        IngestReport as IngestReport,
    )
    from workprof.workbench import Workbench as Workbench

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazily(__name__)

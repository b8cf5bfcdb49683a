"""workprof profiles the workloads of shared clusters.

Map of the package, top to bottom (imports point down only):

    cli                                      the questions from a shell
    workbench                                the facade: one method per question; charts turn its records into figures
    profiles                                 PolarisProfiler: kinds of jobs
    store formats synthetic cache jobs       traces on disk, results by key, heavy steps in child processes
    errors units settings records progress   the ground

Use it as a library:

    from workprof import IngestOptions, ProfileSettings, Workbench, from_environment

    with Workbench(from_environment()) as workbench:
        report = workbench.ingest([path])
        fit = workbench.profiles(report.dataset)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workprof.core.errors import NotEnoughData, SettingsError, TraceError, WorkprofError
    from workprof.core.settings import Settings, from_environment
    from workprof.profiles.fit import ProfileFit
    from workprof.profiles.settings import ProfileSettings
    from workprof.store.reports import FieldSource, IngestOptions, IngestReport
    from workprof.workbench import Workbench

__version__ = "0.1.0"

__all__ = [
    "FieldSource",
    "IngestOptions",
    "IngestReport",
    "NotEnoughData",
    "ProfileFit",
    "ProfileSettings",
    "Settings",
    "SettingsError",
    "TraceError",
    "Workbench",
    "WorkprofError",
    "__version__",
    "from_environment",
]

_HOMES = {
    "FieldSource": "workprof.store.reports",
    "IngestOptions": "workprof.store.reports",
    "IngestReport": "workprof.store.reports",
    "NotEnoughData": "workprof.core.errors",
    "ProfileFit": "workprof.profiles.fit",
    "ProfileSettings": "workprof.profiles.settings",
    "Settings": "workprof.core.settings",
    "SettingsError": "workprof.core.errors",
    "TraceError": "workprof.core.errors",
    "Workbench": "workprof.workbench",
    "WorkprofError": "workprof.core.errors",
    "from_environment": "workprof.core.settings",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import workprof` stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'workprof' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)

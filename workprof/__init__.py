"""workprof profiles the workloads of shared clusters.

Map of the package, top to bottom (imports point down only):

    cli                     the questions from a shell
    workbench, charts       one method per question; a result record in, a figure out
    profiles                PolarisProfiler: kinds of jobs
    store formats synthetic cache jobs
    errors units settings records
"""

__version__ = "0.1.0"

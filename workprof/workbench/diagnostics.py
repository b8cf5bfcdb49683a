"""What is told of this installation: versions, platform and sizes; no names of people, machines or folders."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import workprof
from workprof.workbench.datasets import DatasetQuestions

LIBRARIES = (
    *("streamlit", "plotly", "duckdb", "pandas", "numpy", "scipy", "scikit-learn", "hdbscan", "numba", "xgboost"),
    *("shap", "pyarrow", "jax"),
)


@dataclass(frozen=True)
class Diagnostics:
    """An installation and its open home.

    Attributes:
        versions: of workprof, Python and libraries ('missing' where one is not installed).
        platform: kernel and processor kind, without the machine's name.
        processors: that this process may use.
        home_bytes: of the home folder on disk.
        memory_limit_bytes: of database and cache.
        datasets: kind -> how many.
        kept_runs: how many.
        readonly: whether changes are refused.
    """

    versions: dict[str, str]
    platform: str
    processors: int
    home_bytes: int
    memory_limit_bytes: int
    datasets: dict[str, int]
    kept_runs: int
    readonly: bool


def diagnostics(workbench: DatasetQuestions) -> Diagnostics:
    """Return what is told of this installation."""
    settings = workbench.settings
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Diagnostics(
        versions={"workprof": workprof.__version__, "python": platform.python_version()} | _libraries(),
        platform=f"{platform.system()} {platform.release()}, {platform.machine()}",
        processors=allowed,
        home_bytes=_bytes_of(settings.home),
        memory_limit_bytes=settings.memory_limit_bytes,
        datasets=dict(Counter(entry.kind for entry in workbench.datasets())),
        kept_runs=len(workbench.runs()),
        readonly=settings.readonly,
    )


def _libraries() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "missing"
    return found


def _bytes_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue  # went away meanwhile
    return total

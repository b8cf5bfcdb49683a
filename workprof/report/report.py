"""Makes a report of a dataset: the decision, every chosen section or why it is missing, and what it rests on."""

import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import workprof
from workprof.core.errors import Cancelled, EntryDamaged, SettingsError, WorkprofError
from workprof.core.extras import installed_version
from workprof.core.progress import Progress, silent
from workprof.core.shares import Share
from workprof.profiles.settings import ProfileSettings
from workprof.report.parts import Decision, Kind, Section
from workprof.report.sections import SECTIONS
from workprof.report.summary import decision_of
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

DONE, MISSING = "done", "missing"
LIBRARIES = ("duckdb", "hdbscan", "numpy", "plotly", "scikit-learn", "xgboost")


@dataclass(frozen=True)
class Report:
    """A report before it is written."""

    dataset: Dataset  # that it is about
    note: str  # of whoever made it, plain text
    sections: tuple[Section, ...]  # in order
    created: str  # ISO 8601, UTC
    versions: dict[str, str]  # of workprof and what the numbers rest on
    seconds: float  # it took
    lost: int = 0  # lines of the dataset's file that are in no row and not rejected
    machine_shares: tuple[Share, ...] = ()  # which numbers are shares of the trace's largest machine
    decision: Decision | None = None  # the first page; None where none was made


def kinds_of(dataset: Dataset) -> tuple[Kind, ...]:
    """Return the sections that a dataset of its kind can have."""
    return tuple(kind for kind in SECTIONS if kind.dataset_kind in ("", dataset.kind))


def make_report(
    workbench: Workbench,
    dataset: str,
    chosen: Sequence[str] = (),
    note: str = "",
    progress: Progress = silent,
    clustering: ProfileSettings | None = None,
) -> Report:
    """Return the report of a dataset; missing results are computed with the defaults of their page.

    `chosen` are names of sections in any order; none = all that the dataset's kind can have. The note stands under the
    title; `progress` is told section by section, and may cancel. `clustering` makes the profiles, None = the default.

    Raises:
        DatasetUnknown: names what there is.
        SettingsError: for a section that there is not; names them.
        Cancelled: when `progress` raised it.
    """
    started = time.perf_counter()
    entry = workbench.dataset(dataset)
    kinds, fit = _chosen(entry, chosen), clustering or ProfileSettings()
    sections = []
    for at, kind in enumerate(kinds):

        def report_progress(fraction: float | None, message: str, before: int = at, title: str = kind.title) -> None:
            progress((before + (fraction or 0.0)) / len(kinds), f"{title}: {message}")

        report_progress(0.0, "started")
        sections.append(_section(workbench, entry, kind, fit, report_progress))
    progress(1.0, "done")
    return Report(
        dataset=entry,
        note=note,
        sections=tuple(sections),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions=_versions(),
        seconds=time.perf_counter() - started,
        lost=_lost(workbench, entry),
        machine_shares=workbench.machine_shares(entry.hash),
        decision=decision_of(workbench, entry, fit=fit),
    )


def _lost(workbench: Workbench, dataset: Dataset) -> int:
    """Return the lines lost; 0 where the report of the ingest is damaged, which the section on the data tells."""
    try:
        return workbench.ingest_report(dataset.hash).lost
    except EntryDamaged:
        return 0


def _section(workbench: Workbench, dataset: Dataset, kind: Kind, fit: ProfileSettings, progress: Progress) -> Section:
    started = time.perf_counter()
    try:
        content = kind.make(workbench, dataset, progress, fit)
    except Cancelled:
        raise
    except WorkprofError as error:
        return Section(kind, MISSING, str(error), time.perf_counter() - started)
    return Section(kind, DONE, "", time.perf_counter() - started, content)


def _chosen(dataset: Dataset, names: Sequence[str]) -> tuple[Kind, ...]:
    known = {kind.name: kind for kind in kinds_of(dataset)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SettingsError(
            f"section {unknown[0]!r} is none of a dataset of {dataset.kind}; choose from {', '.join(known)}"
        )
    return tuple(kind for name, kind in known.items() if not names or name in names)


def _versions() -> dict[str, str]:
    return {
        "workprof": workprof.__version__,
        "python": platform.python_version(),
        **{name: installed_version(name) for name in LIBRARIES},
    }

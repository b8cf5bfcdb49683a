"""The open home, and one run of a page."""

from __future__ import annotations

import atexit
import gc
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages._login.login import Visitor, visitor
from workprof.background import Ingests, Tasks
from workprof.core.refreshes import Refresh
from workprof.core.roles import Actor, Role, act_as, whoami
from workprof.core.settings import Settings, from_environment
from workprof.store.reports import Dataset
from workprof.workbench import Workbench

if TYPE_CHECKING:
    from workprof.charts.classify.job import Batch
    from workprof.forecasts.feedback.loop import Observed
    from workprof.report.bundle import BuiltReport  # with it comes every chart there is


MOST_REPORTS = 4
"""Of the reports made last: a whole one takes some megabytes."""

MOST_BATCHES = 4
"""Of the tables of answers made last."""

MODULES_BETWEEN = 50
"""Newly loaded modules that are worth a pause of some tenths of a second."""

_FOLDER = Path(__file__).resolve().parents[2] / "data" / "sample"


@dataclass(frozen=True)
class Sample:
    """A dataset that comes with workprof, and what it is in words."""

    path: Path
    words: str


SAMPLES = {
    "jobs": Sample(_FOLDER / "pai_sample.parquet", "A small synthetic trace that comes with workprof."),
    "benchmarks": Sample(
        _FOLDER / "benchmarks.jsonl", "Benchmark runs of eight synthetic nodes, one with a failing disk."
    ),
    "telemetry": Sample(_FOLDER / "telemetry.csv", "Counters of real workloads that were recorded on one machine."),
}


@dataclass(frozen=True)
class AppState:
    """The workbench, and what runs in threads of this process: ingests, reports, answers for files of jobs."""

    workbench: Workbench
    ingests: Ingests
    reports: Tasks[BuiltReport]
    batches: Tasks[Batch]
    observed: Tasks[tuple[str, Observed]]
    preparing: Tasks[None]
    refreshing: Tasks[Refresh]

    @property
    def settings(self) -> Settings:
        """The settings that the home was opened with."""
        return self.workbench.settings


def open_home(whom: Visitor | None = None) -> AppState:
    """Return the home folder, open for what the visitor may do; None = whoever looks at this page.

    A failure to open it is told and tried again at the next run, never kept.

    Raises:
        HomeBusy: when another process holds the home.
        SettingsError: when a WORKPROF_ variable cannot be used.
    """
    seen_by = whom or visitor()
    settings = from_environment().seen_by(seen_by.role)
    act_as(Actor(seen_by.name or whoami(), "dashboard"))
    app_state: AppState = _opened(str(settings.home), int(settings.role), settings)
    SETTLED.settle(len(sys.modules))
    return app_state


@dataclass
class _Settled:
    """How many modules there were when the collector was last told to leave alone what was there."""

    modules: int = 0

    def settle(self, modules: int) -> None:
        """Keep the collector from walking through every library after every answer.

        Streamlit collects all garbage after each run of a script, and the other sessions wait meanwhile. Most of what
        it walks through is code, which stays. Pages load libraries when they need them, hence again after many.
        """
        if modules >= self.modules + MODULES_BETWEEN:
            self.modules = modules
            gc.collect()
            gc.freeze()


SETTLED = _Settled()
atexit.register(gc.unfreeze)  # what was left alone is cleared away at the end, or DuckDB's module complains of leaks


def _close(app_state: AppState) -> None:
    tasks = (app_state.ingests, app_state.reports, app_state.batches, app_state.observed)
    for kind in (*tasks, app_state.preparing, app_state.refreshing):
        kind.close()
    app_state.workbench.close()


@st.cache_resource(max_entries=len(Role), show_spinner=False, on_release=_close)
def _opened(home: str, role: int, _settings: Settings) -> AppState:
    workbench = Workbench(_settings)
    return AppState(
        workbench,
        Ingests(workbench.ingest),
        Tasks("no report was made", MOST_REPORTS),
        Tasks("no job was answered", MOST_BATCHES),
        Tasks("nothing was observed"),
        Tasks("nothing was prepared"),
        Tasks("nothing was changed"),
    )


READONLY = "This server is read-only."
VIEWERS, ADMINS = "You may look here, and change nothing.", "Only an admin may do that here."


@dataclass(frozen=True)
class Visit:
    """One run of a page: the open home, and the dataset that the page is about (None where none is needed or there)."""

    app_state: AppState
    dataset: Dataset | None

    @property
    def workbench(self) -> Workbench:
        """The open workbench."""
        return self.app_state.workbench

    @property
    def readonly(self) -> bool:
        """Whether changes are refused."""
        return self.app_state.settings.readonly

    @property
    def refusal(self) -> str | None:
        """Why changes are refused, for the help of a disabled control; None where they are not."""
        if self.app_state.settings.role is Role.VIEWER:
            return VIEWERS
        return READONLY if self.readonly else None

    @property
    def admins_only(self) -> str | None:
        """Why datasets, sources and settings cannot be changed; None where they can."""
        return self.refusal or (None if self.app_state.settings.role is Role.ADMIN else ADMINS)

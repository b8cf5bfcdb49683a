"""Questions about sweeps: a grid of clusterings, a group at a time, each group kept as soon as it is finished."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from workprof.core.errors import NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.core.settings import Settings
from workprof.jobs import JobView
from workprof.profiles.questions import GROUP
from workprof.profiles.settings import FEATURE_SETS
from workprof.profiles.sweep import GroupSettings, RunComparison, Sweep, SweepGroup, SweepSettings, compare_runs
from workprof.store.reports import Dataset
from workprof.workbench.profiles import ProfileQuestions, few_columns
from workprof.workbench.question_methods import ask, refuse_none_finished


@dataclass(frozen=True)
class GroupState:
    """One group of a sweep: its runs if they are kept, and the job that makes them if one was started."""

    settings: GroupSettings
    key: str
    result: SweepGroup | None
    job: JobView | None


@dataclass(frozen=True)
class SweepState(Sweep):
    """A sweep as it stands, with the jobs that make it."""

    groups: tuple[GroupState, ...]  # of the grid
    running: bool  # whether it goes on by itself


class SweepQuestions(ProfileQuestions):
    """The questions of the Sweep page."""

    sweep_group = ask(GROUP)

    def __init__(self, settings: Settings) -> None:
        """Open the home folder; raises HomeBusy when another process writes for longer than one waits."""
        super().__init__(settings)
        self._sweepers: dict[tuple[str, tuple[GroupSettings, ...]], _Sweeper] = {}

    def sweep(self, dataset: str, settings: SweepSettings | None = None, progress: Progress = silent) -> SweepState:
        """A whole sweep; the groups that are not kept are computed here and now."""
        entry, resolved = self._jobs_of(dataset), self._sweep_settings(dataset, settings or SweepSettings())
        groups = resolved.groups()
        for i, group in enumerate(groups):

            def report_progress(fraction: float | None, message: str, before: int = i) -> None:
                progress((before + (fraction or 0.0)) / len(groups), message)

            self.sweep_group(entry.hash, group, report_progress)
        return self.sweep_state(entry.hash, resolved)

    def sweep_state(self, dataset: str, settings: SweepSettings) -> SweepState:
        """What is kept of a sweep and what runs of it, without computing anything."""
        entry, resolved = self._jobs_of(dataset), self._sweep_settings(dataset, settings)
        groups = tuple(self._group_state(entry, group) for group in resolved.groups())
        results = tuple((group.settings, group.result) for group in groups)
        return SweepState.of(resolved, results, groups=groups, running=self._sweeper(entry, resolved).is_running())

    def start_sweep(self, dataset: str, settings: SweepSettings, ahead_s: float | None = None) -> None:
        """Start the groups that are not kept, one after another in child processes; goes on without a viewer.

        `ahead_s`: the sweep's expected seconds, where nobody requested it (see `Jobs.start`).
        """
        entry, resolved = self._jobs_of(dataset), self._sweep_settings(dataset, settings)
        self._sweeper(entry, resolved).start(ahead_s)

    def cancel_sweep(self, dataset: str, settings: SweepSettings) -> None:
        """Stop a sweep: the running group is dropped, the finished ones stay."""
        self._sweeper(self._jobs_of(dataset), self._sweep_settings(dataset, settings)).cancel()

    def compare_sweep_runs(self, dataset: str, settings: SweepSettings, before: int, after: int) -> RunComparison:
        """How two finished runs differ, by their positions in `SweepState.runs`."""
        state = self.sweep_state(dataset, settings)
        ids = [group.result.row_ids for group in state.groups if group.result for _ in group.result.runs]
        return compare_runs(state.runs[before], state.runs[after], ids[before], ids[after])

    def _group_state(self, entry: Dataset, group: GroupSettings) -> GroupState:
        result = self.sweep_group.cached(entry.hash, group)
        return GroupState(group, result.key, result.result, result.job)

    def _sweep_settings(self, dataset: str, settings: SweepSettings) -> SweepSettings:
        entry = self._jobs_of(dataset)
        if settings.features and settings.features[0] not in FEATURE_SETS:
            settings = replace(settings, features=self._store.resolve(entry.hash, settings.features))
        refuse_none_finished(entry, lambda: self._store.report(entry.hash))
        few_columns(self, entry, settings.groups()[0].features)
        smallest = min(size for group in settings.groups() for size in group.sizes)
        if entry.finished_rows <= 2 * smallest:
            raise NotEnoughData(
                f"{entry.finished_rows:,} finished runs are too few for the grid, whose smallest profiles have "
                f"{smallest:,}: it needs more than {2 * smallest:,}. Profiles finds smaller ones"
            )
        return settings

    def _sweeper(self, entry: Dataset, settings: SweepSettings) -> _Sweeper:
        with self._guard:
            groups = settings.groups()  # the target is not part of them: moving it does not lose a running sweep
            return self._sweepers.setdefault((entry.hash, groups), _Sweeper(self, entry, groups))

    def _run_group(
        self, entry: Dataset, group: GroupSettings, stop: threading.Event, ahead_s: float | None
    ) -> JobView | None:
        """Run one group as a job unless it is kept; return how it ended."""
        state = self._group_state(entry, group)
        if state.result is not None:
            return None
        self.sweep_group.start(entry.hash, group, ahead_s=ahead_s)
        if stop.is_set():  # the sweep was cancelled between its last look and this start
            self._jobs.cancel(state.key)
        return self._jobs.wait(state.key)


class _Sweeper:
    """The thread that asks for one group after another."""

    def __init__(self, workbench: SweepQuestions, entry: Dataset, groups: tuple[GroupSettings, ...]) -> None:
        self._workbench, self._entry, self._groups = workbench, entry, groups
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._guard = threading.Lock()

    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, ahead_s: float | None) -> None:
        with self._guard:
            if not self.is_running():
                self._stop.clear()
                self._thread = threading.Thread(target=self._run, args=(ahead_s,), name="sweep", daemon=True)
                self._thread.start()

    def cancel(self) -> None:
        self._stop.set()
        for group in self._groups:
            state = self._workbench._group_state(self._entry, group)
            if state.job is not None and state.job.active:
                self._workbench.cancel(state.key)

    def _run(self, ahead_s: float | None) -> None:
        for group in self._groups:
            if self._stop.is_set():
                return
            ended = self._workbench._run_group(self._entry, group, self._stop, ahead_s)
            if ended is not None and ended.state == "cancelled":
                return

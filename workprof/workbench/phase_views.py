"""What the Phases page looks at: the runs there are, one run with its samples, a library that is changed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pandas as pd

from workprof.formats.measured import TELEMETRY
from workprof.jobs import JobView
from workprof.phases.library import LibraryEdits, LibraryView, LibraryViewSettings
from workprof.phases.live import LiveLibrary, LiveSettings
from workprof.phases.matching import KnownMatchSettings, Match
from workprof.phases.runs import RunList, RunListSettings
from workprof.phases.timeline import AlignedRuns, AlignmentSettings, Timeline, TimelineSettings
from workprof.progress import Progress, silent
from workprof.steps import Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Answer, Frames, refuse_other_kind
from workprof.workbench.datasets import DatasetQuestions

RUN_LIST = Step("phases.runs", 1, "workprof.phases.runs:run_list")
TIMELINE = Step("phases.timeline", 1, "workprof.phases.timeline:one_run")
MATCH = Step("phases.known_match", 1, "workprof.phases.matching:match_known")
LIBRARY = Step("phases.library", 1, "workprof.phases.library:library_view")
LIVE = Step("phases.live_library", 1, "workprof.phases.live:live_library")
ALIGN = Step("phases.align", 1, "workprof.phases.timeline:aligned_runs")
EDITS = "library"
LABELS = ("workload", "run", "t", "status")


class PhaseViewQuestions(DatasetQuestions):
    """The questions of the Phases page about single runs and the library; `workprof phases` asks them too."""

    def phase_runs(self, dataset: str, progress: Progress = silent) -> RunList:
        """Return the runs of a dataset of telemetry."""
        entry = self.dataset(dataset)
        request = self._request(RUN_LIST, entry, RunListSettings())
        return self._blocking(request, RunList, self._samples_of(entry, LABELS), progress)

    def timeline(self, dataset: str, settings: TimelineSettings, progress: Progress = silent) -> Timeline:
        """Return one run, or a stretch of it, with its phases."""
        entry = self.dataset(dataset)
        request = self._request(TIMELINE, entry, settings)
        return self._blocking(request, Timeline, self._samples_of(entry), progress)

    def timeline_answer(self, dataset: str, settings: TimelineSettings) -> Answer[Timeline]:
        """Return the kept look at a run, and the job that makes it, without computing anything."""
        return self._answer(TIMELINE, self.dataset(dataset), settings, Timeline)

    def start_timeline(self, dataset: str, settings: TimelineSettings) -> JobView:
        """Start it in a child process (or join the one that runs)."""
        entry = self.dataset(dataset)
        return self._jobs.start(self._request(TIMELINE, entry, settings), self._samples_of(entry))

    def library_edits(self, dataset: str) -> LibraryEdits:
        """Return the labels that were given to runs of a dataset by hand."""
        kept = self._store.scenarios(self.dataset(dataset).hash, LibraryEdits)
        return kept[0] if kept else LibraryEdits()

    def set_library_edits(self, dataset: str, edits: LibraryEdits) -> None:
        """Keep labels that were given to runs of a dataset by hand, in the place of those kept before."""
        entry = self.dataset(dataset)
        refuse_other_kind(entry, TELEMETRY)
        self._store.save_scenario(entry.hash, EDITS, datetime.now(UTC).isoformat(timespec="seconds"), edits)

    def library_view(
        self, dataset: str, settings: LibraryViewSettings | None = None, progress: Progress = silent
    ) -> LibraryView:
        """Return the library of a dataset's runs: kept, or looked at here and now."""
        entry, asked = self.dataset(dataset), settings or LibraryViewSettings()
        return self._blocking(self._request(LIBRARY, entry, asked), LibraryView, self._samples_of(entry), progress)

    def library_answer(self, dataset: str, settings: LibraryViewSettings) -> Answer[LibraryView]:
        """Return the kept look at a library, and the job that makes it, without computing anything."""
        return self._answer(LIBRARY, self.dataset(dataset), settings, LibraryView)

    def start_library(self, dataset: str, settings: LibraryViewSettings) -> JobView:
        """Start it in a child process (or join the one that runs)."""
        entry = self.dataset(dataset)
        return self._jobs.start(self._request(LIBRARY, entry, settings), self._samples_of(entry))

    def known_match(self, dataset: str, settings: KnownMatchSettings, progress: Progress = silent) -> Match:
        """Return one run against the library: kept, or matched here and now."""
        entry = self.dataset(dataset)
        return self._blocking(
            self._request(MATCH, entry, settings), Match, self._with_library(entry, settings), progress
        )

    def known_match_answer(self, dataset: str, settings: KnownMatchSettings) -> Answer[Match]:
        """Return the kept match, and the job that makes it, without computing anything."""
        return self._answer(MATCH, self.dataset(dataset), settings, Match)

    def start_known_match(self, dataset: str, settings: KnownMatchSettings) -> JobView:
        """Start the match in a child process (or join the one that runs)."""
        entry = self.dataset(dataset)
        return self._jobs.start(self._request(MATCH, entry, settings), self._with_library(entry, settings))

    def live_library_answer(self, dataset: str, settings: LiveSettings) -> Answer[LiveLibrary]:
        """Return what a recording in progress is followed with, and the job that makes it, without computing it."""
        return self._answer(LIVE, self.dataset(dataset), settings, LiveLibrary)

    def start_live_library(self, dataset: str, settings: LiveSettings) -> JobView:
        """Start it in a child process (or join the one that runs)."""
        entry = self.dataset(dataset)
        return self._jobs.start(self._request(LIVE, entry, settings), self._samples_of(entry))

    def aligned_runs(self, dataset: str, settings: AlignmentSettings, progress: Progress = silent) -> AlignedRuns:
        """Return which second of a run goes with which second of another one."""
        entry = self.dataset(dataset)
        request = self._request(ALIGN, entry, settings)
        return self._blocking(request, AlignedRuns, self._with_library(entry, settings), progress)

    def _with_library(self, entry: Dataset, settings: KnownMatchSettings | AlignmentSettings) -> Frames:
        """Return a function that reads the samples, and those of the library where it is another dataset."""
        own = self._samples_of(entry)
        if settings.train_hash in ("", entry.hash):
            return own
        other = self._samples_of(self.dataset(settings.train_hash))
        return lambda: {**own(), "train": other()["samples"]}

    def _samples_of(self, entry: Dataset, names: tuple[str, ...] = ()) -> Frames:
        """Return a function that reads the samples: these columns as far as there are, () = all."""

        def read() -> Mapping[str, pd.DataFrame]:
            present = [column.name for column in self._store.columns(entry.hash) if not column.truth]
            return {"samples": self._store.frame(entry.hash, [name for name in names or present if name in present])}

        return read

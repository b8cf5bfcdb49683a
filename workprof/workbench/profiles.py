"""Questions about profiles: the clustering, its job in the background, the names that users give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from workprof.formats.clock import utc_offset_s
from workprof.jobs import JobView
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings, clustered_rows, resolve
from workprof.progress import Progress, silent
from workprof.steps import Step
from workprof.store.reports import Dataset, ProfileNote
from workprof.workbench.asking import Answer
from workprof.workbench.datasets import DatasetQuestions

FIT = Step("profiles.fit", 1, "workprof.profiles.fit:fit_profiles")

METADATA = ("job_name", "task_name", "user", "group", "workload", "node", "gpu_type")
TIMES = ("start_time_s", "duration_s")
TRUTH = "truth_profile"


class ProfileQuestions(DatasetQuestions):
    """The questions of the Profiles page."""

    def profiles(
        self, dataset: str, settings: ProfileSettings | None = None, progress: Progress = silent
    ) -> ProfileFit:
        """Return the profiles of a dataset, computed here and now where they are not kept."""
        entry = self.dataset(dataset)
        asked = self._resolved(entry, settings or ProfileSettings())
        return self._blocking(FIT, entry, asked, ProfileFit, lambda: self._fit_frames(entry, asked), progress)

    def profiles_answer(self, dataset: str, settings: ProfileSettings) -> Answer[ProfileFit]:
        """Return the kept profiles, and the job that makes them, without computing anything."""
        entry = self.dataset(dataset)
        return self._answer(FIT, entry, self._resolved(entry, settings), ProfileFit)

    def start_profiles(self, dataset: str, settings: ProfileSettings) -> JobView:
        """Start the clustering in a child process (or join the one that runs)."""
        entry = self.dataset(dataset)
        asked = self._resolved(entry, settings)
        return self._jobs.start(
            FIT.key(entry.hash, asked), FIT, asked, entry.name, lambda: self._fit_frames(entry, asked)
        )

    def profile_notes(self, dataset: str, settings: ProfileSettings) -> dict[int, ProfileNote]:
        """Return the names and notes that users gave to the profiles of one clustering."""
        return {note.profile: note for note in self._store.notes(self._clustering(dataset, settings))}

    def set_profile_note(self, dataset: str, settings: ProfileSettings, note: ProfileNote) -> None:
        """Keep a name and a note for one profile."""
        self._store.set_note(self._clustering(dataset, settings), note)

    def _resolved(self, entry: Dataset, settings: ProfileSettings) -> ProfileSettings:
        """Return the settings with sizes in rows and fields for the trace's own names: equal asks share a key."""
        if settings.features and settings.features[0] not in FEATURE_SETS:
            settings = replace(settings, features=self._store.resolve(entry.hash, settings.features))
        return resolve(settings, clustered_rows(settings, entry.finished_rows))

    def _fit_frames(self, entry: Dataset, settings: ProfileSettings) -> Mapping[str, pd.DataFrame]:
        present = {column.name for column in self._store.columns(entry.hash)}
        features = FEATURE_SETS.get(settings.features[0], settings.features)
        wanted = dict.fromkeys([*features, *METADATA, *TIMES, TRUTH])
        jobs = self._store.frame(entry.hash, [name for name in wanted if name in present])
        jobs.attrs["utc_offset_s"] = utc_offset_s(entry.format)
        return {"jobs": jobs}

    def _clustering(self, dataset: str, settings: ProfileSettings) -> str:
        entry = self.dataset(dataset)
        return FIT.key(entry.hash, self._resolved(entry, settings))

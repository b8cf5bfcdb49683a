"""Questions about profiles: the clustering, its job in the background, the names that users give."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import pandas as pd

from workprof.formats.clock import utc_offset_s
from workprof.jobs import JobView
from workprof.profiles.fit import TREE, ProfileFit, recut, tree_settings
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings, clustered_rows, resolve
from workprof.profiles.tree import SpanningTree
from workprof.progress import Progress, silent
from workprof.steps import Request, Step
from workprof.store.reports import Dataset, ProfileNote
from workprof.workbench.asking import Answer, Frames
from workprof.workbench.datasets import DatasetQuestions

FIT = Step("profiles.fit", 1, "workprof.profiles.fit:fit_keeping_tree")
TREE_STEP = Step(TREE, 1, FIT.target)

METADATA = ("job_name", "task_name", "user", "group", "workload", "node", "gpu_type")
TIMES = ("start_time_s", "duration_s")
TRUTH = "truth_profile"


class HasFeatures(Protocol):
    """Settings that name their features: field names, or one set."""

    @property
    def features(self) -> tuple[str, ...]:
        """The names."""


class ProfileQuestions(DatasetQuestions):
    """The questions of the Profiles page."""

    def profiles(
        self, dataset: str, settings: ProfileSettings | None = None, progress: Progress = silent
    ) -> ProfileFit:
        """Return the profiles of a dataset: kept, cut from a kept tree, or computed here and now."""
        entry = self._jobs_of(dataset)
        asked = self._resolved(entry, settings or ProfileSettings())
        cut_again = self._recut(entry, asked, progress)
        if cut_again is not None:
            return cut_again
        return self._blocking(self._fit_request(entry, asked), ProfileFit, self._fit_frames(entry, asked), progress)

    def profiles_answer(self, dataset: str, settings: ProfileSettings) -> Answer[ProfileFit]:
        """Return the kept profiles, and the job that makes them, without computing anything."""
        entry = self._jobs_of(dataset)
        return self._answer(FIT, entry, self._resolved(entry, settings), ProfileFit)

    def recut_profiles(self, dataset: str, settings: ProfileSettings) -> ProfileFit | None:
        """Return the profiles where a kept tree gives them in about a second, else None: that needs a fit."""
        entry = self._jobs_of(dataset)
        return self._recut(entry, self._resolved(entry, settings), silent)

    def start_profiles(self, dataset: str, settings: ProfileSettings) -> JobView:
        """Start the clustering in a child process (or join the one that runs)."""
        entry = self._jobs_of(dataset)
        asked = self._resolved(entry, settings)
        return self._jobs.start(self._fit_request(entry, asked), self._fit_frames(entry, asked))

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

    def _fit_request(self, entry: Dataset, asked: ProfileSettings) -> Request:
        extras = [(TREE_STEP, tree_settings(asked))] if asked.algorithm == "hdbscan" else []
        return self._request(FIT, entry, asked, extras)

    def _recut(self, entry: Dataset, asked: ProfileSettings, progress: Progress) -> ProfileFit | None:
        if asked.algorithm != "hdbscan":
            return None
        request = self._request(FIT, entry, asked)
        with self._cache.lock(request.key):
            kept = self._cache.get(request.key, ProfileFit)
            if kept is not None:
                return kept
            tree = self._cache.get(TREE_STEP.key(entry.hash, tree_settings(asked)), SpanningTree)
            if tree is None:
                return None
            found = recut(self._fit_frames(entry, asked)(), asked, tree, progress)
            self._cache.put(request.key, found, FIT.about(request.key, entry.name, asked, found.seconds))
        return found

    def _fit_frames(self, entry: Dataset, settings: HasFeatures, more: tuple[str, ...] = ()) -> Frames:
        """Return a function that reads what a clustering needs: the features, metadata, times and the truth."""

        def read() -> dict[str, pd.DataFrame]:
            present = {column.name for column in self._store.columns(entry.hash)}
            features = FEATURE_SETS.get(settings.features[0], settings.features)
            wanted = dict.fromkeys([*features, *METADATA, *TIMES, TRUTH, *more])
            jobs = self._store.frame(entry.hash, [name for name in wanted if name in present])
            jobs.attrs["utc_offset_s"] = utc_offset_s(entry.format)
            return {"jobs": jobs}

        return read

    def fit_key(self, entry: Dataset, settings: ProfileSettings | None) -> str:
        """Return the key of a clustering; None = the default one."""
        return FIT.key(entry.hash, self._resolved(entry, settings or ProfileSettings()))

    def _clustering(self, dataset: str, settings: ProfileSettings) -> str:
        entry = self._jobs_of(dataset)
        return FIT.key(entry.hash, self._resolved(entry, settings))

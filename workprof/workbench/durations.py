"""Questions about how long jobs took: the observed curves of the Durations page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from workprof.forecasts.durations import EVERYTHING, JOB, PROFILE, DurationSettings, ObservedDurations
from workprof.profiles.settings import ProfileSettings
from workprof.progress import Progress, silent
from workprof.steps import Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Frames
from workprof.workbench.forecasts import ForecastQuestions

OBSERVED = Step("profiles.durations", 1, "workprof.forecasts.durations:observed_durations")


class DurationQuestions(ForecastQuestions):
    """The questions of the Durations page's first tab; those of the second are `ForecastQuestions`."""

    def observed_durations(
        self,
        dataset: str,
        settings: DurationSettings | None = None,
        profiles: ProfileSettings | None = None,
        progress: Progress = silent,
    ) -> ObservedDurations:
        """Return the observed curves; by profile, the profiles are kept ones, or found here and now.

        Args:
            dataset: name or hash.
            settings: groups, target, confidence.
            profiles: the clustering whose labels make the groups when these are by profile.
            progress: told what is done.
        """
        entry = self._jobs_of(dataset)
        asked, step, clustering = settings or DurationSettings(), OBSERVED, None
        if asked.by == PROFILE:
            clustering = profiles or ProfileSettings()
            # the labels make the groups, so their key is part of this one's
            step = replace(OBSERVED, name=f"{OBSERVED.name}[{self.profiles.key(entry.hash, clustering)}]")
        frames = self._duration_frames(entry, asked, clustering, progress)
        return self._blocking(self._request(step, entry, asked), ObservedDurations, frames, progress)

    def _duration_frames(
        self, entry: Dataset, asked: DurationSettings, clustering: ProfileSettings | None, progress: Progress
    ) -> Frames:
        def read() -> Mapping[str, pd.DataFrame]:
            present = {column.name for column in self._store.columns(entry.hash)}
            wanted = {asked.target, JOB, asked.by} - {PROFILE, EVERYTHING}
            jobs = self._store.frame(entry.hash, sorted(wanted & present))
            if clustering is not None:
                found = self.profiles(entry.hash, clustering, progress)
                labels = pd.Series(found.labels, index=found.row_ids)
                jobs = jobs.assign(**{PROFILE: jobs["row_id"].map(labels)})
            return {"jobs": jobs}

        return read

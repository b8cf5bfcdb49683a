"""Questions about the memory of a profile: bins for jobs that are alike, whatever their tasks are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from workprof.memory.bins import PROFILE_COLUMN, ImprovementCurve, ProfileBins, ProfileBinSettings, without_edges
from workprof.profiles.settings import ProfileSettings
from workprof.progress import Progress, silent
from workprof.steps import Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Frames
from workprof.workbench.memory import MemoryQuestions
from workprof.workbench.profiles import ProfileQuestions

PROFILE_BINS = Step("memory.profile_bins", 1, "workprof.memory.bins:profile_bins_of")
PROFILE_CURVE = Step("memory.profile_improvement", 1, "workprof.memory.bins:profile_curve_of")


class ProfileBinQuestions(MemoryQuestions, ProfileQuestions):
    """The questions of Memory's Bins about a profile, and of `workprof memory bins --profile`."""

    def profile_bins(
        self,
        dataset: str,
        settings: ProfileBinSettings,
        profiles: ProfileSettings | None = None,
        progress: Progress = silent,
    ) -> ProfileBins:
        """Return bins of a profile, searched or given.

        Args:
            dataset: name or hash.
            settings: which profile, how edges are searched.
            profiles: its clustering, kept, or found here and now; None = the default one.
            progress: told what is done.

        Raises:
            SettingsError: for a profile that is not there.
            NotEnoughData: when too few of its runs have a request and a known use.
        """
        entry, clustering = self._jobs_of(dataset), profiles or ProfileSettings()
        step = self._of_clustering(PROFILE_BINS, entry, clustering)
        frames = self._profile_frames(entry, settings, clustering, progress)
        return self._blocking(self._request(step, entry, settings), ProfileBins, frames, progress)

    def profile_improvement(
        self,
        dataset: str,
        settings: ProfileBinSettings,
        profiles: ProfileSettings | None = None,
        progress: Progress = silent,
    ) -> ImprovementCurve:
        """Return the savings of one to eight bins of a profile; arguments and errors as `profile_bins`."""
        entry, clustering = self._jobs_of(dataset), profiles or ProfileSettings()
        asked, step = without_edges(settings), self._of_clustering(PROFILE_CURVE, entry, clustering)
        frames = self._profile_frames(entry, asked, clustering, progress)
        return self._blocking(self._request(step, entry, asked), ImprovementCurve, frames, progress)

    def _of_clustering(self, step: Step, entry: Dataset, clustering: ProfileSettings) -> Step:
        """Return the step with the clustering's key in its name: another one gives another profile of the number."""
        return replace(step, name=f"{step.name}[{self._clustering(entry.hash, clustering)}]")

    def _profile_frames(
        self, entry: Dataset, asked: ProfileBinSettings, clustering: ProfileSettings, progress: Progress
    ) -> Frames:
        """Return a function that finds the profiles where they are not kept, and reads what sizing needs with them."""

        def read() -> Mapping[str, pd.DataFrame]:
            fit = self.profiles(entry.hash, clustering, progress)
            labels = pd.Series(fit.labels, index=fit.row_ids)
            more = (asked.bins.price_column,) if asked.bins.price_column else ()
            jobs = self._sizing(entry, more)()["jobs"]
            return {"jobs": jobs.assign(**{PROFILE_COLUMN: jobs["row_id"].map(labels)})}

        return read

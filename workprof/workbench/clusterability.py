"""Questions about whether there is anything to cluster: Hopkins, the label baseline, the stability of the profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.jobs import JobView
from workprof.profiles.baseline import Baseline, BaselineSettings
from workprof.profiles.fit import ProfileFit
from workprof.profiles.hopkins import Hopkins, HopkinsSettings
from workprof.profiles.questions import columns_of
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings, default_features
from workprof.profiles.stability import Stability, StabilitySettings
from workprof.progress import Progress, silent
from workprof.steps import Request, Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Answer, Frames
from workprof.workbench.profiles import ProfileQuestions

HOPKINS = Step("profiles.hopkins", 1, "workprof.profiles.hopkins:hopkins")
BASELINE = Step("profiles.baseline", 1, "workprof.profiles.baseline:label_baseline")
STABILITY = Step("profiles.stability", 1, "workprof.profiles.stability:stability")

PROFILE = "profile"
"""Column in which a clustering's labels are handed over; NaN = not clustered."""

Asked = TypeVar("Asked", HopkinsSettings, BaselineSettings)
Result = TypeVar("Result")


class ClusterabilityQuestions(ProfileQuestions):
    """The questions of the Profiles page's tab 'Is there anything to cluster?'."""

    def hopkins(self, dataset: str, settings: HopkinsSettings | None = None, progress: Progress = silent) -> Hopkins:
        """Return the Hopkins statistic of a dataset in the paper's convention: near 0 = clusterable."""
        request, frames = self._hopkins_request(dataset, settings or HopkinsSettings())
        return self._blocking(request, Hopkins, frames, progress)

    def hopkins_answer(self, dataset: str, settings: HopkinsSettings) -> Answer[Hopkins]:
        """Return the kept statistic, and the job that makes it, without computing anything."""
        return self._state(self._hopkins_request(dataset, settings)[0], Hopkins)

    def start_hopkins(self, dataset: str, settings: HopkinsSettings) -> JobView:
        """Start the computation in a child process."""
        return self._jobs.start(*self._hopkins_request(dataset, settings))

    def baseline(
        self,
        dataset: str,
        settings: BaselineSettings | None = None,
        fit: ProfileSettings | None = None,
        progress: Progress = silent,
    ) -> Baseline:
        """Return the silhouettes of metadata labels (Table II), with a kept clustering's own beside them if named."""
        request, frames = self._baseline_request(dataset, settings or BaselineSettings(), fit)
        return self._blocking(request, Baseline, frames, progress)

    def baseline_answer(
        self, dataset: str, settings: BaselineSettings, fit: ProfileSettings | None = None
    ) -> Answer[Baseline]:
        """Return the kept baseline, and the job that makes it, without computing anything."""
        return self._state(self._baseline_request(dataset, settings, fit)[0], Baseline)

    def start_baseline(self, dataset: str, settings: BaselineSettings, fit: ProfileSettings | None = None) -> JobView:
        """Start the computation in a child process."""
        return self._jobs.start(*self._baseline_request(dataset, settings, fit))

    def stability(
        self, dataset: str, settings: StabilitySettings | None = None, progress: Progress = silent
    ) -> Stability:
        """Return how well each profile of a clustering comes back when rows are left out."""
        request, frames = self._stability_request(dataset, settings or StabilitySettings())
        return self._blocking(request, Stability, frames, progress)

    def stability_answer(self, dataset: str, settings: StabilitySettings) -> Answer[Stability]:
        """Return the kept study, and the job that makes it, without computing anything."""
        return self._state(self._stability_request(dataset, settings)[0], Stability)

    def start_stability(self, dataset: str, settings: StabilitySettings) -> JobView:
        """Start the study in a child process."""
        return self._jobs.start(*self._stability_request(dataset, settings))

    def _hopkins_request(self, dataset: str, settings: HopkinsSettings) -> tuple[Request, Frames]:
        entry = self._jobs_of(dataset)
        asked = self._named(entry, settings)
        return self._request(HOPKINS, entry, asked), self.frames_of(entry, columns_of(asked.features))

    def _baseline_request(
        self, dataset: str, settings: BaselineSettings, fit: ProfileSettings | None
    ) -> tuple[Request, Frames]:
        entry = self._jobs_of(dataset)
        by = tuple(self._store.resolve(entry.hash, label) for label in settings.by)
        asked = self._named(entry, replace(settings, by=by))
        frames = self.frames_of(entry, columns_of(asked.features, *(name for label in by for name in label)))
        step = BASELINE
        if fit is not None and self.profiles.cached(entry.hash, fit).result is not None:
            # the labels change the result, so their key is part of this one's
            step = replace(BASELINE, name=f"{BASELINE.name}[{self.profiles.key(entry.hash, fit)}]")
            frames = self._with_profiles(frames, entry, fit)
        return self._request(step, entry, asked), frames

    def _stability_request(self, dataset: str, settings: StabilitySettings) -> tuple[Request, Frames]:
        entry = self._jobs_of(dataset)
        asked = replace(settings, fit=self.profiles.resolved(entry.hash, settings.fit))
        frames = self.frames_of(entry, columns_of(asked.fit.features))
        return self._request(STABILITY, entry, asked), self._with_profiles(frames, entry, asked.fit)

    def _with_profiles(self, frames: Frames, entry: Dataset, fit: ProfileSettings) -> Frames:
        """Return the same frames with the labels of a clustering, where that clustering is kept."""

        def read() -> dict[str, pd.DataFrame]:
            jobs = frames()["jobs"]
            kept = self.profiles.cached(entry.hash, fit).result
            if kept is None:
                return {"jobs": jobs}
            labelled = jobs.assign(**{PROFILE: _labels_of(kept, jobs["row_id"].to_numpy())})
            labelled.attrs = jobs.attrs
            return {"jobs": labelled}

        return read

    def _named(self, entry: Dataset, settings: Asked) -> Asked:
        """Return the settings with fields in place of the trace's own names, and the default set named."""
        features = settings.features or default_features(settings.mode)
        if features[0] not in FEATURE_SETS:
            features = self._store.resolve(entry.hash, features)
        return replace(settings, features=features)

    def _state(self, request: Request, cls: type[Result]) -> Answer[Result]:
        return Answer(request.key, self._cache.get(request.key, cls), self._jobs.view(request.key))


def _labels_of(fit: ProfileFit, row_ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return (n_jobs,) the profile of each row, NaN where the clustering did not see it."""
    labels = pd.Series(fit.labels, index=fit.row_ids, dtype=float)
    return np.asarray(labels.reindex(row_ids), dtype=np.float64)

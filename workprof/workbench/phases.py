"""Questions about phases: where they begin, what a run is most like, how well that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from workprof.formats.measured import TELEMETRY
from workprof.jobs import JobView
from workprof.phases.evaluation import Evaluation, EvaluationSettings
from workprof.phases.library import Library, LibrarySettings
from workprof.phases.matching import Match, MatchRunSettings
from workprof.phases.runs import NOT_COUNTERS, OWN_PROCESSES
from workprof.phases.timeline import DetectSettings, Phases
from workprof.progress import Progress, silent
from workprof.steps import Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Answer, Frames, refuse_other_kind
from workprof.workbench.datasets import DatasetQuestions

DETECT = Step("phases.detect", 1, "workprof.phases.timeline:detect")
MATCH_RUN = Step("phases.match", 1, "workprof.phases.matching:match_run")
LEARN = Step("phases.learn", 1, "workprof.phases.library:learn")
EVALUATE = Step("phases.evaluate", 1, "workprof.phases.evaluation:evaluate")


class PhaseQuestions(DatasetQuestions):
    """The questions of `workprof phases`; the page asks them too."""

    def system_counters(self, dataset: str) -> tuple[str, ...]:
        """Return every counter of a dataset that does not look into the workload's own processes."""
        entry = self.dataset(dataset)
        refuse_other_kind(entry, TELEMETRY)
        names = (column.name for column in self._store.columns(entry.hash) if not column.truth)
        return tuple(name for name in names if name not in NOT_COUNTERS and not name.startswith(OWN_PROCESSES))

    def run_phases(self, dataset: str, settings: DetectSettings | None = None, progress: Progress = silent) -> Phases:
        """Return the phases of one run, counter by counter."""
        entry, asked = self.dataset(dataset), settings or DetectSettings()
        return self._blocking(self._request(DETECT, entry, asked), Phases, self._counted(entry), progress)

    def workload_library(
        self, dataset: str, settings: LibrarySettings | None = None, progress: Progress = silent
    ) -> Library:
        """Return the fingerprints and thresholds of all labelled runs."""
        entry, asked = self.dataset(dataset), settings or LibrarySettings()
        return self._blocking(self._request(LEARN, entry, asked), Library, self._counted(entry), progress)

    def match_run(self, dataset: str, settings: MatchRunSettings, progress: Progress = silent) -> Match:
        """Return what a run is most like among all others of its dataset."""
        entry = self.dataset(dataset)
        return self._blocking(self._request(MATCH_RUN, entry, settings), Match, self._counted(entry), progress)

    def match_run_answer(self, dataset: str, settings: MatchRunSettings) -> Answer[Match]:
        """Return the kept match, and the job that makes it, without computing anything."""
        return self._answer(MATCH_RUN, self.dataset(dataset), settings, Match)

    def start_match_run(self, dataset: str, settings: MatchRunSettings) -> JobView:
        """Start the match in a child process (or join the one that runs)."""
        entry = self.dataset(dataset)
        return self._jobs.start(self._request(MATCH_RUN, entry, settings), self._counted(entry))

    def evaluate_phases(
        self,
        dataset: str,
        settings: EvaluationSettings | None = None,
        train: str | None = None,
        progress: Progress = silent,
    ) -> Evaluation:
        """Return how well workloads are recognised: in splits of a dataset, or learned from another one."""
        entry, asked = self.dataset(dataset), self._with_train(settings or EvaluationSettings(), train)
        frames = self._with_learned(entry, asked)
        return self._blocking(self._request(EVALUATE, entry, asked), Evaluation, frames, progress)

    def evaluate_phases_answer(
        self, dataset: str, settings: EvaluationSettings, train: str | None = None
    ) -> Answer[Evaluation]:
        """Return the kept evaluation, and the job that makes it, without computing anything."""
        return self._answer(EVALUATE, self.dataset(dataset), self._with_train(settings, train), Evaluation)

    def start_evaluate_phases(self, dataset: str, settings: EvaluationSettings, train: str | None = None) -> JobView:
        """Start the evaluation in a child process (or join the one that runs)."""
        entry, asked = self.dataset(dataset), self._with_train(settings, train)
        return self._jobs.start(self._request(EVALUATE, entry, asked), self._with_learned(entry, asked))

    def _with_train(self, settings: EvaluationSettings, train: str | None) -> EvaluationSettings:
        """Return the settings with the dataset to learn from, so that its content is part of the key."""
        if train is None:
            return settings
        other = self.dataset(train)
        refuse_other_kind(other, TELEMETRY)
        return replace(settings, trained_elsewhere=True, train_hash=other.hash)

    def _with_learned(self, entry: Dataset, settings: EvaluationSettings) -> Frames:
        own = self._counted(entry)
        if not settings.trained_elsewhere:
            return own
        other = self._counted(self.dataset(settings.train_hash))
        return lambda: {**own(), "train": other()["samples"]}

    def _counted(self, entry: Dataset) -> Frames:
        """Return a function that reads all samples but the planted truth."""

        def read() -> Mapping[str, pd.DataFrame]:
            names = [column.name for column in self._store.columns(entry.hash) if not column.truth]
            return {"samples": self._store.frame(entry.hash, names)}

        return read

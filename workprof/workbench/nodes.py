"""Questions about nodes: which is how much better, which are alike, which one for a profile of jobs."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from workprof.formats.measured import BENCHMARKS
from workprof.jobs import JobView
from workprof.nodes.advice import MEMBER, Advice, AdviceSettings
from workprof.nodes.detection import DegradationSettings, Detection
from workprof.nodes.detection_data import FAITHFUL, DetectSettings
from workprof.nodes.groups import Groups, GroupSettings
from workprof.nodes.network import norm_10
from workprof.nodes.ranking import Ranking
from workprof.nodes.selection import FLAGGED, PERONA, RankSettings
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.progress import Progress, silent
from workprof.steps import Request, Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Answer, Frames, refuse_other_kind
from workprof.workbench.nodes_transfer import TransferQuestions
from workprof.workbench.profiles import ProfileQuestions

# A ranking may stand on a detection: raise the versions of RANK, GROUPS and ADVICE with that of DETECT.
RANK = Step("nodes.rank", 1, "workprof.nodes.ranking:rank_nodes")
GROUPS = Step("nodes.groups", 1, "workprof.nodes.groups:group_nodes")
DETECT = Step("nodes.detect", 1, "workprof.nodes.detection:detect")
ADVICE = Step("nodes.advice", 1, "workprof.nodes.advice:advise")
USE = (
    *("cpu_usage_percent", "requested_cpu_percent", "mean_memory_bytes", "peak_memory_bytes"),
    *("requested_memory_bytes", "read_bytes", "write_bytes", "duration_s"),
)
"""Columns of a job table that tell what a job uses of a node."""


class NodeQuestions(TransferQuestions, ProfileQuestions):
    """The questions of the Nodes page and of `workprof nodes`."""

    def node_names(self, dataset: str) -> tuple[str, ...]:
        """Return the names of the nodes of a dataset of benchmark runs, in order.

        Raises:
            WrongKind: when the dataset holds something else.
        """
        entry = self.dataset(dataset)
        refuse_other_kind(entry, BENCHMARKS)
        return tuple(sorted({str(name) for name in self._store.frame(entry.hash, ("node",))["node"].dropna()}))

    def node_ranking(self, dataset: str, settings: RankSettings | None = None, progress: Progress = silent) -> Ranking:
        """Return the nodes of a dataset of benchmark runs by score."""
        entry, asked = self.dataset(dataset), settings or RankSettings()
        return self._blocking(
            self._request(RANK, entry, asked), Ranking, self._benchmark_runs(entry, asked, progress), progress
        )

    def degradation(
        self,
        dataset: str,
        settings: DetectSettings | None = None,
        train: str | None = None,
        progress: Progress = silent,
    ) -> Detection:
        """Return which benchmark runs are degraded, learned from their earlier runs or from another dataset."""
        request, frames = self._detection(dataset, settings, train)
        return self._blocking(request, Detection, frames, progress)

    def degradation_answer(
        self, dataset: str, settings: DetectSettings | None = None, train: str | None = None
    ) -> Answer[Detection]:
        """Return the kept detection, and the job that makes it, without computing anything."""
        entry = self.dataset(dataset)
        return self._answer(DETECT, entry, self._detection_asked(settings, train), Detection)

    def start_degradation(
        self, dataset: str, settings: DetectSettings | None = None, train: str | None = None
    ) -> JobView:
        """Start the detection in a child process (or join the one that runs)."""
        return self._jobs.start(*self._detection(dataset, settings, train))

    def node_groups(self, dataset: str, settings: GroupSettings | None = None, progress: Progress = silent) -> Groups:
        """Return the nodes of a dataset of benchmark runs in groups that are alike."""
        entry, asked = self.dataset(dataset), settings or GroupSettings()
        frames = self._benchmark_runs(entry, asked.ranking, progress)
        return self._blocking(self._request(GROUPS, entry, asked), Groups, frames, progress)

    def detections_needed(self, dataset: str, settings: RankSettings) -> tuple[DetectSettings, ...]:
        """Return the detections that a ranking needs and that are not kept yet: they take up to a minute each."""
        needed = (
            *((DetectSettings(),) if settings.exclude == FLAGGED else ()),
            *((DetectSettings(mode=FAITHFUL),) if settings.score == PERONA else ()),
        )
        return tuple(one for one in needed if self.degradation_answer(dataset, one).result is None)

    def node_advice(
        self,
        dataset: str,
        jobs: str,
        profile: int,
        settings: RankSettings | None = None,
        progress: Progress = silent,
    ) -> Advice:
        """Return the nodes for a profile of the default clustering of a dataset of jobs.

        Its weights, where the settings name none, are those that the use of the profile's jobs proposes.
        """
        entry, trace = self.dataset(dataset), self._jobs_of(jobs)
        clustering = self.profiles.resolved(trace.hash, ProfileSettings())
        key = self.profiles.key(trace.hash, clustering)
        asked = AdviceSettings(trace.hash, profile, key, settings or RankSettings())

        def read() -> Mapping[str, pd.DataFrame]:
            fit = self.profiles(trace.hash, clustering, progress)
            return {
                **self._benchmark_runs(entry, asked.ranking, progress)(),
                "jobs": self._use_of_jobs(trace, fit, profile),
            }

        return self._blocking(self._request(ADVICE, entry, asked), Advice, read, progress)

    def _detection(self, dataset: str, settings: DetectSettings | None, train: str | None) -> tuple[Request, Frames]:
        entry, asked = self.dataset(dataset), self._detection_asked(settings, train)

        def read() -> Mapping[str, pd.DataFrame]:
            others = {"train": self._runs(asked.train)} if asked.train else {}
            return {"runs": self._runs(entry.hash), **others}

        return self._request(DETECT, entry, asked), read

    def _detection_asked(self, settings: DetectSettings | None, train: str | None) -> DegradationSettings:
        other = self.dataset(train) if train else None
        if other is not None:
            refuse_other_kind(other, BENCHMARKS)
        return DegradationSettings(settings or DetectSettings(), other.hash if other else "")

    def _benchmark_runs(self, entry: Dataset, settings: RankSettings, progress: Progress) -> Frames:
        """Return a function that reads the runs, and what the detection says of them where the settings need it."""

        def read() -> Mapping[str, pd.DataFrame]:
            frames = {"runs": self._runs(entry.hash)}
            if settings.exclude == FLAGGED:
                found = self.degradation(entry.hash, DetectSettings(), None, progress).runs
                frames["flagged"] = pd.DataFrame({"row_id": found.row_id[found.flag]})
            if settings.score == PERONA:
                codes = self.degradation(entry.hash, DetectSettings(mode=FAITHFUL), None, progress).runs
                told = {"row_id": codes.row_id, "node": codes.node, "benchmark": codes.benchmark}
                frames["norms"] = pd.DataFrame(told | {"norm": norm_10(codes.codes)})
            return frames

        return read

    def _runs(self, dataset_hash: str) -> pd.DataFrame:
        names = [column.name for column in self._store.columns(dataset_hash) if not column.truth]
        return self._store.frame(dataset_hash, names)

    def _use_of_jobs(self, trace: Dataset, fit: ProfileFit, profile: int) -> pd.DataFrame:
        """Return what the clustered jobs use, and which of them are in the profile."""
        present = {column.name for column in self._store.columns(trace.hash)}
        jobs = self._store.frame(trace.hash, [name for name in USE if name in present]).set_index("row_id")
        own = jobs.loc[fit.row_ids].reset_index(drop=True)
        own[MEMBER] = fit.labels == profile
        return own

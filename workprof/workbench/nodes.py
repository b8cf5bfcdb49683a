"""The Nodes page's questions, declared in `workprof.nodes.questions`, its scenarios, and runtimes on other machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from workprof.core.errors import NoRows, NotEnoughData, SettingsError
from workprof.core.progress import Progress, silent
from workprof.formats import rules_of
from workprof.formats.declare import NETWORK
from workprof.formats.lotaru import read_reports, read_scores
from workprof.formats.measured import BENCHMARKS, CONFIGURATIONS
from workprof.memory.changes import DegradedNode
from workprof.nodes import questions
from workprof.nodes.advice import MEMBER, MOVED, AdviceSettings
from workprof.nodes.allocation import KIND, PROFILE, TASK_NAME, AllocationSettings
from workprof.nodes.detection import DegradationSettings, newest_flagged
from workprof.nodes.detection_data import DetectSettings
from workprof.nodes.history import History
from workprof.nodes.network import norm_10
from workprof.nodes.ranking import NodeScenario
from workprof.nodes.runtime_factors import PUBLISHED_SCORES, published_task_benchmarks, scores_from_frame
from workprof.nodes.runtime_intervals import Coverage, coverage, past_errors
from workprof.nodes.search import SearchSettings
from workprof.nodes.selection import RankSettings
from workprof.nodes.transfer import Transfer, TransferSettings, transfer
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import OUTLIERS
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench.profiles import ProfileQuestions
from workprof.workbench.question_methods import Frames, ask, refuse_missing, refuse_other_kind

USE = (
    *("cpu_usage_percent", "requested_cpu_percent", "mean_memory_bytes", "peak_memory_bytes"),
    *("requested_memory_bytes", "read_bytes", "write_bytes", "duration_s"),
)
"""Columns of a job table that tell what a job uses of a node."""
AS_NETWORK = dict(zip(MOVED["disk"], MOVED["network"], strict=True))
"""What read and written bytes are called where a format says that they went over the network."""


@dataclass(frozen=True)
class RuntimeTransfer:
    """How well runtimes on one machine tell those on others."""

    settings: TransferSettings
    result: Transfer
    interval: Coverage | None  # how often the intervals of our factor hold; None where it could not be computed
    notes: tuple[str, ...]  # of the reading


def _runs(bench: Any, dataset_hash: str) -> pd.DataFrame:
    names = [column.name for column in bench._store.columns(dataset_hash) if not column.truth]
    runs: pd.DataFrame = bench._store.frame(dataset_hash, names)
    return runs


def _ranked_runs(bench: Any, entry: Dataset, settings: Any, fit: Any, progress: Progress | None) -> Frames:
    """A function that reads the runs, and what a detection says of them where the settings need one."""
    ranking = settings if isinstance(settings, RankSettings) else settings.ranking
    if progress is None and bench.detections_needed(entry.hash, ranking):
        raise NotEnoughData("this needs the detection of degraded runs: start that first (`workprof nodes detect`)")

    def read() -> Mapping[str, pd.DataFrame]:
        frames = {"runs": _runs(bench, entry.hash)}
        for needed in questions.needed_detections(ranking):
            scored = bench.degradation(entry.hash, needed, progress or silent).runs
            if needed.detect.is_faithful:
                columns = {"row_id": scored.row_id, "node": scored.node, "benchmark": scored.benchmark}
                frames["norms"] = pd.DataFrame(columns | {"norm": norm_10(scored.codes)})
            else:
                frames["flagged"] = pd.DataFrame({"row_id": scored.row_id[scored.flag]})
        return frames

    return read


def _judged_runs(bench: Any, entry: Dataset, settings: DegradationSettings, fit: Any, progress: Any) -> Frames:
    def read() -> Mapping[str, pd.DataFrame]:
        return {"runs": _runs(bench, entry.hash)} | ({"train": _runs(bench, settings.train)} if settings.train else {})

    return read


def _benchmark_runs(bench: Any, entry: Dataset, settings: Any, fit: Any, progress: Any) -> Frames:
    return lambda: {"runs": _runs(bench, entry.hash)}


def _runs_and_jobs(bench: Any, entry: Dataset, settings: AdviceSettings, fit: Any, progress: Progress | None) -> Frames:
    """A function that reads the runs, what the clustered jobs use, and which of them are in the profile."""
    ranked = _ranked_runs(bench, entry, settings, fit, progress)

    def read() -> Mapping[str, pd.DataFrame]:
        profiles = _profiles(bench, settings, progress)
        own = _use_of_jobs(bench, settings.jobs).loc[profiles.row_ids].reset_index(drop=True)
        own[MEMBER] = profiles.labels == settings.profile
        return {**ranked(), "jobs": own}

    return read


def _profiles(bench: Any, settings: AdviceSettings | AllocationSettings, progress: Progress | None) -> ProfileFit:
    kept: ProfileFit | None = bench._known(settings.clustering)
    return kept or cast(ProfileFit, bench.profiles(settings.jobs, ProfileSettings(), progress or silent))


def _clustering(bench: Any, trace: str, key: str) -> str:
    """The key of the clustering that was chosen where it is one of the trace and kept, else of the default one."""
    chosen = key.startswith(f"{trace}:") and bench._known(key) is not None
    return key if chosen else str(bench.profiles.key(trace))


def _use_of_jobs(bench: Any, trace: str, further: tuple[str, ...] = ()) -> pd.DataFrame:
    """What the finished jobs of a trace use, by row id, bytes over the network under its names."""
    present = {column.name for column in bench._store.columns(trace)}
    jobs = bench._store.frame(trace, [name for name in (*USE, *further) if name in present]).set_index("row_id")
    over = {rule.field for rule in rules_of(bench.dataset(trace).format) if rule.over == NETWORK}
    renamed: pd.DataFrame = jobs.rename(columns={one: other for one, other in AS_NETWORK.items() if one in over})
    return renamed


def _runs_and_kinds(
    bench: Any, entry: Dataset, settings: AllocationSettings, fit: Any, progress: Progress | None
) -> Frames:
    """A function that reads the runs, what the jobs use, and of which kind each is."""
    ranked = _ranked_runs(bench, entry, settings, fit, progress)

    def read() -> Mapping[str, pd.DataFrame]:
        if settings.by == TASK_NAME:
            jobs = _use_of_jobs(bench, settings.jobs, (TASK_NAME,)).rename(columns={TASK_NAME: KIND})
        else:
            profiles = _profiles(bench, settings, progress)
            jobs = _use_of_jobs(bench, settings.jobs)
            labels = pd.Series(profiles.labels, profiles.row_ids).reindex(jobs.index, fill_value=OUTLIERS)
            names = [f"profile {number}" for number in range(int(profiles.labels.max(initial=OUTLIERS)) + 1)]
            jobs[KIND] = pd.Categorical.from_codes(labels.to_numpy(dtype=np.int64), pd.Index(names))
        return {**ranked(), "jobs": jobs.reset_index(drop=True)}

    return read


def _trained_on(
    bench: Any, _: Dataset, settings: DegradationSettings | DetectSettings, train: str | None = None
) -> DegradationSettings:
    """The settings with the hash of the dataset that is learned from, `train` being its name or hash."""
    whole = DegradationSettings(settings) if isinstance(settings, DetectSettings) else settings
    if not (train or whole.train):
        return whole
    other = bench.dataset(train or whole.train)
    refuse_other_kind(other, BENCHMARKS)
    return replace(whole, train=other.hash)


def _for_profile(
    bench: Any, _: Dataset, settings: AdviceSettings | RankSettings, jobs: str = "", profile: int | None = None
) -> AdviceSettings:
    """The settings with the hash of the jobs and the key of their clustering."""
    whole = settings if isinstance(settings, AdviceSettings) else AdviceSettings("", 0, ranking=settings)
    trace = bench._jobs_of(jobs or whole.jobs)
    number = whole.profile if profile is None else profile
    return replace(whole, jobs=trace.hash, profile=number, clustering=_clustering(bench, trace.hash, whole.clustering))


def _for_kinds(bench: Any, _: Dataset, settings: AllocationSettings) -> AllocationSettings:
    """The settings with the hash of the jobs and, where kinds are profiles, the key of their clustering."""
    trace = bench._jobs_of(settings.jobs)
    key = _clustering(bench, trace.hash, settings.clustering) if settings.by == PROFILE else ""
    return replace(settings, jobs=trace.hash, clustering=key)


def _refuse_without_names(bench: Any, _: Dataset, settings: AllocationSettings) -> None:
    if settings.by == TASK_NAME:
        refuse_missing(bench.dataset(settings.jobs), (TASK_NAME,), lambda: bench.columns(settings.jobs))


def _of_runs(bench: Any, _: Dataset, settings: SearchSettings) -> SearchSettings:
    if not settings.runs:
        return settings
    runs = bench.dataset(settings.runs)
    refuse_other_kind(runs, BENCHMARKS)
    return replace(settings, runs=runs.hash)


def _configurations(bench: Any, entry: Dataset, settings: SearchSettings, _: Any, progress: Progress | None) -> Frames:
    """A function that reads the table, and the scores of the nodes of the benchmark runs where there are any."""

    def read() -> Mapping[str, pd.DataFrame]:
        frames = {"configurations": _runs(bench, entry.hash).drop(columns="row_id", errors="ignore")}
        if settings.runs:
            ranking = bench.node_ranking(settings.runs, RankSettings(), progress or silent)
            scores = [
                {"machine": one.node} | {name: own.score for name, own in one.aspects.items()} for one in ranking.nodes
            ]
            frames["scores"] = pd.DataFrame(scores)
        return frames

    return read


def _machines_of(folder: Path) -> list[str]:
    return sorted({path.relative_to(folder).parts[0] for path in folder.glob("*/**/execution_report_*.csv")})


def runtime_transfer(folder: Path, settings: TransferSettings, scores: Path | None = None) -> RuntimeTransfer:
    """The errors of every method on the reports of a folder, which are never datasets of the store.

    It has one folder of reports per machine. `scores` is a file of machine scores; None = the published ones.

    Raises NoRows when a machine has no report, or nothing can be predicted.
    """
    known = scores_from_frame(read_scores(scores)) if scores else PUBLISHED_SCORES
    named = (settings.local, *settings.targets)
    further = [name for name in _machines_of(folder) if name in known and name not in named] if settings.history else []
    read = read_reports(folder, (*named, *further))
    result = transfer(read.by_machine, known, settings, None if scores else published_task_benchmarks())
    interval = coverage(past_errors(result), settings.confidence) if result.default in result.methods else None
    return RuntimeTransfer(settings, result, interval, read.notes)


class NodeQuestions(ProfileQuestions):
    """The questions of the Nodes page and of `workprof nodes`."""

    node_ranking = ask(questions.RANK, frames=_ranked_runs)
    node_groups = ask(questions.GROUPS, frames=_ranked_runs)
    degradation = ask(questions.DETECT, frames=_judged_runs, resolve=_trained_on)
    node_history = ask(questions.HISTORY, frames=_benchmark_runs)
    node_advice = ask(questions.ADVICE, frames=_runs_and_jobs, resolve=_for_profile)
    node_allocation = ask(questions.ALLOCATE, frames=_runs_and_kinds, resolve=_for_kinds, refuse=_refuse_without_names)
    runtime_transfer = staticmethod(runtime_transfer)
    configuration_search = ask(questions.SEARCH, frames=_configurations, resolve=_of_runs)

    def benchmarks_of(self, dataset: str) -> tuple[Dataset, ...]:
        """The home's benchmark runs of nodes that a trace names in its column `node`."""
        entry = self.dataset(dataset)
        if "node" not in {column.name for column in self.columns(entry.hash)}:
            return ()
        names = {name for name, _ in self.values_of(entry.hash, "node")}
        runs = (one for one in self.datasets() if one.kind == BENCHMARKS)
        return tuple(one for one in runs if not names.isdisjoint(self.node_names(one.hash)))

    def degraded_nodes(self, among: Sequence[Dataset] | None = None) -> tuple[DegradedNode, ...]:
        """Nodes of benchmark runs whose newest runs were flagged when last looked for; computes nothing.

        `among` are the benchmark runs, None = all of the home.
        """
        result = []
        for entry in self.datasets() if among is None else among:
            found = self.degradation.latest(entry.hash) if entry.kind == BENCHMARKS else None
            if found is None:
                continue
            for node, rows in newest_flagged(found).items():
                runs, own = found.runs, list(rows)
                told = runs.p_anomalous[own]
                chance = float(told.max()) if np.isfinite(told).all() else float("nan")
                result.append(DegradedNode(entry.name, entry.hash, node, tuple(map(str, runs.benchmark[own])), chance))
        return tuple(result)

    def followed_nodes(self, dataset: str) -> tuple[tuple[Dataset, History], ...]:
        """The benchmark runs of a trace's nodes with the verdicts over time, as last followed; computes nothing."""
        found = ((entry, self.node_history.latest(entry.hash)) for entry in self.benchmarks_of(dataset))
        return tuple((entry, history) for entry, history in found if history is not None)

    def node_names(self, dataset: str) -> tuple[str, ...]:
        """The names of the nodes of a dataset of benchmark runs, in order.

        Raises WrongKind when the dataset holds something else.
        """
        entry = self.dataset(dataset)
        refuse_other_kind(entry, BENCHMARKS)
        return tuple(sorted({str(name) for name in self._store.frame(entry.hash, ("node",))["node"].dropna()}))

    def machines_of(self, dataset: str) -> tuple[str, ...]:
        """The names of the machines of a table of measured configurations, in order.

        Raises WrongKind when the dataset holds something else.
        """
        entry = self.dataset(dataset)
        refuse_other_kind(entry, CONFIGURATIONS)
        return tuple(sorted({str(name) for name in self._store.frame(entry.hash, ("machine",))["machine"].dropna()}))

    def detections_needed(self, dataset: str, settings: RankSettings) -> tuple[DegradationSettings, ...]:
        """The detections that a ranking needs and that are not cached yet: they take up to a minute each."""
        needed = questions.needed_detections(settings)
        return tuple(one for one in needed if self.degradation.cached(dataset, one).result is None)

    def report_machines(self, folder: Path) -> tuple[str, ...]:
        """The machines that have execution reports in a folder; raises NoRows when there are none."""
        machines = _machines_of(folder)
        if not machines:
            raise NoRows(f"{folder.name} holds no MACHINE/.../execution_report_*.csv; choose another folder")
        return tuple(machines)

    def save_node_scenario(self, dataset: str, scenario: NodeScenario) -> NodeScenario:
        """Keep a scenario under its name and return it with its time.

        Raises:
            SettingsError: when it is of another dataset.
            WrongKind: when the dataset holds no benchmark runs.
        """
        entry = self.dataset(dataset)
        refuse_other_kind(entry, BENCHMARKS)
        if scenario.dataset_hash != entry.hash:
            raise SettingsError(f"scenario {scenario.name!r} is of another dataset than {entry.name}; make it again")
        dated = replace(scenario, created=datetime.now(UTC).isoformat(timespec="seconds"))
        self._store.save_scenario(entry.hash, dated.name, dated.created, dated)
        return dated

    def node_scenarios(self, dataset: str) -> tuple[NodeScenario, ...]:
        """The kept scenarios of a dataset of benchmark runs, the newest first.

        Raises WrongKind when the dataset holds no benchmark runs.
        """
        entry = self.dataset(dataset)
        refuse_other_kind(entry, BENCHMARKS)
        return self._store.scenarios(entry.hash, NodeScenario)

    def remove_node_scenario(self, dataset: str, name: str) -> None:
        """Forget a scenario."""
        self._store.remove_scenario(self.dataset(dataset).hash, name)

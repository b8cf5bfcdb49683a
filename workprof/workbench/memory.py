"""Questions about memory: what is asked for and used, bins, models, plans, roll-ups, scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd

from workprof.errors import SettingsError
from workprof.jobs import JobView
from workprof.memory.assessment import Assessment, AssessmentSettings
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import Bins, ImprovementCurve
from workprof.memory.facts import FactPoints, FactPointsSettings
from workprof.memory.model_tables import PredictorTables, TableSettings
from workprof.memory.models import PredictorResult
from workprof.memory.plan import Plan, PlanSettings, Violations, ViolationSettings
from workprof.memory.replay import NO_INPUT, ReplayResult, ReplaySettings
from workprof.memory.rollup import Rollup, RollupSettings
from workprof.memory.scenarios import Comparison, Scenario, compare
from workprof.memory.why import Why, WhySettings
from workprof.progress import Progress, silent
from workprof.steps import Step
from workprof.store.reports import Dataset
from workprof.workbench.asking import Answer, Frames
from workprof.workbench.datasets import DatasetQuestions

ASSESS = Step("memory.assess", 1, "workprof.memory.assessment:assessment_of")
FACT = Step("memory.fact", 1, "workprof.memory.facts:fact_points_of")
BINS = Step("memory.bins", 1, "workprof.memory.bins:bins_of")
CURVE = Step("memory.improvement", 1, "workprof.memory.bins:improvement_curve")
TRAIN = Step("memory.train", 2, "workprof.memory.models:train_predictors")
TABLES = Step("memory.tables", 1, "workprof.memory.model_tables:train_tables")
REPLAY = Step("memory.replay", 1, "workprof.memory.replay:replay")
WHY = Step("memory.why", 1, "workprof.memory.why:why")
VIOLATIONS = Step("memory.violations", 1, "workprof.memory.plan:violations_of")
PLAN = Step("memory.plan", 1, "workprof.memory.plan:plan_of")
ROLLUP = Step("memory.rollup", 1, "workprof.memory.rollup:rollup_of")

SIZING = (
    *("task_name", "requested_memory_bytes", "duration_s", "submit_time_s", "peak_memory_bytes", "rss"),
    *("requested_cpu_percent", "cpu_usage_percent", "start_time_s", "end_time_s", "attempt"),
)
"""What sizing itself needs; the facts that models and tests look at are all other columns."""

TRUTH = "truth_"
KEPT_BYTES = 200_000_000
"""Of one table that stays in memory between two clicks."""


class MemoryQuestions(DatasetQuestions):
    """The questions of the Memory page and of `workprof memory`."""

    _table: tuple[str, tuple[str, ...], pd.DataFrame] | None = None

    def assessment(
        self, dataset: str, settings: AssessmentSettings | None = None, progress: Progress = silent
    ) -> Assessment:
        """Return what tasks ask for and use."""
        entry, asked = self._jobs_of(dataset), settings or AssessmentSettings()
        return self._blocking(self._request(ASSESS, entry, asked), Assessment, self._all_columns(entry), progress)

    def fact_points(self, dataset: str, settings: FactPointsSettings, progress: Progress = silent) -> FactPoints:
        """Return one fact against the use of memory: points of a number, boxes of a category."""
        entry = self._jobs_of(dataset)
        frames = self._sizing(entry, (settings.column,))
        return self._blocking(self._request(FACT, entry, settings), FactPoints, frames, progress)

    def bins(self, dataset: str, settings: BinSettings | None = None, progress: Progress = silent) -> Bins:
        """Return bins of a task, searched or given."""
        entry, asked = self._jobs_of(dataset), settings or BinSettings()
        more = (asked.price_column,) if asked.price_column else ()
        return self._blocking(self._request(BINS, entry, asked), Bins, self._sizing(entry, more), progress)

    def improvement(self, dataset: str, settings: BinSettings, progress: Progress = silent) -> ImprovementCurve:
        """Return the savings of one to eight bins, and the bounds that no number of bins can beat."""
        entry, asked = self._jobs_of(dataset), replace(settings, edges_bytes=())
        more = (asked.price_column,) if asked.price_column else ()
        return self._blocking(self._request(CURVE, entry, asked), ImprovementCurve, self._sizing(entry, more), progress)

    def bin_models(self, dataset: str, settings: PredictorSettings, progress: Progress = silent) -> PredictorResult:
        """Return the models of a task's bins: kept, or trained here and now."""
        entry = self._jobs_of(dataset)
        return self._blocking(
            self._request(TRAIN, entry, settings), PredictorResult, self._all_columns(entry), progress
        )

    def bin_models_answer(self, dataset: str, settings: PredictorSettings) -> Answer[PredictorResult]:
        """Return the kept models, and the job that trains them, without computing anything."""
        return self._answer(TRAIN, self._jobs_of(dataset), settings, PredictorResult)

    def start_bin_models(self, dataset: str, settings: PredictorSettings) -> JobView:
        """Start the training in a child process (or join the one that runs)."""
        entry = self._jobs_of(dataset)
        return self._jobs.start(self._request(TRAIN, entry, settings), self._all_columns(entry))

    def bin_tables(self, dataset: str, settings: TableSettings, progress: Progress = silent) -> PredictorTables:
        """Return Tables 7 to 11 of the thesis for a task: kept, or trained here and now."""
        entry = self._jobs_of(dataset)
        return self._blocking(
            self._request(TABLES, entry, settings), PredictorTables, self._all_columns(entry), progress
        )

    def bin_tables_answer(self, dataset: str, settings: TableSettings) -> Answer[PredictorTables]:
        """Return the kept tables, and the job that makes them, without computing anything."""
        return self._answer(TABLES, self._jobs_of(dataset), settings, PredictorTables)

    def start_bin_tables(self, dataset: str, settings: TableSettings) -> JobView:
        """Start the tables in a child process (or join the one that runs)."""
        entry = self._jobs_of(dataset)
        return self._jobs.start(self._request(TABLES, entry, settings), self._all_columns(entry))

    def replay(self, dataset: str, settings: ReplaySettings | None = None, progress: Progress = silent) -> ReplayResult:
        """Return what every policy would have wasted and failed: kept, or replayed here and now."""
        entry, asked = self._jobs_of(dataset), settings or ReplaySettings()
        return self._blocking(
            self._request(REPLAY, entry, asked), ReplayResult, self._sizing(entry, _input(asked.used_input)), progress
        )

    def replay_answer(self, dataset: str, settings: ReplaySettings) -> Answer[ReplayResult]:
        """Return the kept replay, and the job that makes it, without computing anything."""
        return self._answer(REPLAY, self._jobs_of(dataset), settings, ReplayResult)

    def start_replay(self, dataset: str, settings: ReplaySettings) -> JobView:
        """Start the replay in a child process (or join the one that runs)."""
        entry = self._jobs_of(dataset)
        return self._jobs.start(
            self._request(REPLAY, entry, settings), self._sizing(entry, _input(settings.used_input))
        )

    def why_size(self, dataset: str, settings: WhySettings, progress: Progress = silent) -> Why:
        """Return why our policy would give the next run of a task its size."""
        entry = self._jobs_of(dataset)
        frames = self._sizing(entry, _input(settings.input_column))
        return self._blocking(self._request(WHY, entry, settings), Why, frames, progress)

    def plan(self, dataset: str, settings: PlanSettings | None = None, progress: Progress = silent) -> Plan:
        """Return the size that is advised for every task, with the odds of a retry."""
        entry, asked = self._jobs_of(dataset), settings or PlanSettings()
        return self._blocking(self._request(PLAN, entry, asked), Plan, self._sizing(entry), progress)

    def violations(
        self, dataset: str, settings: ViolationSettings | None = None, progress: Progress = silent
    ) -> Violations:
        """Return the runs that a plan is too small for, the ones that are short by most first."""
        entry, asked = self._jobs_of(dataset), settings or ViolationSettings()
        return self._blocking(self._request(VIOLATIONS, entry, asked), Violations, self._sizing(entry), progress)

    def rollup(self, dataset: str, settings: RollupSettings | None = None, progress: Progress = silent) -> Rollup:
        """Return memory, cores and money before and after a plan."""
        entry, asked = self._jobs_of(dataset), settings or RollupSettings()
        more = ("workload", "run_name", "namespace", "group")
        return self._blocking(self._request(ROLLUP, entry, asked), Rollup, self._sizing(entry, more), progress)

    def rollup_answer(self, dataset: str, settings: RollupSettings) -> Answer[Rollup]:
        """Return the kept roll-up, without computing anything."""
        return self._answer(ROLLUP, self._jobs_of(dataset), settings, Rollup)

    def save_scenario(self, dataset: str, scenario: Scenario) -> Scenario:
        """Keep a scenario under its name and return it with its time."""
        entry = self._jobs_of(dataset)
        if scenario.dataset_hash != entry.hash:
            raise SettingsError(f"scenario {scenario.name!r} is of another dataset than {entry.name}; make it again")
        kept = replace(scenario, created=datetime.now(UTC).isoformat(timespec="seconds"))
        self._store.save_scenario(entry.hash, kept.name, kept.created, kept)
        return kept

    def scenarios(self, dataset: str) -> tuple[Scenario, ...]:
        """Return the kept scenarios of a dataset, the newest first."""
        return self._store.scenarios(self._jobs_of(dataset).hash, Scenario)

    def remove_scenario(self, dataset: str, name: str) -> None:
        """Forget a scenario."""
        self._store.remove_scenario(self._jobs_of(dataset).hash, name)

    def compare_scenarios(self, dataset: str, names: Sequence[str]) -> Comparison:
        """Return up to four kept scenarios side by side.

        Raises:
            SettingsError: for a name that is not kept, none, or more than four.
        """
        kept = {one.name: one for one in self.scenarios(dataset)}
        unknown = [name for name in names if name not in kept]
        if unknown:
            raise SettingsError(f"there is no scenario {unknown[0]!r}; choose from {', '.join(kept) or 'none'}")
        return compare(tuple(kept[name] for name in names))

    def _sizing(self, entry: Dataset, more: Sequence[str] = ()) -> Frames:
        """Return a function that reads what sizing needs; the last table stays in memory if it is small."""

        def read() -> Mapping[str, pd.DataFrame]:
            present = {column.name for column in self._store.columns(entry.hash)}
            wanted = tuple(name for name in dict.fromkeys([*SIZING, *more]) if name in present)
            kept = self._table
            if kept is None or kept[:2] != (entry.hash, wanted):
                kept = (entry.hash, wanted, self._store.frame(entry.hash, wanted))
                self._table = kept if int(kept[2].memory_usage().sum()) <= KEPT_BYTES else None
            return {"jobs": kept[2]}

        return read

    def _all_columns(self, entry: Dataset) -> Frames:
        """Return a function that reads every column but the planted truth."""

        def read() -> Mapping[str, pd.DataFrame]:
            names = [column.name for column in self._store.columns(entry.hash) if not column.name.startswith(TRUTH)]
            return {"jobs": self._store.frame(entry.hash, [name for name in names if name != "row_id"])}

        return read


def _input(name: str) -> tuple[str, ...]:
    return () if name == NO_INPUT else (name,)
